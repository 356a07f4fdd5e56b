"""Texts as a run reads them: how long they are, how many are cut, and how many of their words the embeddings know."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mtl.audit.findings import Finding, Part
from mtl.config.schema import Config
from mtl.data.text import TokenizedTexts
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task

# A cut of a few texts moves a score by less than the seeds do; one text in twenty is about a seed's spread.
CUT_SHARE = 0.05
# Of running words. Vectors learned from scratch miss a quarter of a harder test set, a third of another domain; where they
# miss most, something is wrong: the language, the script, the tokenization.
UNKNOWN_SHARE = 0.5


@dataclass(frozen=True)
class Tokens:
    """The tokens of all texts: int64 (texts,) each.

    lengths: before anything is cut. read, unknown, from_ngrams: of what `max_length` leaves, how many there are, how many the
    embeddings do not know, and how many they put together from n-grams. unknown: None where nothing could be trained on.
    """

    index: dict[str, int]
    lengths: np.ndarray
    read: np.ndarray
    unknown: np.ndarray | None
    from_ngrams: np.ndarray | None

    def of(self, part: Part) -> np.ndarray:
        """The texts of the rows, both sides of a pair, repeated where they repeat: int64."""
        return np.array([self.index[text] for row in part.rows for text in row.texts], dtype=np.int64)

    def share_cut(self, part: Part, max_length: int) -> float:
        return float((self.lengths[self.of(part)] > max_length).mean())

    def share(self, part: Part, kind: np.ndarray) -> float:
        """Of the part's running words. kind: `unknown` or `from_ngrams`."""
        texts = self.of(part)
        return float(kind[texts].sum() / self.read[texts].sum())


def count_tokens(
    config: Config, suite: Suite, data_dir: Path, tasks: Sequence[tuple[Task, dict[str, Part], dict[str, Part]]]
) -> Tokens:
    """Tokenize every text, and ask the embeddings that the configuration names which words they know. Raises InputError.

    tasks: each with its files, and its parts as training uses them.
    """
    rows = [row for _, files, _ in tasks for part in files.values() for row in part.rows]
    cache_dir = Path(config.cache_dir)
    whole = TokenizedTexts([text for row in rows for text in row.texts], suite.language, sys.maxsize, cache_dir)
    texts = whole.shortened(config.max_length)
    unknown = from_ngrams = None
    training = [parts["train"] for _, _, parts in tasks if "train" in parts]
    if training:
        numbers = {texts.index[text] for part in training for row in part.rows for text in row.texts}
        unknown, from_ngrams = _unknown_tokens(config, suite, data_dir, texts, np.array(sorted(numbers)))
    return Tokens(whole.index, whole.lengths, texts.lengths, unknown, from_ngrams)


def _unknown_tokens(
    config: Config, suite: Suite, data_dir: Path, texts: TokenizedTexts, training_texts: np.ndarray
) -> tuple[np.ndarray, np.ndarray | None]:
    """Tokens of each text that the embeddings do not know, and those whose vectors are built from n-grams, if any are."""
    from mtl.device import device_of
    from mtl.embedders.find import build_embeddings

    device = device_of(config.trainer.accelerator)
    coverage = build_embeddings(config, suite, data_dir, texts, training_texts, device).coverage

    def count(types: np.ndarray) -> np.ndarray:
        return np.add.reduceat(types[texts.tokens].astype(np.int64), texts.starts[:-1])

    ngrams = coverage.ngram_types
    return count(coverage.unknown_types), None if ngrams is None else count(ngrams)


def token_findings(part: Part, tokens: Tokens, max_length: int) -> list[Finding]:
    """Splits of which much is cut, or much is unknown."""
    findings = []
    cut = tokens.lengths[tokens.of(part)] > max_length
    if cut.mean() > CUT_SHARE:
        what = f"{cut.mean():.1%} of the texts are longer than max_length={max_length} and lose their ends"
        meaning = "what stands there is not read; set max_length higher where memory allows"
        rows = [row for row in part.rows if any(tokens.lengths[tokens.index[text]] > max_length for text in row.texts)]
        findings.append(part.finding("cut", len(rows), what, meaning, part.where(rows)))
    if tokens.unknown is not None and (share := tokens.share(part, tokens.unknown)) > UNKNOWN_SHARE:
        what = f"the embeddings do not know {share:.1%} of the words"
        meaning = "vectors of another language or tokenization, or too little text for vectors learned from scratch"
        findings.append(part.finding("unknown words", 1, what, meaning))
    return findings
