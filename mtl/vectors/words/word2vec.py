"""Training of word2vec vectors, the static rows of PL-MTEB and Superlim, with gensim."""

import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Annotated, Any, Literal

from msgspec import Meta

from mtl.base.errors import InputError
from mtl.base.files import replacing
from mtl.base.progress import Progress
from mtl.base.typed import AT_LEAST_ONE, NOT_NEGATIVE
from mtl.vectors.words.files import lines_file, replace_texts_note


@dataclass
class Word2VecTraining:
    """Settings of the training; they mean the same as in gensim."""

    architecture: Literal["skipgram", "cbow"] = "skipgram"  # a word predicts its neighbours; cbow: they predict it
    dim: Annotated[int, AT_LEAST_ONE] = 300  # numbers in a vector
    epochs: Annotated[int, AT_LEAST_ONE] = 5  # passes over the texts
    min_count: Annotated[int, AT_LEAST_ONE] = 5  # words that occur less often have no vector of their own
    learning_rate: Annotated[float, NOT_NEGATIVE] = 0.025  # at the first step
    threads: Annotated[int, NOT_NEGATIVE] = 0  # 0: one for each core. More than one: vectors vary
    seed: Annotated[int, Meta(ge=0, lt=2**32)] = 1  # of the first vectors and of the noise

    def train(self, lines: Iterable[Sequence[str]], path: Path, source: str = "", device: Any = None) -> None:
        """As `Training.train`: with gensim, on the CPU, into word2vec's binary format. One thread repeats the same file."""
        from gensim.models import Word2Vec

        threads = self.threads or os.cpu_count() or 1
        logging.getLogger("gensim").setLevel(logging.WARNING)
        with lines_file(lines, path) as (file, tokens):
            passes = self.epochs + 1  # the first one counts words
            with Progress(f"training {path.name}", passes * tokens, "tokens") as bar, replacing(path) as partial:
                try:
                    model = Word2Vec(
                        _Lines(file, bar),
                        sg=int(self.architecture == "skipgram"),
                        vector_size=self.dim,
                        epochs=self.epochs,
                        min_count=self.min_count,
                        alpha=self.learning_rate,
                        workers=threads,
                        seed=self.seed,
                    )
                except RuntimeError as error:  # "you must first build vocabulary before training the model"
                    message = f"word2vec could not train: no word occurs min_count={self.min_count} times ({error})"
                    raise InputError(message, path=path) from None
                model.wv.save_word2vec_format(str(partial), binary=True)
                replace_texts_note(path, source, threads)


class _Lines:
    """The lines of an open file, from the start each time, with a bar that counts their words and ends."""

    def __init__(self, file: IO[str], bar: Progress) -> None:
        self._file, self._bar = file, bar

    def __iter__(self) -> Iterator[list[str]]:
        self._file.seek(0)
        for line in self._file:
            words = line.split()
            yield words
            self._bar.advance(len(words) + 1)
