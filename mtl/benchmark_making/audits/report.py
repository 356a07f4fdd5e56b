"""The report of an audit, in Markdown that is also readable in a terminal, and the statistics of tokens in it."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mtl.base.files import counted
from mtl.base.settings.schema import Config
from mtl.base.terminal import MISSING, inert, markdown_table
from mtl.benchmark_making.audits.findings import Finding, Part, TaskFiles
from mtl.data.text import TokenizedTexts
from mtl.embedders import EMBEDDERS
from mtl.embedders.interface import EmbeddingsRequest
from mtl.methods import METHODS
from mtl.tasks.suite import Suite
from mtl.tasks.targets import target_kind
from mtl.tasks.task import SPLITS

# A few cut texts change a score less than another seed does; one text in twenty changes it about as much as another seed.
CUT_SHARE = 0.05
# Share of the tokens. Vectors learned from scratch miss a quarter of a difficult test set and a third of another domain. If
# more than half is unknown, something is wrong: the language, the script or the tokenization.
UNKNOWN_SHARE = 0.5


@dataclass(frozen=True)
class TokenCounts:
    """Token counts of all texts, int64 (texts,): before they are cut and as read, and among these the tokens that the embeddings do not know (None:
    not known). `index` has the number of each text."""

    index: dict[str, int]
    lengths: np.ndarray
    read: np.ndarray
    unknown: np.ndarray | None

    def of(self, part: Part) -> np.ndarray:
        """The text numbers of all rows, with both texts of a pair, int64 (rows × texts per row,)."""
        return np.array([self.index[text] for row in part.rows for text in row.texts], dtype=np.int64)

    def unknown_share(self, part: Part) -> float | None:
        """The share of the part's tokens that the embeddings do not know."""
        texts = self.of(part)
        return None if self.unknown is None else float(self.unknown[texts].sum() / self.read[texts].sum())


def count_tokens(config: Config, suite: Suite, data_dir: Path, tasks: Sequence[TaskFiles]) -> TokenCounts:
    """Tokenize every text, and look the words up in the configured embeddings. Raises InputError if these cannot be loaded."""
    rows = [row for task in tasks for part in task.files.values() for row in part.rows]
    cache_dir = Path(config.cache_dir)
    uncut = TokenizedTexts([text for row in rows for text in row.texts], suite.language, sys.maxsize, cache_dir)
    texts = uncut.shortened(config.max_length)
    unknown = None
    training = [task.parts["train"] for task in tasks if "train" in task.parts]
    if training and METHODS[config.method].reads_key("embeddings"):
        numbers = {texts.index[text] for part in training for row in part.rows for text in row.texts}
        unknown = _unknown_tokens(config, suite, data_dir, texts, np.array(sorted(numbers)))
    return TokenCounts(uncut.index, uncut.lengths, texts.lengths, unknown)


def _unknown_tokens(
    config: Config, suite: Suite, data_dir: Path, texts: TokenizedTexts, training_texts: np.ndarray
) -> np.ndarray:
    """Per text, the tokens that the embeddings do not know, int64 (texts,)."""
    from mtl.base.device import device_of
    from mtl.embedders.find import find_vectors

    device, cache_dir = device_of(config.trainer.accelerator), Path(config.cache_dir)
    if vectors := find_vectors(config, suite):
        vectors.check_obtainable()
        vectors.train_if_missing(suite, data_dir, config.held_out, device)
    path = None if vectors is None else vectors.path
    request = EmbeddingsRequest(config.embeddings, texts, training_texts, path, cache_dir, device)
    coverage = EMBEDDERS[config.embeddings.name].build(request).coverage
    return np.add.reduceat(coverage.unknown_types[texts.tokens].astype(np.int64), texts.starts[:-1])


