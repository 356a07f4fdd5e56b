"""Data in memory becomes a suite that is read as every suite is."""

from itertools import count
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pandas as pd
import pytest
from input_errors import raises_input_error
from small_suite import rows

import mtl
from mtl.api.cli import main
from mtl.benchmark_making.frames import write_frames
from mtl.data.examples import read_examples
from mtl.tasks.suite import load_suite

ROWS = {"text": [text for text, _, _ in rows(60)], "label": [label for _, label, _ in rows(60)]}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def suite_of(frames: Any, name: str = "mina", **options: Any) -> mtl.Suite:
    return mtl.Suite.from_frames(frames, name=name, **options)


def test_a_frame_is_read_as_it_is() -> None:
    frame = pd.DataFrame({**ROWS, "score": [i / 4 for i in range(60)]}, index=range(100, 160))
    known = {"betyg": {"target": "score", "text": "text"}}
    suite = suite_of({"kansla": {"train": frame[["text", "label"]]}, "betyg": {"train": frame}}, tasks=known)
    content = load_suite(suite.path)
    examples = read_examples(content.tasks["kansla"], suite.data_dir / "kansla/train.jsonl")
    assert [example.texts[0] for example in examples] == ROWS["text"]
    assert content.tasks["betyg"].kind == "number" and content.tasks["betyg"].target == "score"
    assert suite.tasks["task"].tolist() == ["betyg", "kansla"] and suite.tasks["train"].tolist() == [60, 60]
    assert "|---" in suite._repr_markdown_() and repr(suite) == "Suite(mina: betyg, kansla)"


def test_it_runs_and_is_audited_as_by_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    suite = suite_of({"train": ROWS, "dev": {name: column[:20] for name, column in ROWS.items()}})
    run = mtl.run(suite=suite, method="majority", seeds=1)
    assert run.path == Path("runs/mina/majority")
    settings = [f"{key}={value}" for key, value in suite.settings.items()]
    capsys.readouterr()
    for check, option in (("data", []), ("near", ["--near"])):
        assert main(["audit", *settings, *option]) == 0
        audit = mtl.audit(*settings, check=check)
        assert capsys.readouterr().out == f"{audit.report}\n"
        assert "near" in check or "shared" in audit.findings["kind"].tolist()
        assert repr(audit) == str(audit.report) and "|---" in audit._repr_markdown_()


def test_a_dataset_dict_with_the_hub_s_names(home: Path) -> None:
    features = datasets.Features({"text": datasets.Value("string"), "label": datasets.ClassLabel(names=["neg", "pos"])})
    rows = {"text": [f"text number {i}" for i in range(40)], "label": [i % 2 for i in range(40)]}
    splits = {"train": rows, "validation": rows, "test": {**rows, "label": [-1] * 40}}
    made = {name: datasets.Dataset.from_dict(split, features=features) for name, split in splits.items()}
    (task,) = mtl.Suite.from_frames(datasets.DatasetDict(made), name="hub").content.tasks.values()
    assert task.labels == ["neg", "pos"] and list(task.files.values()) == ["train.jsonl", "dev.jsonl", "test.jsonl"]
    numbers = {name: dataset.with_format("numpy") for name, dataset in made.items()}
    assert mtl.Suite.from_frames(numbers, name="numbers").content.tasks["numbers"].labels == ["neg", "pos"]
    tags = datasets.Dataset.from_dict({"tags": [[0, 1], []]}).cast_column("tags", datasets.List(features["label"]))
    write_frames({"tags": {"dev": tags}}, home)
    assert (home / "tags/dev.jsonl").read_text(encoding="utf-8") == '{"tags": ["neg", "pos"]}\n{"tags": []}\n'
    with raises_input_error(key="frames.both"):
        mtl.Suite.from_frames({"both": {"dev": rows, "eval": rows}}, name="both")


def test_the_same_frames_are_the_same_suite(home: Path) -> None:
    first = suite_of({"train": ROWS})
    assert suite_of({"train": pd.DataFrame(ROWS)}).path == first.path
    different = [
        suite_of({"train": {**ROWS, "text": [*ROWS["text"][:-1], "en annan text"]}}),
        suite_of({"train": ROWS}, name="annan"),
        suite_of({"train": ROWS}, language="sv"),
        suite_of({"train": ROWS}, tasks={"mina": {"metric": "accuracy"}}),
    ]
    assert len({suite.path for suite in [first, *different]}) == 5
    for out in ("mitt", home / "mitt"):  # a folder of one's own
        assert suite_of({"train": ROWS}, out=out).path == home / "mitt/mina.yaml"
    for frames, options, file in (({"dev": ROWS, "train": ROWS}, {}, "data"), ({"train": ROWS}, {"language": "sv"}, "mina.yaml")):  # fmt: skip
        with raises_input_error(file=file):
            suite_of(frames, out="mitt", **options)


