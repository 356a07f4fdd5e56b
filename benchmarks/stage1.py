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
from jobs import prepare_lstm
from plain import plain
from timing import ratio, seconds

from mtl.base.settings.schema import Config
from mtl.methods import network_training
from mtl.methods.lstm import stage1
from mtl.methods.lstm.two_stages import TwoStages
from mtl.model.network import Batch
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
    network_training.MultitaskModule = Timed  # type: ignore[misc]
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
    shared = stage1.SharedStage1(folder / "shared", "key")
    stage1.pretrain(config, method.data, method.sequences, method.embeddings, 1, folder, shared)


if __name__ == "__main__":
    main()
