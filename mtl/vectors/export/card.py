"""The model card of an export, in Markdown."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from mtl.base.wording import MISSING, escaped, markdown_table
from mtl.runs.summary import read_summary
from mtl.runs.table import render
from mtl.vectors.export.export import Export


def card(export: Export, metadata: Mapping[str, Any], introduction: Sequence[str]) -> str:
    """A model card in Markdown: the metadata, with the language and the licence; the introduction, which is a title and
    sections; then scores, the data of the tasks that trained the encoder, and limits."""
    predictor, description, license = export.encoder.predictor, export.encoder.description, export.settings.license
    suite, summary, seed = predictor.suite, read_summary(predictor.folder.summary), str(predictor.seed)
    front_matter = {"language": [suite.language], **({"license": license} if license else {}), **metadata}
    names = {id: escaped(task.title or id) for id, task in suite.tasks.items()}
    scores = [f"{names[id]} {suite.shown.show(scored['scores'][seed])}" for id, scored in summary["tasks"].items()]
    data = [["task", "license of the data", "training rows"]]
    for id, scored in summary["tasks"].items():
        if f"{suite.name}/{id}" in description.trained_on:
            rows = (scored.get("rows") or {}).get("train", MISSING)
            data.append([names[id], escaped(suite.tasks[id].license or "not stated"), str(rows)])
    sections = [
        f"---\n{yaml.safe_dump(front_matter, sort_keys=False, allow_unicode=True)}---",
        *introduction,
        f"## Evaluation\n\nThe model is that of seed {seed} of a run, which has the scores {', '.join(scores)}. All seeds of the run:",
        render(dict(summary), suite).partition("\n\n")[2].strip(),
        "## Training\n\nAll tasks trained the encoder together (stage 1), on the training rows of"
        f" {escaped(suite.title or suite.name)}:\n\n{markdown_table(data, left=2)}",
        f"The run, and this export:\n\n{code_block(str(summary['command']), export.command, language='sh')}",
        "## Limits\n\n" + "\n".join(f"- {limit}" for limit in _limits(export)),
    ]
    return "\n\n".join(sections) + "\n"


def _limits(export: Export) -> list[str]:
    """What the encoder cannot do, in sentences."""
    description = export.encoder.description
    unknown_words = "Words that are not in the vocabulary share one vector, that of unknown words."
    if export.looks_up:
        unknown_words += (
            " The run itself looks new words up in its file of word vectors; this export has the words of the run's data, and those that"
            " `words=` named."
        )
    limits = [
        unknown_words,
        f"Texts are cut after {description.max_length} tokens, and the heads of the run are not part of the export.",
        f"The encoder was trained on the tasks above, in one language ({escaped(description.language)}); on other data it may be worse than"
        " the average of its word vectors.",
    ]
    if not export.settings.license:
        limits.append("No license is stated for the weights; that of the data and of what training began with decides.")
    return limits


def code_block(*lines: str, language: str = "python") -> str:
    """Lines of code in Markdown. No line can end the block."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", "".join(lines))), default=0))
    return "\n".join([f"{fence}{language}", *(line.replace("\n", " ") for line in lines), fence])
