"""What a task gives away: scores of floors that read a part of each row, and words that tell a class.

A model that scores high may have learned these instead of the task (Gururangan et al. 2018, "Annotation Artifacts in Natural Language
Inference Data"; Gardner et al. 2021, "Competency Problems"). Each finding says what it means for a score and what would mend it.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scipy.stats import binom, norm
from sklearn.feature_extraction.text import CountVectorizer

from mtl.base.errors import InputError
from mtl.base.progress import hidden_progress, progress
from mtl.base.wording import MISSING, inert, markdown_table
from mtl.benchmark_making.audits.audit import Audit
from mtl.benchmark_making.audits.findings import Finding
from mtl.data.dataset import Dataset, Split, load_dataset, present_tasks
from mtl.data.text import TokenizedTexts, tokenized
from mtl.jobs.job import Job, load_job
from mtl.methods import METHODS
from mtl.methods.floors.features import Document, RowFeatures
from mtl.methods.floors.floor import Floor
from mtl.methods.method import BuildRequest, Method
from mtl.stats.resampling import resampled_scores, row_groups
from mtl.tasks.metrics import score
from mtl.tasks.scale import Scale
from mtl.tasks.suite import Suite
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

logger = logging.getLogger("mtl")

FEW_TEXTS = 100  # distinct training texts
LEVEL = 0.05  # of the threshold for words, and of the intervals
FEWEST_WITH_WORD = 20  # rows
SEED = 1
MOST_WORDS = 5  # that are named for each task
LARGE_SHARE = 0.25  # of what everything gains over the constant answer; less is no finding
SURE_SHARE = 0.1  # of the same, which the lower end of the interval must reach
NEARLY_ALL = 0.9  # of what everything gains; more is a finding of the overlap

EVERYTHING, CONSTANT = "everything", "constant"
FIRST, SECOND = "first text alone", "second text alone"  # of a choice, the second text is a candidate
LENGTHS, OVERLAP = "lengths alone", "overlap alone"
# What would mend what a part alone gives away, with the step of a recipe (`mtl make`) that does it.
REMEDIES = {
    LENGTHS: "cut or choose texts so that texts of every length have every target (steps cut and keep)",
    OVERLAP: "add pairs of similar texts with other targets than such pairs have, and of dissimilar ones (step pairs)",
}
ONE_TEXT = (
    "the other text is not needed for these points; give each text several targets in different pairs (step sample or pairs), or write rows"
    " anew with both texts in view"
)

# What a floor reads: changes a task and its dataset, or returns None where the part does not exist.
Change = Callable[[Task, Dataset], tuple[Task, Dataset] | None]
Build = Callable[[BuildRequest], Method]
Settings = dict[str, object]  # of a floor, by dotted keys


@dataclass(frozen=True)
class PartScore:
    """How a floor scores that reads a part of each row."""

    part: str
    score: float  # × 100
    interval: tuple[float, float]  # of the score, over the scored rows (of groups, where rows belong together)
    gain: tuple[float, float]  # the interval of the difference to the constant answer, on the same rows


@dataclass(frozen=True)
class Word:
    """A word that tells a class, with "1: " or "2: " before it, which of a pair's texts it stands in: how many training rows have the word, how
    many of these are of the class, the share of the class in all rows, and how many standard deviations lie between the two."""

    word: str
    answer: str
    rows: int
    share: float
    base: float
    z: float


@dataclass(frozen=True)
class Artefacts:
    """What one task gives away: scores, words that tell the class, and how many were tested."""

    task: Task
    scores: list[PartScore]
    words: list[Word] = field(default_factory=list)
    tested: int = 0


def audit_artefacts(job: Job) -> Audit:
    """What the tasks of a job give away. Raises InputError as `find_artefacts`."""
    artefacts, scale = find_artefacts(job), job.suite.shown
    findings = [finding for task_artefacts in artefacts for finding in artefact_findings(task_artefacts, scale)]
    return Audit(findings, render_artefacts(job.suite, artefacts))


def find_artefacts(job: Job) -> list[Artefacts]:
    """Train floors, and test words, for each task that has its files, texts, training rows and targets to score, single values.

    Raises InputError for data that cannot be read, and if no task has its files, or none is one that the floors can learn.
    """
    with_files = {task.id for task in present_tasks(job.suite, job.data_dir)}
    present = [task for task in job.tasks if task.id in with_files]
    dataset = load_dataset(job.suite, present or job.tasks, job.data_dir, job.config.held_out)
    tasks = [
        task
        for task in dataset.trained_tasks
        if task.is_scored and not target_kind(task).has_several_codes and METHODS["svm"].answers(task)
    ]
    if not tasks:
        raise InputError("no task has files, texts and targets that svm can learn; choose others", key="tasks")
    texts = tokenized(dataset.texts, job.suite.language, job.config.max_length, Path(job.config.cache_dir))
    return [_artefacts(job, dataset, texts, task) for task in progress(tasks, "artefacts", "tasks")]


def _artefacts(job: Job, dataset: Dataset, texts: TokenizedTexts, task: Task) -> Artefacts:
    """What one task gives away."""
    # No word of one text should tell the relation of two. Of single texts, words are often what the task is about.
    has_words = bool(task.is_pair and task.labels) and not target_kind(task).by_unit
    words, tested = telling_words(task, dataset.splits[task.id]["train"], texts.words) if has_words else ([], 0)
    predicted: dict[str, np.ndarray] = {}  # by part, the targets of the scored rows, (rows,)
    for part, (change, build, settings) in PARTS.items():
        if (changed := change(task, dataset)) is not None:
            predicted[part] = _predictions(job, build, settings, *changed)
    # All are resampled together, so that differences are of the same rows.
    rows, recorded = dataset.scored(task).scored, dataset.scored_rows[task.id]
    groups = row_groups(recorded["texts"], np.array(recorded["groups"] or range(len(dataset.scored(task)))))
    points = {part: resampled_scores(task, targets[None], rows, groups)[0] for part, targets in predicted.items()}
    scores = [
        PartScore(part, score(task, predicted[part], rows), _interval(values), _interval(values - points[CONSTANT]))
        for part, values in points.items()
    ]
    return Artefacts(task, scores, words, tested)


def _side(side: int, task: Task, dataset: Dataset) -> tuple[Task, Dataset] | None:
    """One of a pair's texts, or the candidates of a choice."""
    if not task.is_pair or (task.candidates is not None and side == 0):
        return None
    column = [task.text[side]] if task.candidates is None else []
    alone = replace(task, text=column, spans=None)
    splits = {
        name: replace(split, texts=split.texts[:, side : side + 1], spans=None)
        for name, split in dataset.splits[task.id].items()
    }
    return alone, replace(dataset, tasks=[alone], splits={task.id: splits})


