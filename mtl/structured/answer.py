"""Answer spans: a part of a passage, or nothing, answers a question. Targets are cells of `mtl.structured.answer_cells`, predictions are texts."""

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mtl.base.log import logger
from mtl.structured.answer_cells import GoldAnswers, is_target, parse_gold
from mtl.structured.passages import LONGEST, best_run, unit_text, units_of, window_answer
from mtl.structured.unit_features import passage_features
from mtl.tasks.floor_targets import LEAST_PROBABILITY, Sizes, Target, Texts
from mtl.tasks.head_targets import PAST, HeadTargets, by_row
from mtl.tasks.kinds.text import Text
from mtl.tasks.target_kind import UnitKind
from mtl.tasks.task import Task

if TYPE_CHECKING:
    from torch import Tensor

NO_ANSWER = ""  # the prediction for a row without an answer
MAY_HAVE_NONE = "no answer"  # recorded, as the only one of `answers`, with a head that may predict no answer
FIRST, LAST, HAS_NONE = range(3)  # columns of codes: the first and the last unit of an answer, whether there is none


class AnswerHead(HeadTargets):
    """Two outputs for each unit: the scores of an answer that begins with the unit, and of one that ends with it. Unit 0, the whole passage, stands
    for "no answer"; the others are its words. A target without an answer has the units 0 and 0; a prediction without one, the best run of words."""

    def answers(self, train: np.ndarray) -> list[str]:
        """`MAY_HAVE_NONE` if some training rows have no answer: only then, rows are predicted to have none."""
        return [MAY_HAVE_NONE] if any(not parse_gold(target).texts for target in train.tolist()) else []

    def outputs(self, answers: Sequence[str]) -> int:
        return 2

    def encode(self, targets: np.ndarray, answers: Sequence[str], texts: Sequence[str] = ()) -> np.ndarray:
        """Codes (rows, 3). Logs how many rows do not say which of several occurrences is meant."""
        codes = np.full((len(targets), 3), PAST, dtype=np.float64)
        ambiguous = 0  # of the rows, those whose first answer may stand at several positions
        for row, target in enumerate(targets.tolist()):
            if target is not None:
                gold = parse_gold(target)
                codes[row, [FIRST, LAST]] = gold.run
                codes[row, HAS_NONE] = not gold.words
                if gold.starts and gold.starts[0] is None:
                    ambiguous += 1
        if ambiguous:
            problem = f"the answers of {ambiguous} of {len(targets)} rows occur several times in their passages"
            remedy = "and no column says where; the first place is learnt; name a column with `starts`"
            logger.warning("task %s: %s, %s", self.task.id, problem, remedy)
        return codes

    def decode(self, codes: np.ndarray, answers: Sequence[str], texts: Sequence[str] = ()) -> np.ndarray:
        """The texts of the answers. Where the third code says that there is none, they are empty if `answers` has an entry."""
        predicted = []
        for (first, last, has_none), text in zip(codes.astype(int).tolist(), texts, strict=True):
            predicted.append(NO_ANSWER if has_none and answers else unit_text(text, first, last))
        return np.array(predicted, dtype=object)

    def unlearnable(self, codes: np.ndarray, units: np.ndarray) -> np.ndarray:
        """Rows whose answers end after the last unit that the model reads."""
        return codes[:, LAST] >= units

    def loss(self, outputs: "Tensor", codes: "Tensor", sizes: "Tensor | None") -> "Tensor":
        """The mean of two cross-entropies over the units of each row: of the first unit and of the last one."""
        from torch.nn.functional import cross_entropy

        first_scores, last_scores = by_row(outputs.float(), sizes, -math.inf).unbind(dim=2)
        first, last = codes[:, FIRST].long(), codes[:, LAST].long()
        return (cross_entropy(first_scores, first) + cross_entropy(last_scores, last)) / 2

    def predict(self, outputs: "Tensor", sizes: "Tensor | None") -> "Tensor":
        """The codes (rows, 3) of the best run of at most LONGEST words, and of no answer where its score, that of unit 0, is not lower. Of runs with
        equal scores, the shortest counts, then the first; a row without words has no run."""
        import torch

        first_scores, last_scores = by_row(outputs.float(), sizes, -math.inf).unbind(dim=2)
        no_answer_scores = first_scores[:, 0] + last_scores[:, 0]
        first_of_words, last_of_words = first_scores[:, 1:], last_scores[:, 1:]
        best_scores = torch.full_like(no_answer_scores, -math.inf)
        first = last = torch.zeros_like(no_answer_scores, dtype=torch.int64)
        words = first_of_words.shape[1]
        for length in range(1, min(LONGEST, words) + 1):
            # Of the runs of this length, by their first word. Word 0 is unit 1.
            score, word = (first_of_words[:, : words - length + 1] + last_of_words[:, length - 1 :]).max(dim=1)
            is_better = score > best_scores
            best_scores = torch.where(is_better, score, best_scores)
            first = torch.where(is_better, word + 1, first)
            last = torch.where(is_better, word + length, last)
        return torch.stack([first, last, no_answer_scores >= best_scores], dim=1).to(no_answer_scores)


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

    def units(self, text: str) -> np.ndarray:
        return units_of(text)

    def unit_features(self, texts: Sequence[str]) -> list[list[str]]:
        return passage_features(*texts)

    # How a target is read and shown.

    def parse(self, cell: str, candidates: int | None = None) -> str:
        """The target in a cell, which is JSON as this kind writes it, or the text of one answer. `located` adds the positions."""
        return parse_gold(cell).cell if is_target(cell) else self.join([cell])

    def parse_prediction(self, cell: str, candidates: int | None = None) -> str:
        """The text of an answer. Raises ValueError for a list of answers, and for a target in JSON."""
        if is_target(cell):
            message = "is a list of answers, as targets are; a prediction is one text, which is empty for no answer"
            raise ValueError(message)
        return cell

    def join(self, values: Sequence[str]) -> str:
        texts = [text for text in values if text.strip()]
        return GoldAnswers(texts, [None] * len(texts)).cell

    def located(self, target: Target, texts: Sequence[str], starts: Sequence[str] | None) -> str:
        return parse_gold(str(target)).located(texts[-1], starts).cell

    def stratum(self, target: Target | None) -> Hashable:
        """Whether the row has an answer."""
        return target is not None and bool(parse_gold(str(target)).texts)

    def show(self, target: Target) -> str:
        texts = parse_gold(str(target)).texts
        return repr(texts[0]) if texts else "no answer"

    def distribution(self, targets: np.ndarray) -> str:
        lengths = _answer_lengths(targets)
        answered = [length for length in lengths if length > 0] or [0]
        median, most = f"{np.median(answered):.0f} words (median)", f"90 % up to {np.percentile(answered, 90):.0f}"
        share_without = lengths.count(0) / len(lengths)
        return f"answers of {median}, {most}, at most {max(answered)}; {share_without:.1%} without an answer"

    # What scikit-learn's estimators learn and predict, and what other simple baselines predict: texts.

    def training_targets(self, targets: np.ndarray, sizes: Sizes) -> np.ndarray:
        """1 for the words of a row's answer, or for the whole passage if it has none; 0 for its other units."""
        assert sizes is not None
        labels_by_row = [np.zeros(size, dtype=np.int64) for size in sizes]
        for labels, target in zip(labels_by_row, targets.tolist(), strict=True):
            first, last = parse_gold(target).run
            labels[first : last + 1] = 1
        return np.concatenate(labels_by_row)

    def estimator_targets(self, estimator: Any, features: Any, sizes: Sizes, texts: Sequence[str] = ()) -> np.ndarray:
        """The run of words with the largest sum of log-odds; no answer where the whole passage has higher ones."""
        assert sizes is not None
        odds_by_row = np.split(_log_odds(estimator, features), np.cumsum(sizes)[:-1])
        predicted = []
        for odds, text in zip(odds_by_row, texts, strict=True):
            first_word, last_word, run_odds = best_run(odds[1:])  # unit 0 is the whole passage, so word 0 is unit 1
            predicted.append(NO_ANSWER if odds[0] > run_odds else unit_text(text, first_word + 1, last_word + 1))
        return np.array(predicted, dtype=object)

    def usual(self, train: np.ndarray, train_texts: Texts, last_texts: Texts, first_texts: Texts) -> np.ndarray:
        """A sliding window (`window_answer`) of the median length of the training answers."""
        lengths = [length for length in _answer_lengths(train) if length > 0]
        median = int(np.median(lengths)) if lengths else 1
        pairs = zip(first_texts, last_texts, strict=True)
        return np.array([window_answer(question, passage, median) for question, passage in pairs], dtype=object)

    def constants(self, train: np.ndarray) -> list[Target]:
        """No answer, if training rows have none or nothing else, and the most frequent answer. Scoring further ones on all rows would take long."""
        gold_texts = [parse_gold(target).texts for target in train.tolist()]
        first_answers = Counter(texts[0] for texts in gold_texts if texts)
        most_frequent: list[Target] = [text for text, _ in first_answers.most_common(1)]
        all_have_answers = first_answers.total() == len(train)
        return most_frequent if most_frequent and all_have_answers else [NO_ANSWER, *most_frequent]

    # Random answers, as codes (rows, 3) of `AnswerHead`.

    def draw(self, train: np.ndarray, rows: int, sizes: Sizes, rng: np.random.Generator) -> np.ndarray:
        """Runs at random positions, with lengths drawn from those of the training answers; length 0 means no answer."""
        assert sizes is not None
        lengths = np.minimum(rng.choice(_answer_lengths(train), size=rows), sizes - 1)  # at most all words
        first_units = 1 + rng.integers(sizes - lengths)
        last_units = first_units + lengths - 1  # of a run of length 0, the unit before its first one: the run is empty
        return np.stack([first_units, last_units, lengths == 0], axis=1).astype(np.float64)

    def uniform(self, train: np.ndarray, rows: int, sizes: Sizes, rng: np.random.Generator) -> np.ndarray:
        """Each run of at most LONGEST words is equally probable, and so is no answer if training rows have none."""
        assert sizes is not None
        may_have_none = len(self.head.answers(train)) > 0
        codes = [_random_run(words, may_have_none, rng) for words in (sizes - 1).tolist()]
        return np.array(codes, dtype=np.float64).reshape(-1, 3)


