"""Training embeddings: on text files, or on a suite's training text as a recipe says."""

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from mtl.config.load import data_dir, load_config, parse_overrides
from mtl.data.dataset import fingerprints, load_dataset
from mtl.data.splits import FORMAT, check_present, missing_tasks
from mtl.data.text import moses, tokenized_lines
from mtl.device import device_of
from mtl.embedders.recipes import Recipe, check_known, is_there, trained_file
from mtl.errors import InputError
from mtl.files import sha256, write_text
from mtl.tasks.suite import Suite, Task

if TYPE_CHECKING:
    import torch

# What an embedding trained on a suite is called, after the suite.
SUFFIXES = {"fasttext": ".bin", "elmo": "-elmo"}

Lines = Iterable[Sequence[str]]


class Training(Protocol):
    """How embeddings are trained: settings, checked and carried out."""

    def wrong(self) -> str | None:
        """What is wrong with a setting that is out of range, if there is one."""

    def train(self, lines: Lines, path: Path, source: str, device: "torch.device") -> None:
        """Train on tokenized lines, which `source` names by their content, and write to `path`. Raises InputError."""


def train(embeddings: str, settings: Sequence[str]) -> Path:
    """Train vectors on text files or on a suite's training text and say where they are. Raises InputError.

    settings: out=PATH; texts=[FILE, …], or suite=NAME with data_dir=FOLDER and suite_held_out=SHARE, the held_out of the runs that
    use the vectors, whose dev rows are not trained on; language=CODE of the tokenizer; accelerator;
    and the fields of `mtl.embedders.fasttext.FastTextTraining` or `mtl.embedders.elmo.training.ELMoTraining`.
    """
    given = parse_overrides(settings)
    names = ("out", "texts", "language", "suite", "data_dir", "suite_held_out", "accelerator")
    own = {name: given.pop(name, None) for name in names}
    if (own["texts"] is None) == (own["suite"] is None):
        raise InputError("embeddings train: name what to train on: texts=[FILE,…] or suite=NAME")
    if own["texts"] is not None and own["out"] is None:
        raise InputError("embeddings train: name what to write: out=PATH")
    training = _training(embeddings, given)
    if own["suite"] is not None:
        keys = {"suite": "suite", "data_dir": "data_dir", "suite_held_out": "held_out"}
        config, suite = load_config([f"{key}={own[name]}" for name, key in keys.items() if own[name] is not None])
        path = trained_file(Path(f"embeddings/{suite.name}{SUFFIXES[embeddings]}"), config.held_out)
    if own["out"] is not None:
        path = Path(str(own["out"]))
    if embeddings == "elmo" and is_there(path, embeddings):
        raise InputError(f"{path}: holds an ELMo already; remove it or name another folder with out=")
    device = device_of(str(own["accelerator"] or "auto"), "accelerator")
    if own["texts"] is not None:
        files = [Path(str(file)) for file in (own["texts"] if isinstance(own["texts"], list) else [own["texts"]])]
        if missing := [file for file in files if not file.is_file()]:
            raise InputError(f"{missing[0]}: no such file")
        language = str(own["language"] or "pl")
        source = f"{language} {' '.join(map(sha256, files))}"
        training.train(tokenized_lines(files, moses(language)), path, source, device)
    else:
        _train_on_suite(training, suite, data_dir(config, suite), config.held_out, path, device)
    return path


def train_recipe(
    recipe: Recipe, suite: Suite, data_dir: Path, held_out: float, path: Path, device: "torch.device"
) -> None:
    """Train what a recipe says on the suite's training text. Raises InputError."""
    training = _training(recipe.embeddings, recipe.train)
    _train_on_suite(training, suite, data_dir, held_out, path, device)


def _train_on_suite(
    training: Training, suite: Suite, data_dir: Path, held_out: float, path: Path, device: "torch.device"
) -> None:
    lines, source = _training_text(suite, data_dir, held_out)
    training.train(lines, path, source, device)
    write_text(_source_file(path), f"{source}\n")


def check_recipe(suite: Suite, data_dir: Path, held_out: float, path: Path) -> None:
    """Raise InputError if the vectors at `path`, which a recipe can train, were trained on other texts than it would use now."""
    note = _source_file(path)
    if not note.is_file() or note.read_text(encoding="utf-8").strip() != _source(suite, data_dir, held_out):
        raise InputError(
            f"{path}: was trained on other texts than now are training rows: the data or the choice of held-out rows has "
            "changed; remove it, and the same command trains it again"
        )


def _source_file(path: Path) -> Path:
    """The file beside vectors that names the texts they were trained on."""
    return path.with_name(f"{path.name}.source")


def _training(embeddings: str, given: dict[str, Any]) -> Training:
    """The settings of a training. Raises InputError for an unknown key or a value that makes no sense."""
    schema = OmegaConf.structured(_settings(embeddings))
    check_known(given, {str(key) for key in schema})
    training: Any = schema
    for key, value in given.items():
        try:
            training = OmegaConf.merge(training, {key: value})
        except (OmegaConfBaseException, ValueError) as error:
            raise InputError(f"{key}={value}: {str(error).splitlines()[0]}") from None
    checked = cast(Training, OmegaConf.to_object(training))
    if wrong := checked.wrong():
        raise InputError(wrong)
    return checked


def _settings(embeddings: str) -> type:
    """The class of an embedding's settings. Raises InputError for embeddings that are not trained."""
    if embeddings == "fasttext":
        from mtl.embedders.fasttext import FastTextTraining

        return FastTextTraining
    if embeddings == "elmo":
        from mtl.embedders.elmo.training import ELMoTraining

        return ELMoTraining
    raise InputError(f"embeddings={embeddings}: cannot be trained; fasttext and elmo can")


def _training_text(suite: Suite, data_dir: Path, held_out: float) -> tuple[Lines, str]:
    """The distinct training texts of all the suite's tasks that are there, whole, and what names them.

    All runs on the suite that hold out this share of rows may use the result, whatever their tasks and lengths. A dev text is
    among them only where it also stands in the training rows of a task.
    """
    if len(missing_tasks(suite, data_dir)) == len(suite.tasks):
        check_present(suite, list(suite.tasks.values()), data_dir)
    dataset = load_dataset(suite, _tasks(suite, data_dir), data_dir, max_length=1_000_000, held_out=held_out)
    lines = (dataset.texts.words(text) for text in dataset.distinct_texts("train"))
    return lines, _source(suite, data_dir, held_out)


def _source(suite: Suite, data_dir: Path, held_out: float) -> str:
    """What names the training texts: a hash of the data, of what the suite says of it, and of the rule for held-out rows."""
    marks = fingerprints(suite, _tasks(suite, data_dir), data_dir)
    return hashlib.sha256(repr((sorted(marks.items()), held_out, FORMAT)).encode()).hexdigest()


def _tasks(suite: Suite, data_dir: Path) -> list[Task]:
    """The tasks whose files are there."""
    missing = missing_tasks(suite, data_dir)
    return [task for id, task in suite.tasks.items() if id not in missing]
