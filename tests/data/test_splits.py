from pathlib import Path

import pytest

from mtl.data.reader import Example
from mtl.data.splits import check_present, hold_out, missing_tasks, read_task
from mtl.errors import InputError
from mtl.suite import load_suite


def examples(groups: list[str | None]) -> list[Example]:
    return [Example(line, (f"text {line}",), 0.0, group) for line, group in enumerate(groups, start=2)]


def test_a_group_stays_on_one_side() -> None:
    rows = examples([str(i // 4) for i in range(400)])
    train, dev = hold_out(rows, 0.1)
    assert len(dev) == 40
    assert sorted(train + dev, key=lambda e: e.line) == rows
    assert not {e.group for e in train} & {e.group for e in dev}
    assert [e.line for e in dev] == sorted(e.line for e in dev)


def test_a_repeated_text_stays_on_one_side() -> None:
    rows = [Example(line, (f"text {line % 50}",), 0.0) for line in range(2, 202)]
    train, dev = hold_out(rows, 0.1)
    assert len(dev) == 20
    assert not {e.texts for e in train} & {e.texts for e in dev}


def test_the_split_is_the_same_whatever_the_order() -> None:
    rows = examples([str(i % 60) for i in range(300)])
    assert {e.line for e in hold_out(rows, 0.1)[1]} == {e.line for e in hold_out(rows[::-1], 0.1)[1]}


def test_groups_of_unlike_size_come_close_to_the_share() -> None:
    rows = examples([str(i if i < 50 else 50 + i // 30) for i in range(500)])
    assert 40 <= len(hold_out(rows, 0.1)[1]) <= 50


def test_read_task_holds_out_where_there_is_no_dev_file(suite_file: Path) -> None:
    suite = load_suite(suite_file)
    data = suite_file.parent / "data"
    pairs = read_task(suite.tasks["samma"], data, 0.1)
    assert (len(pairs.rows["train"]), len(pairs.rows["dev"]), "test" in pairs.rows) == (54, 6, False)
    assert pairs.held_out == [e.line for e in pairs.rows["dev"]]
    single = read_task(suite.tasks["kansla"], data, 0.1)
    assert ([len(rows) for rows in single.rows.values()], single.held_out) == ([60, 30, 10], [])


def test_one_group_cannot_be_held_out(suite_file: Path) -> None:
    suite = load_suite(suite_file)
    path = suite_file.parent / "data/pairs/train.tsv"
    path.write_text("topic\ta\tb\tsame\n1\tx\ty\t0\n1\tx\tz\t1\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"pairs/train\.tsv: too few groups"):
        read_task(suite.tasks["samma"], suite_file.parent / "data", 0.1)


def test_missing_tasks_are_named(suite_file: Path) -> None:
    suite = load_suite(suite_file)
    data = suite_file.parent / "data"
    assert missing_tasks(suite, data) == {}
    (data / "scores/dev.tsv").unlink()
    assert missing_tasks(suite, data) == {"betyg": data / "scores/dev.tsv"}
    check_present(suite, suite.choose(["kansla"]), data)
    with pytest.raises(InputError) as caught:
        check_present(suite, suite.choose(None), data)
    assert str(caught.value).startswith(f"{data / 'scores/dev.tsv'}: no such file; missing of suite liten: betyg;")
    assert "tasks=[kansla,samma]" in str(caught.value)
