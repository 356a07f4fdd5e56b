"""The files of the embedded suite `superlim-sample`: small tasks in Superlim's file layout, with generated Swedish texts.

As in the official files, test rows have their labels, the word tasks and the synonyms have no dev file, and two tasks have test rows only."""

import json
from collections.abc import Callable, Iterator

from samples.superlim import captions, choices, grammaticality, news, opinions, senses, winogender, words
from samples.superlim.rows import Splits

TASKS: dict[str, Callable[[], Splits]] = {
    "absabank-imm": opinions.reviews,
    "argumentation-sentences": opinions.arguments,
    "dalaj-ged-superlim": grammaticality.sentences,
    "sweparaphrase": captions.paraphrases,
    "swefaq": choices.questions,
    "swenli": captions.inferences,
    "swewic": senses.pairs,
    "swewinograd": senses.pronouns,
    "swediagnostics": captions.diagnostics,
    "swewinogender": winogender.triples,
    "supersim-superlim-similarity": words.similarities,
    "sweanalogy": words.analogies,
    "swesat-synonyms": choices.synonyms,
    "swedn": news.articles,
}
"""The rows of each task, by its id."""
FOLDERS = {"supersim-superlim-similarity": "supersim-superlim"}  # of tasks whose folder is not named after them


def superlim_files() -> Iterator[tuple[str, str]]:
    """The path and the text of each file: a folder with .jsonl files for each task."""
    for task, make in TASKS.items():
        for split, rows in make().items():
            lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            yield f"{FOLDERS.get(task, task)}/{task}_{split}.jsonl", "".join(lines)
