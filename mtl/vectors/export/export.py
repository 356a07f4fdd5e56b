"""Export a finished run's encoder or word vectors, as a folder that other programs read, with a model card."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
import yaml
from torch import Tensor

from mtl.base.errors import InputError
from mtl.base.extras import check_installed
from mtl.base.files import write_text
from mtl.base.folders import check_new_folder, new_folder
from mtl.base.log import logger
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

TEMPLATES = Path(__file__).parent  # card.md has the text of the card, a file for each format its introduction
WORDS_OF_THE_RUN = (
    " The run itself looks new words up in its file of word vectors; this export has the words of the run's data, and those that"
    " `words=` named."
)
NO_LICENSE = "\n- No license is stated for the weights; that of the data and of what training began with decides."


@dataclass
class ExportSettings(RunSettings):
    """The settings of an export: those of a run's encoder, and these; each format reads some of them."""

    words: str | None = None  # a text file whose words get a vector too if the run looks new words up in its vectors
    license: str | None = None  # of the weights, for the model card


@dataclass(frozen=True)
class Export:
    """The encoder of an LSTM that is exported, and what its card says of it."""

    encoder: RunEncoder
    model: TrainedLstm  # that of the encoder
    reader: WordReader  # that of the model, which knows the exported words and no others
    settings: ExportSettings
    command: str  # the command line of the export
    looks_up: bool  # whether the run looks new words up in a file of vectors

    @torch.no_grad()
    def word_vectors(self) -> Tensor:
        """The vectors of padding (zero), of the unknown word, and of the words of the reader, float32 (ids, dim)."""
        return self.reader.embedder(torch.arange(len(self.reader.vocabulary))[None])[0].float()


@dataclass(frozen=True)
class ExportFormat:
    keys: tuple[str, ...]  # the settings of `ExportSettings` that it reads
    # Writes the files and the card to a folder. Raises InputError for an encoder whose vectors the format cannot express.
    write: Callable[[Export, Path], None]
    extra: str | None = None  # the extra of mtl-baselines with the packages that it needs (`mtl.base.extras`)


def export_run(run_dir: Path, out: Path, format: str, settings: Mapping[str, Any], command: str) -> None:
    """Write a finished run's encoder to a new folder, with settings of `ExportSettings`. Raises InputError for what cannot be exported."""
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
    logger.info("%s: knows %s words%s", out, f"{len(export.reader.vocabulary.words):,}", hint)


def _open_export(run_dir: Path, settings: ExportSettings, command: str) -> Export:
    """The encoder of an LSTM, changed to know the words of the run and of `words=` alone, in float32. Raises InputError if it cannot be exported."""
    encoder = open_run(run_dir, settings)
    model = encoder.model
    if not isinstance(model, TrainedLstm):
        raise InputError("this run's encoder is a transformer, and only an LSTM can be exported; use mtl encode")
    reader = model.embeddings
    if not isinstance(reader, WordReader):
        message = "a word's vector depends on its text, so other programs cannot look it up"
        raise InputError(message, key="embeddings", value=model.config.embeddings.name)
    looks_up = reader.source is not None
    words = {UNKNOWN}  # it stands for a text without a token
    if settings.words is not None:
        for line in text_lines([Path(settings.words)], "tokenizing"):
            words.update(moses(model.language)(line))
        if not looks_up:
            message = "this run has vectors for the words of its vocabulary alone; drop words="
            raise InputError(message, key="words", value=settings.words)
    reader.look_up(sorted(words))
    reader.source = None
    model.config = replace(model.config, trainer=replace(model.config.trainer, precision="32-true"))
    return Export(encoder, model, reader, settings, command, looks_up)


def write_word_vectors(export: Export, folder: Path) -> None:
    """Write the vectors of all words in word2vec's text format, and their card. Nine significant digits restore each float32 value exactly."""
    words, vectors = export.reader.vocabulary.words, export.word_vectors()[Vocabulary.FIRST :].numpy()
    with (folder / "vectors.vec").open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"{len(words)} {vectors.shape[1]}\n")
        for word, vector in zip(words, vectors, strict=True):
            file.write(f"{word} {' '.join(f'{number:.9g}' for number in vector)}\n")
    write_text(folder / "README.md", card(export, "word2vec.md", dim=vectors.shape[1]))


def card(export: Export, file_name: str, **values: Any) -> str:
    """The card of an export, with the introduction in `file_name`: metadata, a line `---` and sections, which may name what `values` has below."""
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
        commands=f"{summary['command']}\n{export.command}",
        words_of_the_run=WORDS_OF_THE_RUN if export.looks_up else "",
        encoder=encoder,
        language=escaped(description.language),
        no_license="" if license else NO_LICENSE,
    )


# By the name that `mtl export --format` takes.
EXPORT_FORMATS = {
    "sentence-transformers": ExportFormat(
        ("seed", "words", "license", "pooling", "centre", "suite_data_dir"),
        lazy("mtl.vectors.export.sentence_transformer:write"),
        extra="sentence-transformers",
    ),
    "vectors": ExportFormat(("seed", "words", "license"), write_word_vectors),
}
