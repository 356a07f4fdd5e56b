"""The encoder of a finished run."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from mtl.config.checks import check_choice
from mtl.config.settings import typed_settings
from mtl.data.dataset import training_texts
from mtl.encoders.centre import mean_vector, read_centre, write_centre
from mtl.encoders.kind import Description
from mtl.errors import InputError
from mtl.files import sha256
from mtl.methods import METHODS, method_name
from mtl.model.encoder import POOLINGS
from mtl.runs.predictor import Predictor

FLOAT = 4  # bytes of a weight


@dataclass
class RunSettings:
    """The settings of a run's encoder.

    seed: None: the best on dev. task: whose encoder, in a run in which each task has its own. pooling: max or mean; None: max for an LSTM,
    as in training, and mean for a transformer. centre: subtract the mean vector of the run's training texts. data_dir: where the run's
    data is, for centre; None: where the run found it.
    """

    seed: int | None = None
    task: str | None = None
    device: str = "cpu"
    pooling: str | None = None
    centre: bool = False
    data_dir: str | None = None

    def check(self) -> None:
        """Raise InputError for a value that makes no sense."""
        if self.pooling is not None:
            check_choice("pooling", self.pooling, POOLINGS)
        if self.data_dir is not None and not self.centre:
            raise InputError(f"data_dir={self.data_dir}: is for centre=true only")


class RunEncoder:
    """`mtl.encoders.kind.SentenceEncoder` of a run: the vectors of `Predictor.encode`, with the settings' pooling and centring."""

    def __init__(self, predictor: Predictor, settings: RunSettings) -> None:
        """Raises InputError if vectors are to be centred, and the training texts are not there or not those of the run."""
        self.predictor = predictor
        self.settings = settings
        self.pooling = settings.pooling or predictor.model.pooling
        self.centre = self._centre() if settings.centre else None

    @cached_property
    def description(self) -> Description:
        """What the encoder is."""
        predictor, settings, model = self.predictor, self.settings, self.predictor.model
        kind = METHODS[method_name(predictor.config.method)]
        changes = [settings.task] if settings.task is not None else []
        changes += [self.pooling] if self.pooling != model.pooling else []
        changes += ["centred"] if settings.centre else []
        return Description(
            name="-".join([kind.folder(predictor.config), *changes]),
            title=", ".join([kind.title(predictor.config), *changes]),
            family=kind.family,
            dim=model.dim,
            language=predictor.suite.language,
            parameters=model.parameters,
            parameters_without_embeddings=model.parameters_without_embeddings,
            memory=FLOAT * model.parameters,
            max_length=predictor.config.max_length,
            trained_on=tuple(f"{predictor.suite.name}/{id}" for id in self._tasks_seen()),
            suite=predictor.suite.name,
            seed=predictor.seed,
            settings=f"seed {predictor.seed}{' (the best on dev)' if settings.seed is None else ''}, pooling {self.pooling},"
            f" {'' if settings.centre else 'not '}centred",
        )

    def _tasks_seen(self) -> list[str]:
        """The ids of the tasks whose training rows the encoder has seen. The mean vector is that of the run's training texts."""
        suite, seen = self.predictor.suite, set(self.predictor.model.trained_on)
        if self.settings.centre:
            seen.update(id for id in self.predictor.tasks if suite.tasks[id].answered_by is None)
        return [id for id in suite.tasks if id in seen]

    def learn(self, texts: Sequence[str]) -> None:
        """Look up the words of these texts at once, if the run reads new words' vectors from a file."""
        self.predictor.model.learn(texts)

    def encode(self, texts: Sequence[str], progress: bool = False) -> np.ndarray:
        """The vectors of these texts, float32 (texts, dim). Raises InputError for a text that is not in a list."""
        vectors = self.predictor.encode(texts, self.pooling, progress)
        return vectors if self.centre is None else vectors - self.centre

    def fingerprint(self) -> str:
        """A hash of weights, word vectors, settings and the mean vector, but of no path."""
        centre = b"" if self.centre is None else self.centre.tobytes()
        return hashlib.sha256(self._uncentred.encode() + centre).hexdigest()

    def versions(self) -> dict[str, str]:
        """As `mtl.methods.kind.Model.versions`."""
        return self.predictor.model.versions()

    @cached_property
    def _uncentred(self) -> str:
        return f"{self.predictor.model.fingerprint()} {self.pooling}"

    def _centre(self) -> np.ndarray:
        """The mean vector of the run's training texts, from the run's folder if it has been computed before."""
        run, dim = self.predictor.folder, self.predictor.model.dim
        inputs = run.read_inputs()
        trained = sorted((name, mark) for name, mark in inputs.items() if name != "precision")
        key = hashlib.sha256(f"{self._uncentred} {self.versions()} {trained}".encode()).hexdigest()
        path = run.path / f"centre-{key[:16]}.npy"
        centre = read_centre(path, dim)
        if centre is None:
            texts = self._training_texts(inputs)
            centre = mean_vector(texts, self._encode, f"{run.path}: the mean of the training texts")
            write_centre(path, centre)
        return centre

    def _encode(self, texts: Sequence[str]) -> np.ndarray:
        return self.predictor.encode(texts, self.pooling)

    def _training_texts(self, inputs: Mapping[str, str]) -> list[str]:
        """Raises InputError for data that is missing, or not that of the run. inputs: the run's fingerprints."""
        predictor, config = self.predictor, self.predictor.config
        data_dir = Path(self.settings.data_dir or config.data_dir or f"data/{predictor.suite.name}")
        tasks = [predictor.suite.tasks[id] for id in predictor.tasks]
        for task in tasks:
            path = task.path("train", data_dir)
            if path is None or not path.is_file():
                continue
            if sha256(path) != inputs.get(path.relative_to(data_dir).as_posix()):
                raise InputError(
                    f"{path}: is not the file that the run was trained on; centre=true needs it: set data_dir="
                )
        return training_texts(predictor.suite, data_dir, config.held_out, tasks)


def open_run(name: str, settings: Mapping[str, Any]) -> RunEncoder:
    """The encoder of the finished run in the folder `name`. Raises InputError as `Predictor.load` and `RunEncoder` do."""
    if (Path(name) / "modules.json").is_file():
        raise InputError(
            f"{name}: is an export, not a run; name the run's folder; docs/export.md: how mteb scores exports"
        )
    chosen = typed_settings(RunSettings, settings)
    chosen.check()
    return RunEncoder(Predictor.load(Path(name), chosen.seed, device=chosen.device, encoder_task=chosen.task), chosen)
