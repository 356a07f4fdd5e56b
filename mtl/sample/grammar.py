"""The embedded suite `klej-sample`: nine small tasks in KLEJ's file layout, made by a grammar of Polish sentences.

The same bytes come on every call, Python version and platform. The texts say nothing of the real KLEJ, and scores on
them compare with nothing published: the suite is there to run the whole toolkit without any download.
"""

import math
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import TypeVar

from mtl.files import write_text
from mtl.sample import lexicon

T = TypeVar("T")
Row = tuple[str, ...]
Splits = dict[str, list[Row]]

_SIZES = {"train": 480, "dev": 150, "test": 100}
_GROUP = 4  # rows that share a question or an extract
_LABEL_NOISE = 0.03
_SENTIMENTS = {
    "plus": "__label__meta_plus_m",
    "minus": "__label__meta_minus_m",
    "zero": "__label__meta_zero",
    "amb": "__label__meta_amb",
}


class _Dice:
    """Choices that depend on the seed alone: `random()` is the one method whose stream Python keeps for ever."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed).random

    def chance(self, probability: float) -> bool:
        return self._random() < probability

    def number(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return low + int(self._random() * (high - low + 1))

    def pick(self, items: Sequence[T]) -> T:
        return items[int(self._random() * len(items))]

    def some(self, items: Sequence[T], count: int) -> list[T]:
        """`count` of the items, none twice, in random order."""
        left = list(items)
        return [left.pop(int(self._random() * len(left))) for _ in range(count)]

    def weighted(self, weights: Mapping[T, int]) -> T:
        """A key, drawn in proportion to its weight."""
        return self.pick([key for key, weight in weights.items() for _ in range(weight)])

    def spoken(self, frame: str, **words: str) -> str:
        """The frame with one part of each `[a|b]` taken, the words put in and a capital at the start."""
        text = re.sub(r"\[([^\]]*)\]", lambda match: self.pick(match[1].split("|")), frame).format(**words)
        return text[:1].upper() + text[1:]


def write_sample(folder: Path) -> None:
    """Write the nine task folders, `klej_nkjp-ner` to `klej_ar`, with their .tsv files into `folder`."""
    pair_columns = ("pair_ID", "sentence_A", "sentence_B")
    pairs = _caption_pairs()
    _write(folder, "nkjp-ner", ("sentence", "target"), _entities())
    _write(folder, "cdsc-e", (*pair_columns, "entailment_judgment"), _columns(pairs, (0, 1, 2, 3)))
    _write(folder, "cdsc-r", (*pair_columns, "relatedness_score"), _columns(pairs, (0, 1, 2, 4)))
    _write(folder, "cbd", ("sentence", "target"), _tweets())
    inside = _opinions("polemo2.0-in", {"train": ("hotel", "lekarz"), "dev": ("hotel", "lekarz")})
    outside = _opinions("polemo2.0-out", {"dev": ("sprzęt", "uczelnia")})
    _write(folder, "polemo2.0-in", ("sentence", "target"), inside)
    _write(folder, "polemo2.0-out", ("sentence", "target"), {"train": inside["train"], **outside})
    _write(folder, "dyk", ("q_id", "question", "answer", "target"), _questions())
    _write(folder, "psc", ("extract_text", "summary_text", "label"), _summaries())
    _write(folder, "ar", ("text", "rating"), _ratings())


def _write(folder: Path, task: str, columns: Row, splits: Splits) -> None:
    """Write a task's files; the last column is the target, which the test file lacks."""
    for split, rows in splits.items():
        name, width = ("test_features", len(columns) - 1) if split == "test" else (split, len(columns))
        lines = ("\t".join(row[:width]) for row in (columns, *rows))
        write_text(folder / f"klej_{task}" / f"{name}.tsv", "\n".join(lines) + "\n")


def _columns(splits: Splits, chosen: Sequence[int]) -> Splits:
    return {split: [tuple(row[i] for i in chosen) for row in rows] for split, rows in splits.items()}


def _distinct(count: int, seen: set[str], make: Callable[[], Row], text: Callable[[Row], str]) -> list[Row]:
    """`count` rows whose texts are not in `seen`, which grows by them: no text stands in two splits."""
    rows: list[Row] = []
    while len(rows) < count:
        row = make()
        if text(row) not in seen:
            seen.add(text(row))
            rows.append(row)
    return rows


