"""Export a finished run's encoder or word vectors, as a folder that other programs read, with a model card."""

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
import yaml
from torch import Tensor

from mtl.base.errors import InputError
from mtl.base.extras import check_installed
from mtl.base.files import replacing, write_text
from mtl.base.folders import check_new_folder, new_folder
from mtl.base.typed import check_choice, check_known, typed
from mtl.base.wings import lazy
from mtl.base.wording import MISSING, escaped, markdown_table
from mtl.data.files import text_lines
from mtl.data.text import UNKNOWN, Vocabulary, moses
from mtl.embedders.new_words import WordReader
from mtl.methods.lstm.trained import TrainedLstm
from mtl.runs.records import read_summary
from mtl.runs.table import render
from mtl.vectors.encoders.run import RunEncoder, RunSettings, open_run

logger = logging.getLogger("mtl")

VECTORS = "vectors.vec"


@dataclass
class ExportSettings(RunSettings):
    """The settings of an export: those of a run's encoder, and these; each format reads some of them."""

    words: str | None = None  # a text file whose words get a vector too if the run looks new words up in its vectors
    license: str | None = None  # of the weights, for the model card


@dataclass(frozen=True)
class Export:
    """The encoder of an LSTM that is exported, and what its card says of it."""

    encoder: RunEncoder  # knows the words of its reader, and no others
    settings: ExportSettings
    command: str  # the command line of the export
    looks_up: bool  # whether the run looks new words up in a file of vectors

    @property
    def model(self) -> Any:
        """A `TrainedLstm`."""
        return self.encoder.model

    @torch.no_grad()
    def word_vectors(self) -> Tensor:
        """The vectors of padding (zero), of the unknown word, and of the words of the reader, float32 (ids, dim)."""
        reader = self.model.reader
        return reader.embedder(torch.arange(len(reader.vocabulary))[None])[0].float()


@dataclass(frozen=True)
class ExportFormat:
    """A form in which an encoder is exported."""

    keys: tuple[str, ...]  # the settings of `ExportSettings` that it reads
    # Writes the files and the card to a folder. Raises InputError for an encoder whose vectors the format cannot express.
    write: Callable[[Export, Path], None]
    extra: str | None = None  # the extra of mtl-baselines with the packages that it needs (`mtl.base.extras`)


def write_vectors(export: Export, folder: Path) -> None:
    """Write the vectors of all words in word2vec's text format, and their card. Nine significant digits restore each float32 value exactly."""
    words, vectors = export.model.reader.vocabulary.words, export.word_vectors()[Vocabulary.FIRST :].numpy()
    with replacing(folder / VECTORS) as partial, partial.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"{len(words)} {vectors.shape[1]}\n")
        for word, vector in zip(words, vectors, strict=True):
            file.write(f"{word} {' '.join(f'{number:.9g}' for number in vector)}\n")
    loading = f'vectors = KeyedVectors.load_word2vec_format("{VECTORS}")'
    introduction = [
        f"# Word vectors of {escaped(export.encoder.description.title)}",
        f"{len(words):,} vectors of {vectors.shape[1]} numbers, as stage 1 of the training left them, in word2vec's text format: exact"
        " float32. Words are Moses tokens; case counts. The vector of unknown words is not among them.",
        f"## Usage\n\n{code_block('from gensim.models import KeyedVectors', '', loading)}\n\n"
        f"In mtl: `embeddings=fasttext embeddings.path={VECTORS}`.",
    ]
    write_text(folder / "README.md", card(export, {}, introduction))


# By the name that `mtl export --format` takes.
EXPORT_FORMATS = {
    "sentence-transformers": ExportFormat(
        ("seed", "words", "license", "pooling", "centre", "suite_data_dir"),
        lazy("mtl.vectors.export.sentence_transformer:write"),
        extra="sentence-transformers",
    ),
    "vectors": ExportFormat(("seed", "words", "license"), write_vectors),
}


def export_run(run_dir: Path, out: Path, format: str, settings: Mapping[str, Any], command: str) -> None:
    """Write a finished run's encoder to a new folder, with settings of `ExportSettings`. Raises InputError for a folder
    that is not empty, an unknown format or key, a run without models or of another form, or a missing package."""
    check_choice("--format", format, EXPORT_FORMATS)
    kind = EXPORT_FORMATS[format]
    check_known(settings, set(kind.keys))
    check_new_folder(out)
    if kind.extra is not None:
        check_installed(kind.extra, key=f"--format {format}")
    export = _open_export(run_dir, typed(ExportSettings, settings), command)
    with new_folder(out) as partial:
        kind.write(export, partial)
    hint = "; all others are unknown to it, unlike the run: name a file of texts with words=" if export.looks_up else ""
    logger.info("%s: knows %s words%s", out, f"{len(export.model.reader.vocabulary.words):,}", hint)


def _open_export(run_dir: Path, settings: ExportSettings, command: str) -> Export:
    """The encoder of an LSTM, which knows the words of the run and of `words=`, and no others."""
    encoder = open_run(run_dir, settings)
    model = encoder.model
    if not isinstance(model, TrainedLstm):
        raise InputError("this run's encoder is a transformer, and only an LSTM can be exported; use mtl encode")
    if not isinstance(model.reader, WordReader):
        message = "a word's vector depends on its text, so other programs cannot look it up"
        raise InputError(message, key="embeddings", value=model.config.embeddings.name)
    looks_up, words = model.reader.source is not None, {UNKNOWN}  # it stands for a text without a token
    if settings.words is not None:
        for line in text_lines([Path(settings.words)], "tokenizing"):
            words.update(moses(model.language)(line))
        if not looks_up:
            message = "this run has vectors for the words of its vocabulary alone; drop words="
            raise InputError(message, key="words", value=settings.words)
    model.reader.look_up(sorted(words))
    model.reader.source = None
    model.config = replace(model.config, trainer=replace(model.config.trainer, precision="32-true"))
    return Export(encoder, settings, command, looks_up)


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
    if not license:
        limits.append("No license is stated for the weights; that of the data and of what training began with decides.")
    sections = [
        f"---\n{yaml.safe_dump(front_matter, sort_keys=False, allow_unicode=True)}---",
        *introduction,
        f"## Evaluation\n\nThe model is that of seed {seed} of a run, which has the scores {', '.join(scores)}. All seeds of the run:",
        render(dict(summary), suite).partition("\n\n")[2].strip(),
        "## Training\n\nAll tasks trained the encoder together (stage 1), on the training rows of"
        f" {escaped(suite.title or suite.name)}:\n\n{markdown_table(data, left=2)}",
        f"The run, and this export:\n\n{code_block(str(summary['command']), export.command, language='sh')}",
        "## Limits\n\n" + "\n".join(f"- {limit}" for limit in limits),
    ]
    return "\n\n".join(sections) + "\n"


def code_block(*lines: str, language: str = "python") -> str:
    """Lines of code in Markdown. No line can end the block."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", "".join(lines))), default=0))
    return "\n".join([f"{fence}{language}", *(line.replace("\n", " ") for line in lines), fence])
