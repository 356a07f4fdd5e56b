"""Near duplicates: rows whose texts are nearly the same, in one split or in two, by the character n-grams that they have in common; and a copy of a
suite's data without those that leak from one split into another."""

import json
from collections import Counter, defaultdict
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any

import yaml

from mtl.base.errors import InputError
from mtl.base.files import write_text
from mtl.base.folders import check_new_folder, new_folder
from mtl.base.settings.layers import find_suite
from mtl.base.untrusted_yaml import read_yaml
from mtl.base.wording import inert, markdown_table
from mtl.benchmark_making.audits.audit import Audit, TaskFiles, read_files
from mtl.benchmark_making.audits.findings import Finding, Part, excerpt, plain
from mtl.benchmark_making.similarity import NEAR_NGRAM, near_duplicates
from mtl.data.examples import Example
from mtl.data.files import read_bytes
from mtl.data.parquet import opened_parquet, parquet_errors
from mtl.data.rows import PACKED, form_of
from mtl.jobs.job import Job
from mtl.tasks.suite import load_suite
from mtl.tasks.task import SPLITS, Layout

SHARE = 0.8  # of these n-grams, from which on two rows are near duplicates
SHOWN = 3  # pairs of a finding
REMOVED = "removed.jsonl"
# Keys of a suite and a task that are not for a copy: they describe the files as they were, or what is handed in.
OUTDATED = {"generated", "source", "hub", "checksums", "submission"}


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
        f"Rows that have at least {SHARE:g} of their character {NEAR_NGRAM}-grams in common with another row, in lower case (Jaccard similarity; all"
        " texts of a row together; all such rows are found). In the same split, only earlier rows count.",
    ]
    return Audit([finding for _, near in near_rows for finding in near_findings(near)], sections)


def find_near(job: Job) -> list[tuple[TaskFiles, list[Near]]]:
    """The near duplicates of each task's rows, its held-out rows not set apart: those with at least the similarity SHARE.

    Tasks on single words are left out. The rows of a task that another one answers are compared with the other's training rows.
    Raises InputError if no task has texts that can be read.
    """
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
        what = f"{part.of(len(hits), 'are', 'is')} nearly the same as {row}"
        what += f", {agreeing} of them with the same target" if known else ""
        findings.append(part.finding("near duplicates", len(hits), f"{what}; the least similar: {pairs}", meaning))
    return findings


def write_clean(job: Job, out: Path) -> str:
    """Write a copy of the data without rows that leak between splits, its suite file, and a log of the rows that left; return what was done.

    Rows leave train rather than dev, and dev rather than test, so that scores are of the same rows as before wherever they can be. Where dev is held
    out of train, only the first of several training rows that are nearly the same stays.

    Raises:
        InputError: as `find_near` does, for a file that a run cannot read, and for a split that would have no rows left.
    """
    check_new_folder(out)
    near_rows = find_near(job)
    read = [files for files, _ in near_rows]
    if broken := [finding for files in read for finding in files.findings if finding.kind == "unreadable"]:
        raise InputError(f"{broken[0].what}; correct the file first", path=job.data_dir)
    removals = [
        (files.task.id, hit)
        for files, near in near_rows
        for hit in near
        if not hit.repeats or (hit.part.split == hit.source.split == "train" and "dev" not in files.files)
    ]
    lines = defaultdict[str, set[int]](set)
    for _, hit in removals:
        lines[hit.part.file].add(hit.row.line)
    parts = {part.file: part for files in read for part in files.files.values()}
    if empty := [file for file, gone in lines.items() if len(gone) == len(parts[file].rows)]:
        raise InputError("no row of it would stay; leave its task out (tasks=)", path=job.data_dir / empty[0])
    gone = [(len(lines[file]), part) for file, part in parts.items() if lines[file]]
    left = [f"{count} of {len(part.rows)} rows of {part.task.id} {part.split}" for count, part in gone]
    grams = f"{SHARE:g} or more of their character {NEAR_NGRAM}-grams"
    what = f"{', '.join(left) or 'no row'} left out, as {grams} stand in a row of dev or test"
    with new_folder(out) as partial:
        for file, part in parts.items():
            source, copy = job.data_dir / file, partial / "data" / file
            copy.parent.mkdir(parents=True, exist_ok=True)
            layout = part.task.layout(part.split, job.data_dir)
            copy_rows(source, copy, [row.line for row in part.rows], lines[file], layout)
        # The same tasks, under another name, without the addresses and checksums of the original files.
        raw: dict[Any, Any] = read_yaml(find_suite(job.config.suite))
        raw |= {"name": f"{job.suite.name}-clean", "title": f"{job.suite.title} (clean)", "data": "data"}
        raw["clean"] = f"a copy without near duplicates: {what}"
        for keys in (raw, *raw["tasks"].values()):
            for key in OUTDATED & keys.keys():
                del keys[key]
        write_text(partial / "suite.yaml", yaml.safe_dump(raw, sort_keys=False, allow_unicode=True, width=120))
        load_suite(partial / "suite.yaml")
        log = ""
        for task, hit in removals:
            row, like = hit.part.where([hit.row]), hit.source.where([hit.match])
            similarity = round(hit.similarity, 4)
            about = {"task": task, "row": row, "like": like, "similarity": similarity, "texts": hit.row.texts}
            log += json.dumps(about, ensure_ascii=False) + "\n"
        write_text(partial / REMOVED, log)
    suite = out / "suite.yaml"
    run = f"run on the copy: mtl baseline suite={suite} method=svm"
    return f"{what}\n{out / REMOVED}: which rows, and why\n{suite}; {run}"


def copy_rows(path: Path, copy: Path, lines: Sequence[int], left_out: Container[int], layout: Layout) -> None:
    """Copy a file without some of its rows. All others keep their bytes, but for those of a parquet file, which is written anew.

    Raises InputError for an unknown suffix, a file that cannot be read, and one whose rows are not lines of it.

    Args:
        lines: where the rows of the file begin, as `Record.line` says, in their order.
        left_out: those of the rows that are left out.
    """
    form = form_of(path, layout)
    if form == "parquet" and not layout.part:
        kept_rows = [line - 1 for line in lines if line not in left_out]
        problem, remedy = "cannot be copied", "check that it is a whole parquet file"
        with opened_parquet(path) as file, parquet_errors(path, problem, remedy) as (_, parquet):
            parquet.write_table(file.read().take(kept_rows), copy)
        return
    if form in ("json", "parquet") or layout.part or layout.beside or path.suffix.lower() in PACKED:
        problem = "rows can be left out of plain files with a row a line only"
        raise InputError(f"{problem}; write the rows as .jsonl", path=path)
    content = BytesIO(read_bytes(path)).readlines()  # a line feed ends a line, and nothing else
    ends = [*lines[1:], len(content) + 1]
    kept = [content[line - 1 : end - 1] for line, end in zip(lines, ends, strict=True) if line not in left_out]
    copy.write_bytes(b"".join([*content[: lines[0] - 1], *chain.from_iterable(kept)]))
