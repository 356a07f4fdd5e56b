"""A suite whose tasks have marked spans: one in each text of a pair, and two in a single text."""

from pathlib import Path
from typing import Any

from data_files import write_jsonl

SUITE = """\
name: spans
language: sv
files: {train: train.jsonl, dev: dev.jsonl, test: test.jsonl}
config:
  trainer: {threads: 1}
  max_length: 6
  encoder: {hidden_size: 6}
  head: {hidden_size: 8, attention_size: 4}
  pretrain: {max_steps: 6, validate_every: 3, batch_size: 8, learning_rate: 0.02, final_learning_rate: 0.002}
  finetune: {max_epochs: 2, batch_size: 8, learning_rate: 0.02, final_learning_rate: 0.002}
tasks:
  sense:                    # a pair with one span in each text
    folder: sense
    text: [first.context, second.context]
    spans: {second.context: [second.word.location], first.context: [first.word.location]}
    target: label
    labels: [other, same]
    metric: f1
    positive: same
  refers:                   # one text with two spans; the same text stands in several rows
    folder: refers
    text: [text]
    spans: {text: [pronoun.location, candidate.location]}
    target: label
    labels: ["no", "yes"]
    metric: accuracy
"""
WORDS = ["bank", "fil", "lag", "mål"]
NAMES = ["Anna", "Bo", "Carin"]

Row = dict[str, Any]


def write_spans_suite(folder: Path) -> Path:
    """The suite's file, with its data beside it in `data`. Most texts are longer than its `max_length`."""
    path = folder / "spans.yaml"
    path.write_text(SUITE, encoding="utf-8")
    for split, first, count in (("train", 0, 32), ("dev", 40, 16), ("test", 60, 8)):
        for task, made in (("sense", _sense), ("refers", _refers)):
            rows = [made(i) for i in range(first, first + count)]
            if split == "test":
                rows = [{**row, "label": None} for row in rows]
            write_jsonl(folder / "data" / task / f"{split}.jsonl", rows)
    return path


def _marked(text: str, word: str) -> Row:
    start = text.index(word)
    return {"text": word, "location": {"start": start, "stop": start + len(word)}}


def _sense(i: int) -> Row:
    word = WORDS[i % 4]
    texts = f"det var nog en ny {word} nummer {i}", f"{word}et i rad {(7 * i) % 30} syns väl knappt (eller?)"
    first, second = ({"context": text, "word": _marked(text, word)} for text in texts)
    return {"first": first, "second": second, "label": ("same", "other")[(i // 2) % 2]}


def _refers(i: int) -> Row:
    row = i // 2
    text = f"{NAMES[row % 3]} såg {NAMES[(row + 1) % 3]} när solen sken över rad {row}, och då log hon."
    candidate = NAMES[(row + i % 2) % 3]
    return {
        "text": text,
        "pronoun": _marked(text, "hon."),
        "candidate": _marked(text, candidate),
        "label": ("yes", "no")[(i + row // 2) % 2],
    }
