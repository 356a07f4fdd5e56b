"""The embedded corpora `klej-corpora`: small raw corpora in the form of those that KLEJ's tasks were made from, by the grammar of
`klej-sample`. The recipes `klej-…` make tasks from them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter

from samples.dice import Dice, distinct, whole
from samples.klej import grammar, lexicon

_NAMES = {"persName": 40, "placeName": 12, "orgName": 12, "geogName": 10, "time": 14, "noEntity": 40}  # weights
_DOMAINS = {"hotels": "hotel", "medicine": "lekarz", "products": "sprzęt", "university": "uczelnia"}
_LABELS = {
    "__label__meta_" + name: tones
    for name, tones in {"plus_m": (2, 1), "minus_m": (-2, -1), "zero": (0,), "amb": (2, -2)}.items()
}


def corpora_files() -> Iterator[tuple[str, str]]:
    """The path and the text of each file."""
    yield "nkjp.conll", "".join(_annotated_sentences())
    yield (
        "cdsc.tsv",
        _table(("pair_ID", "sentence_A", "sentence_B", "score_1", "score_2", "score_3", "judgment"), _captions()),
    )
    for part, tweets in grammar.tweets().items():
        yield f"cbd_{part}.tsv", _table(("text", "harmful"), tweets)
    yield "polemo.jsonl", _lines(_reviews())
    yield "dyk.tsv", _table(("q_id", "question", "answer", "correct"), _answers())
    yield "psc.jsonl", _lines(_articles())
    yield "ar.csv", "".join(f'"{text}",{rating}\r\n' for text, rating in [("review", "stars"), *_ratings()])


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "".join("\t".join(row) + "\n" for row in (columns, *rows))


def _lines(rows: Iterator[Mapping[str, object]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _annotated_sentences() -> Iterator[str]:
    """Sentences of tokens with tags of named entities, in documents of a few sentences. Some have entities of two types."""
    dice = Dice("corpora nkjp")
    for document in range(1, 181):
        yield f"# newdoc id = nkjp-{document:03d}\n"
        for _ in range(dice.number(4, 7)):
            kinds = [dice.weighted(_NAMES)]
            if kinds[0] != "noEntity" and dice.chance(0.15):
                kinds.append(dice.pick([kind for kind in _NAMES if kind not in (*kinds, "noEntity")]))
            names = [grammar.entity_name(dice, kind, held_out=dice.chance(0.3)) for kind in kinds]
            frames = (
                lexicon.NAME_FRAMES
                if kinds[0] in ("time", "geogName") or kinds[1:]
                else lexicon.ENTITY_FRAMES[kinds[0]]
            )
            tokens = dice.fill(dice.pick(frames), x=" , ".join(names), water=names[0]).split()
            tags = ["O"] * len(tokens)
            for kind, name in zip(kinds, names, strict=True):
                if kind != "noEntity":
                    _tag(
                        tokens,
                        tags,
                        name.split(),
                        ("time" if "godzina" in name else "date") if kind == "time" else kind,
                    )
            yield (
                "".join(f"{n}\t{token}\t{tag}\n" for n, (token, tag) in enumerate(zip(tokens, tags, strict=True), 1))
                + "\n"
            )


def _tag(tokens: Sequence[str], tags: list[str], name: Sequence[str], kind: str) -> None:
    """Set the tags of a name's tokens."""
    words = [token.lower() for token in tokens]
    wanted = [token.lower() for token in name]
    start = next(n for n in range(len(words)) if words[n : n + len(wanted)] == wanted)
    tags[start : start + len(wanted)] = [f"B-{kind}", *[f"I-{kind}"] * (len(wanted) - 1)]


def _captions() -> list[tuple[str, ...]]:
    """Pairs of captions with the scores of three annotators and a judgement of entailment."""
    dice = Dice("corpora cdsc")
    rows = [row for split in grammar.caption_pairs().values() for row in split][:400]
    return [
        (
            number,
            first,
            second,
            *(str(whole(float(score) + dice.number(-6, 6) / 10, 0, 5)) for _ in range(3)),
            judgement,
        )
        for number, first, second, judgement, score in rows
    ]


def _reviews() -> Iterator[dict[str, object]]:
    """Reviews of four domains. The parts outside the larger two domains are small, but for that of training."""
    dice, seen = Dice("corpora polemo"), set[str]()
    sizes = {"train": (170, 160, 45, 45), "test": (20, 20, 6, 6)}
    for part, counts in sizes.items():
        for (domain, field), count in zip(_DOMAINS.items(), counts, strict=True):

            def row(domain: str = domain, field: str = field, part: str = part) -> dict[str, object]:
                label = dice.weighted(dict(zip(_LABELS, (30, 37, 17, 16), strict=True)))
                text = _opinion(dice, field, _LABELS[label], dice.number(3, 6))
                return {"text": text, "meta": {"domain": domain, "part": part}, "label": label}

            yield from distinct(count, seen, row, itemgetter("text"))


