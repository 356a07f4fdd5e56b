"""Seconds and memory of `mtl make` on recipes that search for pairs among many texts.

    python benchmarks/make_pairs.py --articles 10000            # as KLEJ's PSC: five extracts and five abstracts of each article
    python benchmarks/make_pairs.py --questions 100000          # the four most similar of as many answers, for each question
    python benchmarks/make_pairs.py --duplicates 200000         # near duplicates among as many texts, a tenth of them copies

The words of the texts have the frequencies of a language (Zipf) and consist of syllables, so that byte pairs are learned. An article has
words of its own, which its extracts and abstracts share. Each recipe is a process of its own; its processor seconds, time and peak memory
are printed, and the rows of the task.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import yaml

VOCABULARY = 50_000
SYLLABLES = [a + b for a in "bdfgklmnprstwz" for b in "aeiouy"]
WEIGHTS = 1 / np.arange(1, VOCABULARY + 1)
PAIRS = {"step": "pairs", "tables": ["left", "right"], "texts": ["text", "text"], "groups": ["id", "id"]}
SPLIT = {"step": "split", "shares": {"train": 0.9, "test": 0.1}}
TASK = {"labels": ["0", "1"], "target": "label", "metric": "accuracy"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in CASES:
        parser.add_argument(f"--{name}", type=int, nargs="*", default=[])
    given = vars(parser.parse_args())
    print(
        "| recipe | size | processor seconds | seconds | peak memory, MB | rows of the task |\n|---|--:|--:|--:|--:|--:|"
    )
    for name, case in CASES.items():
        for size in given[name]:
            with tempfile.TemporaryDirectory() as folder:
                recipe = Path(folder) / "recipe.yaml"
                recipe.write_text(yaml.safe_dump(case(size, Path(folder))), encoding="utf-8")
                print(f"| {name} | {size:,} | {measure(recipe)} |", flush=True)


def measure(recipe: Path) -> str:
    """The figures of a recipe, as cells of a table."""
    out = recipe.parent / "out"
    start = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "mtl", "make", str(recipe), f"out={out}"],
        stdout=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - start
    if status:
        raise SystemExit(f"mtl make failed: {status}")
    rows = json.loads((out / "provenance.json").read_text(encoding="utf-8"))["tasks"]["task"]["rows"]
    cpu = usage.ru_utime + usage.ru_stime
    return f"{cpu:,.0f} | {seconds:,.0f} | {usage.ru_maxrss * 1024 / 1e6:,.0f} | {sum(rows.values()):,}"


def texts_of(rng: np.random.Generator, rows: int, low: int, high: int) -> list[list[int]]:
    """The words of texts, by number; a text has between `low` and `high` of them."""
    lengths = rng.integers(low, high + 1, rows)
    words = rng.choice(VOCABULARY, lengths.sum(), p=WEIGHTS / WEIGHTS.sum())
    return [part.tolist() for part in np.split(words, np.cumsum(lengths)[:-1])]


def spelled(words: list[int]) -> str:
    """A text with a full stop after every twelve words."""
    shown = []
    for word in words:
        name = ""
        while not name or word:
            word, syllable = divmod(word, len(SYLLABLES))
            name += SYLLABLES[syllable]
        shown.append(name)
    return ". ".join(" ".join(shown[start : start + 12]) for start in range(0, len(shown), 12)) + "."


def write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def recipe_of(sources: dict[str, Any], steps: list[dict[str, Any]], text: list[str]) -> dict[str, Any]:
    return {"name": "bench", "sources": sources, "steps": steps, "tasks": {"task": {**TASK, "text": text}}}


def articles(size: int, folder: Path) -> dict[str, Any]:
    rng, rows = np.random.default_rng(1), list[dict[str, Any]]()
    for number, words in enumerate(texts_of(rng, size, 300, 500)):
        drawn = [[words[place] for place in np.sort(rng.integers(0, len(words), 50))] for _ in range(10)]
        rows.append(
            {
                "id": str(number),
                "extracts": [spelled(own) for own in drawn[:5]],
                "abstracts": [spelled(own) for own in drawn[5:]],
            }
        )
    write_lines(folder / "articles.jsonl", rows)
    explode = [
        {"step": "explode", "table": "articles", "column": f"{kind}[]", "item": "text", "into_table": table}
        for kind, table in (("extracts", "left"), ("abstracts", "right"))
    ]
    within = {**PAIRS, "scope": "within", "order": "least_similar", "most": 2, "into_table": "positive"}
    across = {**PAIRS, "scope": "across", "most": 2, "at_least": 0.15, "one_per_groups": True, "into_table": "negative"}
    labels = [{"step": "set", "values": {"label": label}} for label in "10"]
    stack = {"step": "stack", "tables": ["positive", "negative"], "into_table": "pairs"}
    steps: list[dict[str, Any]] = [*explode, within, labels[0], across, labels[1], stack, {**SPLIT, "keys": ["id"]}]
    return recipe_of({"articles": {"file": "articles.jsonl"}}, steps, ["text", "other_text"])


def questions(size: int, folder: Path) -> dict[str, Any]:
    rng = np.random.default_rng(2)
    for name, low, high in (("left", 5, 12), ("right", 20, 60)):
        rows = [{"id": str(number), "text": spelled(own)} for number, own in enumerate(texts_of(rng, size, low, high))]
        write_lines(folder / f"{name}.jsonl", rows)
    across = {**PAIRS, "scope": "across", "most": 4, "at_least": 0.3, "into_table": "pairs"}
    steps: list[dict[str, Any]] = [across, {"step": "set", "values": {"label": "0"}}, {**SPLIT, "keys": ["id"]}]
    return recipe_of({name: {"file": f"{name}.jsonl"} for name in ("left", "right")}, steps, ["text", "other_text"])


def duplicates(size: int, folder: Path) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    texts = [spelled(own) for own in texts_of(rng, size, 10, 40)]
    for place in rng.integers(0, size, size // 10).tolist():
        texts[place] = texts[rng.integers(0, size)] + " x"
    write_lines(folder / "texts.jsonl", [{"text": text, "label": "1"} for text in texts])
    steps: list[dict[str, Any]] = [{"step": "duplicates", "columns": ["text"], "near": 0.8}, SPLIT]
    return recipe_of({"texts": {"file": "texts.jsonl"}}, steps, ["text"])


CASES: dict[str, Callable[[int, Path], dict[str, Any]]] = {
    "articles": articles,
    "questions": questions,
    "duplicates": duplicates,
}

if __name__ == "__main__":
    main()
