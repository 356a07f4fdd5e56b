"""A finished run in Python has what its files have, and `mtl.run` makes what `mtl baseline` makes."""

import inspect
import itertools
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import content
from data_files import read_json
from input_errors import refused
from small_suite import locations

import mtl
from mtl.api.cli import main
from mtl.base.settings.schema import Config
from mtl.base.typed import declared_keys
from mtl.data.files import read_lines


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return locations(tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def run(given: list[str]) -> mtl.Run:
    return mtl.run(*given, "method=random", seeds=2)


def test_it_makes_what_the_command_makes_and_only_once(given: list[str], run: mtl.Run, tmp_path: Path) -> None:
    other = tmp_path / "other"
    assert main(["baseline", *given, "method=random", "seeds=[1,2]", f"run_dir={other}"]) == 0
    assert content(run.path) == content(other) != {}
    one, two = (read_json(path / "summary.json")["command"] for path in (run.path, other))
    assert one.startswith("mtl.run('suite=") and two.startswith("mtl baseline")
    before = (run.path / "summary.json").stat().st_mtime_ns
    again = mtl.run(*given, {"method": "random"}, seeds=2)
    assert again.path == run.path and (run.path / "summary.json").stat().st_mtime_ns == before


def test_a_finished_run_without_its_data_says_so(
    given: list[str], run: mtl.Run, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    refused(lambda: mtl.run(*given, "method=random", seeds=2, data_dir=tmp_path / "none"), key="data_dir")
    data = Path(run.summary["config"]["data_dir"])
    data.rename(tmp_path / "away")
    mtl.run(*given, "method=random", seeds=2)
    (tmp_path / "away").rename(data)
    assert f"{data}: no such folder; the finished run is not compared with its data" in caplog.messages


def test_a_run_is_what_its_files_hold(floor_settings: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.delattr("mtl.runs.finished.open_run")  # nothing is read again
        run = mtl.run(*floor_settings, "method=majority", seeds=2)
    opened = mtl.open(run.path).record
    assert (run.summary, run.name, run.path) == (opened.summary, opened.name, opened.folder.path)
    assert run.record.suite == opened.suite


def test_scores_and_predictions_are_those_of_the_files(run: mtl.Run) -> None:
    assert (run.scores.index.name, run.scores.columns.name) == ("task", "seed")
    assert run.scores.columns.tolist() == run.seeds == [1, 2]
    for task in run.tasks:
        recorded = run.summary["tasks"][task]["scores"]
        assert run.scores.loc[task].tolist() == [recorded["1"], recorded["2"]]
    assert repr(run).startswith(f"Run('{run.path}': Random") and "2 seeds, average " in repr(run)
    assert str(run.table()) in (run.path / "table.md").read_text(encoding="utf-8")
    assert "median of 2" in run._repr_markdown_()
    made = run.predictions("kansla")
    assert made.columns.tolist() == ["seed", "row", "prediction", "gold"]
    for seed in (1, 2):
        own = made[made["seed"] == seed]
        assert own["row"].tolist() == list(range(30))
        file = run.path / f"seed-{seed}/predictions/dev_pred_kansla.tsv"
        assert own["prediction"].tolist() == read_lines(file)[1:]
        accuracy = 100 * (own["prediction"] == own["gold"]).mean()
        assert accuracy == pytest.approx(run.scores.loc["kansla", seed])
    test = run.predictions("kansla", "test", seed=2)
    assert test.columns.tolist() == ["seed", "row", "prediction"] and len(test) == 10
    assert run.predictions("betyg")["prediction"].dtype == np.float64


@pytest.mark.parametrize(
    ("arguments", "key"),
    [(("nix",), "task"), (("kansla", "train"), "split"), (("kansla", "nix"), "split"), (("kansla", "dev", 3), "seed")],
)
def test_predictions_that_are_not_there(run: mtl.Run, arguments: tuple[str, ...], key: str) -> None:
    refused(run.predictions, *arguments, key=key)


def test_a_damaged_run_one_without_a_model_and_folders_that_hold_none(run: mtl.Run, tmp_path: Path) -> None:
    # A run without a model.
    refused(lambda: run.predict("kansla", [["solen skiner"]]), file="run")
    assert run.curves.empty
    copy = Path(shutil.copytree(run.path, tmp_path / "run"))
    file = copy / "seed-1/predictions/dev_pred_kansla.tsv"
    file.write_text("label\nglad\n", encoding="utf-8")
    refused(mtl.open, copy, file=file.name)
    (copy / "summary.json").unlink()
    (tmp_path / "data").mkdir()
    for folder in ("none", "data", "run"):
        refused(mtl.open, tmp_path / folder, file=folder)


def test_the_command_line_says_the_same(floor_settings: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(mtl.InputError) as raised:
        mtl.run(*floor_settings, encoder={"hiden_size": 1})
    assert main(["baseline", *floor_settings, "encoder.hiden_size=1"]) == 2
    assert capsys.readouterr().err == f"mtl: error: {raised.value}\n"


def test_a_missing_package_is_one_line(run: mtl.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mtl.base.extras.find_spec", lambda name: None)
    refused(lambda: run.scores)


def test_a_confusion_matrix_counts_each_prediction(run: mtl.Run) -> None:
    made = run.predictions("kansla", seed=2)
    matrix = run.confusion_matrix("kansla", seed=2)
    assert matrix.index.tolist() == matrix.columns.tolist() == run.record.suite.tasks["kansla"].labels
    assert (matrix.index.name, matrix.columns.name) == ("gold", "prediction")
    for gold, answer in itertools.product(matrix.index, matrix.columns):
        assert matrix.loc[gold, answer] == ((made["gold"] == gold) & (made["prediction"] == answer)).sum()
    assert run.confusion_matrix("kansla", "validation").to_numpy().sum() == 60
    refused(lambda: run.confusion_matrix("betyg"), key="task")
    refused(lambda: run.confusion_matrix("kansla", "test"), key="split")


def test_labels_that_are_whole_numbers_are_integers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = mtl.run(suite="klej-sample", method="majority", tasks=["cbd", "nkjp-ner"])
    made = run.predictions("cbd")
    assert {made["prediction"].dtype, made["gold"].dtype} == {np.dtype(np.int64)}
    assert run.confusion_matrix("cbd").columns.tolist() == run.labels("cbd") == [0, 1]
    assert all(isinstance(label, str) for label in run.predictions("nkjp-ner")["gold"])


def test_keys_are_completed_and_public_names_alone_listed() -> None:
    names = set(inspect.signature(mtl.run).parameters)
    assert names == {"settings", *(key.partition(".")[0] for key, _ in declared_keys(Config))}
    assert set(mtl.__all__) <= set(dir(mtl)) and not {"Any", "TYPE_CHECKING", "annotations"} & set(dir(mtl))
    assert all(hasattr(mtl, name) for name in dir(mtl))


def test_probabilities_are_those_of_the_classifier(floor_settings: list[str]) -> None:
    run = mtl.run(*floor_settings, "method=logistic", "floor.keep=true", seeds=1)
    rows = [["solen skiner"], ["regnet faller"], ["katten"]]
    made, task = run.predict_proba("kansla", rows), run.record.suite.tasks["kansla"]
    assert task.labels is not None and made.shape == (3, len(task.labels)) and run.labels("kansla") == task.labels
    np.testing.assert_allclose(made.sum(axis=1), 1)
    assert [task.labels[place] for place in made.argmax(axis=1)] == run.predict("kansla", rows)
    # The outputs are logarithms of scikit-learn's probabilities.
    np.testing.assert_allclose(made, np.exp(run.predictor.model.outputs(task, rows)), atol=1e-5)
    np.testing.assert_array_equal(run.predict_proba("kansla", [text for [text] in rows]), made)
    assert run.predict_proba("kansla", []).shape == (0, len(task.labels))
    for bad in (("betyg", [["a"]]), ("nix", rows), ("kansla", "a")):
        refused(run.predict_proba, *bad)


@pytest.mark.slow
def test_opening_a_run_does_not_import_torch(run: mtl.Run) -> None:
    code = f"import mtl, sys; run = mtl.open({str(run.path)!r}); run.scores, run.table(); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.slow
def test_curves_and_models_of_a_trained_run(settings: list[str]) -> None:
    run = mtl.run(*settings, seeds=1)
    curves = run.curves
    first = curves[curves["stage"] == "pretrain"]
    assert set(first["task"]) == {"average", *run.tasks} and sorted(set(first["step"])) == [2, 4, 6]
    averages = first.pivot(index="step", columns="task", values="score")
    np.testing.assert_allclose(averages["average"], averages[run.tasks].mean(axis=1), rtol=1e-6)
    record = read_json(run.path / "seed-1/finetune/kansla/done.json")["curve"]
    second = curves.query("stage == 'finetune' and task == 'kansla'")
    assert second["step"].tolist() == [point["step"] for point in record] and second["step"].iloc[0] == 0
    assert second["score"].tolist() == [point["dev/average"] for point in record]
    loaded, texts = mtl.load(run.path), ["solen skiner", "regnet faller"]
    assert run.predict("kansla", [[text] for text in texts]) == loaded.predict("kansla", [[text] for text in texts])
    np.testing.assert_array_equal(run.encode(texts), loaded.encode(texts))


def test_anything_that_a_notebook_can_hold_is_one_line() -> None:
    loop: list[Any] = []
    loop.append(loop)
    calls: list[Callable[[], object]] = [
        lambda: mtl.import_predictions(5, []),  # type: ignore[arg-type]
        lambda: mtl.import_predictions("a", {"cbd": itertools.count()}, suite="klej-sample"),
        lambda: mtl.import_predictions("a", {"cbd": {float("nan"): []}}, suite="klej-sample"),
        lambda: mtl.run(suite="klej-sample", data_dir="a\0b"),
        lambda: mtl.run(suite="klej-sample", tasks=loop),
        lambda: mtl.run(suite="klej-sample", seeds=10**12),
        lambda: mtl.compare({}),
        lambda: mtl.open("a\0b"),
        lambda: mtl.load("a", seed="1"),  # type: ignore[arg-type]
    ]
    for call in calls:
        with pytest.raises(mtl.InputError) as caught:
            call()
        assert "\n" not in str(caught.value) and len(str(caught.value)) < 300
