from pathlib import Path

import pytest
from input_errors import refused
from small_suite import write_tsv

from mtl.base.errors import InputError
from mtl.data.present_files import check_present, choose_scored, missing_tasks, present_splits
from mtl.data.splits import read_task
from mtl.tasks.sources import Source
from mtl.tasks.suite import load_suite


def test_missing_tasks_are_named(suite_file: Path) -> None:
    suite = load_suite(suite_file)
    data = suite_file.parent / "data"
    assert missing_tasks(suite, data) == {}
    (data / "scores/dev.tsv").unlink()
    assert missing_tasks(suite, data) == {"betyg": data / "scores/dev.tsv"}
    check_present(suite, suite.choose(["kansla"]), data)
    with pytest.raises(InputError) as caught:
        check_present(suite, suite.choose(None), data)
    problem = f"{data / 'scores/dev.tsv'}: no such file; tasks of suite liten without their files: betyg;"
    assert str(caught.value).startswith(problem) and "tasks=[kansla,samma]" in str(caught.value)
    # A task has files if one of them is there; what its publisher has withdrawn is not to be fetched.
    assert present_splits(suite.tasks["betyg"], data) == ["train", "test"]
    for split in ("train", "test"):
        (data / f"scores/{split}.tsv").unlink()
    assert not present_splits(suite.tasks["betyg"], data)
    suite.tasks["samma"].withdrawn, suite.tasks["samma"].source = True, Source("https://example.org/x.zip")
    (data / "pairs/train.tsv").unlink()
    refused(lambda: check_present(suite, suite.choose(["samma"]), data), file="train.tsv")


def test_a_task_is_scored_on_dev_if_it_is_there_and_else_on_test(suite_file: Path) -> None:
    text = suite_file.read_text(encoding="utf-8")
    suite_file.write_text(text.replace("folder: scores", "folder: scores\n    scored: dev_or_test"), encoding="utf-8")
    declared, data = load_suite(suite_file), suite_file.parent / "data"
    suite = choose_scored(declared, data)
    task = suite.tasks["betyg"]
    assert (task.scored, task.scored_split, task.files["dev"]) == ("dev", "dev", "dev.tsv")
    assert suite.tasks["kansla"] is declared.tasks["kansla"]
    assert set(read_task(task, data, 0.1).rows) == {"train", "dev", "test"}

    write_tsv(data / "scores/test.tsv", ("text", "score"), ("ny", "3"), ("gammal", "4"))
    (data / "scores/dev.tsv").unlink()
    task = choose_scored(declared, data).tasks["betyg"]
    assert (task.scored, task.files["dev"]) == ("test", None)
    assert missing_tasks(choose_scored(declared, data), data) == {}
    read = read_task(task, data, 0.1)
    assert [row.target for row in read.rows["test"]] == [3.0, 4.0] and len(read.held_out) == 6
    assert declared.tasks["betyg"].files["dev"] == "dev.tsv"  # the declaration itself stays
