"""A finished run as a function: predict a task's targets for new rows, encode new texts."""

import io
import logging
import pickle
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from mtl.config import Config, read_config
from mtl.data.batches import TokenTable
from mtl.data.reader import read_cells, read_lines
from mtl.data.text import Texts, Vocabulary, moses
from mtl.embedders import find_vectors
from mtl.embedders.vectors import read_vectors
from mtl.embedders.words import WordEmbedder
from mtl.errors import InputError
from mtl.files import replacing, write_text
from mtl.model.encoder import Encoder
from mtl.model.heads import Head
from mtl.model.multitask import predict
from mtl.results.run_folder import RunFolder, read_json
from mtl.suite import Suite, Task, load_suite

logger = logging.getLogger("mtl")


class Predictor:
    """The encoder and the heads of one seed of a run.

    >>> predictor = mtl.load("runs/klej/fasttext-frozen")  # doctest: +SKIP
    >>> predictor.predict("cbd", [["Brawo!"]])  # doctest: +SKIP
    ['0']
    >>> predictor.encode(["Brawo!", "Dość."]).shape  # doctest: +SKIP
    (2, 2048)
    """

    def __init__(
        self, config: Config, suite: Suite, folder: RunFolder, seed: int, encoder: Encoder, words: Sequence[str]
    ) -> None:
        """words: of the encoder's vocabulary, in its order."""
        self.config = config
        self.suite = suite
        self.folder = folder
        self.seed = seed
        self.encoder = encoder.eval()
        self.vocabulary = Vocabulary(words)
        self.tokenize = moses(suite.language)

    @classmethod
    def load(cls, run_dir: Path, seed: int | None = None, task: str | None = None) -> "Predictor":
        """The run's given seed, or the one that did best on the task's dev split, or on average.

        Raises InputError for a folder that holds no finished run, an unknown seed or task.
        """
        folder = RunFolder(run_dir)
        config = read_config(folder.config)
        summary = read_json(folder.summary)
        suite = load_suite(folder.suite)
        if task is not None and task not in summary["tasks"]:
            raise InputError(f"--task {task}: not in this run; it has {', '.join(summary['tasks'])}")
        seeds = {number: read_json(folder.seed(number) / "scores.json") for number in summary["seeds"]}
        if seed is None:
            seed = max(seeds, key=lambda number: seeds[number]["scores"][task] if task else seeds[number]["average"])
        elif seed not in seeds:
            raise InputError(f"--seed {seed}: not in this run; it has {', '.join(map(str, seeds))}")
        words = read_lines(folder.vocabulary)
        state = _weights(folder.pretrained(seed) / "best.ckpt")
        return cls(config, suite, folder, seed, _encoder(config, part(state, "encoder.")), words)

    def predict(self, task: str, rows: Sequence[Sequence[str]]) -> list[str]:
        """A prediction for each row (its one or two texts), as the task's files write targets. Raises InputError."""
        known = self.suite.tasks.get(task)
        if known is None or not self.folder.finetuned(self.seed, task).is_dir():
            raise InputError(f"task {task!r}: not in this run")
        if any(isinstance(row, str) or len(row) != len(known.text) for row in rows):
            raise InputError(f"task {task} takes rows, each a list of {len(known.text)} texts: {', '.join(known.text)}")
        if not rows:
            return []
        vectors = self._encode([text for side in zip(*rows, strict=True) for text in side])
        with torch.no_grad():
            values = predict(known, self._head(known)(vectors))
        return [known.cell(value) for value in values.tolist()]

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Sentence vectors, float32 (texts, 2 * hidden_size). Raises InputError for a text that is not in a list."""
        if isinstance(texts, str):
            raise InputError("encode takes a list of texts, not one text")
        return self._encode(texts).numpy() if texts else np.empty((0, self.encoder.output_size), dtype=np.float32)

    def predict_file(self, task: str, path: Path, out: Path | None) -> None:
        """Predict the rows of a tab-separated file that has the task's text columns; write one column in their order."""
        known = self.suite.tasks[task]
        name = known.target if self.config.submission.header == "task" else "target"
        lines = [name, *self.predict(task, read_cells(path, known.text))]
        text = "".join(f"{line}\n" for line in lines)
        if out is None:
            sys.stdout.write(text)
        else:
            write_text(out, text)

    def encode_file(self, path: Path, out: Path) -> None:
        """Encode each line of a text file; write a NumPy array, float32 (lines, 2 * hidden_size)."""
        content = io.BytesIO()
        np.save(content, self.encode(read_lines(path)))
        with replacing(out) as partial:
            partial.write_bytes(content.getvalue())

    def _encode(self, texts: Sequence[str]) -> Tensor:
        distinct = Texts(texts, self.tokenize, self.config.max_length)
        self._learn(distinct.types)
        table = TokenTable(self.vocabulary.ids(distinct.types)[distinct.tokens], distinct.starts)
        vectors = self.encoder.encode(table, torch.arange(len(distinct)))
        return vectors[[distinct.index[text] for text in texts]]

    def _learn(self, types: Sequence[str]) -> None:
        """Take the vectors of words that the run never saw from its vector file, where it has one and it is still there."""
        if self.config.embeddings.name == "random":
            return
        path, _ = find_vectors(self.config.embeddings, self.suite, Path(self.config.embeddings_dir))
        ids = self.vocabulary.ids(types)
        new = [word for word, id in zip(types, ids, strict=True) if id == Vocabulary.UNKNOWN]
        if not new:
            return
        if not path.exists():
            logger.warning("%s is not there: %d words that the run never saw are unknown", path, len(new))
            return
        read = read_vectors(path, new)
        embedder = self.encoder.embedder
        assert isinstance(embedder, WordEmbedder)
        embedder.extend(read.vectors[read.known])
        self.vocabulary = Vocabulary(
            [*self.vocabulary.words, *(w for w, known in zip(new, read.known, strict=True) if known)]
        )

    def _head(self, task: Task) -> Head:
        state = _weights(self.folder.finetuned(self.seed, task.id) / "best.ckpt")
        head = Head(
            self.encoder.output_size, task.outputs, task.is_pair, self.config.head.hidden_size, self.config.head.dropout
        )
        head.load_state_dict(part(state, "heads.layers.0."))
        return head.eval()


def _encoder(config: Config, state: dict[str, Tensor]) -> Encoder:
    """The encoder whose weights these are."""
    words, dim = state["embedder.table.weight"].shape
    embedder = WordEmbedder(words, dim, trainable=False)
    encoder = Encoder(
        embedder,
        dim,
        config.encoder.hidden_size,
        config.encoder.num_layers,
        config.embeddings.dropout,
        config.encoder.dropout,
    )
    encoder.load_state_dict(state)
    return encoder


def _weights(path: Path) -> dict[str, Tensor]:
    """The weights of a checkpoint. Raises InputError if it is not there or not whole."""
    try:
        return torch.load(path, map_location="cpu", weights_only=True)["state_dict"]
    except (OSError, RuntimeError, pickle.UnpicklingError, KeyError) as error:
        raise InputError(f"{path}: not a checkpoint that can be read: {str(error).splitlines()[0]}") from None


def part(state: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The entries of a state dict below a prefix, without it."""
    return {name.removeprefix(prefix): tensor for name, tensor in state.items() if name.startswith(prefix)}
