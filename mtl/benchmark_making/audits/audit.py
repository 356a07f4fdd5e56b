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
from mtl.benchmark_making.audits.fields import field_findings, question_findings
from mtl.benchmark_making.audits.findings import (
    HELD_OUT,
    Finding,
    Part,
    TaskFiles,
    absent_targets,
    located_below,
    target_findings,
    text_findings,
)
from mtl.benchmark_making.audits.sharing import shared_across, shared_within
from mtl.benchmark_making.init_suite.evidence import follows_from, is_long, is_source, with_counts
from mtl.benchmark_making.init_suite.kinds import joined, label_questions
from mtl.benchmark_making.init_suite.tables import FileColumn, FileTable, read_table
from mtl.benchmark_making.init_suite.target import named_labels, possible_targets
from mtl.benchmark_making.init_suite.wording import quoted
from mtl.data.files import changed_splits, hash_files
from mtl.data.splits import hold_out, read_split
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
    def lines(self) -> list[str]:
        """A line for each finding."""
        return [f"- {inert(str(finding))}" for finding in self.findings]

    @property
    def verdict(self) -> str:
        """The last line of the report: the number of findings."""
        tasks = len({finding.task for finding in self.findings})
        found = f"{counted(len(self.findings), 'finding')} in {counted(tasks, 'task')}"
        return found if self.findings else "nothing found"

    @property
    def report(self) -> str:
        """The report, in Markdown that is also readable in a terminal."""
        listed = "\n".join(["### Findings", "", *self.lines]) if self.findings else ""
        return "\n\n".join(filter(None, [*self.sections, listed, self.verdict]))


def audit(job: Job) -> Audit:
    """Read the suite's data as a run does, and check it. Raises InputError without data, and if the embeddings cannot be loaded."""
    config, suite, folder, tasks = job.config, job.suite, job.data_dir, job.tasks
    _check_folder(suite, tasks, folder)
    read = [read_files(suite, task, folder, config.held_out) for task in tasks]
    tokens = count_tokens(config, suite, folder, read)
    findings = {files.task.id: list(files.findings) for files in read}
    notes = [note for files in read for note in files.notes]
    for files in progress(read, "auditing", "tasks"):
        of_task = findings[files.task.id]
        of_task += [*_published(files, folder)]
        for part in files.files.values():
            of_task += [*text_findings(part), *token_findings(part, tokens, config.max_length), *target_findings(part)]
        if HELD_OUT in files.shown:
            of_task += absent_targets(files.shown[HELD_OUT])
        for part in files.files.values():
            of_task += field_findings(part, folder, suite.shown)
        of_task += [*question_findings(files.files), *label_findings(files.files), *shared_within(files.parts)]
        if files.files:
            of_columns, other_targets = column_findings(next(iter(files.files.values())), folder)
            of_task += of_columns
            notes += other_targets
    for finding in shared_across([files.parts for files in read]):
        findings[finding.task].append(finding)
    sections = [
        f"## {inert(suite.title)}: audit of {inert(str(folder))}",
        _sizes(config, read, tokens),
        _note(config, tokens),
        _targets(read),
        "\n".join(["### Notes", "", *(f"- {inert(note)}" for note in notes)]) if notes else "",
    ]
    return Audit(list(chain.from_iterable(findings.values())), sections)


def _check_folder(suite: Suite, tasks: Sequence[Task], folder: Path) -> None:
    """Raise InputError unless the folder exists and has a file of at least one of the tasks."""
    can_be_had = suite.generated or any(task.source or task.hub for task in tasks)
    how = f"; get it with: mtl data {suite.name}" if can_be_had else ""
    if not folder.is_dir():
        problem = f"no such folder; the data of suite {suite.name} should be there{how}, or set data_dir="
        raise InputError(problem, path=folder)
    paths = [path for task in tasks for split in SPLITS if (path := task.path(split, folder))]
    if not any(path.exists() for path in paths):
        raise InputError(f"has no file of {', '.join(task.id for task in tasks)} ({paths[0]}, …){how}", path=folder)


