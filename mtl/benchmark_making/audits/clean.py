"""A copy of a suite's data without near duplicates that leak from one split into another, with its suite file and a log of what left."""

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
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
from mtl.benchmark_making.audits.near import SHARE, Near, find_near
from mtl.benchmark_making.audits.parts import Part, TaskFiles
from mtl.benchmark_making.text_units import NGRAM_SIZE
from mtl.data.files import read_bytes
from mtl.data.forms import PACKED, form_of
from mtl.jobs.job import Job
from mtl.tasks.layout import Layout
from mtl.tasks.suite import load_suite

REMOVED = "removed.jsonl"
OUTDATED = {"generated", "source", "hub", "checksums", "submission"}  # on the files as they were, or on handing in


def write_clean(job: Job, out: Path) -> str:
    """Write a copy of the data without rows that leak between splits, its suite file, and a log of the rows that left; return what was done.
    Rows leave train rather than dev, and dev rather than test, so that scores are of the same rows as before wherever they can be. Where dev is held
    out of train, only the first of several training rows that are nearly the same stays. Raises InputError as `find_near` does, for a file that a
    run cannot read, and for a split that would have no rows left."""
    check_new_folder(out)
    near_rows = find_near(job)
    if broken := [finding for files, _ in near_rows for finding in files.findings if finding.kind == "unreadable"]:
        raise InputError(f"{broken[0].what}; correct the file first", path=job.data_dir)
    removals = [(files.task.id, hit) for files, near in near_rows for hit in near if _leaves(hit, files)]
    removed = defaultdict[str, set[int]](set)  # by file, where its rows that leave begin
    for _, hit in removals:
        removed[hit.part.file].add(hit.row.line)
    copied = {files.task.id for files, _ in near_rows}
    parts = {part.file: part for files, _ in near_rows for part in files.files.values()}
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


def _leaves(hit: Near, files: TaskFiles) -> bool:
    """Whether the row is to leave: for a row like it in a later split, or for an earlier one in train, if dev is held out of train."""
    return not hit.repeats or (hit.part.split == hit.source.split == "train" and "dev" not in files.files)


def _what_left(parts: Sequence[Part], removed: Mapping[str, Collection[int]]) -> str:
    """How many rows of each file leave, and why. `removed`: by file, where they begin."""
    counts = [(len(removed.get(part.file, ())), part) for part in parts]
    shares = [f"{count} of {len(part.rows)} rows of {part.task.id} {part.split}" for count, part in counts if count]
    grams = f"{SHARE:g} or more of their character {NGRAM_SIZE}-grams"
    like = "a row of dev or test or, where dev is held out of train, an earlier row of train"
    return f"{', '.join(shares) or 'no row'} left out, as {grams} stand in {like}"


def _write_suite(job: Job, copied: Collection[str], note: str, path: Path) -> None:
    """Write the suite file of a copy: the copied tasks, under another name, without the addresses and checksums of the original files."""
    suite: dict[Any, Any] = read_yaml(find_suite(job.config.suite))
    suite |= {"name": f"{job.suite.name}-clean", "title": f"{job.suite.title} (clean)", "data": "data", "clean": note}
    suite["tasks"] = {id: keys for id, keys in suite["tasks"].items() if id in copied}
    for keys in (suite, *suite["tasks"].values()):
        for key in OUTDATED & keys.keys():
            del keys[key]
    write_text(path, yaml.safe_dump(suite, sort_keys=False, allow_unicode=True, width=120))
    load_suite(path)  # raises InputError where a copied task is answered by one that is not copied


def _log_line(task: str, hit: Near) -> str:
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
