"""Embeddings initialised with fastText vectors: the row "LSTM + fastText" of KLEJ's Table 3; and the training of such vectors."""

import json
import logging
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from omegaconf import MISSING

from mtl.base.errors import InputError
from mtl.base.files import replacing
from mtl.base.progress import Progress
from mtl.embedders.interface import (
    EmbedderKind,
    EmbeddingsRequest,
    Reader,
    RunReaderRequest,
    VectorFiles,
    VectorReaderRequest,
    note_source,
    unknown_words,
)
from mtl.settings.bounds import AT_LEAST_ONE, NOT_NEGATIVE, SIZE, bounded, one_of
from mtl.settings.schema import EmbedderOptions

if TYPE_CHECKING:
    import torch

    from mtl.embedders.words import WordEmbeddings

logger = logging.getLogger("mtl")


@dataclass
class FastTextOptions(EmbedderOptions):
    """The keys of fastText embeddings; configs/embeddings/fasttext.yaml explains them."""

    path: str | None = None
    dim: int | None = bounded(SIZE, None)
    trainable: bool = MISSING
    min_count: int = bounded(AT_LEAST_ONE)
    max_words: int | None = bounded(AT_LEAST_ONE, None)
    missing: str = one_of("unknown", "random", default="unknown")
    sparse: bool = False
    map: bool = False

    @property
    def takes_all_words(self) -> bool:
        """Whether all words of all texts get their vectors from the file, new words at prediction time too."""
        return self.min_count == 1 and self.max_words is None


def fasttext_embeddings(request: EmbeddingsRequest) -> "WordEmbeddings":
    """The vectors of the dataset's words, read from the file at `request.path`.

    With the options min_count=1 and max_words=None, these are all words of all texts. Otherwise, they are the words of
    `frequent_words`; all other words are unknown.
    A word that is not in the file: with missing=unknown, it gets a vector from its character n-grams if the file is a .bin, otherwise it
    is unknown. With missing=random, each seed draws its vector from N(0, 1), as that of the unknown word, and n-grams are not used: jiant
    reads fastText's vectors as text, and all other words start from N(0, 1). Boundary words are not looked up; each seed draws theirs.
    Raises InputError for a file that cannot be read, or whose vectors do not have `options.dim` numbers (None: any).
    """
    from mtl.data.text import BOUNDARIES, Vocabulary
    from mtl.embedders.vector_files.vector_file import VectorFile
    from mtl.embedders.words import WordEmbeddings, coverage, frequent_words, with_drawn, with_specials

    options, texts, path = request.options, request.texts, request.path
    assert path is not None
    types = texts.types
    if not options.takes_all_words:
        types = frequent_words(texts, request.training_texts, options.min_count, options.max_words)
    words = [word for word in types if word not in BOUNDARIES]
    if not words:
        message = "no word occurs so often in the training texts; set a smaller one"
        raise InputError(message, key="embeddings.min_count", value=options.min_count)
    read = VectorFile(path).read_once(words)
    _check_dim(path, read.dim, options.dim)
    has_vector = read.has_vector if options.missing == "unknown" else read.in_file
    if not has_vector.any():
        raise InputError(f"knows none of the suite's {len(words)} words; is it for another language?", path=path)
    by_word = dict(zip(words, has_vector.tolist(), strict=True))
    vocabulary = Vocabulary(word for word in types if options.missing == "random" or by_word.get(word, True))
    in_file_by_word = dict.fromkeys(BOUNDARIES, True) | dict(zip(words, read.in_file.tolist(), strict=True))
    in_file = np.array([in_file_by_word.get(word, False) for word in texts.types])
    from_ngrams = np.array([by_word.get(word, False) for word in texts.types]) & ~in_file
    lacking = np.array([not by_word.get(word, False) for word in vocabulary.words])
    vectors, drawn = with_drawn(with_specials(read.vectors[has_vector]), lacking, unknown=options.missing == "random")
    covered = coverage(texts, in_file, from_ngrams)
    return WordEmbeddings(
        *(vocabulary, read.dim, vectors, covered, options.trainable),
        drawn=drawn,
        sparse=options.sparse,
        mapped=options.map,
    )


def load_run(request: RunReaderRequest) -> Reader:
    """The words of a finished run; if it takes all words, new words get their vectors from the file."""
    from mtl.embedders.new_words import run_words

    file = request.path if request.options.takes_all_words else None
    return run_words(request, file, ngrams=request.options.missing == "unknown")


def open_vectors(request: VectorReaderRequest) -> Reader:
    """All words of the file at `request.path`. Raises InputError as `fasttext_embeddings` does."""
    from mtl.embedders.new_words import FileSource, source_words

    options, path = request.options, request.path
    assert path is not None
    source = FileSource(path, None, ngrams=options.missing == "unknown")
    rows, dim = source.file.shape
    _check_dim(path, dim, options.dim)
    return source_words(source, dim, rows * dim)


def _check_dim(path: Path, dim: int, wanted: int | None) -> None:
    if wanted not in (None, dim):
        message = f"has vectors of {dim} numbers, but embeddings.dim={wanted}; drop embeddings.dim or set it to {dim}"
        raise InputError(message, path=path)


