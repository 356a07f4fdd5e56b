"""Near duplicates: rows whose texts are nearly the same, in one split or in two, by the character n-grams that they have in common."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mtl.base.errors import InputError
from mtl.base.terminal import inert, markdown_table
from mtl.benchmark_making.audits.audit import Audit, TaskFiles, read_files
from mtl.benchmark_making.audits.findings import Finding, Part, excerpt, plain
from mtl.benchmark_making.audits.report import with_findings
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
    """A row, and the row that is most like it in another split, or among the earlier rows of its own. The similarity is the share of the
    n-grams of both rows that both have; 1 for the same texts."""

    part: Part
    row: Example
    source: Part
    match: Example
    similarity: float

    @property
    def places(self) -> tuple[str, str]:
        """Where the row and the one like it stand."""
        return f"{self.part.file}:{self.row.line}", f"{self.source.file}:{self.match.line}"

    @property
    def repeats(self) -> bool:
        """Whether the row like it stands in an earlier split, or in the same one."""
        return SPLITS.index(self.source.split) <= SPLITS.index(self.part.split)


def audit_near(job: Job, share: float | None = None) -> Audit:
    """The near duplicates in the data of a job. Arguments and errors are those of `find_near`; by default the share is SHARE."""
    share = SHARE if share is None else share
    near_rows = find_near(job, share)
    findings = [finding for _, near in near_rows for finding in near_findings(near)]
    return Audit(findings, _render(job.suite, near_rows, share, findings))


def find_near(job: Job, share: float) -> list[tuple[TaskFiles, list[Near]]]:
    """The near duplicates of each task's rows, its held-out rows not set apart: those with at least this similarity.

    Tasks on single words are left out. The rows of a task that another one answers are compared with the other's training rows.
    Raises InputError for a share that is none, and if no task has texts that can be read.
    """
    if not 0.3 <= share <= 1:
        raise InputError(f"--share {share:g}: must lie between 0.3 and 1")
    read = {task.id: read_files(job.suite, task, job.data_dir, job.config.held_out) for task in job.tasks}
    near_rows = []
    for files in read.values():
        parts = dict(files.files)
        if (answering := read.get(files.task.answered_by or "")) and "train" in answering.files:
            parts = {"train": answering.files["train"], **parts}
        if files.task.level == "text" and parts:
            near_rows.append((files, _near(parts, share)))
    if not near_rows:
        problem = "has no file with texts that can be read; mtl audit without --near says why"
        raise InputError(problem, path=job.data_dir)
    return near_rows


def _near(parts: Mapping[str, Part], share: float) -> list[Near]:
    """For each row, the row of each split that is most similar to it; of its own split, only earlier rows count."""
    ordered = [(split, parts[split]) for split in SPLITS if split in parts]
    numbers: dict[str, int] = {}
    rows = defaultdict[int, dict[str, list[tuple[Part, Example]]]](lambda: defaultdict(list))
    texts = {}
    for split, part in ordered:
        for row in part.rows:
            text = "\n".join(plain(cell).casefold() for cell in row.texts)
            number = texts[part.file, row.line] = numbers.setdefault(text, len(numbers))
            if text.strip():
                rows[number][split].append((part, row))
    similar = defaultdict[int, list[tuple[int, float]]](list)
    for earlier, later, value in near_duplicates(list(numbers), share, NGRAM):
        similar[earlier].append((later, value))
        similar[later].append((earlier, value))
    near = []
    for split, part in ordered:
        for row in part.rows:
            number = texts[part.file, row.line]
            likely = sorted([(number, 1.0), *similar[number]], key=lambda entry: (-entry[1], entry[0]))
            for source, _ in ordered:
                hits = (
                    Near(part, row, there, match, value)
                    for text, value in likely
                    for there, match in rows[text][source]
                    if (source != split or match.line < row.line) and _marked(part, row) == _marked(there, match)
                )
                near += [hit] if (hit := next(hits, None)) else []
    return near


def _marked(part: Part, row: Example) -> list[str]:
    """The marked words: the same text asks another question where another word is marked."""
    return [
        row.texts[side][slice(*span)].casefold() for (side, _), span in zip(part.task.marked, row.spans, strict=True)
    ]


def near_findings(near: Sequence[Near]) -> list[Finding]:
    """A finding for each pair of splits with near duplicates."""
    by_splits = defaultdict[tuple[str, str], list[Near]](list)
    for hit in near:
        if hit.repeats:
            by_splits[hit.part.split, hit.source.split].append(hit)
    findings = []
    for (split, source), hits in by_splits.items():
        part = hits[0].part
        pairs = "; ".join(
            f"{hit.similarity:.2f} {' and '.join(hit.places)}, {_excerpts(hit.row)} and {_excerpts(hit.match)}"
            for hit in sorted(hits, key=lambda hit: hit.similarity)[:SHOWN]
        )
        known = [hit for hit in hits if hit.row.target is not None and hit.match.target is not None]
        agreeing = sum(hit.row.target == hit.match.target for hit in known)
        repeated, meaning = f"an earlier row of {source}", "they count twice"
        if split != source:
            answered = "answers them without understanding" if agreeing or not known else "answers them wrongly"
            repeated, meaning = f"a row of {source}", f"a model that memorised these rows {answered}"
        what = f"{part.of(len(hits), 'are', 'is')} nearly the same as {repeated}"
        if known:
            what += f", {agreeing} of them with the same target"
        findings.append(part.finding("near duplicates", len(hits), f"{what}; the least similar: {pairs}", meaning))
    return findings


def _excerpts(row: Example) -> str:
    return " / ".join(map(excerpt, row.texts))


def _render(
    suite: Suite, near_rows: Sequence[tuple[TaskFiles, Sequence[Near]]], share: float, findings: Sequence[Finding]
) -> str:
    table = [["task", "split", "rows", *(f"like a row of {split}" for split in SPLITS)]]
    for files, near in near_rows:
        counts = Counter((hit.part.split, hit.source.split) for hit in near)
        for number, split in enumerate(SPLITS):
            if split in files.files:
                shown = [str(counts[split, source]) if i <= number else "" for i, source in enumerate(SPLITS)]
                table.append([files.task.id, split, str(len(files.files[split].rows)), *shown])
    sections = [
        f"## {inert(suite.title)}: near duplicates",
        markdown_table(table, left=2),
        f"Rows that have at least {share:g} of their character {NGRAM}-grams in common with another row, in lower case (Jaccard similarity; all"
        " texts of a row together; all such rows are found). In the same split, only earlier rows count.",
    ]
    return with_findings(sections, findings)
