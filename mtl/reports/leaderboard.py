"""The leaderboard of all runs on one suite, beside the published rows, with scores on parts of the rows and paired tests."""

import logging
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from statistics import fmean, median

import numpy as np

from mtl.base.progress import progress
from mtl.base.wings import wings
from mtl.reports.board import (
    COSTS,
    Breakdown,
    Column,
    Group,
    GroupLine,
    Leaderboard,
    PairTests,
    Row,
    Score,
    by_family,
    rank,
    single,
)
from mtl.reports.notes import INTERVAL_NOTE, apart_notes, mark_notes, run_notes, settings_spreads
from mtl.runs.finished import FinishedRun
from mtl.runs.summary import MetricScores, splits_text
from mtl.stats.comparison import LEAST_SEEDS, LEVEL, PairTest, Sample, compare, estimate
from mtl.stats.families import all_tails, family_tests, rank_intervals, with_holm
from mtl.stats.samples import SampleCache, samples_of
from mtl.tasks.metrics import is_metric, lowest_score, metric_named, weighted_scores
from mtl.tasks.suite import AVERAGE, Published, Suite
from mtl.tasks.task import Task

RUN_COSTS = tuple(COSTS)[:6]  # the costs that a run records
ALL, ANY, TOGETHER = "all rows", "any value", "all together"
SEPARATOR = ";"  # between the values of a row that has several
MOST_VALUES = 50  # the most frequent values are shown, at most so many
HARD = "hard rows (accuracy)"
HARD_PARTS = ("no run is right", "some runs are right", "every run is right")
MOST_RUNS = 100  # whose answers are compared row by row
FEWEST_RUNS = 2
MOST_FOR_PAIRS = 40  # runs; of more, not every pair is tested, as the number of pairs is quadratic in that of runs

logger = logging.getLogger("mtl")


def leaderboard(
    runs: Sequence[FinishedRun], cache: SampleCache | None = None, references: Collection[str] = ()
) -> Leaderboard:
    """The leaderboard of runs on one suite, whose resamples the cache keeps; `references` as in `pair_tests`. Raises InputError if a run's file
    cannot be read."""
    suite, cache = runs[0].suite, cache or SampleCache(None)
    titles = Counter(run.summary["title"] for run in runs)
    ours = [
        _run_row(run, samples_of(run, cache.reduced(run)), titles[run.summary["title"]] > 1, apart)
        for run, apart in progress(list(zip(runs, _tasks_apart(runs), strict=True)), "resampling", "runs")
    ]
    rows = by_family([*ours, *(_published_row(row, suite) for row in suite.published)])
    for note in apart_notes(rows):
        logger.warning("%s", note)
    tests = pair_tests(rows, references)
    columns = {AVERAGE: Column("AVG", "mean"), **{task.id: _column(task, suite) for task in suite.tasks.values()}}
    wing_notes = [note for wing in wings() if wing.notes for note in wing.notes(columns, rows, tests, suite.shown)]
    return Leaderboard(
        suite.name,
        suite.title,
        suite.shown,
        columns,
        rows,
        marks=mark_notes(suite, rows),
        facts=[INTERVAL_NOTE, *tests_note(rows, tests), *wing_notes, *run_notes(suite, rows)],
        tests=tests,
        groups=metric_groups(suite, rows),
        breakdowns=breakdowns(rows),
        settings=settings_spreads([row.run for row in rows if row.run], suite),
    )


def by_suite(runs: Sequence[FinishedRun]) -> list[list[FinishedRun]]:
    """Runs grouped by suite: the same name, tasks, targets, metrics and average. Runs of a group may be scored on different rows."""
    groups: dict[str, list[FinishedRun]] = {}
    for run in runs:
        tasks = [(t.id, t.kind, t.metric, t.positive, t.labels, t.range) for t in run.suite.tasks.values()]
        groups.setdefault(repr((run.suite.name, tasks, run.suite.average_groups)), []).append(run)
    return list(groups.values())


def _column(task: Task, suite: Suite) -> Column:
    metric, averaged = metric_named(task.metric).title, task.id in suite.averaged
    group = next((group[0] for group in suite.average_groups if task.id in group), "")
    return Column(task.title, metric, task.metric, task.id, averaged, group, task.labels, task.range)


