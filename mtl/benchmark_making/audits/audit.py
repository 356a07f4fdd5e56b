"""Check a suite's data for errors, duplicates and leaks between splits, count its tokens, and write a report."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

from mtl.base.progress import progress
from mtl.base.wording import MISSING, counted, inert, markdown_table
from mtl.benchmark_making.audits.fields import field_findings
from mtl.benchmark_making.audits.findings import absent_targets, id_findings, target_findings
from mtl.benchmark_making.audits.leaks import shared_across, shared_within
from mtl.benchmark_making.audits.parts import HELD_OUT, Finding, Part, TaskFiles, read_files
from mtl.benchmark_making.audits.questions import question_findings
from mtl.benchmark_making.audits.text_findings import text_findings
from mtl.data.hashes import changed_splits, hash_files
from mtl.data.splits import check_present, has_files
from mtl.data.text import TokenizedTexts
from mtl.embedders import EMBEDDERS
from mtl.embedders.interface import EmbeddingsRequest
from mtl.jobs.job import Job
from mtl.methods import METHODS
from mtl.tasks.targets import target_kind


@dataclass(frozen=True)
class Audit:
    """The findings, and the sections of the report before them (Markdown), of which some may be empty."""

    findings: list[Finding]
    sections: list[str]

    @property
    def report(self) -> str:
        """The report, in Markdown that is also readable in a terminal: the sections, a line for each finding, and their number."""
        lines = [f"- {inert(str(finding))}" for finding in self.findings]
        tasks = len({finding.task for finding in self.findings})
        total = f"{counted(len(lines), 'finding')} in {counted(tasks, 'task')}"
        end = ["\n".join(["### Findings", "", *lines]), total] if lines else ["nothing found"]
        return "\n\n".join(filter(None, [*self.sections, *end]))


def audit(job: Job) -> Audit:
    """Read the suite's data as a run does, and check it. Raises InputError without data, and if the embeddings cannot be loaded."""
    suite, data_dir = job.suite, job.data_dir
    if not any(has_files(task, data_dir) for task in job.tasks):
        check_present(suite, job.tasks, data_dir)
    tasks = [read_files(suite, task, data_dir, job.config.held_out) for task in job.tasks]
    sizes = _size_sections(job, tasks)
    findings = {files.task.id: list(_task_findings(files, job)) for files in progress(tasks, "auditing", "tasks")}
    for finding in shared_across([files.parts for files in tasks]):
        findings[finding.task].append(finding)
    sections = [f"## {inert(suite.title)}: audit of {inert(str(data_dir))}", *sizes, _target_table(tasks)]
    return Audit(list(chain.from_iterable(findings.values())), sections)


def _task_findings(files: TaskFiles, job: Job) -> Iterator[Finding]:
    """The findings in the files of one task, in the order of the report."""
    yield from files.findings
    yield from _unlike_published(files, job.data_dir)
    for part in files.files.values():
        yield from text_findings(part)
        yield from target_findings(part)
    if HELD_OUT in files.shown:
        yield from absent_targets(files.shown[HELD_OUT])
    for part in files.files.values():
        yield from field_findings(part, job.data_dir, job.suite.shown)
        yield from id_findings(part, job.data_dir, job.suite.submission.ids)
    yield from question_findings(files.files)
    yield from shared_within(files.parts)


def _unlike_published(files: TaskFiles, data_dir: Path) -> Iterator[Finding]:
    """The files that differ from the published ones: in their number of rows, or else in the checksum that the suite names."""
    changed = changed_splits(hash_files([files.task], data_dir)).get(files.task.id, ())
    for split, part in files.files.items():
        rows, published = len(part.rows), files.task.rows.get(split)
        if published not in (None, rows):
            what = f"{rows} rows, {'fewer' if rows < published else 'more'} than the {published} published"
            meaning = "another version, or quotation marks that are not read as they were written; scores cannot be compared with published ones"
            yield part.finding("row count", abs(rows - published), what, meaning, part.file)
        elif split in changed:
            what = "the file differs from the one whose checksum the suite names"
            meaning = "tables mark the task as changed; scores cannot be compared with published ones"
            yield part.finding("checksum", 1, what, meaning, part.file)


def _size_sections(job: Job, tasks: Sequence[TaskFiles]) -> tuple[str, str]:
    """The table of rows, lengths in tokens, cut texts and unknown words, and what its columns mean. Raises InputError for bad embeddings."""
    config = job.config
    texts = [text for files in tasks for part in files.files.values() for row in part.rows for text in row.texts]
    uncut = TokenizedTexts(texts, job.suite.language, sys.maxsize, Path(config.cache_dir))
    cut = uncut.shortened(config.max_length)

    def text_numbers(part: Part) -> np.ndarray:
        """The numbers of the texts of all rows, with both texts of a pair, int64 (rows × texts per row,)."""
        return np.array([uncut.index[text] for row in part.rows for text in row.texts], dtype=np.int64)

    unknown = None  # of each text, the number of tokens without a vector
    training = [text_numbers(files.parts["train"]) for files in tasks if "train" in files.parts]
    if training and METHODS[config.method].reads_key("embeddings"):
        unknown = _unknown_tokens(job, cut, np.unique(np.concatenate(training)))
    table = [["task", "split", "rows", "median length", "longest", "cut", "unknown words"]]
    for files in tasks:
        for split, part in files.shown.items():
            numbers = text_numbers(part)
            lengths = uncut.lengths[numbers]
            sizes = [str(len(part.rows)), f"{np.median(lengths):g}", str(lengths.max())]
            share_unknown = MISSING if unknown is None else f"{unknown[numbers].sum() / cut.lengths[numbers].sum():.1%}"
            table.append([files.task.id, split, *sizes, f"{(lengths > config.max_length).mean():.1%}", share_unknown])
    vectors = "" if unknown is None else f" with embeddings={config.embeddings.name}"
    note = (
        f"Lengths are in tokens, of each text of a pair separately; cut: share of texts longer than max_length={config.max_length};"
        f" unknown words: share of all tokens that have no vector{vectors}."
        " Held-out rows are part of the training file and are also counted there."
    )
    return markdown_table(table, left=2), note


def _unknown_tokens(job: Job, texts: TokenizedTexts, training: np.ndarray) -> np.ndarray:
    """The number of tokens in each text that the embeddings do not know, int64 (texts,). `training`: the numbers of the texts of training rows."""
    from mtl.base.device import device_of
    from mtl.embedders.find import find_vectors

    config = job.config
    device = device_of(config.trainer.accelerator)
    if vectors := find_vectors(config, job.suite):
        vectors.check_obtainable()
        vectors.train_if_missing(job.suite, job.data_dir, config.held_out, device)
    path = None if vectors is None else vectors.path
    request = EmbeddingsRequest(config.embeddings, texts, training, path, Path(config.cache_dir), device)
    unknown = EMBEDDERS[config.embeddings.name].build(request).coverage.unknown_types[texts.tokens]
    return np.add.reduceat(unknown.astype(np.int64), texts.starts[:-1])


def _target_table(tasks: Sequence[TaskFiles]) -> str:
    """The table of the targets in each file, or an empty text if no file has targets."""
    table = [["task", "split", "targets"]]
    for files in tasks:
        kind = target_kind(files.task)
        for split, part in files.shown.items():
            values = np.array([row.target for row in part.rows if row.target is not None], dtype=kind.dtype)
            if len(values):
                table.append([files.task.id, split, inert(kind.distribution(values))])
    return markdown_table(table, left=3) if len(table) > 1 else ""
