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
from timing import ratio, seconds
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader

from mtl.config.load import Config, load_config
from mtl.jobs.baseline import prepare
from mtl.methods.lstm import stage1
from mtl.methods.lstm.two_stages import TwoStages
from mtl.model.encoder import Encoder, max_pool
from mtl.model.multitask import Heads, Multitask, loss_of
from mtl.sample.grammar import write_sample
from mtl.training.batches import Batch

spent: dict[str, float] = {}  # seconds by part of our loop


class Timed(Multitask):
    """Our module with a timer for its parts."""

    def optimizer_step(self, *arguments: Any, **named: Any) -> None:
        start = time.perf_counter()
        super().optimizer_step(*arguments, **named)
        spent["training steps"] = spent.get("training steps", 0) + time.perf_counter() - start

    def validation_step(self, batch: Batch, batch_idx: int) -> None:
        start = time.perf_counter()
        super().validation_step(batch, batch_idx)
        spent["validation"] = spent.get("validation", 0) + time.perf_counter() - start


class PlainEncoder(nn.Module):
    """Embedding, torch's packed LSTM and max pooling, with the same sizes and dropout as ours."""

    def __init__(self, ours: Encoder) -> None:
        super().__init__()
        lstm = ours.lstm
        words, dim = ours.embedder.state_dict()["table.weight"].shape
        self.table = nn.Embedding(words, dim, padding_idx=0)
        self.lstm = nn.LSTM(lstm.input_size, lstm.hidden_size, lstm.num_layers, bidirectional=True, batch_first=True)
        self.before, self.after = ours.embedding_dropout, ours.dropout

    def outputs(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        packed = pack_padded_sequence(self.before(self.table(tokens)), lengths, batch_first=True, enforce_sorted=False)
        return self.after(pad_packed_sequence(self.lstm(packed)[0], batch_first=True)[0])


class Plain(pl.LightningModule):
    """The most obvious implementation of the loop."""

    def __init__(self, inputs: TwoStages, config: Config, ours: Encoder, heads: Heads) -> None:
        super().__init__()
        self.tasks = {task.id: task for task in inputs.dataset.tasks}
        self.encoder, self.heads = PlainEncoder(ours), heads
        self.config = config

    def loss(self, batch: tuple[str, Tensor, Tensor, Tensor]) -> Tensor:
        task, tokens, lengths, targets = batch
        vectors = max_pool(self.encoder.outputs(tokens, lengths), lengths)
        return loss_of(self.tasks[task], self.heads[task](vectors), targets)

    def training_step(self, batch: Any, batch_idx: int) -> Tensor:
        return self.loss(batch)

    def validation_step(self, batch: Any, batch_idx: int) -> None:
        self.log("dev", self.loss(batch), batch_size=1)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.parameters(), self.config.pretrain.learning_rate, amsgrad=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="KLEJ's data")
    parser.add_argument("--tasks", default="[nkjp-ner,cdsc-e,cdsc-r,cbd]")
    parser.add_argument("--max-length", type=int, default=64)
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--alone", action="store_true", help="only our loop")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    for name in ("pytorch_lightning", "pytorch_lightning.utilities.rank_zero", "lightning_fabric.utilities.seed"):
        logging.getLogger(name).setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        data = arguments.data or Path(folder) / "data"
        if not arguments.data:
            write_sample(data)
        config, suite = load_config(
            [
                f"suite={'klej' if arguments.data else 'klej-sample'}",
                f"data_dir={data}",
                f"cache_dir={folder}/cache",
                f"run_dir={folder}/run",
                f"tasks={arguments.tasks}",
                f"max_length={arguments.max_length}",
                f"encoder.hidden_size={arguments.hidden}",
                f"pretrain.max_steps={arguments.steps}",
                "trainer.accelerator=cpu",
            ]
        )
        _, inputs = prepare(config, suite)
        assert isinstance(inputs, TwoStages)
        sides: list[list[float]] = [[], []]
        parts: list[dict[str, float]] = []
        for run in range(arguments.runs):
            spent.clear()
            sides[0].append(seconds(partial(ours, config, inputs, Path(folder) / f"ours-{run}")))
            parts.append({**spent, "the rest": sides[0][-1] - sum(spent.values())})
            if not arguments.alone:
                sides[1].append(seconds(partial(plain, config, inputs, Path(folder) / f"plain-{run}")))
    texts = f"{len(inputs.dataset.tasks)} tasks, {arguments.hidden} units, {arguments.steps} steps, one validation"
    print(f"{texts}: ours {min(sides[0]):.1f} s")
    if sides[1]:
        print(f"the plain loop {min(sides[1]):.1f} s; ratio {ratio(*sides)}")
    for part in parts[0]:
        share = np.median([run[part] / total for run, total in zip(parts, sides[0], strict=True)])
        print(f"of ours, {part}: {share:.1%}")


def ours(config: Config, inputs: TwoStages, folder: Path) -> None:
    stage1.Multitask = Timed  # type: ignore[misc]
    stage1.pretrain(config, inputs.dataset, inputs.table, inputs.embeddings, 1, folder)


def plain(config: Config, inputs: TwoStages, folder: Path) -> None:
    encoder, heads = stage1.new_model(config, inputs.dataset.tasks, inputs.embeddings, 1)
    loaders = {split: batches(config, inputs, split) for split in ("train", "dev")}
    trainer = pl.Trainer(
        accelerator="cpu",
        max_steps=config.pretrain.max_steps,
        gradient_clip_val=config.pretrain.gradient_clip,
        num_sanity_val_steps=0,
        default_root_dir=folder,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(Plain(inputs, config, encoder, heads), loaders["train"], loaders["dev"])


def batches(config: Config, inputs: TwoStages, split: str) -> DataLoader[Any]:
    """Batches of one task each. train: one per step, tasks drawn in proportion to their rows; dev: all rows in order."""
    dataset, size = inputs.dataset, config.pretrain.batch_size
    ids = {task.id: dataset.splits[task.id][split] for task in dataset.tasks}
    chance = np.random.default_rng(1)
    chosen = []
    if split == "train":
        sizes = np.array([len(rows) for rows in ids.values()])
        for _ in range(config.pretrain.max_steps):
            task = str(chance.choice(list(ids), p=sizes / sizes.sum()))
            chosen.append((task, chance.choice(len(ids[task]), size)))
    else:
        for task, rows in ids.items():
            chosen += [(task, np.arange(i, min(i + size, len(rows)))) for i in range(0, len(rows), size)]

    def collate(rows: list[tuple[str, np.ndarray]]) -> tuple[str, Tensor, Tensor, Tensor]:
        task, places = rows[0]
        texts = [int(text) for text in ids[task].texts[places].T.reshape(-1)]
        tokens = [inputs.table.gather(torch.tensor([text]))[0][0] for text in texts]
        lengths = torch.tensor([len(text) for text in tokens])
        targets = torch.tensor(ids[task].targets[places], dtype=torch.float32)
        return task, pad_sequence(tokens, batch_first=True), lengths, targets

    return DataLoader(chosen, batch_size=1, collate_fn=collate)  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
