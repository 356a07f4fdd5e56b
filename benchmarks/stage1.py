"""Compare stage 1 with a plain Lightning loop, and measure the share of time of its parts.

    python benchmarks/stage1.py --data data/klej --hidden 256 --steps 60

The plain loop has the same network, tasks, optimizer, steps and validations, in the most obvious implementation: a collate
function pads lists of word ids, rows come in random order, and torch's packed LSTM computes the encoder. Both run in one
process, in turn. For our loop, the script prints the share of training steps (forward, backward, clipping, optimizer), of
validation, and of the rest. Without --data, it runs on the embedded sample.
"""

import argparse
import logging
import tempfile
import time
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from jobs import prepare_lstm
from timing import ratio, seconds
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader

from mtl.config.schema import Config
from mtl.methods.lstm import stage1
from mtl.methods.lstm.two_stages import TwoStages
from mtl.model.batch import Batch
from mtl.model.encoder import Encoder, max_pool
from mtl.model.network import Network
from mtl.training.module import MultitaskModule

spent: dict[str, float] = {}  # seconds by part of our loop


class Timed(MultitaskModule):
    """Our module. It adds the seconds of its parts to `spent`."""

    def optimizer_step(self, *arguments: Any, **named: Any) -> None:
        start = time.perf_counter()
        super().optimizer_step(*arguments, **named)
        spent["training steps"] = spent.get("training steps", 0) + time.perf_counter() - start

    def validation_step(self, batch: Batch, batch_idx: int) -> None:
        start = time.perf_counter()
        super().validation_step(batch, batch_idx)
        spent["validation"] = spent.get("validation", 0) + time.perf_counter() - start


class PlainEncoder(nn.Module):
    """Embedding, torch's packed LSTM and max pooling, of the same sizes and dropouts as ours."""

    def __init__(self, ours: Encoder) -> None:
        super().__init__()
        lstm = ours.lstm
        words, dim = ours.state_dict()["embedder.table.weight"].shape
        self.table = nn.Embedding(words, dim, padding_idx=0)
        self.lstm = nn.LSTM(lstm.input_size, lstm.hidden_size, lstm.num_layers, bidirectional=True, batch_first=True)
        self.before, self.after = ours.embedding_dropout, ours.dropout

    def outputs(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        packed = pack_padded_sequence(self.before(self.table(tokens)), lengths, batch_first=True, enforce_sorted=False)
        return self.after(pad_packed_sequence(self.lstm(packed)[0], batch_first=True)[0])


class Plain(pl.LightningModule):
    """The loop that one writes first."""

    def __init__(self, config: Config, ours: Network) -> None:
        super().__init__()
        assert ours.encoder is not None
        self.kinds, self.heads, self.encoder = ours.kinds, ours.heads, PlainEncoder(ours.encoder)
        self.config = config

    def loss(self, batch: tuple[str, Tensor, Tensor, Tensor]) -> Tensor:
        task, tokens, lengths, targets = batch
        vectors = max_pool(self.encoder.outputs(tokens, lengths), lengths)
        return self.kinds[task].loss(self.heads[task](vectors), targets, None)

    def training_step(self, batch: Any, batch_idx: int) -> Tensor:
        return self.loss(batch)

    def validation_step(self, batch: Any, batch_idx: int) -> None:
        self.log("dev", self.loss(batch), batch_size=1)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.parameters(), self.config.pretrain.learning_rate, amsgrad=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="KLEJ's data")
    parser.add_argument("--tasks", nargs="+", default=["nkjp-ner", "cdsc-e", "cdsc-r", "cbd"])
    parser.add_argument("--max-length", type=int, default=64)
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--alone", action="store_true", help="our loop alone")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    for name in ("pytorch_lightning", "pytorch_lightning.utilities.rank_zero", "lightning_fabric.utilities.seed"):
        logging.getLogger(name).setLevel(logging.ERROR)
    settings = {
        "tasks": arguments.tasks,
        "max_length": arguments.max_length,
        "encoder.hidden_size": arguments.hidden,
        "pretrain.max_steps": arguments.steps,
        "pretrain.validate_every": arguments.steps,
    }
    stage1.MultitaskModule = Timed  # type: ignore[misc]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config, method = prepare_lstm(arguments.data, folder, settings)
        sides: list[list[float]] = [[], []]
        parts: list[dict[str, float]] = []
        for run in range(arguments.runs):
            spent.clear()
            sides[0].append(seconds(partial(ours, config, method, folder / f"ours-{run}")))
            parts.append({**spent, "all the rest": sides[0][-1] - sum(spent.values())})
            if not arguments.alone:
                sides[1].append(seconds(partial(plain, config, method, folder / f"plain-{run}")))
    texts = f"{len(method.dataset.tasks)} tasks, {arguments.hidden} units, {arguments.steps} steps, one validation"
    print(f"{texts}: ours {min(sides[0]):.1f} s")
    if sides[1]:
        print(f"the plain loop {min(sides[1]):.1f} s; ratio {ratio(*sides)}")
    for part in parts[0]:
        share = np.median([run[part] / total for run, total in zip(parts, sides[0], strict=True)])
        print(f"of ours, {part}: {share:.1%}")


def ours(config: Config, method: TwoStages, folder: Path) -> None:
    stage1.pretrain(config, method.data, method.sequences, method.embeddings, 1, folder)


def plain(config: Config, method: TwoStages, folder: Path) -> None:
    network = stage1.new_network(config, method.dataset.tasks, method.data.outputs, method.embeddings, 1)
    loaders = {split: batches(config, method, split) for split in ("train", "dev")}
    trainer = pl.Trainer(
        accelerator="cpu",
        max_steps=config.pretrain.max_steps,
        gradient_clip_val=config.pretrain.gradient_clip,
        num_sanity_val_steps=0,
        default_root_dir=folder,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(Plain(config, network), loaders["train"], loaders["dev"])


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

    def collate(drawn: list[tuple[str, np.ndarray]]) -> tuple[str, Tensor, Tensor, Tensor]:
        task, places = drawn[0]
        texts = [int(text) for text in parts[task].texts[places].T.reshape(-1)]
        tokens = [method.sequences.gather(torch.tensor([text]))[0][0] for text in texts]
        lengths = torch.tensor([len(text) for text in tokens])
        targets = torch.tensor(parts[task].targets[places], dtype=torch.float32)
        return task, pad_sequence(tokens, batch_first=True), lengths, targets

    return DataLoader(chosen, batch_size=1, collate_fn=collate)  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
