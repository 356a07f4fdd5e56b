"""What tasks give away: parts of rows, and words."""

from pathlib import Path

import numpy as np
import pytest
from command_line import job
from input_errors import raises_input_error
from scipy.stats import norm
from small_suite import write_tsv

from mtl.api.cli import main
from mtl.benchmark_making.audits.artefacts import (
    Artefacts,
    artefact_findings,
    find_artefacts,
    render_artefacts,
    telling_words,
)
from mtl.benchmark_making.audits.audit import Audit
from mtl.benchmark_making.audits.part_scores import CONSTANT, EVERYTHING, LENGTHS, OVERLAP, PartScore
from mtl.data.dataset import Split
from mtl.jobs.job import Job
from mtl.tasks.scale import PERCENT
from mtl.tasks.task import Task

SUITE = """\
name: prov
language: sv
files: {dev: dev.tsv, test: null}
tasks:
  par:
    text: [a, b]
    target: same
    labels: ["no", "yes"]
    metric: accuracy
  en:
    text: [a]
    target: same
    labels: ["no", "yes"]
    metric: accuracy
"""
NOUNS = [f"ord{number}" for number in range(10, 50)]  # of equal length


def rows(count: int, seed: int, fault: str | None) -> list[tuple[str, str, str]]:
    """Pairs that are the same or not: nothing but both texts together tells it, unless a fault is built in."""
    rng = np.random.default_rng(seed)
    made = []
    for number in range(count):
        same = number % 2 == 0
        first = rng.choice(NOUNS, 6, replace=False).tolist()
        second = rng.permutation(first).tolist() if same else rng.choice(NOUNS, 6, replace=False).tolist()
        if fault == "second" and not same:
            second[0] = "inte"
        if fault == "length" and same:
            second += rng.choice(NOUNS, 6).tolist()
        made.append((" ".join(first), " ".join(second), "yes" if same else "no"))
    return made


def settings_of(folder: Path) -> list[str]:
    return [f"suite={folder / 'prov.yaml'}", f"data_dir={folder / 'data'}", f"cache_dir={folder / 'cache'}"]


def write_rows(folder: Path, **splits: list[tuple[str, str, str]]) -> None:
    for split, made in splits.items():
        write_tsv(folder / f"data/{split}.tsv", ("a", "b", "same"), *made)


def change_suite(folder: Path, old: str, new: str) -> Job:
    text = (folder / "prov.yaml").read_text(encoding="utf-8")
    (folder / "prov.yaml").write_text(text.replace(old, new), encoding="utf-8")
    return job(settings_of(folder))


def suite_job(folder: Path, fault: str | None = None) -> Job:
    (folder / "prov.yaml").write_text(SUITE, encoding="utf-8")
    write_rows(folder, train=rows(300, 0, fault), dev=rows(200, 1, fault))
    return job(settings_of(folder))


def kinds(found: Artefacts) -> list[str]:
    return [finding.kind for finding in artefact_findings(found, PERCENT)]


def scores_of(found: Artefacts) -> dict[str, PartScore]:
    return {score.part: score for score in found.scores}


def test_a_task_that_needs_both_texts_gives_nothing_away_but_its_overlap(tmp_path: Path) -> None:
    pair, single = find_artefacts(suite_job(tmp_path))
    parts = [score.part for score in pair.scores]
    assert parts == [EVERYTHING, "first text alone", "second text alone", LENGTHS, OVERLAP, CONSTANT]
    assert [score.part for score in single.scores] == [EVERYTHING, LENGTHS, CONSTANT]
    scores = scores_of(pair)
    assert scores[CONSTANT].score == 50 and scores[OVERLAP].score > 90
    assert all(score.interval[0] <= score.score <= score.interval[1] for score in pair.scores)
    assert scores[CONSTANT].gain == (0, 0) and scores[EVERYTHING].gain[0] > 30
    assert kinds(pair) == ["artefact: overlap alone"] and kinds(single) == []
    assert not pair.words and pair.tested and not single.tested


def test_scored_rows_of_one_group_are_resampled_one_by_one(tmp_path: Path) -> None:
    suite_job(tmp_path)
    write_rows(tmp_path, dev=[("samma", text, label) for _, text, label in rows(200, 1, None)])
    made = change_suite(tmp_path, "    target: same\n", "    target: same\n    group: a\n")
    low, high = scores_of(find_artefacts(made)[0])[CONSTANT].interval
    assert low < 50 < high


