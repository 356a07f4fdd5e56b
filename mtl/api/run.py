"""Runs in Python: they are made, of a baseline or of predictions, or opened, and have scores, predictions, curves and models."""

import inspect
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import fields
from functools import cached_property, partial
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from mtl.api.settings import Settings, call_text, plain_settings
from mtl.api.show import MarkdownText, frame, grid
from mtl.base.errors import InputError
from mtl.base.files import write_json, write_text
from mtl.base.interface import checked
from mtl.base.settings.schema import Config
from mtl.base.wording import counted
from mtl.runs import finished
from mtl.runs.records import Summary
from mtl.runs.table import render
from mtl.tasks.suite import AVERAGE, load_suite
from mtl.tasks.targets import one_label_kind, target_kind
from mtl.tasks.task import SPLIT_OF, SPLITS, Task

if TYPE_CHECKING:
    import numpy as np
    from pandas import DataFrame

    from mtl.api.keys import Settings as Keys
    from mtl.data.examples import Row
    from mtl.jobs.job import Job
    from mtl.methods.predictor import Predictor


class Run:
    """A finished run: what `mtl.run` returns, and `mtl.open` for one that exists.

    A notebook shows its table. Scores are on the scale of the suite, which is × 100 unless the suite file says otherwise, and not rounded.

    Attributes:
        record: the files of the run, as mtl reads them.

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
        self.record = record

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
        """The learning curves, a row for each seed, stage, task and validation: the columns seed, stage (pretrain or finetune), task, step, seconds
        (since the stage began), loss (the mean on the training batches since the last validation; missing before the first step) and score (on
        dev). In stage 1, the task "average" has the mean over the tasks. Methods that do not train in steps have no rows. Raises InputError for a
        damaged file, and without pandas."""
        value, rows = self.record.suite.shown.value, []
        of_stage1 = {AVERAGE: "dev/average", **{id: f"dev/{id}" for id in self.tasks}}
        for seed in self.seeds:
            for stage, task, points in self.record.curves(seed):
                score_keys = {task: "dev/average"} if task else of_stage1
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
            InputError: for a task, a split or a seed that the run has no predictions for, and a damaged file.
        """
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
        """How often each label (rows) was predicted as each label (columns), on the split that the task is scored on: int (labels, labels).

        Raises InputError as `predictions` does, and for a task without one label for each example.

        Args:
            split: that one, or None: a run has no gold labels of another.
            seed: None: all seeds together.
        """
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
def run(*settings: Settings, **named: "Unpack[Keys]") -> Run:
    """Train, evaluate and tabulate a baseline, as `mtl baseline` does with the same settings. What is finished is not made again.

    An interrupted run continues with the same call.

    Args:
        settings: "key=value" strings and dictionaries, nested or with dotted keys.
        named: settings as keyword arguments, a section as a dictionary; `seeds` may be a number N, which stands for 1 to N, `suite` a
            `mtl.Suite`, and `trainer` may have objects of Lightning: {"logger": …, "callbacks": […]}.

    Returns:
        The finished run.

    Raises:
        mtl.InputError: for unknown keys, bad values and bad data, in one line; nothing is made.
        mtl.base.errors.DivergedError: if training diverges.

    Examples:
        >>> mtl.run("method=constant", {"tasks": ["cbd"]}, suite="klej-sample").summary["tasks"]["cbd"]["metric"]
        'f1'
        >>> mtl.run(suite="klej-sample", encoder={"hiden_size": 64})
        Traceback (most recent call last):
        mtl.base.typed.UnknownKey: unknown key 'encoder.hiden_size'; did you mean encoder.hidden_size?
    """
    from mtl.jobs.job import load_run

    merged = plain_settings(settings, named)
    objects: list[str] = []  # the settings that hold objects
    with ExitStack() as block:
        if {"trainer.logger", "trainer.callbacks"} & merged.keys():
            from mtl.training.attached import attached  # imports Lightning

            merged, objects = block.enter_context(attached(merged))
        job = load_run(merged)
        job.check_memory()
        if objects and job.config.runs_apart:
            message = "the object is in this process alone; train seeds one after another, or name a class"
            raise InputError(message, key=objects[0])
        return run_job(job, call_text(merged))


