"""The whole evaluation: open the encoder, choose its settings on validation rows, evaluate it, write the summary and
the table. mteb is an optional package, and importing it takes seconds: only what evaluates imports it."""

import itertools
import logging
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any, cast

import numpy as np

from mtl.base.errors import InputError
from mtl.base.extras import check_installed
from mtl.base.files import write_json, write_text
from mtl.base.typed import UnknownKey
from mtl.jobs.engines import ENGINES, Mapper, Needs, Unit
from mtl.vectors.encoders.encoder import SentenceEncoder
from mtl.vectors.mteb.benchmark import COMMAND_KEYS, Benchmark, find_benchmark, load_benchmark, read_settings
from mtl.vectors.mteb.results import EvaluationFolder

logger = logging.getLogger("mtl")

CHOOSE = "choose"  # the value of a setting that is chosen
SPLIT = "validation"  # mteb does not score it
READ_TO_CENTRE = ("texts", "suite_data_dir")  # settings that encoders take with centre=true alone

OpenEncoder = Callable[[Mapping[str, Any]], SentenceEncoder]
Choices = Mapping[str, tuple[Any, ...]]
Validate = Callable[[SentenceEncoder, Sequence[str]], Mapping[str, float | None]]


def import_mteb(folder: Path) -> None:
    """Import mteb, so that it makes its folder of results here and writes no bars and notes of its own on standard
    error. Its notes say that tasks of a benchmark have newer versions, which are other data. Raises InputError if it is
    not installed."""
    check_installed("mteb")
    os.environ.setdefault("MTEB_CACHE", str(folder))
    import datasets
    import mteb  # noqa: F401

    datasets.disable_progress_bars()
    datasets.logging.set_verbosity(logging.CRITICAL)  # what it logs as errors it also raises
    for library in ("mteb", "huggingface_hub"):  # the hub's client logs each retry
        logging.getLogger(library).setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module=r"mteb\.")


def combinations(settings: Mapping[str, Any], choices: Choices) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """The combinations to try: the values that are chosen, and the encoder's settings with them. Raises InputError for a setting that cannot be
    chosen."""
    keys = [key for key, value in settings.items() if value == CHOOSE]
    if unknown := [key for key in keys if key not in choices]:
        raise InputError(f"{unknown[0]}={CHOOSE}: only {' and '.join(choices)} can be chosen on validation rows")
    chosen = [dict(zip(keys, values, strict=True)) for values in itertools.product(*(choices[key] for key in keys))]
    fitting = [(values, {**settings, **values}) for values in chosen]
    return [
        (values, {key: value for key, value in all.items() if key not in READ_TO_CENTRE or all.get("centre")})
        for values, all in fitting
    ]


def validation_tasks(benchmark: Benchmark, data_dir: Path | None) -> list[str]:
    """The tasks with validation rows in a local folder that are not the scored ones. Raises InputError if there are none."""
    names = [
        name
        for name, task in benchmark.tasks.items()
        if data_dir is not None and task.split != SPLIT and any((data_dir / name).glob(f"{SPLIT}.*"))
    ]
    if not names:
        where = f"no task has validation rows in {data_dir or 'data_dir'}"
        raise InputError(f"{CHOOSE}: {where}; it needs files such as TASK/{SPLIT}.jsonl")
    return names


def choose(
    settings: Mapping[str, Any], choices: Choices, tasks: Sequence[str], open_encoder: OpenEncoder, validate: Validate
) -> tuple[SentenceEncoder, Mapping[str, Any], dict[str, Any]]:
    """The encoder with the best mean score × 100 on the validation rows (of equal ones the first), its settings, and
    the record of the choice. `validate` returns the scores of an encoder by task, None for one that is not finite; then
    the combination is not chosen. Raises InputError if all have such a score."""
    tried: list[dict[str, Any]] = []
    best: tuple[float, SentenceEncoder, dict[str, Any], dict[str, Any]] | None = None
    for values, fitting in combinations(settings, choices):
        encoder = open_encoder(fitting)
        scores = dict(validate(encoder, tasks))
        mean = None if None in scores.values() else fmean(score or 0.0 for score in scores.values())
        mean_text = "none: a score is not finite" if mean is None else f"{mean:.2f}"
        logger.info("%s: mean %s", ", ".join(f"{key}={value}" for key, value in values.items()), mean_text)
        if mean is not None and (best is None or mean > best[0]):
            best = mean, encoder, values, fitting
        tried.append({"settings": values, "scores": scores, "mean": mean, "fingerprint": encoder.fingerprint})
    if best is None:
        where = f"on the {SPLIT} rows of {', '.join(tasks)}"
        raise InputError(f"{CHOOSE}: every combination has a score that is not finite {where}")
    _, encoder, values, fitting = best
    return encoder, fitting, {"split": SPLIT, "tasks": list(tasks), "tried": tried, "chosen": values}


