"""Compare stage 2 on sentence vectors that are computed once with stage 2 that encodes the texts in every epoch.

    python benchmarks/stage2.py --data data/klej --hidden 256 --epochs 5

Each task's head is trained for the given epochs and predicts. The encoder's weights are random, since its speed does not
depend on them. The seconds of the first variant include the encoding. Without --data, it runs on the embedded sample.
"""

import argparse
import tempfile
import warnings
from functools import partial
from pathlib import Path

from jobs import prepare_lstm
from timing import alternate, ratio

from mtl.base.settings.schema import Config
from mtl.methods.lstm.outputs import encode_once
from mtl.methods.lstm.stage1 import new_network
from mtl.methods.lstm.two_stages import TwoStages
from mtl.methods.networks import TaskInput
from mtl.methods.stage2 import Finetuning


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="KLEJ's data")
    parser.add_argument("--tasks", nargs="+", default=["nkjp-ner", "cdsc-e", "cdsc-r", "cbd"])
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--runs", type=int, default=2)
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    settings = {
        "tasks": arguments.tasks,
        "encoder.hidden_size": arguments.hidden,
        "finetune.max_epochs": arguments.epochs,
        "finetune.patience": arguments.epochs,
    }
    with tempfile.TemporaryDirectory() as folder:
        config, method = prepare_lstm(arguments.data, Path(folder), settings)
        sides = alternate([partial(stage_2, config, method, once) for once in (True, False)], arguments.runs)
    print(f"{len(method.dataset.tasks)} tasks, {arguments.hidden} units, {arguments.epochs} epochs")
    print(
        f"vectors computed once {min(sides[0]):.1f} s, encoding every epoch {min(sides[1]):.1f} s; ratio {ratio(*sides)}"
    )


def stage_2(config: Config, method: TwoStages, once: bool) -> None:
    """Stage 2 of all tasks, with the texts encoded once or, by the encoder that is frozen all the same, in every batch."""
    network = new_network(config, method.dataset.tasks, method.data.outputs, method.embeddings, 1)
    encoder = network.encoder
    assert encoder is not None
    encoder.requires_grad_(False)
    texts = method.sequences
    with tempfile.TemporaryDirectory() as folder:
        if once:
            read = encode_once(config, method.dataset, texts, network, 1, Path(folder)).vectors
        else:
            read = TaskInput(texts, encoder=encoder)
        for task in method.dataset.tasks:
            stage = Finetuning(config, method.data, task, read, 1, Path(folder) / task.id)
            stage.predict(stage.train(network.heads), task)


if __name__ == "__main__":
    main()