@dataclass
class FastTextTraining:
    """Settings of the training; they mean the same as in the fasttext library."""

    dim: int = bounded(AT_LEAST_ONE, 300)
    epochs: int = bounded(AT_LEAST_ONE, 5)
    min_count: int = bounded(AT_LEAST_ONE, 5)
    min_ngram: int = bounded(NOT_NEGATIVE, 3)  # characters
    max_ngram: int = bounded(NOT_NEGATIVE, 6)
    bucket: int = bounded(NOT_NEGATIVE, 2_000_000)  # rows for n-grams
    learning_rate: float = bounded(NOT_NEGATIVE, 0.05)
    window: int = bounded(AT_LEAST_ONE, 5)  # words on either side
    threads: int = bounded(
        NOT_NEGATIVE, 0
    )  # 0: one per core. With more than one, each training gives slightly different vectors

    def train(self, lines: Iterable[Sequence[str]], path: Path, source: str, device: "torch.device") -> None:
        """Train with `train_fasttext`, on the CPU."""
        train_fasttext(lines, path, self, source)


def train_fasttext(lines: Iterable[Sequence[str]], path: Path, settings: FastTextTraining, source: str = "") -> None:
    """Train skip-gram vectors on tokenized lines with the fasttext library and write the model (.bin) to `path`.

    Args:
        lines: the words of each line.
        path: the file to write.
        settings: the settings of the training.
        source: identifies the texts; it is noted beside the model.

    Raises:
        InputError: if fastText cannot train, for example if no word is frequent enough.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", suffix=".txt"
    ) as text:
        tokens = 0  # fastText counts the end of a line as a token
        for words in lines:
            text.write(" ".join(words) + "\n")
            tokens += len(words) + 1
        text.flush()
        with replacing(path) as partial:
            arguments = {
                "input": text.name,
                "model": "skipgram",
                "dim": settings.dim,
                "epoch": settings.epochs,
                "minCount": settings.min_count,
                "minn": settings.min_ngram,
                "maxn": settings.max_ngram,
                "bucket": settings.bucket,
                "lr": settings.learning_rate,
                "ws": settings.window,
                "thread": settings.threads or max(SAFE_THREADS, os.cpu_count() or 1),
                "verbose": 2,
            }
            _in_new_process(arguments, partial, path, tokens * settings.epochs)
            note_source(path, source)


# fasttext 0.9.3 draws the initial vectors in eleven blocks, one per thread. With fewer threads, the remaining vectors keep
# whatever values are in memory.
SAFE_THREADS = 11

# The process ends with the one that started it, also where that one is killed: else it would write vectors that no one waits for.
TRAIN = """
import ctypes, json, os, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, 9)  # PR_SET_PDEATHSIG, SIGKILL
if os.getppid() != int(sys.argv[3]):
    sys.exit(1)
import fasttext
fasttext.train_unsupervised(**json.loads(sys.argv[1])).save_model(sys.argv[2])
"""


def _in_new_process(arguments: dict[str, Any], partial: Path, path: Path, tokens: int) -> None:
    """Train in a separate process, in which the C library allocates memory that is set to zero.

    So all initial vectors have defined values with one thread, too: only one thread gives the same vectors each time.

    Args:
        arguments: the arguments of `fasttext.train_unsupervised`.
        partial: the file to write.
        path: the file that is named to the user.
        tokens: the number of tokens in all epochs, for the progress bar.
    """
    command = [sys.executable, "-c", TRAIN, json.dumps(arguments), str(partial), str(os.getpid())]
    if arguments["thread"] == 1:
        logger.info("training %s with one thread, with which fastText reports no progress", path.name)
    last_line = ""
    with (
        subprocess.Popen(
            command, env={**os.environ, "MALLOC_PERTURB_": "255"}, stderr=subprocess.PIPE, text=True, errors="replace"
        ) as process,
        Progress(f"training {path.name}", tokens, "tokens") as bar,
    ):
        try:
            for line in process.stderr or ():
                # fastText writes "Progress:  12.3% words/sec/thread: …".
                if match := re.match(r"\s*Progress: *([0-9.]+)%", line):
                    bar.reach(round(float(match[1]) / 100 * tokens))
                elif line.strip():
                    last_line = line.strip()
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        reason = last_line if process.returncode > 0 and last_line else f"exit status {process.returncode}"
        message = f"fastText could not train: {reason} (min_count={arguments['minCount']})"
        raise InputError(message, path=path)


FASTTEXT = EmbedderKind(
    title="fastText",
    options=FastTextOptions,
    build=fasttext_embeddings,
    load=load_run,
    open=open_vectors,
    open_keys=("embeddings.path", "embeddings.dim", "embeddings.missing"),
    files=VectorFiles(
        exists=Path.exists,
        problem=lambda path: None,
        training="mtl.embedders.fasttext:FastTextTraining",
        training_extra="fasttext",
        trained_name=lambda suite: f"{suite}.bin",
        by_word=True,
    ),
    audit_note=lambda options: (
        "fastText's vectors"
        + ("" if options.takes_all_words else f"; {unknown_words(options.min_count, options.max_words)}")
    ),
)
