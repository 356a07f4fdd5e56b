"""How a suite declares the files that its leaderboard takes."""

from dataclasses import dataclass, field

from mtl.tasks.task import Source


@dataclass
class Submission:
    """The format of a suite's submissions, a key of `mtl.runs.formats.FORMATS`, and what the format needs to know.

    zip has no further keys. The others are those of rows:
    template: the leaderboard's empty entry, a JSON file in the data folder. template_source: where `mtl data` gets it. fill: by dotted
    key of the entry, the fact of a run that stands there (`mtl.runs.formats.entry.FACTS`). measures: by name in the entry, metrics, or
    "rows" for the number of rows; the first stands there if the task has it, those after it only if they are the task's own `metric`.
    ids: keys that identify rows; a task has the first of them that all its rows have.
    """

    format: str = "zip"
    template: str | None = None
    template_source: Source | None = None
    fill: dict[str, str] = field(default_factory=dict)
    measures: dict[str, list[str]] = field(default_factory=dict)
    ids: list[str] = field(default_factory=list)
