"""A finished run as a function: predict a task's targets for new rows, encode new texts."""

import io
import logging
import pickle
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from mtl.config.load import Config, read_config
from mtl.data.dataset import Split
from mtl.data.reader import read_cells, read_lines
from mtl.data.text import Texts, Vocabulary
from mtl.device import device_of, exact_arithmetic
from mtl.embedders import Embedder, find_vectors
from mtl.embedders.vectors import VectorFile
from mtl.embedders.words import WordEmbedder, word_table
from mtl.errors import InputError
from mtl.files import replacing, write_text
from mtl.methods.lstm.stage1 import new_encoder, new_heads
from mtl.model.encoder import Encoder
from mtl.model.multitask import Multitask
from mtl.runs.folder import RunFolder, read_json
from mtl.tasks.suite import Suite, Task, load_suite
from mtl.training.batches import BatchDataset, SortedSampler, Table, row_lengths
from mtl.training.fit import WEIGHTS

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
        self,
        config: Config,
        suite: Suite,
        folder: RunFolder,
        seed: int,
        encoder: Encoder,
        table: Callable[[Texts], Table],
    ) -> None:
        """encoder: of the seed, on the device to predict on. table: texts of any words, as the encoder reads them."""
        self.config = config
        self.suite = suite
        self.folder = folder
        self.seed = seed
        self.encoder = encoder.eval()
        self.table = table
        self._modules: dict[str, Multitask] = {}  # the last task that was asked for

    @classmethod
    def load(cls, run_dir: Path, seed: int | None = None, task: str | None = None, device: str = "cpu") -> "Predictor":
        """The run's given seed, or the one that did best on the task's dev split, or on average.

        device: where to compute: cpu, cuda (or the name of another accelerator), or auto, an accelerator where there is one.
        Raises InputError for a folder that holds no finished LSTM run, an unknown seed, task or device.
        """
        place = device_of(device, "device")
        folder = RunFolder(run_dir)
        config = read_config(folder.config)
        if config.method != "lstm":
            raise InputError(
                f"{run_dir}: a floor ({config.method}), whose models are not kept; only LSTM runs predict new rows"
            )
        if not folder.summary.exists():
            raise InputError(f"{run_dir}: this run is not finished; give its command again")
        summary = read_json(folder.summary)
        suite = load_suite(folder.suite)
        if task is not None and task not in summary["tasks"]:
            raise InputError(f"--task {task}: not in this run; it has {', '.join(summary['tasks'])}")
        seeds = {number: read_json(folder.scores(number)) for number in summary["seeds"]}
        if seed is None:
            seed = max(seeds, key=lambda number: seeds[number]["scores"][task] if task else seeds[number]["average"])
        elif seed not in seeds:
            raise InputError(f"--seed {seed}: not in this run; it has {', '.join(map(str, seeds))}")
        state = part(_weights(folder.pretrained(seed) / WEIGHTS[config.pretrain.checkpoint]), "encoder.")
        reader: Reader
        if config.embeddings.name == "elmo":
            reader = ElmoReader(config, suite, read_json(folder.inputs)["embeddings"], place)
        else:
            reader = WordReader(config, suite, read_lines(folder.vocabulary), state["embedder.table.weight"])
        encoder = new_encoder(config, reader.embedder, reader.dim)
        encoder.load_state_dict(state)
        return cls(config, suite, folder, seed, encoder.to(place), reader.table)

    @exact_arithmetic()
    def predict(self, task: str, rows: Sequence[Sequence[str]]) -> list[str]:
        """A prediction for each row (its one or two texts), as the task's files write targets. Raises InputError."""
        known = self.suite.tasks.get(task)
        if known is None or not self.folder.finetuned(self.seed, task).is_dir():
            raise InputError(f"task {task!r}: not in this run")
        if any(isinstance(row, str) or len(row) != len(known.text) for row in rows):
            raise InputError(f"task {task} takes rows, each a list of {len(known.text)} texts: {', '.join(known.text)}")
        if not rows:
            return []
        texts, table = self._texts([text for side in zip(*rows, strict=True) for text in side])
        split = Split(np.array(texts).reshape(len(known.text), len(rows)).T, np.full(len(rows), np.nan))
        lengths = {task: row_lengths(split, table.lengths.numpy())}
        batches = BatchDataset({task: split}, table)
        module = self._modules.get(task) or self._module(known)
        self._modules = {task: module}
        values = module.predict_rows(batches, SortedSampler(lengths, self.config.finetune.batch_size))
        return [known.cell(value) for value in values.tolist()]

    @exact_arithmetic()
    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Sentence vectors, float32 (texts, 2 * hidden_size), by the encoder of stage 1, which all tasks share.

        Raises InputError for a text that is not in a list.
        """
        if isinstance(texts, str):
            raise InputError("encode takes a list of texts, not one text")
        if not texts:
            return np.empty((0, self.encoder.output_size), dtype=np.float32)
        numbers, table = self._texts(texts)
        vectors: np.ndarray = self.encoder.encode(table, torch.arange(len(table.lengths)))[numbers].numpy()
        return vectors

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

    def _texts(self, texts: Sequence[str]) -> tuple[list[int], Table]:
        """The number of each text in a table of the distinct ones, and the table."""
        distinct = Texts(texts, self.suite.language, self.config.max_length)
        return [distinct.index[text] for text in texts], self.table(distinct)

    def _module(self, task: Task) -> Multitask:
        """The task's head, and the encoder that belongs to it."""
        state = _weights(self.folder.finetuned(self.seed, task.id) / WEIGHTS["best"])
        # Encoders that stage 2 trained differ by task; they share the word vectors, and so the new words.
        encoder = self.encoder.for_task() if part(state, "encoder.") else self.encoder
        module = Multitask([task], new_heads(self.config, [task], encoder.output_size), encoder, 1.0, 0.0, 1)
        encoder.load_state_dict({**encoder.state_dict(), **part(state, "encoder.")})
        module.heads.load_state_dict(part(state, "heads."))
        return module.to(self.encoder.device)


