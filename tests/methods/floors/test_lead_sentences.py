import pytest

from mtl.methods.floors.lead import sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Solen skiner. Vi går ut! Kommer du? Ja.", ["Solen skiner.", "Vi går ut!", "Kommer du?", "Ja."]),
        ("Vi såg t.ex. Anna och jur. Berg. De log.", ["Vi såg t.ex. Anna och jur. Berg.", "De log."]),
        ("Han heter A. Berg. 12 kom.", ["Han heter A. Berg.", "12 kom."]),
        ("Det kostar 3.50 kronor. sade hon. Ja", ["Det kostar 3.50 kronor. sade hon.", "Ja"]),
        ("”Kom!” ”Nej.” Så var det…  Eller?", ["”Kom!”", "”Nej.”", "Så var det…", "Eller?"]),
        ("Rubrik\n\nFörsta raden\r\nandra\x85slut", ["Rubrik", "Första raden", "andra\x85slut"]),
        (" \n ", []),
        ("", []),
        ("...", ["..."]),
    ],
)
def test_swedish(text: str, expected: list[str]) -> None:
    assert sentences(text, "sv") == expected


def test_a_language_without_a_list_of_abbreviations() -> None:
    assert sentences("Vi så jur. Berg. De lo.", "xx") == ["Vi så jur.", "Berg.", "De lo."]


def test_nothing_of_a_text_is_lost() -> None:
    text = "En. Två! (Tre?) Fyra… fem. Dr. Sju\nåtta. 9."
    assert "".join(sentences(text, "sv")).replace(" ", "") == "".join(text.split())
