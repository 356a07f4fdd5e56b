"""The evaluation of an encoder on tasks, with mteb's own code. What is finished is not repeated."""

import contextlib
import io
import math
import shutil
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import mteb
import numpy as np
from mteb.abstasks import AbsTask, AbsTaskRetrieval
from mteb.models.model_meta import ModelMeta
from mteb.results import TaskResult

from mtl.base.errors import InputError
from mtl.base.files import replacing, write_json, write_text
from mtl.base.log import logger
from mtl.base.wording import format_duration
from mtl.vectors.encoders.encoder import EncodeBlocks, SentenceEncoder
from mtl.vectors.mteb.benchmark import Benchmark
from mtl.vectors.mteb.data import MtebRows, cache_of, find_rows, fresh_task, load_rows, read_splits, unreadable
from mtl.vectors.mteb.model import EncoderModel
from mtl.vectors.mteb.results import EXACT, OTHER, REDUCED, EvaluationFolder, Record, record_key
from mtl.vectors.mteb.retrieval import CorpusSearch, document_blocks
from mtl.vectors.mteb.summary import render_table, summarize

# batch_size: texts in a batch of mteb's loader; the encoder makes batches of its own, and shows a bar of its own.
ENCODING = {"batch_size": 256, "show_progress_bar": False}
SHOWN = 3  # the most differences that are recorded of a split, or of each subset of it


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
        return {**{package: version(package) for package in ("mteb", "scikit-learn")}, **self.encoder.versions()}

    def evaluate(self, name: str, title: str) -> None:
        """Write the record of a task, unless it has the same rows, split, metric, languages and versions. The score is None if it is not a
        finite number. Messages begin with the title. Raises InputError for local rows that mteb cannot evaluate; hub rows raise mteb's own error."""
        rows, metric = find_rows(self.benchmark, name, self.data_dir), self.benchmark.metric(name)
        key = record_key(self.benchmark, name, self.versions) | {"revision": rows.revision}
        record, how_long = self.folder.read_record(name, key), "as evaluated before"
        if record is None:
            record = {**key, **self._evaluate(name, rows, key["split"])}
            write_json(self.folder.record(name), record)
            how_long = format_duration(record["seconds"])
        if record["score"] is None:
            problem = "is not a finite number, so the task counts as missing; are all targets or all vectors equal?"
            logger.warning("%s: %s %s", title, metric, problem)
        else:
            logger.info("%s: %s %.2f · %s", title, metric, record["score"], how_long)

    def records(self) -> dict[str, Record]:
        """The records with a score, by task, that the benchmark and these versions of the software would still make."""
        keys = {name: record_key(self.benchmark, name, self.versions) for name in self.benchmark.tasks}
        records = {name: self.folder.read_record(name, key) for name, key in keys.items()}
        return {name: record for name, record in records.items() if record is not None and record["score"] is not None}

    def write_summary(self, settings: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        """Write the summary of the records, with these further keys, and their table."""
        summary = summarize(self.benchmark, self.encoder, settings, self.records())
        write_json(self.folder.summary, {**summary, **about})
        write_text(self.folder.table, render_table(self.benchmark, summary))

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

    def _evaluate(self, name: str, rows: MtebRows, split: str) -> Record:
        """Evaluate the encoder on a split of a task, and write mteb's own result file. Scores are × 100."""
        described = fresh_task(self.benchmark, name, split, rows)
        load_rows(described, rows)
        data, differences = compare_rows(described, rows, split)
        model = EncoderModel(self.encoder, self.meta, self.encode_blocks)
        task = fresh_task(self.benchmark, name, split, rows)  # comparing may have drawn random numbers of the other
        result = self._run_mteb(model, task, rows)
        by_subset, metric = result.scores[split], self.benchmark.metric(name)
        if any(metric not in scores for scores in by_subset):
            known = ", ".join(key for key, value in by_subset[0].items() if isinstance(value, float))
            raise InputError(f"benchmark {self.benchmark.name}: {name}: mteb has no score {metric!r}; it has {known}")
        with replacing(self.folder.result(name)) as partial:
            result.to_disk(partial)
        return {
            "type": self.benchmark.type_of(name),
            "metric": metric,
            "score": _percent(sum(scores[metric] for scores in by_subset) / len(by_subset)),
            "main_metric": str(task.metadata.main_score),
            "main_score": _percent(result.get_score()),
            "data": data,
            "differences": differences,
            "seconds": result.evaluation_time,
            "encoding_seconds": model.seconds,
            "sentences": model.sentences,
        }

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
                (result,) = mteb.evaluate(evaluated, task, encode_kwargs=dict(ENCODING), **options).task_results
        except Exception as error:  # such as a single class in the training rows: it can fail anywhere in mteb
            if rows.folder is None or model.encoding or isinstance(error, InputError | OSError):
                raise
            raise unreadable(task, rows, error) from None
        return result


def _percent(score: float) -> float | None:
    """A score × 100; None if it is not a finite number."""
    return 100 * score if isinstance(score, int | float) and math.isfinite(score) else None


def compare_rows(task: AbsTask, rows: MtebRows, split: str) -> tuple[str, list[str]]:
    """Whether the loaded rows of a task, scored and training ones, are those that mteb describes: EXACT, REDUCED (fewer rows) or OTHER; and the
    differences in words. The hub's are exact if mteb describes the split: else mteb may have taken another. Raises InputError for another form."""
    described = task.metadata.descriptive_stats or {}
    if rows.folder is None:
        return (EXACT, []) if split in described else (OTHER, [f"{split}: mteb does not describe it"])
    differences, fewer = list[str](), False
    for name in read_splits(task, [split]):
        if name not in described:
            differences.append(f"{name}: mteb does not describe it")
            continue
        for subset in task.hf_subsets if task.metadata.is_multilingual else (None,):
            theirs = described[name] if subset is None else described[name]["hf_subset_descriptive_stats"][subset]
            try:
                with contextlib.redirect_stderr(io.StringIO()):  # bars of mteb
                    ours = _statistics(task, name, subset)
            except Exception as error:  # a column or a value of another type than the task's can fail anywhere in mteb
                raise unreadable(task, rows, error) from None
            differences += _differences(name, ours, theirs)[:SHOWN]
            fewer = fewer or ours["num_samples"] < theirs["num_samples"]
    if fewer:
        return REDUCED, differences
    return (OTHER if differences else EXACT), differences


def _differences(split: str, ours: Mapping[str, Any], described: Mapping[str, Any]) -> list[str]:
    """The numbers of a split that are not those that mteb describes, as in "test: 90 samples, not 100"."""
    present, differences = dict(_flat(ours)), []
    for names, expected in _flat(described):
        if present.get(names) != expected:
            *parts, counted = names
            differences.append(f"{': '.join([split, *parts])}: {present.get(names, 'no')} {counted}, not {expected}")
    return differences


def _statistics(task: AbsTask, split: str, subset: str | None) -> Mapping[str, Any]:
    """What mteb describes of the rows of a split. The texts of a corpus are read block by block, where mteb would hold them in memory."""
    if not isinstance(task, AbsTaskRetrieval):
        return task._calculate_descriptive_statistics_from_split(split, hf_subset=subset)
    task.convert_v1_dataset_format_to_v2(num_proc=None)
    rows = task.dataset[subset or "default"][split]
    corpus = rows["corpus"]
    relevant_ids = {id for documents in rows["relevant_docs"].values() for id in documents}
    lengths, hashes, relevant_positions = array("q"), array("q"), array("q")
    for block in document_blocks(corpus, task.metadata):
        numbered = enumerate(block["id"], len(lengths))  # by their positions in the corpus
        relevant_positions.extend(position for position, id in numbered if id in relevant_ids)
        lengths.extend(map(len, block["text"]))
        hashes.extend(map(hash, block["text"]))
    rows["corpus"] = corpus.select(relevant_positions or [0])  # all that mteb reads of it beside the texts
    ours = task._calculate_descriptive_statistics_from_split(split, hf_subset=subset)
    rows["corpus"] = corpus
    characters = sum(lengths)
    texts = {"total_text_length": characters, "min_text_length": min(lengths), "max_text_length": max(lengths)}
    return {
        **ours,
        "num_samples": len(corpus) + ours["num_queries"],
        "num_documents": len(corpus),
        "number_of_characters": characters + ours["queries_text_statistics"]["total_text_length"],
        "documents_text_statistics": {**texts, "unique_texts": len(np.unique(hashes))},
    }


def _flat(statistics: Mapping[str, Any], *names: str) -> Iterator[tuple[tuple[str, ...], int | float]]:
    """The numbers in nested statistics, without averages, each after its names in words: those of the parts that it is in, then its own."""
    for key, value in statistics.items():
        name = str(key).removeprefix("num_").removeprefix("number_of_").removesuffix("_statistics").replace("_", " ")
        if isinstance(value, Mapping):
            yield from _flat(value, *names, name)
        elif isinstance(value, int | float) and not key.startswith(("average_", "avg_")):
            yield (*names, name), value