def _tasks_apart(runs: Sequence[FinishedRun]) -> list[dict[str, str]]:
    """For each run, its tasks that are scored on other examples than those of the other runs on this split, with the key of its examples. The
    other runs are those on the published data, if any is; else those on the examples that most runs have."""
    by_examples: dict[tuple[str, str], dict[str, list[int]]] = {}
    for number, run in enumerate(runs):
        for task in run.tasks:
            by_key = by_examples.setdefault((task.id, run.split(task)), {})
            by_key.setdefault(run.examples_key(task), []).append(number)
    apart: list[dict[str, str]] = [{} for _ in runs]
    for (id, _), by_key in by_examples.items():
        published = {key: id not in runs[numbers[0]].summary["reduced"] for key, numbers in by_key.items()}
        main = by_key[max(by_key, key=lambda key: (published[key], len(by_key[key])))]
        for key, numbers in by_key.items():
            for number in numbers if numbers is not main else ():
                apart[number][id] = key
    return apart


def _run_row(run: FinishedRun, samples: Mapping[str, Sample], same_title: bool, apart: Mapping[str, str]) -> Row:
    """The row of a run, with its name in the label if another run has the same title. `apart`: as in `Row`."""
    summary = run.summary
    scores, further = {}, {}
    for task in run.tasks:
        record = summary["tasks"][task.id]
        scores[task.id] = _score(record, _interval(samples[task.id], lowest_score(task)))
        further[task.id] = {name: _score(also) for name, also in record.get("also", {}).items() if is_metric(name)}
    means: dict[str, Score] = {}
    splits: dict[str, str] = {id: record["split"] for id, record in summary["tasks"].items()}
    averaged = [id for id in run.suite.averaged if id in samples]
    if averaged:
        seeds = samples[AVERAGE].by_seed
        lowest = run.suite.mean({id: lowest_score(run.suite.tasks[id]) for id in averaged})
        interval = _interval(samples[AVERAGE], lowest or 0.0)
        average = run.suite.mean({id: summary["tasks"][id]["median"] for id in averaged}) or 0.0
        means[AVERAGE] = Score(average, float(seeds.min()), float(seeds.max()), interval)
        splits[AVERAGE] = splits_text({"tasks": {id: summary["tasks"][id] for id in averaged}})
    missing, reduced = run.suite.lacking(scores), summary["reduced"]
    reduced_average = [id for id in reduced if id in averaged]
    chosen = summary.get("chosen_on_scored", ())
    apart_average = [apart[id] for id in averaged if id in apart]
    chosen_average = [id for id in averaged if id in chosen]
    marked_average = {"*": missing, "†": reduced_average, "§": apart_average, "¶": chosen_average}
    comparable = {task.id: run.examples_key(task) for task in run.tasks}
    if averaged:
        comparable[AVERAGE] = repr([(id, comparable[id]) for id in averaged])
    named = same_title and run.name != summary["folder"]
    return Row(
        name=run.name,
        label=f"{summary['title']}, {run.name.removeprefix(summary['folder'] + ',')}" if named else summary["title"],
        family=summary["family"],
        split=splits_text(summary),
        scores=scores,
        means=means,
        missing=missing,
        reduced=reduced,
        marks={
            **{id: "†" * (id in reduced) + "§" * (id in apart) + "¶" * (id in chosen) for id in scores},
            AVERAGE: "".join(mark for mark, tasks in marked_average.items() if tasks),
        },
        reasons={
            **{id: (apart.get(id), id in chosen) for id in scores if id in apart or id in chosen},
            AVERAGE: (*missing, "", *reduced_average, *apart_average, *chosen_average),
        },
        apart=apart,
        splits=splits,
        further=further,
        cost={key: summary["cost"].get(key) for key in RUN_COSTS},
        run=run,
        samples=samples,
        comparable=comparable,
    )


def _score(record: MetricScores, interval: tuple[float, float] | None = None) -> Score:
    return Score(record["median"], record["min"], record["max"], interval)


def _interval(sample: Sample, least: float) -> tuple[float, float]:
    """The interval of a score, cut at the least and the highest value × 100 of the metric."""
    low, high = estimate(sample).interval
    return max(low, least), min(high, 100.0)


def _published_row(row: Published, suite: Suite) -> Row:
    missing = suite.lacking(row.scores)
    return Row(
        name=row.model,
        label="published",
        family=row.family,
        split=row.split,
        scores={id: single(value) for id, value in row.scores.items()},
        means={} if row.average is None else {AVERAGE: single(row.average)},
        further={id: {name: single(value) for name, value in also.items()} for id, also in row.also.items()},
        missing=missing,
        marks={AVERAGE: "*" if missing else ""},
        reasons={AVERAGE: (*missing, "")},
    )