def read_files(suite: Suite, task: Task, folder: Path, share: float) -> TaskFiles:
    """Read a task's files, whose rows of train are held out by this share if there is no dev file.

    A file that cannot be read gives a finding with the reader's message.
    """
    files: dict[str, Part] = {}
    findings: list[Finding] = []
    notes = []
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
            count = f"{len(held_out)} of its {len(train.rows)} training rows"
            notes.append(f"{task.id} has no dev file: {count} are held out as dev.")
        else:
            what = f"too few groups of rows to hold out {share:.0%} for validation"
            findings.append(train.finding("unreadable", 1, what, "a run would stop here", train.file))
    return TaskFiles(task, files, parts, findings, notes)


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
    by_split = {split: column for split, part in parts.items() if (column := _labels(part)) is not None}
    if not by_split:
        return []
    part, column = parts[next(iter(by_split))], joined(list(by_split.values()))
    texts = [text.removeprefix("labels: ") for text in label_questions(by_split[part.split], column, by_split)]
    meaning = "a score counts each of them as an answer of its own"
    return [Finding("label names", part.task.id, "", 1, text, meaning) for text in texts]


def _labels(part: Part) -> FileColumn | None:
    """The labels of all rows, as they stand in the file; None for a task without labels, and a split without targets."""
    if part.task.labels is None:
        return None
    kind = target_kind(part.task)
    written = [kind.to_json(row.target) for row in part.rows if row.target is not None]
    labels = [str(label) for value in written for label in (value if isinstance(value, list) else [value])]
    return FileColumn(part.task.target, labels) if labels else None


def column_findings(part: Part, folder: Path) -> tuple[list[Finding], list[str]]:
    """The findings about the columns of a file with targets, and a note on columns that could be targets, too."""
    task = part.task
    if any(row.target is None for row in part.rows):
        return [], []
    try:
        table = read_table(folder / part.file, task.layout(part.split, folder))
    except InputError:  # a file with more columns or other values than the task reads
        return [], []
    if (target := _target(task, table)) is None:
        return [], []
    used = {*task.read_columns(targets=True)}
    others = [column for column in possible_targets(table) if column.name not in used and not is_source(column)]
    note = f"{task.id}: {with_counts(others)} could be the target, too; the task reads {quoted(task.target)}."
    return list(_dependent(part, table, target)), [note] if others else []


def _target(task: Task, table: FileTable) -> FileColumn | None:
    """The targets as one column of texts; None for lists of other kinds, and for what a table cannot show."""
    known = {"target": task.target, "kind": task.kind, "label_separator": task.label_separator}
    if several := named_labels(table, {key: value for key, value in known.items() if value is not None}):
        return several.joined(table).columns.get(task.target)
    column = table.columns.get(task.target)
    return None if column is None or column.lists else column


def _dependent(part: Part, table: FileTable, target: FileColumn) -> Iterator[Finding]:
    task = part.task
    if task.labels is None and task.range is None:
        return  # the words of an analogy follow from its answer, and candidates from nothing
    used = {**dict.fromkeys(task.text_columns, "an input"), **({task.group: "the group"} if task.group else {})}
    for name, role in used.items():
        column = table.columns.get(name)
        if column is not None and not is_long(column) and follows_from(column, target):
            what = f"column {quoted(name)}, {role}, follows from the target: rows with one target have one value there"
            meaning = "it is the label's name or code, or a coarser label, and predicts the target"
            yield part.finding("dependent", 1, what, meaning, part.file)


@dataclass(frozen=True)
class TokenCounts:
    """Token counts of all texts, int64 (texts,): before they are cut and as read, and among these the tokens that the embeddings do not know (None:
    not known). `index` has the number of each text."""

    index: dict[str, int]
    lengths: np.ndarray
    read: np.ndarray
    unknown: np.ndarray | None

    def of(self, part: Part) -> np.ndarray:
        """The text numbers of all rows, with both texts of a pair, int64 (rows × texts per row,)."""
        return np.array([self.index[text] for row in part.rows for text in row.texts], dtype=np.int64)

    def unknown_share(self, part: Part) -> float | None:
        """The share of the part's tokens that the embeddings do not know."""
        texts = self.of(part)
        return None if self.unknown is None else float(self.unknown[texts].sum() / self.read[texts].sum())


