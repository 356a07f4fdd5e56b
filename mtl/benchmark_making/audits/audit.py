"""Check a suite's data for errors, duplicates and leaks between splits, count its tokens, and write a report."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np

from mtl.base.errors import InputError
from mtl.base.progress import progress
from mtl.base.settings.schema import Config
from mtl.base.wording import MISSING, counted, inert, markdown_table
from mtl.benchmark_making.audits.findings import (
    HELD_OUT,
    Finding,
    Part,
    TaskFiles,
    absent_targets,
    id_findings,
    located_below,
    target_findings,
    text_findings,
)
from mtl.benchmark_making.audits.leaks import field_findings, question_findings, shared_across, shared_within
from mtl.data.hashes import changed_splits, hash_files
from mtl.data.held_out import hold_out
from mtl.data.splits import check_present, has_files, read_split
from mtl.data.text import TokenizedTexts
from mtl.embedders import EMBEDDERS
from mtl.embedders.interface import EmbeddingsRequest
from mtl.jobs.job import Job
from mtl.methods import METHODS
from mtl.tasks.suite import Suite
from mtl.tasks.targets import target_kind
from mtl.tasks.task import SPLITS, Task


@dataclass(frozen=True)
class Audit:
    """The findings, and the sections of the report before them (Markdown), of which some may be empty."""

    findings: list[Finding]
    sections: list[str]

    @property
    def report(self) -> str:
        """The report, in Markdown that is also readable in a terminal: the sections, a line for each finding, and their number."""
        verdict, lines = "nothing found", [f"- {inert(str(finding))}" for finding in self.findings]
        if lines:
            tasks = len({finding.task for finding in self.findings})
            verdict = f"{counted(len(lines), 'finding')} in {counted(tasks, 'task')}"
        listed = "\n".join(["### Findings", "", *lines]) if lines else ""
        return "\n\n".join(filter(None, [*self.sections, listed, verdict]))


def audit(job: Job) -> Audit:
    """Read the suite's data as a run does, and check it. Raises InputError without data, and if the embeddings cannot be loaded."""
    config, suite, folder = job.config, job.suite, job.data_dir
    if not any(has_files(task, folder) for task in job.tasks):
        check_present(suite, job.tasks, folder)
    read = [read_files(suite, task, folder, config.held_out) for task in job.tasks]
    sizes = _sizes(config, suite, folder, read)
    findings = {files.task.id: list(files.findings) for files in read}
    for files in progress(read, "auditing", "tasks"):
        task_findings, parts = findings[files.task.id], list(files.files.values())
        task_findings += _published(files, folder)
        for part in parts:
            task_findings += [*text_findings(part), *target_findings(part)]
        if HELD_OUT in files.shown:
            task_findings += absent_targets(files.shown[HELD_OUT])
        for part in parts:
            task_findings += field_findings(part, folder, suite.shown)
            task_findings += id_findings(part, folder, suite.submission.ids)
        task_findings += [*question_findings(files.files), *shared_within(files.parts)]
    for finding in shared_across([files.parts for files in read]):
        findings[finding.task].append(finding)
    sections = [f"## {inert(suite.title)}: audit of {inert(str(folder))}", *sizes, _targets(read)]
    return Audit(list(chain.from_iterable(findings.values())), sections)


def read_files(suite: Suite, task: Task, folder: Path, share: float) -> TaskFiles:
    """Read a task's files. If there is no dev file, this share of train is held out. A file that cannot be read gives a finding."""
    files: dict[str, Part] = {}
    findings: list[Finding] = []
    paths = {split: path for split in SPLITS if (path := task.path(split, folder))}
    absent = [split for split, path in paths.items() if not path.exists()]
    if absent:
        names = ", ".join(f"{task.folder}/{task.files[split]}".lstrip("/") for split in absent)
        all_absent = len(absent) == len(paths)
        why = "its publisher has withdrawn the data; " if task.withdrawn else ""
        left = "leaves the task out" if all_absent and suite.allow_missing else "must leave the task out (tasks=)"
        what = f"{'all' if all_absent else 'some'} of its files are missing: {names}"
        findings.append(Finding("missing", task.id, "", 1, what, f"{why}a run {left}"))
    for split, path in paths.items():
        if split in absent:
            continue
        try:
            rows = read_split(task, path, split, task.layout(split, folder))
        except InputError as error:
            meaning = "a run would stop here; the audit continues without this file"
            findings.append(Finding("unreadable", task.id, split, 1, located_below(error, folder), meaning))
            continue
        files[split] = Part(task, split, path.relative_to(folder).as_posix(), rows)
    parts = dict(files)
    if task.files["dev"] is None and "train" in files:
        train = files["train"]
        kept, held_out = hold_out(task, train.rows, share)
        if kept and held_out:
            parts["train"], parts["dev"] = replace(train, rows=kept), replace(train, split=HELD_OUT, rows=held_out)
        else:
            what = f"too few groups of rows to hold out {share:.0%} for validation"
            findings.append(train.finding("unreadable", 1, what, "a run would stop here", train.file))
    return TaskFiles(task, files, parts, findings)


