"""dalaj-ged-superlim: correct sentences, and sentences with one error of a learner."""

from collections.abc import Callable
from operator import itemgetter

from samples.dice import Dice
from samples.superlim.lexicon import ADJECTIVES, NAMES, NOUNS, SYNONYMS, VERBS
from samples.superlim.rows import LABEL_NOISE, SIZES, Row, Splits, splits

PRESENT, PAST = ("i dag", "nu", "just nu", "varje dag"), ("i går", "förra veckan", "i måndags", "en gång")
LEARNERS = ("Arabiska", "Dari", "Engelska", "Polska", "Spanska", "Finska")
OTHER = {"en": "ett", "ett": "en"}

# A sentence as the text before the error, the right words, the wrong words, the text after, and the kind of the error: M (form of a
# word) or S (word order).
Sentence = tuple[str, str, str, str, str]


def sentences() -> Splits:
    dice = Dice("dalaj-ged")
    kinds: tuple[Callable[[Dice], Sentence], ...] = (_indefinite, _indefinite, _definite, _subordinate, _reason)

    def row() -> Row:
        before, right, wrong, after, kind = dice.pick(kinds)(dice)
        before = before[:1].upper() + before[1:]
        incorrect = dice.chance(0.5)
        span = {"start": len(before), "stop": len(before) + len(wrong)} if incorrect else {"start": None, "stop": None}
        pair = (
            {"incorrect_span": wrong, "correction": right}
            if incorrect
            else {"incorrect_span": None, "correction": None}
        )
        label = "incorrect" if incorrect != dice.chance(LABEL_NOISE) else "correct"
        meta = {"error_span": span, "confusion_pair": pair, "error_label": kind if incorrect else ""}
        meta |= {"education_level": dice.pick(("Nybörjare", "Fortsättning", "Avancerad")), "l1": dice.pick(LEARNERS)}
        text = f"{before}{wrong if incorrect else right}{after}."
        return {"sentence": text, "label": label, "meta": {**meta, "data_source": "superlim-sample"}}

    return splits(row, itemgetter("sentence"), {**SIZES, "train": 480})


def _thing(dice: Dice) -> tuple[str, int, str, str, str, str]:
    """A time, the tense of its verb (0: present, 1: past), an article, its noun, the noun's definite form, a verb."""
    kind, tense = dice.pick(list(NOUNS)), dice.number(0, 1)
    noun = dice.pick(NOUNS[kind])
    return dice.pick((PRESENT, PAST)[tense]), tense, *noun, dice.pick(VERBS[kind])[tense]


def _name(dice: Dice) -> tuple[str, str]:
    """A name and its pronoun."""
    pronoun = dice.pick(list(NAMES))
    return dice.pick(NAMES[pronoun]), pronoun


def _indefinite(dice: Dice) -> Sentence:
    """The verb is the second part of a sentence; article and adjective agree with the noun."""
    time, _, article, noun, _, verb = _thing(dice)
    verb, _, particle = verb.partition(" ")
    name, _ = _name(dice)
    rest = f"{particle} " if particle else ""
    adjective = dice.pick(ADJECTIVES)
    right, wrong = adjective[article == "ett"], adjective[article == "en"]
    error = dice.pick(("order", "article", "adjective"))
    if error == "order":
        return f"{time} ", f"{verb} {name}", f"{name} {verb}", f" {rest}{article} {right} {noun}", "S"
    if error == "article":
        return f"{time} {verb} {name} {rest}", article, OTHER[article], f" {right} {noun}", "M"
    return f"{time} {verb} {name} {rest}{article} ", right, wrong, f" {noun}", "M"


def _definite(dice: Dice) -> Sentence:
    """After den or det and an adjective, the noun has its definite form."""
    time, _, article, noun, definite, verb = _thing(dice)
    name, _ = _name(dice)
    before = f"{name} {verb} {'den' if article == 'en' else 'det'} {dice.pick(ADJECTIVES)[2]} "
    return before, definite, noun, f" {time}", "M"


def _subordinate(dice: Dice) -> Sentence:
    """In a subordinate clause, inte comes before the verb."""
    _, tense, _, _, definite, verb = _thing(dice)
    (name, pronoun), says = _name(dice), dice.pick((("säger", "påstår"), ("sade", "påstod"))[tense])
    verb, _, particle = verb.partition(" ")
    after = f" {particle} {definite}" if particle else f" {definite}"
    return f"{name} {says} att {pronoun} ", f"inte {verb}", f"{verb} inte", after, "S"


def _reason(dice: Dice) -> Sentence:
    adjectives, reason = dice.pick(SYNONYMS)
    (name, pronoun), time = _name(dice), dice.pick(PAST)
    after = f" {dice.pick(adjectives)} eftersom {pronoun} {reason}"
    return f"{time} ", f"var {name}", f"{name} var", after, "S"
