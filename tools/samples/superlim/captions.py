"""Pairs of picture captions. sweparaphrase: how similar they are; swenli and swediagnostics: whether the first implies the second."""

from collections.abc import Sequence
from typing import NamedTuple

from samples.dice import Dice
from samples.superlim.rows import LABEL_NOISE, SIZES, Row, Splits, annotated, mean, splits, unordered

PEOPLE = (  # two names of the same, and a general one
    (("en man", "en herre"), "en person"),
    (("en kvinna", "en dam"), "en person"),
    (("en läkare", "en doktor"), "en person"),
    (("en polis", "en konstapel"), "en person"),
    (("en pojke", "en kille"), "ett barn"),
    (("en flicka", "en tös"), "ett barn"),
    (("en hund", "en jycke"), "ett djur"),
    (("en katt", "en kisse"), "ett djur"),
)
ACTIONS = (  # the same with the verb, and what follows it
    ((("springer", ""), ("rusar", "")), ("rör", "på sig")),
    ((("hoppar", ""), ("skuttar", "")), ("rör", "på sig")),
    ((("sover", ""), ("slumrar", "")), ("vilar", "")),
    ((("äter", "en smörgås"), ("tuggar", "på en smörgås")), ("äter", "något")),
    ((("leker", "med en boll"), ("busar", "med en boll")), ("leker", "")),
    ((("väntar", "på bussen"), ("står", "och väntar på bussen")), ("väntar", "")),
    ((("gräver", "en grop"), ("gräver", "ett hål")), ("gräver", "")),
    ((("dricker", "vatten"), ("klunkar", "i sig vatten")), ("dricker", "något")),
)
SCENES = (
    ("i en park", "i en lummig park"),
    ("på en gata", "på en väg"),
    ("på en strand", "vid havet"),
    ("i en trädgård", "på en gräsmatta"),
    ("utanför ett hus", "framför en byggnad"),
    ("i en skog", "bland träden"),
)
# What the premise says nothing about.
ADDITIONS = (
    "i regnet",
    "tidigt på morgonen",
    "för första gången",
    "tillsammans med en granne",
    "efter skolan",
    "varje söndag",
)
NOTHING = {"en": "ingen", "ett": "inget"}

Action = tuple[str, str]


class Picture(NamedTuple):
    """What a picture shows: numbers in PEOPLE, ACTIONS and SCENES."""

    who: int
    what: int
    where: int


def _picture(dice: Dice) -> Picture:
    return Picture(*(dice.number(0, len(of) - 1) for of in (PEOPLE, ACTIONS, SCENES)))


def _caption(dice: Dice, subject: str, action: Action, scene: str, denied: bool = False) -> str:
    verb, rest = action
    negation = ""
    if denied and dice.chance(0.3):
        article, noun = subject.split(" ")
        subject = f"{NOTHING[article]} {noun}"
    elif denied:
        negation = "inte"
    return dice.fill(" ".join(word for word in (subject, verb, negation, rest, scene) if word)) + "."


def _plain(dice: Dice, picture: Picture) -> str:
    return _caption(
        dice, dice.pick(PEOPLE[picture.who][0]), dice.pick(ACTIONS[picture.what][0]), dice.pick(SCENES[picture.where])
    )


def paraphrases() -> Splits:
    dice = Dice("sweparaphrase")

    def row() -> Row:
        shown, other = _picture(dice), _picture(dice)
        # From unrelated pictures to the same one; more pairs share a part or two.
        shared = dice.pick(((), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2), (0, 1, 2)))
        other = Picture(*(shown[part] if part in shared else other[part] for part in range(3)))
        similarity = sum(weight for weight, one, two in zip((1.6, 2.2, 1.2), shown, other, strict=True) if one == two)
        first, second = _plain(dice, shown), _plain(dice, other)
        score = mean(annotated(dice, similarity, 0, 5, annotators=5))
        return {"genre": "captions", "file": "generated", "sentence_1": first, "sentence_2": second, "label": score}

    return splits(row, lambda row: unordered(row["sentence_1"], row["sentence_2"]))


