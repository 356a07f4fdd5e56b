"""Evaluate an encoder on tasks with mteb's own code, one task after another; what is finished is not evaluated again."""

import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mteb
from mteb.models.model_meta import ModelMeta

from mtl.encoders.kind import SentenceEncoder
from mtl.errors import InputError
from mtl.evaluators.mteb.benchmark import Benchmark
from mtl.evaluators.mteb.data import TaskRows, compare_rows, find_rows, fresh_task, load_rows
from mtl.evaluators.mteb.folder import EvaluationFolder
from mtl.evaluators.mteb.model import EncoderModel
from mtl.files import read_json, write_json
from mtl.progress import format_duration

logger = logging.getLogger("mtl")

BATCH = 256  # texts in a batch of mteb's loader; the encoder makes batches of its own


@dataclass(frozen=True)
class Evaluator:
    """What an evaluation of an encoder needs. data_dir: with a folder for each task; None: all rows are on the hub."""

    encoder: SentenceEncoder
    benchmark: Benchmark
    data_dir: Path | None
    folder: EvaluationFolder
    meta: ModelMeta

    def evaluate(
        self, tasks: Sequence[str], split: str | None = None, finished: Callable[[], None] = lambda: None
    ) -> dict[str, dict[str, Any]]:
        """The record of each task, by name. split: to evaluate on, instead of the one that the benchmark scores. finished: called after
        each task.

        A task that was evaluated with this version of mteb, on the same rows, by the same metric is not evaluated again. Raises InputError.
        """
        records = {}
        for number, name in enumerate(tasks, 1):
            scored = self.benchmark.tasks[name].split
            records[name], old = self._record(name, split or scored)
            logger.info(
                "%s (%d of %d)%s: %s %.2f%s",
                *(name, number, len(tasks), "" if split is None else f", {split}"),
                *(self.benchmark.metric(name), records[name]["score"]),
                " · as evaluated before" if old else f" · {format_duration(records[name]['seconds'])}",
            )
            finished()
        if split is None:
            self._describe_model()
        return records

    def _describe_model(self) -> None:
        """Give all of mteb's result files the model's name and metadata of now: facts may have been added since they were written."""
        cache = mteb.ResultCache(self.folder.path)
        described = cache.get_task_result_path(model_name=self.meta, task_name="any").parent
        for results in self.folder.path.glob(f"results/*/{self.meta.revision}"):
            if results != described:
                described.mkdir(parents=True, exist_ok=True)
                for file in results.iterdir():
                    file.replace(described / file.name)
                results.rmdir()
                results.parent.rmdir()
        write_json(described / "model_meta.json", json.loads(json.dumps(self.meta.to_dict(), default=str)))

    def _record(self, name: str, split: str) -> tuple[dict[str, Any], bool]:
        """The record of a task on a split, and whether it is an older one."""
        path = self.folder.record(name, split, self.benchmark.tasks[name].split)
        rows = find_rows(self.benchmark, name, self.data_dir)
        key = {"mteb": mteb.__version__, "revision": rows.revision, "split": split}
        key |= {"metric": self.benchmark.metric(name), "languages": list(self.benchmark.languages)}
        if path.exists():
            record: dict[str, Any] = read_json(path)
            if {of: record.get(of) for of in key} == key:
                return record, True
        record = {**key, **self._evaluate(name, split, rows)}
        write_json(path, record)
        return record, False

    def _evaluate(self, name: str, split: str, rows: TaskRows) -> dict[str, Any]:
        """Evaluate the encoder on a split of a task. Scores are × 100."""
        described = fresh_task(self.benchmark, name, split, rows)
        load_rows(described, rows)
        compared = compare_rows(described, rows, split)
        model = EncoderModel(self.encoder, self.meta)
        task = fresh_task(self.benchmark, name, split, rows)  # comparing may have drawn random numbers of the other
        cache = mteb.ResultCache(self.folder.cache(split, self.benchmark.tasks[name].split))
        # Whether there is a result for these rows was decided by its record; mteb would return one for other rows.
        result = mteb.evaluate(
            model,
            task,
            co2_tracker=False,
            cache=cache,
            overwrite_strategy="always",
            encode_kwargs={"batch_size": BATCH},
            show_progress_bar=False,
        ).task_results[0]
        by_subset = result.scores[split]
        metric = self.benchmark.metric(name)
        if any(metric not in scores for scores in by_subset):
            raise InputError(
                f"benchmark {self.benchmark.name}: {name}: mteb has no score {metric!r}; it has"
                f" {', '.join(key for key, value in by_subset[0].items() if isinstance(value, float))}"
            )
        return {
            "type": self.benchmark.type_of(name),
            "metric": metric,
            "score": 100 * sum(scores[metric] for scores in by_subset) / len(by_subset),
            "main_metric": str(task.metadata.main_score),
            "main_score": 100 * result.get_score(),
            "data": compared.data,
            "differences": list(compared.differences),
            "seconds": result.evaluation_time,
            "encoding_seconds": model.seconds,
            "sentences": model.sentences,
        }
