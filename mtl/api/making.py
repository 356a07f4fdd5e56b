"""Make runs in Python: of a baseline, and of the predictions of another system."""

import inspect
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import fields
from functools import partial
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Unpack

from mtl.api.run import Run, open
from mtl.api.settings import Settings, call_text, plain_settings
from mtl.base.errors import InputError
from mtl.base.interface import checked
from mtl.base.settings.schema import Config
from mtl.runs.finished import FinishedRun
from mtl.tasks.suite import load_suite

if TYPE_CHECKING:
    from mtl.api.keys import Settings as Keys
    from mtl.jobs.job import Job


@checked
def run(*settings: Settings, **named: "Unpack[Keys]") -> Run:
    """Train, evaluate and tabulate a baseline, as `mtl baseline` does with the same settings, and return the finished run.

    What is finished is not made again, and an interrupted run continues with the same call.

    Args:
        settings: "key=value" strings and dictionaries, nested or with dotted keys.
        named: settings as keyword arguments, a section as a dictionary; `seeds` may be a number N, which stands for 1 to N, `suite` a
            `mtl.Suite`, and `trainer` may have objects of Lightning: {"logger": …, "callbacks": […]}.

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
            from mtl.training.attached import attach  # imports Lightning

            merged, objects = block.enter_context(attach(merged))
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
    """Make what the run still lacks. The run's summary has `command`. Raises UserError."""
    from mtl.jobs.baseline import run_baseline
    from mtl.jobs.beside import train_logistic

    train_logistic(job, partial(run_baseline, command=command))
    folder, was_finished = job.folder, job.is_finished
    # With `runs_apart` also for a single seed that is left: in this process, with all threads, its scores would have other last digits.
    if job.config.runs_apart:
        from mtl.jobs.together import run_together

        run_together([job], command)
    else:
        summary = run_baseline(job, command)
        if not was_finished:
            # The suite as it is declared: that of a job has chosen the splits that are there.
            return Run(FinishedRun(folder.path.resolve().name, folder, summary, load_suite(folder.suite)))
    return open(folder.path)


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
    """Make and return a run of the predictions of another system, as `mtl import` does. A finished one with the same predictions stays.

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

    Raises:
        mtl.InputError: for predictions that do not fit the examples, and bad settings. Then no run is made.

    >>> gold = mtl.run(suite="klej-sample", method="constant", tasks=["cbd"]).predictions("cbd", seed=1)["gold"]
    >>> mtl.import_predictions("oracle", {"cbd": gold}, suite="klej-sample").summary["average"]
    100.0
    """
    from mtl.jobs.imports import import_job

    import_settings = plain_settings((), {**settings, "seed": seed})
    for key, value in (("system", system), ("labels", labels)):  # the keys in these are no settings
        import_settings[key] = fspath(value) if isinstance(value, PathLike) else value
    import_settings = {key: value for key, value in import_settings.items() if value is not None}
    items = list(predictions) if isinstance(predictions, Sequence) else []
    is_by_seed = bool(items) and all(isinstance(item, Mapping) or hasattr(item, "iloc") for item in items)
    indices = getattr(settings.get("suite"), "indices", None)  # of a `mtl.Suite` that is made of frames
    job = import_job(name, items if is_by_seed else [predictions], import_settings, indices)
    return run_job(job, "mtl.import_predictions")
