"""The formats of submissions, by the name that a suite file uses (`submission.format`)."""

from mtl.submissions.check import check_rows
from mtl.submissions.format import SubmissionFormat, check_zip, write_zip
from mtl.submissions.rows import rows_problem, write_rows
from mtl.tasks.suite import Suite

SUBMISSION_FORMATS = {
    "zip": SubmissionFormat(write_zip, check_zip),
    "rows": SubmissionFormat(write_rows, check_rows, rows_problem),
}


def submission_problem(suite: Suite) -> str | None:
    """The error in a suite's `submission`, as "key: message", or None."""
    name = suite.submission.format
    if name not in SUBMISSION_FORMATS:
        return f"format: {name!r} must be {' or '.join(SUBMISSION_FORMATS)}"
    return SUBMISSION_FORMATS[name].problem(suite)
