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
    """`benchmark.yaml`, `summary.json`, `table.md`; `results/`: mteb's own result files of the tasks in the summary;
    `tasks/NAME/REVISION/`: what was evaluated on a version of a task's rows.
    """

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

    @property
    def results(self) -> Path:
        """mteb's own result files, as mteb's programs read them."""
        return self.path / "results"

    def record(self, task: str, revision: str, split: str | None = None) -> Path:
        """What was evaluated on a version of a task's rows. split: None: the one that the benchmark scores."""
        return self.path / (split or "tasks") / task / revision / "record.json"

    def records(self, task: str) -> list[Path]:
        """The records of a task on the split that the benchmark scores."""
        return sorted((self.path / "tasks" / task).glob("*/record.json"))

    @staticmethod
    def result(record: Path) -> Path:
        """mteb's own result file of a record."""
        return record.with_name("mteb.json")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder's lock within the block. Raises InputError if another process holds it."""
        try:
            with lock(self.path / ".lock"):
                yield
        except Busy as error:
            raise InputError(f"{self.path}: another process evaluates this encoder; wait for it{error}") from None
