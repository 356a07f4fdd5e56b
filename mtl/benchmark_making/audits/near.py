"""Near duplicates: rows whose texts are nearly the same, in one split or in two, by the character n-grams that they have in common; and a copy of a
suite's data without those that leak from one split into another, with its suite file and a log of what left."""

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import chain, islice
from pathlib import Path
from typing import Any

import yaml

from mtl.base.errors import InputError
from mtl.base.files import write_text
from mtl.base.folders import check_new_folder, new_folder
from mtl.base.settings.layers import find_yaml
from mtl.base.untrusted_yaml import read_yaml
from mtl.base.wording import inert, markdown_table
from mtl.benchmark_making.audits.audit import Audit
from mtl.benchmark_making.audits.parts import SHOWN, Finding, Part, TaskFiles, excerpt, plain, read_files
from mtl.benchmark_making.near_duplicates import near_duplicates
from mtl.benchmark_making.text_units import NGRAM_SIZE
from mtl.data.examples import Example
from mtl.data.files import read_bytes
from mtl.data.forms import PACKED, form_of
from mtl.jobs.job import Job
from mtl.tasks.layout import Layout
from mtl.tasks.suite import load_suite
from mtl.tasks.task import SPLITS

SHARE = 0.8  # of these n-grams, from which on two rows are near duplicates
REMOVED = "removed.jsonl"
OUTDATED = {"generated", "source", "hub", "checksums", "submission"}  # on the files as they were, or on handing in


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
    """The near duplicates in the data of a job. Raises InputError as `find_near`."""
    hits_by_task = find_near(job)
    table = [["task", "split", "rows", *(f"like a row of {split}" for split in SPLITS)]]
    for files, hits in hits_by_task:
        counts = Counter((hit.part.split, hit.source.split) for hit in hits)
        for split, part in files.files.items():
            earlier = SPLITS[: SPLITS.index(split) + 1]  # and its own; later splits would repeat these rows
            cells = [str(counts[split, source]) if source in earlier else "" for source in SPLITS]
            table.append([files.task.id, split, str(len(part.rows)), *cells])
    sections = [
        f"## {inert(job.suite.title)}: near duplicates",
        markdown_table(table, left=2),
        f"Rows that have at least {SHARE:g} of their character {NGRAM_SIZE}-grams in common with another row, in lower case (Jaccard similarity; all"
        " texts of a row together; all such rows are found). In the same split, only earlier rows count.",
    ]
    return Audit([finding for _, hits in hits_by_task for finding in near_findings(hits)], sections)


def find_near(job: Job) -> list[tuple[TaskFiles, list[Hit]]]:
    """The near duplicates of each task's rows, its held-out rows not set apart. Tasks on single words are left out. The rows of a task that another
    one answers are compared with the other's training rows. Raises InputError if no task has texts that can be read."""
    read = {task.id: read_files(job.suite, task, job.data_dir, job.config.held_out) for task in job.tasks}
    hits_by_task = []
    for files in read.values():
        parts = dict(files.files)
        answering = read.get(files.task.answered_by or "")
        if answering is not None and "train" in answering.files:
            parts = {"train": answering.files["train"], **parts}
        if files.task.level == "text" and parts:
            # Two training rows of the other task are found with that task.
            hits = [hit for hit in _hits(parts) if files.task in (hit.part.task, hit.source.task)]
            hits_by_task.append((files, hits))
    if not hits_by_task:
        problem = "has no file with texts that can be read; mtl audit without --near says why"
        raise InputError(problem, path=job.data_dir)
    return hits_by_task


def _hits(parts: Mapping[str, Part]) -> list[Hit]:
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
    hits = list[Hit]()
    for part, row, number in rows:
        for source in sources:
            matches = (
                Hit(part, row, source, match, similarity)
                for other, similarity in similar[number].items()
                for match in with_text.get((source.split, other), ())
                if (source is not part or match.line < row.line) and source.marked(match) == part.marked(row)
            )
            hits += islice(matches, 1)  # the most similar
    return hits


def _similar_texts(texts: Sequence[str]) -> list[dict[int, float]]:
    """For each text, the similarities of the texts that are nearly the same, by number, the most similar first; the text itself is among them."""
    similar = [{number: 1.0} for number in range(len(texts))]
    for earlier, later, similarity in near_duplicates(texts, SHARE):
        similar[earlier][later] = similar[later][earlier] = similarity
    return [dict(sorted(own.items(), key=lambda item: (-item[1], item[0]))) for own in similar]


def near_findings(hits: Sequence[Hit]) -> Iterator[Finding]:
    """A finding for each pair of splits with near duplicates."""
    by_splits = defaultdict[tuple[str, str], list[Hit]](list)
    for hit in hits:
        if hit.repeats:
            by_splits[hit.part.split, hit.source.split].append(hit)
    for (split, source), group in by_splits.items():
        known = [hit for hit in group if hit.row.target is not None and hit.match.target is not None]
        agreeing = sum(hit.row.target == hit.match.target for hit in known)
        if split == source:
            like, meaning = f"an earlier row of {source}", "they count twice"
        else:
            answers = "answers them without understanding" if agreeing or not known else "answers them wrongly"
            like, meaning = f"a row of {source}", f"a model that memorised these rows {answers}"
        rows = group[0].part.rows_text(len(group), "are", "is")
        targets = f", {agreeing} of them with the same target" if known else ""
        least = "; ".join(map(_pair_text, sorted(group, key=lambda hit: hit.similarity)[:SHOWN]))
        what = f"{rows} nearly the same as {like}{targets}; the least similar: {least}"
        yield group[0].part.finding("near duplicates", len(group), what, meaning)