def _answer_lengths(targets: np.ndarray) -> list[int]:
    """The number of words of the first answer of each of the targets (rows,); 0 for those without an answer."""
    gold_texts = [parse_gold(target).texts for target in targets.tolist()]
    return [len(units_of(texts[0])) - 1 if texts else 0 for texts in gold_texts]


def _random_run(words: int, may_have_none: bool, rng: np.random.Generator) -> tuple[int, int, bool]:
    """The codes of a run of at most LONGEST of so many words, or of no answer if there may be none, all equally probable."""
    runs_by_length = [int(may_have_none), *(words - length + 1 for length in range(1, min(LONGEST, words) + 1))]
    number = int(rng.integers(max(1, sum(runs_by_length))))  # of the drawn run among all, the shorter ones first
    for length, runs in enumerate(runs_by_length):
        if number < runs:
            first_unit = 1 + number
            return first_unit, first_unit + length - 1, length == 0
        number -= runs  # now it counts the longer runs alone
    return 0, 0, True  # a passage without words has no run


def _log_odds(estimator: Any, features: Any) -> np.ndarray:
    """The log-odds that a classifier gives each unit to be in the answer, (units,)."""
    if hasattr(estimator, "decision_function"):
        return np.asarray(estimator.decision_function(features))
    shares = np.asarray(estimator.predict_proba(features))[:, 1]
    return np.log(np.maximum(shares, LEAST_PROBABILITY) / np.maximum(1 - shares, LEAST_PROBABILITY))
