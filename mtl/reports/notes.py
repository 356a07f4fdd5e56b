"""The notes on a leaderboard's scores, marks, tests and runs."""

from collections.abc import Iterable, Iterator, Sequence

from mtl.base.wording import listed
from mtl.reports.board import PairTests
from mtl.reports.pair_tests import MOST_FOR_PAIRS
from mtl.reports.rows import Row
from mtl.runs.notes import CONSTANT_NOTE, below_constant, same_answers
from mtl.runs.records import Summary
from mtl.stats.comparison import COVERAGE, LEAST_SEEDS, LEVEL
from mtl.stats.resampling import RESAMPLES
from mtl.tasks.suite import Suite

MOST_NAMED = 20  # runs in one note; the others are counted
INTERVAL_NOTE = (
    f"Intervals ({COVERAGE:g} %) show how far the mean over seeds may be from the score to expect with other seeds and other examples. "
    f"The variance over examples comes from {RESAMPLES} bootstrap resamples of the scored examples (of groups, where examples belong "
    f"together); the variance over seeds is added. With fewer than {LEAST_SEEDS} seeds, an interval covers only the variance over examples."
)


def mark_notes(suite: Suite, rows: Sequence[Row]) -> list[str]:
    """The notes that explain the scores and marks in the table."""
    bold = "Bold: the best of each split."
    if any(any(row.marks.values()) for row in rows):
        bold += " Marked scores compare only with those marked for the same reason."
    return [*_score_notes(suite, rows), *_marked_tasks(suite, rows), *apart_notes(rows), bold]


def _score_notes(suite: Suite, rows: Sequence[Row]) -> Iterator[str]:
    ours = f"{suite.shown.heading}. Own runs: medians over seeds, AVG the mean of the medians, on the split that each row names."
    if any(_shows_scores_of_selection(row) for row in rows):
        ours += " Model selection was on dev, so dev scores are a little too high."
    yield ours
    if suite.clean is not None:
        yield f"Clean data: {suite.clean}. Compare with runs on the same copy."
    if suite.average is not None:
        yield f"AVG is the mean over {suite.average_text}."
    if published_splits := {row.split for row in rows if row.run is None}:
        where = f"the {published_splits.pop()} sets" if len(published_splits) == 1 else "the split that they name"
        yield f"Published rows are scores on {where}."


def _marked_tasks(suite: Suite, rows: Sequence[Row]) -> Iterator[str]:
    for names, ids in _by_text((row.name, ", ".join(row.missing)) for row in rows if row.average):
        yield f"* AVG is partial, without {ids}: {names}."
    if reduced := ", ".join(id for id in suite.tasks if any(id in row.reduced for row in rows)):
        data = f"other split sizes than the published ones{_other_data(suite, rows)}"
        yield f"† {data}, not comparable with published scores: {reduced}; an average with † includes such a task."


def apart_notes(rows: Sequence[Row]) -> list[str]:
    """The notes that name the runs which are scored on other examples than the other runs."""
    apart = _by_text((row.name, ", ".join(row.apart)) for row in rows)
    problem = "than the other runs, so not comparable with them (no test against them, no rank)"
    return [f"§ {names}: scored on other examples of {ids} {problem}." for names, ids in apart]


def tests_notes(rows: Sequence[Row], tests: PairTests) -> Iterator[str]:
    """The notes on the paired tests that were made, and on the runs without a rank; none without tests."""
    if not any(tests.comparisons.values()):
        return
    yield " ".join([_test_text(rows), *_correction_texts(rows, tests)])
    no_rank = [row.name for row in rows if row.samples and not any(sample.is_tested for sample in row.samples.values())]
    if tests.made and tests.ranks and no_rank:
        yield f"Runs with fewer than {LEAST_SEEDS} seeds have no rank: {listed(no_rank, MOST_NAMED)}."


def _test_text(rows: Sequence[Row]) -> str:
    no_verdict = f"If a run has fewer than {LEAST_SEEDS} seeds, there is no verdict"
    if any(sample.is_one_system for row in rows for sample in row.samples.values()):
        no_verdict += (
            "; but an ensemble of all seeds, imported predictions of one seed, and one seed of a deterministic method are one system, and "
            "its tests say how it answers other examples, not how it would be with another seed"
        )
    return (
        "Paired tests compare the means over seeds of two runs, so a difference may not equal that of the medians shown. Runs on the same "
        f"examples are resampled together. A difference is significant, better or worse, if p is below {LEVEL:g}. The interval of the difference "
        f"then does not contain 0; but with five groups of examples or fewer, p is never below {LEVEL:g}. {no_verdict}. Of tests between equal "
        f"runs, {100 * LEVEL:g} % give better or worse by chance."
    )


