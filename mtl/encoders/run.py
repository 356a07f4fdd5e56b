"""A finished run in use: it predicts a task's targets for new rows (`Predictor`), and encodes texts (`RunEncoder`)."""

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mtl.base.arrays import read_arrays, write_arrays
from mtl.base.device import device_of, exact_arithmetic
from mtl.base.errors import InputError
from mtl.base.files import sha256, write_text
from mtl.base.terminal import write_data
from mtl.base.typed import check_choice, typed
from mtl.base.untrusted import check_plain_folder, read_json
from mtl.data.dataset import training_texts
from mtl.data.examples import Row, make_example, read_rows
from mtl.embedders import embedder_kind
from mtl.encoders.blocks import encode_blocks, mean_vector
from mtl.encoders.encoder import Choices, Description
from mtl.methods import METHODS, method_name
from mtl.methods.method import LoadRequest, Model
from mtl.model.encoder import POOLINGS
from mtl.runs.folder import RunFolder
from mtl.runs.summary import SeedScores, read_summary
from mtl.settings.layers import read_config
from mtl.settings.schema import Config
from mtl.tasks.suite import Suite, load_suite
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

if TYPE_CHECKING:
    from mtl.encoders.scikit_learn import TextTransformer


@dataclass(eq=False, repr=False)
class Predictor:
    """The models of one seed of a run.

    Examples:
        >>> predictor = mtl.load("runs/klej/fasttext-frozen")  # doctest: +SKIP
        >>> predictor.predict("cbd", [["Brawo!"]])  # doctest: +SKIP
        ['0']
        >>> predictor.encode(["Brawo!", "Dość."]).shape  # doctest: +SKIP
        (2, 2048)
    """

    folder: RunFolder
    config: Config
    suite: Suite
    tasks: list[str]  # the ids of the run's tasks
    seed: int
    model: Model  # that of the seed
    device: str  # as in `load`

    @classmethod
    def load(
        cls,
        run_dir: Path,
        seed: int | None = None,
        task: str | None = None,
        device: str = "cpu",
        encoder_task: str | None = None,
    ) -> "Predictor":
        """Load the models of one seed of a run.

        Args:
            run_dir: the run's folder.
            seed: None means the seed with the best score on dev: on `task`, or without a task, on average.
            task: the task whose score chooses the seed (or the score of the task whose head answers it).
            device: where to compute: cpu, cuda (or the name of another accelerator), or auto (an accelerator if there is one).
            encoder_task: the task whose encoder `encode` uses, in a run in which each task has its own.

        Raises:
            InputError: for a folder without a finished run, a run whose models are not kept, and an unknown seed, task or device.
        """
        torch_device = device_of(device, "device")
        folder = RunFolder(run_dir)
        if run_dir.is_dir():
            check_plain_folder(run_dir)
        config = read_config(folder.config, lambda name: embedder_kind(name).options)
        load = METHODS[method_name(config.method)].load
        if load is None:
            kept = ", ".join(name for name, kind in METHODS.items() if kind.load)
            message = (
                f"the models of method {config.method} are not kept; runs of these methods predict new rows: {kept}"
            )
            raise InputError(message, path=run_dir)
        if not folder.summary.exists():
            raise InputError("this run is not finished; give its command again", path=run_dir)
        summary, inputs = read_summary(folder.summary), folder.read_inputs()
        if task is not None and task not in summary["tasks"]:
            raise InputError(f"--task {task}: not in this run; it has {', '.join(summary['tasks'])}")
        seeds = {number: read_json(folder.scores(number), SeedScores) for number in summary["seeds"]}
        suite = load_suite(folder.suite)
        if unknown := [name for name in summary["tasks"] if name not in suite.tasks]:
            raise InputError(f"{unknown[0]!r} is not one of {folder.suite}", path=folder.summary, key="tasks")
        if seed is None:
            seed = max(seeds, key=lambda number: _dev_score(folder.scores(number), seeds[number], suite, task))
        elif seed not in seeds:
            raise InputError(f"seed {seed}: not in this run; it has {', '.join(map(str, seeds))}")
        answers = read_json(folder.answers, dict[str, list[str]]) if folder.answers.exists() else {}
        tasks = list(summary["tasks"])
        request = LoadRequest(
            config, suite, folder.path, folder.seed(seed), inputs, answers, torch_device, tasks, encoder_task
        )
        return cls(folder, config, suite, tasks, seed, load(request), device)

    @exact_arithmetic()
    def predict(self, task: str, rows: Sequence[Row]) -> list[str]:
        """A prediction for each row, in the form of the targets in the task's files. Raises InputError for rows of another form.

        Args:
            task: the id of a task of the run.
            rows: the texts of each row: one text, or two for a pair. For a choice: the candidates, after the text if the task has one.
                For a task with marked spans: after the texts, start and stop of each span in characters of its text, half-open.
        """
        suite_task = self._task(task)
        for row in rows:
            try:
                if isinstance(row, str):
                    raise ValueError("is a text")
                make_example(suite_task, row)
            except ValueError as error:
                message = f"task {task} takes rows, each a list of {_form(suite_task)}; {row!r} {error}"
                raise InputError(message) from None
        if not rows:
            return []
        return list(map(target_kind(suite_task).cells.format, self.model.predict(suite_task, rows).tolist()))

    @exact_arithmetic()
    def encode(self, texts: Sequence[str], pooling: str | None = None, progress: bool = False) -> np.ndarray:
        """Text vectors, float32 (texts, dim). Raises InputError for a text that is not in a list, and for another pooling.

        Args:
            texts: any number of them.
            pooling: how the vectors of a text's tokens become one: their max or their mean; None: max for an LSTM, as in training, and
                mean for a transformer.
            progress: show it on standard error.
        """
        method = pooling or self.model.pooling
        check_choice("pooling", method, POOLINGS)
        return encode_blocks(texts, lambda block: self.model.encode(block, method), self.model.dim, progress)

    def as_transformer(self, pooling: str | None = None) -> "TextTransformer":
        """A scikit-learn transformer from texts to the vectors that `encode` gives, for a Pipeline."""
        from mtl.encoders.scikit_learn import TextTransformer

        transformer = TextTransformer(str(self.folder.path), self.seed, self.device, pooling)
        transformer.keep(self)
        return transformer

    def predict_file(self, task: str, path: Path, out: Path | None) -> None:
        """Predict the rows of a file. Write one prediction per line, in row order, after a header. Raises InputError.

        Args:
            task: the id of a task of the run.
            path: a file with the task's columns of texts and spans; its suffix says its format (`mtl.data.records`).
            out: the file to write; None: standard output.
        """
        suite_task = self._task(task)
        header = suite_task.target if self.config.submission.header == "task" else "target"
        lines = [header, *self.predict(task, read_rows(suite_task, path))]
        text = "".join(f"{line}\n" for line in lines)
        if out is None:
            write_data(text)
        else:
            write_text(out, text)

    def _task(self, task: str) -> Task:
        if task not in self.tasks:
            raise InputError(f"task {task!r}: not in this run; it has {', '.join(self.tasks)}")
        return self.suite.tasks[task]


