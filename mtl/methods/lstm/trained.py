"""Predict and encode new texts with a trained LSTM."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

import mtl
from mtl.config.schema import Config
from mtl.data.dataset import make_split
from mtl.data.examples import Row, make_example
from mtl.data.overlap import with_overlap
from mtl.data.spans import SpanPlacer
from mtl.data.text import TokenizedTexts, moses_version
from mtl.embedders import EMBEDDERS
from mtl.embedders.find import find_vectors
from mtl.embedders.kind import Embeddings, Reader, WordTable
from mtl.embedders.kind import LoadRequest as EmbedderRequest
from mtl.embedders.sequences import Sequences
from mtl.errors import InputError
from mtl.methods.folders import finetune_folder, pretrain_folder
from mtl.methods.heads import new_heads
from mtl.methods.kind import LoadRequest
from mtl.methods.lstm.encoded import ComputedOutputs, encoder_runs
from mtl.methods.lstm.network import new_encoder
from mtl.model.encoder import Encoder
from mtl.model.network import Network
from mtl.model.parts import EncoderParts
from mtl.progress import hidden_progress
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task
from mtl.training.batches import BatchDataset, SortedSampler, batch_rows, predict_rows, row_lengths
from mtl.training.checkpoints import WEIGHTS, fill, read_weights, weights_below
from mtl.training.precision import mixed_precision, used_precision


class TrainedLstm:
    """`mtl.methods.kind.Model` of the LSTM: the encoder and the heads of one seed."""

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
        table: Callable[[Sequence[str]], WordTable | None] = lambda words: None,
        trained_on: Sequence[str] = (),
        learn: Callable[[Sequence[str]], None] = lambda words: None,
    ) -> None:
        """folder: the seed's. encoder: from stage 1, on the device to compute on. sequences: turns tokenized texts, whose words may
        be new, into the encoder's input. embeddings: those that the embedder belongs to. answers: see `mtl.data.dataset.Dataset`.
        table: see `Reader.table`; needed for `parts` only. trained_on: ids of the tasks of stage 1. learn: see `Reader.learn`.
        """
        self.config = config
        self.language = language
        self.folder = folder
        self.encoder = encoder.eval()
        self.sequences = sequences
        self.embeddings = embeddings
        self.answers = answers
        self.table = table
        self.trained_on = trained_on
        self._learn_words = learn
        self.dim = encoder.output_size
        self.parameters_without_embeddings = sum(parameter.numel() for parameter in encoder.lstm.parameters())
        self.parameters = self.parameters_without_embeddings + embeddings.parameters()
        self._networks: dict[str, Network] = {}  # of the last task that was predicted

    def predict(self, task: Task, rows: Sequence[Row]) -> np.ndarray:
        """Predicted targets (rows,). rows: at least one. Raises ValueError for a row that is not one of this task."""
        head = task.answered_by or task.id
        kind, answers = target_kind(task), self.answers.get(head, [])
        examples = [make_example(task, row) for row in rows]
        texts = TokenizedTexts([text for row in examples for text in row.texts], self.language, self.config.max_length)
        raw = list(texts.index)
        split = replace(make_split(task, examples, texts.index), targets=np.full(len(rows), np.nan))
        if self.config.head.overlap and task.is_pair:
            split = with_overlap(split, raw)
        placer = SpanPlacer(texts, raw, self.language, self.config.max_length, self.config.boundary_words)
        split = placer.place(task, split)
        sequences = self.sequences(placer.texts())
        sizes = {head: batch_rows(split, self.config.finetune.batch_size)}
        order = SortedSampler({head: row_lengths(split, sequences.lengths.numpy())}, sizes)
        network = self._networks.get(head) or self._network(replace(task, id=head), kind.outputs(answers))
        self._networks = {head: network}
        device = self.encoder.device
        read = sequences if network.encoder else self._outputs(sequences)
        with mixed_precision(self.config.trainer, device):
            codes = predict_rows(network, BatchDataset({head: split}, read), order, device)
        return kind.decode(codes, answers)

    def learn(self, texts: Sequence[str]) -> None:
        """Look up the words of these texts at once."""
        with hidden_progress():
            self._learn_words(TokenizedTexts(texts, self.language, self.config.max_length).types)

    def encode(self, texts: Sequence[str], pooling: str = "max") -> np.ndarray:
        """Text vectors, float32 (texts, dim), the pooled outputs of the encoder of stage 1: all tasks share this encoder.

        dim: 2 * hidden_size, and the size of a word's vector more if `encoder.join_input` is set. pooling: see
        `mtl.model.encoder.POOLINGS`.
        """
        with hidden_progress():
            known = TokenizedTexts(texts, self.language, self.config.max_length)
        sequences = self.sequences(known.with_boundaries() if self.config.boundary_words else known)
        numbers = [known.index[text] for text in texts]
        with mixed_precision(self.config.trainer, self.encoder.device), hidden_progress():
            encoded = self.encoder.encode(sequences, torch.arange(len(known)), pooling=pooling)
        vectors: np.ndarray = encoded[numbers].numpy()
        return vectors

    def fingerprint(self) -> str:
        """A hash of the encoder's weights, of the word vectors, and of the settings that vectors depend on."""
        config, encoder = self.config, self.encoder
        precision = used_precision(config.trainer, encoder.device)
        settings = (self.language, config.max_length, config.boundary_words, config.encoder.join_input, precision)
        content = hashlib.sha256(repr((settings, self.embeddings.fingerprint())).encode())
        for name, weight in sorted(encoder.state_dict().items()):
            content.update(f"{name} {tuple(weight.shape)}".encode())
            content.update(weight.cpu().contiguous().numpy().data)
        return content.hexdigest()

    def versions(self) -> dict[str, str]:
        """Those of mtl and of the tokenizer."""
        return {"mtl": mtl.__version__, "tokenizer": moses_version()}

    def parts(self, words: Sequence[str]) -> EncoderParts:
        """The weights of the encoder of stage 1. Raises InputError if its embeddings have no fixed vector for each word."""
        table = self.table(words)
        if table is None:
            raise InputError(
                f"embeddings={self.config.embeddings.name}: a word's vector depends on its text, so other programs cannot look it up"
            )
        lstm = self.encoder.lstm
        return EncoderParts(
            words=table.words,
            vectors=table.vectors,
            lstm={name: weight.detach().float().cpu() for name, weight in lstm.state_dict().items()},
            hidden_size=lstm.hidden_size,
            num_layers=lstm.num_layers,
            join_input=self.encoder.join_input,
            language=self.language,
            max_length=self.config.max_length,
            boundary_words=self.config.boundary_words,
            all_words=table.grows,
        )

    def _outputs(self, sequences: Sequences) -> ComputedOutputs:
        """What stage 2 read of a frozen encoder: its token outputs, rounded as `finetune.token_outputs` says."""
        return ComputedOutputs(self.encoder, sequences, self.config.trainer, self.config.finetune.token_outputs)

    def _network(self, task: Task, outputs: int) -> Network:
        """The network of a task: its head, and its own encoder if stage 2 trained one; without an encoder if the head reads its outputs."""
        path = finetune_folder(self.folder, task.id) / WEIGHTS["best"]
        weights = read_weights(path)
        # Encoders that stage 2 trained differ by task, but they share the word vectors, including those of new words.
        own = weights_below(weights, "encoder.")
        encoder = self.encoder.for_task() if own else self.encoder
        fill(encoder, {**encoder.state_dict(), **own}, path)
        heads = new_heads(self.config, [task], {task.id: outputs}, encoder.output_size)
        fill(heads, weights_below(weights, "heads."), path)
        reads_outputs = heads[task.id].reads_tokens and not encoder_runs(self.config)
        return Network([task], heads, None if reads_outputs else encoder).to(self.encoder.device)


def load_trained(request: LoadRequest) -> TrainedLstm:
    """The encoder and the heads of a seed. Raises InputError if a file is missing or damaged, and for `task`."""
    config = request.config
    if request.task is not None:
        raise InputError(
            f"task={request.task}: texts are encoded by the encoder of stage 1, which all tasks share; drop it"
        )
    checkpoint = pretrain_folder(request.seed_folder) / WEIGHTS[config.pretrain.checkpoint]
    weights = weights_below(read_weights(checkpoint), "encoder.")
    reader = EMBEDDERS[config.embeddings.name].load(
        EmbedderRequest(
            config.embeddings,
            request.folder,
            weights_below(weights, "embedder."),
            request.inputs["embeddings"],
            find_vectors(config, request.suite)[0],
            request.device,
        )
    )
    encoder = new_encoder(config, reader.embedder, reader.dim)
    fill(encoder, weights, checkpoint)
    return TrainedLstm(
        config,
        request.suite.language,
        request.seed_folder,
        encoder.to(request.device),
        reader.sequences,
        reader,
        request.answers,
        reader.table,
        request.trained_tasks,
        reader.learn,
    )
