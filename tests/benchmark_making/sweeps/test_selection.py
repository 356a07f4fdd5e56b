"""The choice among the runs of a sweep: what is chosen, and the run that it makes."""

from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pytest
from command_line import content
from data_files import read_json
from input_errors import raises_input_error

from mtl.api.cli import main
from mtl.base.errors import BusyError, DivergedError
from mtl.base.files import write_json
from mtl.benchmark_making.sweeps.making import run_sweep
from mtl.benchmark_making.sweeps.sweep import Sweep, load_sweep
from mtl.jobs.baseline import run_baseline
from mtl.jobs.job import Job, load_job, parse_settings
from mtl.methods.predictor import Predictor
from mtl.runs.finished import find_runs
from mtl.stats.samples import SampleCache, samples_of

TASKS = ("kansla", "samma", "betyg")
SEEDS = [1, 2, 3]
LENGTHS = range(5, 12)
# Runs of random answers, which differ between seeds, with the names length-5 to length-11.
LISTED = f"[{', '.join(f'{{name: length-{length}, max_length: {length}}}' for length in LENGTHS)}]"
Planned = Mapping[tuple[str, int], Mapping[str, float]]  # the scores on dev by run and seed, and by task


@pytest.fixture
def given(floor_settings: list[str], tmp_path: Path) -> dict[str, Any]:
    """Settings for every run."""
    kept = [setting for setting in floor_settings if not setting.startswith("run_dir=")]
    return parse_settings([*kept, f"runs_dir={tmp_path / 'runs'}", "method=uniform", "baselines=false", "seeds=3"])


@pytest.fixture
def planned() -> Planned:
    """Scores in which the best settings of the first seed are not those of all seeds, with ties."""
    rng = np.random.default_rng(7)
    names = [f"length-{length}" for length in LENGTHS]
    return {(name, seed): {task: float(rng.integers(5)) for task in TASKS} for name in names for seed in SEEDS}


def sweep_of(folder: Path, given: Mapping[str, Any], select: str, listed: str = LISTED) -> Sweep:
    path = folder / "tuned.yaml"
    path.write_text(f"runs: {listed}\nselect: {select}\n", encoding="utf-8")
    return load_sweep(str(path), given)


def with_scores(planned: Planned) -> Callable[[Job], None]:
    """Makes a run, whose seeds then have these scores on dev."""

    def make(job: Job) -> None:
        run_baseline(job)
        for seed in job.config.seeds:
            if (job.name, seed) in planned:
                scores = read_json(job.folder.scores(seed))
                write_json(job.folder.scores(seed), {**scores, "dev_scores": planned[job.name, seed]})

    return make


def search(sweep: Sweep, make: Callable[[Job], None]) -> list[str]:
    return run_sweep(sweep, make, lambda runs: pytest.fail("together"), lambda: None)


def expected(planned: Planned) -> dict[str, str]:
    """The run that is chosen for each task: the first of those with the best median."""
    names = [f"length-{length}" for length in LENGTHS]
    medians = {task: [median(planned[name, seed][task] for seed in SEEDS) for name in names] for task in TASKS}
    return {task: names[int(np.argmax(scores))] for task, scores in medians.items()}


def test_dev_chooses_a_setting_for_each_task(given: dict[str, Any], planned: Planned, tmp_path: Path) -> None:
    search(sweep_of(tmp_path, given, "{on: dev, each: task}"), with_scores(planned))
    tuned = tmp_path / "runs/liten/tuned"
    chosen = expected(planned)
    assert len(set(chosen.values())) > 1
    summary = read_json(tuned / "summary.json")
    assert summary["settings"] == chosen and summary["seeds"] == SEEDS and summary["method"] == "selected"
    for task, name in chosen.items():
        run = read_json(tuned / "settings" / name / "summary.json")
        assert summary["tasks"][task]["scores"] == run["tasks"][task]["scores"]
        for seed in SEEDS:
            for split in ("dev", "test") if task != "samma" else ("dev",):
                file = f"seed-{seed}/predictions/{split}_pred_{task}.tsv"
                assert (tuned / file).read_bytes() == (tuned / "settings" / name / file).read_bytes()
    assert "one of 7 for each task, by the median over seeds 1, 2, 3; 21 seeds trained." in summary["notes"][0]
    # It is one run with three seeds, also for tests, and its candidates are no rows of a report.
    (run,) = find_runs(tmp_path / "runs")
    assert run.name == "tuned" and run.summary["title"] == "Uniform, tuned"
    samples = samples_of(run, SampleCache(None).reduced(run))
    assert all(len(sample.by_seed) == 3 and not sample.is_one_system for sample in samples.values())
    assert len(find_runs(tuned / "settings")) == 7


