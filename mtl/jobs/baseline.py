"""A whole run: every seed and its predictions, then the summary and the table."""

from mtl.device import exact_arithmetic
from mtl.jobs.job import Job, NamedRun
from mtl.jobs.outcome import check_begun, sum_up
from mtl.jobs.prepared import begin
from mtl.jobs.seed import run_seed
from mtl.jobs.together import run_together
from mtl.runs.summary import Summary, read_summary
from mtl.training.precision import check_precision


@exact_arithmetic()
def run_baseline(job: Job, command: str = "") -> Summary:
    """Run the job, or the part of it that is not done yet. Return the summary.

    command: the command line that the summary records. Raises InputError for bad data, for a run folder with another
    configuration, and for one that another process uses; DivergedError for training that diverges.
    """
    # Also a last seed that is left: with all threads, its scores would have other last digits.
    if job.config.runs_apart:
        run_together([NamedRun("", job)], command, lambda run: None)
        return read_summary(job.folder.summary)
    if not job.folder.summary.exists():
        check_precision(job.config.trainer)
    with job.folder.locked():
        if (finished := check_begun(job)) is not None:
            return finished
        prepared, dataset, method = begin(job)
        for seed in job.config.seeds:
            run_seed(job, dataset, method, seed)
        return sum_up(job, prepared, command)
