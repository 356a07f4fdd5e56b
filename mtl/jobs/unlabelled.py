"""Rows without targets for distillation, which a teacher labels: lines of text files, and training rows with words left out.

Both follow Tang et al. 2019 ("Distilling Task-Specific Knowledge from BERT into Simple Neural Networks", section 3.3), but words are left out
where the paper puts a mask, since teachers and pupils have no mask in common, and no words are replaced by others of their part of speech,
which takes a tagger. Nothing here is drawn from dev or test rows, and a text that is equal to one of theirs is left out.
"""

import hashlib
import heapq
import zlib
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from mtl.base.errors import InputError
from mtl.data.dataset import Dataset, make_split
from mtl.data.examples import make_example
from mtl.data.text import text_lines
from mtl.jobs.job import Job
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

LEFT_OUT = 0.1  # the probability of a word to be left out
SHORTENED = 0.25  # the probability of a text to become some words in a row
LONGEST = 5  # words in a row

Texts = tuple[str, ...]  # of a row


def with_unlabelled(job: Job, dataset: Dataset) -> Dataset:
    """The dataset with the rows that `distill.texts` and `distill.augment` give its tasks on texts, single or in pairs.

    Tasks with candidates, marked spans or several values in a target get none.

    Raises:
        InputError: for a text file that cannot be read, or whose lines are all texts of the data.
    """
    distill = job.config.distill
    tasks = [task for task in dataset.trained_tasks if not (task.candidates or task.spans or target_kind(task).several)]
    known = {_plain(text) for text in dataset.texts}
    drawn: dict[int, list[Texts]] = {}  # by the number of texts in a row: the same lines for all tasks
    for sides in sorted({task.sides for task in tasks}) if distill.texts else ():
        drawn[sides] = _drawn(_lines(list(map(Path, distill.texts)), sides, known), distill.rows)
        if not drawn[sides]:
            what = "lines" if sides == 1 else "pairs of neighbouring lines"
            raise InputError(f"have no {what} that are no texts of the data", key="distill.texts", value=distill.texts)
    rows = {task.id: [*drawn.get(task.sides, ()), *_varied(dataset, task, known, distill.augment)] for task in tasks}
    texts = list(dict.fromkeys([*dataset.texts, *(text for added in rows.values() for row in added for text in row)]))
    index = {text: number for number, text in enumerate(texts)}
    splits = {
        task.id: make_split(task, [make_example(task, list(row)) for row in rows[task.id]], index)
        for task in tasks
        if rows[task.id]
    }
    return replace(dataset, texts=texts, unlabelled=splits)


def _plain(text: str) -> str:
    """What is equal for texts that differ in case and white space alone."""
    return " ".join(text.lower().split())


def _lines(files: Sequence[Path], sides: int, known: Container[str]) -> Iterator[Texts]:
    """The lines of the files as rows, in pairs each line with the next one; without empty lines and those that are known."""
    for path in files:
        lines: Iterable[Texts] = ((line,) for line in text_lines([path], "reading"))
        rows = lines if sides == 1 else ((*first, *second) for first, second in pairwise(lines))
        for row in rows:
            if all((plain := _plain(text)) and plain not in known for text in row):
                yield row


def _drawn(rows: Iterable[Texts], most: int) -> list[Texts]:
    """At most so many distinct rows: those with the smallest hashes, which is a random sample that needs no seed."""
    kept: dict[bytes, Texts] = {}
    for row in rows:
        kept.setdefault(hashlib.blake2b("\n".join(row).encode(), digest_size=8).digest(), row)
        if len(kept) > 2 * most:
            kept = dict(heapq.nsmallest(most, kept.items()))
    return [row for _, row in heapq.nsmallest(most, kept.items())]


def _varied(dataset: Dataset, task: Task, known: Container[str], copies: int) -> Iterator[Texts]:
    """So many variants of each training row that are new: of a pair, in turn the first text, the second and both are varied."""
    rng = np.random.default_rng(zlib.crc32(task.id.encode()))
    sides = [(0,)] if task.sides == 1 else [(0,), (1,), (0, 1)]
    seen = set[Texts]()
    for texts in dataset.splits[task.id]["train"].texts.tolist():
        row = tuple(dataset.texts[text] for text in texts)
        for copy in range(copies):
            changed = {side: _shortened(row[side], rng) for side in sides[copy % len(sides)]}
            varied = tuple(changed.get(side, text) for side, text in enumerate(row))
            if all(text and _plain(text) not in known for text in changed.values()) and varied not in seen:
                seen.add(varied)
                yield varied


def _shortened(text: str, rng: np.random.Generator) -> str:
    """The text without some words, or some words of it in a row; empty if no word is left."""
    words = text.split()
    kept = [word for word, number in zip(words, rng.random(len(words)), strict=True) if number >= LEFT_OUT]
    if kept and rng.random() < SHORTENED:
        length = int(rng.integers(1, min(LONGEST, len(kept)) + 1))
        start = int(rng.integers(len(kept) - length + 1))
        kept = kept[start : start + length]
    return " ".join(kept)