def test_cells_of_pandas_and_numpy() -> None:
    count = range(40)
    columns = {
        "text": pd.Series([f"text nummer {i}" for i in count], dtype="string"),
        "spam": [i % 3 == 0 for i in count],
        "topic": pd.Categorical([f"t{i % 4}" for i in count]),
        "note": [None, float("nan"), pd.NA, "n"] * 10,
        "size": np.arange(40, dtype=np.int8),
        "column_names": np.array(["2020-01-01"] * 40, dtype="datetime64[ns]"),
    }
    day = '"column_names": "2020-01-01T00:00:00"}'
    suite = suite_of({"train": pd.DataFrame(columns)}, tasks={"mina": {"target": "spam", "text": ["text"]}})
    assert load_suite(suite.path).tasks["mina"].labels == ["false", "true"]
    line = (suite.data_dir / "mina/train.jsonl").read_text(encoding="utf-8").splitlines()[0]
    assert line == '{"text": "text nummer 0", "spam": "true", "topic": "t0", "note": null, "size": 0, ' + day
    write_frames({"mina": {"dev": columns}}, suite.path.parent)
    assert (suite.path.parent / "mina/dev.jsonl").read_text(encoding="utf-8").splitlines()[0] == line


HYPOTHESES = [f"hypothesis number {i % 12}" for i in range(60)]
WORDS = [text.split() for text in ROWS["text"]]


# Frames with a question: what to do is said.
ASKED = [
    {**ROWS, "hypothesis": HYPOTHESES},
    {"text": ROWS["text"], "hypothesis": HYPOTHESES, "is_duplicate": [0, 1] * 30},
    {"text": ROWS["text"], "label": ["['a', 'b']", "['a']", "['b']"] * 20},
    {"text": ROWS["text"], "label": ["positive"] * 55 + ["negative"] * 4 + ["-"]},
    {"text": ROWS["text"], "label": [0, 1, 2, 3, 4, 3] * 10},
    {"text": ROWS["text"], "mood": ["a", None, "b"] * 20},
    {"tokens": WORDS, "ner": [["O", "B-PER"] * len(WORDS[0]), *(["O"] * len(words) for words in WORDS[1:])]},
    {**ROWS, "label": [None, *ROWS["label"][1:]]},
    {**ROWS, "label": [ROWS["label"][1].upper(), *ROWS["label"][1:]]},
    {"text": ROWS["text"], "stars": [1, 2, 3, 4, 5, 3] * 10},
    {"label": ROWS["label"]},
    {"text": [f"text {i}" for i in range(3600)], "label": [i % 1200 for i in range(3600)]},
    {"text": ROWS["text"], "label" * 9: ["a", None, "b"] * 20},
]


