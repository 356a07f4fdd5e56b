"""A copy of a suite's data without the rows that leak from one split into another, with its suite file and a log of the rows that left."""

import json
from collections.abc import Collection, Mapping, Sequence
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from mtl.base.errors import InputError
from mtl.base.files import write_text
from mtl.base.folders import check_new_folder, new_folder
from mtl.base.settings.layers import find_yaml
from mtl.base.untrusted_yaml import read_yaml
from mtl.benchmark_making.audits.near import SHARE, Hit, find_near
from mtl.benchmark_making.audits.parts import Part
from mtl.benchmark_making.audits.task_files import TaskFiles
from mtl.benchmark_making.text_units import NGRAM_SIZE
from mtl.data.files import read_bytes
from mtl.data.forms import PACKED, form_of
from mtl.jobs.job import Job
from mtl.tasks.layout import Layout
from mtl.tasks.suite import load_suite

REMOVED = "removed.jsonl"
OUTDATED = {"generated", "source", "hub", "checksums", "submission"}  # on the files as they were, or on handing in


def write_clean(job: Job, out: Path) -> str:
    """Write a copy of the data without rows that leak between splits, its suite file and a log; return a report. Rows leave train rather than dev,
    and dev rather than test: scores stay comparable. Where dev is held out of train, only the first of nearly equal rows stays. Raises InputError."""
    check_new_folder(out)
    tasks_and_hits = find_near(job)
    tasks = [files for files, _ in tasks_and_hits]
    if unreadable := [finding for files in tasks for finding in files.findings if finding.kind == "unreadable"]:
        raise InputError(f"{unreadable[0].what}; correct the file first", path=job.data_dir)
    copied = {files.task.id for files in tasks}
    parts = {part.file: part for files in tasks for part in files.as_read.values()}
    leaving = [hit for files, hits in tasks_and_hits for hit in hits if _leaves(hit, files)]
    removed_lines = {file: {hit.row.line for hit in leaving if hit.part.file == file} for file in parts}
    for file, lines in removed_lines.items():
        if len(lines) == len(parts[file].rows):
            raise InputError("no row of it would stay; leave its task out (tasks=)", path=job.data_dir / file)
    summary = _summary(list(parts.values()), removed_lines)
    with new_folder(out) as partial:
        for file, part in parts.items():
            copy = partial / "data" / file
            copy.parent.mkdir(parents=True, exist_ok=True)
            layout = part.task.layout(part.split, job.data_dir)
            copy_rows(job.data_dir / file, copy, [row.line for row in part.rows], removed_lines[file], layout)
        _write_suite(job, copied, f"a copy without near duplicates: {summary}", partial / "suite.yaml")
        log_lines = dict.fromkeys(map(_log_line, leaving))  # without repeated lines
        write_text(partial / REMOVED, "".join(log_lines))
    suite = out / "suite.yaml"
    report = [summary, f"{out / REMOVED}: which rows, and why"]
    if absent := [id for id in job.suite.tasks if id not in copied]:
        report.append(f"not in the copy: {', '.join(absent)}")
    return "\n".join([*report, f"{suite}; run on the copy: mtl baseline suite={suite} method=svm"])


def _leaves(hit: Hit, files: TaskFiles) -> bool:
    """Whether the row is to leave: for a row like it in a later split, or for an earlier one in train, if dev is held out of train."""
    if not hit.repeats:  # the row like it stands in a later split
        return True
    dev_is_held_out = "dev" not in files.as_read
    return dev_is_held_out and hit.part.split == hit.source.split == "train"


def _summary(parts: Sequence[Part], removed_lines: Mapping[str, Collection[int]]) -> str:
    """How many rows of each file leave, and why. `removed_lines`: by file, the lines that begin them."""
    shares = []
    for part in parts:
        if lines := removed_lines[part.file]:
            shares.append(f"{len(lines)} of {len(part.rows)} rows of {part.task.id} {part.split}")
    like = "a row of dev or test or, where dev is held out of train, an earlier row of train"
    return f"{', '.join(shares) or 'no row'} left out, as {SHARE:g} or more of their character {NGRAM_SIZE}-grams stand in {like}"


def copy_rows(path: Path, copy: Path, lines: Sequence[int], left_out: Collection[int], layout: Layout) -> None:
    """Copy a file, byte for byte, without the rows that begin on the lines `left_out` of all `lines`. Raises InputError if rows are no lines."""
    if form_of(path, layout) in ("json", "parquet") or layout.part or layout.beside or path.suffix.lower() in PACKED:
        problem = "rows can be left out of plain files with a row a line only"
        raise InputError(f"{problem}; write the rows as .jsonl", path=path)
    content = BytesIO(read_bytes(path)).readlines()  # a line feed ends a line, and nothing else
    kept = content[: lines[0] - 1]  # what stands before the first row
    for line, next_line in pairwise([*lines, len(content) + 1]):
        if line not in left_out:
            kept += content[line - 1 : next_line - 1]
    copy.write_bytes(b"".join(kept))


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


def _log_line(hit: Hit) -> str:
    """What the log says of a row that left. A row has a line for each other row that it left for."""
    row, like = hit.part.first_lines([hit.row]), hit.source.first_lines([hit.match])
    similarity = round(hit.similarity, 4)
    entry = {"task": hit.part.task.id, "row": row, "like": like, "similarity": similarity, "texts": hit.row.texts}
    return json.dumps(entry, ensure_ascii=False) + "\n"