def _published(files: TaskFiles, folder: Path) -> Iterator[Finding]:
    """The files that differ from the published ones: in their number of rows, or else in the checksum that the suite names."""
    changed = changed_splits(hash_files([files.task], folder)).get(files.task.id, ())
    for split, part in files.files.items():
        rows, published = len(part.rows), files.task.rows.get(split)
        if published not in (None, rows):
            what = f"{rows} rows, {'fewer' if rows < published else 'more'} than the {published} published"
            meaning = "another version, or rows lost by reading quotation marks as CSV quoting; scores cannot be compared with published ones"
            yield part.finding("row count", abs(rows - published), what, meaning, part.file)
        elif split in changed:
            what = "the file differs from the one whose checksum the suite names"
            meaning = "tables mark the task as changed; scores cannot be compared with published ones"
            yield part.finding("checksum", 1, what, meaning, part.file)


def _sizes(config: Config, suite: Suite, data_dir: Path, tasks: Sequence[TaskFiles]) -> tuple[str, str]:
    """The table of rows, lengths in tokens, cut texts and unknown words, and what its columns mean. Raises InputError if the embeddings cannot be
    loaded."""
    words = [text for files in tasks for part in files.files.values() for row in part.rows for text in row.texts]
    uncut = TokenizedTexts(words, suite.language, sys.maxsize, Path(config.cache_dir))
    read = uncut.shortened(config.max_length)

    def numbers_of(part: Part) -> np.ndarray:
        """The numbers of the texts of all rows, with both texts of a pair, int64 (rows × texts per row,)."""
        return np.array([uncut.index[text] for row in part.rows for text in row.texts], dtype=np.int64)

    unknown = None  # of each text, the tokens without a vector
    training = [numbers_of(files.parts["train"]) for files in tasks if "train" in files.parts]
    if training and METHODS[config.method].reads_key("embeddings"):
        unknown = _unknown_tokens(config, suite, data_dir, read, np.unique(np.concatenate(training)))
    table = [["task", "split", "rows", "median length", "longest", "cut", "unknown words"]]
    for files in tasks:
        for split, part in files.shown.items():
            texts = numbers_of(part)
            lengths = uncut.lengths[texts]
            share = MISSING if unknown is None else f"{unknown[texts].sum() / read.lengths[texts].sum():.1%}"
            cut = f"{(lengths > config.max_length).mean():.1%}"
            cells = [str(len(part.rows)), f"{np.median(lengths):g}", str(lengths.max()), cut, share]
            table.append([files.task.id, split, *cells])
    vectors = "" if unknown is None else f" with embeddings={config.embeddings.name}"
    note = (
        f"Lengths are in tokens, of each text of a pair separately; cut: share of texts longer than max_length={config.max_length};"
        f" unknown words: share of all tokens that have no vector{vectors}."
        " Held-out rows are part of the training file and are also counted there."
    )
    return markdown_table(table, left=2), note


def _unknown_tokens(
    config: Config, suite: Suite, data_dir: Path, texts: TokenizedTexts, training: np.ndarray
) -> np.ndarray:
    """Of each text, the number of tokens that the embeddings do not know, int64 (texts,). training: the numbers of the texts that a run trains on."""
    from mtl.base.device import device_of
    from mtl.embedders.find import find_vectors

    device = device_of(config.trainer.accelerator)
    if vectors := find_vectors(config, suite):
        vectors.check_obtainable()
        vectors.train_if_missing(suite, data_dir, config.held_out, device)
    path = None if vectors is None else vectors.path
    request = EmbeddingsRequest(config.embeddings, texts, training, path, Path(config.cache_dir), device)
    unknown = EMBEDDERS[config.embeddings.name].build(request).coverage.unknown_types[texts.tokens]
    return np.add.reduceat(unknown.astype(np.int64), texts.starts[:-1])


def _targets(tasks: Sequence[TaskFiles]) -> str:
    """The table of the targets in each file, or an empty text if no file has targets."""
    table = [["task", "split", "targets"]]
    for files in tasks:
        kind = target_kind(files.task)
        for split, part in files.shown.items():
            values = np.array([row.target for row in part.rows if row.target is not None], dtype=kind.dtype)
            if len(values):
                table.append([files.task.id, split, inert(kind.distribution(values))])
    return markdown_table(table, left=3) if len(table) > 1 else ""
