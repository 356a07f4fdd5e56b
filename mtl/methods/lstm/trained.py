"""A trained LSTM: its network, its outputs for the heads of stage 2, and its predictions and vectors of new texts."""

import hashlib
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from mtl.base.device import device_of
from mtl.base.errors import InputError
from mtl.base.files import check_space, reserve
from mtl.base.progress import Remark, hidden_progress, show
from mtl.base.settings.schema import Config, TrainerConfig
from mtl.base.version import VERSION
from mtl.base.wording import format_bytes
from mtl.data.dataset import Dataset, Split
from mtl.data.examples import Row
from mtl.data.spans import SpanPlacer
from mtl.data.text import TokenizedTexts, moses_version
from mtl.embedders import EMBEDDERS
from mtl.embedders.find import find_vectors
from mtl.embedders.interface import Embeddings, Reader, RunReaderRequest
from mtl.methods.heads import TaskInput, check_size, new_heads
from mtl.methods.method import LoadRequest
from mtl.methods.trained import TrainedNetworks
from mtl.model.encoder import Encoder
from mtl.model.lstm import BiLSTM
from mtl.model.network import Heads, Network
from mtl.model.sequences import ArraySequences, Sequences
from mtl.runs.folder import finetune_folder, pretrain_folder
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task
from mtl.training.checkpoints import WEIGHTS, fill, read_weights, update_with_weights, weights_below
from mtl.training.precision import mixed_precision, used_precision

if TYPE_CHECKING:
    from mtl.methods.floors.kept import TrainedFloor

TRAINED = 4  # numbers for a weight in training: itself, its gradient, and Adam's two moments


def new_network(
    config: Config, tasks: Sequence[Task], outputs: Mapping[str, int], embeddings: Embeddings, seed: int
) -> Network:
    """The network before training, the same for the same seed; `outputs` are those of heads for one input, by task id. Raises InputError for a
    network that cannot be trained in this machine's memory."""
    table = embeddings.parameters() * (TRAINED if getattr(config.embeddings, "trainable", False) else 1)
    check_size(lambda: new_encoder(config, nn.Identity(), embeddings.dim), TRAINED, table)
    torch.manual_seed(seed)
    encoder = new_encoder(config, embeddings.embedder(), embeddings.dim)
    return Network(tasks, new_heads(config, tasks, outputs, encoder.output_size), encoder)


def new_encoder(config: Config, embedder: Any, dim: int) -> Encoder:
    """The encoder that the configuration describes, for vectors of the size `dim`. Raises InputError if this machine's memory does not hold it."""
    encoder = config.encoder
    sizes, dropouts = (encoder.hidden_size, encoder.num_layers), (config.embeddings.dropout, encoder.dropout)
    check_size(lambda: BiLSTM(dim, *sizes))
    return Encoder(embedder, dim, *sizes, *dropouts, encoder.join_input)


class ComputedOutputs:
    """The token outputs of a frozen encoder for new texts, without dropout, computed each time they are read. They are those that `encode_once` would
    keep, except for the rounding of sums. No network holds this encoder, so that training a head further does not turn its dropout on."""

    def __init__(self, encoder: Encoder, sequences: Sequences, trainer: TrainerConfig, kept: str) -> None:
        """For `finetune.token_outputs=float16`, outputs are rounded as they would be on disk."""
        self.encoder, self.trainer = encoder, trainer
        self.dtype = torch.float16 if kept == "float16" else torch.float32
        self.sequences, self.lengths = sequences, sequences.lengths

    @torch.no_grad()
    def gather(self, texts: Tensor) -> tuple[Tensor, Tensor]:
        """Text indices (batch,) -> outputs, float32 (batch, time, output_size) on the encoder's device, and lengths in tokens (batch,)."""
        device = self.encoder.device
        tokens, lengths = self.sequences.gather(texts)
        self.encoder.eval()
        with mixed_precision(self.trainer, device):  # a loader gathers batches outside the precision of the training
            return self.encoder.outputs(tokens.to(device), lengths).to(self.dtype).float(), lengths


