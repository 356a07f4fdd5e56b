"""Whole recipes: KLEJ's seven constructions, what is written, and what is left after an error."""

import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from data_files import read_json
from input_errors import raises_input_error
from make_parts import SPLIT, TASK, recipe_of, write_recipe

from mtl.api.cli import main
from mtl.base.settings.layers import shipped
from mtl.benchmark_making.make.make import make
from mtl.data.records import read_fields
from mtl.tasks.suite import load_suite

RENAME = {"step": "map", "column": "label", "values": {"x": "train"}, "others": "keep", "into": "split"}
SOURCE = {"corpus": {"file": "corpus.tsv"}}
STACK = {"step": "stack", "tables": ["corpus", "more"], "into_table": "all"}
RECIPES = sorted(path.stem for path in (shipped("configs") / "recipe").glob("*.yaml"))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    """The folders of what the shipped recipes make."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name in RECIPES:
            make(name, folder / name)
        yield {name: folder / name for name in RECIPES}


def make_with(folder: Path, out: str = "out", **keys: Any) -> Path:
    """The folder of what a small recipe with these keys makes."""
    make(str(write_recipe(folder, recipe_of(**keys))), folder / out)
    return folder / out


def rows_of(made: Path, task: str) -> dict[str, dict[str, list[Any]]]:
    """The columns of a task's files by split."""
    return {path.stem: read_fields(path) for path in sorted((made / "data" / task).iterdir())}


def provenance_of(folder: Path) -> dict[str, Any]:
    return read_json(folder / "provenance.json")


