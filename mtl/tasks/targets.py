"""The target kinds: labels, numbers, choices among a row's candidates, words, texts. `mtl.tasks.target_kind` describes their parts."""

import math
import re
from collections import Counter
from collections.abc import Hashable, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mtl.tasks.target_kind import (
    LEAST_PROBABILITY,
    Cells,
    HeadTargets,
    SimpleAnswers,
    Target,
    TargetKind,
    TaskTargets,
    Wording,
)
from mtl.tasks.task import Task

if TYPE_CHECKING:
    from torch import Tensor

MOST_DIGITS = 6  # in the index of a candidate
LARGEST = 1e100  # what a predicted number may be, so that the sum of many squares is finite
ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
CHARACTERS = {escape: character for character, escape in ESCAPES.items()}


class _Labelled:
    """The labels of a task, in the order of their indices."""

    task: Task

    @property
    def labels(self) -> list[str]:
        return self.task.labels or []


class LabelCells(_Labelled, Cells):
    """One of a fixed list of labels: a target is the label's index."""

    @classmethod
    def problem(cls, task: Task) -> str | None:
        if task.labels is None or len(task.labels) < 2 or len(set(task.labels)) < len(task.labels):
            return "labels: needs at least two, all different"
        return None

    def has_type(self, value: object) -> bool:
        """A label is a string. Labels that are whole numbers ("0", "1"), or "true" and "false", may have the JSON type, too."""
        return isinstance(value, str) or (isinstance(value, int) and str(value).lower() in self.labels)

    def parse(self, cell: str, candidates: int | None = None) -> float:
        if cell not in self.labels:
            raise ValueError(f"unknown label {cell!r}, expected one of {', '.join(self.labels)}")
        return float(self.labels.index(cell))

    def format(self, target: Target) -> str:
        return self.labels[int(target)]

    def wrong(self, gold: Target | None, candidates: int | None = None) -> float:
        """The first label that is not gold."""
        return 1.0 if gold == 0 else 0.0


def _soft_cross_entropy(outputs: "Tensor", teacher: "Tensor", temperature: float) -> "Tensor":
    """The cross-entropy of the outputs' softmax against the teacher's, × temperature²; outputs of -inf count in neither. Both (rows, outputs)."""
    shares = (teacher / temperature).softmax(dim=1)
    logarithms = (outputs / temperature).log_softmax(dim=1).masked_fill(shares == 0, 0)
    return -(shares * logarithms).sum(dim=1).mean() * temperature**2


def _log_mean(outputs: Sequence["Tensor"]) -> "Tensor":
    """The logarithm of the mean of several softmaxes. Each has the shape (rows, outputs)."""
    import torch

    return torch.stack([scores.float().log_softmax(dim=1) for scores in outputs]).logsumexp(dim=0) - math.log(
        len(outputs)
    )


class _ClassesHead(HeadTargets):
    """One output for each class."""

    def soft_loss(self, outputs: "Tensor", teacher: "Tensor", sizes: "Tensor | None", temperature: float) -> "Tensor":
        return _soft_cross_entropy(outputs.float(), teacher, temperature)

    def joint(self, outputs: Sequence["Tensor"], sizes: "Tensor | None") -> "Tensor":
        return _log_mean(outputs)

    def predict(self, outputs: "Tensor", sizes: "Tensor | None") -> "Tensor":
        return outputs.argmax(dim=1)


class LabelHead(_Labelled, _ClassesHead):
    """One output for each label."""

    weights: np.ndarray | None = None  # of the labels in the loss, float32 (labels,)

    def outputs(self, answers: Sequence[str]) -> int:
        return len(self.labels)

    def loss(self, outputs: "Tensor", codes: "Tensor", sizes: "Tensor | None") -> "Tensor":
        """Cross-entropy, weighted in what `balanced` returns."""
        from torch.nn import functional as F

        weights = None if self.weights is None else outputs.new_tensor(self.weights)
        return F.cross_entropy(outputs, codes.long(), weight=weights)

    def loss_weight(self, codes: "Tensor", sizes: "Tensor | None") -> "Tensor":
        if self.weights is None:
            return super().loss_weight(codes, sizes)
        return codes.new_tensor(self.weights)[codes.long()].sum()

    def row_weights(self, codes: np.ndarray) -> np.ndarray | None:
        return None if self.weights is None else self.weights[codes.astype(int)]

    def balanced(self, codes: np.ndarray, power: float) -> Self:
        """Label c has the weight (rows / (labels * rows of c)) ** power; a label that no training row has, the weight 1."""
        counts = np.bincount(codes.astype(int), minlength=len(self.labels))
        shares = counts * len(self.labels) / len(codes)
        weighted = copy(self)
        weighted.weights = np.where(counts > 0, np.maximum(shares, 1e-12) ** -power, 1.0).astype(np.float32)
        return weighted


