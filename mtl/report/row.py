"""One row of a leaderboard: a run or a published system."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from mtl.runs.finished import Run
from mtl.runs.summary import splits_text
from mtl.stats.comparison import Sample
from mtl.tasks.suite import AVERAGE


@dataclass(frozen=True)
class Score:
    """The score × 100 of a task, or an average: the median over seeds, the minimum, the maximum, and a 95 % interval."""

    median: float
    min: float
    max: float
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class Row:
    """One row of the leaderboard.

    average: None for a row without one. missing: the tasks of the suite's average that it has no score for. reduced: the tasks whose
    split sizes or files differ from the published ones; reduced_average: those of them that the average counts. run: None for a published row.
    """

    name: str
    label: str
    family: str
    split: str
    scores: Mapping[str, Score]  # by task id
    average: Score | None
    missing: Sequence[str]
    reduced: Sequence[str]
    reduced_average: Sequence[str]
    further: Mapping[str, Mapping[str, Score]] = field(default_factory=dict)  # by task id and further metric
    run: Run | None = None
    samples: Mapping[str, Sample] = field(default_factory=dict)  # by task id and AVERAGE

    @property
    def seeds(self) -> int:
        """The number of seeds; 0 for a published row."""
        return len(self.run.summary["seeds"]) if self.run else 0

    @cached_property
    def comparable(self) -> dict[str, str]:
        """By task id, and by AVERAGE if there is one, a key that is equal for runs with this score on the same rows."""
        if not self.run:
            return {}
        keys = {task.id: self.run.rows_key(task) for task in self.run.tasks}
        averaged = [(id, keys[id]) for id in self.run.suite.averaged if id in keys]
        return {**keys, AVERAGE: repr(averaged)} if averaged else keys

    def mark(self, column: str) -> str:
        """* for a partial average; † for a task whose data differs from the published data, and for an average with such a task."""
        if column == AVERAGE:
            return ("*" if self.missing else "") + ("†" if self.reduced_average else "")
        return "†" if column in self.reduced else ""

    def split_of(self, column: str) -> str:
        """The split that a task's score is on, or the splits of an average. column: a task's id, or AVERAGE."""
        tasks = self.run.summary["tasks"] if self.run else {}
        if self.run and self.average and column == AVERAGE:
            return splits_text({"tasks": {id: tasks[id] for id in self.run.suite.averaged if id in tasks}})
        return str(tasks[column]["split"]) if column in tasks else self.split

    def score(self, column: str) -> Score | None:
        """The score in a column: a task's id, or AVERAGE."""
        return self.average if column == AVERAGE else self.scores.get(column)
