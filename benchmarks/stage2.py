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

from timing import alternate, ratio

from mtl.config.load import Config, load_config
from mtl.jobs.baseline import prepare
from mtl.methods.lstm.stage1 import new_model
from mtl.methods.lstm.stage2 import finetune, stage_inputs
from mtl.methods.lstm.two_stages import TwoStages
from mtl.sample.grammar import write_sample


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="KLEJ's data")
    parser.add_argument("--tasks", default="[nkjp-ner,cdsc-e,cdsc-r,cbd]")
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--runs", type=int, default=2)
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    with tempfile.TemporaryDirectory() as folder:
        data = arguments.data or Path(folder) / "data"
        if not arguments.data:
            write_sample(data)
        config, suite = load_config(
            [
                f"suite={'klej' if arguments.data else 'klej-sample'}",
                f"data_dir={data}",
                f"cache_dir={folder}/cache",
                f"tasks={arguments.tasks}",
                f"encoder.hidden_size={arguments.hidden}",
                f"finetune.max_epochs={arguments.epochs}",
                f"finetune.patience={arguments.epochs}",
                "trainer.accelerator=cpu",
            ]
        )
        _, inputs = prepare(config, suite)
        assert isinstance(inputs, TwoStages)
        sides = alternate([partial(stage, config, inputs, again) for again in (False, True)], arguments.runs)
    print(f"{len(inputs.dataset.tasks)} tasks, {arguments.hidden} units, {arguments.epochs} epochs")
    print(
        f"vectors computed once {min(sides[0]):.1f} s, encoding every epoch {min(sides[1]):.1f} s; ratio {ratio(*sides)}"
    )


def stage(config: Config, inputs: TwoStages, again: bool) -> None:
    """Stage 2 of all tasks with a frozen encoder. again: encode the texts in every batch, not once."""
    encoder, heads = new_model(config, inputs.dataset.tasks, inputs.embeddings, 1)
    encoder.requires_grad_(False)
    with tempfile.TemporaryDirectory() as folder:
        config.finetune.train_encoder = again
        encoded = stage_inputs(config, inputs.dataset, inputs.table, encoder, heads, 1, Path(folder))
        for task in inputs.dataset.tasks:
            finetune(config, inputs.dataset, task, encoded, heads, 1, Path(folder) / task.id)


if __name__ == "__main__":
    main()
