"""Answer spans: a part of a passage, or nothing, answers a question. Targets are cells of `mtl.structured.answer_cells`, predictions are texts."""

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mtl.base.log import logger
from mtl.structured.answer_cells import Gold, answer_cell, answer_length, answer_position, gold, is_target, parse_starts
from mtl.structured.passages import LONGEST, best_run, unit_features, unit_text, units_of, units_within, window_answer
from mtl.tasks.floor_targets import LEAST_PROBABILITY, Sizes, Target
from mtl.tasks.head_targets import PAST, HeadTargets
from mtl.tasks.kinds.text import Text
from mtl.tasks.target_kind import UnitKind
from mtl.tasks.task import Task

if TYPE_CHECKING:
    from torch import Tensor

NONE = ""  # the prediction for a row without an answer
NONE_ALLOWED = "no answer"  # recorded with a head if some of its training rows have no answer

Codes = tuple[float, float, float]  # of a row: the first and the last unit of its answer, and whether there is none


class AnswerHead(HeadTargets):
    """Two outputs for each unit: the scores of an answer that begins with the unit, and of one that ends with it. Unit 0, the whole passage, stands
    for "no answer"; the others are its words. A target without an answer has the units 0 and 0; a prediction without one, the best run of words."""

    def answers(self, train: np.ndarray) -> list[str]:
        """`NONE_ALLOWED` if some training rows have no answer: only then, rows are predicted to have none."""
        return [NONE_ALLOWED] if any(not gold(target)["text"] for target in train.tolist()) else []

    def outputs(self, answers: Sequence[str]) -> int:
        return 2

    def encode(self, targets: np.ndarray, answers: Sequence[str], texts: Sequence[str] = ()) -> np.ndarray:
        """Codes (rows, 3). Logs how many rows do not say which of several occurrences is meant."""
        golds = [None if target is None else gold(target) for target in targets.tolist()]
        if ambiguous := sum(row is not None and row["answer_start"][:1] == [None] for row in golds):
            problem = f"the answers of {ambiguous} of {len(golds)} rows occur several times in their passages"
            remedy = "and no column says where; the first place is learnt; name a column with `starts`"
            logger.warning("task %s: %s, %s", self.task.id, problem, remedy)
        return np.array([_target_codes(row) for row in golds], dtype=np.float64).reshape(-1, 3)

    def decode(self, codes: np.ndarray, answers: Sequence[str], texts: Sequence[str] = ()) -> np.ndarray:
        """The texts of the answers. Where the third code says that there is none, they are empty if `answers` allows this."""
        predicted = []
        for (first, last, none), text in zip(codes.astype(int).tolist(), texts, strict=True):
            predicted.append(NONE if none and answers else unit_text(text, first, last))
        return np.array(predicted, dtype=object)

    def unlearnable(self, codes: np.ndarray, units: np.ndarray) -> np.ndarray:
        """Rows whose answers end after the last unit that the model reads."""
        return codes[:, 1] >= units

    def loss(self, outputs: "Tensor", codes: "Tensor", sizes: "Tensor | None") -> "Tensor":
        """The mean of two cross-entropies over the units of each row: of the first unit and of the last one."""
        from torch.nn import functional as F

        firsts, lasts = _by_row(outputs, sizes)
        return (F.cross_entropy(firsts, codes[:, 0].long()) + F.cross_entropy(lasts, codes[:, 1].long())) / 2

    def predict(self, outputs: "Tensor", sizes: "Tensor | None") -> "Tensor":
        """The codes (rows, 3) of the best run of words, and of no answer where its score, that of unit 0, is not lower."""
        import torch

        firsts, lasts = _by_row(outputs, sizes)
        none = firsts[:, 0] + lasts[:, 0]
        first, last, best = _best_runs(firsts[:, 1:], lasts[:, 1:])
        return torch.stack([first.to(none), last.to(none), (none >= best).to(none)], dim=1)


