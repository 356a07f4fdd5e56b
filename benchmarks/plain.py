"""Stage 1 as one writes it first: a Lightning module, torch's packed LSTM, random batches. The benchmarks compare with it."""

import time
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader

from mtl.base.settings.schema import Config
from mtl.methods.lstm.stage1 import new_network
from mtl.methods.lstm.two_stages import TwoStages
from mtl.model.encoder import Encoder, max_pool
from mtl.model.heads import Head
from mtl.model.network import Network
from mtl.training.module import TaskScore

# A task's id, row numbers, token ids (sides * rows, time), lengths and targets.
PlainBatch = tuple[str, Tensor, Tensor, Tensor, Tensor]


class PlainEncoder(nn.Module):
    """Embedding, torch's packed LSTM and max pooling, of the same sizes and dropouts as ours."""

    def __init__(self, ours: Encoder) -> None:
        super().__init__()
        lstm = ours.lstm
        vectors = ours.state_dict()["embedder.table.weight"]
        self.table = nn.Embedding.from_pretrained(vectors.clone(), freeze=False, padding_idx=0)
        self.lstm = nn.LSTM(lstm.input_size, lstm.hidden_size, lstm.num_layers, bidirectional=True, batch_first=True)
        self.before, self.after = ours.embedding_dropout, ours.dropout

    def outputs(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        packed = pack_padded_sequence(self.before(self.table(tokens)), lengths, batch_first=True, enforce_sorted=False)
        return self.after(pad_packed_sequence(self.lstm(packed)[0], batch_first=True)[0])


class Plain(pl.LightningModule):
    """The loop that one writes first."""

    def __init__(self, config: Config, ours: Network, scores: Mapping[str, TaskScore]) -> None:
        super().__init__()
        assert ours.encoder is not None
        self.head_targets, self.heads, self.encoder = ours.head_targets, ours.heads, PlainEncoder(ours.encoder)
        self.config, self.scores = config, dict(scores)
        self.begun = time.monotonic()
        self.curve: list[dict[str, float]] = []

    def outputs(self, batch: PlainBatch) -> Tensor:
        task, _, tokens, lengths, _ = batch
        head = self.heads[task]
        assert isinstance(head, Head)
        return head(max_pool(self.encoder.outputs(tokens, lengths), lengths))

    def training_step(self, batch: PlainBatch, batch_idx: int) -> Tensor:
        return self.head_targets[batch[0]].loss(self.outputs(batch), batch[-1], None)

    def on_validation_epoch_start(self) -> None:
        for metric in self.scores.values():
            metric.reset()

    def validation_step(self, batch: PlainBatch, batch_idx: int) -> None:
        task, rows, *_ = batch
        outputs = self.outputs(batch)
        self.scores[task].update(self.head_targets[task].predict(outputs, None), rows, outputs.isfinite().all())

    def on_validation_epoch_end(self) -> None:
        found = {task: float(metric.compute()) for task, metric in self.scores.items()}
        self.curve.append({"step": self.global_step, "seconds": time.monotonic() - self.begun, **found})

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.parameters(), self.config.pretrain.learning_rate, amsgrad=True)


def plain(config: Config, method: TwoStages, folder: Path, minutes: float | None = None) -> list[dict[str, float]]:
    """Train as stage 1 does. Return step, seconds and dev scores (× 100, by task id) of each validation.

    minutes: where training ends, with one more validation; None: after the configuration's steps.
    """
    network = new_network(config, method.dataset.tasks, method.data.outputs, method.embeddings, 1)
    loaders = {split: batches(config, method, split) for split in ("train", "dev")}
    module = Plain(config, network, {task.id: method.data.dev_score(task) for task in method.dataset.tasks})
    trainer = pl.Trainer(
        accelerator="cpu",
        max_steps=config.pretrain.max_steps,
        max_time=None if minutes is None else timedelta(minutes=minutes),
        val_check_interval=min(config.pretrain.validate_every, config.pretrain.max_steps),
        gradient_clip_val=config.pretrain.gradient_clip,
        num_sanity_val_steps=0,
        default_root_dir=folder,
        enable_progress_bar=False,
        enable_model_summary=False,
        enable_checkpointing=False,
        logger=False,
    )
    trainer.fit(module, loaders["train"], loaders["dev"])
    if minutes is not None:
        trainer.validate(module, loaders["dev"], verbose=False)
    return module.curve


def batches(config: Config, method: TwoStages, split: str) -> DataLoader[Any]:
    """Batches of one task each: of train as many as steps, tasks in proportion to their rows; of dev all, in their order."""
    size = config.pretrain.batch_size
    parts = {id: splits[split] for id, splits in method.data.splits.items()}
    chance = np.random.default_rng(1)
    chosen = []
    if split == "train":
        rows = np.array([len(part) for part in parts.values()])
        for _ in range(config.pretrain.max_steps):
            task = str(chance.choice(list(parts), p=rows / rows.sum()))
            chosen.append((task, chance.choice(len(parts[task]), size)))
    else:
        for task, part in parts.items():
            chosen += [(task, np.arange(i, min(i + size, len(part)))) for i in range(0, len(part), size)]

    def collate(drawn: list[tuple[str, np.ndarray]]) -> PlainBatch:
        task, places = drawn[0]
        texts = [int(text) for text in parts[task].texts[places].T.reshape(-1)]
        tokens = [method.sequences.gather(torch.tensor([text]))[0][0] for text in texts]
        lengths = torch.tensor([len(text) for text in tokens])
        targets = torch.tensor(parts[task].targets[places], dtype=torch.float32)
        return task, torch.from_numpy(places), pad_sequence(tokens, batch_first=True), lengths, targets

    return DataLoader(chosen, batch_size=1, collate_fn=collate)  # type: ignore[arg-type]
