from pathlib import Path

import numpy as np
import pytest
from report_browser import Opener, in_browser
from run_folders import ROWS, make_run, right

from mtl.report.document import document
from mtl.report.leaderboard import Leaderboard, by_suite, leaderboard
from mtl.runs.finished import find_runs
from mtl.runs.folder import read_json, write_json
from mtl.tasks.suite import AVERAGE, Task


@pytest.fixture
def board(tmp_path: Path) -> Leaderboard:
    make_run(tmp_path / "klej/good", right(0.9), ["embeddings=fasttext"])
    make_run(tmp_path / "klej/bad", right(0.2))
    make_run(tmp_path / "klej/floor", right(0.1), ["method=svm"])
    make_run(tmp_path / "klej/partial", right(0.9), ["embeddings=elmo"], tasks=["cbd", "ar"])
    return leaderboard(find_runs(tmp_path))


def test_families_in_order_and_ours_first(board: Leaderboard) -> None:
    assert [row.name for row in board.rows][:6] == ["floor", "Random", "bad", "good", "partial", "LSTM"]
    assert [row.name for row in board.rows][-1] == "HerBERT" and len(board.rows) == 14
    labels = {row.name: (row.label, row.split, row.family) for row in board.rows}
    assert labels["good"] == ("LSTM, fastText, frozen", "dev", "lstm")
    assert labels["floor"] == ("TF-IDF + linear SVM", "dev", "floor")
    assert labels["HerBERT"] == ("published", "test", "transformer")


def test_scores_are_the_summary_s_with_an_interval_around(board: Leaderboard) -> None:
    good = next(row for row in board.rows if row.name == "good")
    assert good.run is not None
    for id, score in good.scores.items():
        summary = good.run.summary["tasks"][id]
        assert (score.median, score.min, score.max) == (summary["median"], summary["min"], summary["max"])
        assert score.interval is not None and score.interval[0] < score.median < score.interval[1]
    assert good.average.median == pytest.approx(np.mean([score.median for score in good.scores.values()]))
    by_seed = np.mean([list(of["scores"].values()) for of in good.run.summary["tasks"].values()], axis=0)
    assert (good.average.min, good.average.max) == pytest.approx((by_seed.min(), by_seed.max()))
    published = next(row for row in board.rows if row.name == "LSTM")
    assert (published.average.median, published.scores["cbd"].median, published.average.interval) == (63.0, 20.7, None)


def test_every_two_runs_are_compared_where_they_can_be(board: Leaderboard) -> None:
    places = {row.name: place for place, row in enumerate(board.rows)}
    found = board.comparisons[places["good"], places["bad"]]
    assert set(found) == {*board.suite.tasks, AVERAGE}
    assert {comparison.verdict for comparison in found.values()} == {"better"}
    good, bad = (run.summary["tasks"] for name in ("good", "bad") if (run := board.rows[places[name]].run))
    means = {id: np.mean([[*of["scores"].values()] for of in (good[id], bad[id])], axis=1) for id in good}
    for id, (one, other) in means.items():
        assert found[id].difference == pytest.approx(one - other)
    assert found[AVERAGE].difference == pytest.approx(np.mean([one - other for one, other in means.values()]))
    # A partial run has an average of other tasks.
    assert set(board.comparisons[places["partial"], places["good"]]) == {"cbd", "ar"}
    assert len(board.comparisons) == 6


def test_holm_s_correction_is_for_all_tests_of_the_suite(board: Leaderboard) -> None:
    tests = sorted((test.p, test.p_holm) for found in board.comparisons.values() for test in found.values())
    assert len(tests) == 3 * 10 + 3 * 2 and tests[0][1] == pytest.approx(36 * tests[0][0])
    assert all(p < corrected or p == corrected == 1 for p, corrected in tests)
    assert "correction for the 36 tests" in " ".join(board.facts)