def _correction_texts(rows: Sequence[Row], tests: PairTests) -> Iterator[str]:
    """For which tests Holm's correction was made, and what it gives; nothing without a test."""
    if not tests.made:
        return
    references = ", ".join(rows[number].name for number in tests.references)
    promise = f"the probability of even one false verdict is at most {100 * LEVEL:g} %"
    if tests.by_score:
        yield (
            f"Of more than {MOST_FOR_PAIRS} runs, only the tests of each one against the one with the best average of each split are shown "
            f"({references}); mtl report --reference NAME names another. These were chosen by their scores on the same examples, so without "
            "Holm's correction, worse is too frequent. The correction, and the ranks, are therefore of the "
            f"{tests.family:,} tests of every pair of runs, every task and the average, of which {tests.made:,} are shown. With it, {promise}."
        )
    else:
        pairs = f"every run against {references}" if references else "every pair of runs"
        tested = f"{tests.made:,} tests of this suite ({pairs}, every task and the average)"
        yield f"With Holm's correction for the {tested}, {promise}."
    if any(sample.varies for row in rows for sample in row.samples.values()):
        yield (
            "For this, the correction takes from all runs together how much seeds differ, and no less for a run whose own few seeds happen to "
            "agree. With three seeds, only large differences are significant."
        )


def run_notes(suite: Suite, rows: Sequence[Row]) -> Iterator[str]:
    """What the runs recorded, and where their scores say little."""
    summaries = [(row.name, row.run.summary) for row in rows if row.run]
    yield from _recorded_notes(summaries)
    held_out = [f"{count} of {id}" for _, summary in summaries for id, count in summary["held_out"].items()]
    if counts := ", ".join(dict.fromkeys(held_out)):
        yield f"Where a task has no dev file, dev is examples held out of the training file: {counts}."
    unanswered = [(name, ", ".join(summary.get("unanswered") or ())) for name, summary in summaries]
    yield from _titled("Unsupported tasks of a method", _by_text(unanswered))
    below = [(name, below_constant(summary, suite.shown)) for name, summary in summaries]
    yield from _titled("Not above the best constant answer, with its score", below)
    constant = [(name, same_answers(summary)) for name, summary in summaries]
    yield from _titled("The same prediction for every example", constant)
    if any(text for _, text in below) or any(summary["is_constant"] for _, summary in summaries):
        yield CONSTANT_NOTE
    if suite.generated:
        yield "This is the embedded sample: generated sentences. Its scores say nothing about real texts."


def _recorded_notes(summaries: Iterable[tuple[str, Summary]]) -> Iterator[str]:
    """The notes in the summaries of runs, which have these names, at most MOST_NAMED of them."""
    recorded = _by_text((name, note) for name, summary in summaries for note in summary.get("notes", []))
    notes = [f"{names}: {note}" for names, note in recorded]
    yield from notes[:MOST_NAMED]
    if len(notes) > MOST_NAMED:
        yield f"Further notes of single runs, in the runs' summary.json: {len(notes) - MOST_NAMED:,}."


def _shows_scores_of_selection(row: Row) -> bool:
    """Whether a row has scores on the dev examples on which its run chose models."""
    if row.run is None or not row.run.summary["chosen_on_dev"] or row.run.summary["config"].get("choosing_share"):
        return False
    return any(row.run.split(task) == "dev" for task in row.run.tasks)


def _other_data(suite: Suite, rows: Sequence[Row]) -> str:
    """What else than the sizes of splits may differ from the published data: files of tasks, and samples of the examples."""
    runs = [row.run for row in rows if row.run]
    changed = ", ".join(id for id in suite.tasks if any(id in run.summary.get("changed", ()) for run in runs))
    files = f", or changed files, by their checksums ({changed})" if changed else ""
    sampled = ", or a sample of the examples, as the notes on runs say" if any(run.samples for run in runs) else ""
    return files + sampled


def _titled(title: str, texts: Iterable[tuple[str, str]]) -> Iterator[str]:
    """The note with this title on runs, each a name and a text; none if all of the texts are empty."""
    if told := [f"{name}: {text}" for name, text in texts if text]:
        yield f"{title}: {listed(told, MOST_NAMED, '; ')}."


def _by_text(texts: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The names that have the same text, in one string, with this text: ("a, b", "x") from ("a", "x") and ("b", "x"). Empty texts are left out."""
    names: dict[str, list[str]] = {}
    for name, text in texts:
        if text:
            names.setdefault(text, []).append(name)
    return [(listed(same, MOST_NAMED), text) for text, same in names.items()]