def _pair_text(hit: Hit) -> str:
    """A pair of rows in a message: their similarity, where they stand, and how their texts begin."""
    row, match = (" / ".join(map(excerpt, example.texts)) for example in (hit.row, hit.match))
    return f"{hit.similarity:.2f} {hit.part.where([hit.row])} and {hit.source.where([hit.match])}, {row} and {match}"


def write_clean(job: Job, out: Path) -> str:
    """Write a copy of the data without rows that leak between splits, its suite file, and a log of the rows that left; return what was done.
    Rows leave train rather than dev, and dev rather than test, so that scores are of the same rows as before wherever they can be. Where dev is held
    out of train, only the first of several training rows that are nearly the same stays. Raises InputError as `find_near` does, for a file that a
    run cannot read, and for a split that would have no rows left."""
    check_new_folder(out)
    hits_by_task = find_near(job)
    if broken := [finding for files, _ in hits_by_task for finding in files.findings if finding.kind == "unreadable"]:
        raise InputError(f"{broken[0].what}; correct the file first", path=job.data_dir)
    removals = [(files.task.id, hit) for files, hits in hits_by_task for hit in hits if _leaves(hit, files)]
    removed = defaultdict[str, set[int]](set)  # by file, where its rows that leave begin
    for _, hit in removals:
        removed[hit.part.file].add(hit.row.line)
    copied = {files.task.id for files, _ in hits_by_task}
    parts = {part.file: part for files, _ in hits_by_task for part in files.files.values()}
    if empty := [file for file, starts in removed.items() if len(starts) == len(parts[file].rows)]:
        raise InputError("no row of it would stay; leave its task out (tasks=)", path=job.data_dir / empty[0])
    summary = _what_left(list(parts.values()), removed)
    with new_folder(out) as partial:
        for file, part in parts.items():
            source, copy = job.data_dir / file, partial / "data" / file
            copy.parent.mkdir(parents=True, exist_ok=True)
            layout = part.task.layout(part.split, job.data_dir)
            copy_rows(source, copy, [row.line for row in part.rows], removed[file], layout)
        _write_suite(job, copied, f"a copy without near duplicates: {summary}", partial / "suite.yaml")
        write_text(partial / REMOVED, "".join(_log_line(task, hit) for task, hit in removals))
    suite = out / "suite.yaml"
    done = [summary, f"{out / REMOVED}: which rows, and why"]
    if absent := [id for id in job.suite.tasks if id not in copied]:
        done.append(f"not in the copy: {', '.join(absent)}")
    return "\n".join([*done, f"{suite}; run on the copy: mtl baseline suite={suite} method=svm"])


def _leaves(hit: Hit, files: TaskFiles) -> bool:
    """Whether the row is to leave: for a row like it in a later split, or for an earlier one in train, if dev is held out of train."""
    return not hit.repeats or (hit.part.split == hit.source.split == "train" and "dev" not in files.files)


def _what_left(parts: Sequence[Part], removed: Mapping[str, Collection[int]]) -> str:
    """How many rows of each file leave, and why. `removed`: by file, where they begin."""
    changed = [part for part in parts if part.file in removed]
    shares = [f"{len(removed[part.file])} of {len(part.rows)} rows of {part.task.id} {part.split}" for part in changed]
    grams = f"{SHARE:g} or more of their character {NGRAM_SIZE}-grams"
    like = "a row of dev or test or, where dev is held out of train, an earlier row of train"
    return f"{', '.join(shares) or 'no row'} left out, as {grams} stand in {like}"


def _write_suite(job: Job, copied: Collection[str], note: str, path: Path) -> None:
    """Write the suite file of a copy: the copied tasks, under another name, without the addresses and checksums of the original files."""
    suite: dict[Any, Any] = read_yaml(find_yaml("suite", job.config.suite))
    suite |= {"name": f"{job.suite.name}-clean", "title": f"{job.suite.title} (clean)", "data": "data", "clean": note}
    suite["tasks"] = {id: keys for id, keys in suite["tasks"].items() if id in copied}
    for keys in (suite, *suite["tasks"].values()):
        for key in OUTDATED & keys.keys():
            del keys[key]
    write_text(path, yaml.safe_dump(suite, sort_keys=False, allow_unicode=True, width=120))
    load_suite(path)  # raises InputError where a copied task is answered by one that is not copied


def _log_line(task: str, hit: Hit) -> str:
    """What the log says of a row that left a task."""
    row, like = hit.part.where([hit.row]), hit.source.where([hit.match])
    entry = {"task": task, "row": row, "like": like, "similarity": round(hit.similarity, 4), "texts": hit.row.texts}
    return json.dumps(entry, ensure_ascii=False) + "\n"


def copy_rows(path: Path, copy: Path, lines: Sequence[int], left_out: Collection[int], layout: Layout) -> None:
    """Copy a file, byte for byte, without the rows that begin on the lines `left_out` of all `lines`. Raises InputError if rows are no lines."""
    if form_of(path, layout) in ("json", "parquet") or layout.part or layout.beside or path.suffix.lower() in PACKED:
        problem = "rows can be left out of plain files with a row a line only"
        raise InputError(f"{problem}; write the rows as .jsonl", path=path)
    content = BytesIO(read_bytes(path)).readlines()  # a line feed ends a line, and nothing else
    ends = [*lines[1:], len(content) + 1]
    rows = [content[line - 1 : end - 1] for line, end in zip(lines, ends, strict=True) if line not in left_out]
    copy.write_bytes(b"".join([*content[: lines[0] - 1], *chain.from_iterable(rows)]))
