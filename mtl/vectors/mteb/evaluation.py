"""Evaluate an encoder, as a model of mteb, on tasks with mteb's own code, one task after another. What is finished is not evaluated again."""

import logging
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import mteb
import numpy as np
from mteb.abstasks import AbsTask
from mteb.models.abs_encoder import AbsEncoder
from mteb.models.model_meta import ModelMeta, ScoringFunction
from mteb.results import TaskResult
from pydantic import ValidationError

from mtl.base.clock import format_duration
from mtl.base.errors import InputError
from mtl.base.files import replacing, write_json
from mtl.vectors.encoders.encoder import SentenceEncoder
from mtl.vectors.mteb.benchmark import Benchmark, ModelFacts
from mtl.vectors.mteb.data import TaskRows, compare_rows, find_rows, fresh_task, load_rows, local_texts, unreadable
from mtl.vectors.mteb.results import (
    FINGERPRINT_DIGITS,
    EvaluationFolder,
    Record,
    best_record,
    is_number,
    read_record,
    record_key,
    seen_by,
)


class EncoderModel(AbsEncoder):
    """Gives mteb an encoder's vectors, and counts the texts and the seconds that they take.

    Args:
        encoding: whether the encoder is at work.
    """

    def __init__(self, encoder: SentenceEncoder, meta: ModelMeta) -> None:
        self.mteb_model_meta = meta
        self._encoder = encoder
        self.sentences = 0
        self.seconds = 0.0
        self.encoding = False

    def encode(self, inputs: Any, **kwargs: Any) -> np.ndarray:
        """The vectors of batches of texts, float32 (texts, dim).

        Args:
            inputs: batches with a list `text`.
            kwargs: what mteb says of them.

        Raises:
            InputError: for vectors that are not finite, which no task can score.
        """
        texts = [text for batch in inputs for text in batch["text"]]
        start, self.encoding = time.monotonic(), True
        vectors = self._encoder.encode(texts, progress=True)
        self.encoding = False
        if not np.isfinite(vectors).all():
            raise InputError(
                f"{self._encoder.description.title}: some of its vectors have values that are not finite numbers"
            )
        self.seconds += time.monotonic() - start
        self.sentences += len(texts)
        return vectors


def model_meta(encoder: SentenceEncoder, benchmark: Benchmark, facts: ModelFacts) -> ModelMeta:
    """The encoder's metadata, as mteb's leaderboard and its repository of results take them.

    training_datasets: the benchmark's tasks whose training rows the encoder has seen. The revision is the encoder's fingerprint. Raises
    InputError for a fact that mteb does not take, such as an unknown licence.
    """
    try:
        return _model_meta(encoder, benchmark, facts)
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(f"model.{first['loc'][0]}={first['input']}: {' '.join(first['msg'].split())[:200]}") from None


def _model_meta(encoder: SentenceEncoder, benchmark: Benchmark, facts: ModelFacts) -> ModelMeta:
    description = encoder.description
    language = benchmark.model_languages.get(description.language)
    return ModelMeta(
        loader=None,
        name=facts.name or f"mtl/{description.name}{'' if description.seed is None else f'-seed{description.seed}'}",
        revision=encoder.fingerprint()[:FINGERPRINT_DIGITS],
        release_date=facts.release_date,
        languages=[language] if language else None,
        n_parameters=description.parameters,
        n_embedding_parameters=description.parameters - description.parameters_without_embeddings,
        memory_usage_mb=description.memory / 2**20,
        max_tokens=description.max_length,
        embed_dim=description.dim,
        license=facts.license,
        open_weights=facts.open_weights,
        public_training_code=facts.public_training_code,
        public_training_data=facts.public_training_data,
        framework=["PyTorch"],
        reference=facts.reference,
        similarity_fn_name=ScoringFunction.COSINE,
        use_instructions=False,
        training_datasets=set(seen_by(description, benchmark)),
    )


logger = logging.getLogger("mtl")

# batch_size: texts in a batch of mteb's loader; the encoder makes batches of its own, and shows a bar of its own.
ENCODING = {"batch_size": 256, "show_progress_bar": False}