class LabelAnswers(_Labelled, SimpleAnswers):
    """Labels as answers."""

    def fit_targets(self, targets: np.ndarray, sizes: np.ndarray | None) -> np.ndarray:
        return targets.astype(np.int64)

    def uniform(self, train: np.ndarray, sizes: np.ndarray | None, rows: int, rng: np.random.Generator) -> np.ndarray:
        """Each of the task's labels is equally probable, whether it occurs or not."""
        return rng.integers(len(self.labels), size=rows).astype(np.float64)

    def constants(self, train: np.ndarray) -> list[Target]:
        """Every label, the most frequent first."""
        counts = np.bincount(train.astype(np.int64), minlength=len(self.labels))
        return [float(label) for label in np.argsort(-counts, kind="stable")]

    def stratum(self, target: Target | None) -> Hashable:
        return target


class LabelWording(_Labelled, Wording):
    """Labels and their shares."""

    chart = "confusion"

    def distribution(self, targets: np.ndarray) -> str:
        first, last = min(self.labels), max(self.labels)
        alike = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), 0)
        common = first[: first.rfind("_", 0, alike) + 1]  # as in __label__meta_zero
        shares = np.bincount(targets.astype(int), minlength=len(self.labels)) / len(targets)
        names = [f"{'…' if common else ''}{label.removeprefix(common)}" for label in self.labels]
        return ", ".join(f"{name} {share:.1%}" for name, share in zip(names, shares, strict=True))

    def absent(self, targets: np.ndarray) -> list[str]:
        return [label for index, label in enumerate(self.labels) if index not in targets]


class NumberCells(Cells):
    """A number within a range."""

    types = (int, float)
    types_name = "a number"

    @classmethod
    def problem(cls, task: Task) -> str | None:
        if task.range is None or len(task.range) != 2 or not -np.inf < task.range[0] < task.range[1] < np.inf:
            return "range: must be [smallest, largest], two finite numbers"
        return None

    def parse(self, cell: str, candidates: int | None = None) -> float:
        low, high = self.task.bounds
        number = _number(cell)
        if not low <= number <= high:
            raise ValueError(f"target {cell} is outside {low:g} to {high:g}")
        return number

    def parse_prediction(self, cell: str, candidates: int | None = None) -> float:
        """Any number that metrics can square: they are defined outside the range, too, and regressors predict such numbers."""
        number = _number(cell)
        if not abs(number) <= LARGEST:
            raise ValueError(f"target {cell} is not finite, or beyond {LARGEST:g}")
        return number

    def to_json(self, target: Target) -> float:
        return float(target)

    def format(self, target: Target) -> str:
        return repr(float(target))

    def remark(self, predictions: np.ndarray) -> str | None:
        low, high = self.task.bounds
        outside = int(((predictions < low) | (predictions > high)).sum())
        return f"{outside} of {len(predictions)} predictions are outside {low:g} to {high:g}" if outside else None

    def wrong(self, gold: Target | None, candidates: int | None = None) -> float:
        """The end of the range that is farther from gold."""
        low, high = self.task.bounds
        return high if gold is not None and high - float(gold) > float(gold) - low else low


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        raise ValueError(f"target {cell!r} is not a number") from None


