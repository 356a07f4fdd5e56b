"""Check a suite's data for errors, duplicates and leaks between splits, count its tokens, and write a report."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

from mtl.base.progress import progress
from mtl.base.wording import counted, inert, markdown_table
from mtl.benchmark_making.audits.fields import field_findings
from mtl.benchmark_making.audits.findings import absent_targets, id_findings, target_findings
from mtl.benchmark_making.audits.leaks import shared_across, shared_within
from mtl.benchmark_making.audits.parts import Finding
from mtl.benchmark_making.audits.questions import question_findings
from mtl.benchmark_making.audits.sizes import size_sections
from mtl.benchmark_making.audits.task_files import HELD_OUT, TaskFiles, read_files
from mtl.benchmark_making.audits.text_findings import text_findings
from mtl.data.hashes import changed_splits, hash_files
from mtl.data.present_files import check_present, present_splits
from mtl.jobs.job import Job
from mtl.tasks.targets import target_kind


@dataclass(frozen=True)
class Audit:
    """The findings, and the sections of the report before them (Markdown), of which some may be empty."""

    findings: list[Finding]
    sections: list[str]

    @property
    def report(self) -> str:
        """The report, in Markdown that is also readable in a terminal: the sections, a line for each finding, and their number."""
        lines = [f"- {inert(str(finding))}" for finding in self.findings]
        tasks = len({finding.task for finding in self.findings})
        total = f"{counted(len(lines), 'finding')} in {counted(tasks, 'task')}"
        end = ["\n".join(["### Findings", "", *lines]), total] if lines else ["nothing found"]
        return "\n\n".join([*filter(None, self.sections), *end])


def audit(job: Job) -> Audit:
    """Read the suite's data as a run does, and check it. Raises InputError without data, and if the embeddings cannot be loaded."""
    suite, data_dir = job.suite, job.data_dir
    if not any(present_splits(task, data_dir) for task in job.tasks):
        check_present(suite, job.tasks, data_dir)
    tasks = [read_files(suite, task, data_dir, job.config.held_out) for task in job.tasks]
    sizes = size_sections(job, tasks)
    findings = {files.task.id: list(_task_findings(files, job)) for files in progress(tasks, "auditing", "tasks")}
    for finding in shared_across([files.as_used for files in tasks]):
        findings[finding.task].append(finding)
    sections = [f"## {inert(suite.title)}: audit of {inert(str(data_dir))}", *sizes, _target_table(tasks)]
    return Audit(list(chain.from_iterable(findings.values())), sections)


def _task_findings(files: TaskFiles, job: Job) -> Iterator[Finding]:
    """The findings in the files of one task, in the order of the report."""
    yield from files.findings
    yield from _unlike_published(files, job.data_dir)
    for part in files.as_read.values():
        yield from text_findings(part)
        yield from target_findings(part)
    if HELD_OUT in files.in_report_order:
        yield from absent_targets(files.in_report_order[HELD_OUT])
    for part in files.as_read.values():
        yield from field_findings(part, job.data_dir, job.suite.shown)
        yield from id_findings(part, job.data_dir, job.suite.submission.ids)
    yield from question_findings(files.as_read)
    yield from shared_within(files.as_used)


def _unlike_published(files: TaskFiles, data_dir: Path) -> Iterator[Finding]:
    """The files that differ from the published ones: in their number of rows, or else in the checksum that the suite names."""
    changed = changed_splits(hash_files([files.task], data_dir)).get(files.task.id, ())
    for split, part in files.as_read.items():
        rows, published = len(part.rows), files.task.rows.get(split)
        if published not in (None, rows):
            what = f"{rows} rows, {'fewer' if rows < published else 'more'} than the {published} published"
            meaning = "another version, or quotation marks that are not read as they were written; scores cannot be compared with published ones"
            yield part.new_finding("row count", abs(rows - published), what, meaning, part.file)
        elif split in changed:
            what = "the file differs from the one whose checksum the suite names"
            meaning = "tables mark the task as changed; scores cannot be compared with published ones"
            yield part.new_finding("checksum", 1, what, meaning, part.file)


def _target_table(tasks: Sequence[TaskFiles]) -> str:
    """The table of the targets in each file, or an empty text if no file has targets."""
    table = [["task", "split", "targets"]]
    for files in tasks:
        kind = target_kind(files.task)
        for split, part in files.in_report_order.items():
            values = np.array([row.target for row in part.rows if row.target is not None], dtype=kind.dtype)
            if len(values):
                table.append([files.task.id, split, inert(kind.distribution(values))])
    return markdown_table(table, left=3) if len(table) > 1 else ""
