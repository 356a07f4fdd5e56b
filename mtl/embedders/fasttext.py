"""Embeddings initialised with fastText vectors: the row "LSTM + fastText" of KLEJ's Table 3."""

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

from omegaconf import MISSING

from mtl.config.schema import EmbedderOptions, check_least
from mtl.embedders.kind import BuildRequest, EmbedderKind, LoadRequest, Reader, VectorFiles
from mtl.errors import InputError
from mtl.files import replacing
from mtl.progress import Progress

if TYPE_CHECKING:
    import torch

    from mtl.embedders.words import WordEmbeddings

logger = logging.getLogger("mtl")


@dataclass
class FastTextTraining:
    """Settings of the training; they mean the same as in the fasttext library."""

    dim: int = 300
    epochs: int = 5
    min_count: int = 5
    min_ngram: int = 3  # characters
    max_ngram: int = 6
    bucket: int = 2_000_000  # rows for n-grams
    learning_rate: float = 0.05
    window: int = 5  # words on either side
    threads: int = 0  # 0: one per core. With more than one, each training gives slightly different vectors

    def wrong(self) -> str | None:
        """An error message for the first setting that is too small, or None."""
        least = {"dim": 1, "epochs": 1, "min_count": 1, "window": 1}
        return next(
            (f"{key}={value}: too small" for key, value in vars(self).items() if value < least.get(key, 0)), None
        )

    def train(self, lines: Iterable[Sequence[str]], path: Path, source: str, device: "torch.device") -> None:
        """Train with `train_fasttext`, on the CPU."""
        train_fasttext(lines, path, self)


@dataclass
class FastTextOptions(EmbedderOptions):
    """The keys of fastText embeddings; configs/embeddings/fasttext.yaml explains them."""

    path: str | None = None
    dim: int | None = None
    trainable: bool = MISSING
    min_count: int = MISSING

    def check(self) -> None:
        super().check()
        if self.dim is not None:
            check_least("embeddings.dim", self.dim)
        check_least("embeddings.min_count", self.min_count)


def fasttext_embeddings(request: BuildRequest) -> "WordEmbeddings":
    """The vectors of the dataset's words, read from the file at `request.path`.

    With the option min_count=1, these are all words of all texts. With a larger min_count, they are the words that occur at least
    that many times in the training texts; all other words are unknown.
    A word that is not in the file gets a vector from its character n-grams if the file is a .bin; otherwise it is unknown.
    Raises InputError for a file that cannot be read, or whose vectors do not have `options.dim` numbers (None: any).
    """
    from mtl.data.text import Vocabulary
    from mtl.embedders.coverage import coverage
    from mtl.embedders.vectors import read_vectors
    from mtl.embedders.words import WordEmbeddings, with_specials

    options, texts, path = request.options, request.texts, request.path
    assert path is not None
    types = texts.types
    if options.min_count > 1:
        counts = texts.counts(request.training_texts)
        types = [word for word, count in zip(texts.types, counts, strict=True) if count >= options.min_count]
    if not types:
        raise InputError(
            f"embeddings.min_count={options.min_count}: no word occurs so often in the training texts; set a smaller one"
        )
    read = read_vectors(path, types)
    if options.dim is not None and read.dim != options.dim:
        raise InputError(
            f"{path}: has vectors of {read.dim} numbers, but embeddings.dim={options.dim}; drop embeddings.dim or set it to {read.dim}"
        )
    if not read.known.any():
        raise InputError(f"{path}: knows none of the suite's {len(types)} words; is it for another language?")
    vocabulary = Vocabulary(word for word, known in zip(types, read.known, strict=True) if known)
    found = dict(zip(types, read.found, strict=True))
    has_vector = vocabulary.ids(texts.types) != Vocabulary.UNKNOWN
    in_file = has_vector & [bool(found.get(word, False)) for word in texts.types]
    covered = coverage(texts.tokens, in_file, has_vector & ~in_file)
    vectors = with_specials(read.vectors[read.known])
    return WordEmbeddings(vocabulary, read.dim, vectors, covered, options.trainable)


def load(request: LoadRequest) -> Reader:
    """The words of a finished run; with min_count=1, new words get their vectors from the file."""
    from mtl.embedders.vectors import VectorFile
    from mtl.embedders.words import WordReader

    takes_all = request.options.min_count == 1 and request.path is not None
    return WordReader(request, VectorFile(request.path) if takes_all and request.path else None)


def train_fasttext(lines: Iterable[Sequence[str]], path: Path, settings: FastTextTraining) -> None:
    """Train skip-gram vectors on tokenized lines with the fasttext library and write the model (.bin) to `path`.

    Raises InputError if fastText cannot train, for example if no word is frequent enough.
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


# fasttext 0.9.3 draws the initial vectors in eleven blocks, one per thread. With fewer threads, the remaining vectors keep
# whatever values are in memory.
SAFE_THREADS = 11


def _in_new_process(arguments: dict[str, Any], partial: Path, path: Path, tokens: int) -> None:
    """Train in a separate process, in which the C library allocates memory that is set to zero.

    So all initial vectors have defined values with one thread, too: only one thread gives the same vectors each time.
    tokens: the number of tokens in all epochs, for the progress bar.
    """
    code = "import json, sys, fasttext; a = json.loads(sys.argv[1]); fasttext.train_unsupervised(**a).save_model(sys.argv[2])"
    command = [sys.executable, "-c", code, json.dumps(arguments), str(partial)]
    if arguments["thread"] == 1:
        logger.info("training %s with one thread, with which fastText reports no progress", path.name)
    with (
        subprocess.Popen(
            command, env={**os.environ, "MALLOC_PERTURB_": "255"}, stderr=subprocess.PIPE, text=True, errors="replace"
        ) as process,
        Progress(f"training {path.name}", tokens, "tokens") as shown,
    ):
        try:
            message = _follow(process.stderr or (), shown, tokens)
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        reason = message if process.returncode > 0 and message else f"exit status {process.returncode}"
        raise InputError(f"{path}: fastText could not train: {reason} (min_count={arguments['minCount']})")


def _follow(lines: Iterable[str], shown: Progress, tokens: int) -> str:
    """Show the progress that fastText writes, as in "Progress:  12.3% words/sec/thread: …". Return the last line without progress."""
    last = ""
    for line in lines:
        if found := re.match(r"\s*Progress: *([0-9.]+)%", line):
            shown.reach(round(float(found[1]) / 100 * tokens))
        elif line.strip():
            last = line.strip()
    return last


FASTTEXT = EmbedderKind(
    title="fastText",
    options=FastTextOptions,
    build=fasttext_embeddings,
    load=load,
    files=VectorFiles(
        exists=Path.exists,
        problem=lambda path: None,
        training=lambda: FastTextTraining,
        trained_name=lambda suite: f"{suite}.bin",
    ),
    audit_note=lambda options: "fastText's vectors",
)
