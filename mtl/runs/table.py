"""A run's medians beside the published rows, as Markdown in the layout of the paper's Table 3."""

from collections.abc import Mapping, Sequence
from statistics import fmean, stdev
from typing import Any

from mtl.base.wording import MISSING, inert, markdown_table
from mtl.runs.summary import CONSTANT_NOTE, below_constant, same_answers, splits_text
from mtl.tasks.metrics import metric_named
from mtl.tasks.scale import Scale
from mtl.tasks.suite import Published, Suite

MARKS = {"†": "reduced", "‡": "maybe_trained_on", "¶": "chosen_on_scored"}  # by mark, the summary's key for its tasks


def render(summary: dict[str, Any], suite: Suite) -> str:
    """The table of a summary, with notes below it."""
    tasks = [id for id in suite.tasks if id in summary["tasks"]]
    marks = {id: "".join(mark for mark, key in MARKS.items() if id in summary.get(key, ())) for id in tasks}
    titles = [f"{inert(suite.tasks[id].title)}{marks[id]}" for id in tasks]
    has_splits = "," in splits_text(summary)
    rows = [
        ["", f"AVG{average_marks(summary, suite)}", *titles],
        ["metric", "mean", *(metric_named(suite.tasks[id].metric).title for id in tasks)],
        *([["split", "", *(summary["tasks"][id]["split"] for id in tasks)]] if has_splits else []),
        *_run_rows(summary, suite, tasks),
        *_compared_rows(summary, suite, tasks),
        *_difference_rows(summary, suite, tasks),
    ]
    title = f"## {inert(suite.title)}: {inert(summary['title'])}"
    return "\n\n".join([title, markdown_table(rows), *_notes(summary, suite), *_further_table(summary, suite)]) + "\n"


def _run_rows(summary: Mapping[str, Any], suite: Suite, tasks: Sequence[str]) -> list[list[str]]:
    """The run's scores in bold, of several seeds further statistics, and the settings of tasks; `_statistic` says which statistic comes first."""
    scores, show, seeds = summary["tasks"], suite.shown.show, summary["seeds"]
    medians = [summary["average"], *(scores[id]["median"] for id in tasks)]
    cells, name, further = [MISSING if value is None else show(value) for value in medians], "one seed", []
    if len(seeds) > 1:
        averages = [suite.mean({id: scores[id]["scores"][str(seed)] for id in scores}) for seed in seeds]
        by_task = [scores[id]["scores"].values() for id in tasks]
        columns = [averages if summary["average"] is not None else [], *by_task]
        means = [f"{show(fmean(values))} ± {show(stdev(values))}" if values else MISSING for values in columns]
        statistics = {"median": ("median", cells), "mean": ("mean ± standard deviation", means)}
        title, cells = statistics.pop(_statistic(summary))
        name = f"{title} of {len(seeds)}"
        further = [[other, *values] for other, values in statistics.values()]
        further += [[extreme, "", *(show(scores[id][extreme]) for id in tasks)] for extreme in ("min", "max")]
    bold = [cell if cell == MISSING else f"**{cell}**" for cell in cells]
    settings = [["setting", "", *(summary["settings"][id] for id in tasks)]] if summary.get("settings") else []
    return [[f"**{inert(summary['title'])}**, {name}", *bold], *further, *settings]


def _statistic(summary: Mapping[str, Any]) -> str:
    """What the first row of the table has of several seeds: median or mean."""
    return str(summary.get("config", {}).get("statistic", "median"))


