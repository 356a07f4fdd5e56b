"""A run's medians beside the published rows, as Markdown in the layout of the paper's Table 3."""

from collections.abc import Mapping
from statistics import fmean, stdev
from typing import Any

from mtl.base.wording import MISSING, inert, markdown_table
from mtl.runs.notes import splits_text, table_notes
from mtl.tasks.metrics import metric_named
from mtl.tasks.suite import Published, Suite

TASK_MARKS = {"†": "reduced", "‡": "maybe_trained_on"}  # keys of a summary, by mark


def render(summary: Mapping[str, Any], suite: Suite) -> str:
    """The table of a summary, with notes below it, and a second table if tasks have further metrics."""
    table = RunTable(summary, suite)
    title = f"## {inert(suite.title)}: {inert(summary['title'])}"
    rows = [*table.header(), *table.run_rows(), *table.compared_rows(), *table.difference_rows()]
    parts = [title, markdown_table(rows), *table_notes(summary, suite)]
    if further_rows := table.further_rows():
        parts.append(markdown_table(further_rows))
    return "\n\n".join(parts) + "\n"


def average_marks(summary: Mapping[str, Any], suite: Suite) -> str:
    """The marks of the average: * without one of its tasks, † with a task that has this mark."""
    return ("*" if summary["partial"] else "") + ("†" if set(summary["reduced"]) & set(suite.averaged) else "")


class RunTable:
    """The rows of a run's table: each has a name, the cell of the average, and a cell for each of the run's tasks."""

    def __init__(self, summary: Mapping[str, Any], suite: Suite) -> None:
        self.summary, self.suite, self.scale = summary, suite, suite.shown
        self.scores = summary["tasks"]  # `TaskScores` by task id
        self.tasks = [id for id in suite.tasks if id in self.scores]
        # Whether the run's average is one of the same tasks on the same data as published averages.
        self.has_published_data = not average_marks(summary, suite)

    def header(self) -> list[list[str]]:
        """The titles of the tasks with their marks, their metrics, and their splits if there are several."""
        titles = []
        for id in self.tasks:
            marks = [mark for mark, key in TASK_MARKS.items() if id in self.summary.get(key, ())]
            titles.append(inert(self.suite.tasks[id].title) + "".join(marks))
        metrics = [metric_named(self.suite.tasks[id].metric).title for id in self.tasks]
        rows = [["", f"AVG{average_marks(self.summary, self.suite)}", *titles], ["metric", "mean", *metrics]]
        if "," in splits_text(self.summary):
            rows.append(["split", "", *[self.scores[id]["split"] for id in self.tasks]])
        return rows

    def run_rows(self) -> list[list[str]]:
        """The run's scores in bold, and of several seeds further statistics."""
        count, title = len(self.summary["seeds"]), f"**{inert(self.summary['title'])}**"
        medians = self._cells(self.summary["average"], {id: record["median"] for id, record in self.scores.items()})
        bold_medians = [cell if cell == MISSING else f"**{cell}**" for cell in medians]
        if count == 1:
            return [[f"{title}, one seed", *bold_medians]]
        rows = [[f"{title}, median of {count}", *bold_medians], ["mean ± standard deviation", *self._means()]]
        for extreme in ("min", "max"):
            rows.append([extreme, "", *[self.scale.show(self.scores[id][extreme]) for id in self.tasks]])
        return rows

    def compared_rows(self) -> list[list[str]]:
        """The best constant answer, the simple baselines, and the published rows with a score on one of the tasks."""
        simple = [(inert(row["title"]), row["scores"]) for row in self.summary.get("beside", [])]
        if not self.summary["is_constant"]:
            simple.insert(0, ("Best constant", {id: record["constant"] for id, record in self.scores.items()}))
        rows = []
        for name, scores in simple:
            has_all_tasks = self.scores.keys() <= scores.keys()  # else its average would be one of other tasks
            rows.append([name, *self._cells(self.suite.mean(scores) if has_all_tasks else None, scores)])
        for published in self.suite.published:
            if any(id in published.scores for id in self.tasks):
                name = f"{_model(published)} (published{self._split(published)})"
                average = published.average if self.has_published_data else None
                rows.append([name, *self._cells(average, published.scores)])
        return rows

    def difference_rows(self) -> list[list[str]]:
        """How far the run is from the published transformers, from floors if it is one, and from the same model."""
        rows = []
        for published in self.suite.published:
            compared = [id for id in self.tasks if self._is_compared(id, published)]
            if compared and self._is_rival(published):
                has_average = self.has_published_data and set(compared) >= set(self.suite.averaged)
                cells = [self._difference(self.summary["average"], published.average if has_average else None)]
                for id in self.tasks:
                    score = published.scores[id] if id in compared else None
                    cells.append(self._difference(self.scores[id]["median"], score))
                rows.append([f"ours − {_model(published)}{self._split(published)}", *cells])
        return rows

    def further_rows(self) -> list[list[str]]:
        """The second table, with the medians of further metrics, if there are any: a row for each metric, a column for each task."""
        further = {id: self.scores[id]["also"] for id in self.tasks if self.scores[id].get("also")}
        rows = [["further metrics", *[inert(self.suite.tasks[id].title) for id in further]]] if further else []
        for metric in dict.fromkeys(name for by_metric in further.values() for name in by_metric):
            medians = [by_metric[metric]["median"] if metric in by_metric else None for by_metric in further.values()]
            rows.append([metric_named(metric).title, *map(self.scale.show, medians)])
        return rows

    def _means(self) -> list[str]:
        """The cells with the mean over seeds, and the standard deviation."""
        columns = [list(self.scores[id]["scores"].values()) for id in self.tasks]
        by_seed = [{id: self.scores[id]["scores"][str(seed)] for id in self.scores} for seed in self.summary["seeds"]]
        averages = [self.suite.mean(scores) for scores in by_seed] if self.summary["average"] is not None else []
        show = self.scale.show
        return [f"{show(fmean(x))} ± {show(stdev(x))}" if x else MISSING for x in (averages, *columns)]

    def _is_compared(self, task: str, published: Published) -> bool:
        """Whether a published row has a score like ours on a task: on the published data, and on our split if any row is on it."""
        scored = [row for row in self.suite.published if task in row.scores]
        on_our_split = [row for row in scored if row.split == self.scores[task]["split"]]
        return task not in self.summary["reduced"] and published in (on_our_split or scored)

    def _is_rival(self, published: Published) -> bool:
        """Whether the table says how far the run is from a published row."""
        model = self.summary["method"], self.summary["embeddings"], self.summary["variant"]
        is_same_model = (published.method, published.embeddings, published.variant) == model
        are_floors = published.family == self.summary["family"] == "floor"
        return published.family == "transformer" or are_floors or is_same_model

    def _split(self, published: Published) -> str:
        """The split of a published row, after a comma, if the rows are on several."""
        return f", {published.split}" if len({row.split for row in self.suite.published}) > 1 else ""

    def _cells(self, average: float | None, scores: Mapping[str, float]) -> list[str]:
        return [self.scale.show(score) for score in (average, *map(scores.get, self.tasks))]

    def _difference(self, score: float | None, published: float | None) -> str:
        return MISSING if score is None or published is None else self.scale.difference(score - published)


def _model(published: Published) -> str:
    """The title of a published row. A floor that guesses is told from an LSTM with random embeddings."""
    is_guess = published.family == "floor" and published.model.lower() == "random"
    return f"{inert(published.model)}{' guess' if is_guess else ''}"