def encode_once(
    config: Config, dataset: Dataset, sequences: Sequences, network: Network, seed: int, folder: Path
) -> dict[bool, TaskInput]:
    """The frozen encoder's output for the texts of all tasks, as heads read it: those that read tokens (True), and those that read vectors. Token
    outputs are in an unnamed temporary file on the disk of this folder while they are used. Raises InputError if the disk has too little space."""
    encoder, heads = network.encoder, network.heads
    assert encoder is not None
    encoder.to(device_of(config.trainer.accelerator))
    vectors = tokens = None
    pooled = _texts(dataset, [task for task in dataset.tasks if not reads_tokens(heads, task)])
    if len(pooled):
        vectors = torch.zeros(len(dataset.texts), encoder.output_size)
        vectors[pooled] = encoder.encode(sequences, pooled, title=f"seed {seed} · encoding texts")
    read = _texts(dataset, [task for task in dataset.tasks if reads_tokens(heads, task)])
    if len(read):
        tokens = _token_outputs(config, encoder, sequences, read, seed, folder)
    return {True: TaskInput(tokens), False: TaskInput(vectors=vectors)}


def reads_tokens(heads: Heads, task: Task) -> bool:
    """Whether the head that answers a task reads tokens, not vectors of whole texts."""
    return heads[task.answered_by or task.id].reads_tokens


def _token_outputs(
    config: Config, encoder: Encoder, sequences: Sequences, texts: Tensor, seed: int, folder: Path
) -> Sequences:
    """The encoder's token outputs for these texts, as `finetune.token_outputs` says. Raises InputError if the disk has too little space for them."""
    lengths = sequences.lengths[texts].numpy()
    shape, dtype = (int(lengths.sum()), encoder.output_size), np.dtype(config.finetune.token_outputs)
    size = dtype.itemsize * shape[0] * shape[1]
    check_space(folder, size, "set finetune.token_outputs=float16, or run_dir= on another disk")
    # The file's name is removed when the block ends; its content exists as long as the array.
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".", suffix=".partial") as file:
        rows = np.memmap(file, dtype=dtype, mode="w+", shape=shape)
        reserve(Path(file.name))
    show(Remark(f"stage 2 keeps the encoder's outputs for {shape[0]} tokens on disk: {format_bytes(size)}"))
    encoder.encode_tokens(sequences, texts, rows, title=f"seed {seed} · encoding tokens")
    starts = np.zeros(len(sequences.lengths), dtype=np.int64)
    starts[texts.numpy()] = np.cumsum(lengths) - lengths
    return ArraySequences(rows, starts, sequences.lengths.numpy())


def _texts(dataset: Dataset, tasks: Sequence[Task]) -> Tensor:
    """The texts of these tasks, int64 (texts,), ascending."""
    parts = [part for task in tasks for part in dataset.splits[task.id].values()]
    rows = [part.texts.ravel() for part in parts]
    return torch.from_numpy(np.unique(np.concatenate([np.empty(0, dtype=np.int64), *rows])))


