"""The whole evaluation: open the encoder, choose its settings, evaluate it, write the summary and the table."""

import logging
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mtl.config.settings import UnknownKey
from mtl.encoders.kind import Choices, SentenceEncoder
from mtl.errors import InputError
from mtl.evaluators.mteb.benchmark import Benchmark, find_benchmark, load_benchmark
from mtl.evaluators.mteb.choice import CHOOSE, SPLIT, check_values, choose, validation_tasks
from mtl.evaluators.mteb.folder import EvaluationFolder
from mtl.evaluators.mteb.library import import_mteb
from mtl.evaluators.mteb.records import Record
from mtl.evaluators.mteb.settings import MtebSettings, read_settings, unknown_key
from mtl.evaluators.mteb.summary import render_table, summarize
from mtl.files import write_json, write_text
from mtl.untrusted import read_json

if TYPE_CHECKING:
    from mtl.evaluators.mteb.evaluation import Evaluator

logger = logging.getLogger("mtl")

OpenEncoder = Callable[[Mapping[str, Any]], SentenceEncoder]


def run_mteb(
    open_encoder: OpenEncoder, choices: Choices, given: Mapping[str, Any], about: Mapping[str, Any]
) -> EvaluationFolder:
    """Evaluate an encoder on a benchmark of mteb's tasks; return the folder with the results.

    open_encoder: makes the encoder from its settings. choices: those that can be chosen, with their values. given: the settings
    of `mtl mteb` and of the encoder. about: further keys of the summary: the command, versions, the machine. Raises InputError.
    """
    settings, encoder_settings = read_settings(given)
    check_values(encoder_settings, choices)
    path = find_benchmark(settings.benchmark)
    benchmark = load_benchmark(path)
    data_dir = _data_dir(settings, benchmark)
    tasks = _tasks(settings, benchmark, data_dir)
    import_mteb(Path(settings.runs_dir) / "mteb")
    from mtl.evaluators.mteb.data import tasks_with_splits
    from mtl.evaluators.mteb.evaluation import Evaluator
    from mtl.evaluators.mteb.model import model_meta

    if settings.tasks is None:
        tasks = tasks_with_splits(benchmark, tasks, data_dir)

    def evaluator(encoder: SentenceEncoder) -> Evaluator:
        folder = EvaluationFolder.of(settings.runs_dir, benchmark.name, encoder)
        return Evaluator(encoder, benchmark, data_dir, folder, model_meta(encoder, benchmark, settings.model))

    def validate(encoder: SentenceEncoder, tasks: Sequence[str]) -> dict[str, float | None]:
        of = evaluator(encoder)
        with of.folder.locked():
            return {name: record["score"] for name, record in of.evaluate(tasks, SPLIT).items()}

    choice = None
    chosen: Mapping[str, Any] = encoder_settings
    try:
        if CHOOSE in encoder_settings.values():
            validated = validation_tasks(benchmark, data_dir)
            encoder, chosen, choice = choose(encoder_settings, choices, validated, open_encoder, validate)
        else:
            encoder = open_encoder(encoder_settings)
    except UnknownKey as error:
        raise unknown_key(error) from None
    _log(encoder, benchmark)
    of = evaluator(encoder)
    with of.folder.locked():
        shutil.copyfile(path, of.folder.benchmark)
        if choice is not None:
            write_json(of.folder.choice, choice)
        records = of.evaluate(tasks, finished=lambda records: _summarize(of, chosen, records, about))
        of.collect_results(of.with_earlier(records))
    return of.folder


def _log(encoder: SentenceEncoder, benchmark: Benchmark) -> None:
    """Say what is scored, and warn if it is for another language than the benchmark."""
    of, languages = encoder.description, benchmark.model_languages
    logger.info("%s: %s", of.title, of.settings)
    if languages and of.language and of.language not in languages:
        logger.warning(
            "the encoder's language is %s, but %s is in %s", of.language, benchmark.title, ", ".join(languages)
        )


def _summarize(
    of: "Evaluator", settings: Mapping[str, Any], records: Mapping[str, Record], about: Mapping[str, Any]
) -> None:
    """Write the summary and the table of these records and of those of earlier commands. settings: of the encoder."""
    folder, encoder = of.folder, of.encoder
    choice = read_json(folder.choice, dict[str, Any]) if folder.choice.exists() else None
    shown = of.with_earlier(records)
    summary = summarize(of.benchmark, encoder.description, encoder.fingerprint(), settings, shown, choice)
    write_json(folder.summary, {**summary, **about})
    write_text(folder.table, render_table(of.benchmark, summary))


def _data_dir(settings: MtebSettings, benchmark: Benchmark) -> Path | None:
    """The folder with the tasks' folders; None: there is none. Raises InputError if the one that was named does not exist."""
    if settings.data_dir is None:
        default = Path("data") / benchmark.name
        return default if default.is_dir() else None
    if not Path(settings.data_dir).is_dir():
        raise InputError(f"data_dir={settings.data_dir}: no such folder")
    return Path(settings.data_dir)


def _tasks(settings: MtebSettings, benchmark: Benchmark, data_dir: Path | None) -> list[str]:
    """The tasks to evaluate: those that `tasks` names; else those with a folder in the data_dir that was named; else all.

    Raises InputError.
    """
    tasks = benchmark.choose(settings.tasks)
    if settings.tasks is not None or settings.data_dir is None:
        return tasks
    assert data_dir is not None
    there = [name for name in tasks if (data_dir / name).is_dir()]
    if not there:
        raise InputError(
            f"data_dir={data_dir}: has no folder of a task of {benchmark.name}, such as {data_dir / tasks[0]}"
        )
    if left_out := [name for name in tasks if name not in there]:
        logger.info("left out, without a folder in %s: %s", data_dir, ", ".join(left_out))
    return there