def _opinion(dice: Dice, field: str, tones: Sequence[int], length: int) -> str:
    """A review of so many sentences, with a judgement of each of these strengths, and facts."""
    judged = [
        grammar.judging_sentence(dice, dice.pick(tones), field, lexicon.STRENGTHS)
        for _ in range(length - len(tones) - 1)
    ]
    judged += [grammar.judging_sentence(dice, tone, field, lexicon.STRENGTHS) for tone in tones]
    judged.append(dice.fill(dice.pick(lexicon.FACTS[field])))
    return " ".join(
        sentence + ("" if sentence.endswith("?") else " .") for sentence in dice.sample(judged, len(judged))
    )


def _answers() -> list[tuple[str, ...]]:
    """Ten responses of a question-answering system to each question, and whether each is correct. Wrong responses are long."""
    dice, rows = Dice("corpora dyk"), []
    kinds, buildings = list(lexicon.QUESTIONS), list(lexicon.BUILDINGS)

    def sentences(building: str, kind: str | None, count: int) -> str:
        parts = [f"{dice.fill(dice.pick(lexicon.BUILDINGS[building]))} , jak {building}" for _ in range(count)]
        parts += [dice.fill(dice.pick(lexicon.REMARKS))] * (count > 1)
        if kind is not None:
            name = f"{dice.pick(lexicon.FIRST_NAMES['m'])} {dice.pick(lexicon.SURNAMES)}ski"
            year, day = str(10 * dice.number(150, 199)), f"{dice.number(1, 28)} {dice.pick(lexicon.MONTHS)}"
            frame = dice.pick(lexicon.ANSWERS[kind])
            parts.append(dice.fill(frame, name=name, year=year, day=day, place=dice.pick(lexicon.PLACES) + "owo"))
        return " ".join(part + "." for part in dice.sample(parts, len(parts)))

    for number in range(1, 91):
        kind, building = dice.pick(kinds), dice.pick(buildings)
        question = dice.fill(dice.pick(lexicon.QUESTIONS[kind]), x=building)
        matches = dice.sample([True, dice.chance(0.4), *[False] * 8], 10)
        for match in matches:
            other = dice.pick([each for each in kinds if each != kind]) if dice.chance(0.5) else None
            about = building if dice.chance(0.7) else dice.pick(buildings)
            answer = sentences(building, kind, 1) if match else sentences(about, other, dice.number(2, 5))
            rows.append((f"q{number}", question, answer, str(int(match))))
    return rows


def _articles() -> Iterator[dict[str, object]]:
    """News articles with five extracts each, the work of five annotators; a part of them also has five abstracts."""
    dice = Dice("corpora psc")
    news = lexicon.NEWS | lexicon.OTHER_NEWS
    events = list(news)

    def filled(frames: Sequence[str]) -> list[str]:
        return [dice.fill(frame, number=str(5 * dice.number(1, 18))) for frame in frames]

    for number in range(1, 81):
        frames, briefs = news[dice.pick(events)]
        place = dice.pick(lexicon.PLACES) + dice.pick(lexicon.PLACE_ENDINGS)
        opening = f"{dice.pick(lexicon.ORGANISATION_KINDS)} {place} : wydarzenie dnia."
        article = [opening, *filled(dice.sample(frames, len(frames))), *filled([dice.pick(lexicon.NEWS_REMARKS)])]
        extracts = [
            " ".join(part for part in article if part in chosen)
            for chosen in (dice.sample(article, 3) for _ in range(5))
        ]
        abstracts = [f"{place} : {dice.fill(dice.pick(briefs))} {dice.pick(article)}" for _ in range(5)]
        yield {
            "id": f"psc-{number:03d}",
            "article": " ".join(article),
            "extracts": list(dict.fromkeys(extracts)),
            "abstracts": list(dict.fromkeys(abstracts)) if dice.chance(0.6) else [],
        }


def _ratings() -> list[tuple[str, ...]]:
    """Reviews of products with one to five stars. Every third is too short."""
    dice, seen = Dice("corpora ar"), set[str]()

    def row() -> tuple[str, ...]:
        rating = dice.weighted({5: 33, 4: 21, 3: 15, 2: 13, 1: 18})
        length = dice.number(4, 8) if dice.chance(0.33) else dice.number(15, 22)
        tones = [whole(rating - 3 + dice.number(-6, 6) / 10, -2, 2) for _ in range(3)]
        return _opinion(dice, "zakupy", tones, length).replace('"', "'"), str(rating)

    return list(distinct(420, seen, row, itemgetter(0)))
