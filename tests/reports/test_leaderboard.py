import csv
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from data_files import read_json
from kinds_suite import write_kinds_suite
from report_browser import Opener, in_browser
from run_folders import ROWS, make_run, right

from mtl.api.cli import main
from mtl.base.files import write_json
from mtl.base.settings.layers import find_yaml
from mtl.reports.document import document
from mtl.reports.leaderboard import Leaderboard, by_suite, leaderboard
from mtl.reports.markdown import NO_TESTS, render_markdown, scores_and_tests
from mtl.reports.notes import mark_notes
from mtl.reports.pair_tests import comparable_samples, pair_tests
from mtl.reports.rows import Row
from mtl.reports.tables import render_csv
from mtl.runs.finished import find_runs
from mtl.stats.comparison import PairTest
from mtl.stats.families import family_tests
from mtl.stats.holm import all_tails
from mtl.tasks.suite import AVERAGE, load_suite


def row_of(board: Leaderboard, name: str) -> Row:
    return next(row for row in board.rows if row.name == name)


def pair_of(board: Leaderboard, first: str, second: str) -> Mapping[str, PairTest]:
    """The tests of two runs."""
    numbers = {row.name: number for number, row in enumerate(board.rows)}
    return board.tests.comparisons[numbers[first], numbers[second]]


def best(board: Leaderboard) -> dict[str, set[str]]:
    """The names of the best rows, by column."""
    return {column: {row.name for row in board.rows if board.is_best(row, column)} for column in board.columns}


def notes_of(board: Leaderboard) -> list[str]:
    return [*board.marks, *board.notes]


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Leaderboard:
    path = tmp_path_factory.mktemp("runs")
    make_run(path / "klej/good", right(0.9), ["embeddings=fasttext"])
    make_run(path / "klej/bad", right(0.2))
    make_run(path / "klej/floor", right(0.1), ["method=svm"])
    make_run(path / "klej/partial", right(0.9), ["embeddings=elmo"], tasks=["cbd", "ar"])
    return leaderboard(find_runs(path))


def test_families_in_order_and_scores_with_an_interval_around(board: Leaderboard) -> None:
    assert [row.name for row in board.rows][:6] == ["floor", "Random", "bad", "good", "partial", "LSTM"]
    assert [row.name for row in board.rows][-1] == "HerBERT" and len(board.rows) == 14
    labels = {row.name: (row.label, row.split, row.family) for row in board.rows}
    assert labels["good"] == ("LSTM, fastText, frozen", "dev", "lstm")
    assert labels["floor"] == ("TF-IDF + linear SVM", "dev", "floor")
    assert labels["HerBERT"] == ("published", "test", "transformer")
    assert best(board)[AVERAGE] == {"good", "HerBERT"}  # not the partial one, whatever its average
    assert best(board)["dyk"] == {"good", "Multi-BERT"}
    good, published = row_of(board, "good"), row_of(board, "LSTM")
    assert good.run is not None
    for id, score in good.scores.items():
        summary = good.run.summary["tasks"][id]
        assert (score.median, score.min, score.max) == (summary["median"], summary["min"], summary["max"])
        assert score.interval is not None and score.interval[0] < score.median < score.interval[1]
    assert good.average.median == pytest.approx(np.mean([score.median for score in good.scores.values()]))
    by_seed = np.mean([list(of["scores"].values()) for of in good.run.summary["tasks"].values()], axis=0)
    assert (good.average.min, good.average.max) == pytest.approx((by_seed.min(), by_seed.max()))
    assert (published.average.median, published.scores["cbd"].median, published.average.interval) == (63.0, 20.7, None)


