"""Near duplicates: rows whose texts are nearly the same, in one split or in two, by the character n-grams that they have in common."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from mtl.base.errors import InputError
from mtl.base.wording import inert, markdown_table
from mtl.benchmark_making.audits.audit import Audit
from mtl.benchmark_making.audits.parts import SHOWN, Finding, Part, TaskFiles, excerpt, plain, read_files
from mtl.benchmark_making.near_duplicates import near_duplicates
from mtl.benchmark_making.text_units import NGRAM_SIZE
from mtl.data.examples import Example
from mtl.jobs.job import Job
from mtl.tasks.task import SPLITS

SHARE = 0.8  # of these n-grams, from which on two rows are near duplicates


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
    """The near duplicates in the data of a job. Raises InputError as `find_near`."""
    near_rows = find_near(job)
    table = [["task", "split", "rows", *(f"like a row of {split}" for split in SPLITS)]]
    for files, near in near_rows:
        counts = Counter((hit.part.split, hit.source.split) for hit in near)
        for number, split in enumerate(SPLITS, start=1):
            if split in files.files:
                cells = [str(counts[split, source]) for source in SPLITS[:number]]  # later splits repeat these rows
                cells += [""] * (len(SPLITS) - number)
                table.append([files.task.id, split, str(len(files.files[split].rows)), *cells])
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
        answering = read.get(files.task.answered_by or "")
        if answering is not None and "train" in answering.files:
            parts = {"train": answering.files["train"], **parts}
        if files.task.level == "text" and parts:
            near_rows.append((files, _near(parts)))
    if not near_rows:
        problem = "has no file with texts that can be read; mtl audit without --near says why"
        raise InputError(problem, path=job.data_dir)
    return near_rows


def _near(parts: Mapping[str, Part]) -> list[Near]:
    """For each row, the row of each split that is most similar to it; of its own split, only earlier rows count."""
    sources = [parts[split] for split in SPLITS if split in parts]
    numbers: dict[str, int] = {}  # of different texts
    rows = list[tuple[Part, Example, int]]()  # with the number of the row's texts
    with_text = defaultdict[tuple[str, int], list[Example]](list)  # by split and number, but for blank texts
    for part in sources:
        for row in part.rows:
            text = "\n".join(plain(cell).casefold() for cell in row.texts)
            number = numbers.setdefault(text, len(numbers))
            rows.append((part, row, number))
            if text.strip():
                with_text[part.split, number].append(row)
    similar = _similar_texts(list(numbers))
    near = list[Near]()
    for part, row, number in rows:
        for source in sources:
            matches = (
                Near(part, row, source, match, similarity)
                for other, similarity in similar[number].items()
                for match in with_text.get((source.split, other), ())
                if (source is not part or match.line < row.line) and source.marked(match) == part.marked(row)
            )
            near += islice(matches, 1)  # the most similar
    return near


def _similar_texts(texts: Sequence[str]) -> list[dict[int, float]]:
    """For each text, the similarities of the texts that are nearly the same, by number, the most similar first; the text itself is among them."""
    similar = [{number: 1.0} for number in range(len(texts))]
    for earlier, later, similarity in near_duplicates(texts, SHARE):
        similar[earlier][later] = similar[later][earlier] = similarity
    return [dict(sorted(own.items(), key=lambda item: (-item[1], item[0]))) for own in similar]


def near_findings(near: Sequence[Near]) -> Iterator[Finding]:
    """A finding for each pair of splits with near duplicates."""
    by_splits = defaultdict[tuple[str, str], list[Near]](list)
    for hit in near:
        if hit.repeats:
            by_splits[hit.part.split, hit.source.split].append(hit)
    for (split, source), hits in by_splits.items():
        part = hits[0].part
        least = sorted(hits, key=lambda hit: hit.similarity)[:SHOWN]
        known = [hit for hit in hits if hit.row.target is not None and hit.match.target is not None]
        agreeing = sum(hit.row.target == hit.match.target for hit in known)
        if split == source:
            like, meaning = f"an earlier row of {source}", "they count twice"
        else:
            answers = "answers them without understanding" if agreeing or not known else "answers them wrongly"
            like, meaning = f"a row of {source}", f"a model that memorised these rows {answers}"
        what = f"{part.rows_text(len(hits), 'are', 'is')} nearly the same as {like}"
        what += f", {agreeing} of them with the same target" if known else ""
        what += f"; the least similar: {'; '.join(map(_pair_text, least))}"
        yield part.finding("near duplicates", len(hits), what, meaning)


def _pair_text(hit: Near) -> str:
    """A pair of rows in a message: their similarity, where they stand, and how their texts begin."""
    row, match = (" / ".join(map(excerpt, example.texts)) for example in (hit.row, hit.match))
    return f"{hit.similarity:.2f} {hit.part.where([hit.row])} and {hit.source.where([hit.match])}, {row} and {match}"
