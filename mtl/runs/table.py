"""A run's medians beside the published rows, as Markdown in the layout of the paper's Table 3."""

from collections.abc import Sequence
from typing import Any

from mtl.markdown import MISSING, markdown_table
from mtl.runs.summary import below_constant, splits_text
from mtl.tasks.metrics import METRICS
from mtl.tasks.scale import Scale
from mtl.tasks.suite import Published, Suite


def render(summary: dict[str, Any], suite: Suite) -> str:
    """The table of a summary, with notes below it."""
    tasks = [(id, task.title) for id, task in suite.tasks.items() if id in summary["tasks"]]
    scores, scale = summary["tasks"], suite.shown
    comparable = not summary["partial"] and not summary["reduced"]
    seeds = len(summary["seeds"])
    runs = f"median of {seeds}" if seeds > 1 else "one seed"
    ours = summary["title"]
    marks = {id: "†" if id in summary["reduced"] else "" for id, _ in tasks}
    header = ["", "AVG" + ("*" if not comparable else ""), *(title + marks[id] for id, title in tasks)]
    body = [
        ["metric", "mean", *(METRICS[suite.tasks[id].metric].title for id, _ in tasks)],
        [
            f"**{ours}**, {runs}",
            f"**{scale.show(summary['average'])}**",
            *(f"**{scale.show(scores[id]['median'])}**" for id, _ in tasks),
        ],
        *([name, "", *(scale.show(scores[id][name]) for id, _ in tasks)] for name in ("min", "max") if seeds > 1),
    ]
    rows = suite.published
    for row in rows:
        body.append(
            [
                _name(row),
                scale.show(row.average) if comparable else MISSING,
                *(_number(row.scores.get(id), scale) for id, _ in tasks),
            ]
        )
    for row in rows:
        floors = row.family == summary["family"] == "floor"
        if row.family == "transformer" or floors or _same(row, summary):
            body.append(
                [
                    f"ours − {row.model}",
                    scale.difference(summary["average"] - row.average) if comparable else MISSING,
                    *(
                        _difference(scores[id]["median"], row.scores.get(id), id in summary["reduced"], scale)
                        for id, _ in tasks
                    ),
                ]
            )
    parts = [f"## {suite.title}: {ours}", markdown_table([header, *body]), *_notes(summary, suite, bool(rows))]
    return "\n\n".join(parts + _further(summary, suite)) + "\n"


def _further(summary: dict[str, Any], suite: Suite) -> list[str]:
    """A second table with the medians of the tasks' further metrics, if there are any: a row for each metric, a column for each task."""
    found = {id: further for id in suite.tasks if (further := summary["tasks"].get(id, {}).get("also"))}
    metrics = dict.fromkeys(name for further in found.values() for name in further)
    if not metrics:
        return []
    show, header = suite.shown.show, ["further metrics", *(suite.tasks[id].title for id in found)]
    body = [
        [METRICS[name].title, *(show(of[name]["median"]) if name in of else MISSING for of in found.values())]
        for name in metrics
    ]
    return [markdown_table([header, *body])]


def _same(row: Published, summary: dict[str, Any]) -> bool:
    return (row.method, row.embeddings, row.variant) == tuple(summary[k] for k in ("method", "embeddings", "variant"))


def _name(row: Published) -> str:
    # The published floor is called Random, which is also the name of embeddings.
    return f"{row.model}{' guess' if row.family == 'floor' else ''} (published)"


def _number(value: float | None, scale: Scale) -> str:
    return MISSING if value is None else scale.show(value)


def _difference(ours: float, published: float | None, reduced: bool, scale: Scale) -> str:
    return MISSING if published is None or reduced else scale.difference(ours - published)


def _notes(summary: dict[str, Any], suite: Suite, published: bool) -> list[str]:
    notes = [
        f"{suite.shown.heading} on {splits_text(summary)}: {_over_seeds(summary['seeds'])}; AVG is the mean over tasks."
    ]
    if published:
        notes[0] += (
            f" Published rows are scores on the test sets; ours chose their {summary['chosen_on_dev']} on dev,"
            " which flatters scores on dev a little."
        )
    if held_out := summary.get("held_out"):
        rows = ", ".join(f"{count} of {id}" for id, count in held_out.items())
        notes.append(f"Where there is no dev file, dev is rows held out of the training file: {rows} (held_out.json).")
    if summary["missing"]:
        notes.append(
            f"\\* AVG is partial: {len(summary['tasks'])} of {len(suite.tasks)} tasks, without {', '.join(summary['missing'])}."
        )
    if summary["reduced"]:
        sizes = "; ".join(
            f"{id} {_sizes(summary['tasks'][id]['rows'])} of {_sizes(suite.tasks[id].rows)}"
            for id in summary["reduced"]
        )
        notes.append(f"† other splits than the published ones, not comparable (train/dev/test rows: {sizes}).")
        if not summary["missing"]:
            notes.append("\\* AVG includes tasks that are not comparable.")
    notes += summary.get("notes", [])  # from the method
    if below := below_constant(summary, suite.shown):
        notes.append(f"Not above the best constant answer: {below}.")
    if suite.generated:
        notes.append(
            "This is the embedded sample: generated sentences, for trying the toolkit. Its scores say nothing about real texts."
        )
    return notes


def _over_seeds(seeds: Sequence[int]) -> str:
    return f"the median over seeds {', '.join(map(str, seeds))}" if len(seeds) > 1 else f"seed {seeds[0]}"


def _sizes(rows: dict[str, int]) -> str:
    return "/".join(str(rows[split]) if split in rows else "none" for split in ("train", "dev", "test"))