class TrainedLstm(TrainedNetworks):
    """`mtl.methods.method.Model` of the LSTM: the encoder and the heads of one seed."""

    pooling = "max"  # as in training

    def __init__(
        self,
        config: Config,
        language: str,
        folder: Path,
        encoder: Encoder,
        sequences: Callable[[TokenizedTexts], Sequences],
        embeddings: Embeddings | Reader,
        answers: Mapping[str, Sequence[str]],
        trained_on: Sequence[str] = (),
        linear: "TrainedFloor | None" = None,
        reader: Reader | None = None,
    ) -> None:
        """
        Args:
            encoder: from stage 1, on the device to compute on.
            sequences: turns tokenized texts, whose words may be new, into the encoder's input.
            linear: the linear models that heads add their outputs to.
            reader: the embeddings of a finished run; None while it is trained.
        """
        super().__init__(config, encoder.device, config.finetune.batch_size, self._open, answers)
        self.language, self.folder = language, folder
        self.encoder = encoder.eval()
        self.sequences, self.embeddings = sequences, embeddings
        self.trained_on, self.linear, self.reader = trained_on, linear, reader
        self.dim = encoder.output_size
        self.parameters_without_embeddings = sum(parameter.numel() for parameter in encoder.lstm.parameters())
        self.parameters = self.parameters_without_embeddings + embeddings.parameters()

    def read(self, task: Task, rows: Sequence[Row], split: Split, texts: list[str]) -> tuple[Split, TaskInput]:
        config, head = self.config, task.answered_by or task.id
        tokenized = TokenizedTexts(texts, self.language, config.max_length)
        if self.linear is not None and head in self.linear.kept:
            split = replace(split, base=self.linear.outputs(task, rows))
        placer = SpanPlacer(tokenized, texts, self.language, config.max_length, config.boundary_words)
        split = placer.place(task, split)
        sequences = self.sequences(placer.texts())
        network = self.network(task)
        assert isinstance(network, Network)
        if network.encoder is None:  # what stage 2 read: token outputs, rounded as `finetune.token_outputs` says
            sequences = ComputedOutputs(self.encoder, sequences, config.trainer, config.finetune.token_outputs)
        return split, TaskInput(sequences, encoder=network.encoder)

    def encode(self, texts: Sequence[str], pooling: str = "max") -> np.ndarray:
        """Text vectors, float32 (texts, dim), the pooled outputs of the encoder of stage 1, which all tasks share."""
        with hidden_progress():
            tokenized = TokenizedTexts(texts, self.language, self.config.max_length)
        sequences = self.sequences(tokenized.with_boundaries() if self.config.boundary_words else tokenized)
        numbers = [tokenized.index[text] for text in texts]
        with mixed_precision(self.config.trainer, self.encoder.device), hidden_progress():
            encoded = self.encoder.encode(sequences, torch.arange(len(tokenized)), pooling=pooling)
        return encoded[numbers].numpy()

    def fingerprint(self) -> str:
        """A hash of the encoder's weights, of the word vectors, and of the settings that vectors depend on."""
        config, encoder = self.config, self.encoder
        precision = used_precision(config.trainer, encoder.device)
        settings = (self.language, config.max_length, config.boundary_words, config.encoder.join_input, precision)
        content = hashlib.sha256(repr((settings, self.embeddings.fingerprint())).encode())
        update_with_weights(content, encoder.state_dict())
        return content.hexdigest()

    def versions(self) -> dict[str, str]:
        return {"mtl": VERSION, "tokenizer": moses_version()}

    def _open(self, task: Task) -> Network:
        """The network of a task: its head, and its own encoder if stage 2 trained one; without an encoder if the head reads its outputs."""
        path = finetune_folder(self.folder, task.id) / WEIGHTS["best"]
        weights = read_weights(path)
        # Encoders that stage 2 trained differ by task, but they share the word vectors, including those of new words.
        tuned = weights_below(weights, "encoder.")
        encoder = self.encoder.for_task() if tuned else self.encoder
        fill(encoder, {**encoder.state_dict(), **tuned}, path)
        outputs = target_kind(task).head.outputs(self.answers.get(task.id, []))
        heads = new_heads(self.config, [task], {task.id: outputs}, encoder.output_size)
        fill(heads, weights_below(weights, "heads."), path)
        reads_outputs = heads[task.id].reads_tokens and not self.config.finetune.train_encoder
        return Network([task], heads, None if reads_outputs else encoder).to(self.device)


def load_trained(request: LoadRequest) -> TrainedLstm:
    """The encoder and the heads of a seed. Raises InputError if a file is missing or damaged, and for `task`."""
    config = request.config
    if request.task is not None:
        message = "texts are encoded by the encoder of stage 1, which all tasks share; drop it"
        raise InputError(message, key="task", value=request.task)
    name = config.embeddings.name
    EMBEDDERS[name].check_installed(name)
    checkpoint = pretrain_folder(request.seed_folder) / WEIGHTS["best"]
    weights = weights_below(read_weights(checkpoint), "encoder.")
    vectors = find_vectors(config, request.suite)
    path, fingerprint = None if vectors is None else vectors.path, request.inputs["embeddings"]
    learned = weights_below(weights, "embedder.")
    described = RunReaderRequest(config.embeddings, request.folder, learned, fingerprint, path, request.device)
    reader = EMBEDDERS[name].load(described)
    encoder = new_encoder(config, reader.embedder, reader.dim)
    fill(encoder, weights, checkpoint)
    linear = None
    if config.head.linear:
        from mtl.methods.lstm.linear import load_linear  # importing scikit-learn takes a second

        linear = load_linear(request)
    return TrainedLstm(
        *(config, request.suite.language, request.seed_folder, encoder.to(request.device), reader.sequences, reader),
        *(request.answers, request.trained_tasks, linear, reader),
    )
