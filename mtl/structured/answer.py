"""Answer spans: the answer to a question is a part of a passage, or there is none.

A target is a JSON object in one cell, `{"text": [...], "answer_start": [...], "words": [...]}`: the gold answers, the first character of
each in the passage, and the first and the last unit of the first answer. A row without an answer has empty lists. A start is null where an
answer occurs several times, and the data does not say which one is meant: the first one is learnt, and counts are logged. A prediction is
the text of an answer, and an empty one says that there is none."""

import json
import logging
import math
from collections import Counter
from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from mtl.base.files import counted
from mtl.structured.passages import (
    LONGEST,
    best_run,
    unit_features,
    unit_text,
    units_of,
    units_within,
    window_answer,
    words_of,
)
from mtl.tasks.kinds.text import escape, unescape
from mtl.tasks.target_kind import LEAST_PROBABILITY, PAST, HeadTargets, Target, TargetKind
from mtl.tasks.task import Task

if TYPE_CHECKING:
    from torch import Tensor

NONE = ""  # the prediction for a row without an answer
NONE_ALLOWED = "no answer"  # the word that heads record if training rows have no answer
CELL = '"answer_start"'  # what a target in JSON has, and the text of an answer has not
SHOWN = 60  # characters of an answer in a message
KEPT = 1 << 12  # targets that are kept as objects

logger = logging.getLogger("mtl")

Gold = dict[str, list[Any]]  # a target as an object