def inferences() -> Splits:
    dice, numbers = Dice("swenli"), iter(range(10**6))

    def row() -> Row:
        premise, hypothesis, label, _ = _inference(dice)
        if dice.chance(LABEL_NOISE):
            label = "neutral"
        return {"id": next(numbers), "premise": premise, "hypothesis": hypothesis, "label": label}

    return splits(row, _texts, {**SIZES, "train": 600})


def diagnostics() -> Splits:
    dice, numbers = Dice("swediagnostics"), iter(range(10**6))
    keys = ("lexical_semantics", "predicate_argument_structure", "logic", "knowledge")

    def row() -> Row:
        premise, hypothesis, label, phenomena = _inference(dice)
        meta = {key: ";".join(phenomena[key]) if key in phenomena else "" for key in keys}
        texts = {"premise": premise, "hypothesis": hypothesis}
        return {"id": next(numbers), "label": label, **texts, "meta": {**meta, "domain": "Artificial"}}

    return splits(row, _texts, {"test": 120}, other=[_texts(row) for rows in inferences().values() for row in rows])


def _texts(row: Row) -> str:
    return f"{row['premise']}\t{row['hypothesis']}"


def _inference(dice: Dice) -> tuple[str, str, str, dict[str, Sequence[str]]]:
    """A premise, a hypothesis, the label, and the phenomena that the label depends on, by their group."""
    label = dice.pick(("entailment", "neutral", "contradiction"))
    shown = _picture(dice)
    names, general = PEOPLE[shown.who]
    actions, general_action = ACTIONS[shown.what]
    subject, action, scene = dice.pick(names), dice.pick(actions), dice.pick(SCENES[shown.where])
    premise = _caption(dice, subject, action, scene)
    if label == "neutral":
        return premise, *_unsupported(dice, shown)
    phenomena: dict[str, Sequence[str]] = {}
    other = general if dice.chance(0.4) else dice.pick(names)
    done = general_action if label == "entailment" and dice.chance(0.4) else dice.pick(actions)
    if (other, done) != (subject, action):
        phenomena["lexical_semantics"] = ("Lexical entailment",)
    place = "" if label == "entailment" and dice.chance(0.5) else dice.pick(SCENES[shown.where])
    if not place:
        phenomena["predicate_argument_structure"] = ("Restrictivity",)
    hypothesis = _caption(dice, other, done, place, denied=label == "contradiction")
    if label == "contradiction":
        phenomena["logic"] = ("Negation",) if " inte" in hypothesis else ("Negation", "Quantifiers")
    elif other == general or done == general_action:
        phenomena["logic"] = ("Upward monotone",)
    return premise, hypothesis, label, phenomena


def _unsupported(dice: Dice, shown: Picture) -> tuple[str, str, dict[str, Sequence[str]]]:
    """A hypothesis that is neither implied nor denied by a picture, its label and its phenomena."""
    if dice.chance(0.5):  # an addition
        subject, action = dice.pick(PEOPLE[shown.who][0]), dice.pick(ACTIONS[shown.what][0])
        text = _caption(dice, subject, action, dice.pick(ADDITIONS), denied=dice.chance(0.1))
        return text, "neutral", {"knowledge": ("World knowledge",)}
    other = _picture(dice)
    changed = dice.pick(("who", "what"))
    if changed == "who":
        other = Picture((shown.who + dice.number(1, len(PEOPLE) - 1)) % len(PEOPLE), shown.what, other.where)
    else:
        other = Picture(shown.who, (shown.what + dice.number(1, len(ACTIONS) - 1)) % len(ACTIONS), other.where)
    subject, action = dice.pick(PEOPLE[other.who][0]), dice.pick(ACTIONS[other.what][0])
    text = _caption(dice, subject, action, dice.pick(SCENES[other.where]), denied=dice.chance(0.1))
    return text, "neutral", {"knowledge": ("Common sense",)}