class NumberHead(HeadTargets):
    """One output, a number."""

    by_cosine = True

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.ends = task.bounds  # the numbers that the outputs 0 and 1 mean

    def outputs(self, answers: Sequence[str]) -> int:
        return 1

    def decode(self, codes: np.ndarray, answers: Sequence[str]) -> np.ndarray:
        """Numbers clipped to the range, in float64: float32 rounds an end such as 0.8 to a number outside."""
        return np.clip(codes, *self.task.bounds)

    def loss(self, outputs: "Tensor", codes: "Tensor", sizes: "Tensor | None") -> "Tensor":
        """The squared error of targets scaled to 0 … 1; in what `unscaled` returns, of the targets."""
        from torch.nn import functional as F

        low, high = self.ends
        return F.mse_loss(outputs[:, 0], (codes - low) / (high - low))

    def soft_loss(self, outputs: "Tensor", teacher: "Tensor", sizes: "Tensor | None", temperature: float) -> "Tensor":
        """The squared error of the outputs: numbers have no temperature."""
        from torch.nn import functional as F

        return F.mse_loss(outputs.float(), teacher)

    def unscaled(self) -> Self:
        unscaled = copy(self)
        unscaled.ends = (0.0, 1.0)
        return unscaled

    def standard(self, outputs: np.ndarray) -> np.ndarray:
        (low, high), (first, last) = self.ends, self.task.bounds
        return ((low - first + (high - low) * outputs) / (last - first)).astype(outputs.dtype)

    def predict(self, outputs: "Tensor", sizes: "Tensor | None") -> "Tensor":
        """Numbers that may be outside the range; `decode` clips them."""
        low, high = self.ends
        return low + (high - low) * outputs[:, 0].float()


class NumberAnswers(SimpleAnswers):
    """Numbers as answers."""

    estimator = "regressor"

    def from_estimator(self, estimator: Any, features: Any, sizes: np.ndarray | None) -> np.ndarray:
        return np.clip(super().from_estimator(estimator, features, sizes), *self.task.bounds)

    def outputs(self, estimator: Any, features: Any, head: HeadTargets, answers: Sequence[str]) -> np.ndarray:
        low, high = self.task.bounds
        numbers = np.asarray(estimator.predict(features), dtype=np.float64)
        return ((numbers - low) / (high - low)).astype(np.float32)[:, None]

    def uniform(self, train: np.ndarray, sizes: np.ndarray | None, rows: int, rng: np.random.Generator) -> np.ndarray:
        """Each number between the smallest and the largest of the training rows is equally probable."""
        return rng.uniform(train.min(), train.max(), size=rows)

    def commonest(self, train: np.ndarray) -> Target:
        return float(train.mean())

    def constants(self, train: np.ndarray) -> list[Target]:
        """The mean, then the median of the distinct numbers.

        All constants have the correlation 0. In 1 - wMAE, the error of a constant a on each row with rating c is |a - c|, so
        its total error is the mean of |a - c| over the distinct ratings, which is smallest at their median.
        """
        return [float(train.mean()), float(np.median(np.unique(train)))]


class NumberWording(Wording):
    """Numbers as people read them."""

    chart = "points"

    def show(self, target: Target) -> str:
        return f"{float(target):g}"

    def distribution(self, targets: np.ndarray) -> str:
        return f"mean {targets.mean():.2f}, sd {targets.std():.2f}, {targets.min():g} to {targets.max():g}"

    def distance(self, groups: Sequence[Sequence[Target]]) -> str:
        largest = max(max(map(float, group)) - min(map(float, group)) for group in groups)
        return f"the targets differ by up to {largest:g}"


class ChoiceCells(Cells):
    """One of a row's candidates: a target is the index of the right one, from 0."""

    types = (int,)
    types_name = "an integer"

    @classmethod
    def problem(cls, task: Task) -> str | None:
        if not task.candidates:
            return "candidates: a choice names columns of candidates, or a column with lists of them, as in [answers[]]"
        if len(task.text) > 1:
            return "text: a choice has at most one text column beside its candidates"
        return None

    def parse(self, cell: str, candidates: int | None = None) -> float:
        if not cell.isdecimal() or not cell.isascii() or len(cell) > MOST_DIGITS:
            raise ValueError(f"target {cell!r} is not the index of a candidate (0, 1, …)")
        if candidates is not None and int(cell) >= candidates:
            raise ValueError(f"target {cell} is not the index of one of the row's {candidates} candidates")
        return float(cell)

    def to_json(self, target: Target) -> int:
        return int(target)

    def format(self, target: Target) -> str:
        return str(int(target))

    def wrong(self, gold: Target | None, candidates: int | None = None) -> float:
        """The first candidate that is not gold."""
        return 1.0 if gold == 0 and candidates != 1 else 0.0