class AnswerHead(HeadTargets):
    """Two outputs for each unit, the whole passage and then its words: the scores that the answer begins with it and that it ends there.

    Codes are the first and the last unit of the answer, both 0 for none, and whether there is none: of predictions, whether the whole
    passage scores higher than the best run of words.
    """

    def answers(self, train: np.ndarray) -> list[str]:
        """Whether some training rows have no answer: only then, rows are predicted to have none."""
        return [NONE_ALLOWED] if any(not gold(target)["text"] for target in train.tolist()) else []

    def outputs(self, answers: Sequence[str]) -> int:
        return 2

    def encode(self, targets: np.ndarray, answers: Sequence[str], texts: Sequence[str] = ()) -> np.ndarray:
        """Logs how many rows do not say which of several places is meant."""
        known = [None if target is None else gold(target) for target in targets.tolist()]
        if unsure := sum(row is not None and None in row["answer_start"][:1] for row in known):
            logger.warning(
                "task %s: the answers of %d of %d rows occur several times in their passages, and no column says where; the first place is"
                " learnt; name a column with `starts`",
                *(self.task.id, unsure, len(known)),
            )
        codes = [(PAST,) * 3 if row is None else (*(row["words"] or (0, 0)), not row["words"]) for row in known]
        return np.array(codes, dtype=np.float64).reshape(-1, 3)

    def decode(self, codes: np.ndarray, answers: Sequence[str], texts: Sequence[str] = ()) -> np.ndarray:
        """The texts of the units; nothing where there is no answer, if `answers` say that this may be."""
        rows = zip(codes.astype(int).tolist(), texts, strict=True)
        found = [NONE if none and answers else unit_text(text, first, last) for (first, last, none), text in rows]
        return np.array(found, dtype=object)

    def unlearnable(self, codes: np.ndarray, units: np.ndarray) -> np.ndarray:
        """Rows whose answers a model does not read to their ends."""
        return codes[:, 1] >= units

    def loss(self, outputs: "Tensor", codes: "Tensor", sizes: "Tensor | None") -> "Tensor":
        """The mean of two cross-entropies over the units of each row: of the first unit and of the last one."""
        from torch.nn import functional as F

        firsts, lasts = _by_row(outputs, sizes)
        return (F.cross_entropy(firsts, codes[:, 0].long()) + F.cross_entropy(lasts, codes[:, 1].long())) / 2

    def soft_loss(self, outputs: "Tensor", teacher: "Tensor", sizes: "Tensor | None", temperature: float) -> "Tensor":
        raise NotImplementedError  # `Answer.several`

    def predict(self, outputs: "Tensor", sizes: "Tensor | None") -> "Tensor":
        """The run of at most LONGEST words with the highest sum of scores; of equal ones, the shortest that begins first."""
        import torch
        from torch.nn import functional as F

        firsts, lasts = _by_row(outputs, sizes)
        whole, words = firsts[:, 0] + lasts[:, 0], firsts.shape[1] - 1
        if not words:
            return torch.stack([torch.zeros_like(whole), torch.zeros_like(whole), torch.ones_like(whole)], dim=1)
        sums = [
            F.pad(firsts[:, 1 : words + 1 - further] + lasts[:, 1 + further :], (0, further), value=-math.inf)
            for further in range(min(LONGEST, words))
        ]
        best, places = torch.cat(sums, dim=1).max(dim=1)
        first = torch.where(best > -math.inf, places % words + 1, 0)  # a passage without words has no run
        last = torch.where(best > -math.inf, first + places // words, 0)
        return torch.stack([first.to(whole), last.to(whole), (whole >= best).to(whole)], dim=1)


class Answer(TargetKind):
    """A part of the second text, which answers the first one, or no answer."""

    head_type = AnswerHead
    several = True
    by_unit = True
    types = (str, list)
    types_name = "a string, or a list of strings"
    dtype = object

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
        """The target in a cell: JSON as this kind writes it, or the text of one answer, whose place `located` finds."""
        return _cell(**gold(cell)) if _is_object(cell) else self.join([cell])

    def join(self, values: Sequence[str]) -> str:
        return _cell([text for text in values if text.strip()])

    def located(self, target: Target, texts: Sequence[str], starts: Sequence[str] | None) -> str:
        answers, passage = gold(str(target)), texts[-1]
        places = list(answers["answer_start"])
        if starts is not None:
            places = _starts(starts, len(answers["text"]))
        found = [_place(text, start, passage) for text, start in zip(answers["text"], places, strict=True)]
        if not found:
            return _cell([])
        first = passage.find(answers["text"][0]) if found[0] is None else found[0]
        return _cell(answers["text"], found, list(units_within(passage, first, first + len(answers["text"][0]))))

    def parse_prediction(self, cell: str, candidates: int | None = None) -> str:
        """The text of an answer. Raises ValueError for a list of answers, and for a target in JSON."""
        if _is_object(cell):
            raise ValueError(
                "is a list of answers, as targets are; a prediction is one text, which is empty for no answer"
            )
        return cell

    def to_line(self, target: Target) -> str:
        return escape(str(target))

    def line_cell(self, line: str) -> str:
        return unescape(line)

    def fit_targets(self, targets: np.ndarray, sizes: np.ndarray | None) -> np.ndarray:
        """1 for the words of a row's answer, or for the whole passage if it has none; 0 for its other units."""
        assert sizes is not None
        wanted = np.zeros(sizes.sum(), dtype=np.int64)
        for target, start in zip(targets.tolist(), (np.cumsum(sizes) - sizes).tolist(), strict=True):
            first, last = gold(target)["words"] or (0, 0)
            wanted[start + first : start + last + 1] = 1
        return wanted

    def from_estimator(
        self, estimator: Any, features: Any, sizes: np.ndarray | None, texts: Sequence[str] = ()
    ) -> np.ndarray:
        """The run of words with the largest sum of log-odds; none where those of the whole passage are higher."""
        assert sizes is not None
        if hasattr(estimator, "decision_function"):
            odds = np.asarray(estimator.decision_function(features))
        else:
            right = np.asarray(estimator.predict_proba(features))[:, 1]
            odds = np.log(np.maximum(right, LEAST_PROBABILITY) / np.maximum(1 - right, LEAST_PROBABILITY))
        found = []
        for row, text in zip(np.split(odds, np.cumsum(sizes)[:-1]), texts, strict=True):
            first, last, total = best_run(row[1:]) if len(row) > 1 else (0, 0, -math.inf)
            found.append(NONE if row[0] > total else unit_text(text, first + 1, last + 1))
        return np.array(found, dtype=object)

    def draw(self, train: np.ndarray, sizes: np.ndarray | None, rows: int, rng: np.random.Generator) -> np.ndarray:
        """Codes (rows, codes): a run that is as long as a random training answer, anywhere; none as often as in the training rows."""
        assert sizes is not None
        lengths = rng.choice([_length(target) for target in train.tolist()], size=rows)
        lengths = np.minimum(lengths, sizes - 1)
        first = 1 + rng.integers(np.maximum(sizes - lengths, 1))
        return np.stack([first, first + lengths - 1, lengths == 0], axis=1).astype(np.float64)

    def uniform(self, train: np.ndarray, sizes: np.ndarray | None, rows: int, rng: np.random.Generator) -> np.ndarray:
        """Codes (rows, codes): each run of at most LONGEST words is equally probable; so is none, if training rows have none."""
        assert sizes is not None
        has_none = bool(self.head.answers(train))
        codes = []
        for words in (sizes - 1).tolist():
            ends = np.cumsum([has_none, *(words - length + 1 for length in range(1, min(LONGEST, words) + 1))])
            drawn = int(rng.integers(max(1, ends[-1])))
            length = int(np.searchsorted(ends, drawn, side="right"))
            first = 1 + drawn - int(ends[length - 1]) if length else 0
            codes.append((first, first + length - 1, length == 0))
        return np.array(codes, dtype=np.float64).reshape(-1, 3)

    def usual(
        self, train: np.ndarray, texts: Sequence[str], rows: Sequence[str], firsts: Sequence[str] = ()
    ) -> np.ndarray:
        """A sliding window (`window_answer`) of the median length of the training answers."""
        lengths = [length for target in train.tolist() if (length := _length(target))]
        length = int(np.median(lengths)) if lengths else 1
        found = [window_answer(*pair, length) for pair in zip(firsts, rows, strict=True)]
        return np.array(found, dtype=object)

    def constants(self, train: np.ndarray) -> list[Target]:
        """No answer, if training rows have none, and the most frequent answer: to score more of them on all training rows takes long."""
        answers = [gold(target)["text"] for target in train.tolist()]
        most = Counter(texts[0] for texts in answers if texts).most_common(1)
        return [*([NONE] if [] in answers or not most else []), *(text for text, _ in most)]

    def stratum(self, target: Target | None) -> Hashable:
        """Whether the row has an answer."""
        return target is not None and bool(gold(str(target))["text"])

    def show(self, target: Target) -> str:
        texts = gold_texts(str(target))
        return repr(texts[0]) if texts else "no answer"

    def distribution(self, targets: np.ndarray) -> str:
        lengths = [_length(target) for target in targets.tolist()]
        some = [length for length in lengths if length] or [0]
        longest = f"{np.median(some):.0f} words (median), 90 % up to {np.percentile(some, 90):.0f}, at most {max(some)}"
        return f"answers of {longest}; {lengths.count(0) / len(lengths):.1%} without an answer"


def _is_object(cell: str) -> bool:
    return cell.startswith("{") and CELL in cell


@lru_cache(KEPT)
def gold(cell: str) -> Gold:
    """The object in a target's cell. Raises ValueError for a cell of another form."""
    try:
        value = json.loads(cell)
        texts, starts, words = value["text"], value["answer_start"], value.get("words", [])
        is_right = (
            all(isinstance(text, str) and text.strip() for text in texts)
            and all(start is None or type(start) is int for start in starts)
            and all(type(word) is int and word > 0 for word in words)
            and len(texts) == len(starts)
            and len(words) in (0, 2)
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        is_right = False
    if not is_right:
        form = '{"text": ["Warsaw"], "answer_start": [17]}'
        raise ValueError(f"target {_shown(cell)} is not of the form {form}")
    return {"text": texts, "answer_start": starts, "words": words}


def gold_texts(cell: str) -> list[str]:
    """The gold answers in a target's cell."""
    return gold(cell)["text"]


def _cell(
    text: Sequence[str], answer_start: Sequence[int | None] | None = None, words: Sequence[int] | None = None
) -> str:
    starts = [None] * len(text) if answer_start is None else list(answer_start)
    return json.dumps({"text": list(text), "answer_start": starts, "words": list(words or ())}, ensure_ascii=False)


def _starts(cells: Sequence[str], answers: int) -> list[int]:
    """The first characters of so many answers. Raises ValueError for something else than a number each."""
    if not answers:
        return []
    if len(cells) != answers:
        raise ValueError(f"{counted(answers, 'answer')} and {counted(len(cells), 'start')}; each answer has one")
    if bad := [cell for cell in cells if not (cell.isdecimal() and cell.isascii() and len(cell) < 12)]:
        raise ValueError(f"start {_shown(bad[0])} is not the number of a character, from 0")
    return list(map(int, cells))


def _place(answer: str, start: int | None, passage: str) -> int | None:
    """The answer's first character; None if it occurs several times. Raises ValueError if the answer does not stand there, or nowhere."""
    first = passage.find(answer)
    if start is None:
        if first < 0:
            raise ValueError(f"answer {_shown(answer)} is no part of the passage")
        return first if passage.find(answer, first + 1) < 0 else None
    if not passage.startswith(answer, start):
        stands = _shown(passage[start : start + len(answer)])
        nearest = f"; it stands at {first}" if first >= 0 else "; it is no part of the passage"
        raise ValueError(f"answer {_shown(answer)} must stand at character {start}, where {stands} stands{nearest}")
    return start


def _shown(text: str) -> str:
    return repr(text if len(text) <= SHOWN else f"{text[:SHOWN]}…")


@lru_cache(KEPT)
def _length(target: str) -> int:
    """The number of words of the first gold answer; 0 for none."""
    return len(words_of(texts[0])) if (texts := gold_texts(target)) else 0


def _by_row(outputs: "Tensor", sizes: "Tensor | None") -> "tuple[Tensor, Tensor]":
    """Head outputs (units, 2) as the scores of each row's first units and last units, (rows, most units), -inf after a row's units."""
    from torch.nn.utils.rnn import pad_sequence

    assert sizes is not None
    padded = pad_sequence(outputs.float().split(sizes.tolist()), batch_first=True, padding_value=-math.inf)
    firsts, lasts = padded.unbind(dim=2)
    return firsts, lasts