class Answer(Text, UnitKind):
    """A part of the second text, which answers the first one, or no answer."""

    head_type = AnswerHead
    has_several_codes = True
    types = (str, list)
    types_name = "a string, or a list of strings"

    @classmethod
    def problem(cls, task: Task) -> str | None:
        if len(task.text) != 2:
            return "text: a task of kind answer names two columns, of questions and of passages"
        return "spans: a task of kind answer has none" if task.spans else None

    def size(self, inputs: Sequence[Sequence[str]]) -> int:
        return len(units_of(inputs[0][-1]))

    def units(self, text: str) -> np.ndarray:
        return units_of(text)

    def unit_features(self, texts: Sequence[str]) -> list[list[str]]:
        return unit_features(*texts)

    def parse(self, cell: str, candidates: int | None = None) -> str:
        """The target in a cell, which is JSON as this kind writes it, or the text of one answer. `located` adds the positions."""
        return answer_cell(**gold(cell)) if is_target(cell) else self.join([cell])

    def join(self, values: Sequence[str]) -> str:
        texts = [text for text in values if text.strip()]
        return answer_cell(texts, [None] * len(texts))

    def located(self, target: Target, texts: Sequence[str], starts: Sequence[str] | None) -> str:
        declared, passage = gold(str(target)), texts[-1]
        answers = declared["text"]
        if not answers:
            return answer_cell([], [])
        positions = declared["answer_start"] if starts is None else parse_starts(starts, len(answers))
        checked = [answer_position(answer, start, passage) for answer, start in zip(answers, positions, strict=True)]
        first = passage.find(answers[0]) if checked[0] is None else checked[0]
        return answer_cell(answers, checked, units_within(passage, first, first + len(answers[0])))

    def parse_prediction(self, cell: str, candidates: int | None = None) -> str:
        """The text of an answer. Raises ValueError for a list of answers, and for a target in JSON."""
        if is_target(cell):
            message = "is a list of answers, as targets are; a prediction is one text, which is empty for no answer"
            raise ValueError(message)
        return cell

    def fit_targets(self, targets: np.ndarray, sizes: Sizes) -> np.ndarray:
        """1 for the words of a row's answer, or for the whole passage if it has none; 0 for its other units."""
        assert sizes is not None
        rows = [np.zeros(size, dtype=np.int64) for size in sizes]
        for row, target in zip(rows, targets.tolist(), strict=True):
            first, last = gold(target)["words"] or (0, 0)
            row[first : last + 1] = 1
        return np.concatenate(rows)

    def from_estimator(self, estimator: Any, features: Any, sizes: Sizes, texts: Sequence[str] = ()) -> np.ndarray:
        """The run of words with the largest sum of log-odds; no answer where the whole passage has higher ones."""
        assert sizes is not None
        predicted = []
        by_row = np.split(_log_odds(estimator, features), np.cumsum(sizes)[:-1])
        for odds, text in zip(by_row, texts, strict=True):
            first, last, total = best_run(odds[1:]) if len(odds) > 1 else (0, 0, -math.inf)
            predicted.append(NONE if odds[0] > total else unit_text(text, first + 1, last + 1))
        return np.array(predicted, dtype=object)

    def draw(self, train: np.ndarray, sizes: Sizes, rows: int, rng: np.random.Generator) -> np.ndarray:
        """Codes (rows, 3) of runs at random positions, with lengths drawn from those of the training answers; length 0 means no answer."""
        assert sizes is not None
        lengths = np.minimum(rng.choice([answer_length(target) for target in train.tolist()], size=rows), sizes - 1)
        first = 1 + rng.integers(np.maximum(sizes - lengths, 1))
        return np.stack([first, first + lengths - 1, lengths == 0], axis=1).astype(np.float64)

    def uniform(self, train: np.ndarray, sizes: Sizes, rows: int, rng: np.random.Generator) -> np.ndarray:
        """Codes (rows, 3). Each run of at most LONGEST words is equally probable, and so is no answer if training rows have none."""
        assert sizes is not None
        has_none = bool(self.head.answers(train))
        codes = [_random_run(words, has_none, rng) for words in (sizes - 1).tolist()]
        return np.array(codes, dtype=np.float64).reshape(-1, 3)

    def usual(
        self, train: np.ndarray, texts: Sequence[str], rows: Sequence[str], firsts: Sequence[str] = ()
    ) -> np.ndarray:
        """A sliding window (`window_answer`) of the median length of the training answers."""
        lengths = [length for length in map(answer_length, train.tolist()) if length]
        median = int(np.median(lengths)) if lengths else 1
        return np.array([window_answer(*pair, median) for pair in zip(firsts, rows, strict=True)], dtype=object)

    def constants(self, train: np.ndarray) -> list[Target]:
        """No answer, if training rows have none or nothing else, and the most frequent answer. Scoring further ones on all rows would take long."""
        answers = [gold(target)["text"] for target in train.tolist()]
        firsts = [texts[0] for texts in answers if texts]
        commonest = [text for text, _ in Counter(firsts).most_common(1)]
        return [NONE, *commonest] if len(firsts) < len(answers) or not firsts else commonest

    def stratum(self, target: Target | None) -> Hashable:
        """Whether the row has an answer."""
        return target is not None and bool(gold(str(target))["text"])

    def show(self, target: Target) -> str:
        texts = gold(str(target))["text"]
        return repr(texts[0]) if texts else "no answer"

    def distribution(self, targets: np.ndarray) -> str:
        lengths = list(map(answer_length, targets.tolist()))
        answered = [length for length in lengths if length] or [0]
        median, most = f"{np.median(answered):.0f} words (median)", f"90 % up to {np.percentile(answered, 90):.0f}"
        without = lengths.count(0) / len(lengths)
        return f"answers of {median}, {most}, at most {max(answered)}; {without:.1%} without an answer"


