"""`mtl.import_predictions`: lists, arrays and tables become the run that `mtl import` makes of files."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from data_files import read_column, read_json, write_jsonl
from rows_suite import write_rows_suite

import mtl
from mtl.api.cli import main
from mtl.base.errors import InputError
from mtl.runs.finished import find_runs

GRAD = [3.0, 1.5, 2.0, 0.0]


class Table:
    """What a DataFrame is to mtl: columns by name."""

    def __init__(self, **columns: Any) -> None:
        self.columns = list(columns)
        self._values = columns

    def __getitem__(self, name: str) -> Any:
        return self._values[name]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_rows_suite(tmp_path)
    return tmp_path


def imported(predictions: Any, name: str = "theirs", **settings: Any) -> Path:
    return mtl.import_predictions(name, predictions, suite="rader.yaml", data_dir="data", **settings).path


def predicted(run: Path, split: str, task: str, seed: int = 1) -> list[str]:
    return read_column(run / f"seed-{seed}/predictions/{split}_pred_{task}.tsv")


def test_lists_arrays_and_tables_make_the_run_that_files_make(home: Path) -> None:
    write_jsonl(Path("files/dev_pred_grad.jsonl"), [{"prediction": number} for number in GRAD])
    assert main(["import", "files", "files", "suite=rader.yaml", "data_dir=data"]) == 0
    order = [2, 0, 3, 1]
    table = Table(prediction=np.array(GRAD)[order], id=np.array([f"g{i}" for i in order], dtype=object), note=order)
    ids = ["g0", "g1", "t0", "g2", "g3", "t1", "t2", "t3"]
    splits = ["test" if id[0] == "t" else "dev" for id in ids]
    both = Table(id=ids, prediction=[*GRAD[:2], 1, *GRAD[2:], 2, 3, 4], split=splits)
    for number, given in enumerate((GRAD, tuple(GRAD), np.array(GRAD), {"dev": GRAD}, table, both)):
        run = imported({"grad": given}, f"python-{number}")
        assert run == Path(f"runs/rader/python-{number}")
        for file in ("seed-1/predictions/dev_pred_grad.tsv", "gold/dev_grad.tsv"):
            assert (run / file).read_bytes() == Path("runs/rader/files", file).read_bytes()
    assert predicted(run, "test", "grad") == ["1.0", "2.0", "3.0", "4.0"]
    assert len(find_runs(Path("runs"))) == 7


def test_a_data_frame(home: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": ["g3", "g2", "g1", "g0"], "prediction": GRAD})
    run = imported({"grad": frame, "par": pandas.Series(["ja", "nej"])})
    assert predicted(run, "dev", "grad") == ["0.0", "2.0", "1.5", "3.0"]
    frame.loc[2, "prediction"] = None
    with pytest.raises(InputError, match=r"^predictions.grad, row 3: prediction nan must be a text, a number or"):
        imported({"grad": frame}, "other")


def test_an_index_puts_predictions_to_their_rows(home: Path) -> None:
    pandas = pytest.importorskip("pandas")
    given = pandas.Series(GRAD).sample(frac=1, random_state=1)
    assert given.index.tolist() != [0, 1, 2, 3]
    from_1 = given.rename(lambda label: label + 1)
    for number, of_rows in enumerate(
        (given, from_1, from_1.to_frame("prediction"), given.rename(lambda label: f"g{label}"))
    ):
        run = imported({"grad": of_rows}, f"index-{number}")
        assert predicted(run, "dev", "grad") == [str(value) for value in GRAD], number
    error = """^predictions.grad.dev, row 1: column 'index' has "10", which neither numbers the 4 rows of data/grad/dev.jsonl from 0 or 1 nor"""
    with pytest.raises(InputError, match=error):
        imported({"grad": pandas.Series(GRAD, index=[10, 11, 12, 13])})


@pytest.mark.wings
def test_the_index_of_the_frames_of_a_suite_and_predictions_of_its_only_task(home: Path) -> None:
    pandas = pytest.importorskip("pandas")
    rows = pandas.DataFrame(
        {"text": [f"text number {i}" for i in range(40)], "label": [["ja", "nej"][i % 2] for i in range(40)]}
    )
    dev = rows[20:].rename(lambda label: label - 15)  # from 5
    suite = mtl.Suite.from_frames({"train": rows[:20], "dev": dev}, name="mine", tasks={"mine": {"metric": "accuracy"}})

    def score(predictions: Any, name: str) -> float:
        return mtl.import_predictions(name, predictions, suite=suite).summary["tasks"]["mine"]["median"]

    shuffled = dev["label"].sample(frac=1, random_state=1)
    forms = (
        shuffled,
        {"mine": shuffled},
        {"mine": {"dev": shuffled}},
        shuffled.to_frame("prediction"),
        list(dev["label"]),
    )
    assert [score(form, f"form-{number}") for number, form in enumerate(forms)] == [100.0] * 5
    with pytest.raises(InputError, match="row 1: column 'index' has"):  # numbers from 1 are other rows' labels
        score(pandas.Series(list(dev["label"]), index=range(1, 21)), "numbers")


def test_several_seeds_with_labels_and_a_description(home: Path) -> None:
    predictions = [{"par": ["yes", "NO"]}, {"par": ["yes", "perhaps"]}]
    settings = {"seed": (3, 5), "labels": {"par": {"yes": "ja", "no": "nej"}}}
    run = imported(predictions, system={"title": "A model", "family": "llm", "parameters": 7}, **settings)
    assert [predicted(run, "dev", "par", seed) for seed in (3, 5)] == [["ja", "nej"], ["ja", "ja"]]
    done = read_json(run / "summary.json")
    assert (done["title"], done["family"], done["cost"]["parameters"]) == ("A model, imported", "llm", 7)
    assert done["notes"][-1] == "Answers that fit no label, counted as wrong: par dev 0, 1 of 2 (seeds 3, 5)."


def test_the_same_call_keeps_the_run_and_other_predictions_are_refused(home: Path) -> None:
    run = imported({"grad": GRAD})
    before = (run / "summary.json").read_bytes()
    assert imported({"grad": GRAD}) == run
    with pytest.raises(
        InputError,
        match=r"its inputs have changed since it was begun \(predictions of seed 1\); import under another name, or",
    ):
        imported({"grad": [0, 0, 0, 0]})
    assert (run / "summary.json").read_bytes() == before


FORMS = "must be a list, an array, a table, or a mapping from dev and test to these"


@pytest.mark.parametrize(
    ("predictions", "error"),
    [
        ({"humor": GRAD}, "predictions.humor: suite rader has no such task; it has grad, val, par"),
        (3, "predictions: must be a dictionary by task, as in {'grad': predictions}, or a list of these for seeds"),
        (GRAD, "predictions: must be a dictionary by task, as in {'grad': predictions}, or a list of these for seeds"),
        ({"grad": [[1, 2], [3, 4]]}, "predictions.grad, row 1: prediction [1, 2] must be a text, a number or a truth"),
        ([], "theirs: name the zip or the folder of its predictions; for several seeds one each"),
        ({"grad": "3"}, f"predictions.grad: {FORMS}"),
        ({"grad": {"dev": {"g0": 3}}}, f"predictions.grad: {FORMS}"),
        ({"grad": {"train": GRAD}}, "predictions.grad: split 'train' must be dev or test"),
        ({"grad": {"dev": Table(prediction=GRAD, split=["test"] * 4)}}, "predictions.grad: split 'test' must be dev"),
        ({"grad": Table(score=GRAD)}, "predictions.grad: the table has no column 'prediction'"),
        ({"grad": [1, 2, None, 3]}, "predictions.grad, row 3: prediction None must be a text, a number or a truth value"),
        ({"grad": [1, float("inf"), 2, 3]}, "predictions.grad, row 2: prediction inf must be a text, a number or a truth value"),
        ({"grad": GRAD[:3]}, "predictions.grad.dev, row 3: 3 predictions for the 4 rows of data/grad/dev.jsonl; without ids, each row"),
        ({"grad": Table(prediction=GRAD, id=["g0", "g1", "g1", "g3"])}, 'predictions.grad.dev, row 3: id "g1" stands in row 2 already'),
        ({"par": ["ja", "no"]}, "predictions.par.dev, row 2: prediction: unknown label 'no', expected one of"),
    ],
)  # fmt: skip
def test_bad_predictions_are_refused(predictions: Any, error: str, home: Path) -> None:
    with pytest.raises(InputError, match="^" + re.escape(error)):
        imported(predictions)
    assert not [path for path in Path("runs").rglob("*") if path.is_file() and path.name != ".lock"]


def test_bad_settings_are_refused(home: Path) -> None:
    with pytest.raises(InputError, match="^labels.par.yes: unknown label 'yes', expected one of ja, nej$"):
        imported({"par": ["ja", "nej"]}, labels={"par": {"yes": "yes"}})
    with pytest.raises(InputError, match="^system: unknown key 'colour'; "):
        imported({"par": ["ja", "nej"]}, system={"colour": "red"})
    with pytest.raises(InputError, match="needs predictions for each of the 2 seeds, and has 1"):
        imported({"par": ["ja", "nej"]}, seed=[1, 2])
