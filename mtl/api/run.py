"""Finished runs in Python, with their scores, predictions, curves and models."""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mtl.api.show import MarkdownText, frame, grid
from mtl.base.errors import InputError
from mtl.base.interface import checked
from mtl.base.wording import counted
from mtl.runs import finished
from mtl.runs.records import Summary
from mtl.tasks.suite import AVERAGE
from mtl.tasks.targets import one_label_kind, target_kind
from mtl.tasks.task import SPLIT_OF, SPLITS, Task

if TYPE_CHECKING:
    import numpy as np
    from pandas import DataFrame

    from mtl.data.examples import Row
    from mtl.methods.predictor import Predictor


class Run:
    """A finished run: what `mtl.run` returns, and `mtl.open` for one that exists.

    A notebook shows its table. Scores are on the scale of the suite, which is × 100 unless the suite file says otherwise, and not rounded.

    Examples:
        >>> run = mtl.run(suite="klej-sample", method="constant", tasks=["cbd"], seeds=2)
        >>> run
        Run('runs/klej-sample/constant': Best constant, 2 seeds, average 46.2)
        >>> run.scores.round(1)
        seed     1     2
        task
        cbd   46.2  46.2
        >>> run.predictions("cbd", seed=1).iloc[:2].to_dict("list")
        {'seed': [1, 1], 'row': [0, 1], 'prediction': [1, 1], 'gold': [1, 0]}
    """

    def __init__(self, record: finished.FinishedRun) -> None:
        self.record = record  # the run's files, as mtl reads them

    @property
    def path(self) -> Path:
        """The run's folder."""
        return self.record.folder.path

    @property
    def name(self) -> str:
        """The name of the run's folder."""
        return self.record.name

    @property
    def summary(self) -> Summary:
        """The content of summary.json: settings, scores × 100, costs, versions."""
        return self.record.summary

    @property
    def seeds(self) -> list[int]:
        """The run's seeds."""
        return self.summary["seeds"]

    @property
    def tasks(self) -> list[str]:
        """The ids of the tasks that the run has scores for, in the suite's order."""
        return [task.id for task in self.record.tasks]

    @property
    def scores(self) -> "DataFrame":
        """The score of each seed on each task, float (tasks, seeds). Raises InputError if pandas is not installed."""
        value = self.record.suite.shown.value
        scores = {id: self.summary["tasks"][id]["scores"] for id in self.tasks}
        by_task = {id: {seed: value(scores[id][str(seed)]) for seed in self.seeds} for id in self.tasks}
        return grid(by_task, "task", "seed")

    @property
    def curves(self) -> "DataFrame":
        """The learning curves, a row for each seed, stage, task and validation: the columns seed, stage (pretrain or finetune), task (in stage 1 also
        "average"), step, seconds (since the stage began), loss (the mean on the training batches since the last validation; missing before the first
        step) and score (on dev). Without steps, there are no rows. Raises InputError for a damaged file, and without pandas."""
        value, rows = self.record.suite.shown.value, []
        stage1_keys = {AVERAGE: "dev/average", **{id: f"dev/{id}" for id in self.tasks}}
        for seed in self.seeds:
            for stage, task, points in self.record.curves(seed):
                score_keys = {task: "dev/average"} if task else stage1_keys
                for point in points:
                    facts = (int(point["step"]), point["seconds"], point.get("train/loss"))
                    scores = {id: value(point[key]) for id, key in score_keys.items() if key in point}
                    rows += [(seed, stage, id, *facts, score) for id, score in scores.items()]
        return frame(("seed", "stage", "task", "step", "seconds", "loss", "score"), rows)

    def table(self) -> MarkdownText:
        """The medians beside the published rows, with marks and notes: the run's table.md. Raises InputError for a damaged file."""
        return MarkdownText(self.record.folder.read_table().rstrip("\n"))

    @checked
    def predictions(self, task: str, split: str | None = None, seed: int | None = None) -> "DataFrame":
        """Predictions, in the form of the targets in the task's files. Labels that are whole numbers are integers, as pandas reads them.

        Args:
            task: the id of a task of the run.
            split: dev or test; None: the split that the task is scored on.
            seed: None: all seeds.

        Returns:
            A row for each seed and each example of the split, in the order of the data, with the columns seed, row (from 0) and prediction; on
            the split that the task is scored on, gold too.

        Raises:
            InputError: for a task, a split or a seed that the run has no predictions for, and a damaged file."""
        suite_task, folder = self._task(task), self.record.folder
        if seed is not None and seed not in self.seeds:
            raise InputError(f"not in this run; it has {', '.join(map(str, self.seeds))}", key="seed", value=seed)
        scored_split, to_python = self.record.split(suite_task), target_kind(suite_task).to_python
        split = scored_split if split is None else SPLIT_OF.get(split.lower(), split)
        splits = [name for name in SPLITS if folder.predictions(self.seeds[0], name, task).exists()]
        if split not in splits:
            problem = f"no predictions of {task} on it; there are on {', '.join(splits)}"
            raise InputError(problem, key="split", value=split)
        gold = {"gold": self.record.rows(suite_task).targets} if split == scored_split else {}
        rows: list[tuple[Any, ...]] = []
        for number in self.seeds if seed is None else [seed]:
            predicted = self.record.seed_predictions(suite_task, number, split)
            for row, targets in enumerate(zip(predicted, *gold.values(), strict=True)):
                rows.append((number, row, *map(to_python, targets)))
        return frame(("seed", "row", "prediction", *gold), rows)

    @checked
    def confusion_matrix(self, task: str, split: str | None = None, seed: int | None = None) -> "DataFrame":
        """How often each label (rows) was predicted as each label (columns), by one seed or by all: int (labels, labels), on the split that scores
        the task. Raises InputError as `predictions`, for a split without gold labels, and for a task without one label for each example."""
        labels = one_label_kind(self._task(task), "a confusion matrix").values
        predictions = self.predictions(task, split, seed)
        if "gold" not in predictions:
            scored_split = self.record.split(self._task(task))
            raise InputError(f"only {scored_split}, which scores {task}, has gold labels", key="split", value=split)
        counts = Counter(zip(predictions["gold"], predictions["prediction"], strict=True))
        cells = {gold: {answer: counts[gold, answer] for answer in labels} for gold in labels}
        return grid(cells, "gold", "prediction")

    def _task(self, task: str) -> Task:
        if task not in self.tasks:
            raise InputError(f"not in this run; it has {', '.join(self.tasks)}", key="task", value=task)
        return self.record.suite.tasks[task]

    @checked
    def labels(self, task: str) -> list[Any]:
        """The labels of a task in the order of the columns of `predict_proba`, of the type of the predictions: integers if all are whole numbers,
        else strings. Raises InputError for a task without one label for each example."""
        return one_label_kind(self._task(task), "probabilities").values

    @checked
    def load(self, seed: int | None = None, device: str = "cpu") -> "Predictor":
        """The trained models of one seed; see `mtl.load`. Raises InputError for a method whose models are not kept."""
        return load(self.path, seed, device)

    @cached_property
    def predictor(self) -> "Predictor":
        """The models of the seed with the best score on dev, on the CPU; they are read once. Raises InputError as `load` does."""
        return self.load()

    def predict(self, task: str, rows: Sequence["Row"]) -> list[Any]:
        """A prediction for each example, by the best seed, of the type that `predictions` has; see `mtl.methods.predictor.Predictor.predict`."""
        return self.predictor.predict(task, rows)

    def predict_proba(self, task: str, rows: Sequence["Row"]) -> "np.ndarray":
        """The probability of each label for each example, float64 (examples, labels), by the best seed; see
        `mtl.methods.predictor.Predictor.predict_proba`. Column i is that of `labels(task)[i]`."""
        return self.predictor.predict_proba(task, rows)

    def encode(self, texts: Sequence[str], pooling: str | None = None) -> "np.ndarray":
        """Text vectors, float32 (texts, dim), of the best seed; see `mtl.methods.predictor.Predictor.encode`."""
        return self.predictor.encode(texts, pooling)

    def __repr__(self) -> str:
        average = self.summary["average"]
        shown = "" if average is None else f", average {self.record.suite.shown.show(average)}"
        return f"Run({str(self.path)!r}: {self.summary['title']}, {counted(len(self.seeds), 'seed')}{shown})"

    def _repr_markdown_(self) -> str:
        return self.table()._repr_markdown_()


@checked
def open(path: str | PathLike[str]) -> Run:
    """The finished run in a folder. Reads its files, without torch; models are read when they are used.

    Raises:
        mtl.InputError: if the folder has no finished run, or one of another version of mtl, or if a file is damaged.

    Examples:
        >>> mtl.open("runs/klej-sample/none")
        Traceback (most recent call last):
        mtl.base.errors.InputError: runs/klej-sample/none: no such folder
    """
    return Run(finished.open_run(Path(path)))


@checked
def load(run_dir: str | PathLike[str], seed: int | None = None, device: str = "cpu") -> "Predictor":
    """The trained encoder and heads of a run folder; see `mtl.methods.predictor.Predictor`.

    Args:
        seed: by default the best one on the validation data.
        device: cpu, cuda, or auto: a GPU where there is one.

    Raises:
        mtl.InputError: for a folder without a finished run, a run whose models are not kept, and an unknown seed or device."""
    from mtl.methods.predictor import Predictor

    return Predictor.load(Path(run_dir), seed, device=device)
