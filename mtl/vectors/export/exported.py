"""What is exported of a run, and its model card: what a folder holds and how to use it, the run's scores, its data, and its limits."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
import yaml
from torch import Tensor

from mtl.base.errors import InputError
from mtl.base.terminal import MISSING, escaped, markdown_table
from mtl.methods.predictor import Predictor
from mtl.runs.summary import Summary, read_summary
from mtl.runs.table import render
from mtl.vectors.encoders.run import RunSettings

TOLERANCE = 1e-5  # between an exported model and the run


@dataclass
class ExportSettings(RunSettings):
    """The settings of an export: those of a run's encoder, and these; each format reads some of them.

    Args:
        words: a text file, plain or gzipped, whose words get a vector too if the run looks new words up in its file of vectors.
        license: of the weights, for the model card.
    """

    words: str | None = None
    license: str | None = None


@dataclass(frozen=True)
class Export:
    """What is exported, with what its card says of it: the encoder of an LSTM, or the model of one task of a fine-tuned transformer.

    Attributes:
        predictor: the models of one seed of the run.
        encoder: of an LSTM, which knows the words of `model.reader` alone; None for the model of a task.
        looks_up: whether the run looks new words up in a file of vectors.
        task: whose model is exported; None for an encoder.
    """

    predictor: Predictor
    settings: ExportSettings
    command: str
    encoder: Any = None
    looks_up: bool = False
    task: Any = None

    @property
    def model(self) -> Any:
        """A `TrainedLstm` or a `TrainedTransformer`."""
        return self.predictor.model

    @cached_property
    def summary(self) -> Summary:
        return read_summary(self.predictor.folder.summary)

    @torch.no_grad()
    def word_vectors(self) -> Tensor:
        """The vectors of padding (zero), of the unknown word, and of the words of an LSTM's reader, float32 (ids, dim)."""
        reader = self.model.reader
        return reader.embedder(torch.arange(len(reader.vocabulary))[None])[0].float()


def check_difference(values: np.ndarray, wanted: np.ndarray, name: str, format: str, scale: float = 1.0) -> None:
    """Raise InputError if the exported model gives other values than the run, by more than TOLERANCE of this scale."""
    difference = float(np.abs(values - wanted).max())
    if not difference <= TOLERANCE * scale:
        message = f"the exported model gives other {name} than the run (they differ by up to {difference:.2g}), so nothing is written"
        raise InputError(f"{message}; use the versions of constraints.txt", key=f"--format {format}")


def card(
    export: Export,
    front: Mapping[str, Any],
    begin: Sequence[str],
    about: str,
    trained_on: Sequence[str],
    limits: Sequence[str],
) -> str:
    """A card in Markdown: front matter with the language, the licence and these values; the title and the sections `begin`; then those that all
    cards have: scores, the data of the tasks that the model (`about`) was trained on, and its limits, in sentences."""
    license, suite, tasks = export.settings.license, export.predictor.suite, export.summary["tasks"]
    matter = {"language": [suite.language], **({"license": license} if license else {}), **front}
    unlicensed = "No license is stated for the weights; that of the data and of what training began with decides."
    limits = [*limits, *([] if license else [unlicensed])]
    seed, names = str(export.predictor.seed), {id: escaped(task.title or id) for id, task in suite.tasks.items()}
    own = [f"{names[id]} {suite.shown.show(scored['scores'][seed])}" for id, scored in tasks.items()]
    data = [["task", "license of the data", "training rows"]]
    for id in trained_on:
        rows = (tasks[id].get("rows") or {}) if id in tasks else {}
        data.append([names[id], escaped(suite.tasks[id].license or "not stated"), str(rows.get("train", MISSING))])
    sections = [
        f"---\n{yaml.safe_dump(matter, sort_keys=False, allow_unicode=True)}---",
        *begin,
        f"## Evaluation\n\nThe model is that of seed {seed} of a run, which has the scores {', '.join(own)}. All seeds of the run:",
        render(dict(export.summary), suite).partition("\n\n")[2].strip(),
        f"## Training\n\n{about}:\n\n{markdown_table(data, left=2)}",
        f"The run, and this export:\n\n{code_block(str(export.summary['command']), export.command, language='sh')}",
        "## Limits\n\n" + "\n".join(f"- {limit}" for limit in limits),
    ]
    return "\n\n".join(sections) + "\n"


def encoder_card(export: Export, front: Mapping[str, Any], begin: Sequence[str]) -> str:
    """The card of an LSTM's encoder, or of its word vectors."""
    description, suite = export.encoder.description, export.predictor.suite
    title = escaped(suite.title or suite.name)
    run_looks_up = (
        " The run itself looks new words up in its file of word vectors; this export has the words of the run's data, and those that `words=`"
        " named."
    )
    limits = [
        f"Words that are not in the vocabulary share one vector, that of unknown words.{run_looks_up if export.looks_up else ''}",
        f"Texts are cut after {description.max_length} tokens, and the heads of the run are not part of the export.",
        f"The encoder was trained on the tasks above, in one language ({escaped(description.language)}); on other data it may be worse than"
        " the average of its word vectors.",
    ]
    about = f"All tasks trained the encoder together (stage 1), on the training rows of {title}"
    trained_on = [id for id in export.summary["tasks"] if f"{suite.name}/{id}" in description.trained_on]
    return card(export, front, begin, about, trained_on, limits)


def code_block(*lines: str, language: str = "python") -> str:
    """Lines of code in Markdown. No line can end the block."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", "".join(lines))), default=0))
    return "\n".join([f"{fence}{language}", *(line.replace("\n", " ") for line in lines), fence])
