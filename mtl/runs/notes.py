"""What a run's summary says in words: the notes below its table, and texts that the notes of a report have, too."""

from collections.abc import Mapping
from typing import Any

from mtl.tasks.scale import Scale
from mtl.tasks.suite import Suite

CONSTANT_NOTE = "Best constant: the constant answer that scores best on train."
SAMPLE_NOTE = (
    "This is the embedded sample: generated sentences, for trying the toolkit. Its scores say nothing about real texts."
)


def table_notes(summary: Mapping[str, Any], suite: Suite) -> list[str]:
    """The notes below a run's table: on its scores, on what is missing or differs, and on what the run itself notes."""
    notes = [_scores_note(summary, suite)]
    if held_out := summary.get("held_out"):
        rows = ", ".join(f"{count} of {id}" for id, count in held_out.items())
        notes += [f"Where there is no dev file, dev is examples held out of the training file: {rows} (held_out.json)."]
    notes += _missing_notes(summary, suite)
    if summary["reduced"]:
        notes.append(_reduced_note(summary, suite))
    notes += summary.get("notes", [])  # from the method
    if below := below_constant(summary, suite.shown):
        notes.append(f"Not above the best constant answer: {below}.")
    if constant := same_answers(summary):
        notes.append(f"The same prediction for every example: {constant}.")
    return [*notes, SAMPLE_NOTE] if suite.generated else notes


def splits_text(summary: Mapping[str, Any]) -> str:
    """The splits that the tasks are scored on, as in "dev" or "dev, test"."""
    return ", ".join(sorted({task["split"] for task in summary["tasks"].values()}))


def below_constant(summary: Mapping[str, Any], scale: Scale) -> str:
    """The tasks not above their best constant answer, as in "dyk 12.2 (constant 27.4)"; empty for the constant answer itself."""
    texts = []
    for id in summary["not_above_constant"]:
        record = summary["tasks"][id]
        texts.append(f"{id} {scale.show(record['median'])} (constant {scale.show(record['constant'])})")
    return "" if summary["is_constant"] else ", ".join(texts)


def same_answers(summary: Mapping[str, Any]) -> str:
    """The tasks for which a seed predicts the same for every scored row, with these seeds, as in "cdsc-r (seed 2)". Empty if there are none, and
    for the constant answer itself. A trained head does this if all its hidden units are saturated."""
    texts = []
    for id, seeds in summary["same_answer"].items():
        noun = "seed" if len(seeds) == 1 else "seeds"
        texts.append(f"{id} ({noun} {', '.join(str(seed) for seed in seeds)})")
    return "" if summary["is_constant"] else ", ".join(texts)


def _scores_note(summary: Mapping[str, Any], suite: Suite) -> str:
    """The note on the scores of the run and of published rows."""
    mean = "tasks" if suite.average is None else suite.average_text
    seeds = ", ".join(str(seed) for seed in summary["seeds"])
    over = f"the median over seeds {seeds}" if len(summary["seeds"]) > 1 else f"seed {seeds}"
    note = f"{suite.shown.heading} on {splits_text(summary)}: {over}; AVG is the mean over {mean}. {CONSTANT_NOTE}"
    if not suite.published:
        return note
    splits = sorted({row.split for row in suite.published})
    rows_split = "split that they name" if len(splits) > 1 else f"{splits[0]} sets"
    note += f" Published rows are scores on the {rows_split}"
    if summary["chosen_on_dev"] and not summary.get("config", {}).get("choosing_share"):
        note += f"; ours chose their {summary['chosen_on_dev']} on dev, so dev scores are a little too high"
    return f"{note}."


def _missing_notes(summary: Mapping[str, Any], suite: Suite) -> list[str]:
    """The notes on the tasks that the average lacks, that the method cannot answer, and that are not in the run for another reason."""
    notes = []
    lacking, unanswered = suite.lacking(summary["tasks"]), summary.get("unanswered") or []
    if lacking:
        present = len(suite.averaged) - len(lacking)
        notes.append(f"\\* AVG is partial: {present} of {len(suite.averaged)} tasks, without {', '.join(lacking)}.")
    if unanswered:
        notes.append(f"Not supported by this method: {', '.join(unanswered)}.")
    if rest := [id for id in summary["missing"] if id not in lacking and id not in unanswered]:
        notes.append(f"Not in this run: {', '.join(rest)}.")
    return notes


def _reduced_note(summary: Mapping[str, Any], suite: Suite) -> str:
    """The note on the tasks in `reduced`: in what their data differs from the published data."""
    by_difference: dict[str, list[str]] = {}
    for id in summary["reduced"]:
        by_difference.setdefault(_difference_of_data(id, summary, suite), []).append(id)
    sizes = "; ".join(f"{', '.join(ids)} {text}" for text, ids in by_difference.items())
    average = " Nor is an average with such a task." if set(summary["reduced"]) & set(suite.averaged) else ""
    return f"† other data than the published data, not comparable (train/dev/test examples: {sizes}).{average}"


def _difference_of_data(id: str, summary: Mapping[str, Any], suite: Suite) -> str:
    """In what the data of a task in `reduced` differs from the published data."""
    task, record = suite.tasks[id], summary["tasks"][id]
    if task.rows and dict(task.rows) != record["rows"]:
        return f"{_sizes(record['rows'])} of {_sizes(task.rows)}"
    if splits := summary.get("changed", {}).get(id):
        return f"changed, as the checksum of {' and '.join(splits)} says"
    if lines := summary.get("config", {}).get(f"imported.rows.{id}"):
        return f"a sample of {len(lines)} {record['split']} examples"
    return "scored on a part of dev" if task.answered_by is None else f"answered by {task.answered_by}"


def _sizes(rows: Mapping[str, int]) -> str:
    return "/".join(str(rows.get(split, "none")) for split in ("train", "dev", "test"))
