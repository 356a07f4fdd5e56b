"""The checks of a suite's data, from Python and from the command line."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from mtl.api.settings import Settings, plain_settings
from mtl.api.show import MarkdownText, frame
from mtl.base.errors import InputError
from mtl.base.interface import checked
from mtl.base.wings import lazy

if TYPE_CHECKING:
    from pandas import DataFrame

    from mtl.benchmark_making.audits.audit import Audit
    from mtl.benchmark_making.audits.parts import Finding
    from mtl.jobs.job import Job

CHECKS: dict[str, Callable[["Job"], "Audit"]] = {  # by name; imported only when made, since artefacts need torch
    "data": lazy("mtl.benchmark_making.audits.audit:audit"),
    "artefacts": lazy("mtl.benchmark_making.audits.artefacts:audit_artefacts"),
    "near": lazy("mtl.benchmark_making.audits.near:audit_near"),
}


class AuditReport:
    """What an audit of a suite's data says; what `mtl.audit` returns. A notebook shows the report.

    Attributes:
        report: the report, in Markdown."""

    def __init__(self, done: "Audit") -> None:
        self._findings: Sequence[Finding] = done.findings
        self.report = MarkdownText(done.report)

    @property
    def findings(self) -> "DataFrame":
        """What should be known before a score is believed: kind, task, split, count (of examples), what, meaning, where (file:line)."""
        columns = ("kind", "task", "split", "count", "what", "meaning", "where")
        return frame(columns, [[getattr(finding, column) for column in columns] for finding in self._findings])

    def __repr__(self) -> str:
        return str(self.report)

    def _repr_markdown_(self) -> str:
        return self.report._repr_markdown_()


@checked
def audit(*settings: Settings, check: str = "data", **named: Any) -> AuditReport:
    """Check a suite's data, as `mtl audit` does with the same settings.

    Args:
        settings, named: as in `mtl.run`.
        check: data: errors, duplicates and leaks; artefacts: annotation artefacts, which simple baselines show that read a part
            of an example; near: near duplicates.

    Raises:
        mtl.InputError: for bad settings, an unknown check, and data that is not there.

    Examples:
        >>> _ = mtl.run(suite="klej-sample", method="constant", tasks=["cbd"])  # writes the embedded data
        >>> mtl.audit(suite="klej-sample", tasks=["cbd"]).findings.columns.tolist()[:3]
        ['kind', 'task', 'split']
    """
    from mtl.jobs.job import load_job

    return AuditReport(audit_job(load_job(plain_settings(settings, named)), check))


def audit_job(job: "Job", check: str = "data") -> "Audit":
    """One of the checks of a job's data; `audit` explains the arguments. Raises InputError."""
    if check not in CHECKS:
        raise InputError(f"unknown; known: {', '.join(CHECKS)}", key="check", value=check)
    return CHECKS[check](job)