def new_cluster() -> Mapper:
    """What encodes on a Ray cluster. Raises InputError if it is not installed."""
    engine = ENGINES.get("ray")
    if engine is None:
        raise InputError("needs the engine ray, which is not installed", key="workers")
    return cast(Mapper, engine())


def encode_on_cluster(
    maker: Unit, cluster: Mapper, workers: int, blocks: Iterable[list[str]], prompt: str | None
) -> Iterator[np.ndarray]:
    """The vectors of each block of texts. The unit opens the encoder. Raises InputError as the encoder and the cluster do."""
    return cluster.map(replace(maker, arguments=(*maker.arguments, prompt)), blocks, workers)


def _encoding(
    open_encoder: OpenEncoder, settings: Mapping[str, Any], prompt: str | None
) -> Callable[[list[str]], np.ndarray]:
    return partial(open_encoder(settings).encode, prompt=prompt)


def run_mteb(
    open_encoder: OpenEncoder, choices: Choices, values: Mapping[str, Any], about: Mapping[str, Any]
) -> EvaluationFolder:
    """Evaluate an encoder on a benchmark of mteb's tasks; return the folder with the results. Raises InputError if it cannot be done.

    Args:
        values: the settings of `mtl mteb` and of the encoder.
        about: further keys of the summary: the command, versions, the machine.
    """
    settings, encoder_settings = read_settings(values)
    path = find_benchmark(settings.benchmark)
    benchmark = load_benchmark(path)
    data_dir = None if settings.data_dir is None else Path(settings.data_dir)
    if data_dir and not data_dir.is_dir():
        raise InputError("no such folder", key="data_dir", value=data_dir)
    tasks = benchmark.choose(settings.tasks)
    if data_dir and settings.tasks is None:
        tasks = _tasks_with_folder(benchmark, data_dir)
    elif data_dir is None and (default := Path("data") / benchmark.name).is_dir():
        data_dir = default
    import_mteb(Path(settings.runs_dir) / "mteb")
    from mtl.vectors.mteb.evaluation import Evaluator, model_meta

    cluster = None if settings.workers is None else new_cluster()

    def evaluator(encoder: SentenceEncoder, encoder_settings: Mapping[str, Any]) -> Evaluator:
        folder, elsewhere = EvaluationFolder.of(settings.runs_dir, benchmark.name, encoder), None
        if cluster is not None:
            needs = Needs(gpu=float(str(encoder_settings.get("device", "cpu")).startswith("cuda")))
            maker = Unit("encoder", _encoding, (open_encoder, encoder_settings), folder=folder.corpora, needs=needs)
            elsewhere = partial(encode_on_cluster, maker, cluster, settings.workers)
        return Evaluator(encoder, benchmark, data_dir, folder, model_meta(encoder, benchmark), elsewhere)

    def validate(encoder: SentenceEncoder, tasks: Sequence[str]) -> dict[str, float | None]:
        candidate = evaluator(encoder, {})  # TMP
        with candidate.folder.locked():
            return {name: record["score"] for name, record in candidate.evaluate(tasks, SPLIT).items()}

    choice = None
    chosen_settings: Mapping[str, Any] = encoder_settings
    try:
        if CHOOSE in encoder_settings.values():
            validated = validation_tasks(benchmark, data_dir)
            encoder, chosen_settings, choice = choose(encoder_settings, choices, validated, open_encoder, validate)
        else:
            encoder = open_encoder(encoder_settings)
    except UnknownKey as error:
        raise error if error.section else UnknownKey(error.unknown, COMMAND_KEYS | set(error.known)) from None
    description, languages = encoder.description, benchmark.model_languages
    logger.info("%s: %s", description.title, description.settings)
    if languages and description.language and description.language not in languages:
        known = ", ".join(languages)
        logger.warning("the encoder's language is %s, but %s is in %s", description.language, benchmark.title, known)
    final = evaluator(encoder, chosen_settings)
    with final.folder.locked():
        write_text(final.folder.benchmark, path.read_text(encoding="utf-8"))
        if choice is not None:
            write_json(final.folder.choice, choice)
        records = final.evaluate(tasks, finished=lambda records: final.write_summary(records, chosen_settings, about))
        final.collect_results(final.with_earlier(records))
    return final.folder


def _tasks_with_folder(benchmark: Benchmark, data_dir: Path) -> list[str]:
    """The benchmark's tasks with a folder; the log names the others. Raises InputError if there are none."""
    present = [name for name in benchmark.tasks if (data_dir / name).is_dir()]
    if not present:
        message = f"has no folder of a task of {benchmark.name}, such as {data_dir / next(iter(benchmark.tasks))}"
        raise InputError(message, key="data_dir", value=data_dir)
    if left_out := benchmark.missing(present):
        logger.info("left out, without a folder in %s: %s", data_dir, ", ".join(left_out))
    return present