def test_every_two_runs_are_compared_where_they_can_be_on_shared_draws(board: Leaderboard) -> None:
    found = pair_of(board, "good", "bad")
    assert set(found) == set(board.columns)
    assert {comparison.verdict for comparison in found.values()} == {"better"}
    good, bad = (run.summary["tasks"] for name in ("good", "bad") if (run := row_of(board, name).run))
    means = {id: [np.mean(list(tasks[id]["scores"].values())) for tasks in (good, bad)] for id in good}
    expected = {id: first - second for id, (first, second) in means.items()}
    for id, difference in {**expected, AVERAGE: np.mean(list(expected.values()))}.items():
        assert found[id].difference == pytest.approx(difference)
    # A partial run has an average of other tasks.
    assert set(pair_of(board, "partial", "good")) == {"cbd", "ar"}
    assert len(board.tests.comparisons) == 6
    samples = row_of(board, "good").samples
    rows = {id: next(iter(sample.means)) for id, sample in samples.items() if id != AVERAGE}
    assert rows["cdsc-e"] == rows["cdsc-r"] and len(set(rows.values())) == 8 == len(samples[AVERAGE].means)
    assert rows["dyk"].count == 15 and rows["cbd"].count == 60


def test_intervals_stay_within_what_a_metric_can_reach(tmp_path: Path) -> None:
    make_run(tmp_path / "good", lambda task, gold, rng: np.where(np.arange(ROWS) == 1, gold[0], gold))
    make_run(tmp_path / "bad", lambda task, gold, rng: np.where(rng.random(ROWS) < 0.02, gold, gold[::-1]))
    for row in leaderboard(find_runs(tmp_path)).rows:
        for id, score in row.scores.items():
            if score.interval:
                least = -100 if id == "cdsc-r" else 0
                assert least <= score.interval[0] <= score.interval[1] <= 100


@pytest.fixture(scope="module")
def rivals(tmp_path_factory: pytest.TempPathFactory) -> Leaderboard:
    """Two equals, one better on fewer training rows, one better on two tasks alone."""
    tmp_path = tmp_path_factory.mktemp("rivals")
    make_run(tmp_path / "one", right(0.8))
    make_run(tmp_path / "two", right(0.8), ["embeddings=fasttext"])
    make_run(tmp_path / "reduced", right(1.0), ["method=svm"], reduced=["cbd"])
    make_run(tmp_path / "partial", right(1.0), ["embeddings=elmo"], tasks=["cbd", "ar"])
    return leaderboard(find_runs(tmp_path))


def test_marked_scores_are_not_the_best_of_others_and_equals_both_are(rivals: Leaderboard) -> None:
    ours = {row.name for row in rivals.rows if row.run}
    names = {column: ours & rows for column, rows in best(rivals).items()}
    assert names["psc"] == {"reduced"} and names["ar"] == {"reduced", "partial"}
    assert names["cbd"] == {"partial"} and names[AVERAGE] == {"one", "two"}


def test_what_compares_with_nothing_is_not_the_best(tmp_path: Path) -> None:
    make_run(tmp_path / "one", right(0.8))
    folder = make_run(tmp_path / "reduced", right(0.9), ["method=svm"], reduced=["cbd"])
    names = best(leaderboard(find_runs(tmp_path)))
    assert not {"one", "reduced"} & (names["cbd"] | names[AVERAGE]) and "reduced" in names["psc"]
    # Tasks with changed files are named.
    summary = {**read_json(folder.summary), "reduced": ["cbd", "psc"], "changed": {"psc": ["train"]}}
    write_json(folder.summary, summary)
    notes = " ".join(notes_of(leaderboard(find_runs(tmp_path))))
    assert "† other split sizes than the published ones, or changed files, by their checksums (psc)" in notes


@in_browser
@pytest.mark.parametrize("name", ["rivals", "mixed"])
def test_the_page_has_the_same_best_ones(name: str, request: pytest.FixtureRequest, opened: Opener) -> None:
    board = request.getfixturevalue(name)
    page = opened(document([board], "now", "mtl report"))
    columns = {column: "average" if column == AVERAGE else f"task:{column}" for column in board.columns}
    for column, key in columns.items():
        position = [button.get_attribute("data-key") for button in page.all("#board thead button")].index(f"sort:{key}")
        shown = {row for row in page.rows() if page.all(f"tr[data-row={row}] > :nth-child({position + 1}) .best")}
        assert shown == {f"r{place}" for place, row in enumerate(board.rows) if board.is_best(row, column)}, column