class ChoiceHead(HeadTargets):
    """One output for each candidate."""

    separately = False  # whether the loss judges each candidate by itself

    def outputs(self, answers: Sequence[str]) -> int:
        return 1

    def loss(self, outputs: "Tensor", codes: "Tensor", sizes: "Tensor | None") -> "Tensor":
        """Cross-entropy over the candidates of each row; in what `separated` returns, binary cross-entropy of each candidate."""
        from torch.nn import functional as F

        if self.separately:
            return F.binary_cross_entropy_with_logits(outputs[:, 0].float(), _is_right(codes, sizes))
        return F.cross_entropy(_by_row(outputs, sizes), codes.long())

    def soft_loss(self, outputs: "Tensor", teacher: "Tensor", sizes: "Tensor | None", temperature: float) -> "Tensor":
        """Against the teacher's softmax over the candidates of each row; in what `separated` returns, against its sigmoid of each candidate."""
        from torch.nn import functional as F

        if self.separately:
            shares = (teacher[:, 0] / temperature).sigmoid()
            return F.binary_cross_entropy_with_logits(outputs[:, 0].float() / temperature, shares) * temperature**2
        return _soft_cross_entropy(_by_row(outputs, sizes), _by_row(teacher, sizes), temperature)

    def loss_weight(self, codes: "Tensor", sizes: "Tensor | None") -> "Tensor":
        if sizes is None or not self.separately:
            return super().loss_weight(codes, sizes)
        return codes.new_tensor(int(sizes.sum()))

    def separated(self) -> Self:
        separated = copy(self)
        separated.separately = True
        return separated

    def joint(self, outputs: Sequence["Tensor"], sizes: "Tensor | None") -> "Tensor":
        joint = _log_mean([_by_row(scores, sizes) for scores in outputs])
        return joint[joint > -np.inf].unsqueeze(1)

    def predict(self, outputs: "Tensor", sizes: "Tensor | None") -> "Tensor":
        return _by_row(outputs, sizes).argmax(dim=1)


def _by_row(outputs: "Tensor", sizes: "Tensor | None") -> "Tensor":
    """Head outputs (inputs, 1) as one row per row of the task, (rows, candidates), padded with -inf after the last candidate."""
    from torch.nn.utils.rnn import pad_sequence

    assert sizes is not None
    rows = outputs[:, 0].float().split(sizes.tolist())
    return pad_sequence(rows, batch_first=True, padding_value=-np.inf)


def _is_right(codes: "Tensor", sizes: "Tensor | None") -> "Tensor":
    """1 for the right candidate of each row, 0 for the others: (inputs,). codes: of the right ones, (rows,)."""
    assert sizes is not None
    right = codes.new_zeros(int(sizes.sum()))
    right[(sizes.cumsum(0) - sizes).to(codes.device) + codes.long()] = 1
    return right


class ChoiceAnswers(SimpleAnswers):
    """Candidates as answers."""

    def fit_targets(self, targets: np.ndarray, sizes: np.ndarray | None) -> np.ndarray:
        """1 for a row's right candidate, 0 for its others."""
        assert sizes is not None
        index_in_row = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return (index_in_row == np.repeat(targets, sizes)).astype(np.int64)

    def from_estimator(self, estimator: Any, features: Any, sizes: np.ndarray | None) -> np.ndarray:
        """The candidate with the estimator's highest score; among equals, the first one."""
        assert sizes is not None
        if hasattr(estimator, "decision_function"):
            scores = np.asarray(estimator.decision_function(features))
        else:
            scores = np.asarray(estimator.predict_proba(features))[:, 1]
        rows = np.split(scores, np.cumsum(sizes)[:-1])
        return np.array([np.argmax(row) for row in rows], dtype=np.float64)

    def outputs(self, estimator: Any, features: Any, head: HeadTargets, answers: Sequence[str]) -> np.ndarray:
        """The logarithm of the odds that each candidate is the right one."""
        wrong, right = np.maximum(estimator.predict_proba(features), LEAST_PROBABILITY).T
        return np.log(right / wrong).astype(np.float32)[:, None]

    def repeat(self, answer: Target, rows: int, sizes: np.ndarray | None) -> np.ndarray:
        """The candidate with this index; the last candidate in a row that has fewer."""
        assert sizes is not None
        return np.minimum(super().repeat(answer, rows, sizes), sizes - 1)

    def draw(self, train: np.ndarray, sizes: np.ndarray | None, rows: int, rng: np.random.Generator) -> np.ndarray:
        """Each candidate of a row is equally probable."""
        assert sizes is not None
        return rng.integers(sizes).astype(np.float64)

    def uniform(self, train: np.ndarray, sizes: np.ndarray | None, rows: int, rng: np.random.Generator) -> np.ndarray:
        return self.draw(train, sizes, rows, rng)

    def commonest(self, train: np.ndarray) -> Target:
        """The first candidate: the order of candidates carries no meaning."""
        return 0.0


