"""The LightningModule of a finished LSTM, from one of its checkpoints: for your own loops, callbacks and Trainers."""

import re
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path

import numpy as np
from torch.utils.data import DataLoader

from mtl.base.errors import InputError
from mtl.base.interface import foreign
from mtl.data.examples import Row, make_example
from mtl.methods.heads import new_heads
from mtl.methods.lstm.trained import TrainedLstm
from mtl.methods.predictor import Predictor
from mtl.model.network import Batch, Network
from mtl.runs.folder import pretrain_folder
from mtl.tasks.targets import target_kind
from mtl.training.checkpoints import fill, read_weights, weights_below
from mtl.training.module import MultitaskModule, falling_adam


class Module(MultitaskModule):
    """The trained network of a stage as a LightningModule (`mtl.Module`).

    `forward` takes a `mtl.model.network.Batch` and returns the outputs of its task's head, (inputs, outputs). Lightning's Trainer fits it and
    predicts with it on batches of `loader`: with Adam, at the stage's first learning rate, and the loss of the task.

    Attributes:
        network: a `mtl.model.network.Network`, after stage 1 with the heads of all tasks, after stage 2 with one. Where stage 2 reads token
            outputs, its encoder is None, and batches of `loader` hold these outputs.
        predictor: the run, as `mtl.load` returns it, but with this network: what it predicts follows further training.

    Examples:
        >>> module = mtl.Module.load_from_checkpoint("runs/klej/fasttext-frozen/seed-1/pretrain/best.ckpt")  # doctest: +SKIP
        >>> rows = module.loader("cbd", [["Brawo!"], ["Dość."]], ["0", "1"])  # doctest: +SKIP
        >>> pytorch_lightning.Trainer(max_epochs=1).fit(module, rows)  # doctest: +SKIP
    """

    predictor: Predictor

    @classmethod
    def load_from_checkpoint(  # type: ignore[override]
        cls, checkpoint_path: str | PathLike[str], map_location: str = "cpu"
    ) -> "Module":
        """Read the weights of a finished stage, as tensors alone: no code in the file runs. `eval()` turns dropout off.

        Args:
            checkpoint_path: best.ckpt of stage 1, RUN/seed-N/pretrain, or of the stage 2 of a task, RUN/seed-N/finetune/TASK.
                The run's other files say which network it is.
            map_location: the device: cpu, cuda or auto.

        Raises:
            InputError: for a file outside the folder of a finished run, a run of another method, and a damaged file.
        """
        path = Path(checkpoint_path)
        folder = path.absolute().parent
        seed_folder = next((above for above in folder.parents if re.fullmatch(r"seed-\d+", above.name)), None)
        if seed_folder is None or not path.is_file():
            message = "must be the checkpoint of a stage in a run's folder, as in RUN/seed-1/pretrain/best.ckpt"
            raise InputError(message, path=path)
        predictor = Predictor.load(seed_folder.parent, int(seed_folder.name[5:]), device=map_location)
        model, config = predictor.model, predictor.config
        if not isinstance(model, TrainedLstm):
            raise InputError("only runs of lstm have such a module", path=path, key="method", value=config.method)
        is_first = folder == pretrain_folder(seed_folder)
        network = _stage1(predictor, model, path) if is_first else model.network(predictor.task(folder.name))
        assert isinstance(network, Network)
        if not is_first and network.encoder is not None:
            network.encoder.requires_grad_(config.finetune.train_encoder)
        model.use(network)
        rate = (config.pretrain if is_first else config.finetune).learning_rate
        module = cls(network, {}, falling_adam(rate, rate, total_steps=1))
        module.predictor = predictor
        return module.to(model.device).train()

    def on_fit_start(self) -> None:
        """Turn dropout on: predictions, also those that `loader` needs, have turned it off."""
        super().on_fit_start()
        self.train()

    def validation_step(self, batch: Batch, batch_idx: int) -> None:
        """Raises InputError: scores are those of whole splits."""
        raise InputError("this module has no dev split; score what module.predictor.predict(task, rows) returns")

    def loader(
        self, task: str, rows: Sequence[Row], targets: Sequence[str] | None = None, batch_size: int = 128
    ) -> DataLoader[Batch]:
        """Batches of rows, for Lightning's Trainer or for `forward`. Each holds rows of similar length; `Batch.rows` are their numbers.

        Args:
            task: the id of a task whose head the network has.
            rows: as in `mtl.load(…).predict`.
            targets: one for each row, in the form of the targets in the task's files; None: unknown, for predictions alone.
            batch_size: model inputs in a batch.

        Raises:
            InputError: for rows and targets of another form.
        """
        (suite_task, rows), model = self.predictor.check_rows(task, rows), self.predictor.model
        assert isinstance(model, TrainedLstm)
        split, read = model.prepared(suite_task, rows)
        if targets is not None:
            kind, texts = target_kind(suite_task), [make_example(suite_task, row).inputs[0][-1] for row in rows]
            with foreign("targets"):
                parsed = np.array([kind.parse(str(target)) for target in targets], dtype=kind.dtype)
                codes = kind.head.encode(parsed, model.answers.get(suite_task.id, []), texts)
            if len(codes) != len(rows):
                raise InputError(f"{len(codes)} for {len(rows)} rows", key="targets")
            split = replace(split, targets=codes)
        by_head = {suite_task.answered_by or task: split}
        return read.batches(by_head).loader(read.in_order(by_head, batch_size))


def _stage1(predictor: Predictor, model: TrainedLstm, path: Path) -> Network:
    """The network of stage 1, with the heads of all tasks."""
    inputs = predictor.folder.read_inputs()
    tasks = [task for id, task in predictor.suite.tasks.items() if f"tasks.{id}" in inputs and task.answered_by is None]
    outputs = {task.id: target_kind(task).head.outputs(model.answers.get(task.id, [])) for task in tasks}
    heads = new_heads(predictor.config, tasks, outputs, model.encoder.output_size)
    fill(heads, weights_below(read_weights(path), "heads."), path)
    return Network(tasks, heads, model.encoder)
