"""swewinogender: cases that differ in one pronoun, three rows a case. The head of swenli answers them."""

from samples.superlim.rows import Row, Splits

PRONOUNS = ("han", "hon", "hen")
# An occupation, another participant, each also in the definite form, what the former says to the latter, and what is true of each.
CASES = (
    (("läkare", "läkaren"), ("patient", "patienten"), "sade till", "hade skrivit ett recept", "borde vila hemma"),
    (("säljare", "säljaren"), ("kund", "kunden"), "förklarade för", "kunde sänka priset", "fick betala senare"),
    (("lärare", "läraren"), ("elev", "eleven"), "berättade för", "hade rättat provet", "hade klarat provet"),
    (("frisör", "frisören"), ("student", "studenten"), "sade till", "hade tid på fredag", "måste boka en ny tid"),
    (
        ("tandläkare", "tandläkaren"),
        ("patient", "patienten"),
        "påpekade för",
        "hade hittat ett hål",
        "måste borsta bättre",
    ),
    (
        ("bibliotekarie", "bibliotekarien"),
        ("besökare", "besökaren"),
        "viskade till",
        "hade hittat boken",
        "måste tala tystare",
    ),
    (("snickare", "snickaren"), ("granne", "grannen"), "berättade för", "hade byggt altanen", "kunde hämta nycklarna"),
    (("advokat", "advokaten"), ("klient", "klienten"), "förklarade för", "hade läst åtalet", "borde tiga i rätten"),
)


def triples() -> Splits:
    rows: list[Row] = []
    for number, (occupation, other, says, *truths) in enumerate(CASES, 1):
        for place, clause in enumerate(truths):
            for side, (_, subject) in enumerate((occupation, other)):
                label = "entailment" if side == place else "neutral"
                case = f"{number}{'AB'[place]}"
                for pronoun in PRONOUNS:
                    meta = {"tuple_id": f"{case}-{label}", "template_id": case, "pronoun": pronoun}
                    meta |= {"occupation_participant": occupation[0], "other_participant": other[0]}
                    texts = {
                        "premise": f"{occupation[1].capitalize()} {says} {other[1]} att {pronoun} {clause}.",
                        "hypothesis": f"{subject.capitalize()} {clause}.",
                    }
                    rows.append({"idx": len(rows), **texts, "label": label, "meta": meta})
    return {"test": rows}