def metric_groups(suite: Suite, rows: Sequence[Row]) -> list[Group]:
    """The tasks that have scores by one metric, as their metric or as a further one (`also`), in the suite's order. Only groups that say more than
    the table of scores: those with further metrics, and, where the tasks of a suite differ in their metric, those with more than one task."""
    tasks = suite.tasks.values()
    main = list(dict.fromkeys(task.metric for task in tasks))
    further = dict.fromkeys(name for row in rows for scores in row.further.values() for name in scores)
    groups = []
    for metric in dict.fromkeys([*main, *further]):
        also = {id for row in rows for id, scores in row.further.items() if metric in scores}
        scored = [task for task in tasks if task.metric == metric or task.id in also]
        if also or (len(main) > 1 and len(scored) > 1):
            columns = {task.id: task.title for task in scored}
            lines = [line for row in rows if (line := _group_line(metric, scored, row)).scores]
            groups.append(Group(metric, metric_named(metric).title, columns, lines, len(scored) > 1))
    return groups


def _group_line(metric: str, tasks: Sequence[Task], row: Row) -> GroupLine:
    """A row's scores by one metric. The mean is that of the medians; a row without all of the tasks has none."""
    scores = {}
    for task in tasks:
        by_metric = row.scores.get(task.id) if task.metric == metric else row.further.get(task.id, {}).get(metric)
        if by_metric:
            scores[task.id] = by_metric
    mean = fmean(score.median for score in scores.values()) if len(scores) == len(tasks) > 1 else None
    ids = {task.id for task in tasks}
    return GroupLine(row, scores, mean, "†" * bool(ids & {*row.reduced}) + "§" * bool(ids & {*row.apart}))


def breakdowns(rows: Sequence[Row]) -> list[Breakdown]:
    """The breakdowns of the runs among a leaderboard's rows: by columns that tasks name, parts of metrics, and how many runs are right."""
    return [*_by_columns(rows), *_by_parts(rows), *_by_hardness(rows)]


def _by_columns(rows: Sequence[Row]) -> list[Breakdown]:
    """Runs that did not record a column are left out."""
    tables: dict[tuple[str, str, tuple[tuple[str, int], ...]], Breakdown] = {}
    for number, run, task in _scored(rows):
        columns = run.rows(task).columns if task.breakdown else {}
        for column in (name for name in task.breakdown or () if name in columns):
            masks, left_out = _parts(columns[column])
            parts = tuple((value, int(mask.sum())) for value, mask in masks.items())
            table = tables.setdefault((task.id, column, parts), Breakdown(task, column, parts, left_out))
            table.scores[number] = _scores(run, task, np.array(list(masks.values()), dtype=np.float64))
    return list(tables.values())


def _by_parts(rows: Sequence[Row]) -> list[Breakdown]:
    """By the parts of what the first of a task's metrics that has parts counts, as the types of entities, the most frequent first."""
    tables: dict[tuple[str, tuple[tuple[str, int], ...]], Breakdown] = {}
    for number, run, task in _scored(rows):
        name = next((name for name in (task.metric, *(task.also or ())) if metric_named(name).parts), task.metric)
        if (parts := metric_named(name).parts) is None:
            continue
        task, gold = task.measured_by(name), run.rows(task)
        by_seed = [parts.scores(task, predicted, gold) for predicted in run.predictions(task)]
        counts = {part: count for part, (count, _) in by_seed[0].items()}
        frequent = sorted(counts, key=lambda part: (-counts[part], part))[:MOST_VALUES]
        shown = ((TOGETHER, sum(counts.values())), *((part, counts[part]) for part in frequent))
        table = Breakdown(task, parts.name, shown, len(counts) - len(frequent), counted=parts.counted)
        by_part = np.array([[scores[part][1] for part in frequent] for scores in by_seed])
        all_scores = [*_scores(run, task, np.ones((1, len(gold.targets)))), *_over_seeds(100 * by_part)]
        tables.setdefault((task.id, shown), table).scores[number] = all_scores
    return list(tables.values())