def dropped_in(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "dropped.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("name", RECIPES)
def test_what_a_recipe_makes_is_complete(name: str, made: dict[str, Path]) -> None:
    folder = made[name]
    suite, provenance = load_suite(folder / "suite.yaml"), provenance_of(folder)
    assert suite.name == name and len(RECIPES) == 7  # one for each construction
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert files == {*provenance["files"], "provenance.json"}
    for file, digest in provenance["files"].items():
        assert hashlib.sha256((folder / file).read_bytes()).hexdigest() == digest
    for id, task in suite.tasks.items():
        rows = {split: len(next(iter(columns.values()))) for split, columns in rows_of(made[name], id).items()}
        assert rows == task.rows
    steps, dropped = provenance["steps"], dropped_in(folder)
    assert all(line["step"] for line in dropped)  # these recipes read all of their sources' rows
    assert len(dropped) == sum(step["dropped"] for step in steps)
    unused = {source for line in dropped if not line["used"] for source in line["sources"]}
    for source in provenance["sources"].values():
        left = sum(row.startswith(f"{source['file']}:") for row in unused)
        assert source["rows_used"] + left >= source["rows"]
    for step in steps:
        if step["step"] not in ("stack", "pairs", "explode") and step["into"] in step["rows_in"]:
            assert sum(step["rows_in"].values()) == step["rows_out"] + step["dropped"]


def test_named_entities(made: dict[str, Path]) -> None:
    folder = made["klej-nkjp-ner"]
    splits = rows_of(made["klej-nkjp-ner"], "nkjp-ner")
    labels = Counter(label for columns in splits.values() for label in columns["label"])
    assert labels["persName"] == labels["noEntity"] == 80
    assert set(labels) == set(load_suite(folder / "suite.yaml").tasks["nkjp-ner"].labels or ())
    reasons = [line["reason"] for line in dropped_in(folder) if line["name"] == "only_item"]
    assert reasons and all(reason.startswith("types[] has 2 items") for reason in reasons)


def test_captions_tweets_and_reviews(made: dict[str, Path]) -> None:
    first, second = (rows_of(made["klej-cdsc"], task) for task in ("cdsc-r", "cdsc-e"))
    assert all(first[split]["sentence_A"] == second[split]["sentence_A"] for split in first)
    assert {"0.33", "4.67"} & set(first["train"]["relatedness_score"])
    folder = made["klej-cbd"].parent / "data/klej-corpora"
    for split, columns in rows_of(made["klej-cbd"], "cbd").items():
        assert columns == read_fields(folder / f"cbd_{split}.tsv")
    inside, outside = (rows_of(made["klej-polemo"], task) for task in ("polemo2.0-in", "polemo2.0-out"))
    assert inside["train"] == outside["train"]
    assert not {*inside["dev"]["text"], *inside["test"]["text"]} & {*outside["dev"]["text"], *outside["test"]["text"]}
    for columns in rows_of(made["klej-ar"], "ar").values():
        assert all(sum(any(map(str.isalnum, part)) for part in text.split()) >= 50 for text in columns["text"])


def test_questions_with_the_most_similar_wrong_answers(made: dict[str, Path]) -> None:
    splits = rows_of(made["klej-dyk"], "dyk")
    questions = [set(columns["question"]) for columns in splits.values()]
    assert set(splits) == {"train", "test"} and not questions[0] & questions[1]
    wrong, words = Counter[str](), {"0": list[int](), "1": list[int]()}
    for columns in splits.values():
        for id, answer, label in zip(columns["q_id"], columns["answer"], columns["correct"], strict=True):
            wrong[id] += label == "0"
            words[label].append(len(answer.split()))
    assert max(wrong.values()) <= 4 and 0.5 < median(words["0"]) / median(words["1"]) < 2


def test_summaries_paired_by_article(made: dict[str, Path]) -> None:
    folder = made["klej-psc"]
    lines = (folder.parent / "data/klej-corpora/psc.jsonl").read_text(encoding="utf-8").splitlines()
    articles = [json.loads(line) for line in lines]
    origin = {summary: article["id"] for article in articles for summary in article["abstracts"]}
    splits = rows_of(made["klej-psc"], "psc")
    assert not set(splits["train"]["article"]) & set(splits["test"]["article"])
    negatives, positives = list[frozenset[str]](), Counter[tuple[str, str]]()
    for columns in splits.values():
        for article, extract, summary, label in zip(*columns.values(), strict=True):
            assert (origin[summary] == article) == (label == "1")
            if label == "0":
                negatives.append(frozenset({article, origin[summary]}))
            else:
                positives[article, extract] += 1
    assert len(negatives) == len(set(negatives)) > 100 and max(positives.values()) == 2


@pytest.mark.slow
def test_the_same_recipe_gives_the_same_bytes(tmp_path: Path, made: dict[str, Path]) -> None:
    """Another process, with other hashes of texts and other numbers of threads, and sources in another folder."""
    for name in ("klej-nkjp-ner", "klej-psc"):
        environment = {**os.environ, "PYTHONHASHSEED": "7", "OMP_NUM_THREADS": "2"}
        command = [sys.executable, "-m", "mtl", "make", name, f"out={tmp_path / name}"]
        subprocess.run(command, check=True, env=environment, cwd=tmp_path, capture_output=True)
        for path in made[name].rglob("*"):
            if path.is_file():
                assert path.read_bytes() == (tmp_path / name / path.relative_to(made[name])).read_bytes()


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_recipe(tmp_path, recipe_of(steps=[{"step": "sample", "number": 10}, SPLIT]))
    assert main(["make", str(path), f"out={tmp_path / 'out'}", f"data_dir={tmp_path}"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "1. sample (number=10): 20 rows of corpus → 10 rows of corpus"
    assert lines[2] == "t: 6 rows train, 2 rows dev, 2 rows test"
    monkeypatch.chdir(tmp_path)
    before = files_in(tmp_path)
    for settings, complaint in (
        (["none", "out=x"], "recipe=none: unknown; known: klej-ar"),
        (["klej-ar"], "out: names the new folder; give out=DIR"),
        (["klej-ar", "out=x", "seed=1"], "unknown key 'seed'"),
        (["klej-ar", "out=."], "is not empty"),
    ):
        assert main(["make", *settings]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert complaint in line and files_in(tmp_path) == before


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_other_formats_and_columns(form: str, tmp_path: Path) -> None:
    data = {"format": form, "columns": {"text.first": "sentence", "target": "label"}}
    task = {**TASK, "text": ["text.first"], "target": "target", "data": data}
    made = make_with(tmp_path, tasks={"t": task})
    assert list(rows_of(made, "t")["train"]) == ["text.first", "target"]
    assert load_suite(made / "suite.yaml").tasks["t"].files == {
        split: f"{split}.{form}" for split in ("train", "dev", "test")
    }


def files_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    ("keys", "error"),
    [
        ({"tasks": {"t": {**TASK, "labels": ["x", "z"]}}}, {"file": "recipe.yaml", "key": "tasks.t"}),
        ({"tasks": {"t": {**TASK, "text": ["author", "none"]}}}, {"file": "recipe.yaml", "key": "tasks.t"}),
        ({"tasks": {"t": {**TASK, "data": {"columns": {"sentence": "sentence"}}}}}, {"file": "recipe.yaml", "key": "tasks.t"}),
        ({"steps": []}, {"file": "recipe.yaml", "key": "tasks.t.data.table"}),
        ({"steps": [{"step": "keep", "column": "label", "values": ["z"]}]}, {"file": "recipe.yaml", "key": "steps.1.keep"}),
        ({"steps": [RENAME]}, {"file": "corpus.tsv", "line": 3}),
        ({"steps": [{"step": "number", "columns": ["label"], "into": "n"}]}, {"file": "corpus.tsv", "line": 2}),
        ({"sources": {"corpus": {"file": "none.tsv"}}}, {"file": "none.tsv"}),
        ({"sample": "none"}, {"file": "recipe.yaml", "key": "sample"}),
        ({"sources": {**SOURCE, "more": {"file": "more.jsonl"}}, "steps": [STACK, SPLIT]}, {"file": "more.jsonl", "line": 1}),
    ],
)  # fmt: skip
def test_an_error_leaves_nothing_behind(keys: dict[str, Any], error: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "more.jsonl").write_text('{"label": "x"}\n', encoding="utf-8")  # a row without a sentence
    with raises_input_error(**error):
        make_with(tmp_path, **keys)
    assert files_in(tmp_path) == ["corpus.tsv", "more.jsonl", "recipe.yaml"]


def test_the_last_step_that_reads_a_table_drops_what_it_does_not_choose(tmp_path: Path) -> None:
    keep = {"step": "keep", "column": "label", "into_table": "x", "values": ["x"]}
    first = {"step": "sample", "number": 5, "table": "corpus", "into_table": "few"}
    both = [keep, SPLIT, first, SPLIT]
    tasks = {"t": {**TASK, "data": {"table": "x"}}, "u": {**TASK, "data": {"table": "few"}}}
    for number, (steps, task, step) in enumerate((([keep, SPLIT], {"t": TASK}, 1), (both, tasks, 3))):
        out = make_with(tmp_path, f"out{number}", steps=steps, tasks=task)
        dropped = dropped_in(out)
        assert {each["step"] for each in dropped} == {step}
        assert len(dropped) == sum(each["dropped"] for each in provenance_of(out)["steps"]) == (10 if step == 1 else 15)
    assert {each["used"] for each in dropped} == {True, False}
