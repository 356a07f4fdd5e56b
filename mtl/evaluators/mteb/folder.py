"""The folder of one evaluation: its files, and a lock that lets only one process write to it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mtl.encoders.kind import SentenceEncoder
from mtl.errors import InputError
from mtl.locks import Busy, lock

FINGERPRINT_DIGITS = 12  # of the encoder's fingerprint, in the folder's name


@dataclass(frozen=True)
class EvaluationFolder:
    """`benchmark.yaml`, `summary.json`, `table.md`; `tasks/NAME.json`: what was evaluated; `results/`: mteb's own result files."""

    path: Path

    @classmethod
    def of(cls, runs_dir: str, benchmark: str, encoder: SentenceEncoder) -> "EvaluationFolder":
        """The folder of an encoder's evaluation: {runs_dir}/mteb/{benchmark}/{encoder}-{fingerprint}."""
        name = f"{encoder.description.name}-{encoder.fingerprint()[:FINGERPRINT_DIGITS]}"
        return cls(Path(runs_dir) / "mteb" / benchmark / name)

    @property
    def benchmark(self) -> Path:
        return self.path / "benchmark.yaml"

    @property
    def summary(self) -> Path:
        return self.path / "summary.json"

    @property
    def table(self) -> Path:
        return self.path / "table.md"

    @property
    def choice(self) -> Path:
        """What was tried before this encoder's settings were chosen."""
        return self.path / "choice.json"

    def record(self, task: str, split: str, scored: str) -> Path:
        """What was evaluated on a split of a task. scored: the split that the benchmark scores."""
        return self.path / ("tasks" if split == scored else split) / f"{task}.json"

    @property
    def records(self) -> list[Path]:
        """The records of the scored splits."""
        return sorted((self.path / "tasks").glob("*.json"))

    def cache(self, split: str, scored: str) -> Path:
        """The folder that holds mteb's folder `results`, one for the scored splits, one for another split."""
        return self.path if split == scored else self.path / split

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder's lock within the block. Raises InputError if another process holds it."""
        try:
            with lock(self.path / ".lock"):
                yield
        except Busy as error:
            raise InputError(f"{self.path}: another process evaluates this encoder; wait for it{error}") from None
