"""Check a suite's data for errors, duplicates and leaks between splits, count its tokens, and write a report, in Markdown that is also readable
in a terminal."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np

from mtl.base.errors import InputError
from mtl.base.files import counted
from mtl.base.progress import progress
from mtl.base.settings.schema import Config
from mtl.base.terminal import MISSING, inert, markdown_table
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
from mtl.benchmark_making.audits.leaks import (
    field_findings,
    question_findings,
    shared_across,
    shared_within,
)
from mtl.benchmark_making.init_suite.evidence import follows_from, is_long, is_source, with_counts
from mtl.benchmark_making.init_suite.kinds import label_questions
from mtl.benchmark_making.init_suite.tables import FileColumn, joined, read_table
from mtl.benchmark_making.init_suite.target import possible_targets
from mtl.benchmark_making.init_suite.wording import quoted
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

# A few cut texts change a score less than another seed does; one text in twenty changes it about as much as another seed.
CUT_SHARE = 0.05
# Share of the tokens. Vectors learned from scratch miss a quarter of a difficult test set and a third of another domain. If
# more than half is unknown, something is wrong: the language, the script or the tokenization.
UNKNOWN_SHARE = 0.5


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
    tokens = Tokens(config, suite, folder, read)
    findings = {files.task.id: list(files.findings) for files in read}
    notes = list[str]()
    for files in progress(read, "auditing", "tasks"):
        of_task, parts = findings[files.task.id], list(files.files.values())
        of_task += [*_published(files, folder)]
        for part in parts:
            of_task += [*text_findings(part), *tokens.findings(part), *target_findings(part)]
        if HELD_OUT in files.shown:
            of_task += absent_targets(files.shown[HELD_OUT])
        for part in parts:
            of_task += [*field_findings(part, folder, suite.shown), *id_findings(part, folder, suite.submission.ids)]
        of_task += [*question_findings(files.files), *label_findings(files.files), *shared_within(files.parts)]
        if parts:
            of_columns, other_targets = column_findings(parts[0], folder)
            of_task += of_columns
            notes += other_targets
    for finding in shared_across([files.parts for files in read]):
        findings[finding.task].append(finding)
    sections = [
        f"## {inert(suite.title)}: audit of {inert(str(folder))}",
        _sizes(read, tokens),
        tokens.note,
        _targets(read),
        "\n".join(["### Notes", "", *(f"- {inert(note)}" for note in notes)]) if notes else "",
    ]
    return Audit(list(chain.from_iterable(findings.values())), sections)


def read_files(suite: Suite, task: Task, folder: Path, share: float) -> TaskFiles:
    """Read a task's files, whose rows of train are held out by this share if there is no dev file.

    A file that cannot be read gives a finding with the reader's message.
    """
    files: dict[str, Part] = {}
    findings: list[Finding] = []
    paths = {split: path for split in SPLITS if (path := task.path(split, folder))}
    absent = [split for split, path in paths.items() if not path.exists()]
    if absent:
        names = ", ".join(f"{task.folder}/{task.files[split]}".lstrip("/") for split in absent)
        every = len(absent) == len(paths)
        why = "its publisher has withdrawn the data; " if task.withdrawn else ""
        left = "leaves the task out" if every and suite.allow_missing else "must leave the task out (tasks=)"
        average = ", and its average is partial" if task.id in suite.averaged else "; the average does not count it"
        what = f"{'all' if every else 'some'} of its files are missing: {names}"
        findings.append(Finding("missing", task.id, "", 1, what, f"{why}a run {left}{average}"))
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
            lost = "rows were left out, or a program lost them by reading quotation marks as CSV quoting"
            why = lost if rows < published else "another version of the data"
            meaning = f"{why}; scores cannot be compared with published ones"
            yield part.finding("row count", abs(rows - published), what, meaning, part.file)
        elif split in changed:
            what = "the file differs from the one whose checksum the suite names"
            meaning = "tables mark the task as changed; scores cannot be compared with published ones"
            yield part.finding("checksum", 1, what, meaning, part.file)


def label_findings(parts: Mapping[str, Part]) -> list[Finding]:
    """The findings about the labels of a task's files, by split."""
    by_split: dict[str, FileColumn] = {}
    for split, part in parts.items():
        written = [target_kind(part.task).to_json(row.target) for row in part.rows if row.target is not None]
        if written and part.task.labels is not None:
            labels = [str(label) for value in written for label in (value if isinstance(value, list) else [value])]
            by_split[split] = FileColumn(part.task.target, labels)
    if not by_split:
        return []
    first = next(iter(by_split))
    questions = label_questions(by_split[first], joined(list(by_split.values())), by_split)
    meaning, id = "a score counts each of them as an answer of its own", parts[first].task.id
    return [Finding("label names", id, "", 1, text.removeprefix("labels: "), meaning) for text in questions]


def column_findings(part: Part, folder: Path) -> tuple[list[Finding], list[str]]:
    """The findings about the columns of a file with targets, and a note on columns that could be targets, too."""
    task = part.task
    try:
        table = read_table(folder / part.file, task.layout(part.split, folder))
    except InputError:  # a file with more columns or other values than the task reads
        return [], []
    target = table.columns.get(task.target)
    if target is None or target.lists or any(row.target is None for row in part.rows):
        return [], []
    findings = []
    used = {**dict.fromkeys(task.text_columns, "an input"), **({task.group: "the group"} if task.group else {})}
    if task.labels is None and task.range is None:
        used = {}  # the words of an analogy follow from its answer, and candidates from nothing
    for name, role in used.items():
        column = table.columns.get(name)
        if column is not None and not is_long(column) and follows_from(column, target):
            what = f"column {quoted(name)}, {role}, follows from the target: rows with one target have one value there"
            meaning = "it is the label's name or code, or a coarser label, and predicts the target"
            findings.append(part.finding("dependent", 1, what, meaning, part.file))
    read = {*task.read_columns(targets=True)}
    others = [column for column in possible_targets(table) if column.name not in read and not is_source(column)]
    note = f"{task.id}: {with_counts(others)} could be the target, too; the task reads {quoted(task.target)}."
    return findings, [note] if others else []


