"""Comparing the rows of a task with mteb's description of them: for each split, how many rows and texts there are, and how long these are."""

import contextlib
import io
from array import array
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from mteb.abstasks import AbsTask, AbsTaskRetrieval

from mtl.vectors.mteb.data import MtebRows, read_splits, unreadable
from mtl.vectors.mteb.results import EXACT, OTHER, REDUCED
from mtl.vectors.mteb.retrieval import document_blocks

MOST_DIFFERENCES = 3  # that are recorded of a split, or of each subset of it

Statistics = Mapping[str, Any]  # numbers by name, as in {"num_samples": 90}, and nested statistics of parts


class Comparison(NamedTuple):
    """What a comparison of rows found."""

    data: str  # EXACT, REDUCED (some split has fewer rows) or OTHER
    differences: list[str]  # in words, as in "test: 90 samples, not 100"


def compare_rows(task: AbsTask, rows: MtebRows, split: str) -> Comparison:
    """Whether the rows of a task, scored and training ones, are those that mteb describes. Local rows are loaded, and compared by their statistics.
    The hub's are exact if mteb describes the split: else mteb may have taken another. Raises InputError for rows of another form than the task's."""
    described = task.metadata.descriptive_stats or {}
    if rows.folder is None:
        return Comparison(EXACT, []) if split in described else Comparison(OTHER, [_not_described(split)])
    differences = []
    has_fewer = False
    for name in read_splits(task, [split]):
        if name not in described:
            differences.append(_not_described(name))
            continue
        for subset in task.hf_subsets if task.metadata.is_multilingual else [None]:
            theirs = described[name] if subset is None else described[name]["hf_subset_descriptive_stats"][subset]
            try:
                ours = _statistics(task, name, subset)
            except Exception as error:  # a column or a value of another type than the task's can fail anywhere in mteb
                raise unreadable(task, rows, error) from None
            differences += _differences(name, ours, theirs)[:MOST_DIFFERENCES]
            if ours["num_samples"] < theirs["num_samples"]:
                has_fewer = True
    if has_fewer:
        return Comparison(REDUCED, differences)
    return Comparison(OTHER if differences else EXACT, differences)


def _not_described(split: str) -> str:
    return f"{split}: mteb does not describe it"


def _differences(split: str, ours: Statistics, described: Statistics) -> list[str]:
    """The numbers of a split that are not those that mteb describes, as in "test: 90 samples, not 100"."""
    our_numbers = dict(_numbers(ours))
    differences = []
    for names, expected in _numbers(described):
        if our_numbers.get(names) != expected:
            *parts, counted = names
            place = ": ".join([split, *parts])
            differences.append(f"{place}: {our_numbers.get(names, 'no')} {counted}, not {expected}")
    return differences


def _numbers(statistics: Statistics, *parts: str) -> Iterator[tuple[tuple[str, ...], int | float]]:
    """The numbers in statistics, without averages. Each comes after its names in words: those of the parts that it is in, then its own. For
    example, {"num_samples": 90, "text_statistics": {"min_text_length": 2}} has ("samples",), 90 and ("text", "min text length"), 2."""
    for key, value in statistics.items():
        name = str(key).removeprefix("num_").removeprefix("number_of_").removesuffix("_statistics").replace("_", " ")
        if isinstance(value, Mapping):
            yield from _numbers(value, *parts, name)
        elif isinstance(value, int | float) and not key.startswith(("average_", "avg_")):
            yield (*parts, name), value


def _statistics(task: AbsTask, split: str, subset: str | None) -> Statistics:
    """The statistics of the rows of a split, as mteb computes them. `subset` is None for a task without subsets."""
    with contextlib.redirect_stderr(io.StringIO()):  # hides mteb's progress bars
        if isinstance(task, AbsTaskRetrieval):
            return _retrieval_statistics(task, split, subset)
        return task._calculate_descriptive_statistics_from_split(split, hf_subset=subset)


def _retrieval_statistics(task: AbsTaskRetrieval, split: str, subset: str | None) -> Statistics:
    """The statistics of a retrieval task. The texts of its corpus are read here, block by block: mteb would hold all of them in memory."""
    task.convert_v1_dataset_format_to_v2(num_proc=None)
    rows = task.dataset[subset or "default"][split]
    corpus = rows["corpus"]
    relevant_ids = {id for documents in rows["relevant_docs"].values() for id in documents}
    relevant_positions = array("q")  # in the corpus
    lengths = array("q")
    hashes = array("q")
    for block in document_blocks(corpus, task.metadata):
        for position, id in enumerate(block["id"], len(lengths)):
            if id in relevant_ids:
                relevant_positions.append(position)
        lengths.extend(map(len, block["text"]))
        hashes.extend(map(hash, block["text"]))
    # Beside the texts, mteb reads only the relevant documents. It cannot describe a corpus without any.
    rows["corpus"] = corpus.select(relevant_positions or [0])
    statistics = task._calculate_descriptive_statistics_from_split(split, hf_subset=subset)
    rows["corpus"] = corpus
    characters = sum(lengths)
    return {
        **statistics,
        "num_samples": len(corpus) + statistics["num_queries"],
        "num_documents": len(corpus),
        "number_of_characters": characters + statistics["queries_text_statistics"]["total_text_length"],
        "documents_text_statistics": {
            "total_text_length": characters,
            "min_text_length": min(lengths),
            "max_text_length": max(lengths),
            "unique_texts": len(np.unique(hashes)),
        },
    }