def _compared_rows(summary: Mapping[str, Any], suite: Suite, tasks: Sequence[str]) -> list[list[str]]:
    """The best constant answer, the simple baselines, and the published rows with a score on one of these tasks."""
    scores, show = summary["tasks"], suite.shown.show
    simple = [(inert(row["title"]), row["scores"]) for row in summary.get("beside", [])]
    if not summary["is_constant"]:
        simple.insert(0, ("Best constant", {id: scores[id]["constant"] for id in scores}))
    # The average of a floor without one of the tasks would not be one of the same tasks.
    rows = [(name, suite.mean(row) if scores.keys() <= row.keys() else None, row) for name, row in simple]
    for row in suite.published:
        if any(id in row.scores for id in tasks):
            name = f"{_model(row)} (published{_split(row, suite.published)})"
            rows.append((name, row.average if _is_comparable(summary, suite) else None, row.scores))
    numbers = [(name, [average, *(by_task.get(id) for id in tasks)]) for name, average, by_task in rows]
    return [[name, *(MISSING if number is None else show(number) for number in values)] for name, values in numbers]


def _is_comparable(summary: Mapping[str, Any], suite: Suite) -> bool:
    """Whether the run's average is one of the same tasks on the same data as published averages."""
    return not summary["partial"] and not set(summary["reduced"]) & set(suite.averaged)


def _difference_rows(summary: Mapping[str, Any], suite: Suite, tasks: Sequence[str]) -> list[list[str]]:
    """How far the run is from the published transformers, from floors if it is one, and from the same model."""
    scores, scale, differences = summary["tasks"], suite.shown, []
    model = summary["method"], summary["embeddings"], summary["variant"]
    comparable = [id for id in tasks if id not in summary["reduced"]]  # reduced data is not like the published data
    for row in suite.published:
        is_same_model = (row.method, row.embeddings, row.variant) == model
        are_floors = row.family == summary["family"] == "floor"
        compared = {id for id in comparable if row in _published_rows(suite.published, id, scores[id]["split"])}
        if compared and (row.family == "transformer" or are_floors or is_same_model):
            has_average = _is_comparable(summary, suite) and compared >= set(suite.averaged)
            average = _difference(summary["average"], row.average if has_average else None, scale)
            published = {id: row.scores[id] for id in compared}
            cells = [_difference(scores[id]["median"], published.get(id), scale) for id in tasks]
            differences.append([f"ours − {_model(row)}{_split(row, suite.published)}", average, *cells])
    return differences


def _published_rows(rows: Sequence[Published], task: str, split: str) -> list[Published]:
    """The published rows whose score on a task is compared with ours on this split: those on the same split; if none is, all."""
    scored = [row for row in rows if task in row.scores]
    return [row for row in scored if row.split == split] or scored


def _model(row: Published) -> str:
    """The title of a published row. A floor that guesses is told from an LSTM with random embeddings."""
    is_guess = row.family == "floor" and row.model.lower() == "random"
    return f"{inert(row.model)}{' guess' if is_guess else ''}"


def _split(row: Published, rows: Sequence[Published]) -> str:
    """The split of a published row, after a comma, if the rows are on several."""
    return f", {row.split}" if len({published.split for published in rows}) > 1 else ""


def _difference(ours: float | None, published: float | None, scale: Scale) -> str:
    return MISSING if ours is None or published is None else scale.difference(ours - published)


def average_marks(summary: Mapping[str, Any], suite: Suite) -> str:
    """The marks of the average: without one of its tasks, and with one that has the mark † or ¶."""
    marked = {"†": summary["reduced"], "¶": summary.get("chosen_on_scored", ())}
    return "*" * summary["partial"] + "".join(mark for mark, ids in marked.items() if set(ids) & set(suite.averaged))


