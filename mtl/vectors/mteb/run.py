"""A whole evaluation: open the encoder, evaluate it, write the summary and the table."""

import logging
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np

from mtl.base.device import device_of
from mtl.base.errors import InputError
from mtl.base.files import write_text
from mtl.base.locks import lock
from mtl.base.log import logger
from mtl.base.typed import UnknownKey
from mtl.jobs.engines import ENGINES, Mapper, Needs, Unit
from mtl.vectors.encoders.encoder import EncodeBlocks, SentenceEncoder
from mtl.vectors.mteb.benchmark import COMMAND_KEYS, Benchmark, find_benchmark, load_benchmark, read_settings
from mtl.vectors.mteb.results import EvaluationFolder

OpenEncoder = Callable[[Mapping[str, Any]], SentenceEncoder]


def run_mteb(open_encoder: OpenEncoder, values: Mapping[str, Any], about: Mapping[str, Any]) -> EvaluationFolder:
    """Evaluate an encoder on a benchmark. `values`: settings of command and encoder; `about`: further keys of the summary. Raises InputError."""
    settings, encoder_settings = read_settings(values)
    path = find_benchmark(settings.benchmark)
    benchmark = load_benchmark(path)
    data_dir, tasks = settings.choose_data(benchmark)
    evaluations = Path(settings.runs_dir) / "mteb"
    _import_mteb(evaluations)
    from mtl.vectors.mteb.evaluation import Evaluator
    from mtl.vectors.mteb.model import model_meta

    encoder = _open_and_log(open_encoder, encoder_settings, benchmark)
    folder = EvaluationFolder(evaluations / benchmark.name / f"{encoder.description.name}-{encoder.revision}")
    encode_blocks = None
    if settings.workers is not None:
        encode_blocks = cluster_encoding(encoder, open_encoder, encoder_settings, settings.workers, folder.corpora)
    evaluator = Evaluator(encoder, benchmark, data_dir, folder, model_meta(encoder, benchmark), encode_blocks)
    with lock(folder.path / ".lock", f"{folder.path}: another process evaluates this encoder"):
        write_text(folder.benchmark, path.read_text(encoding="utf-8"))
        for number, name in enumerate(tasks, 1):
            evaluator.evaluate(name, f"{name} ({number} of {len(tasks)})")
            evaluator.write_summary(encoder_settings, about)
        evaluator.collect_results()
    return folder


def cluster_encoding(
    encoder: SentenceEncoder, open_encoder: OpenEncoder, settings: Mapping[str, Any], workers: int, folder: Path
) -> EncodeBlocks:
    """What encodes blocks of texts on a Ray cluster, whose workers see the folder. Raises InputError without Ray, and for unlike workers."""
    if "ray" not in ENGINES:
        raise InputError("needs the engine ray, which is not installed", key="workers")
    cluster = cast(Mapper, ENGINES["ray"]())
    needs = Needs(gpu=float(device_of(str(settings.get("device", "cpu")), "device").type == "cuda"))

    def encode(blocks: Iterable[list[str]], prompt: str | None) -> Iterator[np.ndarray]:
        arguments = (open_encoder, settings, prompt, encoder.centre, (encoder.fingerprint, encoder.versions()))
        return cluster.map(Unit("encoder", open_in_worker, arguments, folder=folder, needs=needs), blocks, workers)

    return encode


def open_in_worker(
    open_encoder: OpenEncoder, settings: Mapping[str, Any], prompt: str | None, centre: Any, identity: tuple[str, Any]
) -> Callable[[list[str]], np.ndarray]:
    """In a worker, what encodes a block of texts. Raises InputError for another encoder than the main process's."""
    encoder = open_encoder(settings)
    encoder.centre = centre  # its own mean may differ in the last digits, as it may have another number of CPU threads
    if (encoder.fingerprint, encoder.versions()) != identity:
        problem = "a worker has other files or versions of the encoder than this process"
        raise InputError(f"{problem} ({encoder.versions()}, not {identity[1]}); make them equal", key="workers")
    return partial(encoder.encode, prompt=prompt)


def _import_mteb(folder: Path) -> None:
    """Import mteb, which is slow: without its bars and notes, and with this folder for its results."""
    os.environ.setdefault("MTEB_CACHE", str(folder))
    import datasets
    import mteb  # noqa: F401

    datasets.disable_progress_bars()
    datasets.logging.set_verbosity(logging.CRITICAL)  # what it logs as errors it also raises
    for library in ("mteb", "huggingface_hub"):  # the hub's client logs each retry
        logging.getLogger(library).setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module=r"mteb\.")  # such as that a task has a newer version, which is other data


def _open_and_log(open_encoder: OpenEncoder, settings: Mapping[str, Any], benchmark: Benchmark) -> SentenceEncoder:
    """The encoder. Logs what it is, and warns if the benchmark is in other languages. Raises InputError, which knows the command's keys, too."""
    try:
        encoder = open_encoder(settings)
    except UnknownKey as error:
        if error.section:  # a key in a section of the encoder's settings: the command has no sections
            raise
        raise UnknownKey(error.unknown, COMMAND_KEYS | error.known) from None
    language, languages = encoder.description.language, benchmark.model_languages
    logger.info("%s: %s", encoder.description.title, encoder.description.settings)
    if languages and language and language not in languages:
        logger.warning("the encoder's language is %s, but %s is in %s", language, benchmark.title, ", ".join(languages))
    return encoder
