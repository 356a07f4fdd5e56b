import logging
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from mtl.data.dataset import Dataset, marked_texts
from mtl.data.examples import Example
from mtl.data.loading import build_dataset
from mtl.data.marked_spans import Span
from mtl.data.spans import with_token_spans
from mtl.data.splits import TaskExamples
from mtl.data.text import UNKNOWN, TokenizedTexts, moses
from mtl.data.token_spans import nearest_tokens, span_tokens, token_characters
from mtl.tasks.task import Task

PAIR = Task(id="pair", kind="labels", text=["a", "b"], target="y", labels=["n", "p"], metric="accuracy")
PAIR.spans = {"b": ["b.at"], "a": ["a.at"]}
SINGLE = replace(PAIR, id="single", text=["a"], spans={"a": ["one", "two"]})
PLAIN = replace(PAIR, id="plain", text=["a"], spans=None)

# What tokenizers drop, split and keep together.
TEXTS = [
    *("Hon sade: ”Nej!” – och gick … hem.", "bl.a. 3,5 kr/st, dvs. 1.000 kr (ca. 50 %)...", "....... slut.'", "x"),
    *("O'Brien's rock'n'roll 'citat' it's l'eau d'or", "  två   mellanslag \t tabb\u00a0hårt\u2009smalt  "),
    *("a\u0085b\u0000c\u001fd \u0007 e\u200bf", "www.exempel.se/a_b?c=d&e=f info@exempel.se #tagg @namn"),
    *("<b>fet</b> [1] {2} |3| &amp; &#124; \\n ½ ² €5 £6 5€", "A.B. C. d.e. f. 5. Nr. 7 nr. x"),
    "e\u0301 och \u00e9, 日本語 и кириллица 👩‍👩‍👧 🇸🇪",
]


def owners(text: str, tokens: Sequence[str]) -> dict[int, int]:
    """The token of each character that has one, by walking through the text: what a tokenizer drops is skipped."""
    owner: dict[int, int] = {}
    place = 0
    for number, token in enumerate(tokens):
        for character in token:
            while text[place] != character:
                assert text[place].isspace() or text[place] < " "
                place += 1
            owner[place] = number
            place += 1
    assert all(character.isspace() or character < " " for character in text[place:])
    return owner


@pytest.mark.parametrize("language", ["sv", "en", "fr", "pl"])
@pytest.mark.parametrize("text", TEXTS)
def test_every_span_is_the_tokens_that_share_a_character_with_it(text: str, language: str) -> None:
    tokens = moses(language)(text)
    characters = token_characters(text, tokens)
    kept = ["".join(c for c in text[a:b] if c >= " ") for a, b in characters]
    assert kept == tokens
    owner = owners(text, tokens)
    spans = [(start, stop) for start in range(len(text)) for stop in range(start + 1, len(text) + 1)]
    for (start, stop), (first, last) in zip(spans, span_tokens(np.array(spans), characters)[0].tolist(), strict=True):
        assert 0 <= first < last <= len(tokens)
        if wanted := {owner[place] for place in range(start, stop) if place in owner}:
            assert set(range(first, last)) == wanted
            marked = "".join(c for c in text[start:stop] if not c.isspace() and c >= " ")
            assert marked in "".join(tokens[first:last])


def test_changed_characters_spans_without_a_token_and_the_tokens_nearest() -> None:
    text = "Bo såg DOTMULTI på stan."
    tokens = moses("sv")(text)
    assert tokens == ["Bo", "såg", ".", "på", "stan", "."]  # the literal is how Moses writes a dot
    characters = token_characters(text, tokens)
    assert [text[a:b] for a, b in characters] == ["Bo", "såg", "DOTMULTI", "på", "stan", "."]
    # Tokens between two changes have all characters in between.
    assert token_characters("ab c1 de 2f", ["ab", "cX", "de", "Yf"]).tolist() == [[0, 2], [3, 10], [4, 10], [4, 11]]
    assert token_characters("ab", ["ab", "new"]).tolist() == [[0, 2], [2, 2]]
    text = "en   \u0000  två tre"
    characters = token_characters(text, ["en", "två", "tre"])
    spans = np.array([[2, 3], [6, 8], [5, 6], [11, 12], [0, 3]])
    tokens, missed = span_tokens(spans, characters)
    # Two tokens equally near, as in the gap between the last two words: the first of them.
    assert tokens.tolist() == [[0, 1], [1, 2], [1, 2], [1, 2], [0, 1]] and missed == 4
    assert nearest_tokens(9, np.array([[0, 1]]), 4).tolist() == [0, 1, 2, 3]
    assert nearest_tokens(9, np.array([[8, 9]]), 4).tolist() == [5, 6, 7, 8]
    assert nearest_tokens(9, np.array([[4, 6]]), 4).tolist() == [3, 4, 5, 6]
    assert nearest_tokens(9, np.array([[4, 6]]), 3).tolist() == [3, 4, 5]
    # Spans that are far apart: the words around each of them.
    assert nearest_tokens(20, np.array([[2, 3], [15, 16]]), 6).tolist() == [1, 2, 3, 14, 15, 16]
    # A long span does not displace another one.
    assert nearest_tokens(20, np.array([[2, 12], [15, 16]]), 4).tolist() == [2, 3, 4, 15]