def test_too_few_seeds(tmp_path: Path) -> None:
    make_run(tmp_path / "a", right(0.9))
    make_run(tmp_path / "b", right(0.1), ["embeddings=fasttext"], seeds=[1, 2])
    board = leaderboard(find_runs(tmp_path))
    (found,) = board.comparisons.values()
    assert {(test.verdict, test.verdict_holm, test.p_holm) for test in found.values()} == {
        ("too few seeds",) * 2 + (None,)
    }
    assert all(test.low < test.difference < test.high for test in found.values())


def test_tasks_on_the_same_rows_share_draws_and_groups_are_the_recorded_ones(board: Leaderboard) -> None:
    samples = next(row.samples for row in board.rows if row.name == "good")
    rows = {id: next(iter(sample.resampled)) for id, sample in samples.items() if id != AVERAGE}
    assert rows["cdsc-e"] == rows["cdsc-r"] and len(set(rows.values())) == 8 == len(samples[AVERAGE].resampled)
    assert rows["dyk"].count == 15 and rows["cbd"].count == 60
    assert board.ungrouped == []


def test_a_run_that_did_not_record_its_rows(tmp_path: Path) -> None:
    """It takes over what another run on the same rows recorded; where there is none, its rows count one by one."""
    make_run(tmp_path / "old", right(0.8), recorded=False)
    alone = leaderboard(find_runs(tmp_path))
    assert alone.ungrouped == ["old"] and any("which dev rows belong together" in fact for fact in alone.facts)
    rows = {id: next(iter(sample.resampled)) for id, sample in alone.rows[1].samples.items() if id != AVERAGE}
    assert len(set(rows.values())) == 9 and {of.count for of in rows.values()} == {60}
    make_run(tmp_path / "new", right(0.8), ["embeddings=fasttext"])
    both = leaderboard(find_runs(tmp_path))
    assert both.ungrouped == []
    (found,) = both.comparisons.values()
    assert {(test.difference, test.p) for test in found.values()} == {
        (0.0, 1.0)
    }  # the same predictions on the same draws


