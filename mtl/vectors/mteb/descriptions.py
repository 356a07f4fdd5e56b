"""Comparing the rows of a task with mteb's description of them: for each split, how many rows and texts there are, and how long these are."""

import contextlib
import io
from array import array
from collections.abc import Mapping
from typing import Any

import numpy as np
from mteb.abstasks import AbsTask, AbsTaskRetrieval

from mtl.vectors.mteb.data import MtebRows, read_splits, unreadable
from mtl.vectors.mteb.results import EXACT, OTHER, REDUCED
from mtl.vectors.mteb.retrieval import document_blocks

MOST_DIFFERENCES = 3  # that are recorded of a split, or of each subset of it


def compare_rows(task: AbsTask, rows: MtebRows, split: str) -> tuple[str, list[str]]:
    """Whether the loaded rows are those that mteb describes: EXACT, REDUCED (fewer) or OTHER; and how they differ. Raises InputError for bad rows."""
    described = task.metadata.descriptive_stats or {}
    if rows.folder is None:  # where mteb does not describe the split, it may have taken another one
        return (EXACT, []) if split in described else (OTHER, [f"{split}: mteb does not describe it"])
    differences = []
    has_fewer = False
    for name in read_splits(task, [split]):
        if name not in described:
            differences.append(f"{name}: mteb does not describe it")
            continue
        for subset in task.hf_subsets if task.metadata.is_multilingual else [None]:
            theirs = described[name] if subset is None else described[name]["hf_subset_descriptive_stats"][subset]
            try:
                with contextlib.redirect_stderr(io.StringIO()):  # hides mteb's progress bars
                    ours = _statistics(task, name, subset)
            except Exception as error:  # a column or a value of another type than the task's can fail anywhere in mteb
                raise unreadable(task, rows, error) from None
            differences += _differences(name, ours, theirs)[:MOST_DIFFERENCES]
            has_fewer = has_fewer or ours["num_samples"] < theirs["num_samples"]
    if has_fewer:
        return REDUCED, differences
    return (OTHER if differences else EXACT), differences


def _differences(prefix: str, ours: Mapping[str, Any], described: Mapping[str, Any]) -> list[str]:
    """The numbers, but for averages, that are not those that mteb describes, each after a prefix, as in "test: text: 90 unique texts, not 100"."""
    our_values = {str(key): value for key, value in ours.items()}  # keys may be labels of any type
    differences = []
    for key, expected in described.items():
        value = our_values.get(str(key))
        name = str(key).removeprefix("num_").removeprefix("number_of_").removesuffix("_statistics").replace("_", " ")
        if isinstance(expected, Mapping):
            differences += _differences(f"{prefix}: {name}", value or {}, expected)
        elif isinstance(expected, int | float) and not key.startswith(("average_", "avg_")) and value != expected:
            differences.append(f"{prefix}: {'no' if value is None else value} {name}, not {expected}")
    return differences


def _statistics(task: AbsTask, split: str, subset: str | None) -> Mapping[str, Any]:
    """The statistics of a split as mteb computes them, but of a corpus block by block, to save memory. `subset`: None for a task without subsets."""
    if not isinstance(task, AbsTaskRetrieval):
        return task._calculate_descriptive_statistics_from_split(split, hf_subset=subset)
    task.convert_v1_dataset_format_to_v2(num_proc=None)
    rows = task.dataset[subset or "default"][split]
    corpus = rows["corpus"]
    relevant_ids = {id for documents in rows["relevant_docs"].values() for id in documents}
    relevant_positions = array("q")  # in the corpus
    lengths = array("q")
    hashes = array("q")
    for block in document_blocks(corpus, task.metadata):
        positions = enumerate(block["id"], len(lengths))
        relevant_positions.extend(position for position, id in positions if id in relevant_ids)
        lengths.extend(map(len, block["text"]))
        hashes.extend(map(hash, block["text"]))
    # Beside the texts, mteb reads only the relevant documents. It cannot describe a corpus without any.
    rows["corpus"] = corpus.select(relevant_positions or [0])
    statistics: dict[str, Any] = {**task._calculate_descriptive_statistics_from_split(split, hf_subset=subset)}
    rows["corpus"] = corpus
    characters = sum(lengths)
    statistics["num_samples"] = len(corpus) + statistics["num_queries"]
    statistics["num_documents"] = len(corpus)
    statistics["number_of_characters"] = characters + statistics["queries_text_statistics"]["total_text_length"]
    texts = {"total_text_length": characters, "min_text_length": min(lengths), "max_text_length": max(lengths)}
    statistics["documents_text_statistics"] = {**texts, "unique_texts": len(np.unique(hashes))}
    return statistics
