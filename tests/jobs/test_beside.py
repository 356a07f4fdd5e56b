"""The logistic regression beside a run in its table, and the statistics of the seeds."""

from pathlib import Path

import pytest
from command_line import job
from input_errors import refused
from small_suite import SMALL, locations

import mtl
from mtl.jobs.baseline import run_baseline
from mtl.jobs.beside import train_logistic

pytestmark = pytest.mark.slow
TITLE = "TF-IDF + logistic regression"
QUICK = [*SMALL, "pretrain.max_steps=4", "finetune.max_epochs=1"]


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Settings of a small LSTM with simple baselines, whose runs are all below `runs`."""
    monkeypatch.setattr("mtl.jobs.beside.MOST_BYTES", 50_000_000)
    plain = [setting for setting in locations(tmp_path) if not setting.startswith("run_dir=")]
    small = [setting for setting in QUICK if setting != "baselines=false"]
    return [*plain, *small, f"runs_dir={tmp_path / 'runs'}", "seeds=1"]


def cells(run: mtl.Run, first: str) -> list[str]:
    """The cells of the table's row that begins so."""
    (row,) = [line for line in run.table().splitlines() if line.startswith(f"| {first}")]
    return [cell.strip() for cell in row.strip("|").split("|")][1:]


def test_it_is_trained_first_and_stands_beside_the_best_constant(settings: list[str], tmp_path: Path) -> None:
    run = mtl.run(*settings)
    logistic = mtl.open(tmp_path / "runs/liten/logistic")
    scores = {id: task["median"] for id, task in logistic.summary["tasks"].items()}
    assert run.summary["beside"] == [{"title": TITLE, "scores": scores}]
    assert run.summary["title"] == "LSTM, random, frozen, changed"
    assert "Settings that differ from those of preset paper: embeddings.dim=12, encoder.hidden_size=8," in run.table()
    assert cells(run, TITLE) == [f"{value:.1f}" for value in (logistic.summary["average"], *scores.values())]
    assert cells(run, "Best constant")[1:] == [f"{task['constant']:.1f}" for task in run.summary["tasks"].values()]
    # A second run uses the first one's, and does not train it again.
    made = (tmp_path / "runs/liten/logistic/summary.json").stat().st_mtime_ns
    second = mtl.run(*settings, run_dir=tmp_path / "runs/liten/second")
    assert second.summary["beside"] == run.summary["beside"]
    assert (tmp_path / "runs/liten/logistic/summary.json").stat().st_mtime_ns == made
    assert "beside" not in mtl.run(*settings, baselines=False, run_dir=tmp_path / "runs/liten/third").summary


def test_of_some_tasks_it_is_the_one_in_the_usual_folder_or_has_a_folder_of_its_own(
    settings: list[str], tmp_path: Path
) -> None:
    floor = [setting for setting in settings if setting not in QUICK]
    assert mtl.run(*floor, "method=logistic", tasks=["kansla"]).path.name == "logistic"
    for task, folder in (("kansla", "random-frozen"), ("betyg", "logistic,tasks=betyg")):
        run_dir = {"run_dir": tmp_path / task} if task == "betyg" else {}
        assert [*mtl.run(*settings, tasks=[task], **run_dir).summary["beside"][0]["scores"]] == [task]
        assert folder in {path.name for path in (tmp_path / "runs/liten").iterdir()}
    assert len([*(tmp_path / "runs/liten").glob("[!.]*")]) == 3


def test_of_many_tasks_its_folder_has_a_short_name(settings: list[str], tmp_path: Path) -> None:
    suite, names = tmp_path / "liten.yaml", {"kansla": "k" * 150, "betyg": "b" * 150}
    for name, long in names.items():
        suite.write_text(suite.read_text(encoding="utf-8").replace(f"  {name}:", f"  {long}:"), encoding="utf-8")
    run = mtl.run(*settings, tasks=list(names.values()))
    assert list(run.summary["beside"][0]["scores"]) == list(names.values())
    assert len(list((tmp_path / "runs/liten").glob("logistic,tasks=*"))) == 1


def test_a_run_that_cannot_begin_is_refused_before_it_is_trained(settings: list[str], tmp_path: Path) -> None:
    mtl.run(*settings, baselines=False)
    (tmp_path / "runs/liten/random-frozen/summary.json").unlink()
    refused(lambda: mtl.run(*settings, held_out=0.2), file="random-frozen")
    refused(lambda: mtl.run(*[setting for setting in settings if "dim=" not in setting], embeddings="fasttext"))
    other = tmp_path / "runs/liten/other"
    refused(lambda: mtl.run(*settings, run_dir=other, trainer={"callbacks": ["nix:Nix"]}), key="trainer.callbacks")
    assert [path.name for path in (tmp_path / "runs/liten").iterdir() if path.name[0] != "."] == ["random-frozen"]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device", "a"), MemoryError()])
