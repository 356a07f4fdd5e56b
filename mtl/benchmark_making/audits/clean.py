"""A copy of a suite's data without leaks: training rows that nearly repeat a dev or test row are left out, and dev rows that repeat a test row."""

import json
from collections import defaultdict
from collections.abc import Container, Sequence
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any

import yaml

from mtl.base.errors import InputError
from mtl.base.files import write_text
from mtl.base.folders import check_new_folder, new_folder
from mtl.base.settings.layers import find_suite
from mtl.base.untrusted import inside
from mtl.base.untrusted_yaml import read_yaml
from mtl.benchmark_making.audits.audit import TaskFiles
from mtl.benchmark_making.audits.near import NGRAM, Near, find_near
from mtl.data.columns import opened_parquet, parquet_errors
from mtl.data.files import read_bytes
from mtl.data.rows import PACKED, form_of
from mtl.jobs.job import Job
from mtl.tasks.suite import load_suite
from mtl.tasks.task import Layout

REMOVED = "removed.jsonl"
SHOWN = 200  # characters of a removed row's text
OUTDATED = ("source", "hub", "checksums")  # keys of a task that describe the files as they were


def write_clean(job: Job, share: float, out: Path) -> str:
    """Write a copy of the data without rows that leak between splits, its suite file, and a log of the rows that left; return what was done.

    Rows leave train rather than dev, and dev rather than test, so that scores are of the same rows as before wherever they can be. Where dev is held
    out of train, only the first of several training rows that are nearly the same stays.

    Raises:
        InputError: as `find_near` does, for a file that a run cannot read, and for a split that would have no rows left.
    """
    check_new_folder(out)
    near_rows = find_near(job, share)
    read = [files for files, _ in near_rows]
    if broken := [finding for files in read for finding in files.findings if finding.kind == "unreadable"]:
        raise InputError(f"{broken[0].what}; correct the file first", path=job.data_dir)
    removals = [(files.task.id, hit) for files, near in near_rows for hit in near if _leaves(files, hit)]
    lines = defaultdict[str, set[int]](set)
    for _, hit in removals:
        lines[hit.part.file].add(hit.row.line)
    parts = {part.file: part for files in read for part in files.files.values()}
    if empty := [file for file, gone in lines.items() if len(gone) == len(parts[file].rows)]:
        raise InputError("no row of it would stay; give a larger --share", path=job.data_dir / empty[0])
    counts = []
    for file, part in parts.items():
        if gone := len(lines[file]):
            counts.append(f"{gone} of {len(part.rows)} rows of {part.task.id} {part.split}")
    what = f"{', '.join(counts) or 'no row'} left out, as {share:g} or more of their character {NGRAM}-grams stand in a row of dev or test"
    with new_folder(out) as partial:
        for file, part in parts.items():
            copy = partial / "data" / file
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy_rows(
                job.data_dir / file,
                copy,
                [row.line for row in part.rows],
                lines[file],
                part.task.layout(part.split, job.data_dir),
            )
        template = job.suite.submission.template
        if template and (entry := inside(job.data_dir, template)).is_file():
            (partial / "data" / template).parent.mkdir(parents=True, exist_ok=True)
            (partial / "data" / template).write_bytes(entry.read_bytes())
        write_text(partial / "suite.yaml", _suite_file(job, f"a copy without near duplicates: {what}"))
        load_suite(partial / "suite.yaml")
        log = []
        for task, hit in removals:
            texts = [text if len(text) <= SHOWN else f"{text[:SHOWN]}…" for text in hit.row.texts]
            places = dict(zip(("row", "like"), hit.places, strict=True))
            log.append({"task": task, **places, "similarity": round(hit.similarity, 4), "texts": texts})
        write_text(partial / REMOVED, "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in log))
    path = out / "suite.yaml"
    run = f"run on the copy: mtl baseline suite={path} method=svm"
    return f"{what}\n{out / REMOVED}: which rows, and why\n{path}; {run}"


def _leaves(files: TaskFiles, near: Near) -> bool:
    """Whether a row leaves since it is like another one."""
    if near.part.split == near.source.split:
        return near.part.split == "train" and "dev" not in files.files
    return not near.repeats


def _suite_file(job: Job, what: str) -> str:
    """The suite file of the copy: the same tasks, under another name, without the addresses and checksums of the original files."""
    raw: dict[Any, Any] = read_yaml(find_suite(job.config.suite))
    for key in ("generated", "source"):
        raw.pop(key, None)
    raw |= {"name": f"{job.suite.name}-clean", "title": f"{job.suite.title} (clean)", "data": "data", "clean": what}
    for task in raw["tasks"].values():
        for key in OUTDATED:
            task.pop(key, None)
    return yaml.safe_dump(raw, sort_keys=False, allow_unicode=True, width=120)


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
        raise InputError(
            "rows can be left out of plain files with a row a line only; write the rows as .jsonl", path=path
        )
    content = BytesIO(read_bytes(path)).readlines()  # a line feed ends a line, and nothing else
    ends = [*lines[1:], len(content) + 1]
    kept = [content[line - 1 : end - 1] for line, end in zip(lines, ends, strict=True) if line not in left_out]
    copy.write_bytes(b"".join([*content[: lines[0] - 1], *chain.from_iterable(kept)]))