def _whole(number: float, low: int, high: int) -> int:
    """The nearest whole number within the bounds (halves go up)."""
    return min(max(math.floor(number + 0.5), low), high)


# nkjp-ner


def _entities() -> Splits:
    dice, seen, splits = _Dice("nkjp-ner"), set[str](), {}
    labels = list(lexicon.ENTITY_FRAMES)

    def row(held_out: bool) -> Row:
        label = dice.pick(labels)
        # A few names are known from training, as they are in any newspaper.
        held_out = held_out and dice.chance(0.9)
        if dice.chance(0.5):
            frame = dice.pick(lexicon.ENTITY_FRAMES[label])
            name, adverbial = _name(dice, label, held_out), _time(dice, held_out, in_sentence=True)
            water = _stem(dice, lexicon.WATERS, held_out) + dice.pick(lexicon.WATER_ENDINGS)
            text = dice.spoken(frame, x=adverbial if label == "time" else name, water=water)
        else:
            text = dice.spoken(dice.pick(lexicon.NAME_FRAMES), x=_name(dice, label, held_out))
        return text, dice.pick(labels) if dice.chance(_LABEL_NOISE) else label

    for split, count in _SIZES.items():
        splits[split] = _distinct(count, seen, partial(row, split != "train"), itemgetter(0))
    return splits


def _stem(dice: _Dice, stems: Sequence[str], held_out: bool) -> str:
    """One of the stems kept for the training rows (two in three) or of the others."""
    return dice.pick([stem for i, stem in enumerate(stems) if (i % 3 == 2) == held_out])


def _name(dice: _Dice, label: str, held_out: bool) -> str:
    """A name of the kind, in the nominative; for noEntity a thing."""
    if label == "persName":
        gender = dice.pick("mf")
        surname = _stem(dice, lexicon.SURNAMES, held_out) + dice.pick(lexicon.SURNAME_ENDINGS[gender])
        return f"{dice.pick(lexicon.FIRST_NAMES[gender])} {surname}" if dice.chance(0.3) else surname
    if label == "placeName":
        return _stem(dice, lexicon.PLACES, held_out) + dice.pick(lexicon.PLACE_ENDINGS)
    if label == "geogName":
        return _stem(dice, lexicon.WATERS, held_out) + dice.pick(lexicon.HEIGHT_ENDINGS)
    if label == "orgName":
        name = _stem(dice, lexicon.ORGANISATIONS, held_out) + dice.pick(lexicon.ORGANISATION_ENDINGS)
        return f"{dice.pick(lexicon.ORGANISATION_KINDS)} {name}" if dice.chance(0.3) else name
    if label == "time":
        return _time(dice, held_out, in_sentence=False)
    gender = dice.pick("mfn")
    return f"{_agreeing(dice.pick(lexicon.THING_ADJECTIVES), gender)} {dice.pick(lexicon.THINGS[gender])}"


def _time(dice: _Dice, held_out: bool, in_sentence: bool) -> str:
    """A day, year, hour or weekday: as a name (`rok 1987`) or as a sentence takes it (`w 1987 roku`)."""
    # Odd numbers are kept for the rows held out.
    odd = int(held_out)
    day = f"{2 * dice.number(1, 14) + odd} {dice.pick(lexicon.MONTHS)}"
    year = 1900 + 2 * dice.number(0, 60) + odd
    hour = f"{dice.number(6, 22)}.{10 * dice.number(0, 2) + 5 * odd:02d}"
    weekday = dice.pick(lexicon.WEEKDAYS)
    if in_sentence:
        return dice.pick((day, f"w {year} roku", f"o godzinie {hour}", f"w {weekday}"))
    return dice.pick((day, f"rok {year}", f"godzina {hour}", f"{weekday} {day}"))


def _agreeing(adjective: str, gender: str) -> str:
    """The nominative of an adjective, given in the masculine, for gender m, f or n."""
    if gender == "m":
        return adjective
    if adjective.endswith("y"):
        return adjective[:-1] + ("a" if gender == "f" else "e")
    if gender == "f":
        return adjective[:-1] + "a"
    return adjective + "e"


# cdsc-e and cdsc-r


