"""A finished run in use: it predicts a task's targets for new examples, and encodes texts, also as a scikit-learn transformer."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from mtl.base.device import device_of, exact_arithmetic
from mtl.base.errors import InputError
from mtl.base.files import write_text
from mtl.base.settings.layers import read_config
from mtl.base.settings.schema import Config
from mtl.base.terminal import write_data
from mtl.base.typed import check_choice
from mtl.base.untrusted import check_plain_folder, read_json
from mtl.data.blocks import encode_blocks
from mtl.data.examples import Row, read_examples
from mtl.embedders import embedder_kind
from mtl.methods import METHODS, method_name
from mtl.methods.given_rows import as_rows
from mtl.methods.method import LoadRequest, Model
from mtl.model.encoder import POOLINGS
from mtl.runs.folder import RunFolder
from mtl.runs.records import SeedScores, Summary, dev_score, read_summary
from mtl.tasks.suite import Suite, load_suite
from mtl.tasks.target_kind import Target
from mtl.tasks.targets import one_label_kind, target_kind
from mtl.tasks.task import Task

ENDINGS = (".tsv", ".txt", ".csv")  # of names of files of predictions


@dataclass(eq=False, repr=False)
class Predictor:
    """The models of one seed of a run.

    Examples:
        >>> predictor = mtl.load("runs/klej/fasttext-frozen")  # doctest: +SKIP
        >>> predictor.predict("cbd", [["Brawo!"]])  # doctest: +SKIP
        [0]
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
    encoder_task: str | None = None  # as in `load`

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
            seed: None means the seed with the best score on dev: on `task`, or without a task, on average.
            task: the task whose score chooses the seed (or the score of the task whose head answers it).
            device: where to compute: cpu, cuda (or the name of another accelerator), or auto (an accelerator if there is one).
            encoder_task: the task whose encoder `encode` uses, in a run in which each task has its own.

        Raises:
            InputError: for a folder without a finished run, a run whose models are not kept, and an unknown seed, task or device."""
        torch_device, folder = device_of(device, "device"), RunFolder(run_dir)
        config = _read_config(folder)
        summary, inputs = read_summary(folder.summary), folder.read_inputs()
        tasks = list(summary["tasks"])
        if task is not None and task not in tasks:
            raise InputError(f"task {task!r}: not in this run; it has {', '.join(tasks)}")
        suite = load_suite(folder.suite)
        if unknown := [id for id in tasks if id not in suite.tasks]:
            raise InputError(f"{unknown[0]!r} is not one of {folder.suite}", path=folder.summary, key="tasks")
        chosen_seed = _chosen_seed(folder, summary, suite, seed, task)
        seed_folder = folder.seed(chosen_seed)
        answers = read_json(folder.answers, dict[str, list[str]]) if folder.answers.exists() else {}
        request = LoadRequest(config, suite, run_dir, seed_folder, inputs, answers, torch_device, tasks, encoder_task)
        model = METHODS[config.method].load(request)
        return cls(folder, config, suite, tasks, chosen_seed, model, device, encoder_task)

    def predict(self, task: str, rows: Sequence[Row]) -> list[Any]:
        """A prediction for each example, of the type that `mtl.Run.predictions` has: a label (an integer if all labels are whole numbers, else a
        string), a float, a candidate's index, a text, or a list of labels. Raises InputError for examples of another form.

        Args:
            rows: the texts of each example: one text, or two for a pair. For a choice: the candidates, after the text if the task has one.
                For a task with marked spans: after the texts, start and stop of each span in characters of its text, half-open.
                A row of one text alone may be the text. Without candidates and spans, a row may be a dictionary, and the rows a DataFrame, with
                the columns of the texts. Where each token has a label, a text may be the list of its tokens."""
        return list(map(target_kind(self.task(task)).to_python, self._targets(task, rows)))

    @exact_arithmetic()
    def _targets(self, task: str, rows: Sequence[Row]) -> list[Target]:
        suite_task = self.task(task)
        checked = as_rows(suite_task, rows)
        return self.model.predict(suite_task, checked).tolist() if checked else []

    def labels(self, task: str) -> list[Any]:
        """The labels of a task in the order of the columns of `predict_proba`, of the type that `predict` returns. Raises InputError as it does."""
        return one_label_kind(self.task(task), "probabilities").values

    @exact_arithmetic()
    def predict_proba(self, task: str, rows: Sequence[Row]) -> np.ndarray:
        """The probability of each label for each example, float64 (examples, labels), in the order of `labels(task)`. `predict` returns the most
        probable label. Probabilities are the softmax of the outputs, and are not calibrated. Arguments are as in `predict`. Raises InputError for
        examples of another form, a task whose targets are not one label each, and a method without probabilities."""
        suite_task = self.task(task)
        checked, labels = as_rows(suite_task, rows), self.labels(task)
        if not checked:
            return np.empty((0, len(labels)))
        outputs = self.model.outputs(suite_task, checked).astype(np.float64)
        shares = np.exp(outputs - outputs.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    @exact_arithmetic()
    def encode(self, texts: Sequence[str], pooling: str | None = None, progress: bool = False) -> np.ndarray:
        """Text vectors, float32 (texts, dim). Raises InputError for a text that is not in a list, and for another pooling.

        Args:
            pooling: how the vectors of a text's tokens become one: their max or mean; None: max for an LSTM, as in training, mean for a transformer.
            progress: show it on standard error."""
        method = pooling or self.model.pooling
        check_choice("pooling", method, POOLINGS)
        return encode_blocks(texts, lambda block: self.model.encode(block, method), self.model.dim, progress)

    def as_transformer(self, pooling: str | None = None) -> Any:
        """A scikit-learn transformer from texts to the vectors of `encode`, for a Pipeline. Clones share the run; a pickle needs the run's folder."""
        from mtl.methods.text_transformer import TextTransformer  # importing scikit-learn takes a second

        return TextTransformer(self, pooling)

    def __deepcopy__(self, memo: Any) -> "Predictor":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Predictor.load, (self.folder.path, self.seed, None, self.device, self.encoder_task)

    def predict_file(self, task: str, path: Path, out: Path | None) -> None:
        """Predict the examples of a file. Write one prediction per line, in their order, after a header. Raises InputError.

        Args:
            path: a file with the task's columns of texts and spans; its suffix says its format (`mtl.data.records`).
            out: the file to write, whose name ends in .tsv, .txt or .csv, or has no ending; None: standard output."""
        suite_task, ending = self.task(task), "" if out is None else out.suffix
        if ending not in ("", *ENDINGS):
            endings = " or ".join(ENDINGS)
            raise InputError(f"predictions are lines of text; their file's name ends in {endings}", path=out)
        if out is not None and out.exists() and path.exists() and out.samefile(path):
            raise InputError("is the file that is read; name another one with --out", path=out)
        header = suite_task.target if self.config.submission.header == "task" else "target"
        rows = [example.row for example in read_examples(suite_task, path, targets=False)]
        targets, kind = self._targets(task, rows), target_kind(suite_task)
        content = StringIO()
        if ending == ".csv":
            csv.writer(content, lineterminator="\n").writerows([cell] for cell in [header, *map(kind.format, targets)])
        else:
            content.writelines(f"{line}\n" for line in [header, *map(kind.to_line, targets)])
        if out is None:
            write_data(content.getvalue())
        else:
            write_text(out, content.getvalue())

    def task(self, task: str) -> Task:
        """The task with this id. Raises InputError for an id that is not in the run."""
        if not isinstance(task, str) or task not in self.tasks:
            named = repr(task) if isinstance(task, str) else f"a value of type {type(task).__name__}"
            raise InputError(f"task {named}: not in this run; it has {', '.join(self.tasks)}")
        return self.suite.tasks[task]


def _read_config(folder: RunFolder) -> Config:
    """The configuration of a finished run. Raises InputError for another folder, and for a run whose models are not kept."""
    if folder.path.is_dir():
        check_plain_folder(folder.path)
    config = read_config(folder.config, lambda name: embedder_kind(name).options)
    if METHODS[method_name(config.method)].loads is None:
        message = f"the models of method {config.method} are not kept; runs of these methods predict new examples"
        loadable = ", ".join(name for name, method in METHODS.items() if method.loads)
        raise InputError(f"{message}: {loadable}", path=folder.path)
    if not folder.summary.exists():
        raise InputError("this run is not finished; give its command again", path=folder.path)
    return config


def _chosen_seed(folder: RunFolder, summary: Summary, suite: Suite, seed: int | None, task: str | None) -> int:
    """The seed, or the one with the best score on dev. Raises InputError for an unknown one, and for damaged scores of any seed."""
    scores = {number: read_json(folder.scores(number), SeedScores) for number in summary["seeds"]}
    if seed is None:
        return max(scores, key=lambda number: dev_score(folder.scores(number), scores[number], suite, task))
    if seed not in scores:
        raise InputError(f"seed {seed}: not in this run; it has {', '.join(map(str, scores))}")
    return seed
