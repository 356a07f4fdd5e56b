"""An encoder as a model of mteb, and its evaluation with mteb's own code. What is finished is not repeated."""

import logging
import math
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import mteb
import numpy as np
from mteb.abstasks import AbsTask, AbsTaskRetrieval
from mteb.models.abs_encoder import AbsEncoder, get_prompt
from mteb.models.model_meta import ModelMeta, ScoringFunction
from mteb.results import TaskResult
from mteb.types import PromptType

from mtl.base.errors import InputError
from mtl.base.files import replacing, write_json, write_text
from mtl.base.wording import format_duration
from mtl.vectors.encoders.encoder import EncodeBlocks, SentenceEncoder
from mtl.vectors.mteb.benchmark import Benchmark
from mtl.vectors.mteb.data import MtebRows, cache_of, find_rows, fresh_task, load_rows, unreadable
from mtl.vectors.mteb.results import EvaluationFolder, Record, record_key, render_table, revision_of, seen_by, summarize
from mtl.vectors.mteb.retrieval import CorpusSearch
from mtl.vectors.mteb.statistics import compare_rows

logger = logging.getLogger("mtl")

# batch_size: texts in a batch of mteb's loader; the encoder makes batches of its own, and shows a bar of its own.
ENCODING = {"batch_size": 256, "show_progress_bar": False}
COMPARED = {"cosine": ScoringFunction.COSINE, "dot": ScoringFunction.DOT_PRODUCT}  # what mteb computes itself


class EncoderModel(AbsEncoder):
    """Gives mteb an encoder's vectors, and counts the texts and the seconds that they take."""

    def __init__(self, encoder: SentenceEncoder, meta: ModelMeta, encode_blocks: EncodeBlocks | None = None) -> None:
        """`encode_blocks` encodes the documents of corpora in other processes; None: this process does."""
        self.mteb_model_meta = meta
        self._encoder, self._encode_blocks = encoder, encode_blocks
        self.sentences = 0
        self.seconds = 0.0
        self.encoding = False  # whether the encoder is at work

    def encode(self, inputs: Any, **kwargs: Any) -> np.ndarray:
        """The vectors of batches with a list `text`, float32 (texts, dim). Raises InputError if they are not finite."""
        texts = [text for batch in inputs for text in batch["text"]]
        prompt = get_prompt(dict(self._encoder.prompts), kwargs["task_metadata"], kwargs.get("prompt_type"))
        return self._counted(lambda: self._encoder.encode(texts, progress=True, prompt=prompt))

    def encode_documents(self, blocks: Iterable[list[str]], task_metadata: Any) -> Iterator[np.ndarray]:
        """The vectors of the documents of a corpus, block by block. Raises InputError if they are not finite. Other
        processes encode while this one reads further blocks; the seconds count these reads, too."""
        prompt = get_prompt(dict(self._encoder.prompts), task_metadata, PromptType.document)
        if self._encode_blocks is None:
            for block in blocks:
                yield self._counted(partial(self._encoder.encode, block, prompt=prompt))
            return
        encoded = self._encode_blocks(blocks, prompt)
        while len(vectors := self._counted(lambda: next(encoded, np.empty(0)))):
            yield vectors

    def _counted(self, encode: Callable[[], np.ndarray]) -> np.ndarray:
        """The vectors that `encode` returns, which are counted with its seconds. `encoding` stays true if it fails."""
        start, self.encoding = time.monotonic(), True
        vectors = encode()
        self.encoding = False
        if not np.isfinite(vectors).all():
            title = self._encoder.description.title
            raise InputError(f"{title}: some of its vectors have values that are not finite numbers")
        self.seconds += time.monotonic() - start
        self.sentences += len(vectors)
        return vectors


def model_meta(encoder: SentenceEncoder, benchmark: Benchmark) -> ModelMeta:
    """The encoder's metadata for mteb's leaderboard and results. The revision is its fingerprint, and what no encoder
    knows, such as a licence, is None. Raises InputError for a similarity that mteb does not compute."""
    description, similarity = encoder.description, encoder.similarity
    language = benchmark.model_languages.get(description.language)
    seed = "" if description.seed is None else f"-seed{description.seed}"
    if similarity not in COMPARED:
        message = f"{description.title}: compares vectors by {similarity}, and mteb only by {' or '.join(COMPARED)}"
        raise InputError(message)
    metadata = {
        "name": f"mtl/{description.name}{seed}",
        "revision": revision_of(encoder),
        "languages": [language] if language else None,
        "n_parameters": description.parameters,
        "n_embedding_parameters": description.parameters - description.parameters_without_embeddings,
        "memory_usage_mb": description.memory / 2**20,
        "max_tokens": None if description.max_length is None else float(description.max_length),
        "embed_dim": description.dim,
        "framework": ["PyTorch"],
        "similarity_fn_name": COMPARED[similarity],
        "use_instructions": any(encoder.prompts.values()),
        "training_datasets": set(seen_by(description, benchmark)),
    }
    return ModelMeta.create_empty(metadata)


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
        """Write the record of a task, unless it has the same rows, metric and versions. The score is None if it is not
        a finite number. Messages begin with the title. Raises InputError for rows that mteb cannot evaluate."""
        rows, metric = find_rows(self.benchmark, name, self.data_dir), self.benchmark.metric(name)
        key = record_key(self.benchmark, name, self.versions) | {"revision": rows.revision}
        record, duration = self.folder.read_record(name, key), "as evaluated before"
        if record is None:
            record = {**key, **self._evaluate(name, rows, key["split"])}
            write_json(self.folder.record(name), record)
            duration = format_duration(record["seconds"])
        if record["score"] is None:
            problem = "is not a finite number, so the task counts as missing; are all targets or all vectors equal?"
            logger.warning("%s: %s %s", title, metric, problem)
        else:
            logger.info("%s: %s %.2f · %s", title, metric, record["score"], duration)

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