def _caption_pairs() -> Splits:
    """Rows of pair_ID, sentence_A, sentence_B, judgement, score."""
    dice, seen, numbers = _Dice("cdsc"), set[str](), iter(range(1, 10**6))

    def caption(subject: str, action: str, scene: str, outfit: str = "", negated: bool = False) -> str:
        words = (subject, outfit, "nie" if negated else "", action, scene, ".")
        return dice.spoken(" ".join(word for word in words if word))

    def row() -> Row:
        judgement = dice.weighted({"NEUTRAL": 58, "ENTAILMENT": 23, "CONTRADICTION": 19})
        who, what, where = (
            dice.number(0, len(words) - 1) for words in (lexicon.SUBJECTS, lexicon.ACTIONS, lexicon.SCENES)
        )
        subjects, anyone, no = lexicon.SUBJECTS[who]
        actions, anything = lexicon.ACTIONS[what]
        scenes = lexicon.SCENES[where]
        outfit = dice.pick(lexicon.OUTFITS) if dice.chance(0.3) else ""
        first = caption(dice.pick(subjects), dice.pick(actions), dice.pick(scenes), outfit)
        if judgement == "ENTAILMENT":
            general = dice.chance(0.3)
            subject = anyone if dice.chance(0.3) else dice.pick(subjects)
            scene = "" if dice.chance(0.3) else dice.pick(scenes)
            second = caption(subject, anything if general else dice.pick(actions), scene)
            relatedness = 4.8 - 0.5 * general - 0.4 * (subject == anyone) - 0.4 * (not scene)
        elif judgement == "CONTRADICTION":
            subject = dice.pick(subjects)
            if subject == subjects[0] and dice.chance(0.5):
                subject = f"{no} {subject}"
            second = caption(subject, dice.pick(actions), dice.pick(scenes), negated=True)
            relatedness = 3.6
        else:
            # Half of the pairs share one part or two; the others are of two different pictures.
            kept = dice.pick(((), (), ("who",), ("what",), ("where",), ("who", "where"), ("what", "where")))
            other = [
                dice.pick([part for part in words if part[0] != own])
                for words, own in ((lexicon.SUBJECTS, subjects), (lexicon.ACTIONS, actions))
            ]
            subject = dice.pick(subjects if "who" in kept else other[0][0])
            action = dice.pick(actions if "what" in kept else other[1][0])
            scene = dice.pick(scenes if "where" in kept else dice.pick([s for s in lexicon.SCENES if s != scenes]))
            second = caption(subject, action, scene, negated=dice.chance(0.07))
            relatedness = 0.2 + 1.1 * ("who" in kept) + 1.7 * ("what" in kept) + 0.8 * ("where" in kept)
        if judgement != "ENTAILMENT" and dice.chance(0.5):
            first, second = second, first
        if dice.chance(_LABEL_NOISE):
            judgement = "NEUTRAL"
        annotators = [_whole(relatedness + dice.number(-8, 8) / 10, 0, 5) for _ in range(3)]
        return str(next(numbers)), first, second, judgement, str(round(sum(annotators) / 3, 2))

    return {split: _distinct(count, seen, row, lambda row: row[1] + row[2]) for split, count in _SIZES.items()}


# cbd


def _tweets() -> Splits:
    dice, seen = _Dice("cbd"), set[str]()

    def row() -> Row:
        harmful = dice.chance(0.22)
        if harmful:
            frames = lexicon.ABUSE_FRAMES
        else:
            frames = lexicon.HARMLESS_FRAMES if dice.chance(0.3) else lexicon.CHAT_FRAMES
        parts = [dice.spoken(dice.pick(frames), x=dice.pick(lexicon.INSULTS))]
        if dice.chance(0.5):
            # What is said beside the insult is as harmless as anyone's talk.
            parts.insert(dice.number(0, 1), dice.spoken(dice.pick(lexicon.CHAT_FRAMES)))
        text = "@anonymized_account " * dice.number(0, 3) + " ".join(parts) + dice.pick(lexicon.TWEET_TAILS)
        # People agree less on what insults than on what happened.
        return text, str(int(harmful != dice.chance(2 * _LABEL_NOISE)))

    return {split: _distinct(count, seen, row, itemgetter(0)) for split, count in (("train", 400), ("test", 100))}