def _form(task: Task) -> str:
    """What a row of the task is a list of."""
    if task.candidates is not None:
        return "texts and candidates"
    form = f"{len(task.text)} texts: {', '.join(task.text)}"
    if not task.spans:
        return form
    spans = ", ".join(f"{column} in {task.text[side]}" for side, column in task.marked)
    return f"{form}; then (start, stop) of {len(task.marked)} spans: {spans}"


def _dev_score(path: Path, content: SeedScores, suite: Suite, task: str | None) -> float:
    """A seed's score × 100 on the dev rows that choose: that of a task (or of the one whose head answers it), or the suite's average; the mean of
    all tasks if the suite averages none of them.

    path: of scores.json.
    """
    scores = {**content["dev_scores"], **content.get("choosing_scores", {})}
    source = task if task is None or task in scores else suite.tasks[task].answered_by or task
    if not scores or (source is not None and source not in scores):
        raise InputError(f"has no score of {source or 'any task'}; name a seed", path=path, key="dev_scores")
    if source is not None:
        return scores[source]
    average = suite.mean(scores)
    return fmean(scores.values()) if average is None else average


FLOAT = 4  # bytes of a weight


@dataclass
class RunSettings:
    """The settings of a run's encoder.

    Attributes:
        seed: a seed of the run; None: the best on dev.
        task: whose encoder, in a run in which each task has its own.
        device: where to compute.
        pooling: max or mean; None: max for an LSTM, as in training, and mean for a transformer.
        centre: subtract the mean vector of the run's training texts.
        data_dir: where the run's data is, for centre; None: where the run found it.
    """

    seed: int | None = None
    task: str | None = None
    device: str = "cpu"
    pooling: Literal["max", "mean"] | None = None
    centre: bool = False
    data_dir: str | None = None

    def check(self) -> None:
        """Raise InputError for a value that makes no sense."""
        if self.data_dir is not None and not self.centre:
            raise InputError("is for centre=true only", key="data_dir", value=self.data_dir)


