"""How many rows the files of tasks have, how long their texts are in tokens, and how many tokens have no vector."""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mtl.base.wording import MISSING, markdown_table
from mtl.benchmark_making.audits.parts import Part
from mtl.benchmark_making.audits.task_files import TaskFiles
from mtl.data.text import TokenizedTexts
from mtl.embedders import EMBEDDERS
from mtl.embedders.interface import EmbeddingsRequest
from mtl.jobs.job import Job
from mtl.methods import METHODS


def size_sections(job: Job, tasks: Sequence[TaskFiles]) -> tuple[str, str]:
    """The table of rows, lengths in tokens, cut texts and unknown words, and what its columns mean. Raises InputError for bad embeddings."""
    config = job.config
    texts = [text for files in tasks for part in files.as_read.values() for row in part.rows for text in row.texts]
    uncut = TokenizedTexts.tokenize(texts, job.suite.language, sys.maxsize, Path(config.cache_dir))
    cut = uncut.shortened(config.max_length)
    unknown = None  # of each text, the number of tokens without a vector
    training = [_text_numbers(uncut, files.as_used["train"]) for files in tasks if "train" in files.as_used]
    if training and METHODS[config.method].reads_key("embeddings"):
        unknown = _unknown_tokens(job, cut, np.unique(np.concatenate(training)))
    table = [["task", "split", "rows", "median length", "longest", "cut", "unknown words"]]
    for files in tasks:
        for split, part in files.in_report_order.items():
            numbers = _text_numbers(uncut, part)
            lengths = uncut.lengths[numbers]
            sizes = [str(len(part.rows)), f"{np.median(lengths):g}", str(lengths.max())]
            share_cut = f"{(lengths > config.max_length).mean():.1%}"
            share_unknown = MISSING if unknown is None else f"{unknown[numbers].sum() / cut.lengths[numbers].sum():.1%}"
            table.append([files.task.id, split, *sizes, share_cut, share_unknown])
    vectors = "" if unknown is None else f" with embeddings={config.embeddings.name}"
    note = (
        f"Lengths are in tokens, of each text of a pair separately; cut: share of texts longer than max_length={config.max_length};"
        f" unknown words: share of all tokens that have no vector{vectors}."
        " Held-out rows are part of the training file and are also counted there."
    )
    return markdown_table(table, left=2), note


def _text_numbers(texts: TokenizedTexts, part: Part) -> np.ndarray:
    """The numbers of the texts of all rows, with both texts of a pair, int64 (rows × texts per row,)."""
    return np.array([texts.index[text] for row in part.rows for text in row.texts], dtype=np.int64)


def _unknown_tokens(job: Job, texts: TokenizedTexts, training: np.ndarray) -> np.ndarray:
    """The number of tokens in each text that the embeddings do not know, int64 (texts,). `training`: the numbers of the texts of training rows."""
    from mtl.base.device import device_of
    from mtl.embedders.find import find_vectors

    config = job.config
    device = device_of(config.trainer.accelerator)
    if vectors := find_vectors(config, job.suite):
        vectors.check_obtainable()
        vectors.train_if_missing(job.suite, job.data_dir, config.held_out, device)
    path = None if vectors is None else vectors.path
    request = EmbeddingsRequest(config.embeddings, texts, training, path, Path(config.cache_dir), device)
    unknown = EMBEDDERS[config.embeddings.name].build(request).coverage.unknown_types[texts.tokens]
    return np.add.reduceat(unknown.astype(np.int64), texts.starts[:-1])