def test_an_interrupted_search_continues_and_another_choice_is_made_again(
    given: dict[str, Any], planned: Planned, tmp_path: Path
) -> None:
    search(sweep_of(tmp_path, {**given, "runs_dir": str(tmp_path / "one")}, "{}"), with_scores(planned))
    make = with_scores(planned)
    made = list[str]()

    def interrupted(job: Job) -> None:
        if len(made) % 3 == 2:
            made.append("")
            raise KeyboardInterrupt
        make(job)
        made.append(job.name)

    sweep = sweep_of(tmp_path, given, "{}")
    while not (tmp_path / "runs/liten/tuned/summary.json").exists():
        try:
            search(sweep_of(tmp_path, given, "{}"), interrupted)
        except KeyboardInterrupt:
            continue
    assert made.count("") > 2 and content(tmp_path / "runs") == content(tmp_path / "one")
    assert len(content(tmp_path / "runs")) > 30
    search(sweep, lambda job: run_baseline(job))  # nothing is left to do
    assert content(tmp_path / "runs") == content(tmp_path / "one")
    # A better setting that is added to the file.
    better = {**planned, **{("length-4", seed): dict.fromkeys(TASKS, 9.0) for seed in SEEDS}}
    listed = LISTED.replace("[", "[{name: length-4, max_length: 4}, ")
    search(sweep_of(tmp_path, given, "{}", listed), with_scores(better))
    tuned = tmp_path / "runs/liten/tuned"
    assert set(read_json(tuned / "summary.json")["settings"].values()) == {"length-4"}
    assert len(list((tuned / "settings").iterdir())) == 8


def test_what_diverges_is_not_chosen(given: dict[str, Any], planned: Planned, tmp_path: Path) -> None:
    make, best = with_scores(planned), expected(planned)["kansla"]

    def diverging(job: Job) -> None:
        if job.name == best:
            raise DivergedError("loss")
        make(job)

    search(sweep_of(tmp_path, given, "{}"), diverging)
    settings = read_json(tmp_path / "runs/liten/tuned/summary.json")["settings"]
    assert best not in settings.values()

    def all_diverge(job: Job) -> None:
        raise DivergedError("loss")

    sweep = sweep_of(tmp_path, {**given, "runs_dir": str(tmp_path / "none")}, "{}")
    with pytest.raises(DivergedError, match=r"tuned\.yaml: kansla: no setting is left to choose, since all diverged"):
        search(sweep, all_diverge)


def test_a_busy_run_is_waited_for(given: dict[str, Any], planned: Planned, tmp_path: Path) -> None:
    make = with_scores(planned)

    def busy(job: Job) -> None:
        if job.name == "length-7":
            raise BusyError("busy")
        if job.name == "length-8":
            raise DivergedError("loss")
        make(job)

    assert search(sweep_of(tmp_path, given, "{}"), busy) == ["length-7"]
    assert not (tmp_path / "runs/liten/tuned/summary.json").exists()


