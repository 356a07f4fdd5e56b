"""Seeds in processes of their own: the same results, and no process left over."""

import os
import signal
import time
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest
from command_line import content, job, mtl
from processes import CONTEXT, start, wait_for
from small_suite import small_settings

from mtl.errors import DivergedError, InputError
from mtl.jobs.baseline import run_baseline
from mtl.jobs.job import Job
from mtl.jobs.parallel import SeedJob, run_in_parallel

# Stage 1 takes until it is interrupted.
LONG = ["seeds=[1,2]", "seeds_in_parallel=2", "pretrain.max_steps=100000", "pretrain.patience=100000"]
NEEDS_PROC = pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are looked up in /proc")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The settings of a finished run of two seeds, one after another."""
    settings = [*small_settings(tmp_path_factory.mktemp("one")), "seeds=[1,2]"]
    run_baseline(job(settings))
    return settings


def test_the_results_are_those_of_one_after_another(finished: list[str], tmp_path: Path) -> None:
    parallel = mtl("baseline", *finished, f"run_dir={tmp_path}", "seeds_in_parallel=2")
    assert parallel.returncode == 0, parallel.stderr
    assert content(tmp_path) == content(job(finished).folder.path) != {}
    # Each line of progress names its seed, and what all seeds share is logged once.
    assert parallel.stderr.count("distinct texts") == 1
    assert all(f"seed {seed} ({seed}/2)" in parallel.stderr for seed in (1, 2))


def test_a_run_may_continue_with_another_number_of_processes(finished: list[str]) -> None:
    assert run_baseline(job([*finished, "seeds_in_parallel=2"])) == run_baseline(job(finished))


def children_of(process: BaseProcess) -> list[int]:
    listed = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii")
    return [int(child) for child in listed.split()]


def wait_until_gone(processes: list[int]) -> None:
    """However long it takes: a test that hangs is ended from outside."""
    while any(alive(process) for process in processes):
        time.sleep(0.05)


def alive(process: int) -> bool:
    try:
        return " Z " not in Path(f"/proc/{process}/stat").read_text(encoding="ascii")
    except FileNotFoundError:
        return False


@NEEDS_PROC
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_all_end_and_one_message_says_so(
    settings: list[str], tmp_path: Path, number: signal.Signals
) -> None:
    process = start(["baseline", *settings, *LONG], tmp_path / "errors")
    checkpoints = [tmp_path / f"run/seed-{seed}/pretrain/last.ckpt" for seed in (1, 2)]
    for checkpoint in checkpoints:
        wait_for(checkpoint, process)
    children = children_of(process)
    assert len(children) >= 2
    assert process.pid is not None
    os.kill(process.pid, number)
    process.join()
    errors = (tmp_path / "errors").read_text(encoding="utf-8")
    assert process.exitcode == 130
    assert errors.count("interrupted") == 1 and "Traceback" not in errors
    assert errors.strip().splitlines()[-1] == "mtl: interrupted; the same command continues"
    wait_until_gone(children)
    assert checkpoints[0].exists()


@NEEDS_PROC
def test_seeds_end_with_a_run_that_is_killed(settings: list[str], tmp_path: Path) -> None:
    arguments = (wait, job([*settings, f"run_dir={tmp_path}", "seeds_in_parallel=2"]), [1, 2])
    process = CONTEXT.Process(target=run_in_parallel, args=arguments)
    process.start()
    for seed in (1, 2):
        wait_for(tmp_path / f"{seed}.txt", process)
    children = children_of(process)
    assert len(children) >= 2
    process.kill()
    process.join()
    wait_until_gone(children)


def wait(job: Job, seed: int) -> None:
    (job.folder.path / f"{seed}.txt").touch()
    while True:
        time.sleep(1)


def write_share(job: Job, seed: int) -> None:
    share = [os.environ[name] for name in ("OMP_NUM_THREADS", "TQDM_POSITION")]
    (job.folder.path / f"{seed}.txt").write_text(" ".join(share), encoding="utf-8")


def complain(job: Job, seed: int) -> None:
    raise InputError(f"seed {seed} has bad data")


def diverge(job: Job, seed: int) -> None:
    raise DivergedError(f"seed {seed}: training diverged")


def die(job: Job, seed: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def fail(job: Job, seed: int) -> None:
    raise ValueError("a defect of the program")


def test_each_process_has_its_threads_and_its_line_of_progress(settings: list[str], tmp_path: Path) -> None:
    before = dict(os.environ)
    two = job([*settings, f"run_dir={tmp_path}", "seeds_in_parallel=2", "trainer.threads=null"])
    run_in_parallel(write_share, two, [3, 4, 5])
    shares = [(tmp_path / f"{seed}.txt").read_text(encoding="utf-8") for seed in (3, 4, 5)]
    assert shares[:2] == ["1 0", "1 1"] and shares[2] in shares[:2]  # the third takes the place of the first that ends
    assert dict(os.environ) == before


@pytest.mark.parametrize(
    ("run", "error", "message"),
    [
        (complain, InputError, "seed 7 has bad data"),
        (diverge, DivergedError, "^seed 7: training diverged$"),
        (die, InputError, r"seed 7: its process was killed \(SIGKILL\); if memory ran out, set a smaller seeds_in"),
        (fail, RuntimeError, "seed 7: its process ended with status 1"),
    ],
)
def test_an_error_in_a_process_is_raised_here(
    run: SeedJob, error: type[Exception], message: str, settings: list[str]
) -> None:
    with pytest.raises(error, match=message):
        run_in_parallel(run, job([*settings, "seeds_in_parallel=2"]), [7])
