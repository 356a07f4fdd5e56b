"""What the model cards of exports share: the front matter, and the sections on an encoder's scores, training and limits."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from mtl.base.terminal import MISSING, escaped, markdown_table
from mtl.tasks.metrics import metric_named
from mtl.tasks.task import Task
from mtl.vectors.export.format import CardFacts, Export

NOT_STATED = "not stated"


def card(facts: CardFacts, front: Mapping[str, Any], sections: Sequence[str]) -> str:
    """A card of these sections. Its front matter has the language, the licence and these values."""
    license = {"license": facts.license} if facts.license else {}
    matter = {"language": [facts.suite.language], **license, **front}
    return f"---\n{yaml.safe_dump(matter, sort_keys=False, allow_unicode=True)}---\n\n" + "\n\n".join(sections) + "\n"


def score_cells(facts: CardFacts, task: str, seed: str) -> list[str]:
    """A task's score of this seed, and the median, the minimum and the maximum of all."""
    scores, scale = facts.summary["tasks"][task], facts.suite.shown
    return [scale.show(scores["scores"][seed]), *(scale.show(scores[key]) for key in ("median", "min", "max"))]


def encoder_summary(export: Export) -> str:
    parts, pooled = export.parts, {"max": "maximum", "mean": "mean"}[export.pooling]
    join = ", each joined with its word's vector" if parts.join_input else ""
    centred = " The mean vector of the training texts is subtracted." if export.centre is not None else ""
    return (
        f"{len(parts.words):,} word vectors, a bidirectional LSTM with {parts.num_layers} layers of 2 × {parts.hidden_size} units, and the"
        f" {pooled} over its outputs{join}.{centred}"
    )


def shared_sections(export: Export) -> list[str]:
    """The sections that all cards have."""
    return [_evaluation(export), _training(export), _limits(export)]


def _evaluation(export: Export) -> str:
    summary, seed = export.summary, str(export.description.seed)
    rows = [["task", "metric", "split", f"seed {seed}", "median", "minimum", "maximum", "constant"]]
    for id, scores in summary["tasks"].items():
        constant = scores.get("constant")
        shown = MISSING if constant is None else export.suite.shown.show(constant)
        named = [task_title(export.suite.tasks[id]), metric_named(scores["metric"]).title]
        rows.append([*named, escaped(scores.get("split", "dev")), *score_cells(export, id, seed), shown])
    seeds = len(summary["seeds"])
    return (
        f"## Evaluation\n\nScores on {escaped(export.suite.title or export.suite.name)} of the run that this encoder is from, whose heads"
        f" are not part of the export. The encoder is that of seed {seed}; median, minimum and maximum are over"
        f" {seeds} seed{'s' if seeds > 1 else ''}; `constant` is the score of the best constant answer.\n\n{markdown_table(rows, left=3)}"
    )


def _training(export: Export) -> str:
    """The data that the encoder was trained on, and the commands."""
    summary, tasks = export.summary, export.suite.tasks
    trained = [id for id in summary["tasks"] if f"{export.suite.name}/{id}" in export.description.trained_on]
    rows = [["task", "license of the data", "training rows"]]
    for id in trained:
        numbers: Mapping[str, Any] = summary["tasks"][id].get("rows") or {}
        license = escaped(tasks[id].license or NOT_STATED)
        rows.append([task_title(tasks[id]), license, str(numbers.get("train", MISSING))])
    reduced = [task_title(tasks[id]) for id in summary["reduced"] if id in trained]
    note = f"\n\nNot the published data, but reduced or changed data: {', '.join(reduced)}." if reduced else ""
    return (
        "## Training Details\n\nAll tasks trained the encoder together (stage 1), on the training rows of"
        f" {escaped(export.suite.title or export.suite.name)}:\n\n{markdown_table(rows, left=2)}{note}\n\n"
        f"The run, and this export:\n\n{code_block(str(summary['command']), export.command, language='sh')}"
    )


def _limits(export: Export) -> str:
    parts = export.parts
    unknown = "Words that are not in the vocabulary share one vector, that of unknown words."
    if parts.all_words:
        unknown += " The run itself looks new words up in its file of word vectors; this export has the words of the run's data, and those"
        unknown += " that `words=` named."
    limits = [
        unknown,
        f"Texts are cut after {parts.max_length} tokens.",
        f"The encoder was trained on the tasks above, in one language ({escaped(export.description.language)}); on other data it may be"
        " worse than the average of its word vectors.",
    ]
    if export.license is None:
        limits.append("No license is stated for the weights; that of the data and of the word vectors decides.")
    return "## Limits\n\n" + "\n".join(f"- {limit}" for limit in limits)


def task_title(task: Task) -> str:
    """As cards name a task, in Markdown."""
    return escaped(task.title or task.id)


def code_block(*lines: str, language: str = "python") -> str:
    """Lines of code in Markdown. No line can end the block."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", "".join(lines))), default=0))
    return "\n".join([f"{fence}{language}", *(line.replace("\n", " ") for line in lines), fence])
