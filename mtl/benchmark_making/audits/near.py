"""Near duplicates: rows whose texts are nearly the same, in one split or in two, by the character n-grams that they have in common."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mtl.base.errors import InputError
from mtl.base.wording import inert, markdown_table
from mtl.benchmark_making.audits.audit import Audit, TaskFiles, read_files
from mtl.benchmark_making.audits.findings import Finding, Part, excerpt, plain
from mtl.benchmark_making.similarity import near_duplicates
from mtl.benchmark_making.text_units import NGRAM_SIZE
from mtl.data.examples import Example
from mtl.jobs.job import Job
from mtl.tasks.task import SPLITS

SHARE = 0.8  # of these n-grams, from which on two rows are near duplicates
SHOWN = 3  # pairs of a finding


@dataclass(frozen=True)
class Near:
    """A row, and the row that is most like it in another split, or among the earlier rows of its own."""

    part: Part
    row: Example
    source: Part
    match: Example
    similarity: float  # the share of the n-grams of both rows that both have; 1 for the same texts

    @property
    def repeats(self) -> bool:
        """Whether the row like it stands in an earlier split, or in the same one."""
        return SPLITS.index(self.source.split) <= SPLITS.index(self.part.split)


def audit_near(job: Job) -> Audit:
    """The near duplicates in the data of a job. Errors are those of `find_near`."""
    near_rows = find_near(job)
    table = [["task", "split", "rows", *(f"like a row of {split}" for split in SPLITS)]]
    for files, near in near_rows:
        counts = Counter((hit.part.split, hit.source.split) for hit in near)
        for number, split in enumerate(SPLITS):
            if split in files.files:
                shown = [str(counts[split, source]) if i <= number else "" for i, source in enumerate(SPLITS)]
                table.append([files.task.id, split, str(len(files.files[split].rows)), *shown])
    sections = [
        f"## {inert(job.suite.title)}: near duplicates",
        markdown_table(table, left=2),
        f"Rows that have at least {SHARE:g} of their character {NGRAM_SIZE}-grams in common with another row, in lower case (Jaccard similarity; all"
        " texts of a row together; all such rows are found). In the same split, only earlier rows count.",
    ]
    return Audit([finding for _, near in near_rows for finding in near_findings(near)], sections)


def find_near(job: Job) -> list[tuple[TaskFiles, list[Near]]]:
    """The near duplicates of each task's rows, its held-out rows not set apart. Tasks on single words are left out. The rows of a task that another
    one answers are compared with the other's training rows. Raises InputError if no task has texts that can be read."""
    read = {task.id: read_files(job.suite, task, job.data_dir, job.config.held_out) for task in job.tasks}
    near_rows = []
    for files in read.values():
        parts = dict(files.files)
        if (answering := read.get(files.task.answered_by or "")) and "train" in answering.files:
            parts = {"train": answering.files["train"], **parts}
        if files.task.level == "text" and parts:
            near_rows.append((files, _near(parts)))
    if not near_rows:
        problem = "has no file with texts that can be read; mtl audit without --near says why"
        raise InputError(problem, path=job.data_dir)
    return near_rows


def _near(parts: Mapping[str, Part]) -> list[Near]:
    """For each row, the row of each split that is most similar to it; of its own split, only earlier rows count."""
    splits = [split for split in SPLITS if split in parts]
    numbers: dict[str, int] = {}  # of different texts
    rows = list[tuple[str, Part, Example, int]]()
    with_text = defaultdict[tuple[int, str], list[tuple[Part, Example]]](list)  # by text and split
    for split in splits:
        for row in parts[split].rows:
            text = "\n".join(plain(cell).casefold() for cell in row.texts)
            rows.append((split, parts[split], row, number := numbers.setdefault(text, len(numbers))))
            if text.strip():
                with_text[number, split].append((parts[split], row))
    similar = defaultdict[int, list[tuple[float, int]]](list)
    for earlier, later, value in near_duplicates(list(numbers), SHARE):
        similar[earlier].append((-value, later))
        similar[later].append((-value, earlier))
    near = []
    for split, part, row, number in rows:
        likely = sorted([(-1.0, number), *similar[number]])
        for source in splits:
            hits = (
                Near(part, row, there, match, -value)
                for value, text in likely
                for there, match in with_text.get((text, source), ())
                if (source != split or match.line < row.line) and part.marked(row) == there.marked(match)
            )
            near += [hit] if (hit := next(hits, None)) else []
    return near


def near_findings(near: Sequence[Near]) -> list[Finding]:
    """A finding for each pair of splits with near duplicates."""
    repeated = [hit for hit in near if hit.repeats]
    findings = []
    for split, source in dict.fromkeys((hit.part.split, hit.source.split) for hit in repeated):
        hits = [hit for hit in repeated if (hit.part.split, hit.source.split) == (split, source)]
        part = hits[0].part
        least = sorted(hits, key=lambda hit: hit.similarity)[:SHOWN]
        pairs = "; ".join(
            f"{hit.similarity:.2f} {part.where([hit.row])} and {hit.source.where([hit.match])}, "
            + " and ".join(" / ".join(map(excerpt, row.texts)) for row in (hit.row, hit.match))
            for hit in least
        )
        known = [hit for hit in hits if hit.row.target is not None and hit.match.target is not None]
        agreeing = sum(hit.row.target == hit.match.target for hit in known)
        answered = "answers them without understanding" if agreeing or not known else "answers them wrongly"
        meaning = "they count twice" if split == source else f"a model that memorised these rows {answered}"
        row = f"an earlier row of {source}" if split == source else f"a row of {source}"
        what = f"{part.rows_text(len(hits), 'are', 'is')} nearly the same as {row}"
        what += f", {agreeing} of them with the same target" if known else ""
        findings.append(part.finding("near duplicates", len(hits), f"{what}; the least similar: {pairs}", meaning))
    return findings
