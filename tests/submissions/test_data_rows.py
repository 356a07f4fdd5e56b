"""The order in which predictions are put to rows: by the columns of the data that stand beside them."""

import json
import random
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest
from data_files import read_json, write_lines
from input_errors import refused
from rows_suite import GRAD_DEV

from mtl.api.cli import main
from mtl.base.errors import InputError
from mtl.submissions.column_order import exact_key, loose_key
from mtl.submissions.data_rows import DataRows
from mtl.submissions.files import PredictionFile
from mtl.submissions.forms import read_table
from mtl.submissions.lines import row_columns
from mtl.submissions.row_predictions import READERS, row_targets
from mtl.tasks.task import Task

TASK = Task(id="k", text=["a", "b"], target="label", labels=["x", "y"], kind="labels", metric="accuracy", group="topic")
ROWS = [('He said "no"', " left ", "1"), ("NA", "right", "1"), ("same", "row", "2"), ("same", "row", "2")]
LABELS = ["x", "y", "y", "y"]
HEADER = "a,topic,b,prediction"


@pytest.fixture
def rows(tmp_path: Path) -> DataRows:
    """The rows of a .tsv, whose cells are never quoted."""
    lines = ["a\tb\ttopic\tlabel", *("\t".join([*row, "x"]) for row in ROWS)]
    write_lines(tmp_path / "dev.tsv", lines)
    return DataRows(TASK, "dev", tmp_path / "dev.tsv", TASK.plain_layout, np.zeros(4))


# The rows as pandas writes them: quoted, with an empty cell for NA.
CELLS = ['"He said ""No"" ",1,left,x', ",1,right,y", "same,2,row,y", "same,2,row,y"]


def put_lines(rows: DataRows, name: str, lines: Iterable[str], ids: Sequence[str] = ()) -> list[float]:
    file = PredictionFile(rows.task, name, "\n".join(lines).encode(), ids, 100)
    return list(row_targets(rows, READERS[Path(name).suffix](file), ids)[0])


def labels(rows: DataRows, lines: Sequence[str], ids: Sequence[str] = ()) -> list[str]:
    """The labels of the rows by a .csv with these lines."""
    return [["x", "y"][int(target)] for target in put_lines(rows, "mine.csv", lines, ids)]