def test_a_full_disk_or_memory_leaves_the_table_without_it(
    settings: list[str], caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    def fail(*_: object) -> None:
        raise error

    caplog.set_level("INFO", "mtl")
    train_logistic(job(settings), fail)
    assert caplog.messages[-1].startswith("no logistic regression in the table: ")


def test_one_of_other_rows_settings_or_tasks_stays_and_the_right_one_is_made_beside_it(
    settings: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    floor, runs = [setting for setting in settings if setting not in QUICK], tmp_path / "runs/liten"
    usual = mtl.run(*floor, "method=logistic", "held_out=0.2", "tasks=[kansla,betyg]")
    made = (usual.path / "summary.json").read_bytes()
    caplog.set_level("INFO", "mtl")

    def beside(**more: object) -> Path:
        """The folder of the logistic regression that a new run made and has beside it."""
        before = set(runs.glob("logistic,*"))
        run = mtl.run(*settings, **more)
        (folder,) = set(runs.glob("logistic,*")) - before
        scores = {id: task["median"] for id, task in mtl.open(folder).summary["tasks"].items()}
        assert run.summary["beside"] == [{"title": TITLE, "scores": scores}] and len(scores) == 3
        assert f"{usual.path} " in caplog.text and f"is made in {folder}" in caplog.text
        return folder

    beside()  # held_out is another
    fitting = beside(held_out=0.2, run_dir=runs / "tasks")
    assert "has no scores of samma on dev" in caplog.text
    assert mtl.run(*settings, held_out=0.2, run_dir=runs / "again").summary["beside"]  # that one, not trained again
    (tmp_path / "data/dev.tsv").write_text("text\tlabel\nsolen\tglad\nregn\targ\n", encoding="utf-8")
    assert beside(held_out=0.2, run_dir=runs / "data") != fitting
    assert "is of other data (dev.tsv)" in caplog.text
    assert (usual.path / "summary.json").read_bytes() == made


def test_an_imported_run_says_why_an_older_one_is_not_beside(
    settings: list[str], caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    floor = [setting for setting in settings if setting not in QUICK]
    usual = mtl.run(*floor, "method=logistic")
    (tmp_path / "data/dev.tsv").write_text("text\tlabel\nsolen\tglad\nregn\targ\n", encoding="utf-8")
    caplog.set_level("INFO", "mtl")
    places = {key: value for key, _, value in (setting.partition("=") for setting in floor) if key != "seeds"}
    assert "beside" not in mtl.import_predictions("theirs", {"kansla": ["glad", "arg"]}, **places).summary
    (said,) = [text for text in caplog.messages if text.startswith("no logistic regression in the table: ")]
    assert f"{usual.path} is of other data (dev.tsv); remove that folder" in said


def test_one_with_other_settings_does_not_stand_beside_and_one_with_other_seeds_does(
    settings: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "mtl")
    floor = [setting for setting in settings if setting not in (*QUICK, "seeds=1")]
    other = mtl.run(*floor, "method=logistic", "floor.min_count=20")
    scores = {id: task["median"] for id, task in other.summary["tasks"].items()}
    assert mtl.run(*settings).summary["beside"][0]["scores"] != scores
    assert "has another configuration (floor.min_count: 20 there" in caplog.text
    mtl.run(*floor, "method=logistic", "seeds=2", f"runs_dir={tmp_path / 'more'}")
    assert "beside" in mtl.run(*settings, runs_dir=tmp_path / "more").summary


@pytest.mark.parametrize("baselines", [False, True])
def test_settings_that_it_does_not_take_leave_the_run_so(settings: list[str], tmp_path: Path, baselines: bool) -> None:
    with (tmp_path / "liten.yaml").open("a", encoding="utf-8") as suite:
        suite.write("config: {finetune: {train_encoder: true}}\n")
    assert "beside" not in mtl.run(*settings, variant="finetune", baselines=baselines).summary


def test_large_data_and_a_folder_in_the_way_leave_the_table_without_it(
    settings: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level("INFO", "mtl")
    monkeypatch.setattr("mtl.jobs.beside.MOST_BYTES", 1000)
    train_logistic(job(settings), run_baseline)
    assert "training data; mtl baseline method=logistic makes it" in caplog.messages[-1]
    monkeypatch.undo()
    (tmp_path / "runs/liten/logistic").mkdir(parents=True)
    (tmp_path / "runs/liten/logistic/config.yaml").write_text("seeds: [3]\n", encoding="utf-8")
    train_logistic(job(settings), run_baseline)
    assert caplog.messages[-1].startswith("no logistic regression in the table: ")
    assert not (tmp_path / "runs/liten/logistic/summary.json").exists()


def test_the_table_has_the_median_and_the_mean_of_the_seeds(settings: list[str]) -> None:
    settings = [*settings, "baselines=false", "seeds=2"]
    run = mtl.run(*settings)
    scores = [task["scores"] for task in run.summary["tasks"].values()]
    numbers = [(task["1"] + task["2"]) / 2 for task in scores], [abs(task["1"] - task["2"]) / 2**0.5 for task in scores]
    means = [f"{mean:.1f} ± {deviation:.1f}" for mean, deviation in zip(*numbers, strict=True)]
    title = f"**{run.summary['title']}**, "
    assert cells(run, "mean ± standard deviation")[1:] == means
    assert cells(run, f"{title}median of 2")[1:] == [f"**{of['median']:.1f}**" for of in run.summary["tasks"].values()]
    assert "the median over seeds 1, 2" in run.table()
