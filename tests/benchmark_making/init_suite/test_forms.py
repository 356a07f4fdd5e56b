"""What is guessed, asked and refused in data of many forms. A form is the columns of the training rows; what else it has stands in keys of `Form`."""

import json
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from data_files import sentences, write_lines
from init_forms import Columns, Form, check_forms
from pyarrow import parquet
from structured_suite import LABELS, sentence

from mtl.benchmark_making.init_suite.column_names import LIKELY_NAMES

ROWS = 40
TEXTS, OTHERS = sentences(ROWS), sentences(ROWS, "another")
WORDS = [a + b for a in "abcde" for b in "klmnopqr"]
UP = [str(i) for i in range(ROWS)]


def many(values: Any, rows: int = ROWS) -> list[Any]:
    """The values again and again: a string's characters, or a list's items."""
    return list(islice(cycle(values), rows))


AB, ABCD = many(["yes", "no"]), many("abcd")


def of_label(*labels: Any, name: str = "label", dev: list[str] | None = None, **columns: Any) -> Form:
    """A column of labels beside one of texts."""
    (cells,) = labels
    text = sentences(len(cells))
    of_dev = {"text": sentences(len(dev), "dev"), name: dev} if dev else None
    return Form({"text": text, **columns, name: cells}, of_dev)


LISTS = [["x", "y", "z"], ["x", "y"], ["x", "y"], ["u", "v", "w"]]
KINDS = {
    "labels": of_label(many("acb")),
    "a rare label": of_label(many("0001")),
    "no rare label": of_label(many("0001011")),
    "a frequent label": of_label(many("aaaaaaaabc")),
    "a label of dev alone": of_label(many("ab"), dev=[*many("ab"), "positive"]),
    "numbers": of_label(many(["0.2", "3", "9.8", "4"]), dev=["-1.5", "3"]),
    "many whole numbers": of_label(many(UP, 200)),
    "numbers with names": Form(
        {"text": sentences(300), "label": many(UP[:30], 300), "title": many([f"class {i}" for i in range(30)], 300)}
    ),
    "twelve whole numbers": of_label(many(UP[:12], 48)),
    "three whole numbers": of_label(many("012")),
    "ratings": of_label(many("123"), name="rating"),
    "decimal ratings": of_label(many(["1.0", "2.0", "3.0"])),
    "decimal truth": of_label(many(["1.0", "0.0"])),
    "words": of_label([f"word{chr(97 + i % 26)}" for i in range(100)]),
    "few rows of each label": of_label(many([a + b + "学科类" for a in "甲乙丙丁戊己" for b in "子丑寅卯辰巳"], 144)),
    "spellings": of_label(many(["pos", "neg", "Pos ", "neg"])),
    "numbers in several spellings": of_label(many(["1", "01"])),
    "numbers of many digits": of_label(many(["0", "9" * 5000]), a1=OTHERS, a2=WORDS)._replace(
        known={"kind": "choice", "target": "label", "candidates": ["a1", "a2"]}
    ),
    "a dash": of_label(many("ab-b")),
    "minus one": of_label(many(["1", "0", "-1"])),
    "texts": of_label([f"a summary of article {i}" for i in range(ROWS)]),
    "missing": of_label(many(["a", "", "b"])),
    "constant": of_label(many("a"))._replace(known={"target": "label"}),
    "index from 0": of_label(many([2, 0, 1, 0]), answers=many(LISTS)),
    "index from 1": of_label(many([3, 1, 2, 1]), answers=many(LISTS)),
    "index, scored on test": Form(
        {"question": TEXTS, "answers": many([["x", "y"]]), "label": many([0, 1])},
        test={"question": OTHERS, "answers": many([["x", "y"]]), "label": many([0, 1, 1])},
    ),
    "letters": of_label(many("CABA"), answers=many(LISTS)),
    "index from 0 or 1": of_label(many([1, 1, 1, 2]), answers=many(LISTS)),
    "index of a list and a column, as answered": of_label(
        many([0, 2, 1, 0]), a1=WORDS, others=many([["x"], ["y", "z"]])
    )._replace(known={"candidates": ["others[]", "a1"]}),
    "index of a column": of_label(many("1001"), choice1=OTHERS, choice2=WORDS, option_a=AB),
    "no index": of_label(many(["yes", "no"]), answers=many([["x", "y"]])),
    **{
        f"1 to 5, {known}": of_label(many("12345"))._replace(known=known)
        for known in (
            {"range": [1, 5]},
            {"kind": "labels"},
            {"labels": list("12345"), "metric": "macro_f1"},
            {"metric": "macro_f1"},
        )
    },
    "text of a candidate": of_label(WORDS, option1=WORDS, option2=WORDS[::-1]),
}

