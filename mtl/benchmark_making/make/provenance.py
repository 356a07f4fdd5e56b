"""What a folder that `mtl make` writes says of how it was made: provenance.json, and dropped.jsonl with the rows that are not in its tasks."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mtl.base.files import sha256, write_json, write_text
from mtl.base.version import VERSION
from mtl.benchmark_making.make.recipe import StepUse, TaskRecipe
from mtl.benchmark_making.make.sources import Sources
from mtl.benchmark_making.make.table import Dropped, Origin, SourceRow
from mtl.benchmark_making.make.task_files import PROVENANCE, WrittenTasks
from mtl.data.columns import LIST

DROPPED = "dropped.jsonl"


@dataclass(frozen=True)
class StepRecord:
    """A step that was done."""

    use: StepUse
    rows_in: Mapping[str, int]  # by table
    rows_out: int
    dropped: Sequence[Dropped]
    facts: Mapping[str, Any]  # what the step notes

    def __str__(self) -> str:
        """The step in one line, for people."""
        use = self.use
        options = ", ".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in use.options.items())
        step = f"{use.name} ({options})" if options else use.name
        taken = " and ".join(f"{rows} rows of {name}" for name, rows in self.rows_in.items())
        return f"{use.number}. {step}: {taken} → {self.rows_out} rows of {use.into}"

    @property
    def content(self) -> dict[str, Any]:
        """What provenance.json says of the step."""
        use, facts = self.use, {"facts": self.facts} if self.facts else {}
        rows = {"rows_in": self.rows_in, "into": use.into, "rows_out": self.rows_out, "dropped": len(self.dropped)}
        return {"step": use.name, "options": use.options, **rows, **facts}


def write_provenance(
    recipe: TaskRecipe, sources: Sources, records: Sequence[StepRecord], tasks: WrittenTasks, folder: Path
) -> None:
    """Write dropped.jsonl and then provenance.json, which lists all files that the folder has before it."""
    lines = _dropped_lines(records, sources, tasks.used)
    write_text(folder / DROPPED, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    used_by_file = Counter(origin.file for origin in tasks.used)
    about_sources = {
        name: {"file": file, "rows": len(table.rows), "sha256": digest, "rows_used": used_by_file[file]}
        for name, (file, table, digest) in sources.items()
    }
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    content = {
        "mtl": VERSION,
        "recipe": {"file": recipe.path.name, "sha256": sha256(recipe.path)},
        "seed": recipe.keys.seed,
        "sources": about_sources,
        "steps": [record.content for record in records],
        "tasks": tasks.content,
        "files": {path.relative_to(folder).as_posix(): sha256(path) for path in files},
    }
    write_json(folder / PROVENANCE, content)


def _dropped_lines(records: Sequence[StepRecord], sources: Sources, used: set[Origin]) -> Iterator[dict[str, Any]]:
    """What dropped.jsonl says of each row that a step dropped, and of rows of sources that no step chose for a table of a task. `used`: the
    rows of sources that files of tasks are made of."""
    known = set(used)
    for record in records:
        step = {"step": record.use.number, "name": record.use.name, "table": record.use.into}
        for row, reason in record.dropped:
            known.update(row.origins)
            yield {**step, **_dropped_row(row, reason, used)}
    no_step: dict[str, Any] = dict.fromkeys(("step", "name", "table"))
    for row in (row for source in sources.values() for row in source.table.rows):
        if known.isdisjoint(row.origins):
            yield {**no_step, **_dropped_row(row, "no step chose it for a table of a task", used)}


def _dropped_row(row: SourceRow, reason: str, used: set[Origin]) -> dict[str, Any]:
    """What dropped.jsonl says of a row, whichever step dropped it."""
    values = {column: value for column, value in row.values.items() if not column.endswith(LIST)}
    is_used = used.issuperset(row.origins)
    return {"sources": list(map(str, row.origins)), "reason": reason, "used": is_used, "row": values}
