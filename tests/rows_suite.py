"""A suite whose submissions are rows with predictions, with data as a leaderboard's users have it: test rows without labels, and a task
whose dev rows are part of the official test."""

import json
from pathlib import Path
from typing import Any

from data_files import write_lines

from mtl.api.cli import main

SUITE = """\
name: rader
language: sv
scale: 1
files: {train: train.jsonl, dev: dev.jsonl, test: test.jsonl}
submission:
  format: rows
  template: leaderboard/empty.json
  ids: [id, idx]
  fill: {model.name: name, model.size: parameters}
  measures: {N: [rows], alpha: [alpha_nominal, alpha_interval], accuracy: [accuracy]}
tasks:
  grad:                       # numbers; rows with ids
    folder: grad
    text: [text]
    target: label
    range: [0, 5]
    metric: alpha_interval
    rows: {train: 12, dev: 4, test: 4}
  val:                        # a choice without a dev file
    folder: val
    text: [question]
    candidates: ["answers[]"]
    target: label
    metric: accuracy
    files: {dev: null}
    rows: {train: 12, test: 4}
  par:                        # labels; dev here is part of the official test, whose rows have no ids
    folder: par
    text: [first.text, second]
    target: label
    labels: ["ja", "nej"]
    metric: accuracy
    also: [macro_f1]
    scored: dev_or_test
    rows: {train: 12, test: 6}
"""
EMPTY = {"N": None, "alpha": None}
TEMPLATE = {
    "link": None,
    "model": {"name": None, "size": None, "data": None},
    "tasks": {
        "grad": {"dev": EMPTY, "test": EMPTY},
        "val": {"test": {"N": None, "accuracy": None}},
        "par": {"test": {"N": None, "accuracy": None, "f1": None}},
        "borta": {"dev": EMPTY},
    },
}
# Number forms, a line separator within a text, letters, and the order and spacing of keys, none as json.dumps writes them.
GRAD_DEV = [
    '{"id": "g0", "text": "å\x85ö 1", "label": 3.0, "meta": {"weight": 1e-5, "far": [1.50, null]}}',
    '{"label":2,"text":"snö 2","id":"g1","meta":{"b":1,"a":2}}',
    '{"id": "g2", "text": "\\u00e5 3", "label": 1.0}',
    '  {"id": "g3", "text": "b } 4", "label": 0.5 }  ',
]
GRAD_TEST = [f'{{"id": "t{i}", "text": "text {i}", "label": {label}}}' for i, label in enumerate([1.0, 2.0, 3.0, 5.0])]
PAR_TEST = [
    f'{{"first": {{"text": "ett {i}"}}, "second": "två", "label": "{"ja" if i % 3 else "nej"}"}}' for i in range(6)
]
VAL_TEST = [f'{{"idx": {i}, "question": "vad {i}", "answers": ["a", "b"], "label": {i % 2}}}' for i in range(4)]


def read(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def write(file: str, *lines: str | dict[str, Any]) -> None:
    """A file in the folder `theirs`, with these texts or objects on its lines."""
    write_lines(Path("theirs", file), [line if isinstance(line, str) else json.dumps(line) for line in lines])


def unlabelled(line: str) -> str:
    """The row of a test file as users have it."""
    row: dict[str, Any] = json.loads(line)
    return json.dumps({**row, "label": None}, ensure_ascii=False)


def write_rows_suite(folder: Path) -> Path:
    """The suite's file, with its data beside it in `data` and the official files in `official`."""
    path = folder / "rader.yaml"
    path.write_text(SUITE, encoding="utf-8")
    data, official = folder / "data", folder / "official"
    train = {
        "grad": [f'{{"id": "a{i}", "text": "ord {i}", "label": {i % 5}}}' for i in range(12)],
        "val": [f'{{"idx": {i}, "question": "hur {i}", "answers": ["x", "y", "z"], "label": 1}}' for i in range(12)],
        "par": [
            f'{{"first": {{"text": "a {i}"}}, "second": "b", "label": "{"nej" if i % 4 == 0 else "ja"}"}}'
            for i in range(12)
        ],
    }
    for task, lines in train.items():
        write_lines(data / task / "train.jsonl", lines)
        write_lines(official / task / "train.jsonl", lines)
    write_lines(data / "grad/dev.jsonl", GRAD_DEV)
    write_lines(data / "grad/test.jsonl", list(map(unlabelled, GRAD_TEST)))
    write_lines(data / "val/test.jsonl", list(map(unlabelled, VAL_TEST)))
    write_lines(data / "par/dev.jsonl", [PAR_TEST[4], PAR_TEST[0]])
    write_lines(data / "par/test.jsonl", [unlabelled(PAR_TEST[i]) for i in (1, 2, 3, 5)])
    write_lines(official / "grad/dev.jsonl", GRAD_DEV)
    write_lines(official / "grad/test.jsonl", GRAD_TEST)
    write_lines(official / "val/test.jsonl", VAL_TEST)
    write_lines(official / "par/test.jsonl", PAR_TEST)
    write_lines(data / "leaderboard/empty.json", [json.dumps(TEMPLATE)])
    return path


def run(folder: Path, *settings: str) -> Path:
    """Write the suite to a folder and make a run of one seed on it. Returns the seed's submission."""
    suite = write_rows_suite(folder)
    run_dir = folder / "run"
    command = ["baseline", f"suite={suite}", f"data_dir={folder / 'data'}", f"run_dir={run_dir}", "method=majority"]
    assert main([*command, "seeds=[1]", f"cache_dir={folder / 'cache'}", *settings]) == 0
    return run_dir / "seed-1/submission"
