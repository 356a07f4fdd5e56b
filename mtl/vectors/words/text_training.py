"""Trainings of word embeddings on texts alone, without a run, and the text that a command names for a training."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mtl.base.device import device_of
from mtl.base.errors import InputError
from mtl.data.fetching.fetch import write_generated
from mtl.embedders import EMBEDDERS
from mtl.embedders.recipes import trained_path
from mtl.jobs.job import Job, load_job
from mtl.vectors.words import TRAININGS
from mtl.vectors.words.training import train_on_files, train_on_suite, training_settings


@dataclass(frozen=True)
class TrainingText:
    """What is trained on: text files in a language, the training text of a suite, or both.

    Args:
        texts: the path of a text file, or several.
        language: the code of the texts' language; None with a suite, whose language it is.
        suite: the name or path of the suite.
        data_dir: the folder of the suite's data; None: its usual one.
        held_out: the share of training rows that the runs that use the result hold out; None: that of
            configs/baseline.yaml.
    """

    texts: str | Sequence[str] | None = None
    language: str | None = None
    suite: str | None = None
    data_dir: str | None = None
    held_out: float | None = None

    @classmethod
    def split_settings(cls, settings: Mapping[str, Any]) -> tuple["TrainingText", dict[str, Any]]:
        """The text that settings of a command name, and the other settings. Raises InputError for a language that is a truth value."""
        others = dict(settings)
        texts = others.pop("texts", None)
        language = others.pop("language", None)
        if isinstance(language, bool):
            message = "YAML reads no, on and off as truth values; put the code in quotes"
            raise InputError(message, key="language", value=language)
        text = cls(
            list(map(str, texts)) if isinstance(texts, list) else string(texts),
            string(language),
            string(others.pop("suite", None)),
            string(others.pop("data_dir", None)),
            others.pop("suite_held_out", None),
        )
        return text, others

    def check(self, command: str) -> None:
        """Raise InputError, which names the command, if there is no text, or a setting makes no sense with the others."""
        if self.texts is None and self.suite is None:
            raise InputError(f"{command}: name what to train on: texts=[FILE,…], suite=NAME, or both")
        for key, value in (("data_dir", self.data_dir), ("suite_held_out", self.held_out)):
            if value is not None and self.suite is None:
                raise InputError("name the suite that it belongs to, suite=NAME, or drop it", key=key, value=value)
        if self.language is not None and self.suite is not None:
            raise InputError("is that of the suite; drop it", key="language")

    @property
    def files(self) -> list[Path]:
        """The text files; the files need not exist."""
        return [Path(file) for file in ([self.texts] if isinstance(self.texts, str) else self.texts or ())]

    def job(self) -> Job | None:
        """The suite with its data, as a run would use it; None without a suite. The data of an embedded suite is written if it is not there.

        Raises InputError for a suite that is not valid.
        """
        if self.suite is None:
            return None
        settings = {"suite": self.suite, "data_dir": self.data_dir, "held_out": self.held_out}
        job = load_job({key: value for key, value in settings.items() if value is not None})
        write_generated(job.suite, job.data_dir)
        return job


def string(value: object) -> str | None:
    """The value of a setting as a string: `parse_settings` reads a file name such as 2024 as a number."""
    return None if value is None else str(value)


def train_embeddings(
    name: str, text: TrainingText, settings: Mapping[str, Any], out: str | None = None, accelerator: str = "auto"
) -> Path:
    """Train vectors of the kind `name` and return their path. Raises InputError if it cannot be done.

    Args:
        name: a key of `mtl.vectors.words.TRAININGS`.
        text: what they are trained on.
        settings: fields of the kind's `mtl.vectors.words.VectorTraining.settings`.
        out: the file, or for an ELMo the folder, to write; None: a path below embeddings/ that is named after the suite.
        accelerator: the device to train on, as in `mtl.base.device.device_of`.
    """
    text.check("embeddings train")
    if text.texts is not None and out is None:
        raise InputError("embeddings train: name what to write: out=PATH")
    if text.suite is None and text.language is None:
        example = "language=CODE, as in language=sv"
        raise InputError(f"embeddings train: name the language of the texts, for the tokenizer: {example}")
    training = training_settings(name, settings)
    files = EMBEDDERS[name].files
    assert files is not None
    job = text.job()
    path = _target_path(name, job) if out is None else Path(out)
    if path.is_dir() and files.exists(path):
        message = f"holds an {EMBEDDERS[name].title} already; remove it or name another folder with out="
        raise InputError(message, path=path)
    device = device_of(accelerator, "accelerator")
    if job is None:
        assert text.language is not None
        train_on_files(training, text.files, text.language, path, device)
    else:
        train_on_suite(training, job.suite, job.data_dir, job.config.held_out, path, device, text.files)
    return path


def _target_path(name: str, job: Job | None) -> Path:
    """The path below embeddings/ of vectors of the kind `name` that are trained on a suite."""
    assert job is not None
    return trained_path(Path("embeddings") / f"{job.suite.name}{TRAININGS[name].ending}", job.config.held_out)
