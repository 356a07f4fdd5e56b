"""Answers that are parts of passages, in the forms in which they are published."""

import json
from pathlib import Path
from typing import Any

import pytest
from data_files import write_jsonl
from input_errors import raises_input_error

from mtl.benchmark_making.init_suite.guessing import guess_task
from mtl.benchmark_making.init_suite.init_suite import init_suite, known_answers
from mtl.benchmark_making.init_suite.names import find_tasks
from mtl.data.dataset import load_dataset
from mtl.tasks.suite import Suite, load_suite

PASSAGES = [f"In {1900 + n}, the city number {n} had {n * 7 + 1} houses and a river." for n in range(12)]


def rows(has_answers: bool = True) -> list[dict[str, Any]]:
    """Two questions on each passage, the second one without an answer."""
    made = []
    for n, passage in enumerate(PASSAGES):
        answer = f"{n * 7 + 1} houses"
        answers = {"text": [answer], "answer_start": [passage.index(answer)]}
        none: dict[str, Any] = {"text": [], "answer_start": []}
        of_first = {"id": f"{n}a", "context": passage, "question": f"What had city {n}?"}
        of_second = {"id": f"{n}b", "context": passage, "question": f"Who was the king of {n}?"}
        made += [{**of_first, "answers": answers if has_answers else none}, {**of_second, "answers": none}]
    return made


def articles(of: list[dict[str, Any]]) -> str:
    questions = [
        {
            "context": row["context"],
            "qas": [
                {
                    "id": row["id"],
                    "question": row["question"],
                    "answers": [
                        {"text": text, "answer_start": start}
                        for text, start in zip(row["answers"]["text"], row["answers"]["answer_start"], strict=True)
                    ],
                    "is_impossible": not row["answers"]["text"],
                }
            ],
        }
        for row in of
    ]
    return json.dumps({"version": "v2.0", "data": [{"title": "Cities", "paragraphs": questions}]})


def guessed(folder: Path, *answers: str) -> Suite:
    return load_suite(init_suite(folder / "data", out=folder / "out.yaml", known=known_answers(answers)).path)


def write_forms(folder: Path, form: str) -> None:
    (folder / "data").mkdir()
    for split in ("train", "dev", "test"):
        path, of = folder / "data" / f"{split}.{form}", rows(split != "test")
        if form == "json":
            path.write_text(articles(of), encoding="utf-8")
        elif form == "jsonl":
            write_jsonl(path, of)
        else:
            cells = [
                [row[key] for key in ("id", "question", "context")]
                + [str((row["answers"][key] or [""])[0]) for key in ("text", "answer_start")]
                for row in of
            ]
            lines = ["\t".join(line) for line in [["id", "question", "context", "answer", "start"], *cells]]
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


@pytest.mark.parametrize(
    ("form", "target", "starts"),
    [
        ("json", "answers.text[]", "answers.answer_start[]"),
        ("jsonl", "answers.text[]", "answers.answer_start[]"),
        ("tsv", "answer", "start"),
    ],
)
def test_answers_that_stand_where_places_say_are_recognized(
    form: str, target: str, starts: str, tmp_path: Path
) -> None:
    write_forms(tmp_path, form)
    suite = guessed(tmp_path)
    (task,) = suite.tasks.values()
    assert (task.kind, task.text, task.target, task.starts) == ("answer", ["question", "context"], target, starts)
    assert (task.metric, task.also, task.group, task.scored) == ("squad_f1", ["squad_exact"], "context", None)
    dataset = load_dataset(suite, [task], tmp_path / "data", 0.1)
    assert dataset.answers == {task.id: ["no answer"]} and len(dataset.splits[task.id]["train"]) == 24


def test_further_columns_about_the_question_and_the_answers_are_not_asked_about(tmp_path: Path) -> None:
    content = rows()
    for number, row in enumerate(content):
        row["question_type"], row["answers"]["answer_type"] = "ab"[number % 2], ["name"] * len(row["answers"]["text"])
    write_jsonl(tmp_path / "data" / "train.jsonl", content)
    (task,) = guessed(tmp_path).tasks.values()
    assert (task.text, task.decide, task.metric) == (["question", "context"], [], "squad_f1")
    for row in content:
        row["context"] += "日本語の文章" * 40
    write_jsonl(tmp_path / "data" / "train.jsonl", content)
    (tmp_path / "out.yaml").unlink()
    assert next(iter(guessed(tmp_path).tasks.values())).metric == "squad_f1_characters"


def test_places_that_do_not_fit_are_no_evidence(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    shifted = rows()
    for row in shifted:
        row["answers"]["answer_start"] = [start + 1 for start in row["answers"]["answer_start"]]
    write_jsonl(tmp_path / "data" / "train.jsonl", shifted)
    with raises_input_error():
        guessed(tmp_path)


def test_words_that_are_marked_in_a_text_are_no_answers_beside_another_target(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    marked = [
        {"text": passage, "aspect": "city", "start": passage.index("city"), "mood": ["good", "bad"][n % 2]}
        for n, passage in enumerate(PASSAGES)
    ]
    for further, known in (({}, {}), ({"about": "A tale of "}, {}), ({}, {"target": "mood"})):
        rows_of = [row | {name: value + row["text"] for name, value in further.items()} for row in marked]
        write_jsonl(tmp_path / "data" / "train.jsonl", rows_of)
        (files,) = find_tasks(tmp_path / "data").tasks
        guess = guess_task(files, tmp_path / "data", known)
        if known:
            assert (guess.kind, guess.questions, guess.problem) == ("labels", [], None)
        elif further:
            assert (
                guess.problem is None and "mood" in guess.questions[-1] and guess.questions[-1].startswith("target: ")
            )
        else:
            assert "if another column is the target, name it" in str(guess.problem)


def test_a_kind_that_the_user_names(tmp_path: Path) -> None:
    write_forms(tmp_path, "tsv")
    answers = ["kind=answer", "target=answer", "text=[question, context]", "metric=squad_exact"]
    (task,) = guessed(tmp_path, *(f"tasks.data.{answer}" for answer in answers)).tasks.values()
    assert (task.kind, task.starts, task.metric, task.also) == ("answer", "start", "squad_exact", None)