def _whole(task: Task, dataset: Dataset) -> tuple[Task, Dataset]:
    """All texts of a row."""
    return task, replace(dataset, tasks=[task], splits={task.id: dataset.splits[task.id]})


def _whole_pair(task: Task, dataset: Dataset) -> tuple[Task, Dataset] | None:
    """Both texts of a pair."""
    return _whole(task, dataset) if task.is_pair else None


class LengthFloor(Floor):
    """A floor that sees how long a row's texts are, and nothing else."""

    def new_features(self, task: Task, vectorizer: str | None) -> "LengthFeatures":
        return LengthFeatures()


class LengthFeatures(RowFeatures):
    """The numbers of tokens and characters of each text, on a logarithmic scale, and the differences of a pair's."""

    def transform(self, rows: Sequence[Sequence[Document]]) -> np.ndarray:
        """The features of rows, float64 (rows, features)."""
        lengths = np.log1p([[(len(part.tokens), len(part.text)) for part in row] for row in rows])
        flat = lengths.reshape(len(rows), -1)
        if lengths.shape[1] == 1:
            return flat
        differences = lengths[:, 0] - lengths[:, 1]
        return np.concatenate([flat, differences, abs(differences)], axis=1)


SVM: Settings = {"method": "svm", "floor.features": "pair", "floor.choice": "candidates", "floor.grid.C": [0.1, 1.0]}
# By part, what is read, and the floor that reads it with its settings.
PARTS: dict[str, tuple[Change, Build, Settings]] = {
    EVERYTHING: (_whole, Floor, SVM),
    FIRST: (partial(_side, 0), Floor, SVM),
    SECOND: (partial(_side, 1), Floor, SVM),
    LENGTHS: (_whole, LengthFloor, {"method": "static", "floor.features": "pair", "floor.grid.alpha": [1.0]}),
    OVERLAP: (_whole_pair, Floor, {"method": "overlap", "floor.features": "pair"}),
    CONSTANT: (_whole, Floor, {"method": "constant"}),
}


def _interval(values: np.ndarray) -> tuple[float, float]:
    """The interval of resampled values, (resamples,)."""
    low, high = np.quantile(values, [LEVEL / 2, 1 - LEVEL / 2])
    return float(low), float(high)


def _predictions(job: Job, build: Build, settings: Settings, task: Task, dataset: Dataset) -> np.ndarray:
    """The targets of the scored rows that a floor predicts, (rows,)."""
    shared = {"suite": job.config.suite, "max_length": job.config.max_length, "cache_dir": job.config.cache_dir}
    config = load_job({**shared, **settings}).config
    if settings is SVM and len(np.unique(dataset.splits[task.id]["train"].texts)) < FEW_TEXTS:
        config.floor.min_count = 1  # as of topics: no word need stand in two of them
    before = logger.level
    logger.setLevel(max(logger.getEffectiveLevel(), logging.WARNING))  # no remarks of each floor: an audit trains many
    try:
        with TemporaryDirectory(prefix="mtl-artefacts-") as folder, hidden_progress():
            method = build(BuildRequest(config, job.suite, job.data_dir, dataset, Path(folder), None))
            (predictions,) = [by_split for _, by_split in method.predictions(SEED, Path(folder))]
    finally:
        logger.setLevel(before)
    return dict(predictions)[task.scored_split]