class Tokens:
    """The tokens of all texts of a suite, before they are cut and as read, and which of them the configured embeddings do not know."""

    def __init__(self, config: Config, suite: Suite, data_dir: Path, tasks: Sequence[TaskFiles]) -> None:
        """Tokenize every text, and look the words up in the embeddings. Raises InputError if these cannot be loaded."""
        self.config, cache_dir = config, Path(config.cache_dir)
        words = [text for files in tasks for part in files.files.values() for row in part.rows for text in row.texts]
        uncut = TokenizedTexts(words, suite.language, sys.maxsize, cache_dir)
        texts = uncut.shortened(config.max_length)
        self.index, self._uncut, self._read = uncut.index, uncut.lengths, texts.lengths
        self._unknown: np.ndarray | None = None  # of each text, the tokens without a vector
        training = [files.parts["train"] for files in tasks if "train" in files.parts]
        if training and METHODS[config.method].reads_key("embeddings"):
            from mtl.base.device import device_of
            from mtl.embedders.find import find_vectors

            numbers = np.unique(np.concatenate([self.numbers(part) for part in training]))
            device = device_of(config.trainer.accelerator)
            if vectors := find_vectors(config, suite):
                vectors.check_obtainable()
                vectors.train_if_missing(suite, data_dir, config.held_out, device)
            path = None if vectors is None else vectors.path
            request = EmbeddingsRequest(config.embeddings, texts, numbers, path, cache_dir, device)
            unknown = EMBEDDERS[config.embeddings.name].build(request).coverage.unknown_types[texts.tokens]
            self._unknown = np.add.reduceat(unknown.astype(np.int64), texts.starts[:-1])

    def numbers(self, part: Part) -> np.ndarray:
        """The numbers of the texts of all rows, with both texts of a pair, int64 (rows × texts per row,)."""
        return np.array([self.index[text] for row in part.rows for text in row.texts], dtype=np.int64)

    def lengths(self, part: Part) -> np.ndarray:
        """The lengths of these texts in tokens, before they are cut, int64 (rows × texts per row,)."""
        return self._uncut[self.numbers(part)]

    def unknown_share(self, part: Part) -> float | None:
        """The share of the part's tokens that the embeddings do not know."""
        texts = self.numbers(part)
        return None if self._unknown is None else float(self._unknown[texts].sum() / self._read[texts].sum())

    def findings(self, part: Part) -> Iterator[Finding]:
        """Findings for a split with many cut texts or many unknown words."""
        most = self.config.max_length
        if (cut := (self.lengths(part) > most).mean()) > CUT_SHARE:
            what = f"{cut:.1%} of the texts are longer than max_length={most} and are cut"
            meaning = "the rest of them is not read; set max_length higher if memory allows"
            rows = [row for row in part.rows if any(self._uncut[self.index[text]] > most for text in row.texts)]
            yield part.finding("cut", len(rows), what, meaning, part.where(rows))
        if (share := self.unknown_share(part) or 0.0) > UNKNOWN_SHARE:
            what = f"the embeddings do not know {share:.1%} of the words"
            why = "the vectors are of another language or tokenization, or there is too little text to learn vectors"
            yield part.finding("unknown words", 1, what, why)

    @property
    def note(self) -> str:
        """What the columns of the table of sizes mean."""
        vectors = "" if self._unknown is None else f" with embeddings={self.config.embeddings.name}"
        return (
            f"Lengths are in tokens, of each text of a pair separately; cut: share of texts longer than max_length={self.config.max_length};"
            f" unknown words: share of all tokens that have no vector{vectors}."
            " Held-out rows are part of the training file and are also counted there."
        )


def _sizes(tasks: Sequence[TaskFiles], tokens: Tokens) -> str:
    table = [["task", "split", "rows", "published", "median length", "longest", "cut", "unknown words"]]
    for task, parts in ((files.task, files.shown) for files in tasks):
        for split in dict.fromkeys([*parts, *SPLITS]):
            published = task.rows.get(split)
            if split in parts:
                lengths, share = tokens.lengths(parts[split]), tokens.unknown_share(parts[split])
                cut = f"{(lengths > tokens.config.max_length).mean():.1%}"
                unknown = MISSING if share is None else f"{share:.1%}"
                numbers = [str(len(parts[split].rows)), f"{np.median(lengths):g}", str(lengths.max()), cut, unknown]
            elif task.files.get(split) is not None or published is not None:
                numbers = ["none", *[MISSING] * 4]
            else:
                continue
            table.append([task.id, split, numbers[0], MISSING if published is None else str(published), *numbers[1:]])
    return markdown_table(table, left=2)


def _targets(tasks: Sequence[TaskFiles]) -> str:
    table = [["task", "split", "targets"]]
    for files in tasks:
        kind = target_kind(files.task)
        for split, part in files.shown.items():
            values = np.array([row.target for row in part.rows if row.target is not None], dtype=kind.dtype)
            if len(values):
                table.append([files.task.id, split, inert(kind.distribution(values))])
    return markdown_table(table, left=3) if len(table) > 1 else ""
