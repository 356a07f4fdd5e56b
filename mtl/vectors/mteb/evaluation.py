"""The evaluation of an encoder on tasks, with mteb's own code. What is finished is not repeated."""

import math
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import mteb
from mteb.abstasks import AbsTask, AbsTaskRetrieval
from mteb.models.model_meta import ModelMeta
from mteb.results import TaskResult

from mtl.base.errors import InputError
from mtl.base.files import replacing, write_json, write_text
from mtl.base.log import logger
from mtl.base.wording import format_duration
from mtl.vectors.encoders.encoder import EncodeBlocks, SentenceEncoder
from mtl.vectors.mteb.benchmark import Benchmark
from mtl.vectors.mteb.data import MtebRows, cache_of, find_rows, fresh_task, load_rows, unreadable
from mtl.vectors.mteb.descriptions import compare_rows
from mtl.vectors.mteb.model import EncoderModel
from mtl.vectors.mteb.results import EvaluationFolder, Record, record_key
from mtl.vectors.mteb.retrieval import CorpusSearch
from mtl.vectors.mteb.summary import render_table, summarize

# batch_size: texts in a batch of mteb's loader; the encoder makes batches of its own, and shows a bar of its own.
ENCODING = {"batch_size": 256, "show_progress_bar": False}


@dataclass(frozen=True)
class Evaluator:
    """Evaluates an encoder on tasks whose rows are in their folders in `data_dir`, if it is there, or on the hub."""

    encoder: SentenceEncoder
    benchmark: Benchmark
    data_dir: Path | None
    folder: EvaluationFolder
    meta: ModelMeta
    encode_blocks: EncodeBlocks | None = None  # as in `EncoderModel`

    @cached_property
    def versions(self) -> dict[str, str]:
        """The versions of what scores depend on: mteb, scikit-learn, which trains classifiers and clusters, and the encoder's software."""
        return {"mteb": version("mteb"), "scikit-learn": version("scikit-learn"), **self.encoder.versions()}

    def evaluate(self, name: str, title: str) -> None:
        """Write a task's record, unless one has the same `record_key`. A score that is not finite is None. Raises InputError for bad local rows."""
        rows = find_rows(self.benchmark, name, self.data_dir)
        key = record_key(self.benchmark, name, self.versions) | {"revision": rows.revision}
        record = self.folder.read_record(name, key)
        duration = "as evaluated before"
        if record is None:
            record = {**key, **self._evaluate_anew(name, rows, key["split"])}
            write_json(self.folder.record(name), record)
            duration = format_duration(record["seconds"])
        if record["score"] is None:
            problem = "is not a finite number, so the task counts as missing; are all targets or all vectors equal?"
            logger.warning("%s: %s %s", title, record["metric"], problem)
        else:
            logger.info("%s: %s %.2f · %s", title, record["metric"], record["score"], duration)

    def records(self) -> dict[str, Record]:
        """The records with a score, by task, that the benchmark and these versions of the software would still make."""
        keys = {name: record_key(self.benchmark, name, self.versions) for name in self.benchmark.tasks}
        records = {name: self.folder.read_record(name, key) for name, key in keys.items()}
        return {name: record for name, record in records.items() if record is not None and record["score"] is not None}

    def write_summary(self, settings: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        summary = summarize(self.benchmark, self.encoder, settings, self.records())
        write_json(self.folder.summary, {**summary, **about})
        write_text(self.folder.table, render_table(self.folder.path, self.benchmark, summary))

    def collect_results(self) -> None:
        """Write mteb's own result files of the records to `results`, with the model's metadata. Raises InputError for damaged ones."""
        results = []
        for name in self.records():
            path = self.folder.result(name)
            try:
                results.append(TaskResult.from_disk(path, load_historic_data=False))
            except (OSError, ValueError):
                raise InputError(f"damaged; remove {path.parent} and evaluate again", path=path) from None
        shutil.rmtree(self.folder.results, ignore_errors=True)
        for result in results:
            mteb.ResultCache(self.folder.path).save_to_cache(result, self.meta, encode_kwargs=ENCODING)

    def _evaluate_anew(self, name: str, rows: MtebRows, split: str) -> Record:
        """Evaluate the encoder on a split of a task, and write mteb's own result file. Returns what the record has beside its key."""
        compared_task = fresh_task(self.benchmark, name, split, rows)
        load_rows(compared_task, rows)
        data, differences = compare_rows(compared_task, rows, split)
        model = EncoderModel(self.encoder, self.meta, self.encode_blocks)
        task = fresh_task(self.benchmark, name, split, rows)  # comparing may have drawn random numbers of the other
        result = self._run_mteb(model, task, rows)
        score = self._mean_score(name, result.scores[split])
        with replacing(self.folder.result(name)) as partial:
            result.to_disk(partial)
        return {
            "type": self.benchmark.type_of(name),
            "metric": self.benchmark.metric(name),
            "score": _percent(score),
            "main_metric": str(task.metadata.main_score),
            "main_score": _percent(result.get_score()),
            "data": data,
            "differences": differences,
            "seconds": result.evaluation_time,
            "encoding_seconds": model.seconds,
            "sentences": model.sentences,
        }

    def _mean_score(self, name: str, by_subset: Sequence[Mapping[str, Any]]) -> float:
        """The mean over a task's subsets of the score that the benchmark reports. Raises InputError if mteb has no score of this name."""
        metric = self.benchmark.metric(name)
        if any(metric not in scores for scores in by_subset):
            known = ", ".join(key for key, value in by_subset[0].items() if isinstance(value, float))
            raise InputError(f"benchmark {self.benchmark.name}: {name}: mteb has no score {metric!r}; it has {known}")
        return sum(scores[metric] for scores in by_subset) / len(by_subset)

    def _run_mteb(self, model: EncoderModel, task: AbsTask, rows: MtebRows) -> TaskResult:
        """mteb's result of a task. Raises InputError if mteb fails with local rows, other than in the encoder."""
        evaluated: EncoderModel | CorpusSearch = model
        if isinstance(task, AbsTaskRetrieval):
            key = [self.encoder.fingerprint, rows.revision, *map(str, sorted(self.versions.items()))]
            evaluated = CorpusSearch(model, self.folder.corpora, key)
        # Whether there is a result for these rows was decided by its record; mteb would return one for other rows.
        options: dict[str, Any] = {"co2_tracker": False, "cache": None, "show_progress_bar": False}
        try:
            with cache_of(rows):
                return mteb.evaluate(evaluated, task, encode_kwargs=dict(ENCODING), **options).task_results[0]
        except Exception as error:  # such as a single class in the training rows: it can fail anywhere in mteb
            if rows.folder is None or model.encoding or isinstance(error, InputError | OSError):
                raise
            raise unreadable(task, rows, error) from None


def _percent(score: float) -> float | None:
    return 100 * score if isinstance(score, int | float) and math.isfinite(score) else None
