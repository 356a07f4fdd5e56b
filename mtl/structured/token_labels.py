"""A label for each token of a sentence: named entities, parts of speech, slots. The text of a row is its tokens with spaces between them. A target is
the tags of its tokens, with spaces between them; a file may have what `indices` names in place of the tags."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mtl.structured.span_f1 import OUTSIDE
from mtl.structured.unit_features import token_features
from mtl.tasks.floor_targets import Sizes, Target, Texts
from mtl.tasks.head_targets import PAST, ClassesHead, by_row
from mtl.tasks.target_kind import UnitKind
from mtl.tasks.task import Task

if TYPE_CHECKING:
    from torch import Tensor

TOKEN = re.compile(r"[^ \t\r\n]+")  # other white space, as U+00A0, may stand within a token
NO_BREAK, BLANK = "\u00a0", "_"
SHOWN = 10  # tags in a description of targets


def tokens_of(text: str) -> list[str]:
    return TOKEN.findall(text)


class TokenLabelsHead(ClassesHead):
    """One output for each tag, for each token; with transitions, a conditional random field over them (`mtl.structured.crf`)."""

    transitions: "Tensor | None" = None

    def encode(self, targets: np.ndarray, answers: Sequence[str], texts: Sequence[str] = ()) -> np.ndarray:
        """The codes of the tags, (rows, most tokens), PAST after the last token of a row."""
        index = {tag: code for code, tag in enumerate(self.labels)}
        rows = [[index[tag] for tag in (target or "").split()] for target in targets]
        codes = np.full((len(rows), max(map(len, rows), default=0)), PAST, dtype=np.float64)
        for number, row in enumerate(rows):
            codes[number, : len(row)] = row
        return codes

    def decode(self, codes: np.ndarray, answers: Sequence[str], texts: Sequence[str] = ()) -> np.ndarray:
        """Tokens that no model reads, because it cuts the text, get the tag O, or without one the first label."""
        unread = OUTSIDE if OUTSIDE in self.labels else self.labels[0]
        targets = []
        for row, text in zip(codes, texts, strict=True):
            tags = [self.labels[int(code)] for code in row if code != PAST]
            targets.append(" ".join(tags + [unread] * (len(tokens_of(text)) - len(tags))))
        return np.array(targets, dtype=object)

    def loss(self, outputs: "Tensor", codes: "Tensor", sizes: "Tensor | None") -> "Tensor":
        """Cross-entropy of each token; with transitions, minus the logarithm of the probability of each row's tags, as the mean over tokens."""
        from torch.nn import functional as F

        from mtl.structured.crf import is_unit, sequence_loss

        assert sizes is not None
        if self.transitions is not None:
            return sequence_loss(outputs, codes.long(), sizes, self.transitions) / len(outputs)
        token_codes = codes[is_unit(sizes, codes.shape[1], codes.device)].long()
        return F.cross_entropy(outputs, token_codes, reduction="sum") / len(outputs)

    def loss_weight(self, codes: "Tensor", sizes: "Tensor | None") -> "Tensor":
        assert sizes is not None
        return codes.new_tensor(int(sizes.sum()))

    def with_transitions(self, transitions: "Tensor") -> Self:
        return self._with(transitions=transitions)

    def predict(self, outputs: "Tensor", sizes: "Tensor | None") -> "Tensor":
        if self.transitions is None:
            return by_row(outputs.argmax(dim=1), sizes, PAST)
        from mtl.structured.crf import best_sequences

        assert sizes is not None
        return best_sequences(outputs, sizes, self.transitions)