def test_topics_and_lengths_that_tell_the_class(tmp_path: Path) -> None:
    made = suite_job(tmp_path)
    for split, seed in (("train", 0), ("dev", 1)):  # topics stand in one distinct text each
        topics = {"yes": "kärnkraft", "no": "gruvor"}
        write_rows(tmp_path, **{split: [(topics[label], text, label) for _, text, label in rows(300, seed, None)]})
    pair, _ = find_artefacts(made)
    assert scores_of(pair)["first text alone"].score == 100
    pair, _ = find_artefacts(suite_job(tmp_path, "length"))
    assert scores_of(pair)[LENGTHS].score == 100 and "artefact: lengths alone" in kinds(pair)


def test_a_word_of_one_text_that_tells_the_class(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite_job(tmp_path, "second")
    made, words = change_suite(tmp_path, "  en:\n", "  en:\n    folder: nowhere\n"), settings_of(tmp_path)
    assert main(["audit", "--artefacts", *words]) == 0
    shown = capsys.readouterr().out
    (pair,) = find_artefacts(made)  # without the task that has no files
    scores = scores_of(pair)
    assert scores["second text alone"].score == 100 and scores["first text alone"].score < 70
    (word,) = pair.words
    assert (word.name, word.answer, word.rows, word.share, word.base) == ("2: inte", "no", 150, 1.0, 0.5)
    assert word.z == pytest.approx((150 - 75) / np.sqrt(150 * 0.25))
    assert {"artefact: second text alone", "artefact: words"} <= set(kinds(pair))
    report = Audit(list(artefact_findings(pair, PERCENT)), render_artefacts(made.suite, [pair])).report
    assert shown == report + "\n"
    assert "“2: inte” no 100% of 150 rows (all: 50%)" in shown
    assert main(["audit", "--artefacts", "--strict", *words]) == 1
    labels = 'labels: ["no", "yes"]\n    metric: '
    made = change_suite(tmp_path, f"{labels}accuracy", f"kind: multi_label\n    {labels}micro_f1")
    with raises_input_error(key="tasks"):  # several labels a row
        find_artefacts(made)


def test_a_rare_class_has_large_scores_by_chance() -> None:
    """Three of 20 rows with a word are of a class that 1 % of the rows have: z is 6.2, above the threshold, but such words are many."""
    texts = [*(f"ord{number}" for number in range(60)), "sällsynt"]
    inputs = np.array([*([60] for _ in range(20)), *([number % 60] for number in range(1980))])
    targets = np.zeros(2000)
    targets[[*range(3), *range(20, 37)]] = 1
    task = Task("t", kind="labels", text=["x"], target="y", labels=["ofta", "sällan"], metric="accuracy")
    z = (3 - 0.2) / np.sqrt(20 * 0.01 * 0.99)
    assert z > norm.isf(0.05 / (2 * 61 * 2))
    assert telling_words(task, Split(inputs, targets), lambda text: [texts[text]]) == ([], 61)
    assert telling_words(task, Split(inputs[:2], targets[:2]), lambda text: [texts[text]]) == ([], 0)  # too few rows


def test_the_overlap_is_a_finding_where_hardly_more_is_needed() -> None:
    task = Task("t", kind="number", text=["a", "b"], target="y", range=[0, 5], metric="spearman")
    gained = {"first text alone": 60.0, LENGTHS: 50.0, OVERLAP: 95.4, EVERYTHING: 95.6, CONSTANT: 0.0}
    scores = [PartScore(part, score, (0, 0), (score - 2.7, score + 1.2)) for part, score in gained.items()]
    overlap, *others = artefact_findings(Artefacts(task, scores), PERCENT)
    assert overlap.what == (
        "overlap alone scores 95.4, the constant answer 0.0 and everything 95.6; the gain over the constant answer is 95.4"
        " (95% interval 92.7 to 96.6)"
    )
    assert len(others) == 2


PAIR = Task("t", kind="labels", text=["a", "b"], target="y", labels=["n", "y"], metric="accuracy")


@pytest.mark.parametrize(
    ("score", "gain", "is_found"), [(60, (4.5, 15), True), (60, (3.5, 15), False), (59, (4.5, 13), False)]
)
def test_a_part_is_a_finding_where_it_surely_gains_much(
    score: float, gain: tuple[float, float], is_found: bool
) -> None:
    """Of the 40 points that everything gains, a quarter, and a tenth at the lower end of the interval."""
    parts = ((EVERYTHING, 90.0, (35.0, 45.0)), ("first text alone", score, gain), (CONSTANT, 50.0, (0.0, 0.0)))
    scores = [PartScore(part, value, (value - 5, value + 5), gains) for part, value, gains in parts]
    assert kinds(Artefacts(PAIR, scores)) == ["artefact: first text alone"] * is_found
