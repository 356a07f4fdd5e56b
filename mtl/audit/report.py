"""The report of an audit, in Markdown that is also readable in a terminal."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mtl.audit.findings import Finding, Part
from mtl.audit.tokens import Tokens
from mtl.config.schema import Config
from mtl.embedders import EMBEDDERS
from mtl.markdown import MISSING, inert, markdown_table
from mtl.tasks.suite import Suite
from mtl.tasks.targets import target_kind
from mtl.tasks.task import SPLITS, Task


def render(
    config: Config,
    suite: Suite,
    folder: Path,
    tasks: Sequence[tuple[Task, dict[str, Part]]],
    tokens: Tokens,
    findings: Sequence[Finding],
    notes: Sequence[str],
) -> str:
    """The report. tasks: each with the rows to show, by split, including held-out rows. folder: of the data."""
    sections = [
        f"## {inert(suite.title)}: audit of {inert(str(folder))}",
        _sizes(config, tasks, tokens),
        _note(config, tokens),
        _targets(tasks),
        "\n".join(["### Notes", "", *(f"- {inert(note)}" for note in notes)]) if notes else "",
        "\n".join(["### Findings", "", *(f"- {inert(str(finding))}" for finding in findings)]) if findings else "",
        verdict(findings),
    ]
    return "\n\n".join(filter(None, sections))


def verdict(findings: Sequence[Finding]) -> str:
    """The last line of the report: the number of findings."""
    if not findings:
        return "nothing found"
    tasks = len({finding.task for finding in findings})
    return f"{_count(len(findings), 'finding')} in {_count(tasks, 'task')}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _sizes(config: Config, tasks: Sequence[tuple[Task, dict[str, Part]]], tokens: Tokens) -> str:
    header = ["task", "split", "rows", "published", "median length", "longest", "cut", "unknown words"]
    if tokens.from_ngrams is not None:
        header.append("from n-grams")
    table = [header]
    for task, parts in tasks:
        for split in dict.fromkeys([*parts, *SPLITS]):
            published = task.rows.get(split)
            if split in parts:
                numbers = _numbers(parts[split], tokens, config.max_length)
            elif task.files.get(split) is not None or published is not None:
                numbers = ["none", *[MISSING] * 4]
            else:
                continue
            shown = MISSING if published is None else str(published)
            table.append(
                [task.id, split, numbers[0], shown, *numbers[1:], *[MISSING] * (len(header) - len(numbers) - 3)]
            )
    return markdown_table(table, left=2)


def _numbers(part: Part, tokens: Tokens, max_length: int) -> list[str]:
    lengths = tokens.lengths[tokens.of(part)]
    shares = [MISSING if tokens.unknown is None else f"{tokens.share(part, tokens.unknown):.1%}"]
    if tokens.from_ngrams is not None:
        shares.append(f"{tokens.share(part, tokens.from_ngrams):.1%}")
    cut = f"{tokens.share_cut(part, max_length):.1%}"
    return [str(len(part.rows)), f"{np.median(lengths):g}", str(lengths.max()), cut, *shares]


def _note(config: Config, tokens: Tokens) -> str:
    embeddings = "no embeddings: the method reads none, or there are no training rows"
    if tokens.unknown is not None:
        embeddings = EMBEDDERS[config.embeddings.name].audit_note(config.embeddings)
    return (
        f"Lengths are in tokens, of each text of a pair separately; cut: share of texts longer than max_length={config.max_length};"
        f" unknown words: share of all tokens, with {embeddings}."
        " Held-out rows are part of the training file and are also counted there."
    )


def _targets(tasks: Sequence[tuple[Task, dict[str, Part]]]) -> str:
    table = [["task", "split", "targets"]]
    for task, parts in tasks:
        kind = target_kind(task)
        for split, part in parts.items():
            values = np.array([row.target for row in part.rows if row.target is not None], dtype=kind.dtype)
            if len(values):
                table.append([task.id, split, inert(kind.distribution(values))])
    return markdown_table(table, left=3) if len(table) > 1 else ""
