"""A trained LSTM in use: predictions for new rows, and vectors of texts."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from mtl.base.errors import InputError
from mtl.base.progress import hidden_progress
from mtl.base.settings.schema import Config
from mtl.base.version import VERSION
from mtl.data.dataset import Split
from mtl.data.examples import Row
from mtl.data.spans import SpanPlacer
from mtl.data.text import TokenizedTexts, moses_version
from mtl.embedders import EMBEDDERS
from mtl.embedders.find import find_vectors
from mtl.embedders.interface import Embeddings, Reader, RunReaderRequest
from mtl.methods.heads import check_size, load_heads
from mtl.methods.lstm.outputs import ComputedOutputs
from mtl.methods.method import Answers, LoadRequest
from mtl.methods.networks import TaskInput, TrainedNetworks
from mtl.model.encoder import Encoder
from mtl.model.lstm import BiLSTM
from mtl.model.network import Network
from mtl.model.sequences import Sequences
from mtl.runs.folder import finetune_folder, pretrain_folder
from mtl.tasks.task import Task
from mtl.training.checkpoints import WEIGHTS_FILES, read_weights, set_weights, update_hash, weights_of_part
from mtl.training.precision import mixed_precision, used_precision

if TYPE_CHECKING:
    from mtl.methods.floors.trained import TrainedFloor


def new_encoder(config: Config, embedder: Any, dim: int) -> Encoder:
    """The encoder that the configuration describes, for vectors of the size `dim`. Raises InputError if this machine's memory does not hold it."""
    settings, input_dropout = config.encoder, config.embeddings.dropout
    size, layers = settings.hidden_size, settings.num_layers
    check_size(lambda: BiLSTM(dim, size, layers))
    return Encoder(embedder, dim, size, layers, input_dropout, settings.dropout, settings.join_input)


@dataclass(eq=False)
class TrainedLstm(TrainedNetworks):
    """`mtl.methods.method.Model` of the LSTM: the encoder and the heads of one seed."""

    config: Config
    language: str
    folder: Path
    encoder: Encoder  # that of stage 1, on the device to compute on
    to_sequences: Callable[[TokenizedTexts], Sequences]  # turns texts, whose words may be new, into the encoder's input
    embeddings: Embeddings | Reader  # of a run in training, or of a finished one
    answers: Answers
    trained_on: Sequence[str] = ()
    linear: "TrainedFloor | None" = None  # the models that heads add their outputs to
    pooling = "max"  # as in training

    def __post_init__(self) -> None:
        super().__init__(self.config, self.encoder.device, self.config.finetune.batch_size, self._open, self.answers)
        self.encoder.eval()
        self.dim = self.encoder.output_size
        self.parameters_without_embeddings = sum(weight.numel() for weight in self.encoder.lstm.parameters())
        self.parameters = self.parameters_without_embeddings + self.embeddings.parameters()

    def read(self, task: Task, rows: Sequence[Row], split: Split, texts: list[str]) -> tuple[Split, TaskInput]:
        config, head = self.config, task.answered_by or task.id
        tokenized = TokenizedTexts.tokenize(texts, self.language, config.max_length)
        if self.linear is not None and head in self.linear.models:
            split = replace(split, base=self.linear.outputs(task, rows))
        placer = SpanPlacer(tokenized, texts, self.language, config.max_length, config.boundary_words)
        split = placer.place(task, split)
        sequences = self.to_sequences(placer.texts())
        network = self.network(task)
        assert isinstance(network, Network)
        if network.encoder is None:  # what stage 2 read: token outputs, rounded as `finetune.token_outputs` says
            sequences = ComputedOutputs(self.encoder, sequences, config.trainer, config.finetune.token_outputs)
        return split, TaskInput(sequences, encoder=network.encoder)

    def encode(self, texts: Sequence[str], pooling: str = "max") -> np.ndarray:
        """Text vectors, float32 (texts, dim), the pooled outputs of the encoder of stage 1, which all tasks share."""
        with hidden_progress():
            tokenized = TokenizedTexts.tokenize(texts, self.language, self.config.max_length)
        sequences = self.to_sequences(tokenized.with_boundaries() if self.config.boundary_words else tokenized)
        with mixed_precision(self.config.trainer, self.encoder.device), hidden_progress():
            encoded = self.encoder.encode(sequences, torch.arange(len(tokenized)), pooling=pooling)
        return encoded[[tokenized.index[text] for text in texts]].numpy()

    def fingerprint(self) -> str:
        """A hash of the encoder's weights, of the word vectors, and of the settings that vectors depend on."""
        config, encoder = self.config, self.encoder
        precision = used_precision(config.trainer, encoder.device)
        settings = (self.language, config.max_length, config.boundary_words, config.encoder.join_input, precision)
        content = hashlib.sha256(repr((settings, self.embeddings.fingerprint())).encode())
        update_hash(content, encoder.state_dict())
        return content.hexdigest()

    def versions(self) -> dict[str, str]:
        return {"mtl": VERSION, "tokenizer": moses_version()}

    def _open(self, task: Task) -> Network:
        """The network of a task: its head, and its own encoder if stage 2 trained one; without an encoder if the head reads its outputs."""
        path = finetune_folder(self.folder, task.id) / WEIGHTS_FILES["best"]
        weights = read_weights(path)
        # Encoders that stage 2 trained differ by task, but they share the word vectors, including those of new words.
        trained = weights_of_part(weights, "encoder.")
        encoder = self.encoder.for_task() if trained else self.encoder
        set_weights(encoder, {**encoder.state_dict(), **trained}, path)
        heads = load_heads(self.config, [task], self.answers, encoder.output_size, weights, path)
        reads_outputs = heads[task.id].reads_tokens and not self.config.finetune.train_encoder
        return Network([task], heads, None if reads_outputs else encoder).to(self.device)


def load_trained(request: LoadRequest) -> TrainedLstm:
    """The encoder and the heads of a seed. Raises InputError if a file is missing or damaged, and for `task`."""
    config, folder = request.config, request.seed_folder
    if request.task is not None:
        message = "texts are encoded by the encoder of stage 1, which all tasks share; drop it"
        raise InputError(message, key="task", value=request.task)
    name = config.embeddings.name
    EMBEDDERS[name].check_installed(name)
    checkpoint = pretrain_folder(folder) / WEIGHTS_FILES["best"]
    weights = weights_of_part(read_weights(checkpoint), "encoder.")
    vectors = find_vectors(config, request.suite)
    path = None if vectors is None else vectors.path
    learned, fingerprint = weights_of_part(weights, "embedder."), request.inputs["embeddings"]
    described = RunReaderRequest(config.embeddings, request.folder, learned, fingerprint, path, request.device)
    reader = EMBEDDERS[name].load(described)
    encoder = new_encoder(config, reader.embedder, reader.dim)
    set_weights(encoder, weights, checkpoint)
    linear = None
    if config.head.linear:
        from mtl.methods.lstm.linear import load_linear  # importing scikit-learn takes a second

        linear = load_linear(request)
    language, trained_on = request.suite.language, request.trained_tasks
    encoder.to(request.device)
    return TrainedLstm(config, language, folder, encoder, reader.sequences, reader, request.answers, trained_on, linear)
