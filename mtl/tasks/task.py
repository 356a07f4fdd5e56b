"""One task of a benchmark: its declaration in a suite file, with its columns, its target, its metric and its files; and its scored rows."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Literal

import numpy as np

from mtl.base.untrusted import inside
from mtl.tasks.layout import Layout, Reading
from mtl.tasks.sources import HubSource, Source

SPLITS = ("train", "dev", "test")
# The split that a word names in GLUE, KLEJ, Superlim, on the Hugging Face Hub and in the folders of shared tasks.
SPLIT_OF = {
    **dict.fromkeys(("train", "training", "trn", "trainset"), "train"),
    **dict.fromkeys(("dev", "development", "devel", "valid", "validation", "val", "eval", "devset"), "dev"),
    **dict.fromkeys(("test", "testing", "tst", "testset"), "test"),
}
DEV_OR_TEST = "dev_or_test"  # a value of `Task.scored`
UNSCORED = "none"  # a value of `Task.scored`: no row of the task has a target, and its test rows are predicted only
PART = "#"  # in a file's name, before the part that is meant
NUMBERED = "*"  # a part: this file and those that differ from it in their number alone
BESIDE = " + "  # between the names of two files whose lines belong together, and of several target columns
SPAN_ENDS = ("start", "stop")  # the keys of a span
# Behind the name of a column with the place of marked words, how it counts.
COUNTED = re.compile(r"\[(characters|words) from ([01])\](?= \+ |$)")


@dataclass
class Task:
    """The declaration of one task, independent of any model: its keys in a suite file, and what follows from them. None: not given.
    `mtl.tasks.targets` says what the kinds of target mean, and `mtl.tasks.metrics` what the metrics mean."""

    id: str = ""  # the key of the task in `tasks`
    title: str = ""  # the task's name in tables; default: its id
    folder: str = ""  # in `data_dir`; default: `data_dir` itself
    # the kind of target: `labels`, `number`, `choice`, `word`, `text`, `answer` (a part of a passage), `token_labels` (a label for each token) or
    # `multi_label` (several labels). The first three follow from the keys `labels`, `range` and `candidates`; the others need it
    kind: str = ""

    # What a model reads.

    # the text columns: one, or two for a pair; for a choice one or none (`[]`), beside the candidates; more only with `level: word`, as three for
    # an analogy. A column of lists, for kind token_labels, is as in `tokens[]`
    text: list[str] = field(kw_only=True)
    level: Literal["text", "word"] = "text"  # `word`: texts are words or expressions; only `word_vectors` supports it
    candidates: list[str] | None = None  # of kind choice: the candidates' columns, or one of lists, as in `options[]`
    # of kind choice: what stands in the target column for the first candidate, the second and so on, as in `[A, B, C, D]` or `["1", "2"]`;
    # default: 0, 1, 2 … Of token_labels and multi_label: for each label; default: itself
    indices: list[str] | None = None
    # spans of a text: for each text column, the columns of its spans. A span in two columns is `start1 + end1`, or, with its words and their
    # place, `place[words from 0] + words` or `place[characters from 0] + words`
    spans: dict[str, list[str]] | None = None

    # How the files are read.

    # the columns of files without a header line, as in `[source, label, mark, sentence]`. It holds for the `.tsv` and `.csv` files whose first
    # line names none of these columns, and for the form `conll`, whose columns are lists: `[tokens, tags]` are `tokens[]` and `tags[]`
    header: list[str] | None = None
    reading: Reading | None = None  # how files are read, where their names do not say so, as in `{encoding: cp1250}`
    decide: list[str] = field(default_factory=list)  # questions of `mtl init-suite` to answer and delete before a run

    # What a model predicts.
    target: str = field(kw_only=True)  # the column with the right answer; several for multi_label, as in `anger + joy`
    # of kind answer: the column with the place of each answer, in characters from 0, as in `answers.answer_start[]`; default: it is looked up
    starts: str | None = None
    labels: list[str] | None = None  # of the kinds labels, token_labels, multi_label: the labels as in the files
    label_separator: str | None = None  # of kind multi_label: between the labels in a cell, as in `","`; default: `;`
    range: list[float] | None = None  # of kind number: the smallest and the largest number

    # How predictions are scored.
    metric: str = field(kw_only=True)  # a name of a metric that fits the kind; `accuracy+f1` is the mean of the two
    positive: str | None = None  # the label that metric `f1` is about
    columns: list[str] | None = None  # further columns that the metrics read
    chance: str | None = None  # for metric `pseudo_alpha`: the accuracy of a guess, as in `0.2` or `109/2049`
    also: list[str] | None = None  # further metrics, as in `[macro_f1]`: shown, but not part of averages or selection
    # columns, as in `[meta.logic]`: reports show the score on the examples with each value. An empty cell has none, and `;` separates several
    breakdown: list[str] | None = None

    # Which examples belong together, and which task and which split are scored.
    group: str | None = None  # a column; examples with the same value are held out and resampled together
    # for pairs, instead of `group`: a label. The texts of a pair with this label have one source; examples of one source stay together
    same_source: str | None = None
    # for a task without training examples: the id of the task whose head predicts it. `labels` and `range` are then that task's
    answered_by: str | None = None
    # the split that is scored: `dev` (default) or `test`, which then needs targets; or `dev_or_test`: dev if its file is there, else test; or
    # `none`, if another task's head predicts it and nobody has its labels: its test examples are only predicted
    scored: Literal["dev", "test", "dev_or_test", "none"] | None = None

    # The data.

    # file names of this task: `train`, `dev`, `test`. `null`: there is no such file. A name may end in the part of the file that is meant:
    # `data.json#train`, a key of its object; `all.csv#split=train`, the examples with this value. `part-0.jsonl#*` are all files of this name
    # with other numbers. The lines of two files belong together in `text.txt + label.txt`
    files: dict[str, str | None] = field(default_factory=dict)
    # the published number of examples, as in `{train: 8000, dev: 1000, test: 1000}`; other sizes are marked as reduced
    rows: dict[str, int] = field(default_factory=dict)
    license: str | None = None  # of the data, for model cards of exports
    instructions: str | None = None  # for people who annotate examples of the task; an empty line ends a paragraph
    # where `mtl data` downloads the task's zip: `{url: https://…}`; `size` (bytes) and `sha256` are checked if given. With `{file}` in the
    # address, each file has its own: `{url: "https://…/{folder}/{file}"}`
    source: Source | None = None
    # of such single files, by split: `sha256:…`, or `git:…` (`git hash-object FILE`). Tasks with other files are marked as reduced and as changed
    checksums: dict[str, str] = field(default_factory=dict)
    # a copy on the Hugging Face Hub, if `source` is missing or fails: `{dataset: OWNER/NAME}`; `splits` and `columns` say what these are called there
    hub: HubSource | None = None
    withdrawn: bool = False  # `true`: the publisher has withdrawn the data. `mtl data` asks for its copy `hub` alone, and messages say so

    @property
    def sides(self) -> int:
        """The number of texts in one model input: 1, 2 for a pair, or more of words (`level`). A choice has one input for each candidate."""
        return len(self.text) + (0 if self.candidates is None else 1)

    @property
    def is_pair(self) -> bool:
        return self.sides == 2

    @property
    def text_columns(self) -> list[str]:
        return [*self.text, *(self.candidates or [])]

    @property
    def marked(self) -> list[tuple[int, str]]:
        """The spans of a row, in the order of the texts that they are in: the number of the text, from 0, and the span's column."""
        spans = self.spans or {}
        return [(side, column) for side, text in enumerate(self.text) for column in spans.get(text, [])]

    @property
    def span_columns(self) -> list[str]:
        """The columns that hold the ends of a row's spans: start and stop of each."""
        return [end for _, column in self.marked for end in span_ends(column)]

    @property
    def target_columns(self) -> list[str]:
        """The columns that the target stands in: one, or several that are joined by " + "."""
        return self.target.split(BESIDE)

    @property
    def further_columns(self) -> list[str]:
        """The columns that are kept beside texts and targets: those that metrics read, and those of the breakdown."""
        return list(dict.fromkeys([*(self.columns or []), *(self.breakdown or [])]))

    def read_columns(self, targets: bool) -> list[str]:
        """The columns of a file that are read: those of texts and spans, and with targets those of target, starts, group and `further_columns`."""
        inputs = [*self.text_columns, *self.span_columns]
        if not targets:
            return inputs
        optional = [column for column in (self.starts, self.group) if column]
        return [*inputs, *self.target_columns, *optional, *self.further_columns]

    @property
    def implied_kind(self) -> str:
        """The target kind that a declaration without `kind` implies, or an empty string."""
        implied = {"labels": self.labels, "number": self.range, "choice": self.candidates}
        kinds = [kind for kind, value in implied.items() if value is not None]
        return kinds[0] if len(kinds) == 1 else ""

    @property
    def bounds(self) -> tuple[float, float]:
        """The smallest and the largest number that may be a target; only of a task with `range`."""
        assert self.range is not None
        low, high = self.range
        return low, high

    def measured_by(self, metric: str) -> "Task":
        """The same task with another metric, such as one of `also`."""
        return replace(self, metric=metric)

    @property
    def scored_split(self) -> str:
        """The split whose targets the predictions are compared with: dev or test. Of an unscored task, test."""
        return "dev" if self.scored in (None, "dev", DEV_OR_TEST) else "test"

    @property
    def is_scored(self) -> bool:
        """Whether any split has targets to score the predictions with."""
        return self.scored != UNSCORED

    def has_targets(self, split: str) -> bool:
        """Whether the targets of this split are read. Those of a test file are read only if scores are on test."""
        return split != "test" or self.scored == "test"

    def file_names(self, split: str) -> list[str]:
        """The names of the split's files, without parts: one, two that are joined by " + ", or none."""
        return [name.partition(PART)[0] for name in (self.files.get(split) or "").split(BESIDE) if name]

    def file(self, split: str) -> str | None:
        """The first of `file_names`, or None where the task has none."""
        return next(iter(self.file_names(split)), None)

    def relative_paths(self, split: str) -> list[str]:
        """The paths of the split's files (`file_names`) below the data folder."""
        return [(PurePosixPath(self.folder) / name).as_posix() for name in self.file_names(split)]

    def path(self, split: str, data_dir: Path) -> Path | None:
        """The split's first file, or None where the task has none. Raises InputError as `mtl.base.untrusted.inside`."""
        paths = self.relative_paths(split)
        return inside(data_dir, paths[0]) if paths else None

    @property
    def plain_layout(self) -> Layout:
        """How a file with rows of this task is read that is none of its splits, such as one to predict."""
        return Layout(self.header, self.reading or Reading())

    def layout(self, split: str, data_dir: Path | None) -> Layout:
        """How the split's file is read; without a folder, as if no second file stood beside it. Raises InputError as `path`."""
        _, _, part = (self.files.get(split) or "").split(BESIDE)[0].partition(PART)
        second_path = self.relative_paths(split)[1:]
        beside = inside(data_dir, second_path[0]) if second_path and data_dir is not None else None
        return replace(self.plain_layout, part=part or None, beside=beside)


def span_ends(column: str) -> list[str]:
    """The two columns of a span: those that its name joins, as in "place[words from 0] + words", or "x.start" and "x.stop" of a column "x"."""
    if BESIDE in column:
        return COUNTED.sub("", column).split(BESIDE)
    return [f"{column}.{end}" for end in SPAN_ENDS]


@dataclass(frozen=True)
class ScoredRows:
    """The rows of a task that predictions are compared with."""

    targets: np.ndarray  # (rows,), see `mtl.tasks.target_kind`
    candidates: np.ndarray | None = None  # int64 (rows,), the candidates, or units, of each row; None for other tasks
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)  # by `Task.further_columns`, one string per row