# polemo2.0-in, polemo2.0-out and ar


def _judgement(dice: _Dice, strength: int, field: str, strengths: Mapping[int, Sequence[str]]) -> str:
    """A sentence, without its full stop, that judges something of the field with a strength from -2 to 2."""
    if dice.chance(0.25):
        return dice.spoken(dice.pick(lexicon.VERDICTS[strength]))
    gender = dice.pick("mfn")
    words = strengths.get(strength, lexicon.STRENGTHS[strength])
    noun = dice.pick(lexicon.ASPECTS[field][gender])
    if strength < 0 and dice.chance(0.1):
        praise = _agreeing(dice.pick(lexicon.STRENGTHS[-strength]), gender)
        return dice.spoken("{noun} wcale nie jest {praise}", noun=noun, praise=praise)
    # Only the mild words take a degree.
    much = dice.pick(("", "dość ", "całkiem ")) if abs(strength) == 1 else ""
    adjective = _agreeing(dice.pick(words), gender)
    return dice.spoken(dice.pick(lexicon.ASPECT_FRAMES), noun=noun, adjective=adjective, much=much)


def _opinions(seed: str, fields: Mapping[str, Sequence[str]]) -> Splits:
    """Reviews of the fields given for each split; the test split has those of dev."""
    dice, seen = _Dice(seed), set[str]()

    def row(among: Sequence[str]) -> Row:
        field = dice.pick(among)
        strengths = lexicon.STRENGTHS if "train" in fields else lexicon.OUTSIDE_STRENGTHS
        label = dice.weighted({"plus": 30, "minus": 37, "zero": 17, "amb": 16})
        length = dice.number(3, 5)
        good, bad = (dice.pick((1, 2, 2)) for _ in range(2)), (dice.pick((-1, -2, -2)) for _ in range(2))
        tones = {"plus": [*good], "minus": [*bad], "zero": [], "amb": [*good, *bad]}[label]
        if label in ("plus", "minus"):
            sign = 1 if label == "plus" else -1
            tones += [sign * dice.pick((1, 2))] * dice.chance(0.6)
            # One mild word of the other kind does not turn a review.
            tones += [-sign] * dice.chance(0.12)
        frames = lexicon.FACTS[field]
        facts = [dice.spoken(frame) for frame in dice.some(frames, min(max(1, length - len(tones)), len(frames)))]
        said = [_judgement(dice, tone, field, strengths) for tone in tones] + facts
        said = dice.some(list(dict.fromkeys(said)), len(set(said)))
        marks = [dice.pick((" .", " .", " .", " !")) if not sentence.endswith("?") else "" for sentence in said]
        if dice.chance(_LABEL_NOISE):
            label = dice.pick(list(_SENTIMENTS))
        return " ".join(text + mark for text, mark in zip(said, marks, strict=True)), _SENTIMENTS[label]

    splits: Splits = {}
    for split in ("train", "dev", "test"):
        if split in fields or split == "test":
            chosen = fields.get(split, fields["dev"])
            splits[split] = _distinct(_SIZES[split], seen, partial(row, chosen), itemgetter(0))
    return splits


def _ratings() -> Splits:
    dice, seen = _Dice("ar"), set[str]()

    def row() -> Row:
        rating = dice.weighted({5: 33, 4: 21, 3: 15, 2: 13, 1: 18})
        tones = [_whole(rating - 3 + dice.number(-6, 6) / 10, -2, 2) for _ in range(dice.number(2, 4))]
        said = [_judgement(dice, tone, "zakupy", lexicon.STRENGTHS) for tone in tones]
        if dice.chance(0.6):
            said.append(dice.spoken(dice.pick(lexicon.FACTS["zakupy"])))
        if dice.chance(0.15):
            said.append(dice.pick(('Jak w opisie: "produkt nowy"', 'Sklep pisze "wysyłka w 24 godziny"')))
        # Commas stand free in the frames, as in tokenized text; a shopper writes them joined.
        text = " ".join(part.replace(" ,", ",") + dice.pick((".", ".", "!")) for part in dice.some(said, len(said)))
        noise = dice.pick((-1, 1)) if dice.chance(0.12) else 0
        return text, f"{min(max(rating + noise, 1), 5)}.0"

    return {split: _distinct(count, seen, row, itemgetter(0)) for split, count in _SIZES.items()}