def telling_words(task: Task, train: Split, words: Callable[[int], list[str]]) -> tuple[list[Word], int]:
    """The words that tell a class by more than chance, the most certain first, and how many words were tested.

    The z-score is that of Gardner et al. 2021: the class's share among the rows that have the word, against its share among all rows. Its
    threshold is corrected for the number of words and classes (Bonferroni). A rare class has large z-scores by chance, so a word must pass the exact
    binomial test at the same level, too.
    """
    answers, sides = list(task.labels or ()), train.texts
    marks = [f"{side}: " if sides.shape[1] > 1 else "" for side in range(1, sides.shape[1] + 1)]
    rows = [
        {f"{mark}{word.lower()}" for mark, text in zip(marks, row, strict=True) for word in words(text)}
        for row in sides.tolist()
    ]
    vectorizer = CountVectorizer(analyzer=lambda row: row, binary=True, min_df=FEWEST_WITH_WORD)
    try:
        present = vectorizer.fit_transform(rows)
    except ValueError:  # no word in so many rows
        return [], 0
    indicators = (train.targets[:, None] == np.arange(len(answers))).astype(np.float64)
    base = indicators.mean(axis=0)
    having = np.asarray(present.sum(axis=0)).ravel().astype(np.float64)
    counts = present.T @ indicators
    z = (counts - having[:, None] * base) / np.sqrt(np.maximum(having[:, None] * base * (1 - base), 1e-12))
    level = LEVEL / (2 * z.size)
    told = np.where((z > norm.isf(level)) & (binom.sf(counts - 1, having[:, None], base) < level), z, 0)
    telling, names = [], vectorizer.get_feature_names_out()
    for word, answer in enumerate(told.argmax(axis=1).tolist()):
        if told[word, answer] > 0:
            figures = counts[word, answer] / having[word], base[answer], z[word, answer]
            telling.append(Word(str(names[word]), answers[answer], int(having[word]), *map(float, figures)))
    return sorted(telling, key=lambda word: (-word.z, word.word)), len(z)


def artefact_findings(artefacts: Artefacts, scale: Scale) -> Iterator[Finding]:
    """What a task gives away clearly."""
    task, words = artefacts.task, artefacts.words
    scores = {part_score.part: part_score.score for part_score in artefacts.scores}
    constant, everything = scores[CONSTANT], scores[EVERYTHING] - scores[CONSTANT]
    for part_score in sorted(artefacts.scores, key=lambda part_score: -part_score.score):
        part, gain = part_score.part, part_score.score - constant
        is_sure = gain >= LARGE_SHARE * everything and part_score.gain[0] > max(0, SURE_SHARE * everything)
        # A pair's overlap is a part of most tasks; it is a fault where hardly anything else is needed.
        if part in (EVERYTHING, CONSTANT) or not is_sure or (part == OVERLAP and gain < NEARLY_ALL * everything):
            continue
        ends = _ends(part_score.gain, scale)
        shown = f"{part} scores {scale.show(part_score.score)}, the constant answer {scale.show(constant)}"
        beside = f" and everything {scale.show(scores[EVERYTHING])}" if everything > 0 else ""
        gained = f"; the gain over the constant answer is {scale.show(gain)} ({1 - LEVEL:.0%} interval {ends})"
        remedy = REMEDIES.get(part, ONE_TEXT)
        meaning = f"hardly more than this is needed; {remedy}" if part == OVERLAP else remedy
        yield Finding(f"artefact: {part}", task.id, task.scored_split, 1, f"{shown}{beside}{gained}", meaning)
    if words:
        named = [
            f"“{word.word}” {word.answer} {word.share:.0%} of {word.rows} rows (all: {word.base:.0%})"
            for word in words[:MOST_WORDS]
        ]
        what = f"{len(words)} of {artefacts.tested:,} words of one text tell the class: {', '.join(named)}"
        meaning = "a model can answer such rows without comparing the texts; balance the classes of rows with these words (step sample)"
        yield Finding("artefact: words", task.id, "train", len(words), what, meaning)


def render_artefacts(suite: Suite, artefacts: Sequence[Artefacts]) -> list[str]:
    """The sections of the report before the findings, in Markdown, which also reads well in a terminal."""
    scale, scores = (
        suite.shown,
        [{score.part: score for score in task_artefacts.scores} for task_artefacts in artefacts],
    )
    parts = [part for part in PARTS if any(part in by_part for by_part in scores)]
    table = [["task", "split", *parts]]
    for task_artefacts, by_part in zip(artefacts, scores, strict=True):
        cells = {part: f"{scale.show(made.score)} ({_ends(made.interval, scale)})" for part, made in by_part.items()}
        task = task_artefacts.task
        table.append([task.id, task.scored_split, *(cells.get(part, MISSING) for part in parts)])
    return [
        f"## {inert(suite.title)}: annotation artefacts",
        markdown_table(table, left=2),
        f"A linear SVM reads everything, or one text of each pair. {LENGTHS}: a linear model or a network on the numbers of tokens and characters;"
        f" {OVERLAP}: the cosines of the two texts. Intervals ({1 - LEVEL:.0%}) are over the scored examples.",
    ]


def _ends(interval: tuple[float, float], scale: Scale) -> str:
    return " to ".join(scale.show(end) for end in interval)