def _notes(summary: dict[str, Any], suite: Suite) -> list[str]:
    """The notes below the table: on its scores, on what is missing or differs, and on what the run itself notes."""
    mean = "tasks" if suite.average is None else suite.average_text
    seeds = ", ".join(map(str, summary["seeds"]))
    over = f"the {_statistic(summary)} over seeds {seeds}" if len(summary["seeds"]) > 1 else f"seed {seeds}"
    notes = [f"{suite.shown.heading} on {splits_text(summary)}: {over}; AVG is the mean over {mean}. {CONSTANT_NOTE}"]
    if published := suite.published:
        on = "split that they name" if len({row.split for row in published}) > 1 else f"{published[0].split} sets"
        choices = "" if summary.get("config", {}).get("choosing_share") else summary["chosen_on_dev"]
        flattered = f"; ours chose their {choices} on dev, so dev scores are a little too high" if choices else ""
        notes[0] += f" Published rows are scores on the {on}{flattered}."
    if held_out := summary.get("held_out"):
        rows = ", ".join(f"{count} of {id}" for id, count in held_out.items())
        source = "Where there is no dev file, dev is examples held out of the training file"
        notes.append(f"{source}: {rows} (held_out.json).")
    if lacking := suite.lacking(summary["tasks"]):
        count = len(suite.averaged)
        notes.append(f"\\* AVG is partial: {count - len(lacking)} of {count} tasks, without {', '.join(lacking)}.")
    if unanswered := summary.get("unanswered"):
        notes.append(f"Not supported by this method: {', '.join(unanswered)}.")
    if absent := [id for id in summary["missing"] if id not in {*lacking, *(unanswered or ())}]:
        notes.append(f"Not in this run: {', '.join(absent)}.")
    if summary["reduced"]:
        notes.append(_reduced_note(summary, suite))
    notes += summary.get("notes", [])  # from the method
    if below := below_constant(summary, suite.shown):
        notes.append(f"Not above the best constant answer: {below}.")
    if constant := same_answers(summary):
        notes.append(f"The same prediction for every example: {constant}.")
    if suite.generated:
        sample = "This is the embedded sample: generated sentences, for trying the toolkit."
        notes.append(f"{sample} Its scores say nothing about real texts.")
    return notes


def _reduced_note(summary: dict[str, Any], suite: Suite) -> str:
    """The note on the tasks in `reduced`: in what their data differs from the published data."""
    by_difference: dict[str, list[str]] = {}
    for id in summary["reduced"]:
        by_difference.setdefault(_difference_of_data(id, summary, suite), []).append(id)
    sizes = "; ".join(f"{', '.join(ids)} {text}" for text, ids in by_difference.items())
    average = " Nor is an average with such a task." if set(summary["reduced"]) & set(suite.averaged) else ""
    return f"† other data than the published data, not comparable (train/dev/test examples: {sizes}).{average}"


def _difference_of_data(id: str, summary: dict[str, Any], suite: Suite) -> str:
    """In what the data of a task in `reduced` differs from the published data."""
    official, rows = suite.tasks[id].rows, summary["tasks"][id]["rows"]
    if official and dict(official) != rows:
        return f"{_sizes(rows)} of {_sizes(official)}"
    if splits := summary.get("changed", {}).get(id):
        return f"changed, as the checksum of {' and '.join(splits)} says"
    if lines := summary.get("config", {}).get(f"imported.rows.{id}"):
        return f"a sample of {len(lines)} {summary['tasks'][id]['split']} examples"
    if suite.tasks[id].answered_by is None:
        return "scored on a part of dev"
    return f"answered by {suite.tasks[id].answered_by}"


def _sizes(rows: dict[str, int]) -> str:
    return "/".join(str(rows[split]) if split in rows else "none" for split in ("train", "dev", "test"))


def _further_table(summary: dict[str, Any], suite: Suite) -> list[str]:
    """A second table with the medians of further metrics, if there are any: a row for each metric, a column for each task."""
    scores = {id: by_metric for id in suite.tasks if (by_metric := summary["tasks"].get(id, {}).get("also"))}
    metrics = dict.fromkeys(name for by_metric in scores.values() for name in by_metric)
    table, show = [["further metrics", *(suite.tasks[id].title for id in scores)]], suite.shown.show
    for name in metrics:
        cells = [show(also[name]["median"]) if name in also else MISSING for also in scores.values()]
        table.append([metric_named(name).title, *cells])
    return [markdown_table(table)] if metrics else []