# dyk and psc


def _matches(dice: _Dice, groups: int, positives: Mapping[int, int]) -> Iterator[list[bool]]:
    """For each group, which of its rows match; `positives` weighs how many do."""
    for _ in range(groups):
        count = dice.weighted(positives)
        yield dice.some([True] * count + [False] * (_GROUP - count), _GROUP)


def _noisy(dice: _Dice, label: bool) -> str:
    return str(int(label != dice.chance(_LABEL_NOISE)))


def _questions() -> Splits:
    dice, numbers = _Dice("dyk"), iter(range(1, 10**6))
    kinds, buildings = list(lexicon.QUESTIONS), list(lexicon.BUILDINGS)

    def answer(kind: str | None, building: str) -> str:
        """A passage on the building, with the fact that a question of this kind asks for, if any."""
        said = [dice.spoken(dice.pick(lexicon.BUILDINGS[building]))]
        if kind:
            said.append(
                dice.spoken(
                    dice.pick(lexicon.ANSWERS[kind]),
                    year=str(10 * dice.number(150, 199)),
                    name=f"{dice.pick(lexicon.FIRST_NAMES['m'])} {dice.pick(lexicon.SURNAMES)}ski",
                    day=f"{dice.number(1, 28)} {dice.pick(lexicon.MONTHS)}",
                    place=dice.pick(lexicon.PLACES) + "owo",
                )
            )
        if not kind or dice.chance(0.2):
            said.append(dice.spoken(dice.pick(lexicon.REMARKS)))
        named = f"{building} – " if dice.chance(0.8) else ""
        return dice.spoken(named) + ". ".join(dice.some(said, len(said))) + "."

    def rows(groups: int) -> Iterator[Row]:
        for matches in _matches(dice, groups, {0: 1, 1: 7, 2: 3}):
            kind, building = dice.pick(kinds), dice.pick(buildings)
            number, question = next(numbers), dice.spoken(dice.pick(lexicon.QUESTIONS[kind]), x=building)
            question = question[:1].lower() + question[1:]
            for match in matches:
                told: str | None = kind
                about = building
                if not match:
                    # A wrong passage is on another building, answers another question, or answers none.
                    wrong = dice.pick(("building", "kind", *["none"] * 10))
                    if wrong != "building":
                        told = dice.pick([k for k in kinds if k != kind]) if wrong == "kind" else None
                    if wrong == "building" or dice.chance(0.5):
                        about = dice.pick([b for b in buildings if b != building])
                yield f"pytanie{number}", question, answer(told, about), _noisy(dice, match)

    return {"train": list(rows(120)), "test": list(rows(25))}


def _summaries() -> Splits:
    dice = _Dice("psc")
    events = list(lexicon.NEWS)

    def text(frames: Sequence[str], remark: float) -> str:
        said = [dice.spoken(frame, number=str(5 * dice.number(1, 18))) for frame in frames]
        if dice.chance(remark):
            said.append(dice.spoken(dice.pick(lexicon.NEWS_REMARKS)))
        return " ".join(said)

    def summary(event: str) -> str:
        article, brief = (lexicon.NEWS | lexicon.OTHER_NEWS)[event]
        # Summaries are cut from articles: a sentence of the article may stand in them word for word.
        return text([dice.pick(brief), *dice.some(article, dice.number(0, 1))], remark=0.5)

    def rows(groups: int, seen: set[str]) -> Iterator[Row]:
        for matches in _matches(dice, groups, {1: 6, 2: 4}):
            number = dice.number(0, len(events) - 1)
            extract = ""
            while not extract or extract in seen:
                extract = text(dice.some(lexicon.NEWS[events[number]][0], 3), remark=0.7)
            seen.add(extract)
            for match in matches:
                # The neighbour in the list shares a field and words with the event.
                other = number ^ 1 if dice.chance(0.3) else (number + dice.number(1, len(events) - 1)) % len(events)
                stranger = dice.pick(list(lexicon.OTHER_NEWS)) if dice.chance(0.75) else events[other]
                yield extract, summary(events[number] if match else stranger), _noisy(dice, match)

    seen: set[str] = set()
    return {"train": list(rows(120, seen)), "test": list(rows(25, seen))}