def _target_codes(answers: Gold | None) -> Codes:
    """The codes of a target, or of a row without one."""
    if answers is None:
        return PAST, PAST, PAST
    first, last = answers["words"] or (0, 0)
    return first, last, not answers["words"]


def _best_runs(firsts: "Tensor", lasts: "Tensor") -> "tuple[Tensor, Tensor, Tensor]":
    """The run of at most LONGEST words with the highest sum of scores in each row; of equal ones, the shortest, then the first. The scores are those
    of a run's first and of its last word, (rows, words), -inf after a row's last word. Returns the units of the first and of the last word, and the
    sum, each (rows,): 0, 0 and -inf for a row without words."""
    import torch
    from torch.nn import functional as F

    if not firsts.shape[1]:  # no row has words
        firsts = lasts = firsts.new_full((len(firsts), 1), -math.inf)
    words = firsts.shape[1]
    sums = []  # of runs of one word, then of two, and so on, each at its first word: f1+l1, f2+l2, f3+l3, f1+l2, f2+l3, -inf
    for further in range(min(LONGEST, words)):
        sums.append(F.pad(firsts[:, : words - further] + lasts[:, further:], (0, further), value=-math.inf))
    best, places = torch.cat(sums, dim=1).max(dim=1)
    has_run = best > -math.inf  # a row without words has none
    first = torch.where(has_run, places % words + 1, 0)
    last = torch.where(has_run, first + places // words, 0)
    return first, last, best


def _log_odds(estimator: Any, features: Any) -> np.ndarray:
    """The log-odds that a classifier gives each unit to be in the answer, (units,)."""
    if hasattr(estimator, "decision_function"):
        return np.asarray(estimator.decision_function(features))
    shares = np.asarray(estimator.predict_proba(features))[:, 1]
    return np.log(np.maximum(shares, LEAST_PROBABILITY) / np.maximum(1 - shares, LEAST_PROBABILITY))


def _random_run(words: int, has_none: bool, rng: np.random.Generator) -> Codes:
    """The codes of a run of at most LONGEST of these words, or of no answer if there may be none, all equally probable."""
    runs = [words - length + 1 for length in range(1, min(LONGEST, words) + 1)]  # how many have 1 word, 2 words …
    counts = np.cumsum([has_none, *runs])  # how many have at most each length, from 0: no answer
    drawn = int(rng.integers(max(1, counts[-1])))
    length = int(np.searchsorted(counts, drawn, side="right"))
    first = 1 + drawn - int(counts[length - 1]) if length else 0
    return first, first + length - 1, length == 0


def _by_row(outputs: "Tensor", sizes: "Tensor | None") -> "tuple[Tensor, ...]":
    """Head outputs (units, 2) as two matrices (rows, most units), the scores of first and of last units; -inf after a row's last unit."""
    from mtl.structured.crf import by_row

    assert sizes is not None
    return by_row(outputs.float(), sizes, -math.inf).unbind(dim=2)
