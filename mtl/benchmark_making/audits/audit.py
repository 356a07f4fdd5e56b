"""Check a suite's data for errors, duplicates and leaks between splits, and write a report."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from mtl.base.progress import progress
from mtl.base.wording import counted, inert
from mtl.benchmark_making.audits.fields import field_findings
from mtl.benchmark_making.audits.findings import absent_targets, id_findings, target_findings, text_findings
from mtl.benchmark_making.audits.leaks import shared_across, shared_within
from mtl.benchmark_making.audits.parts import HELD_OUT, Finding, TaskFiles, read_files
from mtl.benchmark_making.audits.questions import question_findings
from mtl.benchmark_making.audits.tables import size_sections, target_table
from mtl.data.hashes import changed_splits, hash_files
from mtl.data.splits import check_present, has_files
from mtl.jobs.job import Job


@dataclass(frozen=True)
class Audit:
    """The findings, and the sections of the report before them (Markdown), of which some may be empty."""

    findings: list[Finding]
    sections: list[str]

    @property
    def report(self) -> str:
        """The report, in Markdown that is also readable in a terminal: the sections, a line for each finding, and their number."""
        if not self.findings:
            return "\n\n".join(filter(None, [*self.sections, "nothing found"]))
        lines = [f"- {inert(str(finding))}" for finding in self.findings]
        tasks = len({finding.task for finding in self.findings})
        total = f"{counted(len(lines), 'finding')} in {counted(tasks, 'task')}"
        return "\n\n".join(filter(None, [*self.sections, "\n".join(["### Findings", "", *lines]), total]))


def audit(job: Job) -> Audit:
    """Read the suite's data as a run does, and check it. Raises InputError without data, and if the embeddings cannot be loaded."""
    suite, data_dir = job.suite, job.data_dir
    if not any(has_files(task, data_dir) for task in job.tasks):
        check_present(suite, job.tasks, data_dir)
    tasks = [read_files(suite, task, data_dir, job.config.held_out) for task in job.tasks]
    sizes = size_sections(job, tasks)
    findings = {files.task.id: list(_task_findings(files, job)) for files in progress(tasks, "auditing", "tasks")}
    for finding in shared_across([files.parts for files in tasks]):
        findings[finding.task].append(finding)
    sections = [f"## {inert(suite.title)}: audit of {inert(str(data_dir))}", *sizes, target_table(tasks)]
    return Audit(list(chain.from_iterable(findings.values())), sections)


def _task_findings(files: TaskFiles, job: Job) -> Iterator[Finding]:
    """The findings in the files of one task, in the order of the report."""
    yield from files.findings
    yield from _unlike_published(files, job.data_dir)
    for part in files.files.values():
        yield from text_findings(part)
        yield from target_findings(part)
    if HELD_OUT in files.shown:
        yield from absent_targets(files.shown[HELD_OUT])
    for part in files.files.values():
        yield from field_findings(part, job.data_dir, job.suite.shown)
        yield from id_findings(part, job.data_dir, job.suite.submission.ids)
    yield from question_findings(files.files)
    yield from shared_within(files.parts)


def _unlike_published(files: TaskFiles, data_dir: Path) -> Iterator[Finding]:
    """The files that differ from the published ones: in their number of rows, or else in the checksum that the suite names."""
    changed = changed_splits(hash_files([files.task], data_dir)).get(files.task.id, ())
    for split, part in files.files.items():
        rows, published = len(part.rows), files.task.rows.get(split)
        if published not in (None, rows):
            what = f"{rows} rows, {'fewer' if rows < published else 'more'} than the {published} published"
            meaning = "another version, or rows lost by reading quotation marks as CSV quoting; scores cannot be compared with published ones"
            yield part.finding("row count", abs(rows - published), what, meaning, part.file)
        elif split in changed:
            what = "the file differs from the one whose checksum the suite names"
            meaning = "tables mark the task as changed; scores cannot be compared with published ones"
            yield part.finding("checksum", 1, what, meaning, part.file)
