"""The notes on a leaderboard's scores, marks and runs."""

from collections.abc import Iterable, Sequence

from mtl.base.wording import listed
from mtl.reports.board import Row
from mtl.runs.summary import CONSTANT_NOTE, below_constant, same_answers
from mtl.stats.comparison import COVERAGE, LEAST_SEEDS
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
    heading = f"{suite.shown.heading}. Own runs: medians over seeds, AVG the mean of the medians, on the split that each row names."
    runs = [(row.run, row.scores) for row in rows if row.run and row.run.summary["chosen_on_dev"]]
    on_dev = [(run, ids) for run, ids in runs if not run.summary["config"].get("choosing_share")]
    if any(run.split(task) == "dev" for run, ids in on_dev for id, task in suite.tasks.items() if id in ids):
        heading += " Model selection was on dev, so dev scores are a little too high."
    notes = [heading]
    if suite.clean is not None:
        notes.append(f"Clean data: {suite.clean}. Compare with runs on the same copy.")
    if suite.average is not None:
        notes.append(f"AVG is the mean over {suite.average_text}.")
    if splits := {row.split for row in rows if row.run is None}:
        on = f"on the {splits.pop()} sets" if len(splits) == 1 else "on the split that they name"
        notes.append(f"Published rows are scores {on}.")
    partial = _by_text((row.name, ", ".join(row.missing)) for row in rows if row.average)
    notes += [f"* AVG is partial, without {ids}: {listed(names, MOST_NAMED)}." for ids, names in partial.items()]
    if reduced := sorted({id for row in rows for id in row.reduced}, key=list(suite.tasks).index):
        files = {id for row in rows if row.run for id in row.run.summary.get("changed", ())}
        named = ", ".join(id for id in suite.tasks if id in files)
        changed = f", or changed files, by their checksums ({named})" if files else ""
        is_sample = any(row.run and row.run.samples for row in rows)
        sampled = ", or a sample of the examples, as the notes on runs say" if is_sample else ""
        notes.append(
            f"† other split sizes than the published ones{changed}{sampled}, not comparable with published scores: "
            f"{', '.join(reduced)}; an average with † includes such a task."
        )
    if chosen := sorted({id for row in rows for id in row.scores if "¶" in row.mark(id)}, key=list(suite.tasks).index):
        why = "its setting was chosen on the dev examples that score it, so it is too high"
        notes.append(f"¶ {why}: {', '.join(chosen)}.")
    bold = "Bold: the best of each split."
    if any(any(row.marks.values()) for row in rows):
        bold += " Marked scores compare only with those marked for the same reason."
    return [*notes, *apart_notes(rows), bold]


def apart_notes(rows: Sequence[Row]) -> list[str]:
    """The notes that name the runs which are scored on other examples than the other runs."""
    apart = _by_text((row.name, ", ".join(row.apart)) for row in rows)
    return [
        f"§ {listed(names, MOST_NAMED)}: scored on other examples of {ids} than the other runs, so not comparable with them (no test against them, "
        "no rank)."
        for ids, names in apart.items()
    ]


def run_notes(suite: Suite, rows: Sequence[Row]) -> list[str]:
    """What the runs recorded, and where their scores say little."""
    summaries = [(row.name, row.run.summary) for row in rows if row.run]
    noted = _by_text((name, note) for name, summary in summaries for note in summary.get("notes", []))
    notes = [f"{listed(names, MOST_NAMED)}: {note}" for note, names in noted.items()]
    if rest := len(notes[MOST_NAMED:]):
        notes[MOST_NAMED:] = [f"There are {rest:,} more notes of single runs, in the runs' summary.json."]
    if held_out := {id: count for _, summary in summaries for id, count in summary["held_out"].items()}:
        counts = ", ".join(f"{count} of {id}" for id, count in held_out.items())
        notes.append(f"Where a task has no dev file, dev is examples held out of the training file: {counts}.")
    unanswered = _by_text((name, ", ".join(summary.get("unanswered") or ())) for name, summary in summaries)
    lacking = [f"{listed(names, MOST_NAMED)}: {ids}" for ids, names in unanswered.items()]
    below = [f"{name}: {text}" for name, summary in summaries if (text := below_constant(summary, suite.shown))]
    constant = [f"{name}: {text}" for name, summary in summaries if (text := same_answers(summary))]
    for title, tasks in (
        ("Unsupported tasks of a method", lacking),
        ("Not above the best constant answer, with its score", below),
        ("The same prediction for every example", constant),
    ):
        notes += [f"{title}: {listed(tasks, MOST_NAMED, '; ')}."] if tasks else []
    if below or any(summary["is_constant"] for _, summary in summaries):
        notes.append(CONSTANT_NOTE)
    if suite.generated:
        notes.append("This is the embedded sample: generated sentences. Its scores say nothing about real texts.")
    return notes


def _by_text(texts: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """The names that have the same text, by text; empty texts are left out."""
    by_text: dict[str, list[str]] = {}
    for name, text in texts:
        if text:
            by_text.setdefault(text, []).append(name)
    return by_text