def test_intervals_stay_within_what_a_metric_can_reach(tmp_path: Path) -> None:
    def almost(task: Task, gold: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return np.where(np.arange(ROWS) == 1, gold[0], gold)

    make_run(tmp_path / "good", almost)
    make_run(tmp_path / "bad", lambda task, gold, rng: np.where(rng.random(ROWS) < 0.02, gold, gold[::-1]))
    for row in leaderboard(find_runs(tmp_path)).rows:
        for id, score in row.scores.items():
            if score.interval:
                least = -100 if id == "cdsc-r" else 0
                assert least <= score.interval[0] <= score.interval[1] <= 100


def test_other_dev_rows_are_not_compared(tmp_path: Path) -> None:
    make_run(tmp_path / "a", right(0.9))
    make_run(tmp_path / "b", right(0.9), dev="other")
    assert leaderboard(find_runs(tmp_path)).comparisons == {}


def test_the_best_of_each_split(board: Leaderboard) -> None:
    best = {column: [row.name for row in board.rows if board.is_best(row, column)] for column in board.columns}
    assert best[AVERAGE] == ["good", "HerBERT"]  # not the partial one, whatever its average
    assert best["dyk"] == ["good", "Multi-BERT"]


@pytest.fixture
def rivals(tmp_path: Path) -> Leaderboard:
    """Two equals, one better on fewer training rows, one better on two tasks alone."""
    make_run(tmp_path / "one", right(0.8))
    make_run(tmp_path / "two", right(0.8), ["embeddings=fasttext"])
    make_run(tmp_path / "reduced", right(1.0), ["method=svm"], reduced=["cbd"])
    make_run(tmp_path / "partial", right(1.0), ["embeddings=elmo"], tasks=["cbd", "ar"])
    return leaderboard(find_runs(tmp_path))


def test_marked_scores_are_not_the_best_of_others_and_equals_both_are(rivals: Leaderboard) -> None:
    ours = [row for row in rivals.rows if row.run]
    best = {column: {row.name for row in ours if rivals.is_best(row, column)} for column in rivals.columns}
    assert best["psc"] == {"reduced"} and best["ar"] == {"reduced", "partial"}
    assert best["cbd"] == {"partial"} and best[AVERAGE] == {"one", "two"}


def test_what_compares_with_nothing_is_not_the_best(tmp_path: Path) -> None:
    make_run(tmp_path / "one", right(0.8))
    make_run(tmp_path / "reduced", right(0.9), ["method=svm"], reduced=["cbd"])
    board = leaderboard(find_runs(tmp_path))
    ours = [row for row in board.rows if row.run]
    assert not any(board.is_best(row, column) for row in ours for column in ("cbd", AVERAGE))
    assert any(board.is_best(row, "psc") for row in ours)


@in_browser
def test_the_page_has_the_same_best_ones(rivals: Leaderboard, opened: Opener) -> None:
    page = opened(document([rivals], "now", "mtl report"))
    columns = {column: "average" if column == AVERAGE else f"task:{column}" for column in rivals.columns}
    for column, key in columns.items():
        position = [button.get_attribute("data-key") for button in page.all("#board thead button")].index(f"sort:{key}")
        shown = {row for row in page.rows() if page.all(f"tr[data-row={row}] > :nth-child({position + 1}) .best")}
        assert shown == {f"r{place}" for place, row in enumerate(rivals.rows) if rivals.is_best(row, column)}, column


def test_notes_say_what_is_partial_and_reduced(board: Leaderboard) -> None:
    notes = " ".join(board.notes)
    assert (
        "partial, without nkjp-ner, cdsc-e, cdsc-r, polemo2.0-in, polemo2.0-out, dyk, psc: partial." in notes
        and "dev is rows held out of the training file: 60 of cbd" in notes
    )
    assert "†" not in notes


def test_tasks_that_do_not_stand_above_their_best_constant_answer_are_named(tmp_path: Path) -> None:
    make_run(tmp_path / "good", right(1.0))
    make_run(tmp_path / "bad", right(1.0), ["method=svm"])
    old = make_run(tmp_path / "old", right(0.0), ["method=constant"])
    assert "constant answer" not in " ".join(leaderboard(find_runs(tmp_path)).notes)
    summary = read_json(tmp_path / "bad/summary.json")
    summary["tasks"]["dyk"]["constant"], summary["not_above_constant"] = 101.0, ["dyk"]
    write_json(tmp_path / "bad/summary.json", summary)
    # A run from before there were constants, when the best constant answer was called majority.
    summary = {**read_json(old.summary), "method": "majority"}
    del summary["not_above_constant"]
    write_json(old.summary, summary)
    board = leaderboard(find_runs(tmp_path))
    assert "Not above the best constant answer, with its score: bad: dyk 100.0 (constant 101.0)." in board.notes
    assert [row.label for row in board.rows if row.name == "old"] == ["Majority"]


def test_suites_apart(tmp_path: Path) -> None:
    make_run(tmp_path / "a", right(0.9))
    make_run(tmp_path / "b", right(0.9))
    for name, old, new in [("c", "metric: accuracy", "metric: macro_f1"), ("d", "title: CBD", "title: Bullying")]:
        suite = make_run(tmp_path / name, right(0.9)).path / "suite.yaml"
        suite.write_text(suite.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    # Another title is the same task, another metric is not.
    assert [[run.name for run in group] for group in by_suite(find_runs(tmp_path))] == [["a", "b", "d"], ["c"]]


def test_a_method_of_another_version_has_its_own_name(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "a", right(0.9), ["method=svm"])
    summary = read_json(folder.summary)
    write_json(folder.summary, {**summary, "method": "perceptron"})
    assert leaderboard(find_runs(tmp_path)).rows[0].label == "perceptron"
