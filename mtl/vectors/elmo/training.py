"""Train an ELMo on raw text and write it in AllenNLP's format (Peters et al. 2018)."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Annotated

import h5py
import numpy as np
import torch
from msgspec import Meta, to_builtins
from torch import Tensor, nn

from mtl.base.device import exact_arithmetic
from mtl.base.errors import InputError
from mtl.base.files import write_json, write_text
from mtl.base.folders import new_folder
from mtl.base.memory import check_fits
from mtl.base.typed import AT_LEAST_ONE, LAYERS, NOT_NEGATIVE, PART, SHARE
from mtl.embedders.elmo.network import BiLM
from mtl.embedders.elmo.options import LARGEST, OPTIONS, WEIGHTS, CharCnn, Embedding, Lstm, Options
from mtl.embedders.elmo.weights import to_file
from mtl.vectors.elmo.corpus import Corpus, batches, build_corpus
from mtl.vectors.elmo.language_model import LanguageModel, TrainedLSTM
from mtl.vectors.pretraining.resumable import ResumableTraining
from mtl.vectors.pretraining.unfinished import FORMAT, train_once
from mtl.vectors.words.files import replace_texts_note

CPU = torch.device("cpu")
LOG = "training.json"
MAX_CHARACTERS = 50  # bytes of a word including its markers, as in the original
COPIES = 16  # bytes for a weight in training: itself, its gradient and two moments, in float32
FILTERS = ((1, 16), (2, 16), (3, 32), (4, 64), (5, 128), (6, 128), (7, 128))
LONGEST = 100  # tokens of a line; longer ones are split
LARGEST_NORM = 5.0  # of all gradients but those of the softmax's tables, which is clipped
COUNT = Meta(ge=1, le=LARGEST)
RATE = Meta(gt=0, le=LARGEST)


@dataclass
class ELMoTraining:
    """The settings of an ELMo's training. The sizes are a quarter of the original's, which took weeks on several GPUs."""

    character_dim: Annotated[int, COUNT] = 16  # numbers in the vector of a byte
    filters: list[list[int]] = field(default_factory=lambda: [list(pair) for pair in FILTERS])  # width and number
    projection_dim: Annotated[int, COUNT] = 128  # numbers in the states of each direction: half a token's vector
    lstm_dim: Annotated[int, COUNT] = 1024  # LSTM cells in each direction
    n_layers: Annotated[int, LAYERS] = 2  # LSTM layers
    dropout: Annotated[float, SHARE] = 0.1  # on the input of each LSTM layer and of the softmax
    min_count: Annotated[int, COUNT] = 3  # for the softmax, words that occur less often are the unknown word
    held_out: Annotated[float, PART] = 0.005  # share of the lines on which perplexity is measured, at most 1,000 lines
    epochs: Annotated[int, COUNT] = 5  # passes over the texts
    max_steps: Annotated[int, AT_LEAST_ONE] | None = None  # the most training steps
    batch_tokens: Annotated[int, COUNT] = 4096  # tokens in a batch
    negatives: Annotated[int, COUNT] = 4096  # samples for the sampled softmax
    learning_rate: Annotated[float, RATE] = 2e-3  # Adam's at the first step; it falls linearly
    final_learning_rate: Annotated[float, NOT_NEGATIVE] = 2e-4  # at the last step
    validate_every: Annotated[int, COUNT] = 500  # steps between checkpoints and measurements of perplexity
    seed: Annotated[int, Meta(ge=0, lt=2**32)] = 1  # of the weights and of the order
    threads: Annotated[int, Meta(ge=0, le=LARGEST)] = 0  # 0: one for each core

    def check(self) -> None:
        valid = [len(pair) == 2 and 1 <= pair[0] <= MAX_CHARACTERS and 1 <= pair[1] <= LARGEST for pair in self.filters]
        if not valid or not all(valid):
            message = f"must be pairs of a width of 1 to {MAX_CHARACTERS} characters and a number of filters"
            raise InputError(message, key="filters", value=self.filters)
        if self.final_learning_rate > self.learning_rate:
            message = f"must lie between 0 and learning_rate={self.learning_rate}"
            raise InputError(message, key="final_learning_rate", value=self.final_learning_rate)

    @exact_arithmetic()
    def train(self, lines: Iterable[Sequence[str]], path: Path, source: str = "", device: torch.device = CPU) -> None:
        """As `Training.train`: options.json, weights.hdf5 and training.json (perplexities) in the new folder `path`. An interrupted training
        continues. Raises InputError for sizes beyond memory and for short texts; DivergedError if it diverges: the last good checkpoint remains."""
        with torch.device("meta"):
            weights = sum(weight.numel() for weight in BiLM(self.options()).parameters())
        sizes = f"lstm_dim={self.lstm_dim}, projection_dim={self.projection_dim}, n_layers={self.n_layers}: this ELMo"
        check_fits(COPIES * weights, sizes, "set smaller sizes")
        device = CPU if device.type == "mps" else device  # Apple GPUs lack operations

        def train_in(unfinished: Path) -> None:
            trainer = ElmoTrainer(build_corpus(lines, LONGEST), self, unfinished, device)
            trainer.run(str(path))
            corpus, settings = trainer.corpus, {**asdict(self), "source": source, "format": FORMAT}
            numbers = {"words": len(corpus.tokens), "types": len(corpus.types)}
            with new_folder(path) as folder:
                write_json(folder / LOG, {"settings": settings, **numbers, "perplexity": trainer.curve})
                write_text(folder / OPTIONS, json.dumps(to_builtins(self.options()), indent=1) + "\n")
                write_weights(folder / WEIGHTS, trainer.network.bilm)
                replace_texts_note(path, source)

        train_once(path, self, source, train_in)

    def options(self) -> Options:
        """The sizes of the network, with the clips and skip connections of the original."""
        lstm = Lstm(self.lstm_dim, self.projection_dim, 3.0, 3.0, self.n_layers, use_skip_connections=True)
        filters = tuple((width, number) for width, number in self.filters)
        embedding = Embedding(self.character_dim)
        return Options(lstm, CharCnn("relu", embedding, filters, MAX_CHARACTERS, n_characters=262, n_highway=1))


class ElmoTrainer(ResumableTraining):
    network: LanguageModel
    settings: ELMoTraining
    operation = "training ELMo"

    def __init__(self, corpus: Corpus, settings: ELMoTraining, folder: Path, device: torch.device) -> None:
        torch.manual_seed(settings.seed)
        bilm = BiLM(settings.options(), settings.dropout, TrainedLSTM)
        network = LanguageModel(bilm, corpus, settings.min_count, settings.negatives).to(device)
        optimizers = [
            torch.optim.Adam(bilm.parameters(), settings.learning_rate),
            torch.optim.SparseAdam(network.softmax.parameters(), settings.learning_rate),
        ]
        super().__init__(network, optimizers, settings, folder, len(corpus.lengths))
        self.corpus = corpus
        if not len(self.trained_parts):
            raise InputError("all lines of the texts are held out; add text, or set a smaller held_out=")
        make_epoch = partial(batches, corpus.lengths, self.trained_parts, settings.batch_tokens)
        epochs = (make_epoch([settings.seed, 1, number]) for number in range(settings.epochs))
        self.planned = list(islice(chain.from_iterable(epochs), settings.max_steps))
        self.steps = len(self.planned)

    def learning_rate(self) -> float:
        initial, final = self.settings.learning_rate, self.settings.final_learning_rate
        return initial + (final - initial) * self.step / self.steps

    def batches(self) -> Iterator[np.ndarray]:
        return iter(self.planned[self.step :])

    def loss_and_gradients(self, lines: np.ndarray) -> Tensor:
        sample = self.network.softmax.sample(np.random.default_rng([self.settings.seed, 2, self.step]))
        forward, backward = self.network.losses(lines, sample)
        loss: Tensor = (forward.mean() + backward.mean()) / 2
        loss.backward()
        nn.utils.clip_grad_norm_(self.network.bilm.parameters(), LARGEST_NORM)
        return loss

    def validate(self) -> tuple[dict[str, float], str]:
        """The perplexities on the held-out lines over all classes, including the unknown word."""
        sums, count = np.zeros(2), 0
        for lines in batches(self.corpus.lengths, self.held_out_parts, self.settings.batch_tokens, [0]):
            losses = self.network.losses(lines, None)
            sums += [float(loss.cpu().double().sum()) for loss in losses]
            count += len(losses[0])
        with np.errstate(over="ignore"):
            forward, backward = np.exp(sums / count)
        row = {"step": self.step, "forward": float(forward), "backward": float(backward)}
        return row, f"held-out perplexity {forward:.1f} forward, {backward:.1f} backward"


def write_weights(path: Path, model: BiLM) -> None:
    # In memory first: with a full disk, HDF5 would end the process by a segmentation fault.
    with h5py.File(path, "w", driver="core", backing_store=False) as file:
        for name, value in to_file(model).items():
            file[name] = value.cpu().numpy()
        file.flush()
        content = file.id.get_file_image()
    path.write_bytes(content)
