"""Whether the rows of a task are those that mteb describes, by their descriptive statistics."""

import contextlib
import io
from array import array
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from mteb.abstasks import AbsTask, AbsTaskRetrieval

from mtl.vectors.mteb.data import MtebRows, read_splits, unreadable
from mtl.vectors.mteb.results import EXACT, OTHER, REDUCED
from mtl.vectors.mteb.retrieval import document_blocks

SHOWN = 3  # the most differences that are recorded of a split, or of each subset of it


def compare_rows(task: AbsTask, rows: MtebRows, split: str) -> tuple[str, list[str]]:
    """Whether the loaded rows of a task, scored and training ones, are those that mteb describes: EXACT, REDUCED (fewer rows) or OTHER; and the
    differences in words. The hub's are exact if mteb describes the split: else mteb may have taken another. Raises InputError for another form."""
    described = task.metadata.descriptive_stats or {}
    if rows.folder is None:
        return (EXACT, []) if split in described else (OTHER, [f"{split}: mteb does not describe it"])
    differences, fewer = list[str](), False
    for name in read_splits(task, [split]):
        if name not in described:
            differences.append(f"{name}: mteb does not describe it")
            continue
        for subset in task.hf_subsets if task.metadata.is_multilingual else (None,):
            theirs = described[name] if subset is None else described[name]["hf_subset_descriptive_stats"][subset]
            try:
                with contextlib.redirect_stderr(io.StringIO()):  # bars of mteb
                    ours = _statistics(task, name, subset)
            except Exception as error:  # a column or a value of another type than the task's can fail anywhere in mteb
                raise unreadable(task, rows, error) from None
            differences += _differences(name, ours, theirs)[:SHOWN]
            fewer = fewer or ours["num_samples"] < theirs["num_samples"]
    if fewer:
        return REDUCED, differences
    return (OTHER if differences else EXACT), differences


def _differences(split: str, ours: Mapping[str, Any], described: Mapping[str, Any]) -> list[str]:
    """The numbers of a split that are not those that mteb describes, as in "test: 90 samples, not 100"."""
    present, differences = dict(_flat(ours)), []
    for names, expected in _flat(described):
        if present.get(names) != expected:
            *parts, counted = names
            differences.append(f"{': '.join([split, *parts])}: {present.get(names, 'no')} {counted}, not {expected}")
    return differences


def _statistics(task: AbsTask, split: str, subset: str | None) -> Mapping[str, Any]:
    """What mteb describes of the rows of a split. The texts of a corpus are read block by block, where mteb would hold them in memory."""
    if not isinstance(task, AbsTaskRetrieval):
        return task._calculate_descriptive_statistics_from_split(split, hf_subset=subset)
    task.convert_v1_dataset_format_to_v2(num_proc=None)
    rows = task.dataset[subset or "default"][split]
    corpus = rows["corpus"]
    relevant_ids = {id for documents in rows["relevant_docs"].values() for id in documents}
    lengths, hashes, relevant_positions = array("q"), array("q"), array("q")
    for block in document_blocks(corpus, task.metadata):
        numbered = enumerate(block["id"], len(lengths))  # by their positions in the corpus
        relevant_positions.extend(position for position, id in numbered if id in relevant_ids)
        lengths.extend(map(len, block["text"]))
        hashes.extend(map(hash, block["text"]))
    rows["corpus"] = corpus.select(relevant_positions or [0])  # all that mteb reads of it beside the texts
    ours = task._calculate_descriptive_statistics_from_split(split, hf_subset=subset)
    rows["corpus"] = corpus
    characters = sum(lengths)
    texts = {"total_text_length": characters, "min_text_length": min(lengths), "max_text_length": max(lengths)}
    return {
        **ours,
        "num_samples": len(corpus) + ours["num_queries"],
        "num_documents": len(corpus),
        "number_of_characters": characters + ours["queries_text_statistics"]["total_text_length"],
        "documents_text_statistics": {**texts, "unique_texts": len(np.unique(hashes))},
    }


def _flat(statistics: Mapping[str, Any], *names: str) -> Iterator[tuple[tuple[str, ...], int | float]]:
    """The numbers in nested statistics, without averages, each after its names in words: those of the parts that it is in, then its own."""
    for key, value in statistics.items():
        name = str(key).removeprefix("num_").removeprefix("number_of_").removesuffix("_statistics").replace("_", " ")
        if isinstance(value, Mapping):
            yield from _flat(value, *names, name)
        elif isinstance(value, int | float) and not key.startswith(("average_", "avg_")):
            yield (*names, name), value