def _by_hardness(rows: Sequence[Row]) -> list[Breakdown]:
    """By whether no seed of a run, some, or every seed of every run answers a row right (after Swayamdipta et al. 2020, dataset cartography)."""
    # Of tasks with right and wrong answers, and of the first runs on the same examples as most. A run that gives all rows the same answer says
    # nothing about single rows, and is left out.
    answers: dict[str, tuple[Task, str, dict[int, np.ndarray]]] = {}
    for number, run, task in _scored(rows):
        if not (task.labels or task.candidates) or task.id in rows[number].apart:
            continue
        _, key, by_row = answers.setdefault(task.id, (task, run.rows_key(task), {}))
        if key == run.rows_key(task) and len(by_row) < MOST_RUNS:
            predicted = run.predictions(task)
            if task.candidates or len(np.unique(predicted)) > 1:
                by_row[number] = predicted == run.rows(task).targets
    tables = []
    for task, _, by_row in answers.values():
        if len(by_row) < FEWEST_RUNS:
            continue
        right = np.concatenate(list(by_row.values()))
        share = right.mean(axis=0)
        masks = [np.ones(len(share), dtype=bool), share == 0, (share > 0) & (share < 1), share == 1]
        parts = [(name, mask) for name, mask in zip((ALL, *HARD_PARTS), masks, strict=True) if mask.any()]
        table = Breakdown(task, HARD, [(name, int(mask.sum())) for name, mask in parts], 0, metric="accuracy")
        for number, is_right in by_row.items():
            by_part = np.stack([is_right[:, mask].mean(axis=1) for _, mask in parts], axis=1)
            table.scores[number] = _over_seeds(100 * by_part)
        tables.append(table)
    return tables


def _scored(rows: Sequence[Row]) -> Iterator[tuple[int, FinishedRun, Task]]:
    """The number of each row that is a run, with the run and each of its tasks."""
    for number, row in enumerate(rows):
        if row.run:
            yield from ((number, row.run, task) for task in row.run.tasks)


def _parts(cells: Sequence[str]) -> tuple[dict[str, np.ndarray], int]:
    """The rows of each part, bool (rows,), by value, and how many values are left out. A row counts for each of its values."""
    values = [set(filter(None, map(str.strip, cell.split(SEPARATOR)))) for cell in cells]
    counts = Counter(value for row in values for value in row)
    frequent = sorted(counts, key=lambda value: (-counts[value], value))
    parts = {ALL: np.ones(len(cells), dtype=bool)}
    if 0 < sum(map(bool, values)) < len(cells):
        parts[ANY] = np.array([bool(row) for row in values])
    parts |= {value: np.array([value in row for row in values]) for value in frequent[:MOST_VALUES]}
    return parts, len(frequent[MOST_VALUES:])


def _scores(run: FinishedRun, task: Task, masks: np.ndarray) -> list[Score]:
    """The run's score on each part, whose rows are 1 in its mask, (parts, rows): median, minimum and maximum over seeds."""
    rows = run.rows(task)
    return _over_seeds(np.array([weighted_scores(task, predicted, rows, masks) for predicted in run.predictions(task)]))


def _over_seeds(scores: np.ndarray) -> list[Score]:
    """The median, minimum and maximum over seeds of each part's scores (seeds, parts)."""
    return [Score(median(by_seed), min(by_seed), max(by_seed)) for by_seed in scores.T.tolist()]


def pair_tests(rows: Sequence[Row], references: Collection[str] = ()) -> PairTests:
    """The tests between the runs among these rows, with Holm's correction for all of them together.

    Args:
        references: names of runs to compare every run with. If the rows have none of them, every pair is compared; of more than
            MOST_FOR_PAIRS runs, every run with the run that has the best average of its split.
    """
    runs = [number for number, row in enumerate(rows) if row.samples]
    only, same = _only_task(rows)
    named = [number for number in runs if rows[number].name in references]
    by_score = not named and len(runs) > MOST_FOR_PAIRS
    tested = _best_of_each_split(rows, runs) if by_score else named
    pairs = [(second, first) for first, second in combinations(runs, 2)]
    if tested:
        others = [(run, reference) for reference in tested for run in runs if run != reference]
        pairs = [(run, reference) for run, reference in others if run not in tested or run > reference]
    tests: dict[tuple[tuple[int, int], str], PairTest] = {}
    comparisons: dict[tuple[int, int], dict[str, PairTest]] = {}
    for first, second in pairs:
        run, reference = rows[first], rows[second]
        if run.scores.keys() & reference.scores.keys():
            comparisons[first, second] = {}
        for column, key in run.comparable.items():
            if column != same and reference.comparable.get(column) == key:  # an average's key has its tasks
                tests[(first, second), column] = compare(run.samples[column], reference.samples[column])
    groups = {group: samples for group, samples in comparable_samples(rows).items() if group[0] != same}
    family = family_tests(groups)
    # Where the references were chosen by their scores, the correction is for the tests of every pair.
    family_tails = all_tails(family) if by_score else None
    positions = {group: {run: position for position, run in enumerate(samples)} for group, samples in groups.items()}
    tails = {}
    for ((first, second), column), test in tests.items():
        if test.p is not None:
            group = column, rows[first].comparable[column]
            tail = family[group].tail[positions[group][first], positions[group][second]]
            tails[(first, second), column] = float(tail)
    for (pair, column), test in with_holm(tests, tails, family_tails).items():
        comparisons[pair][column] = test
        if column == only:
            comparisons[pair][AVERAGE] = test
    number = len(tails) if family_tails is None else len(family_tails)
    ranked = [group for group, samples in groups.items() if "§" not in rows[min(samples)].mark(group[0])]
    number_of_groups = Counter(column for column, _ in ranked)
    ranks = {
        column: dict(zip(groups[column, key], intervals, strict=True))
        for (column, key), intervals in rank_intervals(family).items()
        if (column, key) in ranked and number_of_groups[column] == 1 and not named
    }
    if only in ranks:
        ranks[AVERAGE] = ranks[only]
    return PairTests(comparisons, tested, by_score, number, ranks)