def test_each_score_compares_with_those_on_its_split(mixed: Leaderboard) -> None:
    splits = {row.name: row.split for row in mixed.rows}
    assert splits == {"lstm": "dev, test", "svm": "dev, test", "some": "dev", "printed": "test"}
    lstm, printed = row_of(mixed, "lstm"), row_of(mixed, "printed")
    of_task = {"mood": "dev", "stars": "dev", "answer": "dev", "opposite": "test", "mood-elsewhere": "test"}
    assert {id: lstm.split_of(id) for id in lstm.scores} == of_task and lstm.split_of(AVERAGE) == "dev, test"
    assert printed.split_of("stars") == printed.split_of(AVERAGE) == "test"
    on_test = {"opposite": {"printed"}, "mood-elsewhere": {"lstm"}}
    on_dev = {id: {"some"} for id in ("mood", "stars", "answer")}
    assert best(mixed) == {AVERAGE: {"lstm"}, **on_dev, **on_test}


def test_notes_say_what_is_partial_and_reduced_on_the_splits_scored(board: Leaderboard, mixed: Leaderboard) -> None:
    notes = " ".join(notes_of(board))
    assert "partial, without nkjp-ner, cdsc-e, cdsc-r, polemo2.0-in, polemo2.0-out, dyk, psc: partial." in notes
    assert "dev is examples held out of the training file: 60 of cbd" in notes
    assert "†" not in notes
    # But dev where a note is about dev.
    assert [note for note in notes_of(mixed) if "dev rows" in note] == []
    assert "on the split that each row names" in mixed.marks[0]
    too_high = " Model selection was on dev, so dev scores are a little too high."
    suite = load_suite(find_yaml("suite", "klej"))
    assert mark_notes(suite, board.rows)[0].endswith(too_high)
    runs = [replace(row.run, summary={**row.run.summary, "chosen_on_dev": ""}) for row in board.rows if row.run]
    published = [row for row in board.rows if row.run is None]
    assert not mark_notes(suite, [*published, *(replace(board.rows[0], run=run) for run in runs)])[0].endswith(too_high)
    assert "dev is examples held out of the training file: 60 of stars, 60 of opposite." not in " ".join(
        notes_of(mixed)
    )
    assert "dev is examples held out of the training file: 60 of stars." in " ".join(notes_of(mixed))


def test_tasks_not_above_their_best_constant_answer_and_seeds_with_one_prediction_are_named(tmp_path: Path) -> None:
    make_run(tmp_path / "good", right(1.0))
    bad = make_run(tmp_path / "bad", right(1.0), ["method=svm"])
    make_run(tmp_path / "least", right(0.0), ["method=constant"])
    board = leaderboard(find_runs(tmp_path))
    notes = " ".join(notes_of(board))
    assert "Not above" not in notes and "same prediction" not in notes
    assert row_of(board, "least").label == "Best constant"
    summary = read_json(bad.summary) | {"not_above_constant": ["dyk"], "same_answer": {"dyk": [1, 3]}}
    summary["tasks"]["dyk"]["constant"] = 101.0
    write_json(bad.summary, summary)
    notes = notes_of(leaderboard(find_runs(tmp_path)))
    assert "Not above the best constant answer, with its score: bad: dyk 100.0 (constant 101.0)." in notes
    assert "The same prediction for every example: bad: dyk (seeds 1, 3)." in notes


