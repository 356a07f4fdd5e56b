"""The formats of submissions, by the name that a suite file uses (`submission.format`)."""

from mtl.runs.formats.check import check_rows
from mtl.runs.formats.kind import SubmissionFormat
from mtl.runs.formats.rows import rows_problem, write_rows
from mtl.runs.formats.zipped import check_zip, write_zip
from mtl.tasks.suite import Suite

FORMATS = {
    "zip": SubmissionFormat(write_zip, check_zip),
    "rows": SubmissionFormat(write_rows, check_rows, rows_problem),
}


def submission_problem(suite: Suite) -> str | None:
    """The error in a suite's `submission`, as "key: message", or None."""
    name = suite.submission.format
    if name not in FORMATS:
        return f"format: {name!r} must be {' or '.join(FORMATS)}"
    return FORMATS[name].problem(suite)
