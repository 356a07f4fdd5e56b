"""Seeds in parallel processes: the results are the same, and no process remains after an interruption."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import content, mtl

from mtl.config.load import Config, load_config
from mtl.errors import DivergedError, InputError
from mtl.jobs.baseline import run_baseline
from mtl.jobs.parallel import run_in_parallel
from mtl.tasks.suite import Suite

# Stage 1 trains until it is interrupted.
LONG = ["seeds=[1,2]", "seeds_in_parallel=2", "pretrain.max_steps=100000", "pretrain.patience=100000"]


def test_results_equal_those_of_seeds_one_after_another(settings: list[str], tmp_path: Path) -> None:
    parallel = mtl("baseline", *settings, "seeds=[1,2,3]", f"run_dir={tmp_path}/parallel", "seeds_in_parallel=2")
    assert parallel.returncode == 0, parallel.stderr
    assert mtl("baseline", *settings, "seeds=[1,2,3]", f"run_dir={tmp_path}/sequential").returncode == 0
    assert content(tmp_path / "parallel") == content(tmp_path / "sequential") != {}
    # Each progress line names its seed, and what all seeds share is logged once.
    assert parallel.stderr.count("distinct texts") == 1
    assert all(f"seed {seed} ({seed}/3)" in parallel.stderr for seed in (1, 2, 3))


def test_run_may_continue_with_another_number_of_processes(settings: list[str]) -> None:
    config, suite = load_config([*settings, "seeds=[1,2]"])
    first = run_baseline(config, suite)
    assert run_baseline(*load_config([*settings, "seeds=[1,2]", "seeds_in_parallel=2"])) == first


def running(settings: list[str], folder: Path) -> tuple[subprocess.Popen[str], list[int]]:
    """A run of two seeds once both are training, and the ids of its child processes."""
    process = subprocess.Popen(
        [sys.executable, "-m", "mtl", "baseline", *settings, *LONG],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # background jobs inherit it ignored
    )
    checkpoints = [folder / f"seed-{seed}/pretrain/last.ckpt" for seed in (1, 2)]
    while not all(checkpoint.exists() for checkpoint in checkpoints) and process.poll() is None:
        time.sleep(0.05)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii").split()
    return process, [int(child) for child in children]


def wait_until_ended(processes: list[int]) -> None:
    """Waits without a limit, since a busy machine may be slow."""
    while any(alive(process) for process in processes):
        time.sleep(0.05)


def alive(process: int) -> bool:
    try:
        return " Z " not in Path(f"/proc/{process}/stat").read_text(encoding="ascii")
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="reads process states from /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_run_ends_all_processes_and_prints_one_message(
    settings: list[str], suite_file: Path, number: signal.Signals
) -> None:
    process, children = running(settings, suite_file.parent / "run")
    assert len(children) >= 2
    process.send_signal(number)
    _, errors = process.communicate()
    assert process.returncode == 130
    assert errors.count("interrupted") == 1 and "Traceback" not in errors
    assert errors.strip().splitlines()[-1] == "mtl: interrupted; the same command continues"
    wait_until_ended(children)
    assert (suite_file.parent / "run/seed-1/pretrain/last.ckpt").exists()


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="reads process states from /proc")
def test_no_process_remains_after_sigkill(settings: list[str], suite_file: Path) -> None:
    process, children = running(settings, suite_file.parent / "run")
    process.kill()
    process.communicate()
    wait_until_ended(children)


def write_share(config: Config, suite: Suite, seed: int) -> None:
    share = [os.environ[name] for name in ("OMP_NUM_THREADS", "TQDM_POSITION")]
    (Path(str(config.run_dir)) / f"{seed}.txt").write_text(" ".join(share), encoding="utf-8")


def raise_input_error(config: Config, suite: Suite, seed: int) -> None:
    raise InputError(f"seed {seed} is bad input")


def raise_diverged_error(config: Config, suite: Suite, seed: int) -> None:
    raise DivergedError(f"seed {seed}: training diverged")


def kill_itself(config: Config, suite: Suite, seed: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def raise_unexpected_error(config: Config, suite: Suite, seed: int) -> None:
    raise ValueError("a bug")


def test_each_process_has_its_share_of_threads_and_its_progress_line(settings: list[str], tmp_path: Path) -> None:
    before = dict(os.environ)
    config, suite = load_config([*settings, f"run_dir={tmp_path}", "seeds_in_parallel=8", "trainer.threads=null"])
    run_in_parallel(write_share, config, suite, [3, 4])
    shares = [(tmp_path / f"{seed}.txt").read_text(encoding="utf-8") for seed in (3, 4)]
    assert shares == ["1 0", "1 1"]
    assert dict(os.environ) == before


@pytest.mark.parametrize(
    ("job", "error", "message"),
    [
        (raise_input_error, InputError, "seed 7 is bad input"),
        (raise_diverged_error, DivergedError, "^seed 7: training diverged$"),
        (
            kill_itself,
            InputError,
            r"seed 7: its process was killed \(SIGKILL\); if memory ran out, set a smaller seeds_in",
        ),
        (raise_unexpected_error, RuntimeError, "seed 7: its process ended with status 1"),
    ],
)
def test_error_in_a_process_is_raised_in_the_parent(
    job: object, error: type[Exception], message: str, settings: list[str]
) -> None:
    config, suite = load_config([*settings, "seeds_in_parallel=2"])
    with pytest.raises(error, match=message):
        run_in_parallel(job, config, suite, [7])  # type: ignore[arg-type]
