"""Transformers in use: the vectors of texts, pooled over the tokens of the last layer, and the predictions of fine-tuned ones."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mtl.base.errors import InputError
from mtl.base.extras import library_versions
from mtl.base.progress import Progress, hidden_progress
from mtl.base.settings.schema import Config, TrainerConfig
from mtl.base.version import VERSION
from mtl.data.dataset import Split
from mtl.data.examples import Row
from mtl.methods.method import Answers, LoadRequest
from mtl.methods.networks import NetworkOf, TaskInput, TrainedNetworks
from mtl.methods.transformer.inputs import InputReader, Parts, longest_input, with_inputs
from mtl.methods.transformer.network import TransformerNetwork, body_input
from mtl.methods.transformer.opening import check_runs, open_without_weights
from mtl.methods.transformer.pretrained import Pretrained
from mtl.model.encoder import POOLINGS, batches_by_length
from mtl.model.sequences import ArraySequences
from mtl.runs.folder import finetune_folder
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task
from mtl.training.checkpoints import WEIGHTS_FILES, read_weights, set_weights, update_hash, weights_of_part
from mtl.training.precision import mixed_precision, used_precision

ONLY_MODEL = "models.0."  # before the names of weights in a task's file: its `TransformerNetwork` has one model alone


@torch.no_grad()
def encode_texts(body: Any, pretrained: Pretrained, sequences: ArraySequences, pooling: str) -> Tensor:
    """The vectors of all sequences, float32 on the CPU (texts, dim), pooled over all tokens with those around a text, as in sentence-transformers."""
    body.eval()
    device = next(body.parameters()).device
    vectors = torch.empty(len(sequences.lengths), pretrained.dim)
    with Progress("encoding texts", len(sequences.lengths), "texts") as bar:
        for indices in batches_by_length(sequences.lengths):
            tokens, lengths = sequences.gather(indices)
            states = body(**body_input(pretrained, tokens.to(device), lengths)).last_hidden_state.float()
            vectors[indices] = POOLINGS[pooling](states, lengths).cpu()
            bar.advance(len(indices))
    return vectors


@dataclass(eq=False)
class TransformerEncoder:
    """A transformer's body in use, which encodes texts: `mtl.methods.method.Model` without predictions."""

    pretrained: Pretrained  # its tokenizer and its sizes
    max_length: int
    trainer: TrainerConfig
    device: torch.device
    open_body: Callable[[], Any]  # returns the body that encodes texts, with its weights
    trained_on: Sequence[str] = ()
    pooling = "mean"

    def __post_init__(self) -> None:
        self.length = longest_input(self.max_length, self.pretrained)
        self.dim, self.parameters = self.pretrained.dim, self.pretrained.parameters
        self.parameters_without_embeddings = self.pretrained.parameters_without_embeddings

    @cached_property
    def body(self) -> Any:
        """The model that encodes texts, on the device to compute on."""
        return self.open_body().to(self.device).eval()

    def encode(self, texts: Sequence[str], pooling: str) -> np.ndarray:
        """Text vectors, float32 (texts, dim): the body's last layer, pooled over all tokens, with those that stand around a text."""
        index = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        with hidden_progress(), mixed_precision(self.trainer, self.device):
            sequences = InputReader(self.pretrained, self.length).sequences([(text,) for text in index])
            vectors = encode_texts(self.body, self.pretrained, sequences, pooling)
        return vectors[[index[text] for text in texts]].numpy()

    def fingerprint(self) -> str:
        """A hash of the body's weights, of its configuration and tokenizer, and of the settings that vectors depend on."""
        precision = used_precision(self.trainer, self.device)
        content = hashlib.sha256(repr((self.length, precision, self.pretrained.form())).encode())
        update_hash(content, self.body.state_dict())
        return content.hexdigest()

    def versions(self) -> dict[str, str]:
        return {"mtl": VERSION, **library_versions()}


class HeadsOnBody(TrainedNetworks):
    """A transformer in use whose heads predict: all of `mtl.methods.method.Model`. What concerns the vectors of texts is that of the encoder."""

    def __init__(self, config: Config, encoder: TransformerEncoder, network: NetworkOf, answers: Answers) -> None:
        """`network` returns the network with a task's head, with its weights."""
        size = config.transformer.rows_at_once if config.finetune.train_encoder else config.finetune.batch_size
        super().__init__(config, encoder.device, size, lambda task: network(task).to(encoder.device), answers)
        self.encoder, self.pretrained, self.pooling = encoder, encoder.pretrained, encoder.pooling
        self.dim, self.parameters, self.trained_on = encoder.dim, encoder.parameters, encoder.trained_on
        self.parameters_without_embeddings = encoder.parameters_without_embeddings
        self.encode, self.fingerprint, self.versions = encoder.encode, encoder.fingerprint, encoder.versions


