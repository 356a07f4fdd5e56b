"""The formats of submissions, by the name that a suite file uses (`submission.format`)."""

from mtl.runs.formats import check, rows, zipped
from mtl.runs.formats.kind import SubmissionFormat
from mtl.tasks.suite import Suite

FORMATS = {
    "zip": SubmissionFormat(zipped.write, zipped.check),
    "rows": SubmissionFormat(rows.write, check.check, rows.problem),
}


def submission_problem(suite: Suite) -> str | None:
    """The error in a suite's `submission`, as "key: message", or None."""
    name = suite.submission.format
    if name not in FORMATS:
        return f"format: {name!r} must be {' or '.join(FORMATS)}"
    return FORMATS[name].problem(suite)
