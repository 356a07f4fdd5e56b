"""The documents of model inputs: what estimators read of each. A row has one input, in a choice one for each candidate, and in a task with units one
for each unit."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from mtl.data.dataset import Split, last_texts, marked_texts
from mtl.methods.floors.features import Document
from mtl.tasks.target_kind import UnitKind
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

Words = Callable[[int], list[str]]  # the words of the text with a number
Input = list[Document]  # the documents of a model input


def unit_inputs(task: Task, split: Split, texts: Sequence[str]) -> Split:
    """The split of a task with units, in which each unit is an input; any other split as it is. `texts` as in `documents_of`."""
    kind = target_kind(task)
    if not isinstance(kind, UnitKind):
        return split
    sizes = np.array([len(kind.units(text)) for text in last_texts(task, split, texts)], dtype=np.int64)
    return replace(split, texts=np.repeat(split.texts, sizes, axis=0), sizes=sizes)


def documents_of(
    task: Task, split: Split, texts: Sequence[str], words: Words | None, inputs: np.ndarray | None = None
) -> Iterable[Input]:
    """For each input of a split, the list of its documents: its texts with their words. Without `words`, documents have none, and marked spans
    follow. Of a task with units, the split is as `unit_inputs` returns it, and the iterable can be read once.
    `texts` are those that the split has the numbers of. `inputs` are the numbers of the inputs to return, in ascending order; None: all."""
    kind = target_kind(task)
    if isinstance(kind, UnitKind):
        return _unit_documents(kind, split, texts, inputs)
    numbers = np.unique(split.texts).tolist()
    documents = {number: Document(texts[number], words(number) if words else []) for number in numbers}
    all_inputs = [[documents[number] for number in row] for row in split.texts.tolist()]
    if not words and task.marked:
        for input_documents, spans in zip(all_inputs, marked_texts(task, split, texts), strict=True):
            input_documents += [Document(text, []) for text in spans]
    return all_inputs if inputs is None else [all_inputs[number] for number in inputs.tolist()]


def _unit_documents(kind: UnitKind, split: Split, texts: Sequence[str], inputs: np.ndarray | None) -> Iterator[Input]:
    """Of each unit of a split, one document with its features as words, made when it is read: all at once, those of SQuAD would need 30 GB."""
    assert split.sizes is not None
    is_read = np.ones(len(split.texts), dtype=bool) if inputs is None else np.isin(np.arange(len(split.texts)), inputs)
    for start, size in zip(split.starts.tolist(), split.sizes.tolist(), strict=True):
        units = np.flatnonzero(is_read[start : start + size]).tolist()
        if units:
            features = kind.unit_features([texts[number] for number in split.texts[start].tolist()])
            for unit in units:
                yield [Document("", features[unit])]
