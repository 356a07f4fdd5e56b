"""The model card of an export, in Markdown. Its text stands in card.md, and its introduction in a file for each format."""

import re
from pathlib import Path
from typing import Any

import yaml

from mtl.base.wording import MISSING, escaped, markdown_table
from mtl.runs.records import read_summary
from mtl.runs.table import render
from mtl.vectors.export.export import Export

TEMPLATES = Path(__file__).parent
WORDS_OF_THE_RUN = (
    " The run itself looks new words up in its file of word vectors; this export has the words of the run's data, and those that"
    " `words=` named."
)
NO_LICENSE = "\n- No license is stated for the weights; that of the data and of what training began with decides."


def card(export: Export, file_name: str, **values: Any) -> str:
    """The card of an export. `file_name` is that of the introduction in this folder: metadata beside the language and the licence, a line `---`, and
    sections. These may name `encoder`, its escaped `title`, the number of `words`, and the values."""
    encoder, license = export.encoder, export.settings.license
    predictor, description = encoder.predictor, encoder.description
    suite, summary, seed = predictor.suite, read_summary(predictor.folder.summary), str(predictor.seed)
    titles = {id: escaped(task.title or id) for id, task in suite.tasks.items()}
    scores = [f"{titles[id]} {suite.shown.show(scored['scores'][seed])}" for id, scored in summary["tasks"].items()]
    license_lines = [["task", "license of the data", "training rows"]]
    for id, scored in summary["tasks"].items():
        if f"{suite.name}/{id}" in description.trained_on:
            rows = (scored.get("rows") or {}).get("train", MISSING)
            license_lines.append([titles[id], escaped(suite.tasks[id].license or "not stated"), str(rows)])
    metadata = {"language": [suite.language], **({"license": license} if license else {})}
    further_metadata, _, introduction = (TEMPLATES / file_name).read_text(encoding="utf-8").rstrip().partition("---\n")
    values |= {"title": escaped(description.title), "words": len(export.reader.vocabulary.words)}
    template = (TEMPLATES / "card.md").read_text(encoding="utf-8")
    return template.format(
        metadata=yaml.safe_dump(metadata, sort_keys=False, allow_unicode=True) + further_metadata,
        introduction=introduction.format(encoder=encoder, **values),
        seed=seed,
        scores=", ".join(scores),
        table=render(dict(summary), suite).partition("\n\n")[2].strip(),  # without its heading
        suite=escaped(suite.title or suite.name),
        data=markdown_table(license_lines, left=2),
        commands=code_block(str(summary["command"]), export.command),
        words_of_the_run=WORDS_OF_THE_RUN if export.looks_up else "",
        encoder=encoder,
        language=escaped(description.language),
        no_license="" if license else NO_LICENSE,
    )


def code_block(*commands: str) -> str:
    """Command lines in Markdown. None of them can end the block."""
    longest = max(map(len, re.findall("`+", "".join(commands))), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([f"{fence}sh", *(command.replace("\n", " ") for command in commands), fence])