STANCE = {"kind": AB, "text": TEXTS, "grade": ABCD}
QAS = many([[{"q": {}}]])
TARGET = {
    "label": Form({"topic": ABCD, "label": AB, "text": TEXTS}),
    "last word": Form({"genre": ABCD, "nli_judgment": AB, "text": TEXTS}),
    "its name": Form({"text": TEXTS, "label": AB, "label_name": [f"{label}!" for label in AB]}),
    "score": Form({"text": TEXTS, "genre": ABCD, "stars": WORDS, "score": many("12")}),
    "the only one": Form({"text": TEXTS, "stance": AB}),
    "meta and ids": Form({"meta": many([{"label": "a"}, {"label": "b"}]), "row_id": AB, "text": TEXTS, "stance": ABCD}),
    "numbers of rows": Form({"nr": UP, "count": UP, "kind": AB, "text": TEXTS}),
    **{
        f"test has {what}": Form(
            STANCE, test={**STANCE, "kind": many([what])} if what else {"text": TEXTS, "grade": ABCD}
        )
        for what in ("", " ", "-1", "NaN")
    },
    "or a source": Form({"acceptable": AB, "source": ABCD, "text": TEXTS}),
    "a hierarchy": Form({"label": AB, "fine_label": ABCD, "text": TEXTS}),
    "aspects": Form({"food": ABCD, "service": AB, "text": TEXTS}),
    "capitals": Form({"Target": ABCD, "Stance": AB, "text": TEXTS}),
    "target is a group": Form({"target_group": ABCD, "hate": AB, "text": TEXTS}),
    "class and score": Form({"class": AB, "score": many("1234"), "text": TEXTS}),
    "x_label": Form({"x_label": AB, "tone": ABCD, "text": TEXTS}),
    "only a source": Form({"dataset": AB, "text": TEXTS}),
    "none": Form({"text": TEXTS}),
    "objects": Form({"text": TEXTS, "qas": QAS}),
    "objects and a source": Form({"text": TEXTS, "origin": AB, "qas": QAS}),
    "several incomplete": Form(
        {"text": many([{}, {"a": "b"}]), **{name: [None, *AB[1:]] for name in ("stars", *LIKELY_NAMES)}}
    ),
    "incomplete": Form({"text": many([{}, {"a": "b"}]), "label": [None, *AB[1:]]}),
    "the same labels in words": Form({"text": TEXTS, "mood": AB, "label": many("01")}),
}

LABEL = {"label": AB}
SHE = [f"number {i} slept when she came" for i in range(ROWS)]
START, STOP = ([text.index("she") + more for text in SHE] for more in (0, 3))
NESTED = [{"text": "she", "at": {"start": start, "stop": start + 3}} for start in START]
MARKED = {"span1_text": many(["she"]), "span1_index": many("4")}
Q_IDS = [f"q{i // 3}" for i in range(ROWS)]
LONG = many([f"{word} said that the old house by the river was sold" for word in ("Anna", "Bo", "Ida")])
COLUMNS = {
    "no texts": Form({
        **LABEL,
        **{"sentence_id": TEXTS, "meta": [{"text": text} for text in TEXTS], "year": [str(1900 + i) for i in range(ROWS)]},
        **{"topic": many(["nuclear power", "school"]), "source": [f"https://example.org/{i}" for i in range(ROWS)]},
        **{"premise": TEXTS, "hypothesis": OTHERS},
    }),
    "the test file lacks one": Form({**LABEL, "correction": OTHERS, "text": TEXTS}, test={"text": TEXTS}),
    "long texts in many pairs": Form({**LABEL, "first": LONG, "genre": many(["news", "a long story"])}),
    "a word": Form({**LABEL, "context": TEXTS, "word": WORDS}),
    "two words": Form({**LABEL, "word_1": WORDS, "word_2": WORDS[::-1], "list": many("abc")}),
    "three texts": Form({**LABEL, **{name: sentences(ROWS, name) for name in "abc"}}),
    "a question of few values": Form({**LABEL, "premise": TEXTS, "question": many(["cause", "effect"])}),
    "no spaces": Form({**LABEL, "topic": many(["新闻", "体育"]), "sentence": [f"这是一个句子{i}" for i in range(ROWS)]}),
    "lists": Form({**LABEL, "text": TEXTS, "keywords": many([["a", "b"]]), "meta": many([{"topics": ["a"]}])}),
    "follows": Form({**LABEL, "text": TEXTS, "name": many(["it is good", "it is bad"]), "class_id": many(["True", "False"])}),
    "groups": Form({**LABEL, "row_id": WORDS, "q_id": Q_IDS, "text": TEXTS}),
    "few groups": Form({**LABEL, "doc_id": [f"d{i // 10}" for i in range(ROWS)], "q_id": Q_IDS, "text": TEXTS}),
    "almost no groups": Form({**LABEL, "row_id": [*WORDS[:-1], WORDS[0]], "text": TEXTS}),
    "groups of train alone": Form({**LABEL, "sense_id": Q_IDS, "text": TEXTS}, dev={"text": OTHERS, **LABEL}),
    "span": Form({**LABEL, "text": SHE, "pronoun": NESTED}, known={"target": "label"}),
    "span in words": Form({**LABEL, "text": SHE, **MARKED}),
    "span as answered": Form({**LABEL, "text": SHE, **MARKED}, known={"spans": {"text": ["span1_index[words from 0] + span1_text"]}}),
    "span that does not fit": Form({**LABEL, "text": SHE, "span1_text": [f"number {i}" for i in range(ROWS)], "span1_index": many("9")}),
    "span between two columns": Form({**LABEL, "text": SHE, "start": START, "end": STOP}),
    "span of one side": Form({**LABEL, "s1": SHE, "s2": SHE[::-1], "start1": many("0"), "end1": many("6")}),
}  # fmt: skip

