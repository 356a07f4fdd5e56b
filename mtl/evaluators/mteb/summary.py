"""The scores and costs of one evaluation: the content of its summary.json, and its table."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from mtl.encoders.kind import Description
from mtl.evaluators.mteb.benchmark import Benchmark
from mtl.files import format_bytes
from mtl.markdown import MISSING, escaped, markdown_table
from mtl.progress import format_duration

EXACT, REDUCED, OTHER = "exact", "reduced", "stand-in"  # whether a task's rows are the benchmark's


def seen_by(description: Description, benchmark: Benchmark) -> dict[str, list[str]]:
    """The benchmark's tasks whose training rows the encoder has seen: by name, the tasks of suites that have them."""
    found = {
        name: [id for id in task.seen_in if id in description.trained_on] for name, task in benchmark.tasks.items()
    }
    return {name: ids for name, ids in found.items() if ids}


def is_comparable(benchmark: Benchmark, task: str, data: str) -> bool:
    """Whether a score may stand beside published ones: on exact data, and scored as they were. data: as EXACT."""
    return data == EXACT and benchmark.tasks[task].not_comparable is None


def summarize(
    benchmark: Benchmark,
    description: Description,
    fingerprint: str,
    settings: Mapping[str, Any],
    records: Mapping[str, Mapping[str, Any]],
    choice: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """The summary of an evaluation. records: the content of `tasks/NAME.json`, by task.

    Scores are × 100. `average` is the mean over the tasks, `average_by_type` that of the types' means; both are over the tasks that
    have scores, on any data. `partial` is true if a task of the benchmark is missing. `not_comparable` lists the tasks whose scores do
    not belong beside published ones; `seen` those with training rows that the encoder was trained on. choice: what was tried to choose
    the settings.
    """
    tasks = {name: dict(records[name]) for name in benchmark.tasks if name in records}
    scores = {name: float(of["score"]) for name, of in tasks.items()}
    seconds, encoding = (sum(of[key] for of in tasks.values()) for key in ("seconds", "encoding_seconds"))
    sentences = sum(of["sentences"] for of in tasks.values())
    return {
        "benchmark": benchmark.name,
        "encoder": asdict(description),
        "fingerprint": fingerprint,
        "settings": dict(settings),
        "choice": choice,
        "tasks": tasks,
        "by_type": benchmark.type_means(scores),
        "average": benchmark.mean(scores),
        "average_by_type": benchmark.mean_of_types(scores),
        "partial": bool(benchmark.missing(tasks)),
        "missing": benchmark.missing(tasks),
        "not_comparable": [name for name, of in tasks.items() if not is_comparable(benchmark, name, of["data"])],
        "seen": {name: ids for name, ids in seen_by(description, benchmark).items() if name in tasks},
        "cost": {
            "seconds_per_task": seconds / len(tasks) if tasks else None,
            "sentences_per_second": sentences / encoding if encoding else None,
            "parameters": description.parameters,
            "parameters_without_embeddings": description.parameters_without_embeddings,
            "memory": description.memory,
            "dim": description.dim,
        },
    }


def render_table(benchmark: Benchmark, summary: Mapping[str, Any]) -> str:
    """The table of one evaluation in Markdown: a line for each task, the means of types and both averages, and notes."""
    tasks, body = summary["tasks"], []
    for type_name, of in benchmark.types.items():
        scored = [name for name in of.tasks if name in tasks]
        body += [_task_line(name, of.metric_title, summary) for name in scored]
        if scored:
            mean = _number(summary["by_type"][type_name], summary, list(of.tasks))
            body.append([escaped(f"{of.title}, mean"), "", "", mean, "", ""])
    for title, key in (("AVG, tasks", "average"), ("AVG, types", "average_by_type")):
        body.append([title, "", "", _number(summary[key], summary, list(benchmark.tasks)), "", ""])
    table = markdown_table([["", "metric", "data", "score", "seconds", "sentences/s"], *body], left=3)
    notes = "\n".join(f"- {escaped(note)}" for note in _first_notes(summary) + _notes(benchmark, summary))
    return f"# {escaped(benchmark.title)}: {escaped(summary['encoder']['title'])}\n\n{table}\n\n{notes}\n"


def _task_line(name: str, metric: str, summary: Mapping[str, Any]) -> list[str]:
    of = summary["tasks"][name]
    rate = f"{of['sentences'] / of['encoding_seconds']:,.0f}" if of["encoding_seconds"] else MISSING
    score = _number(of["score"], summary, [name])
    return [escaped(name), metric, escaped(of["data"]), score, f"{of['seconds']:.1f}", rate]


def _number(score: float | None, summary: Mapping[str, Any], names: Sequence[str]) -> str:
    """A score or a mean over these tasks, with the marks that the notes explain."""
    if score is None:
        return MISSING
    scored = [name for name in names if name in summary["tasks"]]
    marks = {
        "*": len(scored) < len(names),
        "†": any(summary["tasks"][name]["data"] != EXACT for name in scored),
        "‡": any(name in summary["seen"] for name in scored),
    }
    return f"{score:.2f}" + "".join(mark for mark, has in marks.items() if has)


def _first_notes(summary: Mapping[str, Any]) -> list[str]:
    """What was scored: the settings in words, and the size."""
    settings = summary["encoder"]["settings"]
    return [*([f"{settings[0].upper()}{settings[1:]}."] if settings else []), _size(summary["cost"])]


def _size(cost: Mapping[str, Any]) -> str:
    """The encoder's size and the time of a task, in a sentence."""
    return (
        f"{cost['dim']} dimensions, {cost['parameters']:,} parameters ({cost['parameters_without_embeddings']:,} without "
        f"embeddings), {format_bytes(cost['memory'])}, {format_duration(cost['seconds_per_task'] or 0)} a task."
    )


def _notes(benchmark: Benchmark, summary: Mapping[str, Any]) -> list[str]:
    """Notes that explain the marks, in sentences."""
    tasks, notes = summary["tasks"], ["Scores × 100, by mteb's own evaluation."]
    if summary["missing"]:
        notes.append(f"* partial; without scores: {', '.join(summary['missing'])}.")
    for name, of in tasks.items():
        if of["data"] != EXACT:
            notes.append(
                f"† {name}: {of['data']} data ({'; '.join(of['differences'])}); not comparable with published scores."
            )
    notes += not_comparable_notes(benchmark, list(tasks))
    for name, ids in summary["seen"].items():
        notes.append(f"‡ {name}: the encoder was trained on its training rows ({', '.join(ids)}).")
    if choice := summary["choice"]:
        notes.append(choice_note(choice))
    return notes


def not_comparable_notes(benchmark: Benchmark, names: Sequence[str]) -> list[str]:
    """A note for each of these tasks whose scores do not belong beside published ones on any data."""
    found = {name: why for name in names if (why := benchmark.tasks[name].not_comparable)}
    return [f"{name}: not comparable with published scores: {why}." for name, why in found.items()]


def choice_note(choice: Mapping[str, Any]) -> str:
    """What was chosen, on which tasks, and how many combinations were tried."""
    chosen = ", ".join(f"{key}={value}" for key, value in choice["chosen"].items())
    return (
        f"{chosen}: the best of {len(choice['tried'])} combinations by the mean on the {choice['split']} rows of"
        f" {', '.join(choice['tasks'])}."
    )
