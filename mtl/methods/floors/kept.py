"""Floors that were kept (`floor.keep=true`): estimators and features in files that run no code when they are read, and predictions with
them."""

import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np

from mtl.base.errors import InputError
from mtl.base.extras import check_installed
from mtl.base.files import replacing
from mtl.base.memory import check_fits
from mtl.base.untrusted import open_regular
from mtl.data.dataset import Split, first_choices, make_split
from mtl.data.examples import Row, make_example, span_texts
from mtl.data.text import moses
from mtl.methods.floors.estimators import guess_for
from mtl.methods.floors.features import Document, Matrix, RowFeatures
from mtl.methods.method import LoadRequest
from mtl.settings.schema import Config
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

# Methods whose models can be kept. A damaged tree would let scikit-learn read any memory: skops trusts none.
KEEPABLE = ("svm", "logistic", "naive_bayes", "overlap")
AGAIN = "make the run again with floor.keep=true and another run_dir="
# What a file may hold beside scikit-learn's and NumPy's own types. Nothing else is made of it, and nothing of it is called.
TRUSTED = [
    f"mtl.methods.floors.{name}"
    for name in (
        *("estimators.CosineInRange", "estimators.YesOrNo", "features.JoinedFeatures", "features.TaskFeatures"),
        *("features.Tfidf", "features._same", "features._text", "features._tokens", "features.counted_features"),
        *(
            "features.forest_features",
            "features.linear_features",
            "features.overlap_features",
            "features.tree_features",
        ),
    )
]


class Kept(NamedTuple):
    """What predicts a task's targets: an estimator, and what makes its features of rows."""

    estimator: Any
    features: RowFeatures


def kept_file(seed_folder: Path, task: str) -> Path:
    """Where the model of a task is kept."""
    return seed_folder / "models" / f"{task}.skops"


def write_kept(path: Path, kept: Kept) -> None:
    """Write a model. It takes the package skops."""
    from skops.io import dump

    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as partial, partial.open("wb") as file:
        dump(kept._asdict(), file)


def read_kept(path: Path) -> Kept:
    """The model in a file. Raises InputError for a file that is missing, damaged, or holds something other than a floor."""
    check_installed("skops", path=path)
    from skops.io import load

    if not path.exists():
        raise InputError(f"no such file: the models of this run were not kept; {AGAIN}", path=path)
    try:
        with open_regular(path) as file, zipfile.ZipFile(file) as archive:
            check_fits(sum(part.file_size for part in archive.infolist()), f"{path}: its content", AGAIN)
        content = load(path, trusted=TRUSTED)
        return Kept(content["estimator"], content["features"])
    except InputError:
        raise
    except Exception as error:  # skops raises errors of many kinds for damaged files
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"is no floor that mtl kept ({reason or type(error).__name__}); {AGAIN}", path=path) from None


@dataclass
class TrainedFloor:
    """The trained models of one seed.

    Args:
        language: of the suite.
        kept: by the id of the task that each was trained on.
        answers: see `mtl.data.dataset.Dataset`.
    """

    config: Config
    language: str
    kept: Mapping[str, Kept]
    answers: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def predict(self, task: Task, rows: Sequence[Row]) -> np.ndarray:
        """Predicted targets (rows,) for new rows, whose texts are tokenized here if the features are of tokens.

        Raises:
            InputError: for a task without a model, whose predictions are a constant answer.
        """
        estimator, features, split = self._read(task, rows)
        return decided(task, estimator, features, split)

    def outputs(self, task: Task, rows: Sequence[Row]) -> np.ndarray:
        """What it says as a head's outputs, float32 (inputs, outputs): of classes, logarithms of probabilities. Arguments: as in `predict`.

        Raises:
            InputError: as in `predict`, and for a classifier without probabilities.
        """
        estimator, features, _ = self._read(task, rows)
        kind = target_kind(task)
        if kind.simple.estimator == "classifier" and not hasattr(estimator, "predict_proba"):
            raise InputError(
                f"its answers to {task.id} have no probabilities; name a run of another method, such as logistic",
                key="method",
                value=self.config.method,
            )
        return kind.simple.outputs(estimator, features, kind.head, self.answers.get(task.answered_by or task.id, []))

    def _read(self, task: Task, rows: Sequence[Row]) -> tuple[Any, Matrix, Split]:
        """The estimator of a task, and the features and texts of new rows."""
        if (source := task.answered_by or task.id) not in self.kept:
            raise InputError(f"task {source}: method {self.config.method} has no model for it, only a constant answer")
        tokenize, length = moses(self.language), self.config.max_length
        joined = self.config.floor.features == "joined"
        examples = [make_example(task, row) for row in rows]
        documents = [
            [Document(text, []) for text in (*texts, *span_texts(task, texts, example.spans))]
            if joined
            else [Document(text, tokenize(text)[:length]) for text in texts]
            for example in examples
            for texts in example.inputs
        ]
        kept = self.kept[source]
        texts = dict.fromkeys(text for example in examples for text in example.texts)
        split = make_split(task, examples, {text: number for number, text in enumerate(texts)})
        return kept.estimator, kept.features.transform(documents), split


def decided(task: Task, estimator: Any, features: Matrix, rows: Split) -> np.ndarray:
    """Predicted targets (rows,); of equal candidates, the first one.

    Args:
        task: the one that the estimator was trained on.
        features: of the rows' model inputs.
    """
    predicted = target_kind(task).simple.from_estimator(estimator, features, rows.sizes)
    return predicted if rows.sizes is None else first_choices(predicted, rows.texts, rows.sizes)


class KeptFloor(TrainedFloor):
    """`mtl.methods.method.Model` of a floor: it predicts, and has no vectors of texts."""

    def __getattr__(self, name: str) -> NoReturn:
        """Raises InputError for what a model with an encoder has."""
        if name.startswith("_"):
            raise AttributeError(name)
        raise InputError("has no vectors of texts; name a run with an encoder", key="method", value=self.config.method)


def load_kept(request: LoadRequest) -> KeptFloor:
    """The models of a seed. Raises InputError if they were not kept."""
    tasks = [id for id in request.trained_tasks if guess_for(request.config.method, request.suite.tasks[id]) is None]
    kept = {id: read_kept(kept_file(request.seed_folder, id)) for id in tasks}
    return KeptFloor(request.config, request.suite.language, kept, request.answers)