def open_run(name: str, settings: Mapping[str, Any]) -> "RunEncoder":
    """The encoder of the finished run in the folder `name`. Raises InputError as `Predictor.load` and `RunEncoder` do."""
    if (Path(name) / "modules.json").is_file():
        message = "is an export, not a run; name the run's folder; docs/how-to/export.md: how mteb scores exports"
        raise InputError(message, path=name)
    checked = typed(RunSettings, settings)
    predictor = Predictor.load(Path(name), checked.seed, device=checked.device, encoder_task=checked.task)
    return RunEncoder(predictor, checked)


def run_choices() -> Choices:
    """All poolings, centred or not. Only centring reads the run's data."""

    def fit(settings: Mapping[str, Any]) -> Mapping[str, Any]:
        return {key: value for key, value in settings.items() if key != "data_dir" or settings.get("centre")}

    return Choices({"pooling": tuple(POOLINGS), "centre": (False, True)}, fit)


class RunEncoder:
    """`mtl.encoders.encoder.SentenceEncoder` of a run: the vectors of `Predictor.encode`, with the settings' pooling and centring."""

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
        """As `mtl.methods.method.Model.versions`."""
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
        path = run.path / f"centre-{key[:16]}.npz"
        try:
            centre = read_arrays(path)["centre"]
            if centre.dtype == np.float32 and centre.shape == (dim,) and np.isfinite(centre).all():
                return centre
        except (OSError, ValueError, KeyError, InputError):  # there is none, or it is damaged
            pass
        centre = mean_vector(
            self._training_texts(inputs),
            lambda texts: self.predictor.encode(texts, self.pooling),
            f"{run.path}: the mean of the training texts",
        )
        with suppress(OSError):  # else it is computed again
            write_arrays(path, {"centre": centre})
        return centre

    def _training_texts(self, inputs: Mapping[str, str]) -> list[str]:
        """Raises InputError for data that is missing, or not that of the run. inputs: the run's fingerprints."""
        predictor, config = self.predictor, self.predictor.config
        data_dir = Path(self.settings.data_dir or config.data_dir or predictor.suite.data_dir)
        tasks = [predictor.suite.tasks[id] for id in predictor.tasks]
        for task in tasks:
            path = task.path("train", data_dir)
            if path is None or not path.is_file():
                continue
            if sha256(path) != inputs.get(path.relative_to(data_dir).as_posix()):
                message = "is not the file that the run was trained on; centre=true needs it: set data_dir="
                raise InputError(message, path=path)
        return training_texts(predictor.suite, data_dir, config.held_out, tasks)