@dataclass(frozen=True)
class Evaluator:
    """What an evaluation of an encoder needs.

    Args:
        data_dir: with a folder for each task; None: all rows are on the hub.
    """

    encoder: SentenceEncoder
    benchmark: Benchmark
    data_dir: Path | None
    folder: EvaluationFolder
    meta: ModelMeta

    @cached_property
    def versions(self) -> dict[str, str]:
        """The versions of what scores depend on: mteb, scikit-learn, which trains classifiers and clusters, and the encoder's software."""
        return {**{package: version(package) for package in ("mteb", "scikit-learn")}, **self.encoder.versions()}

    def evaluate(
        self,
        tasks: Sequence[str],
        split: str | None = None,
        finished: Callable[[Mapping[str, Record]], None] = lambda records: None,
    ) -> dict[str, Record]:
        """The record of each task, by name; its score is None if it is not a finite number.

        A task that was evaluated with these versions of the software, on the same rows, by the same metric is not
        evaluated again.

        Args:
            split: to evaluate on, instead of the one that the benchmark scores.
            finished: called after each task with the records so far.

        Raises:
            InputError: if it cannot be done.
        """
        records: dict[str, Record] = {}
        if waiting := [name for name in tasks if self._recorded(name, split)[1] is None]:
            self.encoder.learn(local_texts(self.benchmark, waiting, self.data_dir))
        for number, name in enumerate(tasks, 1):
            records[name], old = self._record(name, split)
            title = f"{name} ({number} of {len(tasks)}){'' if split is None else f', {split}'}"
            metric, score = self.benchmark.metric(name), records[name]["score"]
            after = "as evaluated before" if old else format_duration(records[name]["seconds"])
            if score is None:
                logger.warning(
                    "%s: %s is not a finite number, so the task counts as missing; are all targets or all vectors equal?",
                    *(title, metric),
                )
            else:
                logger.info("%s: %s %.2f · %s", title, metric, score, after)
            finished(records)
        return records

    def with_earlier(self, records: Mapping[str, Record]) -> dict[str, Record]:
        """The records with a score: these, and for other tasks those of earlier commands that are still what the
        benchmark and these versions of the software would record, preferably on exact data.

        Args:
            records: the records of this command, by task.
        """
        earlier = {
            name: best_record(self.folder, name, record_key(self.benchmark, name, self.versions))
            for name in self.benchmark.tasks
            if name not in records
        } | dict(records)
        return {name: record for name, record in earlier.items() if record is not None and record["score"] is not None}

    def collect_results(self, records: Mapping[str, Record]) -> None:
        """Write the folder `results`: mteb's own result file of each of these records, under the model's name and metadata of now.

        Raises InputError for a result file that is damaged.
        """
        with tempfile.TemporaryDirectory(dir=self.folder.path, prefix=".results-") as made:
            cache = mteb.ResultCache(made)
            for name, record in records.items():
                path = self.folder.result(self.folder.record(name, record["revision"]))
                try:
                    result = TaskResult.from_disk(path, load_historic_data=False)
                except (OSError, ValueError):
                    raise InputError(f"damaged; remove {path.parent} and evaluate again", path=path) from None
                cache.save_to_cache(result, self.meta, encode_kwargs=ENCODING)
            shutil.rmtree(self.folder.results, ignore_errors=True)
            if records:
                (Path(made) / "results").replace(self.folder.results)

    def _record(self, name: str, split: str | None) -> tuple[Record, bool]:
        """The record of a task on a split, and whether it is an older one."""
        (path, rows, key), old = self._recorded(name, split)
        if old is not None:
            return old, True
        record = {**key, **self._evaluate(name, rows, key["split"], self.folder.result(path))}
        write_json(path, record)
        return record, False

    def _recorded(self, name: str, split: str | None) -> tuple[tuple[Path, TaskRows, Record], Record | None]:
        """The record's path, the rows and the key of a task on a split, and what is recorded of it."""
        rows = find_rows(self.benchmark, name, self.data_dir)
        path = self.folder.record(name, rows.revision, split)
        key = record_key(self.benchmark, name, self.versions, split) | {"revision": rows.revision}
        return (path, rows, key), read_record(path, key)

    def _evaluate(self, name: str, rows: TaskRows, split: str, path: Path) -> Record:
        """Evaluate the encoder on a split of a task. Scores are × 100. path: for mteb's own result file."""
        described = fresh_task(self.benchmark, name, split, rows)
        load_rows(described, rows)
        compared = compare_rows(described, rows, split)
        model = EncoderModel(self.encoder, self.meta)
        task = fresh_task(self.benchmark, name, split, rows)  # comparing may have drawn random numbers of the other
        result = _score(model, task, rows)
        by_subset = result.scores[split]
        metric = self.benchmark.metric(name)
        if any(metric not in scores for scores in by_subset):
            raise InputError(
                f"benchmark {self.benchmark.name}: {name}: mteb has no score {metric!r}; it has"
                f" {', '.join(key for key, value in by_subset[0].items() if isinstance(value, float))}"
            )
        with replacing(path) as partial:
            result.to_disk(partial)
        return {
            "type": self.benchmark.type_of(name),
            "metric": metric,
            "score": _percent(sum(scores[metric] for scores in by_subset) / len(by_subset)),
            "main_metric": str(task.metadata.main_score),
            "main_score": _percent(result.get_score()),
            "data": compared.data,
            "differences": list(compared.differences),
            "seconds": result.evaluation_time,
            "encoding_seconds": model.seconds,
            "sentences": model.sentences,
        }


def _score(model: EncoderModel, task: AbsTask, rows: TaskRows) -> TaskResult:
    """mteb's result. Raises InputError if it fails with local rows, other than in the encoder."""
    try:
        # Whether there is a result for these rows was decided by its record; mteb would return one for other rows.
        result = mteb.evaluate(
            model, task, co2_tracker=False, cache=None, encode_kwargs=dict(ENCODING), show_progress_bar=False
        )
    except Exception as error:  # such as a single class in the training rows: it can fail anywhere in mteb
        if rows.folder is None or model.encoding or isinstance(error, InputError):
            raise
        raise unreadable(task, rows, error) from None
    return result.task_results[0]


def _percent(score: float) -> float | None:
    """A score × 100; None if it is not a finite number."""
    return 100 * score if is_number(score) else None
