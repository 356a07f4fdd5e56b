"""A finished run as a sentence encoder."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from mtl.base.errors import InputError
from mtl.base.files import sha256
from mtl.base.typed import typed
from mtl.data.loading import training_texts
from mtl.methods import METHODS, method_name
from mtl.methods.predictor import Predictor
from mtl.runs.records import read_summary
from mtl.vectors.encoders.encoder import ModelEncoder, mean_vector


@dataclass
class RunSettings:
    seed: int | None = None  # a seed of the run; None: the best on dev
    task: str | None = None  # whose encoder, in a run in which each task has its own
    device: str = "cpu"  # where to compute
    pooling: Literal["max", "mean"] | None = None  # None: max for an LSTM, as in training, mean for a transformer
    centre: bool = False  # subtract the mean vector of the run's training texts
    suite_data_dir: str | None = None  # where the run's data is, for centre; None: where the run found it

    def check(self) -> None:
        if self.suite_data_dir is not None and not self.centre:
            raise InputError("is for centre=true only", key="suite_data_dir", value=self.suite_data_dir)


class RunEncoder(ModelEncoder):
    """The vectors of a finished run, as `Predictor.encode` gives them, with the settings' pooling and centring."""

    def __init__(self, predictor: Predictor, settings: RunSettings) -> None:
        """Raises InputError if vectors are to be centred, and the training texts are not there or not those of the run."""
        self.predictor = predictor
        model, suite = predictor.model, predictor.suite
        kind = METHODS[method_name(predictor.config.method)]
        pooling = settings.pooling or model.pooling
        changed_pooling = pooling if pooling != model.pooling else None
        changes = list(filter(None, [settings.task, changed_pooling, "centred" if settings.centre else None]))
        seen = set(model.trained_on)
        if settings.centre:  # the mean vector is that of the run's training texts
            seen.update(id for id in predictor.tasks if suite.tasks[id].answered_by is None)
        best = " (the best on dev)" if settings.seed is None else ""
        centring = "centred" if settings.centre else "not centred"
        super().__init__(
            model,
            pooling,
            name="-".join([kind.folder(predictor.config), *changes]),
            title=", ".join([read_summary(predictor.folder.summary)["title"], *changes]),
            family=kind.family,
            language=suite.language,
            max_length=predictor.config.max_length,
            trained_on=tuple(f"{suite.name}/{id}" for id in suite.tasks if id in seen),
            seed=predictor.seed,
            settings=f"seed {predictor.seed}{best}, pooling {pooling}, {centring}",
        )
        if settings.centre:
            texts = _training_texts(predictor, settings)
            self.centre = mean_vector(texts, self.encode, f"{predictor.folder.path}: the mean of the training texts")


def open_run(name: str | Path, settings: Mapping[str, Any] | RunSettings) -> RunEncoder:
    """The encoder of the finished run in a folder. Raises InputError for an unknown key, and as `Predictor.load` and `RunEncoder`."""
    checked = typed(RunSettings, settings)
    predictor = Predictor.load(Path(name), checked.seed, device=checked.device, encoder_task=checked.task)
    return RunEncoder(predictor, checked)


def _training_texts(predictor: Predictor, settings: RunSettings) -> list[str]:
    """The texts of the run's training rows. Raises InputError for data that is missing, or not that of the run."""
    inputs = predictor.folder.read_inputs()
    data_dir = Path(settings.suite_data_dir or predictor.config.data_dir or predictor.suite.data_dir)
    tasks = [predictor.suite.tasks[id] for id in predictor.tasks]
    for path in filter(None, (task.path("train", data_dir) for task in tasks)):
        if path.is_file() and sha256(path) != inputs.get(path.relative_to(data_dir).as_posix()):
            message = "is not the file that the run was trained on; centre=true needs it: set suite_data_dir="
            raise InputError(message, path=path)
    return training_texts(predictor.suite, data_dir, predictor.config.held_out, tasks)