def test_what_is_not_scored_and_what_is_left_out_are_warnings(caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(2):
        data = suite_of({"train": ROWS, "dev": ROWS, "test": ROWS}).data_dir
    (data / "trasig").mkdir()
    (data / "trasig/train.csv").write_text("text\nen text\n")
    mtl.Suite.from_folder(data, name="mapp")
    started = [
        "suite mina: note: mina: the test",
        "suite mapp: left out: trasig: ta",
        "suite mapp: note: mina: the test",
    ]
    assert [message[:32] for message in caplog.messages] == started


TAGS = {"tags": [["a"], ["a", "b"], ["b"]] * 20, "when": [pd.Timestamp(0)] * 60}
STARS = {"stars": [5, 1, 2, 3, 4, 3] * 10}


@pytest.mark.parametrize(
    ("columns", "known", "expected"),
    [
        (TAGS, {}, ("multi_label", "tags[]", ["a", "b"], "micro_f1")),
        (STARS, {"kind": "labels"}, ("labels", "stars", list("12345"), "accuracy")),
        (STARS, {"metric": "macro_f1"}, ("labels", "stars", list("12345"), "macro_f1")),
        (STARS, {"metric": "accuracy"}, ("labels", "stars", list("12345"), "accuracy")),
        (STARS, {"metric": "alpha_interval"}, ("number", "stars", None, "alpha_interval")),
    ],
)
def test_lists_of_tags_are_labels_and_ratings_what_the_answer_says(
    columns: dict[str, Any], known: dict[str, str], expected: tuple[Any, ...]
) -> None:
    task = load_suite(suite_of({"train": {"text": ROWS["text"], **columns}}, tasks={"mina": known}).path).tasks["mina"]
    assert (task.kind, task.target, task.labels, task.metric) == expected


DEEP: list[Any] = []
for _ in range(100_000):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("frames", "options", "key"),
    [
        ({}, {}, "frames"),
        ({"a b": {"train": ROWS}}, {}, "frames"),
        ({"train": ROWS}, {"name": "../x"}, "name"),
        ({"train": ROWS}, {"language": 5}, "language"),
        ({"train": ROWS}, {"tasks": {"mina": {"labels": DEEP}}}, "tasks"),
        ({"train": {**ROWS, "text": 5}}, {}, "frames.mina.train"),
        ({"train": {**ROWS, "text": [DEEP] * 60}}, {}, "frames.mina.train"),
        ({"train": {**ROWS, "text": ["\udcff"] * 60}}, {}, "frames.mina.train"),
        ({"train": {**ROWS, "a\0": ["a"] * 60}}, {}, "frames.mina.train"),
        ({"train": pd.DataFrame([["a", "b"]], columns=["x", "x"])}, {}, "frames.mina.train"),
        ({"kansla": {"holdout": ROWS}}, {}, "frames.kansla"),
        (pd.DataFrame(ROWS), {}, "frames"),
        ({"train": 3}, {}, "frames.mina.train"),
        ({"train": {}}, {}, "frames.mina.train"),
        ({"train": {**ROWS, "root": [1j] * 60}}, {}, "frames.mina.train"),
        ({"train": {**ROWS, "size": [float("inf")] * 60}}, {}, "frames.mina.train"),
        ({"train": {**ROWS, "label": ["glad"]}}, {}, "frames.mina.train"),
        ({"train": ROWS}, {"tasks": {"annan": {}}}, "tasks.annan"),
        ({"train": ROWS}, {"tasks": {"mina": {"metrik": "f1"}}}, "tasks.mina.metrik"),
        ({"train": ROWS}, {"tasks": {"mina": {"target": "nix"}}}, "tasks.mina"),
        ({"train": ROWS}, {"tasks": {"mina": {"metric": "nix"}}}, None),
        *(({"train": frame}, {}, "frames.mina") for frame in ASKED),
    ],
    ids=count(),
)
def test_frames_that_are_no_suite(home: Path, frames: Any, options: dict[str, Any], key: str) -> None:
    with raises_input_error(key=key):
        suite_of(frames, **options)
    assert not list(home.rglob("*"))  # nothing half-written


CALLS = [mtl.Suite.from_frames, lambda rows: mtl.run(suite=rows), lambda rows: mtl.audit({"suite": {"train": rows}})]


@pytest.mark.parametrize("call", CALLS)
def test_a_frame_in_place_of_a_suite_is_one_short_line(call: Any) -> None:
    with raises_input_error() as raised:
        call(pd.DataFrame(ROWS))
    assert len(str(raised.value)) < 150


def test_a_folder_becomes_a_suite_and_checks_that_there_are_not(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = suite_of({"train": ROWS}).data_dir
    made = mtl.Suite.from_folder(data, language="sv", name="mapp")
    assert main(["init-suite", str(data), "--language", "sv", "--name", "mapp", "--out", "other.yaml"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == made.notes.splitlines()[0]
    assert load_suite(home / "other.yaml").tasks == load_suite(made.path).tasks
    with raises_input_error(file="mapp.yaml"):
        mtl.Suite.from_folder(data, name="mapp")
    with raises_input_error(file="none"):
        mtl.Suite.from_folder("none")
    with raises_input_error(key="check"):
        mtl.audit(suite=made, check="nix")
    with raises_input_error():
        mtl.Suite("nix")


def test_questions_about_a_folder_are_answered_in_python(home: Path) -> None:
    (home / "data").mkdir()
    columns = {"text": ROWS["text"], "tone": ["a", "b", "c"] * 20, "kind": ["x", "y"] * 30}
    pd.DataFrame(columns).to_csv(home / "data/train.csv", index=False)
    with raises_input_error(key="tasks.data"):
        mtl.Suite.from_folder("data")
    assert not (home / "data.yaml").exists()
    made = mtl.Suite.from_folder("data", tasks={"data": {"target": "tone"}})
    assert made.content.tasks["data"].labels == ["a", "b", "c"]
