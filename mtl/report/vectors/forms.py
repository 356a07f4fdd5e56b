"""The boards of sentence encoders as Markdown, LaTeX and CSV."""

from collections.abc import Collection, Sequence
from typing import Any

from mtl.base.files import format_bytes
from mtl.base.progress import format_duration
from mtl.base.terminal import MISSING, escaped, markdown_table
from mtl.report.tables import csv_text, escape, table_environment
from mtl.report.vectors.board import AVERAGE, BY_TYPE, COSTS, Column, VectorBoard, VectorRow


def render_vectors_markdown(boards: Sequence[VectorBoard]) -> str:
    """For each board: the averages and the means by type, the scores by task, costs, and notes. Empty without boards."""
    return "\n\n".join(_markdown(board) for board in boards)


def _markdown(board: VectorBoard) -> str:
    tables = {"By type": _by_type(board)} | {
        board.type_title(name): _by_task(board, columns) for name, columns in board.types.items()
    }
    ours = [row for row in board.rows if row.evaluation]
    if ours:
        tables["Cost"] = [
            ["", *COSTS.values()],
            *([row.label, *(_cost(key, row) for key in COSTS)] for row in ours),
        ]
    parts = [f"# {escaped(board.title)}", "\n".join(f"- {escaped(note)}" for note in _all_notes(board))]
    for title, lines in tables.items():
        cells = [[escaped(cell) for cell in line] for line in lines]
        parts += [f"## {escaped(title)}", markdown_table(cells)]
    return "\n\n".join(parts)


def _all_notes(board: VectorBoard) -> list[str]:
    """The board's notes, and those that explain the marks of its tables."""
    notes = list(board.notes)
    if any(board.missing(row) for row in board.rows):
        notes.append(
            "* partial: the mean of the scores that the row has, without some of the benchmark's tasks. A type has"
            f" {MISSING} where the row lacks one of its tasks that this board has."
        )
    return notes


def _by_type(board: VectorBoard) -> list[list[str]]:
    """The averages over tasks and over types, and the mean of each type."""
    body = []
    for row in board.rows:
        whole, by_type = board.average(row), board.average_by_type(row)
        mark = board.mark(row, board.benchmark.tasks)
        means = [_number(board.type_mean(row, name), board.type_mark(row, name)) for name in board.types]
        body.append([row.label, _number(whole, mark), _number(by_type, mark), *means])
    return [["", "AVG, tasks", "AVG, types", *map(board.type_title, board.types)], *body]


def _by_task(board: VectorBoard, columns: Sequence[Column]) -> list[list[str]]:
    """The scores of a type's tasks; a row without any of them is left out."""
    body = [
        [row.label, *(_number(row.scores.get(column.id), board.mark(row, [column.task])) for column in columns)]
        for row in board.rows
        if any(column.id in row.scores for column in columns)
    ]
    return [["", *(f"{column.title}, {column.metric}" for column in columns)], *body]


def _number(value: float | None, mark: str) -> str:
    return MISSING if value is None else f"{value:.2f}{mark}"


def _cost(key: str, row: VectorRow) -> str:
    assert row.evaluation
    value = row.evaluation.summary["cost"].get(key)
    if value is None:
        return MISSING
    if "seconds" in key and "per_second" not in key:
        return format_duration(value)
    return format_bytes(int(value)) if key == "memory" else f"{value:,.0f}"


def render_vectors_latex(boards: Sequence[VectorBoard]) -> str:
    """For each board a table of the means by type, and one for each type's tasks. Empty without boards."""
    tables = []
    for board in boards:
        caption = f"{board.title}. {' '.join(_all_notes(board))}"
        parts = {"": _by_type(board)} | {f"-{name}": _by_task(board, columns) for name, columns in board.types.items()}
        for label, (header, *body) in parts.items():
            tables.append(
                table_environment(
                    [[escape(cell) for cell in ["Model", *header[1:]]]],
                    [[[escape(cell) for cell in line] for line in body]],
                    caption,
                    f"{board.id}{label}",
                )
            )
    return "\n".join(tables)


def render_vectors_csv(boards: Sequence[VectorBoard]) -> str:
    """A line for each row and task, each mean of a type, and both averages. Scores are × 100 and not rounded."""
    lines: list[Sequence[Any]] = [
        ["board", "name", "what", "family", "source", "column", "task", "metric", "score", "data", "seen", "partial"]
    ]
    for board in boards:
        for row in board.rows:
            lines += _csv_lines(board, row)
    return csv_text(lines)


def _csv_lines(board: VectorBoard, row: VectorRow) -> list[Sequence[Any]]:
    source = "evaluation" if row.evaluation else "published"
    start = [board.id, row.name, row.label, row.family, source]

    def line(column: str, task: str, metric: str, value: float, data: str, tasks: Collection[str]) -> list[Any]:
        mark = board.mark(row, tasks)
        return [*start, column, task, metric, value, data, *("yes" if sign in mark else "no" for sign in "‡*")]

    lines: list[Sequence[Any]] = []
    for column in board.columns:
        if column.id in row.scores:
            data = row.evaluation.summary["tasks"][column.task]["data"] if row.evaluation else ""
            lines.append(line(column.title, column.task, column.metric, row.scores[column.id], data, [column.task]))
    for name in board.types:
        if (mean := board.type_mean(row, name)) is not None:
            lines.append(line(name, "", "mean", mean, "", board.benchmark.types[name].tasks))
    for key, value in ((AVERAGE, board.average(row)), (BY_TYPE, board.average_by_type(row))):
        if value is not None:
            lines.append(line(key, "", "mean", value, "", board.benchmark.tasks))
    return lines
