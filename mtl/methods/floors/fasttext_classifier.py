"""fastText's supervised models with scikit-learn's interface."""

import tempfile
from collections.abc import Sequence
from numbers import Integral, Real
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, Options, StrOptions

from mtl.base.errors import InputError
from mtl.embedders.fasttext_process import training_process

LABEL = "__LABEL__"  # begins a target in a line for fastText: in capitals, with which no lower-case token begins
DIM = 100
# fastText 0.9.3 with one thread draws random numbers for the first tenth of its table alone; the rest is zero (`training_process`). Words
# come first in the table, and rows for n-grams follow: with these numbers of rows for n-grams, all words begin at random.
BUCKETS = 200_000
BUCKETS_PER_WORD = 10
NO_CHARACTERS = 1_000  # the shortest n-gram of characters where there are to be none: without n-grams, fastText has no rows for them
MOST_BINS = 10  # classes that numbers are divided into
MOST_COPIES = 20  # of a row of a rare class
LEAST_SUM = 1e-12  # of a row's probabilities, all of which may be 0


class FastTextClassifier(BaseEstimator):
    """fastText's supervised classifier (Joulin et al. 2017) of lines of tokens, on one thread, so that results are reproducible."""

    _parameter_constraints = {
        "lr": [Interval(Real, 0, None, closed="neither")],
        "epoch": [Interval(Integral, 1, None, closed="left")],
        "word_ngrams": [Interval(Integral, 1, 5, closed="both")],
        "max_characters": [Interval(Integral, 2, 10, closed="both"), Options(int, {0})],
        "class_weight": [StrOptions({"balanced"}), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        lr: float = 0.5,  # the learning rate
        epoch: int = 5,  # the number of epochs
        word_ngrams: int = 1,  # the longest n-gram of words
        max_characters: int = 0,  # the longest character n-gram within words, from 2; 0: none
        class_weight: str | None = None,  # "balanced": rows of rare classes are repeated; fastText weights no classes
        random_state: int | None = None,
    ) -> None:
        self.lr, self.epoch = lr, epoch
        self.word_ngrams, self.max_characters = word_ngrams, max_characters
        self.class_weight, self.random_state = class_weight, random_state

    def fit(self, lines: Sequence[str], targets: np.ndarray) -> "FastTextClassifier":
        """Train on lines of tokens and their targets (rows,), in random order. Raises InputError if fastText fails."""
        self.classes_, codes = np.unique(targets, return_inverse=True)
        rows = np.arange(len(codes))
        if self.class_weight == "balanced":
            counts = np.bincount(codes)
            rows = np.repeat(rows, np.clip(np.rint(counts.max() / counts), 1, MOST_COPIES).astype(int)[codes])
        order = np.random.default_rng(self.random_state).permutation(rows).tolist()
        words = len({word for line in lines for word in line.split()})
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "train.txt"
            file.write_text("".join(f"{LABEL}{codes[row]} {lines[row]}\n" for row in order), encoding="utf-8")
            self._train(file, words)
        return self

    def _train(self, file: Path, words: int) -> None:
        """Train on a file of lines with so many distinct words, and read the model."""
        import fasttext

        arguments = {
            "input": str(file), "lr": self.lr, "epoch": self.epoch, "wordNgrams": self.word_ngrams,
            "minn": 2 if self.max_characters else NO_CHARACTERS,
            "maxn": self.max_characters or NO_CHARACTERS,
            "bucket": max(BUCKETS, BUCKETS_PER_WORD * words),
            "dim": DIM, "loss": "softmax", "label": LABEL, "thread": 1,
            "seed": 0 if self.random_state is None else self.random_state % 2**31,
            "verbose": 0,
        }  # fmt: skip
        model = file.with_name("model.bin")
        with training_process("train_supervised", arguments, model) as process:
            printed = process.communicate()[1]
        if process.returncode:
            reasons = printed.strip().splitlines() or [f"exit status {process.returncode}"]
            raise InputError(f"fastText could not train: {reasons[-1]}")
        self.model_ = fasttext.load_model(str(model))

    def predict_proba(self, lines: Sequence[str]) -> np.ndarray:
        """The probability of each class, (rows, classes)."""
        probabilities = np.zeros((len(lines), len(self.classes_)))
        # The package's own `predict` fails with NumPy 2.
        predictions = self.model_.f.multilinePredict([f"{line}\n" for line in lines], len(self.classes_), 0.0, "strict")
        for row, (labels, values) in enumerate(zip(*predictions, strict=True)):
            probabilities[row, [int(label.removeprefix(LABEL)) for label in labels]] = values
        return probabilities

    def predict(self, lines: Sequence[str]) -> np.ndarray:
        """Predicted targets (rows,)."""
        return self.classes_[self.predict_proba(lines).argmax(axis=1)]


class FastTextRegressor(FastTextClassifier):
    """Numbers as at most ten classes of nearly equal size: a prediction is the mean of the classes' means, weighted with their probabilities."""

    def fit(self, lines: Sequence[str], targets: np.ndarray) -> "FastTextRegressor":
        edges = np.unique(np.quantile(targets, np.linspace(0, 1, MOST_BINS + 1)[1:-1]))
        bins = np.searchsorted(edges, targets, side="left")
        super().fit(lines, bins)
        self.means_ = np.array([targets[bins == number].mean() for number in self.classes_])
        return self

    def predict(self, lines: Sequence[str]) -> np.ndarray:
        """Predicted numbers (rows,)."""
        probabilities = self.predict_proba(lines)
        return probabilities @ self.means_ / np.maximum(probabilities.sum(axis=1), LEAST_SUM)
