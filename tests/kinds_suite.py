"""A suite in JSON Lines with a task of each target kind, one scored on test, one without dev and one without training rows."""

from pathlib import Path
from typing import Any

from command_line import job
from data_files import write_jsonl

from mtl.data.dataset import Dataset
from mtl.data.loading import load_dataset
from mtl.jobs.job import Job

SUITE = """\
name: kinds
language: en
files: {train: train.jsonl, dev: dev.jsonl, test: test.jsonl}
config:
  trainer: {threads: 1}
  max_length: 32
  encoder: {hidden_size: 8}
  head: {hidden_size: 16, attention_size: 8}
  pretrain: {max_steps: 30, validate_every: 10, batch_size: 16, learning_rate: 0.02, final_learning_rate: 0.002}
  finetune: {max_epochs: 3, batch_size: 16, learning_rate: 0.02, final_learning_rate: 0.002}
tasks:
  mood:                     # labels, nested keys, with dev
    folder: mood
    text: [review.text]
    target: label
    labels: [bad, good]
    metric: macro_f1
  stars:                    # a number, no dev file, rows of one author stay together
    folder: stars
    text: [text]
    target: stars
    range: [1, 5]
    metric: pearson
    group: author
    files: {dev: null}
  answer:                   # a choice among 2 to 4 candidates
    folder: answer
    text: [question]
    candidates: ["candidates[]"]
    target: label
    metric: accuracy
    files: {test: null}
  opposite:                 # a word, scored on test
    folder: opposite
    kind: word
    text: [word]
    target: opposite
    metric: accuracy
    scored: test
    files: {dev: null}
  mood-elsewhere:           # no training rows: the head of mood answers
    folder: elsewhere
    text: [text]
    target: label
    metric: accuracy
    answered_by: mood
    scored: test
    files: {train: null, dev: null}
"""
GOOD = ["fine", "lovely", "bright"]
BAD = ["awful", "gloomy", "dull"]
THINGS = ["film", "meal", "walk", "song", "book"]
OPPOSITES = {"hot": "cold", "big": "small", "fast": "slow", "old": "new", "light": "dark", "wet": "dry"}

Row = dict[str, Any]


def write_kinds_suite(folder: Path) -> Path:
    """The suite's file, with its data beside it in `data`. A word decides each target, so that every task can be learned."""
    path = folder / "kinds.yaml"
    path.write_text(SUITE, encoding="utf-8")
    data = folder / "data"
    for split, count in (("train", 48), ("dev", 24), ("test", 12)):
        labelled = split != "test"
        write_jsonl(data / "mood" / f"{split}.jsonl", [_mood(i, labelled) for i in range(count)])
        write_jsonl(data / "answer" / f"{split}.jsonl", [_answer(i) for i in range(count)])
        write_jsonl(data / "opposite" / f"{split}.jsonl", [_opposite(i) for i in range(count)])
    write_jsonl(data / "stars" / "train.jsonl", [_stars(i, True) for i in range(72)])
    write_jsonl(data / "stars" / "test.jsonl", [_stars(i, False) for i in range(12)])
    elsewhere = [_mood(i + 7, True) for i in range(12)]
    found = [{"text": row["review"]["text"], "label": row["label"]} for row in elsewhere]
    write_jsonl(data / "elsewhere" / "test.jsonl", found)
    return path


def kinds_job(folder: Path, run: str, *settings: str) -> Job:
    """A run on the suite that was written to a folder; its results are in `run`, there too."""
    own = [f"suite={folder / 'kinds.yaml'}", f"data_dir={folder / 'data'}", f"cache_dir={folder / 'cache'}"]
    return job([*own, f"run_dir={folder / run}", *settings])


def lstm(folder: Path, run: str, *settings: str) -> Job:
    """Such a run of an LSTM on random embeddings."""
    return kinds_job(folder, run, "embeddings.dim=12", *settings)


def dataset_of(run: Job) -> Dataset:
    return load_dataset(run.suite, run.run_tasks, run.data_dir, run.config.held_out)


def drop_last_row(file: Path) -> None:
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text("".join(lines[:-1]), encoding="utf-8")


def _mood(i: int, labelled: bool) -> Row:
    good = i % 2 == 0
    text = f"the {THINGS[i % 5]} number {i} was {(GOOD if good else BAD)[i % 3]}"
    label = {"label": "good" if good else "bad"} if labelled else {}
    return {"review": {"text": text, "writer": f"w{i // 3}"}, **label}


def _stars(i: int, labelled: bool) -> Row:
    stars = 1 + i % 5
    text = f"review {i}: {'very ' * stars}nice"
    return {"text": text, "author": f"a{i // 4}", **({"stars": stars} if labelled else {})}


def _answer(i: int) -> Row:
    candidates = [f"the {BAD[(i + k) % 3]} {THINGS[(i + k) % 5]}" for k in range(2 + i % 3)]
    right = (i * 7) % len(candidates)
    candidates[right] = f"the {GOOD[i % 3]} {THINGS[i % 5]}"
    return {"question": f"which one is nice, {i}?", "candidates": candidates, "label": right}


def _opposite(i: int) -> Row:
    word = list(OPPOSITES)[i % len(OPPOSITES)]
    return {"word": f"not {word} but {i}", "opposite": OPPOSITES[word]}