class TokenLabels(UnitKind):
    """One of the task's labels for each token of its last text."""

    head_type = TokenLabelsHead
    declared_by = "labels"
    has_indices = True
    has_several_codes = True
    chart = "confusion"
    dtype = object
    types = (str, list)
    types_name = "a list of tags, or tags with spaces between them"

    @classmethod
    def problem(cls, task: Task) -> str | None:
        if problem := super().problem(task):
            return problem
        labels, indices = task.labels or [], task.indices
        for label in labels:
            if not label or re.search(r"\s", label):
                return f"labels: {label!r} is empty or has a space; a tag has none"
        if indices is None:
            return None
        if not len(set(indices)) == len(indices) == len(labels):
            return f"indices: must be {len(labels)}, one for each label, all different"
        for index, label in zip(indices, labels, strict=True):
            if index in labels and index != label:
                return f"indices: {index!r} is a label and the index of another one"
        return None

    @cached_property
    def meanings(self) -> dict[str, str]:
        """The tag that a text in a file stands for: a tag for itself, an index for its label."""
        indices = self.task.indices or self.labels
        return {label: label for label in self.labels} | dict(zip(indices, self.labels, strict=True))

    def units(self, text: str) -> np.ndarray:
        return np.array([match.span() for match in TOKEN.finditer(text)], dtype=np.int64).reshape(-1, 2)

    def unit_features(self, texts: Sequence[str]) -> list[list[str]]:
        return token_features(tokens_of(texts[-1]))

    # How a target is read and written.

    def parse(self, cell: str, candidates: int | None = None) -> str:
        cells = tokens_of(cell)
        if candidates is not None and len(cells) != candidates:
            rule = "each token has one, with spaces between them, or in a list"
            raise ValueError(f"{len(cells)} tags for the {candidates} tokens of the row; {rule}")
        if unknown := [tag for tag in cells if tag not in self.meanings]:
            known = ", ".join(self.task.indices or self.labels)
            raise ValueError(f"unknown tag {unknown[0]!r}, expected one of {known}")
        return " ".join(self.meanings[tag] for tag in cells)

    def join(self, values: Sequence[str]) -> str:
        for value in values:
            if not TOKEN.fullmatch(value):
                raise ValueError(f"tag {value!r} is empty or has a space")
        return " ".join(values) or OUTSIDE

    def join_text(self, tokens: Sequence[str]) -> str:
        """The text of a row of tokens. A row without any, as NERC's of BasqueGLUE, is a blank token, and its tag O (`join`)."""
        return " ".join(re.sub(r"\s", NO_BREAK, token.strip()) or BLANK for token in tokens) or BLANK

    def to_json(self, target: Target) -> list[str]:
        return str(target).split()

    # Constant and random answers, scikit-learn's estimators.

    def training_targets(self, targets: np.ndarray, sizes: Sizes) -> np.ndarray:
        """The index of each token's label, int64 (tokens,)."""
        index = {tag: code for code, tag in enumerate(self.labels)}
        return np.array([index[tag] for tag in " ".join(targets).split()], dtype=np.int64)

    def estimator_targets(self, estimator: Any, features: Any, sizes: Sizes, texts: Sequence[str] = ()) -> np.ndarray:
        return self._targets(estimator.predict(features).astype(np.int64), sizes)

    def repeat(self, answer: Target, rows: int, sizes: Sizes) -> np.ndarray:
        assert sizes is not None
        return np.array([" ".join([str(answer)] * size) for size in sizes.tolist()], dtype=object)

    def draw(self, train: np.ndarray, rows: int, sizes: Sizes, rng: np.random.Generator) -> np.ndarray:
        """A random tag for each token, with the same distribution as the tags of the training rows."""
        assert sizes is not None
        return self._targets(rng.choice(self.training_targets(train, None), size=sizes.sum()), sizes)

    def uniform(self, train: np.ndarray, rows: int, sizes: Sizes, rng: np.random.Generator) -> np.ndarray:
        """Each of the task's labels is equally probable for each token, whether it occurs or not."""
        assert sizes is not None
        return self._targets(rng.integers(len(self.labels), size=sizes.sum()), sizes)

    def commonest(self, train: np.ndarray) -> str:
        """The most frequent tag; among equally frequent ones, the first label."""
        return str(self.constants(train)[0])

    def usual(self, train: np.ndarray, train_texts: Texts, last_texts: Texts, first_texts: Texts) -> np.ndarray:
        """The most frequent tag of each word in the training rows; for other words, the most frequent one of all."""
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for target, text in zip(train, train_texts, strict=True):
            for tag, token in zip(target.split(), tokens_of(text), strict=True):
                counts[token][tag] += 1
        # Of equally frequent tags, the first.
        tag_of = {token: max(self.labels, key=tags.__getitem__) for token, tags in counts.items()}
        commonest = self.commonest(train)
        answers = [" ".join(tag_of.get(token, commonest) for token in tokens_of(text)) for text in last_texts]
        return np.array(answers, dtype=object)

    def constants(self, train: np.ndarray) -> list[Target]:
        """Every label, for all tokens, the most frequent first."""
        counts = np.bincount(self.training_targets(train, None), minlength=len(self.labels))
        return [self.labels[label] for label in np.argsort(-counts, kind="stable")]

    def _targets(self, codes: np.ndarray, sizes: Sizes) -> np.ndarray:
        """Indices of labels, (tokens,), as targets (rows,)."""
        assert sizes is not None
        rows = np.split(np.array(self.labels, dtype=object)[codes], np.cumsum(sizes))[:-1]
        return np.array([" ".join(row) for row in rows], dtype=object)

    def distribution(self, targets: np.ndarray) -> str:
        counts = Counter(" ".join(targets).split())
        shares = [f"{tag} {count / counts.total():.1%}" for tag, count in counts.most_common(SHOWN)]
        further = [f"{len(counts) - SHOWN} further tags"] if len(counts) > SHOWN else []
        return f"{counts.total():,} tokens: {', '.join(shares + further)}"

    def absent(self, targets: np.ndarray) -> list[str]:
        present = set(" ".join(targets).split())
        return [label for label in self.labels if label not in present]
