"""`mtl.import_predictions`: lists, arrays and tables become the run that `mtl import` makes of files."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from data_files import read_column, read_json, write_jsonl
from input_errors import refused
from rows_suite import read

import mtl
from mtl.api.cli import main
from mtl.runs.finished import find_runs

GRAD = [3.0, 1.5, 2.0, 0.0]


class Table:
    """What a DataFrame is to mtl: columns by name."""

    def __init__(self, **columns: Any) -> None:
        self.columns = list(columns)
        self._values = columns

    def __getitem__(self, name: str) -> Any:
        return self._values[name]


def imported(predictions: Any, name: str = "theirs", **settings: Any) -> Path:
    return mtl.import_predictions(name, predictions, suite="rader.yaml", data_dir="data", **settings).path


def predicted(run: Path, split: str, task: str, seed: int = 1) -> list[str]:
    return read_column(run / f"seed-{seed}/predictions/{split}_pred_{task}.tsv")


@pytest.mark.slow
def test_lists_arrays_and_tables_make_the_run_that_files_make(rows_home: Path) -> None:
    write_jsonl(Path("files/dev_pred_grad.jsonl"), [{"prediction": number} for number in GRAD])
    assert main(["import", "files", "files", "suite=rader.yaml", "data_dir=data"]) == 0
    order = [2, 0, 3, 1]
    table = Table(prediction=np.array(GRAD)[order], id=np.array([f"g{i}" for i in order], dtype=object), note=order)
    ids = ["g0", "g1", "t0", "g2", "g3", "t1", "t2", "t3"]
    splits = ["test" if id[0] == "t" else "dev" for id in ids]
    both = Table(id=ids, prediction=[*GRAD[:2], 1, *GRAD[2:], 2, 3, 4], split=splits)
    by_id = {f"g{row}": GRAD[row] for row in order}
    for number, given in enumerate((GRAD, tuple(GRAD), np.array(GRAD), {"dev": GRAD}, by_id, table, both)):
        run = imported({"grad": given}, f"python-{number}")
        assert run == Path(f"runs/rader/python-{number}")
        for file in ("seed-1/predictions/dev_pred_grad.tsv", "gold/dev_grad.tsv"):
            assert (run / file).read_bytes() == Path("runs/rader/files", file).read_bytes()
    assert predicted(run, "test", "grad") == ["1.0", "2.0", "3.0", "4.0"]
    assert len(find_runs(Path("runs"))) == 8


def test_a_data_frame(rows_home: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": ["g3", "g2", "g1", "g0"], "prediction": GRAD})
    run = imported({"grad": frame, "par": pandas.Series(["ja", "nej"])})
    assert predicted(run, "dev", "grad") == ["0.0", "2.0", "1.5", "3.0"]
    rows = [json.loads(line) for line in read(Path("data/grad/dev.jsonl"))]
    texts = pandas.DataFrame({"text": [row["text"] for row in rows], "prediction": GRAD})
    for name, given in (("order", texts), ("shuffled", texts[::-1].reset_index(drop=True))):
        assert predicted(imported({"grad": given}, name), "dev", "grad") == [str(value) for value in GRAD]
    numbered = pandas.DataFrame({"index": [3, 2, 1, 0], "prediction": GRAD[::-1]})
    assert predicted(imported({"grad": numbered}, "numbered"), "dev", "grad") == [str(value) for value in GRAD]
    refused(lambda: imported({"grad": texts.assign(text="x")}, "others"), key="predictions.grad.dev, row 1")
    refused(lambda: imported({"grad": texts[::-1].reset_index(drop=True)}, "order"), file="order")  # another order
    frame.loc[2, "prediction"] = None
    refused(lambda: imported({"grad": frame}, "other"))
    refused(lambda: imported({"grad": [True, *GRAD[1:]]}, "truth"))


def test_an_index_has_ids_or_the_order_of_the_data(rows_home: Path) -> None:
    pandas = pytest.importorskip("pandas")
    shuffled = pandas.Series(GRAD).sample(frac=1, random_state=1)
    by_id = shuffled.rename(lambda label: f"g{label}")
    counted = pandas.Series(GRAD, index=pandas.Index([0, 1, 2, 3]))
    for number, of_rows in enumerate((by_id, by_id.to_frame("prediction"), pandas.Series(GRAD))):
        run = imported({"grad": of_rows}, f"index-{number}")
        assert predicted(run, "dev", "grad") == [str(value) for value in GRAD], number
    # Numbers from 0 that pandas has not made by itself may be ids.
    for other in (shuffled, counted, counted.rename({3: 0}), by_id.rename({"g0": "h"})):
        refused(lambda other=other: imported({"grad": other}))


def test_a_column_of_the_data_may_be_called_is_count(rows_home: Path) -> None:
    pandas = pytest.importorskip("pandas")
    suite = rows_home / "rader.yaml"
    suite.write_text(suite.read_text(encoding="utf-8").replace("text: [text]", "text: [is_count]"), encoding="utf-8")
    for file in (rows_home / "data/grad").iterdir():
        file.write_text(file.read_text(encoding="utf-8").replace('"text"', '"is_count"'), encoding="utf-8")
    texts = [json.loads(line)["is_count"] for line in read(Path("data/grad/dev.jsonl"))]
    table = pandas.DataFrame({"is_count": texts, "prediction": GRAD, "split": "dev"})
    backwards = table[::-1].reset_index(drop=True)
    assert predicted(imported({"grad": backwards}), "dev", "grad") == [str(value) for value in GRAD]


@pytest.mark.wings
def test_the_index_of_the_frames_of_a_suite_and_predictions_of_its_only_task(rows_home: Path) -> None:
    pandas = pytest.importorskip("pandas")
    labels = [["ja", "nej"][i % 2] for i in range(40)]
    rows = pandas.DataFrame({"text": [f"text number {i}" for i in range(40)], "label": labels})
    dev = rows[20:].rename(lambda label: label - 15)  # from 5
    suite = mtl.Suite.from_frames({"train": rows[:20], "dev": dev}, name="mine", tasks={"mine": {"metric": "accuracy"}})

    def score(predictions: Any, name: str) -> float:
        return mtl.import_predictions(name, predictions, suite=suite).summary["tasks"]["mine"]["median"]

    right = dev["label"]
    forms = (right, {"mine": right}, {"mine": {"dev": right}}, right.to_frame("prediction"), list(right))
    assert [score(form, f"form-{number}") for number, form in enumerate(forms)] == [100.0] * 5
    refused(lambda: score(right.sample(frac=1, random_state=1), "shuffled"))
    # Numbers from 0 may be the labels of this frame, whose rows are in another order.
    mixed = mtl.Suite.from_frames({"train": rows[:20], "dev": rows[:20].sample(frac=1, random_state=1)}, name="mixed")
    table = pandas.DataFrame({"prediction": labels[:20], "split": "dev"})
    refused(lambda: mtl.import_predictions("mixed", table, suite=mixed), key="predictions.mixed")
    # Numbers from 1 are other rows' labels.
    refused(lambda: score(pandas.Series(list(dev["label"]), index=range(1, 21)), "numbers"))
    test = rows[:20].rename(lambda label: label + 100)
    splits = {"train": rows[:20], "validation": dev, "test": test}
    suite = mtl.Suite.from_frames(splits, name="mine", tasks={"mine": {"metric": "accuracy"}})
    every = pandas.concat([frame.assign(split=split, prediction=frame["label"]) for split, frame in splits.items()])
    both = every["prediction"][20:]
    forms = (every, {"val": every}, {"dev": both[:20], "Test": both[20:]}, [both[:20]] * 2)
    assert [score(form, f"split-{number}") for number, form in enumerate(forms)] == [100.0] * 4
    for given in (
        both,
        every.sample(frac=1, random_state=1),
        every.assign(split="x"),
        every[:20],
        [list(both[:20])] * 2,
    ):
        refused(lambda given=given: score(given, "bad"))


@pytest.mark.wings
def test_lists_of_labels_and_a_column_for_each_label(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pandas = pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    from structured_suite import label_rows, sentences, write_suite

    places: dict[str, Any] = {"suite": write_suite(tmp_path), "data_dir": "data"}
    labels = [[label for _, label in row] for row in sentences("dev")]
    tags = [row["labels"] for row in label_rows("dev")]
    table = pandas.DataFrame([{name: name in of_row for name in ("rage", "joy", "fear")} for of_row in tags])
    mine = mtl.run(**places, method="majority", tasks=["names"]).predictions("names")
    lists = [[*map(form, tags)] for form in (list, tuple, set, np.array, lambda of_row: of_row[::-1])]
    for number, given in enumerate([*lists, table, table * 1.0]):
        names = (labels, mine["gold"], list(map(tuple, labels)))[number % 3]
        run = mtl.import_predictions(f"form-{number}", {"lists": given, "names": names}, **places)
        assert run.scores[1].tolist() == [100.0, 100.0]
    refused(lambda: mtl.import_predictions("bad", {"names": [{"O"}] * 24}, **places))
    for given in ([None] * 24, [["rage"], ["bad"]] * 12, table[["rage", "joy"]]):
        refused(lambda given=given: mtl.import_predictions("bad", {"lists": given}, **places))


def test_numbers_and_truth_values_that_equal_a_label(rows_home: Path) -> None:
    suite = rows_home / "rader.yaml"
    suite.write_text(suite.read_text(encoding="utf-8").replace('["ja", "nej"]', '["0", "1"]'), encoding="utf-8")
    for file in (rows_home / "data/par").iterdir():
        cells = file.read_text(encoding="utf-8").replace('"ja"', "0").replace('"nej"', '"1"')
        file.write_text(cells, encoding="utf-8")
    for number, given in enumerate(([0.0, 1.0], [False, True], np.array([0, 1]), Table(pred=["0", "1"]))):
        assert predicted(imported({"par": given}, f"form-{number}"), "dev", "par") == ["0", "1"]
    for odd in (2, 0.5, "x"):
        refused(lambda odd=odd: imported({"par": [0, odd]}, "odd"))


def test_several_seeds_with_labels_and_a_description(rows_home: Path) -> None:
    predictions = [{"par": ["yes", "NO"]}, {"par": ["yes", "perhaps"]}]
    settings = {"seed": (3, 5), "labels": {"par": {"yes": "ja", "no": "nej"}}}
    run = imported(predictions, system={"title": "A model", "family": "llm", "parameters": 7}, **settings)
    assert [predicted(run, "dev", "par", seed) for seed in (3, 5)] == [["ja", "nej"], ["ja", "ja"]]
    done = read_json(run / "summary.json")
    assert (done["title"], done["family"], done["cost"]["parameters"]) == ("A model, imported", "llm", 7)
    assert done["notes"][-1] == "Answers that fit no label, counted as wrong: par dev 0, 1 of 2 (seeds 3, 5)."


def test_the_same_call_keeps_the_run_and_other_predictions_are_refused(rows_home: Path) -> None:
    run = imported({"grad": GRAD})
    before = (run / "summary.json").read_bytes()
    assert imported({"grad": GRAD}) == run
    refused(lambda: imported({"grad": [0, 0, 0, 0]}), file="theirs")
    assert (run / "summary.json").read_bytes() == before


@pytest.mark.parametrize(
    "predictions",
    [
        *({"humor": GRAD}, 3, GRAD, {"grad": [[1, 2], [3, 4]]}, [], {"grad": "3"}, {"grad": {"dev": {"g0": 3}}}),
        *({"grad": {"tset": GRAD}}, {"par": {"p0": "ja", "p1": "nej"}}),
        *({"grad": {"train": GRAD}}, {"grad": {"dev": Table(prediction=GRAD, split=["test"] * 4)}}),
        *({"grad": Table(score=GRAD, text=GRAD)}, {"grad": [1, 2, None, 3]}, {"grad": [1, float("inf"), 2, 3]}),
        {"grad": GRAD[:3]},
        *({"grad": Table(prediction=GRAD, id=["g0", "g1", "g1", "g3"])}, {"par": ["ja", "no"]}),
        *({"grad": {1, 2, 3, 4}}, {"grad": {"dev": GRAD, "validation": GRAD}}),
        {"grad": {"dev": GRAD, "test": [1, None, 2, 3]}},
    ],
)
def test_bad_predictions_are_refused(predictions: Any, rows_home: Path) -> None:
    refused(lambda: imported(predictions))
    assert not [path for path in Path("runs").rglob("*") if path.is_file() and path.name != ".lock"]


def test_bad_settings_are_refused(rows_home: Path) -> None:
    theirs = {"suite": "rader.yaml", "data_dir": "none"}
    refused(lambda: mtl.import_predictions("theirs", {"grad": GRAD}, **theirs), file="train.jsonl")
    refused(lambda: imported({"par": ["ja", "nej"]}, labels={"par": {"yes": "yes"}}), key="labels.par.yes")
    refused(lambda: imported({"par": ["ja", "nej"]}, system={"colour": "red"}), file="system")
    refused(lambda: imported({"par": ["ja", "nej"]}, seed=[1, 2]))
