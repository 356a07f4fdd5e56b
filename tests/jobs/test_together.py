"""Several runs at once: the same scores as one after another, and nothing is trained twice."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from command_line import content, job
from data_files import read_json
from input_errors import raises_input_error
from small_suite import small_settings

from mtl.api.cli import main
from mtl.base.errors import DivergedError, InputError
from mtl.jobs.baseline import Prepared
from mtl.jobs.engines import ENGINES, Done, Unit
from mtl.jobs.together import ordered_units, prepare_in_process, run_together, unit_of


@pytest.fixture
def small(settings: list[str]) -> list[str]:
    kept = [setting for setting in settings if not setting.startswith(("run_dir=", "seeds="))]
    return [*kept, "pretrain.max_steps=8", "pretrain.validate_every=4", "seeds=[1,2]"]


@pytest.mark.slow
@pytest.mark.wings
@pytest.mark.shares_stage1
def test_a_sweep_in_parallel_gives_the_same_and_trains_nothing_twice(
    small: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture, forked: None
) -> None:
    (tmp_path / "sweep.yaml").write_text("runs: [{}, {variant: finetune}]", encoding="utf-8")
    command = ["sweep", str(tmp_path / "sweep.yaml"), *small, "--out", str(tmp_path / "out")]
    one, two = ([f"runs_dir={tmp_path / name}", f"cache_dir={tmp_path / name}-cache"] for name in ("one", "two"))
    assert main([*command, *one]) == 0
    capfd.readouterr()
    caplog.clear()
    assert main([*command, *two, "seeds_in_parallel=2"]) == 0
    printed = capfd.readouterr()
    names = ["random-frozen", "random-finetune"]
    for name in names:
        assert content(tmp_path / "one/liten" / name) == content(tmp_path / "two/liten" / name) != {}
    lines = printed.out.splitlines()
    assert sum(line.startswith("## ") for line in lines) == 2  # a table for each run, below its name
    for name in names:
        at = lines.index(f"run {name} · {tmp_path / 'two/liten' / name / 'table.md'}")
        assert lines[at + 2].startswith("## ")
    progress = "\n".join([printed.err, *caplog.messages])
    assert all(f"random-finetune · seed {seed} ({seed}/2) · " in progress for seed in (1, 2))
    assert progress.count("distinct texts") == 2  # what the seeds of a run share is said once
    for of in ("one", "two"):
        done = list(map(read_json, (tmp_path / of).glob("liten/*/*/pretrain/done.json")))
        assert len(done) == 4 and sum("trained_in" not in record for record in done) == 2
    # A finished sweep trains nothing and prints no table again.
    assert main([*command, *two, "seeds_in_parallel=2"]) == 0
    assert "## " not in capfd.readouterr().out


def test_long_seeds_begin_first_and_those_that_share_training_later(small: list[str], tmp_path: Path) -> None:
    runs = [job([*small, f"run_dir={tmp_path / name}"], name) for name in ("a", "b", "c")]
    keys = {"a": {1: "x", 2: "y"}, "b": {1: "x", 2: "z"}, "c": {}}
    prepared = {name: Prepared({}, {}, {}, {}, {}, shared) for name, shared in keys.items()}
    expected = {"a": {1: 3.0, 2: 3.0}, "b": {1: 3.0}, "c": {1: 3.0, 2: 9.0}}
    units = {unit.name: unit.after for unit in ordered_units(runs, prepared, expected)}
    # The time of b's second seed is unknown.
    assert [*units] == ["b, seed 2", "c, seed 2", "a, seed 1", "a, seed 2", "b, seed 1", "c, seed 1"]
    assert units.pop("b, seed 1") == {"a, seed 1"} and not any(units.values())


def test_a_run_that_another_process_uses_is_refused(small: list[str], tmp_path: Path) -> None:
    runs = [job([*small, f"run_dir={tmp_path / name}", "seeds_in_parallel=2"], name) for name in ("a", "b")]
    with runs[1].folder.locked(), raises_input_error(file="b"):
        run_together(runs, "", lambda run: None)
    assert not (tmp_path / "a/config.yaml").exists()


class Here:
    """An engine that calls units in this process, and fails those of some runs."""

    def __init__(self, errors: dict[str, Exception]) -> None:
        self.errors, self.called = errors, list[str]()

    def run(self, units: Sequence[Unit], at_a_time: int, done: Done) -> None:
        for unit in units:
            self.called.append(unit.name)
            call, *arguments = unit.arguments

            def fail(*_: Any, name: str = unit.name) -> Any:
                raise self.errors[name]

            failing = unit.name in self.errors
            done(unit, unit.call(fail if failing else call, *arguments))


@pytest.mark.parametrize(
    ("errors", "kind", "message", "untouched"),
    [
        ({"a, preparation": InputError("bad row")}, InputError, "^a, preparation: bad row$", {"a, seed 1", "a, seed 2"}),
        ({"a, seed 2": DivergedError("loss"), "b, seed 1": InputError("no file")}, InputError,
         r"^2 of 3 runs failed \(a, seed 2; b, seed 1\); the first: a, seed 2: loss$", set()),
        # Both seeds of a run are named, and no name is there twice.
        ({f"a, seed {seed}": DivergedError("loss", unit=f"seed {seed} · stage 1") for seed in (1, 2)}, DivergedError,
         r"^1 of 3 runs failed \(a, seed 1; a, seed 2\); the first: a, seed 1 · stage 1: loss$", set()),
        # Once only failed runs are left, their other seeds do not begin.
        ({f"{name}, seed 1": DivergedError("loss") for name in "abc"}, DivergedError,
         r"^3 of 3 runs failed \(a, seed 1; .*b, seed 1; .*c, seed 1.*\); ", {"c, seed 2"}),
    ],
)  # fmt: skip
def test_errors_of_runs(
    floor_settings: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    errors: dict[str, Exception],
    kind: type[Exception],
    message: str,
    untouched: set[str],
) -> None:
    settings = [*floor_settings, "method=constant", "seeds=[1,2]", "seeds_in_parallel=2"]
    runs = [job([*settings, f"run_dir={tmp_path / name}"], name) for name in "abc"]
    engine = Here(errors)
    monkeypatch.setitem(ENGINES, "processes", lambda: engine)
    ended = list[str]()
    with pytest.raises(kind, match=message):
        run_together(runs, "", lambda run: ended.append(run.name))
    failed = {name.partition(",")[0] for name in errors}
    assert ended == [name for name in "abc" if name not in failed]
    every = {f"{name}, {part}" for name in "abc" for part in ("preparation", "seed 1", "seed 2")}
    assert set(engine.called) == every - untouched


def test_a_gpu_is_asked_for_where_one_is_used(tmp_path: Path) -> None:
    lstm = [*small_settings(tmp_path), "engine=ray"]
    floor = [*lstm[:2], "engine=ray", "method=constant"]
    quarter = "resources.gpu=0.25"
    on_cpu = ([*lstm, quarter, "trainer.accelerator=cpu"], 0.0)
    for settings, asked in (
        (lstm, None),
        ([*lstm, quarter], 0.25),
        ([*lstm, "resources.gpu=0"], 0.0),
        on_cpu,
        ([*floor, quarter], 0.0),
    ):
        assert unit_of(job(settings), "preparation", prepare_in_process).needs.gpu == asked