class Reader(Protocol):
    """New texts as the run's encoder reads them."""

    @property
    def embedder(self) -> Embedder:
        """What reads the tables."""

    @property
    def dim(self) -> int:
        """Numbers in a token's vector."""

    def table(self, texts: Texts) -> Table:
        """Texts of any words."""


class WordReader:
    """Words by number. Words that the run never saw are unknown, unless it took the vectors of all words from a file.

    Then they get theirs from the file as well, where it is still there. No word is looked up twice.
    """

    def __init__(self, config: Config, suite: Suite, words: Sequence[str], weight: Tensor) -> None:
        """words, weight: the run's vocabulary and its vectors, float32 (words + 2, dim)."""
        takes_all = config.embeddings.name == "fasttext" and config.embeddings.min_count == 1
        self.file = VectorFile(find_vectors(config, suite)[0]) if takes_all else None
        self._without_vector: set[str] = set()
        self.vocabulary = Vocabulary(words)
        self.dim = weight.shape[1]
        self.embedder = WordEmbedder(len(weight), self.dim, trainable=False)

    def table(self, texts: Texts) -> Table:
        if self.file is not None:
            ids = self.vocabulary.ids(texts.types)
            unknown = [word for word, id in zip(texts.types, ids, strict=True) if id == Vocabulary.UNKNOWN]
            if new := [word for word in unknown if word not in self._without_vector]:
                self._learn(new, self.file)
        return word_table(self.vocabulary, texts)

    def _learn(self, new: list[str], file: VectorFile) -> None:
        if file.path.exists():
            read = file.read(new)
            if read.dim != self.dim:
                raise InputError(
                    f"{file.path}: has vectors of {read.dim} numbers, the run's have {self.dim}; put back the run's file"
                )
            self.embedder.add(read.vectors[read.known])
            self.vocabulary.add(word for word, known in zip(new, read.known, strict=True) if known)
            self._without_vector.update(word for word, known in zip(new, read.known, strict=True) if not known)
        else:
            logger.warning("%s is not there: %d words that the run never saw are unknown", file.path, len(new))
            self._without_vector.update(new)


class ElmoReader:
    """Words by ELMo, computed on the fly. Raises InputError if the ELMo is not the one that the run was made with."""

    def __init__(self, config: Config, suite: Suite, fingerprint: str, device: torch.device) -> None:
        from mtl.embedders.elmo.embeddings import ElmoEmbedder, load_elmo

        path, _ = find_vectors(config, suite)
        self.elmo, found = load_elmo(path, bool(config.embeddings.exact))
        if found != fingerprint:
            raise InputError(f"{path}: is not the ELMo that the run was made with")
        self.elmo.to(device)
        self.precision = str(config.embeddings.precision)
        self.dim = self.elmo.dim
        self.embedder = ElmoEmbedder(self.elmo.options.n_layers, self.elmo.options.projection_dim)

    def table(self, texts: Texts) -> Table:
        from mtl.embedders.elmo.embeddings import LiveTable

        return LiveTable(self.elmo, texts, self.precision)


def _weights(path: Path) -> dict[str, Tensor]:
    """The weights of a checkpoint. Raises InputError if it is not there or not whole."""
    try:
        return torch.load(path, map_location="cpu", weights_only=True)["state_dict"]
    except (OSError, RuntimeError, pickle.UnpicklingError, KeyError) as error:
        raise InputError(f"{path}: not a checkpoint that can be read: {str(error).splitlines()[0]}") from None


def part(state: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The entries of a state dict below a prefix, without it."""
    return {name.removeprefix(prefix): tensor for name, tensor in state.items() if name.startswith(prefix)}