class WordCells(Cells):
    """A word without a fixed list of labels."""

    dtype = object

    def parse(self, cell: str, candidates: int | None = None) -> str:
        if not is_word(cell):
            problem = "is not a word: it is empty, has a tab or a line end, or is not valid Unicode"
            raise ValueError(f"target {cell!r} {problem}")
        return cell


def is_word(text: str) -> bool:
    """Whether a prediction file can hold this text as a word: it is not blank, has no tab or line end, and can be written in UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair, or bytes of a file that are not UTF-8
        return False
    return bool(text.strip()) and not any(mark in text for mark in "\t\n\r")


class WordHead(_ClassesHead):
    """One output for each target of the training rows."""

    def answers(self, train: np.ndarray) -> list[str]:
        return sorted(set(train.tolist()))

    def outputs(self, answers: Sequence[str]) -> int:
        return len(answers)

    def encode(self, targets: np.ndarray, answers: Sequence[str]) -> np.ndarray:
        """The index of each word in the answers; -1 for a word that is not one of them."""
        index = {answer: code for code, answer in enumerate(answers)}
        return np.array([index.get(target, -1) for target in targets], dtype=np.float64)

    def decode(self, codes: np.ndarray, answers: Sequence[str]) -> np.ndarray:
        return np.array([answers[int(code)] for code in codes], dtype=object)

    def loss(self, outputs: "Tensor", codes: "Tensor", sizes: "Tensor | None") -> "Tensor":
        from torch.nn import functional as F

        return F.cross_entropy(outputs, codes.long())


class WordAnswers(SimpleAnswers):
    """Words as answers."""

    def fit_targets(self, targets: np.ndarray, sizes: np.ndarray | None) -> np.ndarray:
        return targets.astype(str)


def escape(text: str) -> str:
    """The text in one line: a backslash, a tab, a line feed and a carriage return become two characters, as in JSON."""
    return re.sub(r"[\\\t\n\r]", lambda match: ESCAPES[match[0]], text)


def unescape(line: str) -> str:
    """The text that `escape` wrote. Raises ValueError for a backslash that begins no escape."""

    def character(match: re.Match[str]) -> str:
        if match[0] not in CHARACTERS:
            remedy = "write \\\\ for a backslash, \\t for a tab, \\n and \\r for line ends"
            raise ValueError(f"{match[0]!r} is no escape; {remedy}")
        return CHARACTERS[match[0]]

    return re.sub(r"\\.?", character, line)


class TextCells(Cells):
    """A text, such as a summary."""

    dtype = object

    def parse(self, cell: str, candidates: int | None = None) -> str:
        if not cell.strip():
            raise ValueError("the target is an empty text")
        return cell

    def parse_prediction(self, cell: str, candidates: int | None = None) -> str:
        """The text. A predicted text may be empty."""
        return cell

    def to_line(self, target: Target) -> str:
        return escape(str(target))

    def line_cell(self, line: str) -> str:
        return unescape(line)


class TextAnswers(SimpleAnswers):
    """Texts as answers."""

    def constants(self, train: np.ndarray) -> list[Target]:
        """The most frequent text alone: scoring more of them on all training rows takes long, and most texts occur once."""
        return [text for text, _ in Counter(train.tolist()).most_common(1)]


# By the value of `kind` in a suite file.
TARGET_KINDS: dict[str, TargetKind] = {
    "labels": TargetKind(LabelCells, LabelHead, LabelAnswers, LabelWording, declared_by="labels"),
    "number": TargetKind(NumberCells, NumberHead, NumberAnswers, NumberWording, declared_by="range"),
    "choice": TargetKind(ChoiceCells, ChoiceHead, ChoiceAnswers, declared_by="candidates"),
    "word": TargetKind(WordCells, WordHead, WordAnswers),
    "text": TargetKind(TextCells, None, TextAnswers),  # only methods that write texts predict it
}


def target_kind(task: Task) -> TaskTargets:
    """The targets of the task. The task must have been checked, as `mtl.tasks.suite.load_suite` does."""
    return TaskTargets(TARGET_KINDS[task.kind], task)


def names_of_kind(name: str) -> list[str]:
    """The name of a kind and of those that it is derived from."""
    names = [name]
    while (base := TARGET_KINDS[names[-1]].derived_from) is not None:
        names.append(base)
    return names
