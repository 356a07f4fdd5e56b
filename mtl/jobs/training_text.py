"""The text that embeddings or a transformer are trained on, as a command names it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mtl.errors import InputError
from mtl.jobs.job import Job, load_job


@dataclass(frozen=True)
class TrainingText:
    """What is trained on: text files in a language, the training text of a suite, or both.

    held_out: the share of training rows that the runs that use the result hold out; None: that of configs/baseline.yaml.
    """

    texts: str | Sequence[str] | None = None
    language: str | None = None
    suite: str | None = None
    data_dir: str | None = None
    held_out: float | None = None

    @classmethod
    def take(cls, given: dict[str, Any]) -> "TrainingText":
        """The text that settings of a command name; they are removed from `given`."""
        texts = given.pop("texts", None)
        language: Any = given.pop("language", None)
        if not isinstance(language, bool):  # which `check` refuses
            language = string(language)
        return cls(
            [str(file) for file in texts] if isinstance(texts, list) else string(texts),
            language,
            string(given.pop("suite", None)),
            string(given.pop("data_dir", None)),
            given.pop("suite_held_out", None),
        )

    def check(self, command: str) -> None:
        """Raise InputError if there is no text, or a setting makes no sense with the others. command: its words, for the message."""
        if self.texts is None and self.suite is None:
            raise InputError(f"{command}: name what to train on: texts=[FILE,…], suite=NAME, or both")
        for key, value in (("data_dir", self.data_dir), ("suite_held_out", self.held_out)):
            if value is not None and self.suite is None:
                raise InputError(f"{key}={value}: name the suite that it belongs to, suite=NAME, or drop it")
        if self.language is not None and self.suite is not None:
            raise InputError("language: is that of the suite; drop it")
        if not isinstance(self.language, str | None):
            raise InputError(
                f"language={self.language}: YAML reads no, on and off as truth values; put the code in quotes"
            )

    @property
    def files(self) -> list[Path]:
        """The text files; the files need not exist."""
        return [Path(file) for file in ([self.texts] if isinstance(self.texts, str) else self.texts or ())]

    def job(self) -> Job | None:
        """The suite with its data, as a run would use it; None without a suite. Raises InputError for a suite that is not valid."""
        if self.suite is None:
            return None
        given = {"suite": self.suite, "data_dir": self.data_dir, "held_out": self.held_out}
        return load_job({key: value for key, value in given.items() if value is not None})


def string(value: object) -> str | None:
    """The value of a setting as a string: `parse_settings` reads a file name such as 2024 as a number."""
    return None if value is None else str(value)