# What `help` and the completion of notebooks show.
_SETTINGS = [inspect.Parameter(item.name, inspect.Parameter.KEYWORD_ONLY, default=None) for item in fields(Config)]
run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [inspect.Parameter("settings", inspect.Parameter.VAR_POSITIONAL), *_SETTINGS], return_annotation=Run
)


def run_job(job: "Job", command: str) -> Run:
    """Make the run, or the part of it that is not done yet. Its summary records `command`, the command line or the call. Raises UserError as
    `mtl.jobs.baseline.run_baseline` does."""
    from mtl.jobs.baseline import run_baseline
    from mtl.jobs.beside import train_logistic

    train_logistic(job, partial(run_baseline, command=command))
    folder, was_finished = job.folder, job.is_finished
    # Also a last seed that is left: with all threads, its scores would have other last digits.
    if job.config.runs_apart:
        from mtl.jobs.together import run_together

        run_together([job], command)
    else:
        summary = run_baseline(job, command)
        if not was_finished:
            # The suite as it is declared: that of a job has chosen the splits that are there.
            return Run(finished.FinishedRun(folder.path.resolve().name, folder, summary, load_suite(folder.suite)))
    finished_run = open(folder.path)
    summary = finished_run.summary
    if was_finished and summary["config"].get("statistic", "median") != job.config.statistic:
        summary["config"]["statistic"] = job.config.statistic
        write_text(folder.table, render({**summary}, finished_run.record.suite))
        write_json(folder.summary, summary)
    return finished_run


@checked
def import_predictions(
    name: str,
    predictions: Any,
    *,
    seed: int | Sequence[int] | None = None,
    system: Mapping[str, Any] | str | PathLike[str] | None = None,
    labels: Mapping[str, Mapping[str, Any]] | str | PathLike[str] | None = None,
    **settings: Any,
) -> Run:
    """Make a run of the predictions of another system, as `mtl import` does. A finished run with the same predictions stays as it is.

    Args:
        name: of the run's folder, and of the system where `system` has no title.
        predictions: by task id, for the examples of the split that scores the task, in their order: a list, an array or a Series; or such
            lists by split, dev and test; or a DataFrame with the column prediction and, if you like, id (then in any order) and split.
            Another index than 0, 1, … is that of the frames that `suite` was made of, in their order, or has ids. For a suite of one
            task, these alone. For several seeds, a list with one such mapping for each.
        seed: the seed, or one for each mapping; else 1, 2, ….
        system: what is known of the system, as in system.yaml, or the path of this file.
        labels: by task id, the label that each spelling of an answer means, or the path of a YAML file.
        settings: those of a run, such as suite, data_dir, runs_dir and tasks.

    Returns:
        The finished run.

    Raises:
        mtl.InputError: for predictions that do not fit the examples, and bad settings. Then no run is made.

    >>> gold = mtl.run(suite="klej-sample", method="constant", tasks=["cbd"]).predictions("cbd", seed=1)["gold"]
    >>> mtl.import_predictions("oracle", {"cbd": gold}, suite="klej-sample").summary["average"]
    100.0
    """
    from mtl.jobs.imports import import_job

    content = {"system": system, "labels": labels}
    named = {key: fspath(value) if isinstance(value, PathLike) else value for key, value in content.items()}
    merged = {**plain_settings((), {**settings, "seed": seed}), **named}
    merged = {key: value for key, value in merged.items() if value is not None}
    is_by_seed = isinstance(predictions, Sequence) and all(
        isinstance(of_seed, Mapping) or hasattr(of_seed, "iloc") for of_seed in predictions
    )
    by_seed = list(predictions) if is_by_seed else [predictions]
    indices = getattr(settings.get("suite"), "indices", None)
    return run_job(import_job(name, by_seed, merged, indices), "mtl.import_predictions")


@checked
def open(path: str | PathLike[str]) -> Run:
    """A finished run that exists. Reads its files, without torch; models are read when they are used.

    Args:
        path: the run's folder.

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
        mtl.InputError: for a folder without a finished run, a run whose models are not kept, and an unknown seed or device.
    """
    from mtl.methods.predictor import Predictor

    return Predictor.load(Path(run_dir), seed, device=device)
