"""The notes below a leaderboard: what its scores, marks and tests mean, and what of its runs deserves attention."""

from collections.abc import Iterable, Sequence

from mtl.files import listed
from mtl.report.comparison import COVERAGE, LEAST_SEEDS
from mtl.report.resampling import RESAMPLES
from mtl.report.row import Row
from mtl.runs.summary import below_constant, same_answers
from mtl.tasks.suite import Suite

MOST_NAMED = 20  # runs in one note; the others are counted


def mark_notes(suite: Suite, rows: Sequence[Row]) -> list[str]:
    """The notes that explain the scores and marks in the table."""
    notes = [
        f"{suite.shown.heading}. Our rows: medians over seeds, AVG the mean of the medians, on the split that each row names. "
        "Checkpoints and settings were chosen on dev, which flatters scores on dev a little."
    ]
    if suite.average is not None:
        notes.append(f"AVG is the mean over {', '.join(suite.averaged)}.")
    if splits := {row.split for row in rows if row.run is None}:
        on = f"on the {splits.pop()} sets" if len(splits) == 1 else "on the split that they name"
        notes.append(f"Published rows are scores {on}.")
    partial = _by_text((row.name, ", ".join(row.missing)) for row in rows if row.average)
    notes += [f"* AVG is partial, without {ids}: {listed(names, MOST_NAMED)}." for ids, names in partial.items()]
    if reduced := sorted({id for row in rows for id in row.reduced}, key=list(suite.tasks).index):
        notes.append(
            f"† other split sizes than the published ones{_changed(suite, rows)}, not comparable with published scores: "
            f"{', '.join(reduced)}; an average with † includes such a task."
        )
    bold = "Bold: the best of each split."
    if any(row.missing or row.reduced for row in rows):
        bold += " Marked scores compare only with those marked for the same reason."
    return [*notes, bold]


def _changed(suite: Suite, rows: Sequence[Row]) -> str:
    """In words, the tasks with files that differ from those whose checksums the suite names; empty if there are none."""
    found = {id for row in rows if row.run for id in row.run.summary.get("changed", ())}
    return (
        f", or changed files, by their checksums ({', '.join(id for id in suite.tasks if id in found)})"
        if found
        else ""
    )


def interval_note() -> str:
    """How intervals are computed."""
    return (
        f"Intervals ({COVERAGE:g} %) show how far the mean over seeds may be from the score to expect with other seeds and other rows. "
        f"The variance over rows comes from {RESAMPLES} bootstrap resamples of the scored rows (of groups, where rows belong "
        f"together); the variance over seeds is added. With fewer than {LEAST_SEEDS} seeds, an interval covers only the variance over rows."
    )


def run_notes(suite: Suite, rows: Sequence[Row], ungrouped: Sequence[str]) -> list[str]:
    """What the runs recorded, and where their scores say little."""
    summaries = [(row.name, row.run.summary) for row in rows if row.run]
    noted = _by_text((name, note) for name, summary in summaries for note in summary.get("notes", []))
    notes = [f"{listed(names, MOST_NAMED)}: {note}" for note, names in noted.items()]
    if more := notes[MOST_NAMED:]:
        notes[MOST_NAMED:] = [f"There are {len(more):,} more notes of single runs, in the runs' summary.json."]
    if ungrouped:
        notes.append(
            "Runs that did not record which scored rows belong together (their rows are resampled one by one, each task separately): "
            f"{listed(ungrouped, MOST_NAMED)}."
        )
    if held_out := {id: n for _, summary in summaries for id, n in summary["held_out"].items()}:
        counts = ", ".join(f"{count} of {id}" for id, count in held_out.items())
        notes.append(f"Where a task has no dev file, dev is rows held out of the training file: {counts}.")
    unanswered = _by_text((name, ", ".join(summary.get("unanswered") or ())) for name, summary in summaries)
    below = [f"{name}: {text}" for name, summary in summaries if (text := below_constant(summary, suite.shown))]
    same = [f"{name}: {text}" for name, summary in summaries if (text := same_answers(summary))]
    for title, found in (
        (
            "Tasks that a method does not answer",
            [f"{listed(names, MOST_NAMED)}: {ids}" for ids, names in unanswered.items()],
        ),
        ("Not above the best constant answer, with its score", below),
        ("The same prediction for every row", same),
    ):
        notes += [f"{title}: {listed(found, MOST_NAMED, '; ')}."] if found else []
    if suite.generated:
        notes.append("This is the embedded sample: generated sentences. Its scores say nothing about real texts.")
    return notes


def _by_text(texts: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """The names that have the same text, by text; empty texts are left out."""
    found: dict[str, list[str]] = {}
    for name, text in texts:
        if text:
            found.setdefault(text, []).append(name)
    return found
