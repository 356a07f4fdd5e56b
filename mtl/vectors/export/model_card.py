"""What the model cards of exports share: the front matter, and the sections on scores, training and limits."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from mtl.base.terminal import MISSING, escaped, markdown_table
from mtl.tasks.metrics import metric_named
from mtl.tasks.task import Task
from mtl.vectors.export.parts import CardFacts, Export

NOT_STATED = "not stated"


def card(facts: CardFacts, front: Mapping[str, Any], sections: Sequence[str]) -> str:
    """A card of these sections. Its front matter has the language, the licence and these values."""
    license = {"license": facts.license} if facts.license else {}
    matter = {"language": [facts.suite.language], **license, **front}
    return f"---\n{yaml.safe_dump(matter, sort_keys=False, allow_unicode=True)}---\n\n" + "\n\n".join(sections) + "\n"


def encoder_summary(export: Export) -> str:
    parts, pooled = export.parts, {"max": "maximum", "mean": "mean"}[export.pooling]
    join = ", each joined with its word's vector" if parts.join_input else ""
    centred = " The mean vector of the training texts is subtracted." if export.centre is not None else ""
    return (
        f"{len(parts.words):,} word vectors, a bidirectional LSTM with {parts.num_layers} layers of 2 × {parts.hidden_size} units, and the"
        f" {pooled} over its outputs{join}.{centred}"
    )


def shared_sections(export: Export) -> list[str]:
    """The sections that the cards of all encoders have."""
    suite, parts, seed = export.suite, export.parts, export.description.seed
    title, scored = escaped(suite.title or suite.name), list(export.summary["tasks"])
    unknown = "Words that are not in the vocabulary share one vector, that of unknown words."
    if parts.all_words:
        unknown += " The run itself looks new words up in its file of word vectors; this export has the words of the run's data, and those"
        unknown += " that `words=` named."
    about = f"Scores on {title} of the run that this encoder is from, whose heads are not part of the export. The encoder is that of seed {seed}"
    trained = f"All tasks trained the encoder together (stage 1), on the training rows of {title}"
    limits = [
        unknown,
        f"Texts are cut after {parts.max_length} tokens.",
        f"The encoder was trained on the tasks above, in one language ({escaped(export.description.language)}); on other data it may be"
        " worse than the average of its word vectors.",
    ]
    return [
        evaluation_section(export, scored, str(seed), about),
        training_section(
            export, [id for id in scored if f"{suite.name}/{id}" in export.description.trained_on], trained
        ),
        limits_section(export, limits, "that of the data and of the word vectors decides"),
    ]


def evaluation_section(facts: CardFacts, ids: Sequence[str], seed: str, about: str) -> str:
    """The scores of these tasks: that of this seed, and the median, the minimum and the maximum of all."""
    summary, scale = facts.summary, facts.suite.shown
    rows = [["task", "metric", "split", f"seed {seed}", "median", "minimum", "maximum", "constant"]]
    for id in ids:
        scores = summary["tasks"][id]
        named = [task_title(facts.suite.tasks[id]), metric_named(scores["metric"]).title]
        numbers = [scores["scores"][seed], *(scores[key] for key in ("median", "min", "max")), scores.get("constant")]
        shown = [MISSING if number is None else scale.show(number) for number in numbers]
        rows.append([*named, escaped(scores.get("split", "dev")), *shown])
    seeds = len(summary["seeds"])
    return (
        f"## Evaluation\n\n{about}; median, minimum and maximum are over {seeds} seed{'s' if seeds > 1 else ''}; `constant` is the score of"
        f" the best constant answer.\n\n{markdown_table(rows, left=3)}"
    )


def training_section(facts: CardFacts, ids: Sequence[str], about: str) -> str:
    """The data of these tasks, which the model was trained on, and the commands."""
    summary, tasks = facts.summary, facts.suite.tasks
    rows = [["task", "license of the data", "training rows"]]
    for id in ids:
        numbers: Mapping[str, Any] = summary["tasks"].get(id, {}).get("rows") or {}
        license = escaped(tasks[id].license or NOT_STATED)
        rows.append([task_title(tasks[id]), license, str(numbers.get("train", MISSING))])
    reduced = [task_title(tasks[id]) for id in summary["reduced"] if id in ids]
    note = f"\n\nNot the published data, but reduced or changed data: {', '.join(reduced)}." if reduced else ""
    return (
        f"## Training Details\n\n{about}:\n\n{markdown_table(rows, left=2)}{note}\n\n"
        f"The run, and this export:\n\n{code_block(str(summary['command']), facts.command, language='sh')}"
    )


def limits_section(facts: CardFacts, limits: Sequence[str], decides: str) -> str:
    """These limits, and without a stated licence what decides."""
    license = [] if facts.license else [f"No license is stated for the weights; {decides}."]
    return "## Limits\n\n" + "\n".join(f"- {limit}" for limit in [*limits, *license])


def task_title(task: Task) -> str:
    """As cards name a task, in Markdown."""
    return escaped(task.title or task.id)


def code_block(*lines: str, language: str = "python") -> str:
    """Lines of code in Markdown. No line can end the block."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", "".join(lines))), default=0))
    return "\n".join([f"{fence}{language}", *(line.replace("\n", " ") for line in lines), fence])
