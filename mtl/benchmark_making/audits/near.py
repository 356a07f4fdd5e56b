"""Near duplicates: rows whose texts are nearly the same, in one split or in two. They are found by the character n-grams that they have in common."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mtl.base.errors import InputError
from mtl.base.wording import inert, markdown_table
from mtl.benchmark_making.audits.audit import Audit
from mtl.benchmark_making.audits.cells import excerpt, plain
from mtl.benchmark_making.audits.parts import MOST_NAMED, Finding, Part
from mtl.benchmark_making.audits.task_files import TaskFiles, read_files
from mtl.benchmark_making.near_duplicates import near_duplicates
from mtl.benchmark_making.text_units import NGRAM_SIZE
from mtl.data.examples import Example
from mtl.jobs.job import Job
from mtl.tasks.task import SPLITS

SHARE = 0.8  # of these n-grams, from which on two rows are near duplicates
RowsByText = dict[tuple[str, str], list[Example]]  # by split, and the text that is compared


@dataclass(frozen=True)
class Hit:
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
    table = [["task", "split", "rows", *(f"like a row of {split}" for split in SPLITS)]]
    findings = list[Finding]()
    for files, hits in find_near(job):
        findings += near_findings(hits)
        counts = Counter((hit.part.split, hit.source.split) for hit in hits)
        for split, part in files.as_read.items():
            earlier = SPLITS[: SPLITS.index(split) + 1]  # and its own; later splits would repeat these rows
            cells = [str(counts[split, source]) if source in earlier else "" for source in SPLITS]
            table.append([files.task.id, split, str(len(part.rows)), *cells])
    sections = [
        f"## {inert(job.suite.title)}: near duplicates",
        markdown_table(table, left=2),
        f"Rows that have at least {SHARE:g} of their character {NGRAM_SIZE}-grams in common with another row, in lower case (Jaccard similarity; all"
        " texts of a row together; all such rows are found). In the same split, only earlier rows count.",
    ]
    return Audit(findings, sections)


def find_near(job: Job) -> list[tuple[TaskFiles, list[Hit]]]:
    """The near duplicates in each task's rows as read, no tasks on single words; what another task answers is compared with its training rows."""
    files_by_task = {task.id: read_files(job.suite, task, job.data_dir, job.config.held_out) for task in job.tasks}
    tasks_and_hits = []
    for files in files_by_task.values():
        parts = dict(files.as_read)
        answering = files_by_task.get(files.task.answered_by or "")
        if answering is not None and "train" in answering.as_read:
            parts["train"] = answering.as_read["train"]
        if files.task.level == "text" and parts:
            # Two training rows of the other task are found with that task.
            hits = [hit for hit in _hits(parts) if files.task in (hit.part.task, hit.source.task)]
            tasks_and_hits.append((files, hits))
    if not tasks_and_hits:
        problem = "has no file with texts that can be read; mtl audit without --near says why"
        raise InputError(problem, path=job.data_dir)
    return tasks_and_hits


def _hits(parts: Mapping[str, Part]) -> list[Hit]:
    """For each row, the row of each split that is most similar to it; of its own split, only earlier rows count."""
    sources = [parts[split] for split in SPLITS if split in parts]
    rows_by_text: RowsByText = defaultdict(list)
    for part in sources:
        for row in part.rows:
            rows_by_text[part.split, _compared_text(row)].append(row)
    texts = dict.fromkeys(text for _, text in rows_by_text if text.strip())  # a blank text is like no other
    similar_texts = _similar_texts(list(texts))
    hits = list[Hit]()
    for part in sources:
        for row in part.rows:
            similarities = similar_texts.get(_compared_text(row), {})
            hits += filter(None, (_best_hit(part, row, source, similarities, rows_by_text) for source in sources))
    return hits


def _compared_text(row: Example) -> str:
    return "\n".join(plain(text).casefold() for text in row.texts)


def _similar_texts(texts: Sequence[str]) -> dict[str, dict[str, float]]:
    """For each text, the similarities of the texts that are nearly the same, the most similar first; the text itself is among them."""
    similar: list[dict[int, float]] = [{number: 1.0} for number in range(len(texts))]
    for earlier, later, similarity in near_duplicates(texts, SHARE):
        similar[earlier][later] = similarity
        similar[later][earlier] = similarity
    by_text: dict[str, dict[str, float]] = {}
    for text, similarities in zip(texts, similar, strict=True):
        most_similar = sorted(similarities.items(), key=lambda item: (-item[1], item[0]))
        by_text[text] = {texts[number]: similarity for number, similarity in most_similar}
    return by_text


def _best_hit(part: Part, row: Example, source: Part, similarities: dict[str, float], rows: RowsByText) -> Hit | None:
    """The most similar row of a source. The same texts with other marked words are another question, and no hit."""
    for text, similarity in similarities.items():
        for match in rows.get((source.split, text), ()):
            if (source is not part or match.line < row.line) and source.marked(match) == part.marked(row):
                return Hit(part, row, source, match, similarity)
    return None


def near_findings(hits: Sequence[Hit]) -> Iterator[Finding]:
    hits_by_splits = defaultdict[tuple[str, str], list[Hit]](list)
    for hit in hits:
        if hit.repeats:
            hits_by_splits[hit.part.split, hit.source.split].append(hit)
    for (split, source), group in hits_by_splits.items():
        with_targets = [hit for hit in group if hit.row.target is not None and hit.match.target is not None]
        agreeing = sum(hit.row.target == hit.match.target for hit in with_targets)
        targets = f", {agreeing} of them with the same target" if with_targets else ""
        if split == source:
            like, meaning = f"an earlier row of {source}", "they count twice"
        else:
            answers = "answers them without understanding" if agreeing or not with_targets else "answers them wrongly"
            like, meaning = f"a row of {source}", f"a model that memorised these rows {answers}"
        pairs = "; ".join(map(_pair_text, sorted(group, key=lambda hit: hit.similarity)[:MOST_NAMED]))
        rows = group[0].part.count_with_verb(len(group), "are", "is")
        what = f"{rows} nearly the same as {like}{targets}; the least similar: {pairs}"
        yield group[0].part.new_finding("near duplicates", len(group), what, meaning)


def _pair_text(hit: Hit) -> str:
    row, match = (" / ".join(map(excerpt, example.texts)) for example in (hit.row, hit.match))
    return f"{hit.similarity:.2f} {hit.part.first_lines([hit.row])} and {hit.source.first_lines([hit.match])}, {row} and {match}"
