"""Several runs from one file."""

import re
import shutil
from pathlib import Path

import pytest
import torch
from command_line import content, job
from input_errors import raises_input_error
from kinds_suite import write_kinds_suite

from mtl.api.cli import main
from mtl.base.errors import BusyError, DivergedError, InputError
from mtl.base.settings.layers import flatten_config
from mtl.base.settings.schema import INDIFFERENT
from mtl.benchmark_making.sweeps.making import run_sweep
from mtl.benchmark_making.sweeps.sweep import load_sweep
from mtl.jobs.baseline import run_baseline
from mtl.jobs.job import Job, parse_settings

SAMPLE = {"suite": "klej-sample"}


def written(folder: Path, text: str) -> str:
    path = folder / "sweep.yaml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def listed(text: str, folder: Path, *settings: str) -> list[Job]:
    return load_sweep(written(folder, text), SAMPLE | parse_settings(settings)).runs


def names(text: str, folder: Path, *settings: str) -> list[str]:
    return [run.name for run in listed(text, folder, *settings)]


def for_sweeps(settings: list[str], runs_dir: Path) -> list[str]:
    """Settings of one seed without a run folder: folders follow from names."""
    kept = [setting for setting in settings if not setting.startswith("run_dir=")]
    return [*kept, f"runs_dir={runs_dir}", "seeds=[1]"]


@pytest.fixture
def small(settings: list[str], tmp_path: Path) -> list[str]:
    """LSTMs on the small suite."""
    return for_sweeps(settings, tmp_path / "runs")


@pytest.fixture
def floors(floor_settings: list[str], tmp_path: Path) -> list[str]:
    """Constant answers on the small suite."""
    return [*for_sweeps(floor_settings, tmp_path / "runs"), "method=constant"]


def test_what_a_run_leaves_open_is_as_its_own_folder_began(tmp_path: Path) -> None:
    def begin(settings: str) -> None:
        begun = job([*settings.split(), f"runs_dir={tmp_path}"])
        begun.folder.path.mkdir(parents=True)
        begun.folder.claim(begun.config, {}, "32-true")

    begin("suite=klej-sample method=logistic seeds=[4]")  # the folder of mtl baseline
    begin(f"suite=klej-sample method=logistic seeds=[1,2] run_dir={tmp_path}/klej-sample/mine")
    text = "settings: {method: logistic}\nruns: [{name: mine}, {name: other}]\n"
    assert [run.config.seeds for run in listed(text, tmp_path, f"runs_dir={tmp_path}")] == [[1, 2], [1]]


def test_a_sweep_trains_each_task_alone(tmp_path: Path) -> None:
    small = ["data_dir=data/klej-sample", "tasks=[cdsc-e,psc]"]
    assert names("runs: [{tasks: each}]", tmp_path, *small) == ["random-frozen,tasks=cdsc-e", "random-frozen,tasks=psc"]
    labelled = "settings: {tasks: each}\nruns: [{name: alone}]"
    alone = {run.name: run.config.tasks for run in listed(labelled, tmp_path, *small)}
    assert alone == {"alone-cdsc-e": ["cdsc-e"], "alone-psc": ["psc"]}


@pytest.mark.slow
def test_a_method_without_a_task_is_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, "grid: {method: [lead, constant]}")
    with caplog.at_level("INFO", "mtl"):
        assert [run.name for run in load_sweep(file, SAMPLE).runs] == ["constant"]
    assert "left out: lead, since suite klej-sample has no task for it" in caplog.messages
    assert [run.name for run in load_sweep(file, {"suite": "superlim-sample"}).runs] == ["lead", "constant"]
    # Superlim has a task for it, but the data may lack its files.
    superlim = {"suite": "superlim", "data_dir": str(tmp_path)}
    absabank = tmp_path / "absabank-imm"
    absabank.mkdir()
    for split in ("train", "dev", "test"):
        (absabank / f"absabank-imm_{split}.jsonl").write_text('{"text": "Bra.", "label": 3}\n', encoding="utf-8")
    assert [run.name for run in load_sweep(file, superlim).runs] == ["constant"]
    assert main(["sweep", written(tmp_path, "runs: [{method: lead}]"), "suite=klej-sample"]) == 2
    assert "the suite has no task for any of its runs" in capsys.readouterr().err