def test_dev_rows_that_chose_the_setting_are_marked(given: dict[str, Any], tmp_path: Path) -> None:
    """They are not where others of them score, and where there was nothing to choose."""
    tables = {}
    for name, settings in (("marked", {}), ("apart", {"choosing_share": 0.5})):
        runs_dir = tmp_path / name
        listed = "[{max_length: 5}, {max_length: 6}]"
        search(sweep_of(tmp_path, {**given, **settings, "runs_dir": str(runs_dir)}, "{}", listed), run_baseline)
        tables[name] = (runs_dir / "liten/tuned/table.md").read_text(encoding="utf-8")
    runs_dir = tmp_path / "alone"
    search(sweep_of(tmp_path, {**given, "runs_dir": str(runs_dir)}, "{}", "[{tasks: each}]"), run_baseline)
    tables["alone"] = (runs_dir / "liten/tuned/table.md").read_text(encoding="utf-8")
    assert "kansla¶" in tables["marked"] and "AVG¶" in tables["marked"]
    note = "¶ the dev examples that score these tasks chose their settings too, so the scores are too high: kansla, samma, betyg."
    assert note in tables["marked"]
    assert "| setting " in tables["marked"] and "max_length=" in tables["marked"]
    assert "kansla†" in tables["apart"] and "¶" not in tables["apart"] + tables["alone"]
    assert "Scored on the dev rows that choose nothing (choosing_share): kansla 15 of 30 dev rows" in tables["apart"]
    assert "Each task has a run of its own." in tables["alone"] and "Uniform, tuned" not in tables["alone"]


def test_the_models_of_the_chosen_runs_predict(
    given: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    planned = {
        (f"length-{length}", 1): {task: float(length == 5 or task == "kansla") for task in TASKS} for length in (5, 6)
    }
    planned["length-6", 1]["kansla"] = 2.0
    models = {**given, "method": "logistic", "floor.keep": True, "seeds": [1]}
    listed = "[{name: length-5, max_length: 5}, {name: length-6, max_length: 6}]"
    search(sweep_of(tmp_path, models, "{}", listed), with_scores(planned))
    tuned = tmp_path / "runs/liten/tuned"
    rows = [["solen skiner nummer 3"], ["regnet faller nummer 4"]]
    for task, name in (("kansla", "length-6"), ("betyg", "length-5")):
        own = Predictor.load(tuned, task=task).predict(task, rows)
        assert own == Predictor.load(tuned / "settings" / name).predict(task, rows)
    with raises_input_error(file="tuned"):
        Predictor.load(tuned)
    with raises_input_error():
        Predictor.load(tuned, task="other")
    data, command = tmp_path / "rows.tsv", ["predict", str(tuned), "--task", "kansla"]
    data.write_text("text\nsolen skiner nummer 3\n", encoding="utf-8")
    assert main([*command, str(data)]) == 0
    assert (
        capsys.readouterr().out.splitlines()[1] == Predictor.load(tuned, task="kansla").predict("kansla", rows[:1])[0]
    )
    # Without kept models, the error names the chosen run.
    (tuned / "settings/length-6/seed-1/models/kansla.ckpt").unlink()
    assert main([*command, str(data)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "tuned/settings/length-6" in line


def test_what_is_damaged_or_changed_is_refused(given: dict[str, Any], tmp_path: Path) -> None:
    listed = "[{name: a, max_length: 5}, {name: b, max_length: 6}]"
    search(sweep_of(tmp_path, given, "{}", listed), run_baseline)
    tuned = tmp_path / "runs/liten/tuned"
    sweep = sweep_of(tmp_path, given, "{}", listed)
    assert sweep.search is not None
    chosen = sweep.search.job()
    file = tuned / "settings/a/seed-2/predictions/dev_pred_kansla.tsv"
    whole = file.read_text(encoding="utf-8")
    for path in tuned.iterdir():
        if path.name == "summary.json" or path.name.startswith("seed-"):
            path.rename(tmp_path / f"old-{path.name}")
    (tuned / "config.yaml").unlink()
    file.write_text(whole.rpartition("\n")[0].rpartition("\n")[0], encoding="utf-8")
    with raises_input_error(file="dev_pred_kansla.tsv"):
        run_baseline(chosen)
    file.write_text(whole, encoding="utf-8")
    (tuned / "config.yaml").unlink()
    (tuned / "settings/a/summary.json").rename(tmp_path / "summary.json")
    with raises_input_error():
        run_baseline(chosen)
    with raises_input_error(key="selected.runs"):
        run_baseline(load_job({**given, "method": "selected", "run_dir": str(tmp_path / "nothing")}))
    run_baseline(load_job({**given, "run_dir": str(tmp_path / "other/liten/tuned")}))
    with raises_input_error(file="tuned"):  # the folder of another run
        sweep_of(tmp_path, {**given, "runs_dir": str(tmp_path / "other")}, "{}")
