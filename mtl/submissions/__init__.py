"""The formats of submissions, by the name that a suite file uses: `submission: {format: NAME}`."""

from functools import partial

from mtl.submissions.check import check_rows
from mtl.submissions.entry_check import rows_problem
from mtl.submissions.files import SPLITS
from mtl.submissions.format import SubmissionFormat
from mtl.submissions.line_formats import check_lines, glue_problem, write_glue, write_zip
from mtl.submissions.rows import write_rows
from mtl.tasks.suite import Suite

SUBMISSION_FORMATS: dict[str, SubmissionFormat] = {
    "zip": SubmissionFormat(write=write_zip, check=partial(check_lines, indexed=False)),
    "rows": SubmissionFormat(write=write_rows, check=check_rows, problem=rows_problem, splits=SPLITS),
    "glue": SubmissionFormat(write_glue, partial(check_lines, indexed=True), glue_problem),
}


def submission_problem(suite: Suite) -> str | None:
    """The error in a suite's `submission`, as "key: message", or None."""
    name = suite.submission.format
    if name not in SUBMISSION_FORMATS:
        return f"format: {name!r} must be {' or '.join(SUBMISSION_FORMATS)}"
    return SUBMISSION_FORMATS[name].problem(suite)