def count_tokens(config: Config, suite: Suite, data_dir: Path, tasks: Sequence[TaskFiles]) -> TokenCounts:
    """Tokenize every text, and look the words up in the configured embeddings. Raises InputError if these cannot be loaded."""
    rows = [row for task in tasks for part in task.files.values() for row in part.rows]
    cache_dir = Path(config.cache_dir)
    uncut = TokenizedTexts([text for row in rows for text in row.texts], suite.language, sys.maxsize, cache_dir)
    texts = uncut.shortened(config.max_length)
    unknown = None
    training = [task.parts["train"] for task in tasks if "train" in task.parts]
    if training and METHODS[config.method].reads_key("embeddings"):
        numbers = {texts.index[text] for part in training for row in part.rows for text in row.texts}
        unknown = _unknown_tokens(config, suite, data_dir, texts, np.array(sorted(numbers)))
    return TokenCounts(uncut.index, uncut.lengths, texts.lengths, unknown)


def _unknown_tokens(
    config: Config, suite: Suite, data_dir: Path, texts: TokenizedTexts, training_texts: np.ndarray
) -> np.ndarray:
    """Per text, the tokens that the embeddings do not know, int64 (texts,)."""
    from mtl.base.device import device_of
    from mtl.embedders.find import find_vectors

    device, cache_dir = device_of(config.trainer.accelerator), Path(config.cache_dir)
    if vectors := find_vectors(config, suite):
        vectors.check_obtainable()
        vectors.train_if_missing(suite, data_dir, config.held_out, device)
    path = None if vectors is None else vectors.path
    request = EmbeddingsRequest(config.embeddings, texts, training_texts, path, cache_dir, device)
    coverage = EMBEDDERS[config.embeddings.name].build(request).coverage
    return np.add.reduceat(coverage.unknown_types[texts.tokens].astype(np.int64), texts.starts[:-1])


def token_findings(part: Part, tokens: TokenCounts, max_length: int) -> list[Finding]:
    """Findings for a split with many cut texts or many unknown words."""
    findings = []
    cut = tokens.lengths[tokens.of(part)] > max_length
    if cut.mean() > CUT_SHARE:
        what = f"{cut.mean():.1%} of the texts are longer than max_length={max_length} and are cut"
        meaning = "the rest of them is not read; set max_length higher if memory allows"
        rows = [row for row in part.rows if any(tokens.lengths[tokens.index[text]] > max_length for text in row.texts)]
        findings.append(part.finding("cut", len(rows), what, meaning, part.where(rows)))
    if (share := tokens.unknown_share(part) or 0.0) > UNKNOWN_SHARE:
        what = f"the embeddings do not know {share:.1%} of the words"
        meaning = "the vectors are of another language or tokenization, or there is too little text to learn vectors"
        findings.append(part.finding("unknown words", 1, what, meaning))
    return findings


def _sizes(config: Config, tasks: Sequence[TaskFiles], tokens: TokenCounts) -> str:
    table = [["task", "split", "rows", "published", "median length", "longest", "cut", "unknown words"]]
    for task, parts in ((files.task, files.shown) for files in tasks):
        for split in dict.fromkeys([*parts, *SPLITS]):
            published = task.rows.get(split)
            if split in parts:
                part = parts[split]
                lengths = tokens.lengths[tokens.of(part)]
                cut = f"{(lengths > config.max_length).mean():.1%}"
                share = tokens.unknown_share(part)
                unknown = MISSING if share is None else f"{share:.1%}"
                numbers = [str(len(part.rows)), f"{np.median(lengths):g}", str(lengths.max()), cut, unknown]
            elif task.files.get(split) is not None or published is not None:
                numbers = ["none", *[MISSING] * 4]
            else:
                continue
            table.append([task.id, split, numbers[0], MISSING if published is None else str(published), *numbers[1:]])
    return markdown_table(table, left=2)


def _note(config: Config, tokens: TokenCounts) -> str:
    embeddings = "no embeddings: the method reads none, or there are no training rows"
    if tokens.unknown is not None:
        embeddings = EMBEDDERS[config.embeddings.name].audit_note(config.embeddings)
    return (
        f"Lengths are in tokens, of each text of a pair separately; cut: share of texts longer than max_length={config.max_length};"
        f" unknown words: share of all tokens, with {embeddings}."
        " Held-out rows are part of the training file and are also counted there."
    )


def _targets(tasks: Sequence[TaskFiles]) -> str:
    table = [["task", "split", "targets"]]
    for files in tasks:
        kind = target_kind(files.task)
        for split, part in files.shown.items():
            values = np.array([row.target for row in part.rows if row.target is not None], dtype=kind.dtype)
            if len(values):
                table.append([files.task.id, split, inert(kind.distribution(values))])
    return markdown_table(table, left=3) if len(table) > 1 else ""
