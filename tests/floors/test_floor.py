"""Floors through the whole job, on the small suite."""

import json
from pathlib import Path

import pytest
from command_line import content, mtl

import mtl.floors.floor as floor
from mtl.config import load_config
from mtl.errors import InputError
from mtl.predictor import Predictor
from mtl.training.baseline import run_baseline


@pytest.fixture
def plain(settings: list[str]) -> list[str]:
    """The settings that floors read."""
    return [setting for setting in settings if setting.split("=")[0] in ("suite", "data_dir", "run_dir", "cache_dir")]


@pytest.mark.parametrize("method", ["svm", "tree", "forest"])
def test_words_that_tell_glad_from_angry_are_learned(plain: list[str], suite_file: Path, method: str) -> None:
    config, suite = load_config([*plain, f"method={method}", "seeds=[1,2]"])
    summary = run_baseline(config, suite, "mtl baseline …")
    assert summary["tasks"]["kansla"]["median"] > 90 and summary["tasks"]["betyg"]["median"] > 60
    assert [summary[key] for key in ("method", "embeddings", "command")] == [method, None, "mtl baseline …"]
    cost = summary["cost"]
    assert cost["pretrain_seconds"] is None and cost["finetune_seconds"] > 0 and cost["sentences_per_second"] > 0
    run = suite_file.parent / "run"
    chosen = json.loads((run / "seed-1/chosen/kansla.json").read_text(encoding="utf-8"))
    best = max(trial["score"] for trial in chosen["trials"])
    assert chosen["score"] == best == summary["tasks"]["kansla"]["scores"]["1"]
    assert chosen["settings"] == next(trial["settings"] for trial in chosen["trials"] if trial["score"] == best)
    assert (run / "seed-2/submission.zip").exists() and (run / "seed-1/predictions/test_pred_betyg.tsv").exists()


def test_majority_and_random(plain: list[str], suite_file: Path) -> None:
    majority = run_baseline(*load_config([*plain, "method=majority", "seeds=[1]"]))
    # 40 of 60 training texts are glad, and 20 of 30 dev texts.
    assert majority["tasks"]["kansla"]["median"] == pytest.approx(100 * 20 / 30)
    assert majority["tasks"]["betyg"]["median"] == majority["tasks"]["samma"]["median"] == 0
    drawn = run_baseline(*load_config([*plain, "method=random", f"run_dir={suite_file.parent}/random"]))
    assert len(set(drawn["tasks"]["kansla"]["scores"].values())) > 1
    assert drawn["cost"]["parameters"] == 0


def test_taken_up_again_it_ends_the_same(plain: list[str], suite_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = [*plain, "method=forest", "seeds=[1]", "floor.grid.n_estimators=[5]"]
    run_baseline(*load_config([*run, f"run_dir={suite_file.parent}/whole"]))
    fitted = []
    fit = floor.Floor._fit

    def interrupted(self, task, chosen, seed, features):  # type: ignore[no-untyped-def]
        fitted.append(task.id)
        if len(fitted) == 6:
            raise KeyboardInterrupt
        return fit(self, task, chosen, seed, features)

    monkeypatch.setattr(floor.Floor, "_fit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_baseline(*load_config(run))
    assert fitted == ["kansla"] * 4 + ["samma"] * 2
    run_baseline(*load_config(run))
    assert fitted[6:] == ["kansla", *["samma"] * 4, *["betyg"] * 2]  # kansla with its chosen settings alone
    assert content(suite_file.parent / "run") == content(suite_file.parent / "whole")


def test_in_parallel_it_is_the_same(plain: list[str], tmp_path: Path) -> None:
    for name, processes in (("one", 1), ("two", 2)):
        done = mtl(
            "baseline",
            *plain,
            "method=svm",
            "seeds=[1,2]",
            f"run_dir={tmp_path / name}",
            f"seeds_in_parallel={processes}",
        )
        assert done.returncode == 0, done.stderr
        assert "method svm" in done.stdout.splitlines()[0]
    assert content(tmp_path / "one") == content(tmp_path / "two")


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("method=bayes", r"method=bayes: unknown; known: forest, lstm, majority, random, svm, tree"),
        ("encoder.hidden_size=8", r"encoder.hidden_size: method svm does not read it; drop it"),
        ("embeddings=fasttext", r"embeddings: method svm does not read it"),
        ("floor.grid.D=[1]", r"unknown key 'floor.grid.D'"),
        ("floor.grid.C=[-1]", r"floor.grid.C=-1: The 'C' parameter of LinearSVC must be a float"),
        ("floor.grid.C=[abc]", r"floor.grid.C=abc: The 'C' parameter of LinearSVC must be a float"),
        ("floor.grid.C=1", r"floor.grid.C=1: must be a list of values to try"),
        ("floor.word_ngrams=[2,1]", r"floor.word_ngrams=\[2, 1\]: must be \[shortest, longest\]"),
        ("floor.word_ngrams=2", r"floor.word_ngrams=2: must be a list"),
        ("floor.min_count=0", r"floor.min_count=0: must be greater than 0"),
        ("floor.min_count=1000", r"no n-gram stands in floor.min_count=1000 training texts"),
    ],
)
def test_bad_settings(plain: list[str], setting: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        run_baseline(*load_config([*plain, "method=svm", setting]))


def test_new_rows_are_not_predicted(plain: list[str], suite_file: Path) -> None:
    run_baseline(*load_config([*plain, "method=majority", "seeds=[1]"]))
    with pytest.raises(InputError, match=r"run: a floor \(majority\), whose models are not kept"):
        Predictor.load(suite_file.parent / "run")


def test_the_lstm_has_no_floor(plain: list[str]) -> None:
    with pytest.raises(InputError, match="floor.min_count: method lstm does not read it"):
        load_config([*plain, "floor.min_count=1"])


def test_one_label_alone_teaches_nothing(plain: list[str], suite_file: Path) -> None:
    path = suite_file.parent / "data/train.tsv"
    path.write_text(path.read_text(encoding="utf-8").replace("\targ", "\tglad"), encoding="utf-8")
    with pytest.raises(InputError, match="task kansla: all its training rows have one label"):
        run_baseline(*load_config([*plain, "method=svm"]))
