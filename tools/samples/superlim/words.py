"""Single words. supersim: how similar two words are; sweanalogy: a is to b as c is to which word?"""

import itertools

from samples.dice import Dice
from samples.superlim.lexicon import NOUNS, VERBS
from samples.superlim.rows import WITHOUT_DEV, Row, Splits, annotated, mean, splits, unordered

ANNOTATORS = 5


def similarities() -> Splits:
    """Words of the same class are similar: those that are done the same things to."""
    dice = Dice("supersim")

    def row() -> Row:
        first = dice.pick(list(NOUNS))
        second = first if dice.chance(0.4) else dice.pick(list(NOUNS))
        one, two = (noun.singular for noun in (dice.pick(NOUNS[first]), dice.pick(NOUNS[second])))
        similarity = 9.5 if one == two else 6.5 if first == second else 1.5
        scores = annotated(dice, similarity + dice.number(-10, 10) / 10, 0, 10, ANNOTATORS)
        by_annotator = {f"a{number}": score for number, score in enumerate(scores, 1)}
        return {"word_1": one, "word_2": two, **by_annotator, "label": mean(scores)}

    return splits(row, lambda row: unordered(row["word_1"], row["word_2"]), WITHOUT_DEV)


def analogies() -> Splits:
    """Questions about the definite form of nouns and the past of verbs. No word is asked about in both splits."""
    dice = Dice("sweanalogy")
    forms = {
        "gram-definite": [(noun.singular, noun.definite) for nouns in NOUNS.values() for noun in nouns],
        "gram-past": [verb for verbs in VERBS.values() for verb in verbs if " " not in verb[0]],
    }
    made: Splits = {"train": [], "test": []}
    for category, pairs in forms.items():
        shuffled = dice.sample(pairs, len(pairs))
        for split, part in (("train", shuffled[::3]), ("test", shuffled[1::3] + shuffled[2::3])):
            every = list(itertools.permutations(part, 2))
            count = WITHOUT_DEV[split] // len(forms)
            made[split] += [_analogy(category, *asked) for asked in dice.sample(every, min(count, len(every)))]
    return made


def _analogy(category: str, first: tuple[str, str], second: tuple[str, str]) -> Row:
    texts = {"pair1_element1": first[0], "pair1_element2": first[1], "pair2_element1": second[0]}
    return {**texts, "label": second[1], "category": category}