class TrainedTransformer(HeadsOnBody):
    """`mtl.methods.method.Model` of a fine-tuned transformer."""

    def outputs(self, task: Task, rows: Sequence[Row]) -> np.ndarray:
        """The head's outputs, float32 (inputs, outputs); of numbers, on the scale 0 … 1. Arguments and errors: as in `predict`."""
        return self.network(task).head_targets[task.answered_by or task.id].standard(super().outputs(task, rows))

    def read(self, task: Task, rows: Sequence[Row], split: Split, texts: list[str]) -> tuple[Split, TaskInput]:
        index: dict[Parts, int] = {}
        split = with_inputs(task, split, texts, index)
        with hidden_progress():
            sequences = InputReader(self.encoder.pretrained, self.encoder.length).sequences(list(index))
        return split, TaskInput(sequences)


def load_trained(request: LoadRequest) -> TrainedTransformer:
    """The models of a seed. Raises InputError if the run did not keep its weights."""
    config = request.config
    pretrained = open_without_weights(model_folder(request.folder))
    file = WEIGHTS_FILES[config.transformer.checkpoint]
    possible_paths = {id: finetune_folder(request.seed_folder, id) / file for id in request.suite.tasks}
    paths = {id: path for id, path in possible_paths.items() if path.exists()}
    if not paths:
        message = "the weights of its models were not kept; make the run again with transformer.keep=true and another run_dir="
        raise InputError(message, path=request.folder)
    models = _TunedModels(request, pretrained, paths)
    seen = tasks_seen(request, list(paths) if request.task is None else [request.task])
    encoder = TransformerEncoder(pretrained, config.max_length, config.trainer, request.device, models.body, seen)
    return TrainedTransformer(config, encoder, models.network, request.answers)


@dataclass(frozen=True)
class _TunedModels:
    """The fine-tuned models of a seed, each of which is read when it is needed."""

    request: LoadRequest
    pretrained: Pretrained  # without weights
    paths: Mapping[str, Path]  # the file of each task's weights, by the task's id

    def body(self) -> Any:
        """The body that encodes texts: that of `LoadRequest.task`, or of the only task. Raises InputError if there is no such body."""
        task, trained = self.request.task, ", ".join(self.paths)
        if task is None and len(self.paths) > 1:
            raise InputError(f"in this run each task has its own encoder; set task= to one of {trained}", key="task")
        if task is not None and task not in self.paths:
            raise InputError(f"has no weights in this run; it has {trained}", key="task", value=task)
        path = self.paths[task or next(iter(self.paths))]
        model = self.pretrained.classifier(1)  # with a head of one output, which is left out
        weights = weights_of_part(read_weights(path), f"{ONLY_MODEL}{model.base_model_prefix}.")
        set_weights(model.base_model, weights, path)
        check_runs(self.pretrained, model.base_model.eval())
        return model.base_model

    def network(self, task: Task) -> TransformerNetwork:
        """The network that predicts a task. All its weights are read from a file, so its seed does not matter."""
        config, device, path = self.request.config, self.request.device, self.paths[task.id]
        outputs = {task.id: target_kind(task).head.outputs(self.request.answers.get(task.id, []))}
        settings = replace(config.transformer, gradient_checkpointing=False)  # prediction needs no gradients
        network = TransformerNetwork(
            self.pretrained, [task], outputs, seed=0, trainer=config.trainer, device=device, settings=settings
        )
        set_weights(network, read_weights(path), path)
        check_runs(self.pretrained, network.models[0].eval())
        return network


def tasks_seen(request: LoadRequest, trained_on: Sequence[str]) -> list[str]:
    """The ids of the tasks whose training rows the body has seen: `trained_on`; of the tiny one all of the suite's, whose texts pre-trained it."""
    if request.config.transformer.path is not None:
        return list(trained_on)
    return [id for id, task in request.suite.tasks.items() if task.files.get("train") is not None]


def model_folder(folder: Path) -> Path:
    """Where a run in this folder keeps the transformer's configuration and tokenizer."""
    return folder / "transformer"