def test_every_order_gives_each_row_its_prediction(rows: DataRows, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    assert labels(rows, [HEADER, *CELLS]) == LABELS and not caplog.messages
    for seed in range(10):
        order = random.Random(seed).sample(range(4), 4)
        assert labels(rows, [HEADER, *(CELLS[place] for place in order)]) == LABELS
        # A count of the lines says nothing; numbers of the rows agree with the columns.
        counted = (f"{number},{CELLS[place]}" for number, place in enumerate(order))
        assert labels(rows, [f",{HEADER}", *counted]) == LABELS
        assert labels(rows, [f",{HEADER}", *(f"{place},{CELLS[place]}" for place in order)]) == LABELS
    assert {*caplog.messages} == {f"mine.csv: put to the rows of {rows.file} by a, b: it has another order"}


def test_equal_rows_with_different_predictions_have_an_order_alone(rows: DataRows) -> None:
    differing = [*CELLS[:3], "same,2,row,x"]
    assert labels(rows, [HEADER, *differing]) == ["x", "y", "y", "x"]
    refused(lambda: labels(rows, [HEADER, *differing[::-1]]), file="mine.csv", line=3)


@pytest.mark.parametrize(
    ("header", "lines", "line"),
    [
        (HEADER, [*CELLS[:3], "other,2,row,y"], 5),  # a row of another split
        (HEADER, [CELLS[1], CELLS[0], "sane,2,row,y", CELLS[3]], 4),
        (HEADER, [CELLS[1], CELLS[0], CELLS[2], CELLS[1]], 5),  # one row twice, another one missing
        (HEADER, CELLS[:3], 4),
    ],
)
def test_rows_of_other_data_are_refused(header: str, lines: list[str], line: int, rows: DataRows) -> None:
    refused(lambda: labels(rows, [header, *lines]), file="mine.csv", line=line)


def test_an_empty_number_may_be_repeated_too(rows: DataRows) -> None:
    with pytest.raises(InputError, match="column 'index' repeats an empty text;"):
        labels(rows, ["index,prediction", ",x", ",x", "2,y", "3,y"])


def test_ids_and_columns_agree(tmp_path: Path) -> None:
    write_lines(tmp_path / "dev.tsv", ["id\ta\tb\ttopic", *("\t".join([str(n), *row]) for n, row in enumerate(ROWS))])
    rows = DataRows(TASK, "dev", tmp_path / "dev.tsv", TASK.plain_layout, np.zeros(4))
    by_id = [f"{number},{cells}" for number, cells in enumerate(CELLS)]
    assert labels(rows, [f"id,{HEADER}", *by_id[::-1]]) == LABELS
    refused(lambda: labels(rows, [f"id,{HEADER}", f"1,{CELLS[0]}", f"0,{CELLS[1]}", *by_id[2:]]), line=3)


def test_gold_without_texts_is_not_compared(rows: DataRows) -> None:
    write_lines(rows.file, ["label", *LABELS])
    refused(lambda: labels(rows, [HEADER, *CELLS]), file="mine.csv", line=2)
    assert labels(rows, ["prediction", *LABELS]) == LABELS


def test_an_empty_cell_of_an_only_column_is_quoted_and_a_blank_line_is_no_row(rows: DataRows) -> None:
    assert read_table(PredictionFile(TASK, "mine.csv", b'label\nx\n""\n\ny\n', [], 100)).values == ["x", "", "y"]
    refused(lambda: put_lines(rows, "mine.csv", ["", "", "a,b", "x,y"]), file="mine.csv", line=3)


def test_nested_texts_and_lists_of_json_lines(tmp_path: Path) -> None:
    task = Task(id="val", kind="choice", text=["question"], candidates=["answers[]"], target="label", metric="accuracy")
    data = [{"question": f"why {row}", "answers": ["a", str(row)], "label": 0} for row in range(4)]
    write_lines(tmp_path / "dev.jsonl", map(json.dumps, data))
    rows = DataRows(task, "dev", tmp_path / "dev.jsonl", task.plain_layout, np.zeros(4))
    made = [json.dumps({**row, "prediction": number % 2}) for number, row in enumerate(data)]
    for order in ([0, 1, 2, 3], [3, 1, 0, 2]):
        assert put_lines(rows, "mine.jsonl", [made[place] for place in order]) == [0, 1, 0, 1]


def test_what_is_one_value() -> None:
    assert row_columns(TASK) == ["a", "b"]  # neither its target nor its group, which a leaderboard may hide
    assert loose_key([" A  b"]) == loose_key(['"a"  B\n']) == loose_key(["A-b!"]) != loose_key(["ab", ""])
    assert loose_key([float("nan"), None, "N/A"]) == loose_key(["", "", ""])
    written = [[np.array(["x", "y"]), np.int64(3)], [["x", "y"], "3.0"], ["['x', 'y']", "03"]]
    assert len({*map(loose_key, written)}) == 1
    assert exact_key([np.array(["x", "y"]), 3]) == exact_key([["x", "y"], "3"]) != exact_key(["xy", "3"])


def test_rows_that_differ_in_case_or_marks_alone(rows: DataRows) -> None:
    texts = [("Yes!", "a"), ("yes!", "b"), ("yes?", "c"), ("other", "d")]
    write_lines(rows.file, ["a\tb\ttopic\tlabel", *(f"{text}\tsame\t1\tx" for text, _ in texts)])
    cells = ["Yes!,same,x", "yes!,same,y", "yes?,same,x", "other,same,y"]
    for order in ([0, 1, 2, 3], [1, 0, 2, 3], [3, 2, 1, 0]):
        assert labels(rows, ["a,b,prediction", *(cells[place] for place in order)]) == ["x", "y", "x", "y"]
    changed = [*cells[:3], "OTHER.,same,y"]  # by another program; the other texts still say which rows they are
    assert labels(rows, ["a,b,prediction", *(changed[place] for place in (1, 0, 3, 2))]) == ["x", "y", "x", "y"]


def test_columns_under_other_names(tmp_path: Path) -> None:
    task = Task(
        id="t", kind="labels", text=["first.context", "tokens[]"], target="label", labels=["x", "y"], metric="accuracy"
    )
    data = [{"first": {"context": f"text {row}"}, "tokens": ["a", str(row)], "label": "x"} for row in range(3)]
    write_lines(tmp_path / "dev.jsonl", map(json.dumps, data))
    rows = DataRows(task, "dev", tmp_path / "dev.jsonl", task.plain_layout, np.zeros(3))
    flat = [{"First.context": f"text {row}", "tokens": f"['a', '{row}']", "prediction": "xyx"[row]} for row in range(3)]
    assert put_lines(rows, "m.jsonl", map(json.dumps, reversed(flat))) == [0, 1, 0]
    table = ["First.context,TOKENS,prediction", *(f"text {row},\"['a', {row}]\",{'xyx'[row]}" for row in (2, 1, 0))]
    assert put_lines(rows, "m.csv", table) == [0, 1, 0]


def test_json_lines_have_ids_and_numbers_as_tables_have(rows: DataRows, caplog: pytest.LogCaptureFixture) -> None:
    def placed(key: str, keys: Sequence[object], ids: Sequence[str] = ()) -> list[str]:
        lines = [{key: value, "prediction": label} for value, label in zip(keys, reversed(LABELS), strict=True)]
        return [["x", "y"][int(target)] for target in put_lines(rows, "mine.jsonl", map(json.dumps, lines), ids)]

    assert placed("Index", [3, 2, 1, 0]) == placed("idx", [4, 3, 2, 1]) == LABELS
    refused(lambda: placed("guid", ["a", "b", "c", "d"]), file="mine.jsonl", line=1)
    write_lines(rows.file, ["uid\ta\tb", *(f"u{number}\tx\ty" for number in range(4))])
    rows = DataRows(TASK, "dev", rows.file, TASK.plain_layout, np.zeros(4))  # the old ones keep the names of columns
    assert placed("uid", ["u3", "u2", "u1", "u0"], ["uid"]) == LABELS
    assert not caplog.messages
    assert placed("mine", [1, 1, 1, 1]) == LABELS[::-1]
    order = f"its lines are taken in the order of the rows of {rows.file}"
    assert caplog.messages == [f"mine.jsonl: {order}; columns that are not compared: mine"]


def test_commands_put_predictions_to_their_rows(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    theirs, settings = tmp_path / "theirs", [f"suite={made / 'rader.yaml'}", "tasks=[grad]"]
    dev = [json.loads(line) for line in GRAD_DEV]
    texts = [json.dumps({"text": row["text"], "prediction": row["label"]}) for row in dev]
    write_lines(theirs / "dev_pred_grad.jsonl", texts[::-1])
    assert main(["score", str(theirs), "--gold", str(made / "data"), *settings]) == 0
    assert "| grad | dev | alpha_interval | 4 | 1.000 |" in capsys.readouterr().out
    write_lines(theirs / "dev_pred_gard.jsonl", texts)
    assert main(["score", str(theirs), "--gold", str(made / "data"), *settings]) == 0
    assert f"{theirs}: not read, since no predictions have such names: dev_pred_gard.jsonl" in caplog.messages
    (theirs / "dev_pred_gard.jsonl").unlink()
    folders = [f"data_dir={made / 'data'}", f"run_dir={tmp_path / 'run'}"]
    assert main(["import", "theirs", str(theirs), *settings, *folders]) == 0
    assert read_json(tmp_path / "run/summary.json")["tasks"]["grad"]["median"] == 100
    assert sum("dev.jsonl by text: it has another order" in message for message in caplog.messages) == 3
