"""The first sentences of a text as its summary: for news articles, hard to beat. Sentences are split by punctuation and abbreviations."""

import re
import time
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from sacremoses.corpus import NonbreakingPrefixes

from mtl.base.errors import InputError
from mtl.base.files import write_json
from mtl.base.log import logger
from mtl.base.memory import peak_memory
from mtl.base.progress import progress
from mtl.base.untrusted import read_json
from mtl.data.dataset import Split
from mtl.methods.method import Method, Predictions, SeedCost
from mtl.runs.folder import chosen_file
from mtl.runs.records import Chosen
from mtl.tasks.metrics import TIE, score
from mtl.tasks.task import Task

MOST_SENTENCES = 10  # numbers from 1 to this are tried on the training rows
BEFORE_NUMBERS = "#NUMERIC_ONLY#"  # stands after such an abbreviation in Moses's list
OPENING = "\"'“”‘«»(["  # signs that may stand before the first letter of a word
END = re.compile(
    r"""
    (?:[.!?…]+["'”’»)\]]*)  # the end of a sentence, with the quotation marks and brackets that it closes
    (?=\s+["'”‘“«»(\[—–-]*\s*[^\W_]) # before white space and the first letter or digit of the next one
    |[ \t]*(?:\r\n|[\n\r\u2028\u2029]) # or the end of a line
    """,
    re.VERBOSE,
)


def sentences(text: str, language: str) -> list[str]:
    """The sentences of a text, without white space around them. Lines are sentences of their own, too. A full stop ends no sentence after an
    abbreviation of the language (Moses's list; some stand only before numbers), after a single letter, and before a small letter."""
    starts = [0]
    for end in END.finditer(text):
        if not end[0].startswith(".") or _ends_sentence(text, starts[-1], end, language):
            starts.append(end.end())
    return [part for start, end in pairwise([*starts, len(text)]) if (part := text[start:end].strip())]


def _ends_sentence(text: str, start: int, end: re.Match[str], language: str) -> bool:
    following = next((sign for sign in text[end.end() :] if sign.isalnum()), "")
    words = text[start : end.start()].split()
    word = words[-1].lstrip(OPENING) if words else ""
    abbreviations = _abbreviations(language)
    is_abbreviation = word in abbreviations or (following.isdigit() and f"{word} {BEFORE_NUMBERS}" in abbreviations)
    is_single_letter = len(word) == 1 and word.isalpha()
    return not (following.islower() or is_abbreviation or is_single_letter)


@lru_cache
def _abbreviations(language: str) -> frozenset[str]:
    prefixes = NonbreakingPrefixes()
    return frozenset(prefixes.words(language)) if language in prefixes.available_langs else frozenset()


class Lead(Method):
    """`mtl.methods.method.Method` of the first sentences. All seeds have the same predictions."""

    def predictions(self, seed: int, folder: Path) -> Iterator[tuple[Task, Predictions]]:
        for task in self.dataset.trained_tasks:
            count = self._count(task, seed, folder)
            for answered in self.dataset.answered(task):
                yield answered, {name: self._lead(split, count) for name, split in self.to_predict(answered).items()}

    def cost(self, seed: int, folder: Path) -> dict[str, Any]:
        """One parameter for each task: the number of sentences."""
        records = [read_json(chosen_file(folder, task.id), Chosen) for task in self.dataset.trained_tasks]
        seconds = sum(record["seconds"] for record in records)
        return SeedCost(len(records), len(records), finetune_seconds=seconds, peak_memory=peak_memory())._asdict()

    def _count(self, task: Task, seed: int, folder: Path) -> int:
        """The best number of sentences on the training rows, as the seed's folder records it; it is chosen if it is not there yet."""
        path = chosen_file(folder, task.id)
        if not path.exists():
            self._choose_count(task, seed, path)
        recorded = read_json(path, Chosen)["settings"].get("sentences")
        if not isinstance(recorded, int) or not 1 <= recorded <= MOST_SENTENCES:
            message = "must be a number of sentences; delete it, and run this again"
            raise InputError(message, path=path, key="settings.sentences")
        return recorded

    def _choose_count(self, task: Task, seed: int, path: Path) -> None:
        """Record the best number of sentences on the training rows, by the task's metric; among equals, the smallest."""
        start, train = time.monotonic(), self.dataset.splits[task.id]["train"]
        best = 1
        scores: dict[int, float] = {}
        for count in progress(range(1, MOST_SENTENCES + 1), f"seed {seed} · {task.id} · sentences", "numbers"):
            scores[count] = score(task, self._lead(train, count), train.scored_rows)
            if scores[count] > scores[best] + TIE:
                best = count
        seconds = time.monotonic() - start
        write_json(path, {"settings": {"sentences": best}, "seconds": seconds, "on_train": scores})
        logger.info("seed %d · %s · sentences: %d", seed, task.id, best)

    def _lead(self, split: Split, count: int) -> np.ndarray:
        """The first `count` sentences of the text of each row, (rows,)."""
        texts = (self.dataset.texts[text] for text in split.texts[:, 0].tolist())
        return np.array([" ".join(sentences(text, self.suite.language)[:count]) for text in texts], dtype=object)
