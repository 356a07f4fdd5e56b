"""What `mtl embeddings train` and `mtl pretrain` are asked for: the texts to train on, what to write, and where to compute."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from mtl.base.errors import InputError
from mtl.base.typed import PART, typed
from mtl.data.sample import ensure_embedded_data
from mtl.jobs.job import Job, load_job


@dataclass(frozen=True)
class TrainingRequest:
    """What a command trains on (text files, the training text of a suite, or both), what it writes, and where it computes."""

    texts: list[str] | None = None  # the text files, plain or gzipped
    language: str | None = None  # of the text files, for the tokenizer; a suite has its own
    suite: str | None = None  # a name or a path
    data_dir: str | None = None  # the folder of the suite's data; None: that of the suite
    # The share of training rows that the runs that use the result hold out; None: that of configs/baseline.yaml.
    suite_held_out: Annotated[float, PART] | None = None
    out: str | None = None  # the file or the folder to write
    accelerator: str = "auto"  # where to compute, as in `mtl.base.device.device_of`

    @classmethod
    def take(cls, settings: dict[str, Any]) -> "TrainingRequest":
        """The request in the settings of a command; its keys are removed from `settings`. Raises InputError for a bad value."""
        values = {key: settings.pop(key) for key in cls.__dataclass_fields__.keys() & settings}
        if not isinstance(values.get("texts"), list | None):
            values["texts"] = [values["texts"]]
        return typed(cls, values)

    def checked_path(self, command: str) -> Path:
        """The file or folder to write. Raises InputError, which names the command, if it or the text is missing, or settings do not fit together."""
        if not self.texts and self.suite is None:
            raise InputError(f"{command}: name what to train on: texts=[FILE,…], suite=NAME, or both")
        if self.out is None:
            raise InputError(f"{command}: name what to write: out=PATH")
        for key, value in (("data_dir", self.data_dir), ("suite_held_out", self.suite_held_out)):
            if value is not None and self.suite is None:
                raise InputError("name the suite that it belongs to, suite=NAME, or drop it", key=key, value=value)
        if self.language is not None and self.suite is not None:
            raise InputError("is that of the suite; drop it", key="language")
        return Path(self.out)

    def job(self) -> Job | None:
        """The suite, its embedded data written; None without a suite. Raises InputError for a suite that is not valid."""
        if self.suite is None:
            return None
        settings = {"suite": self.suite, "data_dir": self.data_dir, "held_out": self.suite_held_out}
        job = load_job({key: value for key, value in settings.items() if value is not None})
        ensure_embedded_data(job.suite, job.data_dir)
        return job