SETS = many([["joy"], ["anger", "joy"], [], ["anger"]])
TOXIC = {"text": TEXTS, "toxic": many([0, 1]), "threat": many([0, 0, 0, 1]), "insult": many([1, 0, 0, 0, 1])}
STARS = {"stars": many([1, 2, 3, 4, 1])}
OR_NOTHING = {"text": TEXTS, "a": many(["joy", "joy", "", "rage"]), "b": many(["", "rage", "", "joy"])}


def cells(separator: str, empty: str = "") -> Columns:
    return {"text": TEXTS, "emotions": [separator.join(labels) or empty for labels in SETS]}


SEVERAL = {
    "lists": Form({"text": TEXTS, "emotions": SETS}),
    "lists beside a source": Form({"text": TEXTS, "emotions": SETS, "source": many("ab")}),
    "lists called labels": Form({"text": TEXTS, "labels": SETS, **STARS}),
    "lists of numbers": Form({"text": TEXTS, "labels": many([[10], [2, 10], [], [2]])}),
    "lists with semicolons": Form({"text": TEXTS, "labels": many([["a;b"], ["c", "a;b"], [], ["c"]])}),
    "lists or stars": Form({"text": TEXTS, "emotions": SETS, **STARS}),
    "lists with spellings": Form({"text": TEXTS, "emotions": many([["joy"], ["anger", "joy"], [], ["anger", "Joy"]])}),
    "lists as answered": Form({"text": TEXTS, "emotions": SETS, **STARS}, known={"target": "emotions[]"}),
    **{f"cells with {sign!r}": Form(cells(sign)) for sign in ",; "},
    "cells or stars": Form({**cells(";"), **STARS}),
    "cells of one label": Form(cells(" ", "none"), known={"kind": "labels"}),
    "cells of several": Form(cells(" "), known={"kind": "multi_label"}),
    "cells with a slash": Form({"text": TEXTS, "x": many(["a/b", "b", "a", "c"])}, known={"target": "x", "label_separator": "/"}),
    "truths": Form(TOXIC),
    "truths or stars": Form({**TOXIC, **STARS}),
    "stars as answered": Form({**TOXIC, **STARS}, known={"target": "stars"}),
    "truths as answered": Form({**TOXIC, **STARS}, known={"target": "toxic + threat"}),
    "truths without labels in test": Form(TOXIC, test={**TOXIC, **{name: many([-1]) for name in list(TOXIC)[1:]}}),
    "truths with placeholders": Form(TOXIC, test={**TOXIC, **{name: many([0]) for name in list(TOXIC)[1:]}}, known={"kind": "multi_label"}),
    "a label or nothing": Form(OR_NOTHING),
    "a label or nothing as answered": Form(OR_NOTHING, known={"target": "a + b"}),
    "candidates": Form({"text": TEXTS, "answers": many([["yes", "no"], ["no"], ["yes"], ["yes", "no"]]), "stance": AB}),
    "votes": Form({"text": TEXTS, "votes": many([["yes", "yes", "no"], ["no", "no"]]), "stance": AB}),
    "places": Form({"text": TEXTS, "stance": many(["New York, USA", "Paris, France", "Rome, Italy", "Bonn, Germany"])}),
    "two columns of lists": Form({"text": TEXTS, "emotions": SETS, "topics": many([["x"], [], ["y", "z"], ["y", "x"], ["z"]])}),
}  # fmt: skip

