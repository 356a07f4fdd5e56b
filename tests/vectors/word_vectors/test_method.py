"""Word vectors through the whole job, on a suite of a task of each kind with vectors of three numbers."""

from pathlib import Path

import pytest
from command_line import content, job
from data_files import read_column, read_json, write_jsonl, write_lines
from input_errors import raises_input_error

from mtl.jobs.baseline import run_baseline

SUITE = """\
name: ord
language: sv
files: {train: train.jsonl, dev: dev.jsonl, test: test.jsonl}
tasks:
  likhet: {folder: likhet, level: word, text: [a, b], target: label, range: [0, 10], metric: pearson}
  synonym: {folder: synonym, level: word, text: [item], candidates: ["answers[]"], target: label, metric: accuracy}
  analogi: {folder: analogi, level: word, kind: word, text: [a, b, c], target: label, metric: accuracy}
"""
# The third number of a capital is 1.
VECTORS = {
    **{"Sverige": (1, 0, 0), "Stockholm": (1, 0, 1), "Norge": (1, 1, 0), "Oslo": (1, 1, 1), "oslo": (1, 1, 0.9)},
    **{"Peru": (1, 2, 0), "lima": (1, 2, 1), "sol": (0, 1, 0), "måne": (0, 1, 3**0.5)},
}
LIKENESS = [("Sverige", "Stockholm", 8.0), ("Sverige", "sol", 1.0), ("sol", "måne", 4.0), ("sol", "okänd", 9.0)]
CHOICES = [("Sverige", ["måne", "Norge", "sol"], 1), ("sol", ["okänd", "måne okänd"], 1), ("okänd", ["sol", "måne"], 1)]
ANALOGIES = [
    ("Sverige", "Stockholm", "Norge", "Oslo"),
    ("Sverige", "Stockholm", "Peru", "Lima"),
    ("okänd", "okänd", "okänd", "Oslo"),
    ("sol", "sol", "måne", "måne"),
]


@pytest.fixture
def settings(tmp_path: Path) -> list[str]:
    (tmp_path / "ord.yaml").write_text(SUITE, encoding="utf-8")
    rows = {
        "likhet": [{"a": a, "b": b, "label": label} for a, b, label in LIKENESS],
        "synonym": [{"item": item, "answers": answers, "label": label} for item, answers, label in CHOICES],
        "analogi": [{"a": a, "b": b, "c": c, "label": label} for a, b, c, label in ANALOGIES],
    }
    for task, of_task in rows.items():
        for split in ("train", "dev", "test"):
            known = [{key: row[key] for key in row if split != "test" or key != "label"} for row in of_task]
            write_jsonl(tmp_path / "data" / task / f"{split}.jsonl", known)
    lines = [f"{word} {' '.join(map(repr, map(float, numbers)))}" for word, numbers in VECTORS.items()]
    write_lines(tmp_path / "v.vec", lines)
    folders = [f"{name}_dir={tmp_path / name}" for name in ("data", "run", "cache")]
    vectors = ["embeddings=fasttext", f"embeddings.path={tmp_path / 'v.vec'}"]
    return [f"suite={tmp_path / 'ord.yaml'}", *folders, "method=word_vectors", *vectors, "seeds=[1,2]"]


def predicted(folder: Path, task: str, split: str = "dev") -> list[str]:
    return read_column(folder / f"run/seed-1/predictions/{split}_pred_{task}.tsv")


def test_cosines_of_pairs_and_candidates(settings: list[str], tmp_path: Path) -> None:
    summary = run_baseline(job(settings))
    # The cosines are 0.707, 0 and 0.5; an unknown word has the cosine 0 with all others.
    assert predicted(tmp_path, "likhet") == predicted(tmp_path, "likhet", "test") == ["7.1", "0.0", "5.0", "0.0"]
    # The second candidate's unknown word does not count; an unknown word gets the first candidate. Negative cosines are below unknown.
    assert predicted(tmp_path, "synonym") == ["1", "1", "0"]
    assert summary["title"] == "Word vectors, fastText" and summary["embeddings"] == "fasttext"
    counts = {"words": 5, "words_without_vector": 1, "expressions": 5, "expressions_without_vector": 1}
    assert summary["word_vectors"]["likhet"] == counts
    note = "Without a vector in v.vec: likhet 1 of 5 words, 1 of 5 expressions; synonym 1 of 5 words, 1 of 6 "
    assert any(text.startswith(note) for text in summary["notes"])
    assert note in (tmp_path / "run/table.md").read_text(encoding="utf-8")
    assert summary["tasks"]["synonym"]["scores"] == {"1": pytest.approx(200 / 3), "2": pytest.approx(200 / 3)}


@pytest.mark.parametrize(
    ("further", "expected"),
    [
        # A question without any vector gets its third word.
        ([], ["Oslo", "lima", "okänd", "Oslo"]),
        (["word_vectors.algebra=a-b+c"], ["Peru", "Norge", "okänd", "Oslo"]),
    ],
)
def test_analogies(settings: list[str], tmp_path: Path, further: list[str], expected: list[str]) -> None:
    run_baseline(job([*settings, "tasks=[analogi]", *further]))
    assert predicted(tmp_path, "analogi") == predicted(tmp_path, "analogi", "test") == expected


def test_words_of_an_excluded_expression_are_no_answer(settings: list[str], tmp_path: Path) -> None:
    """The words of the question's third expression are nearest to their mean, the vector asked for."""
    row = {"a": "sol", "b": "sol", "c": "Sverige Stockholm", "label": "x"}
    write_jsonl(tmp_path / "data/analogi/dev.jsonl", [row])
    run_baseline(job([*settings, "tasks=[analogi]"]))
    assert predicted(tmp_path, "analogi") == ["Oslo"]


def test_a_file_of_only_the_question_s_words(settings: list[str], tmp_path: Path) -> None:
    (tmp_path / "v.vec").write_text("Sverige 1 0 0\nStockholm 1 0 1\nNorge 1 1 0\n", encoding="utf-8")
    with raises_input_error(file="v.vec"):
        run_baseline(job([*settings, "tasks=[analogi]"]))


def test_another_file_of_vectors_is_another_run(settings: list[str], tmp_path: Path) -> None:
    run_baseline(job(settings))
    before = read_json(tmp_path / "run/inputs.json")
    first = content(tmp_path / "run")
    (tmp_path / "run/summary.json").unlink()
    run_baseline(job(settings))
    assert content(tmp_path / "run") == first
    (tmp_path / "run/summary.json").unlink()
    with (tmp_path / "v.vec").open("a", encoding="utf-8") as file:
        file.write("ny 1 1 1\n")
    with raises_input_error(file="run"):
        run_baseline(job(settings))
    assert len(before["embeddings"]) == 64


@pytest.mark.parametrize(
    "setting",
    [
        *("embeddings.dim=4", "embeddings.path=nowhere.vec", "embeddings.trainable=false", "encoder.num_layers=1"),
        "word_vectors.algebra=a+b",
    ],
)
def test_bad_settings(settings: list[str], setting: str) -> None:
    with raises_input_error():
        run_baseline(job([*settings, setting]))