def test_suites_apart(tmp_path: Path) -> None:
    make_run(tmp_path / "a", right(0.9))
    make_run(tmp_path / "b", right(0.9))
    for name, old, new in [("c", "metric: accuracy", "metric: macro_f1"), ("d", "title: CBD", "title: Bullying")]:
        suite = make_run(tmp_path / name, right(0.9)).path / "suite.yaml"
        suite.write_text(suite.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    # Another title is the same task, another metric is not.
    assert [[run.name for run in group] for group in by_suite(find_runs(tmp_path))] == [["a", "b", "d"], ["c"]]


@pytest.fixture(scope="module")
def averaged(tmp_path_factory: pytest.TempPathFactory) -> Leaderboard:
    """A suite whose average has two of five tasks, with published rows on dev and on test; one run has no task of the average."""
    path = tmp_path_factory.mktemp("averaged")
    suite = write_kinds_suite(path)
    row = {"model": "printed", "family": "transformer", "average": 50.0, "scores": {"mood": 40.0, "stars": 60.0}}
    words = {"model": "words", "family": "llm", "scores": {"opposite": 99.0}}
    content = yaml.safe_load(suite.read_text(encoding="utf-8"))
    added = {"average": ["mood", "stars"], "published": [row, {**row, "split": "dev", "average": 55.0}, words]}
    suite.write_text(yaml.safe_dump({**content, **added}, sort_keys=False), encoding="utf-8")
    settings = [f"suite={suite}", "method=svm"]
    make_run(path / "runs/svm", right(0.8), settings, tasks=["mood", "stars", "answer"], reduced=[])
    make_run(path / "runs/all", right(0.7), [f"suite={suite}"])
    make_run(path / "runs/word", right(0.7), [f"suite={suite}", "method=constant"], tasks=["opposite"])
    return leaderboard(find_runs(path / "runs"))


def test_an_average_over_some_tasks(averaged: Leaderboard) -> None:
    rows = {(row.name, row.split): row for row in averaged.rows}
    svm, every = rows["svm", "dev"], rows["all", "dev, test"]
    for row in (svm, every):
        mean = (row.scores["mood"].median + row.scores["stars"].median) / 2
        assert row.average and row.average.median == pytest.approx(mean)
        assert row.mark(AVERAGE) == "" and row.split_of(AVERAGE) == "dev"
    word = rows["word", "test"]
    assert word.average is None and word.score(AVERAGE) is None
    printed, on_dev, llm = rows["printed", "test"], rows["printed", "dev"], rows["words", "test"]
    assert (printed.split_of("mood"), on_dev.split_of("mood"), llm.average) == ("test", "dev", None)
    assert printed.missing == on_dev.missing == [] and llm.missing == ["mood", "stars"]
    assert set(pair_of(averaged, "all", "svm")) == {"mood", "stars", "answer", AVERAGE}
    assert {row.split for row in averaged.rows if averaged.is_best(row, AVERAGE)} == {svm.split}
    # And what notes say of it:
    assert averaged.marks[1] == "AVG is the mean over mood, stars."
    assert averaged.marks[2] == "Published rows are scores on the split that they name."
    assert not any("partial" in note for note in notes_of(averaged))


@in_browser
def test_the_page_averages_the_tasks_that_the_suite_names(averaged: Leaderboard, opened: Opener) -> None:
    page = opened(document([averaged], "now", "mtl report"))
    notes, lead = page.notes(), page.find("#lead").text
    assert "AVG is the mean over mood and stars." in notes and "Partial average" not in notes
    assert "Published rows: as printed, on the split that the row names." in notes
    assert "3 published rows, scored on the validation data (dev) and the test data (test)." in lead


def test_ranks_in_every_form(tmp_path: Path) -> None:
    """Two runs that no test separates, one far below them, and one with too few seeds."""
    for name, share in (("good", 0.97), ("alike", 0.97), ("bad", 0.1)):
        make_run(tmp_path / f"runs/{name}", right(share), [f"run_dir={name}"])
    make_run(tmp_path / "runs/few", right(0.97), seeds=(1,))
    board = leaderboard(find_runs(tmp_path / "runs"))
    rows = {row.name: number for number, row in enumerate(board.rows)}
    expected = {rows["good"]: (1, 2), rows["alike"]: (1, 2), rows["bad"]: (3, 3)}
    assert board.tests.ranks[AVERAGE] == expected
    assert "Runs with fewer than 3 seeds have no rank: few." in board.notes
    lines = render_csv([board])["ranks.csv"].splitlines()
    assert lines[0] == "suite,name,task,low,high,runs" and "klej,bad,average,3,3,3" in lines
    assert not any(",few," in line for line in lines)
    (suite,) = document([board], "now", "mtl report")["suites"]
    shown = {row["id"]: row["ranks"][AVERAGE] for row in suite["rows"] if row["ranks"]}
    assert shown == {f"r{number}": list(interval) for number, interval in expected.items()}
    text = render_markdown([board], "now", "mtl report")
    ranks = text[text.index("## Ranks") :]
    assert re.search(r"\| good +\| +1–2 \|", ranks) and re.search(r"\| bad +\| +3 \|", ranks)
    assert "| few" not in ranks[: ranks.index("## Cost")]


TASKS = ["cbd", "ar"]


@pytest.fixture(scope="module")
def runs_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four runs on the same rows, one of them with too few seeds; one on other rows; and one with a partial average, the highest."""
    path = tmp_path_factory.mktemp("runs")
    make_run(path / "best", right(0.9), ["embeddings=fasttext"], tasks=TASKS)
    make_run(path / "middle", right(0.7), tasks=TASKS)
    make_run(path / "worst", right(0.3), ["method=svm"], tasks=TASKS)
    make_run(path / "short", right(0.5), ["method=tree"], tasks=TASKS, seeds=[1, 2])
    make_run(path / "elsewhere", right(0.5), ["method=forest"], tasks=TASKS, dev="other")
    make_run(path / "partial", right(1.0), ["embeddings=elmo"], tasks=["cbd"])
    return path


def pairs_of(board: Leaderboard) -> set[tuple[str, str]]:
    return {(board.rows[one].name, board.rows[other].name) for one, other in board.tests.comparisons}


def expected_holm(board: Leaderboard, every: bool) -> list[float]:
    """Holm's correction of the board's tests, in their order, and never below their p.

    Args:
        every: whether it is for the tests of all pairs, not only of those that are shown.
    """
    groups = comparable_samples(board.rows)
    found = family_tests(groups)
    shown = []
    for (one, other), by_column in board.tests.comparisons.items():
        for column, test in by_column.items():
            if test.p is not None:
                group = column, board.rows[one].comparable[column]
                runs = list(groups[group])
                shown.append((float(found[group].tail[runs.index(one), runs.index(other)]), test.p))
    tails = sorted(all_tails(found).tolist() if every else [tail for tail, _ in shown])
    corrected = np.maximum.accumulate([min(1, (len(tails) - n) * tail) for n, tail in enumerate(tails)])
    return [max(p, corrected[tails.index(tail)]) for tail, p in shown]


def test_beyond_some_runs_each_is_tested_against_the_best_whole_average(
    runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = find_runs(runs_dir)
    every = leaderboard(runs)
    monkeypatch.setattr("mtl.reports.pair_tests.MOST_FOR_PAIRS", 5)
    board = leaderboard(runs)
    # Every run lacks tasks of KLEJ's average, so that the best partial average counts. Only cbd is a task of that run.
    assert [board.rows[place].name for place in board.tests.references] == ["partial"]
    assert pairs_of(board) == {(name, "partial") for name in ("best", "middle", "worst", "short", "elsewhere")}
    # Holm's correction is for all tests of every pair that have a verdict.
    whole = [test.p for tests in every.tests.comparisons.values() for test in tests.values() if test.p is not None]
    made = [test for tests in board.tests.comparisons.values() for test in tests.values() if test.p is not None]
    assert board.tests.family == len(whole) == 3 * 3 + 3 and len(made) == 3
    assert [test.p_holm for test in made] == pytest.approx(expected_holm(board, True))
    note = " ".join(board.notes)
    assert "only the tests of each one against the one with the best average of each split are shown (partial)" in note
    assert "of the 12 tests of every pair of runs, every task and the average, of which 3 are shown" in note
    runs = find_runs(runs_dir)
    runs[0].suite.average = TASKS  # the suite of all runs
    rows = leaderboard(runs).rows
    assert [rows[place].name for place in pair_tests(rows).references] == ["best"]
    on_test = dict.fromkeys(["average", *TASKS], "test")
    rows = [replace(row, splits=on_test) if row.name in ("short", "worst") else row for row in rows]
    assert {rows[place].name for place in pair_tests(rows).references} == {"best", "short"}


def test_comparisons_without_a_test_do_not_count_for_the_correction(runs_dir: Path) -> None:
    board = leaderboard(find_runs(runs_dir))
    made = [test for tests in board.tests.comparisons.values() for test in tests.values()]
    with_p = {key: test for key, test in enumerate(made) if test.p is not None}
    assert board.tests.family == board.tests.made == len(with_p) < len(made)
    assert [test.p_holm for test in with_p.values()] == pytest.approx(expected_holm(board, False))
    assert f"for the {len(with_p)} tests of this suite (every pair of runs" in " ".join(board.notes)


def test_too_few_seeds_leave_no_verdict_and_their_note_names_no_correction(tmp_path: Path) -> None:
    make_run(tmp_path / "one", right(0.9), tasks=TASKS)
    make_run(tmp_path / "two", right(0.3), tasks=TASKS, seeds=[1, 2])
    board = leaderboard(find_runs(tmp_path))
    (found,) = board.tests.comparisons.values()
    assert {test.verdict_holm for test in found.values()} == {"too few seeds"} and board.tests.made == 0
    note = " ".join(board.notes)
    assert "there is no verdict" in note and "Holm" not in note


def test_one_task_and_its_average_are_one_test(tmp_path: Path) -> None:
    for name, share in (("one", 0.9), ("two", 0.6), ("three", 0.3)):
        make_run(tmp_path / name, right(share), tasks=["cbd"])
    board = leaderboard(find_runs(tmp_path))
    assert board.tests.family == board.tests.made == 3 and "for the 3 tests" in " ".join(board.notes)
    assert all(tests["average"] is tests["cbd"] for tests in board.tests.comparisons.values())
    assert board.tests.ranks["average"] == board.tests.ranks["cbd"]


@pytest.mark.parametrize("names", [["middle"], ["middle", "worst"]])
def test_named_references(runs_dir: Path, tmp_path: Path, names: list[str]) -> None:
    arguments = ["report", str(runs_dir), "--out", str(tmp_path / "out"), "--cache", str(tmp_path / "cache")]
    for name in names:
        arguments += ["--reference", name]
    assert main(arguments) == 0
    lines = list(csv.DictReader((tmp_path / "out" / "comparisons.csv").read_text(encoding="utf-8").splitlines()))
    found = {(line["one"], line["other"]) for line in lines}
    others = ("best", "middle", "worst", "short", "partial")  # on the same rows
    assert {frozenset(pair) for pair in found} == {frozenset((a, b)) for a in names for b in others if a != b}
    assert len(found) == (4 if names == ["middle"] else 7) and {other for _, other in found} <= set(names)
    text = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    tested = sum(line["verdict"] != "too few seeds" for line in lines)
    assert 0 < tested < len(lines) and f"for the {tested} tests of this suite (every run against " in text


def test_an_unknown_reference_is_one_line(runs_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["report", str(runs_dir), "--out", str(tmp_path / "out"), "--cache", str(tmp_path), "--reference"]
    assert main([*arguments, "midle"]) == 2
    error = capsys.readouterr().err
    assert "mtl: error: reference=midle: no finished run has this name; is it middle?\n" in error
    assert main([*arguments, "HerBERT"]) == 2  # a published row
    assert "the first column of the table of scores has the names" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_runs_on_other_examples_are_named_and_compare_with_none(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name, share, dev in (("a-elsewhere", 0.9, "other"), ("good", 0.8, "dev"), ("bad", 0.3, "dev")):
        make_run(tmp_path / name, right(share), [f"run_dir={name}"], tasks=["cbd"], dev=dev)
    runs = {run.name: run for run in find_runs(tmp_path)}
    board = leaderboard(list(runs.values()))
    rows = {row.name: row for row in board.rows}
    assert [rows[name].mark("cbd") for name in runs] == ["§", "", ""] and "§" in rows["a-elsewhere"].mark("average")
    assert {row.name for row in board.rows if row.run and board.is_best(row, "cbd")} == {"good"}
    assert (
        "§ a-elsewhere: scored on other examples of cbd than the other runs" in " ".join(board.marks)
        and caplog.messages
    )
    shown = scores_and_tests(board)
    assert re.search(r"a-elsewhere \| +– \| +– ", shown) or re.search(r"a-elsewhere − \w+ +\| +– ", shown)
    ranks = {board.rows[number].name: interval for number, interval in board.tests.ranks["cbd"].items()}
    assert ranks == {"good": (1, 1), "bad": (2, 2)}
    two = leaderboard([runs["a-elsewhere"], runs["good"]])
    assert not any(two.is_best(row, "cbd") for row in two.rows if row.run)
    assert NO_TESTS in scores_and_tests(two)