def dataset(*rows: tuple[Task, tuple[str, ...], tuple[Span, ...]]) -> Dataset:
    examples: dict[str, TaskExamples] = {}
    for task, texts, spans in rows:
        part = examples.setdefault(task.id, TaskExamples(task, {"train": [], "dev": []}, []))
        part.rows["train"].append(Example(2, (texts,), 0.0, spans=spans))
    return build_dataset(list(examples.values()))


def read_words(read: Dataset, texts: TokenizedTexts, task: Task) -> list[list[str]]:
    """The words of each span, row after row, as the encoder reads them."""
    split = read.splits[task.id]["train"]
    assert split.token_spans is not None
    words = []
    for numbers, spans in zip(split.texts, split.token_spans, strict=True):
        for (side, _), (start, stop) in zip(task.marked, spans, strict=True):
            words.append(texts.words(int(numbers[side]))[start:stop])
    return words


LONG = "ett två tre fyra fem sex sju åtta nio tio elva tolv"


def place(*words: str) -> tuple[Span, ...]:
    return tuple((LONG.index(word), LONG.index(word) + len(word)) for word in words)


def test_a_long_text_is_cut_around_its_spans(caplog: pytest.LogCaptureFixture) -> None:
    given = dataset(
        (PLAIN, (LONG,), ()),
        (SINGLE, (LONG,), place("nio", "tio")),
        (SINGLE, (LONG,), place("ett", "tolv")),
        (SINGLE, (LONG,), place("nio", "tio")),
        (SINGLE, ("kort text",), ((0, 4), (5, 9))),
        (PAIR, (LONG, "kort text"), (*place("elva"), (0, 4))),
    )
    with caplog.at_level(logging.WARNING, "mtl"):
        read, texts = with_token_spans(given, TokenizedTexts.tokenize(given.texts, "sv", 5), "sv", 5)
    words = [word for (word,) in read_words(read, texts, SINGLE)]
    assert words == ["nio", "tio", "ett", "tolv", "nio", "tio", "kort", "text"]
    assert read_words(read, texts, PAIR) == [["elva"], ["kort"]]
    splits = {id: of["train"] for id, of in read.splits.items()}
    # A text without spans is cut at its end; the same cut of the same text is one text.
    assert texts.words(splits["plain"].texts[0, 0]) == ["ett", "två", "tre", "fyra", "fem"]
    numbers = splits["single"].texts[:, 0].tolist()
    kept = [" ".join(texts.words(number)) for number in numbers[:2]]
    assert kept == ["sju åtta nio tio elva", "ett två tre elva tolv"]
    assert numbers[0] == numbers[2] and texts.words(numbers[3]) == ["kort", "text"]
    assert texts.words(splits["pair"].texts[0, 0]) == ["åtta", "nio", "tio", "elva", "tolv"]
    assert len(texts) == len(read.texts) == len(given.texts) + 3 and texts.lengths.max() == 5
    assert all(read.texts[number] == LONG for number in range(len(given.texts), len(texts)))
    assert texts.tokens.dtype == np.int32 and texts.counts(np.arange(len(texts))).sum() == len(texts.tokens)
    assert marked_texts(SINGLE, splits["single"], read.texts)[:2] == [("nio", "tio"), ("ett", "tolv")]
    said = "3 texts with spans are longer than max_length=5 tokens; they keep the tokens nearest to their spans"
    assert caplog.messages == [said]


def test_spans_longer_than_max_length_keep_a_token() -> None:
    for most, words in ((3, [["två", "tre"], ["tolv"]]), (1, [["två"], ["två"]])):
        start, stop = LONG.index("två"), LONG.index("elva")
        given = dataset((SINGLE, (LONG,), ((start, stop), *place("tolv"))))
        read, texts = with_token_spans(given, TokenizedTexts.tokenize(given.texts, "sv", most), "sv", most)
        assert read_words(read, texts, SINGLE) == words and texts.lengths.max() == most


def test_texts_without_a_token_and_spans_without_one(caplog: pytest.LogCaptureFixture) -> None:
    given = dataset((SINGLE, (" \t ",), ((0, 1), (1, 3))), (SINGLE, ("ett  två",), ((3, 5), (5, 8))))
    with caplog.at_level(logging.WARNING, "mtl"):
        read, texts = with_token_spans(given, TokenizedTexts.tokenize(given.texts, "sv", 9), "sv", 9)
    assert read_words(read, texts, SINGLE) == [[UNKNOWN], [UNKNOWN], ["ett"], ["två"]]
    assert caplog.messages == ["3 spans have no token of their own; the token nearest to them is read instead"]


def test_boundary_words_move_spans_and_tasks_without_them_are_read_as_ever() -> None:
    given = dataset((SINGLE, (LONG,), place("ett", "tolv")), (SINGLE, (" ",), ((0, 1), (0, 1))))
    texts = TokenizedTexts.tokenize(given.texts, "sv", 4)
    read, texts = with_token_spans(given, texts, "sv", 4, boundary_words=True)
    assert read_words(read, texts, SINGLE) == [["ett"], ["tolv"], [UNKNOWN], [UNKNOWN]]
    assert texts.words(read.splits["single"]["train"].texts[0, 0]) == ["<SOS>", "ett", "två", "elva", "tolv", "<EOS>"]
    given = dataset((PLAIN, (LONG,), ()), (PLAIN, ("kort text",), ()))
    texts = TokenizedTexts.tokenize(given.texts, "sv", 5)
    read, same = with_token_spans(given, texts, "sv", 5)
    assert same is texts and read.texts == given.texts
    assert read.splits["plain"]["train"] is given.splits["plain"]["train"]