GRID = "grid: {embeddings: [random, fasttext], encoder: {hidden_size: [16, 64]}}"  # the sample suite's own size is 64
NAMED = "{grid: {pretrain: {learning_rate: [1e-3]}}, runs: [{name: 7, max_length: 8}, {max_length: 7}]}"
SHARED = "{settings: {seeds: [1, 2], tasks: [cbd]}, runs: [{}, {seeds: [3]}]}"  # what all runs share is no part of their names
VECTORS = "runs: [{embeddings: {path: own/v.bin}}, {embeddings: {path: own/w.bin}}, {data_dir: data/klej-sample}]"
JIANT = "runs: [{architecture: jiant}, {architecture: jiant, head.projection: 64}, {head.projection: 64}]"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            GRID,
            "random-frozen,encoder.hidden_size=16 random-frozen fasttext-frozen,encoder.hidden_size=16 fasttext-frozen",
        ),
        (NAMED, "random-frozen,pretrain.learning_rate=0.001 7 random-frozen,max_length=7"),
        (SHARED, "random-frozen random-frozen,seeds=3"),
        (
            VECTORS,
            "fasttext-frozen,embeddings.path=own-v.bin fasttext-frozen,embeddings.path=own-w.bin fasttext-frozen",
        ),
        (JIANT, "random-frozen-jiant random-frozen-jiant,head.projection=64 random-frozen,head.projection=64"),
    ],
)
def test_names(text: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own").mkdir()
    for name in "vw":
        (tmp_path / f"own/{name}.bin").touch()
    assert names(text, tmp_path, *(["embeddings=fasttext"] if "own" in text else [])) == expected.split()


@pytest.mark.slow
def test_the_command_line_has_the_last_word(tmp_path: Path) -> None:
    file = written(tmp_path, "{settings: {max_length: 9, head.hidden_size: 3}, runs: [{max_length: 8}, {seeds: [4]}]}")
    given = {**SAMPLE, "head.hidden_size": 5, "encoder.hidden_size": 6}
    runs = load_sweep(file, given).runs
    assert [(run.config.max_length, run.config.head.hidden_size) for run in runs] == [(8, 5), (9, 5)]
    # Settings of every run are no part of the runs' names, as they are not of the folder that `mtl baseline` makes.
    assert [run.name for run in runs] == ["random-frozen,max_length=8", "random-frozen,seeds=4"]
    assert [run.name for run in load_sweep(file, given, only=["random-frozen,max_length=8"]).runs] == [runs[0].name]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("runs: [", "not YAML"),
        ("{}", "has no runs; list them under runs:"),
        ("gird: {seeds: [[1]]}", "unknown key 'gird'; a sweep has title, settings, grid, runs"),
        ("grid: {max_length: [" + "1," * 400 + "], held_out: [" + "1," * 400 + "]}", "grid: has 160,000 runs; a sweep takes at most"),
        ("grid: {embeddings: random}", "grid: embeddings=random: must be a list of values"),
        ("runs: {embeddings: random}", "runs: must be a list"),
        ("runs: [random]", "runs: 1: must hold keys and values"),
        ("runs: [{name: ..}]", "runs: 1: name=..: must be fit for a folder"),
        ("runs: [{}, {encoder.hiden_size: 3}]", r"run 2 \(encoder.hiden_size=3\): unknown key 'encoder.hiden_size'"),
        ("runs: [{name: a, max_length: 0}]", "run a: max_length=0: must be greater than 0"),
        ("runs: [{trainer.callbacks: ['os:system']}]", "trainer.callbacks: only the command line and Python name code"),
        ("runs: [{run_dir: x}]", "run 1 .*run_dir: each run has its own folder"),
        ("runs: [{}, {embeddings: random}]", "runs 1 and 2 would share the folder .*random-frozen; give one another name"),
        ("{grid: {runs_dir: [a, b]}, settings: {max_length: 3}}", "runs 1 and 2 would|runs_dir must be the same"),
        ("runs: [{}, {seeds_in_parallel: 3, name: b}]", "seeds_in_parallel must be the same for all runs"),
        ("runs: [{}, {tasks: [" + "cbd, " * 60 + "]}]", "too long for a folder's name; list it under runs: with a name"),
        ("runs: [{max_length: '${x}'}]", r"runs\.0\.max_length: holds"),
    ],
)  # fmt: skip
def test_a_bad_file_is_one_line_and_nothing_is_run(
    text: str, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["sweep", written(tmp_path, text), "suite=klej-sample"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert re.match(rf"mtl: error: .*sweep\.yaml:.* (?:{complaint})", line)
    assert [path.name for path in tmp_path.iterdir()] == ["sweep.yaml"]


def test_a_sweep_checks_the_tasks_that_its_runs_have(tmp_path: Path) -> None:
    suite = write_kinds_suite(tmp_path)
    text = suite.read_text(encoding="utf-8")
    suite.write_text(text.replace("    kind: word\n", "    kind: word\n    level: word\n"), encoding="utf-8")
    shutil.rmtree(tmp_path / "data/opposite")  # which svm does not answer
    given = {"suite": str(suite), "data_dir": str(tmp_path / "data"), "runs_dir": str(tmp_path / "runs")}
    assert [run.name for run in load_sweep(written(tmp_path, "runs: [{method: svm}]"), given).runs] == ["svm"]
    file = written(tmp_path, "runs: [{method: constant}]")
    with raises_input_error():
        load_sweep(file, given)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["none"], "sweep=none: unknown; known: floors, glue-single, readings, single, table3, transformer-superlim"),
        (["table3", "suite=klej-sample", "encoder.width=3"], "unknown key 'encoder.width'"),
        (["table3", "suite=klej-sample", "engine=slurm"], ": engine=slurm: "),
        (["table3", "suite=klej-sample", "--only", "svm"], "--only svm: "),
    ],
)
def test_a_bad_command_line(arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", *arguments]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert complaint in line


@pytest.mark.slow
def test_vectors_that_do_not_exist_are_found_before_the_first_run(
    small: list[str],
    suite_file: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with suite_file.open("a", encoding="utf-8") as file:
        file.write("embeddings: {fasttext: v.vec, elmo: none/elmo}")
    small = [setting for setting in small if not setting.startswith("embeddings.dim")]
    (tmp_path / "v.vec").write_text("solen 1 2 3\n", encoding="utf-8")
    assert main(["sweep", "table3", *small]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "run elmo-frozen: none/elmo: no such vectors; " in line
    assert line.endswith("; or name the other runs: --only NAME --only NAME")
    assert not (tmp_path / "runs").exists()
    assert len(load_sweep("table3", parse_settings(small), ["random-frozen", "fasttext-frozen"]).runs) == 2


FURTHER = "runs: [{}, {name: clipped, pretrain.gradient_clip: 0.5}, {finetune.patience: 1}]"


@pytest.mark.slow
def test_finished_runs_are_not_run_again(
    small: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    file = written(tmp_path, f"title: Three\n{FURTHER}")
    runs = tmp_path / "runs/liten"
    run_baseline(job(small))
    before = {path: path.stat().st_mtime_ns for path in runs.rglob("*.ckpt")}
    assert main(["sweep", file, *small, "--out", str(tmp_path / "out")]) == 0
    lines = capsys.readouterr().out.splitlines()
    page = f"{tmp_path / 'out'}/index.html"
    assert lines[0] == "Three: 3 runs, 1 of them finished" and lines[-1] == page
    others = ["clipped", "random-frozen,finetune.patience=1"]
    assert sum("random-frozen: this run is finished" in message for message in caplog.messages) == 1
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert sorted(path.name for path in runs.iterdir()) == sorted([".stage1", "random-frozen", *others])
    report = (tmp_path / "out/costs.csv").read_text(encoding="utf-8")
    assert f"mtl sweep {file} " in report and all(name in report for name in ["random-frozen", *others])
    # A run of a sweep is the one that `mtl baseline` makes.
    run_baseline(job([*small, "pretrain.gradient_clip=0.5", f"run_dir={tmp_path / 'alone'}"]))
    there = content(runs / "clipped")
    assert content(tmp_path / "alone") == there
    # All runs are finished now.
    capsys.readouterr()
    assert main(["sweep", file, *small, "--out", str(tmp_path / "out")]) == 0
    assert capsys.readouterr().out.splitlines() == ["Three: 3 runs, 3 of them finished", page]
    assert content(runs / "clipped") == there


def test_a_folder_of_another_configuration_is_refused_first(floors: list[str], tmp_path: Path) -> None:
    run_baseline(job([*floors, "max_length=9"]))
    file = written(tmp_path, "runs: [{name: other}, {}]")
    with raises_input_error():
        load_sweep(file, parse_settings(floors))
    # Data that has changed since a run was finished is found before the other runs are made.
    with (tmp_path / "data/train.tsv").open("a", encoding="utf-8") as data:
        data.write("ny rad\tglad\n")
    assert main(["sweep", file, *floors, "max_length=9"]) == 2
    assert not (tmp_path / "runs/liten/other").exists()


@pytest.mark.parametrize(
    ("errors", "kind", "message"),
    [
        ({"a": DivergedError("loss")}, DivergedError, r"sweep\.yaml: run a: loss$"),
        (
            {"a": DivergedError("loss"), "c": DivergedError("loss")},
            *(DivergedError, r"sweep\.yaml: 2 of 3 runs failed \(run a; run c\); the first: run a: loss$"),
        ),
        ({"a": BusyError("busy"), "b": DivergedError("loss")}, DivergedError, "run b: loss$"),
    ],
)
def test_runs_that_fail_are_named_and_the_others_are_made_and_reported(
    floors: list[str],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    errors: dict[str, Exception],
    kind: type[Exception],
    message: str,
) -> None:
    made, reported = list[str](), list[str]()
    threads = torch.get_num_threads()

    def make(job: Job) -> None:
        assert torch.get_num_threads() == threads
        torch.set_num_threads(threads + 1)  # which is not for the next run
        made.append(job.name)
        if job.name in errors:
            raise errors[job.name]
        run_baseline(job)

    def report() -> None:
        reported.extend(run.name for run in sweep.runs if run.is_finished)
        raise InputError("out: cannot be written")  # which does not hide the error of a run

    sweep = load_sweep(written(tmp_path, "runs: [{name: a}, {name: b}, {name: c}]"), parse_settings(floors))
    with pytest.raises(kind, match=message):
        run_sweep(sweep, make, make, report)
    torch.set_num_threads(threads)
    assert made == ["a", "b", "c"] and reported == [name for name in "abc" if name not in errors]
    assert ("report: out: cannot be written" in caplog.messages) == bool(reported)


@pytest.mark.slow
def test_a_run_that_another_process_uses_is_left_to_it(
    floors: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """It has not failed: the status is 0, and the last line says that it is busy."""
    file = written(tmp_path, "runs: [{name: a}, {name: b}]")
    command, sweep = ["sweep", file, *floors, "--out", str(tmp_path / "out")], load_sweep(file, parse_settings(floors))
    with sweep.runs[0].folder.locked():
        with sweep.runs[1].folder.locked():
            assert main(command) == 0
        assert capsys.readouterr().out.splitlines()[-1] == "2 of 2 runs busy in another process: a, b"
        assert not (tmp_path / "out").exists()  # there is nothing to report
        assert main(command) == 0
        printed = capsys.readouterr()
        page = f"{tmp_path / 'out'}/index.html"
        assert printed.out.splitlines()[-2:] == [page, "1 of 2 runs busy in another process: a"]
        assert "run a: busy in another process" in caplog.messages and "error" not in printed.err
        # A finished run that another process checks at this moment is not in the way either.
        with sweep.runs[1].folder.locked():
            assert main(command) == 0
    assert [run.is_finished for run in sweep.runs] == [False, True]


@pytest.mark.slow
def test_the_sweeps_of_the_paper() -> None:
    """The rows of Table 3 are in the folders of mtl baseline, and the readings differ in one part of an architecture."""
    runs = load_sweep("table3", SAMPLE).runs
    rows = ["random-frozen", "fasttext-frozen", "elmo-frozen", "elmo-finetune", "elmo-attention"]
    assert [run.name for run in runs] == rows
    for run in runs:
        embeddings, variant = run.name.split("-")
        alone = job(["suite=klej-sample", f"embeddings={embeddings}", f"variant={variant}"])
        one, other = flatten_config(run.config), flatten_config(alone.config)
        assert run.folder.path == alone.folder.path
        assert {key for key in one | other if one.get(key) != other.get(key)} <= set(INDIFFERENT)
    changed = [run.name.split(",")[1:] for run in load_sweep("readings", SAMPLE).runs]
    parts = {setting.partition("=")[0] for (setting,) in filter(None, changed)}
    assert parts > {"encoder.join_input", "head.projection", "boundary_words"} and changed.count([]) == 8