SENTENCES = [sentence(i) for i in range(ROWS)]
TOKENS, TAGS = ([[pair[place] for pair in row] for row in SENTENCES] for place in (0, 1))
INTS = [[LABELS.index(tag) for tag in row] for row in TAGS]
UPOS = [["X" if word.istitle() else "Y" for word in row] for row in TOKENS]
GO = ["go" if "B-LOC" in row else "stay" for row in TAGS]
TAGGED = {"tokens": TOKENS, "tags": TAGS}


def conll(suffix: str, further: str = "") -> Form:
    pairs = [(word.replace(" ", "_"), tag) for row in SENTENCES for word, tag in [*row, ("", "")]]
    lines = [f"{word} {further}{tag}" if word else "" for word, tag in pairs]
    return Form({}, write=lambda folder: write_lines(folder / f"train{suffix}", lines))


def in_parquet(folder: Path) -> None:
    feature = {"feature": {"names": LABELS, "_type": "ClassLabel"}, "_type": "Sequence"}
    metadata = {"huggingface": json.dumps({"info": {"features": {"ner_tags": feature}}})}
    table = pyarrow.table({"tokens": TOKENS, "ner_tags": INTS}).replace_schema_metadata(metadata)
    parquet.write_table(table, folder / "train.parquet")


def in_cells(space: str) -> Form:
    texts = [space.join(word.replace(" ", "_") for word in words) for words in TOKENS]
    return Form({"utterance": texts, "slots": [" ".join(tags) + space[1:] for tags in TAGS]})


TOKEN_LABELS = {
    "lists": Form({"id": UP, **TAGGED}),
    "parquet": Form({}, write=in_parquet),
    "cells": in_cells(" "),
    "cells as answered": in_cells("  ")._replace(known={"kind": "token_labels", "target": "slots", "text": "utterance"}),  # as in SNIPS
    "CoNLL in .txt": conll(".txt"),
    "CoNLL with a further column": conll(".conll", "-X- "),
    "tags without types": Form({**TAGGED, "tags": [[tag[0] for tag in tags] for tags in TAGS]}),
    "two columns of tags": Form({**TAGGED, "upos": UPOS}),
    "two columns, answered": Form({**TAGGED, "upos": UPOS}, known={"target": "upos[]", "text": "tokens[]"}),
    "a label beside": Form({**TAGGED, "label": GO}),
    "the tags, answered": Form({**TAGGED, "label": GO}, known={"target": "tags[]"}),
    "the label, answered": Form({"text": list(map(" ".join, TOKENS)), **TAGGED, "label": GO}, known={"target": "label", "text": "text"}),
    "no tags, answered": Form({"tokens": TOKENS, "label": GO}, known={"kind": "token_labels", "target": "label"}),
    "numbers": Form({**TAGGED, "tags": INTS}),
    "placeholders": Form(TAGGED, test={**TAGGED, "tags": [["O" for _ in row] for row in TAGS]}),
    "a test file that lacks tags": Form(TAGGED, test={**TAGGED, "tags": [None, *TAGS[1:]]}),
    "labels of candidates": Form({"question": TEXTS, "texts": [[f"one {i}", f"other {i}"] for i in UP], "letters": many([["A", "B"]]), "label": GO}),
    "cells called labels": Form({"text": list(map(" ".join, TOKENS)), "labels": list(map(" ".join, TAGS))}),
}  # fmt: skip


def marked(span: Callable[[int, int, str], Any], known: dict[str, Any] | None = None, **columns: Any) -> Form:
    """Sentences that begin with a place and end with a time."""
    texts = [f"{place} is number {number} at noon" for number, place in enumerate(many(["Bergen", "Oslo", "Tromsø"]))]
    spans = [[span(0, text.index(" "), "place"), span(len(text) - 4, len(text), "time")] for text in texts]
    spans[1], spans[2] = [span(0, 4, "place")], []
    return Form({"text": texts, "spans": spans, **columns}, known=known)


