"""The embedded suite `tasks-sample`: topics of messages, and one task of each kind whose targets are several values, all in English."""

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from samples.dice import Dice, distinct

Row = dict[str, Any]

SIZES = {"train": 240, "dev": 80, "test": 40}
NOISE = 0.03  # of topics and feelings

# Some names are those of people, places and organizations: only the words around them tell which.
PEOPLE = [
    "Anna",
    "Boris",
    "Clara",
    "David",
    "Emil",
    "Farida",
    "Greta",
    "Hugo",
    "Jordan",
    "Austin",
    "Chelsea",
    "Florence",
]
FAMILIES = ["Novak", "Lindgren", "Moreau", "Okafor", "Rossi", "Tanaka", "Weber", "Kowalska"]
CITIES = [["Oslo"], ["New", "Haven"], ["Lisbon"], ["San", "Marino"], ["Krakow"], ["Austin"], ["Chelsea"], ["Florence"]]
FIRMS = [
    ["Acme", "Mills"],
    ["Northwind"],
    ["Lisbon", "Harbour", "Bank"],
    ["Austin", "Labs"],
    ["Jordan"],
    ["Oslo", "Mills"],
]
ROLES = ["a baker", "a pilot", "a painter", "a judge", "a gardener", "an engineer"]
FEELINGS = {
    "joy": ["I am so happy", "what a lovely day", "this made me smile"],
    "anger": ["this is outrageous", "I am furious", "they never listen"],
    "fear": ["I am scared", "I dread tomorrow", "my hands are shaking"],
    "surprise": ["I did not expect that", "out of nowhere", "who would have thought"],
}
TEXTS = ("text", "tokens", "question", "passage")  # what no two rows of a task share
TOPICS = {
    "travel": ["the train", "our flight", "the ferry", "the hotel"],
    "work": ["the meeting", "my boss", "the new contract", "the office"],
    "sport": ["the match", "our team", "the race", "the coach"],
}
FILLERS = ["after the news", "this morning", "as always", "to be honest", "since last week", "on the way home"]


def tasks_files() -> Iterator[tuple[str, str]]:
    """The path and the text of each file."""
    for task, make in (("topic", _topic), ("feelings", _feelings), ("facts", _fact)):
        for split, rows in _splits(task, make).items():
            yield f"{task}/{split}.jsonl", "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    for split, sentences in _splits("names", _names).items():
        lines = ("".join(f"{token}\t{tag}\n" for token, tag in row["tokens"]) for row in sentences)
        yield f"names/{split}.conll", "\n".join(lines)


def _splits(task: str, make: Callable[[Dice], Row]) -> dict[str, list[Row]]:
    seen: set[str] = set()
    made = {}
    for split, size in SIZES.items():
        dice = Dice(f"tasks-sample {task} {split}")
        made[split] = distinct(
            size, seen, partial(make, dice), lambda row: json.dumps([row[key] for key in TEXTS if key in row])
        )
    return made


def _topic(dice: Dice) -> Row:
    """A message about one thing, with its topic."""
    topic = dice.pick([*TOPICS])
    text = dice.fill(
        "{thing} [was late|was cancelled|went well|surprised us] {filler}, and {other}",
        thing=dice.pick(TOPICS[topic]),
        filler=dice.pick(FILLERS),
        other=dice.pick(FEELINGS[dice.pick([*FEELINGS])]),
    )
    return {"text": text, "topic": dice.pick([*TOPICS]) if dice.chance(NOISE) else topic}


def _feelings(dice: Dice) -> Row:
    """A message with none, one or two feelings."""
    felt = dice.sample([*FEELINGS], dice.weighted({0: 1, 1: 4, 2: 3}))
    thing = dice.pick(TOPICS[dice.pick([*TOPICS])])
    parts = [f"{thing} {dice.pick(FILLERS)}", *(dice.pick(FEELINGS[feeling]) for feeling in felt), dice.pick(FILLERS)]
    text = ", ".join(parts)
    labels = [label for label in FEELINGS if (label in felt) != dice.chance(NOISE)]
    return {"text": f"{text[:1].upper()}{text[1:]}.", "feelings": labels}


def _names(dice: Dice) -> Row:
    """A sentence as tokens with the tags of its people, places and organizations."""
    person = [dice.pick(PEOPLE), *([dice.pick(FAMILIES)] if dice.chance(0.5) else [])]
    other = [dice.pick(PEOPLE)]
    city, firm = dice.pick(CITIES), dice.pick(FIRMS)
    words: Sequence[str | tuple[str, list[str]]] = dice.pick(
        [
            [("PER", person), "moved", "to", ("LOC", city), "in", str(dice.number(1950, 2020)), "."],
            [("PER", person), "works", "for", ("ORG", firm), "in", ("LOC", city), "."],
            [("ORG", firm), "has", "hired", ("PER", person), ",", "said", ("PER", other), "."],
            ["Yesterday", ("PER", other), "met", ("PER", person), "near", ("LOC", city), "."],
            ["The", "office", "of", ("ORG", firm), "in", ("LOC", city), "is", "closed", "."],
            ["It", "rained", dice.pick(["all", "half", "the", "whole"]), "day", "in", ("LOC", city), "."],
        ]
    )
    tokens = []
    for word in words:
        if isinstance(word, str):
            tokens.append((word, "O"))
        else:
            kind, parts = word
            tokens += [(part, f"{'I' if number else 'B'}-{kind}") for number, part in enumerate(parts)]
    return {"tokens": tokens}


def _fact(dice: Dice) -> Row:
    """A passage of four facts, and a question on one of them or, for every third row, on somebody who is not named."""
    names = dice.sample(PEOPLE, 4)
    facts = [(str(dice.number(1900, 1999)), " ".join(dice.pick(CITIES)), dice.pick(ROLES)) for _ in names[:3]]
    sentences = [_story(dice, name, *fact) for name, fact in zip(names, facts, strict=False)]
    asked, part = dice.pick([0, 0, 1, 1, 2, 2, 3, 3, 3]), dice.number(0, 2)
    question = ["When did {} move?", "Where did {} move?", "What was {} by profession?"][part].format(names[asked])
    passage, texts, starts = " ".join(sentences), list[str](), list[int]()
    if asked < len(facts):
        texts = [facts[asked][part]]
        before = sum(len(sentence) + 1 for sentence in sentences[:asked])
        starts = [passage.index(texts[0], before + sentences[asked].index(names[asked]))]
    return {"passage": passage, "question": question, "answers": {"text": texts, "start": starts}}


def _story(dice: Dice, name: str, year: str, city: str, role: str) -> str:
    """A sentence with a fact, and with another year or place before or after it."""
    elsewhere = dice.pick([place for place in map(" ".join, CITIES) if place != city])
    earlier = str(dice.number(1850, 1899))
    return dice.pick(
        [
            f"Born in {elsewhere} in {earlier}, {name} moved to {city} in {year} and became {role}.",
            f"{name}, {role}, came to {city} in {year} after some years in {elsewhere}.",
            f"In {elsewhere} they remember {name}, who went to {city} in {year} as {role}.",
        ]
    )