def _only_task(rows: Sequence[Row]) -> tuple[str | None, str | None]:
    """The task whose scores are the averages, where all runs have this task alone, and AVERAGE, which is not tested again; else twice None."""
    columns = {column for row in rows for column in row.comparable} - {AVERAGE}
    averages = all(AVERAGE in row.comparable for row in rows if row.comparable)
    return (columns.pop(), AVERAGE) if len(columns) == 1 and averages else (None, None)


def comparable_samples(rows: Sequence[Row]) -> dict[tuple[str, str], dict[int, Sample]]:
    """The samples of two or more runs on the same rows that tests compare, by column and key of the rows, and by the index of the row."""
    groups: dict[tuple[str, str], dict[int, Sample]] = {}
    for number, row in enumerate(rows):
        for column, key in row.comparable.items():
            if row.samples[column].is_tested:
                groups.setdefault((column, key), {})[number] = row.samples[column]
    return {key: samples for key, samples in groups.items() if len(samples) > 1}


def tests_note(rows: Sequence[Row], tests: PairTests) -> list[str]:
    """A note on the paired tests that were made, if there are any."""
    if not any(tests.comparisons.values()):
        return []
    against = ", ".join(rows[number].name for number in tests.references)
    samples = [sample for row in rows for sample in row.samples.values()]
    single = (
        "; but an ensemble of all seeds, imported predictions of one seed, and one seed of a deterministic method are one system, and its tests"
        " say how it answers other examples, not how it would be with another seed"
    ) * any(sample.is_one_system for sample in samples)
    note = (
        "Paired tests compare the means over seeds of two runs, so a difference may not equal that of the medians shown. Runs on "
        f"the same examples are resampled together. A difference is significant, better or worse, if p is below {LEVEL:g}. The "
        f"interval of the difference then does not contain 0; but with five groups of examples or fewer, p is never below {LEVEL:g}. If a run "
        f"has fewer than {LEAST_SEEDS} seeds, there is no verdict{single}. Of tests "
        f"between equal runs, {100 * LEVEL:g} % give better or worse by chance."
    )
    if not tests.made:
        return [note]
    if tests.by_score:
        note += (
            f" Of more than {MOST_FOR_PAIRS} runs, only the tests of each one against the one with the best average of each split are shown "
            f"({against}); mtl report --reference NAME names another. These were chosen by their scores on the same examples, so without "
            f"Holm's correction, worse is too frequent. The correction, and the ranks, are therefore of the {tests.family:,} tests of every "
            f"pair of runs, every task and the average, of which {tests.made:,} are shown. With it,"
        )
    else:
        pairs = f"every run against {against}" if tests.references else "every pair of runs"
        made = f"{tests.made:,} tests of this suite ({pairs}, every task and the average)"
        note += f" With Holm's correction for the {made},"
    note += f" the probability of even one false verdict is at most {100 * LEVEL:g} %."
    if any(sample.varies for sample in samples):
        note += (
            " For this, the correction takes from all runs together how much seeds differ, and no less for a run whose own few seeds happen to "
            "agree. With three seeds, only large differences are significant."
        )
    return [note]


def _best_of_each_split(rows: Sequence[Row], runs: Sequence[int]) -> list[int]:
    """Of each split that averages are on, the run with the best average; a partial average counts only where there is no other."""
    best: dict[str, int] = {}
    for number in sorted(runs, key=lambda number: rank(rows[number]), reverse=True):
        best.setdefault(rows[number].split_of(AVERAGE), number)
    return sorted(best.values())