PLACES = {"reading": {"spans": "text + spans.0[] + spans.1[] + spans.2[]"}}
SPANS = {
    "nested, some without a start": marked(
        lambda start, stop, type: {"at": {"startIndex": start, "endIndex": stop} if start else {"endIndex": stop}, "is": type}
    ),
    "lists": marked(lambda start, stop, type: [start, stop, type]),
    "lists beside labels": marked(lambda start, stop, type: [start, stop, type], label=AB),
    "the label, as answered": marked(lambda start, stop, type: [start, stop, type], label=AB, known={"target": "label"}),
    "the spans, as answered": marked(lambda start, stop, type: [start, stop, type], label=AB, known=PLACES),
    "types as keys": Form({"text": SHE, "slots": [{"who": {"span": [17, 20]}}, {"when": {"span": [12, 16]}}] * (ROWS // 2), "stance": AB}),
    "beside tags": Form({**TAGGED, "spans": [[{"from": 0, "to": 2, "is": "x"}]] * ROWS}),
    "words of spans": marked(lambda start, stop, type: {"word": "x" * start, "start": start, "end": stop, "type": type}),
    "numbers alone": Form({"text": SHE, "boxes": [[[1, 2], [3, 4]]] * ROWS, **LABEL}),
}  # fmt: skip

PASSAGES = [f"In {1900 + n}, the city number {n} had {n * 7 + 1} houses and a river." for n in range(12)]


def questions(shift: int = 0, further: str = "", **columns: Any) -> Form:
    """Two questions on each passage, the second one without an answer."""
    made: dict[str, list[Any]] = {"id": [], "context": [], "question": [], "answers": []}
    for n, passage in enumerate(PASSAGES):
        answer = f"{n * 7 + 1} houses"
        found = {"text": [answer], "answer_start": [passage.index(answer) + shift], "answer_type": ["name"]}
        made["id"] += [f"{n}a", f"{n}b"]
        made["context"] += [passage + further] * 2
        made["question"] += [f"What had city {n}?", f"Who ruled {n}?"]
        made["answers"] += [found, {name: [] for name in found}]
    return Form({**made, **columns})


def articles(folder: Path) -> None:
    """As of SQuAD."""
    paragraphs = []
    for id, context, question, answers in zip(*questions().train.values(), strict=True):
        found = zip(answers["text"], answers["answer_start"], strict=True)
        listed = [{"text": text, "answer_start": start} for text, start in found]
        qas = [{"id": id, "question": question, "answers": listed, "is_impossible": not listed}]
        paragraphs.append({"context": context, "qas": qas})
    (folder / "train.json").write_text(
        json.dumps({"version": "v2.0", "data": [{"title": "C", "paragraphs": paragraphs}]})
    )


HAD = {"context": PASSAGES, "answer": many(["city"], 12), "start": [text.index("city") for text in PASSAGES]}
KNOWN = {"kind": "answer", "target": "answer", "starts": "start", "metric": "squad_exact"}
MOOD = {"mood": many(["good", "bad"], 12)}
ANSWERS = {
    "SQuAD": Form({}, write=articles),
    "lists": questions(question_type=many("ab", 24)),
    "columns": Form({"question": TEXTS[:12], **HAD}),
    "as answered": Form({"question": TEXTS[:12], **HAD}, known={**KNOWN, "text": ["question", "context"]}),
    "one text as answered": Form({"question": TEXTS[:12], **HAD}, known={**KNOWN, "text": "context"}),
    "no places as answered": Form({"question": TEXTS[:12], **HAD}, known={"kind": "answer", "target": "answer", "text": ["question", "context"]}),
    "no spaces": questions(further="日本語の文章" * 40),
    "places that do not fit": questions(shift=1),
    "a marked word": Form({**HAD, **MOOD}),
    "a marked word beside another text": Form({**HAD, "about": [f"A tale of {text}" for text in PASSAGES], **MOOD}),
    "a marked word, answered": Form({**HAD, **MOOD}, known={"target": "mood"}),
}  # fmt: skip


GROUPS = {
    **{"kinds": KINDS, "target": TARGET, "columns": COLUMNS, "several": SEVERAL},
    **{"tokens": TOKEN_LABELS, "spans": SPANS, "answers": ANSWERS},
}


@pytest.mark.parametrize("group", GROUPS)
def test_forms(group: str, tmp_path: Path) -> None:
    check_forms(group, GROUPS[group], tmp_path)