def token_findings(part: Part, tokens: TokenCounts, max_length: int) -> list[Finding]:
    """Findings for a split with many cut texts or many unknown words."""
    findings = []
    cut = tokens.lengths[tokens.of(part)] > max_length
    if cut.mean() > CUT_SHARE:
        what = f"{cut.mean():.1%} of the texts are longer than max_length={max_length} and are cut"
        meaning = "the rest of them is not read; set max_length higher if memory allows"
        rows = [row for row in part.rows if any(tokens.lengths[tokens.index[text]] > max_length for text in row.texts)]
        findings.append(part.finding("cut", len(rows), what, meaning, part.where(rows)))
    if (share := tokens.unknown_share(part) or 0.0) > UNKNOWN_SHARE:
        what = f"the embeddings do not know {share:.1%} of the words"
        meaning = "the vectors are of another language or tokenization, or there is too little text to learn vectors"
        findings.append(part.finding("unknown words", 1, what, meaning))
    return findings


def render(
    config: Config,
    suite: Suite,
    folder: Path,
    tasks: Sequence[TaskFiles],
    tokens: TokenCounts,
    findings: Sequence[Finding],
    notes: Sequence[str],
) -> str:
    """The report of tasks, held-out rows included."""
    sections = [
        f"## {inert(suite.title)}: audit of {inert(str(folder))}",
        _sizes(config, tasks, tokens),
        _note(config, tokens),
        _targets(tasks),
        "\n".join(["### Notes", "", *(f"- {inert(note)}" for note in notes)]) if notes else "",
    ]
    return with_findings(sections, findings)


def with_findings(sections: Sequence[str], findings: Sequence[Finding]) -> str:
    """A report of these sections, but for empty ones, with its findings and their number."""
    listed = "\n".join(["### Findings", "", *(f"- {inert(str(finding))}" for finding in findings)]) if findings else ""
    return "\n\n".join(filter(None, [*sections, listed, verdict(findings)]))


def verdict(findings: Sequence[Finding]) -> str:
    """The last line of the report: the number of findings."""
    if not findings:
        return "nothing found"
    tasks = len({finding.task for finding in findings})
    return f"{counted(len(findings), 'finding')} in {counted(tasks, 'task')}"


def _sizes(config: Config, tasks: Sequence[TaskFiles], tokens: TokenCounts) -> str:
    table = [["task", "split", "rows", "published", "median length", "longest", "cut", "unknown words"]]
    for task, parts in ((files.task, files.shown) for files in tasks):
        for split in dict.fromkeys([*parts, *SPLITS]):
            published = task.rows.get(split)
            if split in parts:
                part = parts[split]
                lengths = tokens.lengths[tokens.of(part)]
                cut = f"{(lengths > config.max_length).mean():.1%}"
                share = tokens.unknown_share(part)
                unknown = MISSING if share is None else f"{share:.1%}"
                numbers = [str(len(part.rows)), f"{np.median(lengths):g}", str(lengths.max()), cut, unknown]
            elif task.files.get(split) is not None or published is not None:
                numbers = ["none", *[MISSING] * 4]
            else:
                continue
            table.append([task.id, split, numbers[0], MISSING if published is None else str(published), *numbers[1:]])
    return markdown_table(table, left=2)


def _note(config: Config, tokens: TokenCounts) -> str:
    embeddings = "no embeddings: the method reads none, or there are no training rows"
    if tokens.unknown is not None:
        embeddings = EMBEDDERS[config.embeddings.name].audit_note(config.embeddings)
    return (
        f"Lengths are in tokens, of each text of a pair separately; cut: share of texts longer than max_length={config.max_length};"
        f" unknown words: share of all tokens, with {embeddings}."
        " Held-out rows are part of the training file and are also counted there."
    )


def _targets(tasks: Sequence[TaskFiles]) -> str:
    table = [["task", "split", "targets"]]
    for files in tasks:
        kind = target_kind(files.task)
        for split, part in files.shown.items():
            values = np.array([row.target for row in part.rows if row.target is not None], dtype=kind.dtype)
            if len(values):
                table.append([files.task.id, split, inert(kind.distribution(values))])
    return markdown_table(table, left=3) if len(table) > 1 else ""
