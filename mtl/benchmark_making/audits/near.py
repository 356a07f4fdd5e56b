"""Near duplicates: rows whose texts are nearly the same, in one split or in two, by the character n-grams that they have in common."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mtl.base.errors import InputError
from mtl.base.terminal import inert, markdown_table
from mtl.benchmark_making.audits.audit import Audit, TaskFiles, read_files
from mtl.benchmark_making.audits.findings import Finding, Part, excerpt, plain
from mtl.benchmark_making.audits.report import verdict
from mtl.benchmark_making.similarity.mining import near_duplicates
from mtl.data.examples import Example
from mtl.jobs.job import Job
from mtl.tasks.suite import Suite
from mtl.tasks.task import SPLITS

NGRAM = 5  # characters
SHARE = 0.8  # of these n-grams, from which on two rows are near duplicates
SHOWN = 3  # pairs of a finding


@dataclass(frozen=True)
class Near:
    """A row, and the row that is most like it in another split, or among the earlier rows of its own.

    Args:
        part: the split and file of the row.
        source: those of the other row.
        similarity: the share of the n-grams of both rows that both have; 1 for the same texts.
    """

    part: Part
    row: Example
    source: Part
    other: Example
    similarity: float

    @property
    def place(self) -> str:
        """Where the row stands."""
        return f"{self.part.file}:{self.row.line}"

    @property
    def other_place(self) -> str:
        """Where the other row stands."""
        return f"{self.source.file}:{self.other.line}"

    @property
    def repeats(self) -> bool:
        """Whether the other row stands in an earlier split, or in the same one."""
        return SPLITS.index(self.source.split) <= SPLITS.index(self.part.split)


def audit_near(job: Job, share: float | None = None) -> Audit:
    """The near duplicates in the data of a job. share: as in `find_near`; None: SHARE. Raises InputError as `find_near` does."""
    share = SHARE if share is None else share
    found = find_near(job, share)
    findings = [finding for _, near in found for finding in near_findings(near)]
    return Audit(findings, render_near(job.suite, found, share))


def check_share(share: float) -> None:
    """Raise InputError unless two rows can have this share of their n-grams in common, and a search by n-grams makes sense."""
    if not 0.3 <= share <= 1:
        raise InputError(f"--share {share:g}: must lie between 0.3 and 1")


def find_near(job: Job, share: float) -> list[tuple[TaskFiles, list[Near]]]:
    """The near duplicates of each task's rows, its held-out rows not set apart.

    Tasks on single words are left out. The rows of a task that another one answers are compared with the other's training rows.

    Args:
        share: the smallest similarity.

    Raises:
        InputError: for a share that is none, and if no task has texts that can be read.
    """
    check_share(share)
    read = {task.id: read_files(job.suite, task, job.data_dir, job.config.held_out) for task in job.tasks}
    found = []
    for files in read.values():
        parts = dict(files.files)
        if (answering := read.get(files.task.answered_by or "")) and "train" in answering.files:
            parts = {"train": answering.files["train"], **parts}
        if files.task.level == "text" and parts:
            found.append((files, _near(parts, share)))
    if not found:
        raise InputError(
            "has no file with texts that can be read; mtl audit without --near says why", path=job.data_dir
        )
    return found


def _near(parts: Mapping[str, Part], share: float) -> list[Near]:
    """For each row, the row of each split that is most similar to it; of its own split, only earlier rows count."""
    ordered = [(split, parts[split]) for split in SPLITS if split in parts]
    numbers: dict[str, int] = {}
    rows = defaultdict[int, dict[str, list[tuple[Part, Example]]]](lambda: defaultdict(list))
    texts = {}
    for split, part in ordered:
        for row in part.rows:
            text = "\n".join(plain(each).casefold() for each in row.texts)
            number = texts[part.file, row.line] = numbers.setdefault(text, len(numbers))
            if text.strip():
                rows[number][split].append((part, row))
    similar = defaultdict[int, list[tuple[int, float]]](list)
    for one, other, value in near_duplicates(list(numbers), share, NGRAM):
        similar[one].append((other, value))
        similar[other].append((one, value))
    found = []
    for split, part in ordered:
        for row in part.rows:
            number = texts[part.file, row.line]
            likely = sorted([(number, 1.0), *similar[number]], key=lambda each: (-each[1], each[0]))
            for source, _ in ordered:
                hits = (
                    Near(part, row, there, other, value)
                    for text, value in likely
                    for there, other in rows[text][source]
                    if (source != split or other.line < row.line) and _marked(part, row) == _marked(there, other)
                )
                if (best := next(hits, None)) is not None:
                    found.append(best)
    return found


def _marked(part: Part, row: Example) -> list[str]:
    """The marked words: the same text asks another question where another word is marked."""
    return [
        row.texts[side][slice(*span)].casefold() for (side, _), span in zip(part.task.marked, row.spans, strict=True)
    ]


def near_findings(near: Sequence[Near]) -> list[Finding]:
    """A finding for each pair of splits with near duplicates."""
    by_splits = defaultdict[tuple[str, str], list[Near]](list)
    for each in filter(lambda each: each.repeats, near):
        by_splits[each.part.split, each.source.split].append(each)
    findings = []
    for (split, source), hits in by_splits.items():
        part = hits[0].part
        shown = sorted(hits, key=lambda each: each.similarity)[:SHOWN]
        pairs = "; ".join(
            f"{each.similarity:.2f} {each.place} and {each.other_place}, {_excerpts(each.row)} and {_excerpts(each.other)}"
            for each in shown
        )
        known = [each for each in hits if each.row.target is not None and each.other.target is not None]
        same = sum(each.row.target == each.other.target for each in known)
        answered = "answers them without understanding" if same or not known else "answers them wrongly"
        if split == source:
            what = f"{part.of(len(hits), 'are', 'is')} nearly the same as an earlier row of {source}"
            meaning = "they count twice"
        else:
            what = f"{part.of(len(hits), 'are', 'is')} nearly the same as a row of {source}"
            meaning = f"a model that memorised these rows {answered}"
        if known:
            what += f", {same} of them with the same target"
        findings.append(part.finding("near duplicates", len(hits), f"{what}; the least similar: {pairs}", meaning))
    return findings


def _excerpts(row: Example) -> str:
    return " / ".join(map(excerpt, row.texts))


def render_near(suite: Suite, found: Sequence[tuple[TaskFiles, Sequence[Near]]], share: float) -> str:
    """The report in Markdown, which also reads well in a terminal."""
    findings = [finding for _, near in found for finding in near_findings(near)]
    table = [["task", "split", "rows", *(f"like a row of {split}" for split in SPLITS)]]
    for files, near in found:
        for split in (split for split in SPLITS if split in files.files):
            counts = [
                sum(each.part.split == split and each.source.split == source for each in near) for source in SPLITS
            ]
            shown = [str(count) if place <= SPLITS.index(split) else "" for place, count in enumerate(counts)]
            table.append([files.task.id, split, str(len(files.files[split].rows)), *shown])
    sections = [
        f"## {inert(suite.title)}: near duplicates",
        markdown_table(table, left=2),
        f"Rows that have at least {share:g} of their character {NGRAM}-grams in common with another row, in lower case (Jaccard similarity; all"
        " texts of a row together; all such rows are found). In the same split, only earlier rows count.",
        "\n".join(["### Findings", "", *(f"- {inert(str(finding))}" for finding in findings)]) if findings else "",
        verdict(findings),
    ]
    return "\n\n".join(filter(None, sections))
