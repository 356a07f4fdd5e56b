"""The boards of sentence encoders in the form of the page's suites."""

from typing import Any

from mtl.report.vectors.board import COSTS, FAMILIES, VectorBoard, VectorRow

DECIMALS = 2  # as the published rows have


def vectors_document(board: VectorBoard) -> dict[str, Any]:
    """A board as a suite of the page: its columns are tasks, and the means by type are a group of scores."""
    ids = {row: f"r{number}" for number, row in enumerate(board.rows)}
    return {
        "name": board.id,
        "title": board.title,
        "unit": "score × 100",
        "decimals": DECIMALS,
        "tasks": [
            {
                "id": column.id,
                "version_of": column.task,
                "title": column.title,
                "metric": column.metric,
                "labels": None,
                "range": None,
                "averaged": True,
            }
            for column in board.columns
        ],
        "whole_averages": board.whole_averages,
        "unscored": [{"id": task, "title": task} for task in board.unscored],
        "families": [
            {"id": family, "title": FAMILIES.get(family, family)}
            for family in dict.fromkeys(row.family for row in board.rows)
        ],
        "notes": list(board.notes),
        "rows": [_row(board, row, id) for row, id in ids.items()],
        "groups": [_types(board, ids)],
        "groups_title": "Scores by type",
        "groups_note": "The mean of each type of which a row has all tasks of this board, and the mean over the types where it has all of them."
        " *: without some of the benchmark's tasks.",
        "breakdowns": [],
        "settings": [],
        "comparisons": {},
    }


def _row(board: VectorBoard, row: VectorRow, id: str) -> dict[str, Any]:
    average = board.average(row)
    cost = row.evaluation.summary["cost"] if row.evaluation else None
    return {
        "id": id,
        "name": row.name,
        "label": row.label,
        "source": "run" if row.evaluation else "published",
        "family": row.family,
        "split": "test",
        "average_split": "test",
        "average": None if average is None else _short(average),
        "partial": bool(board.missing(row)),
        "missing": board.missing(row),
        "partial_groups": _marked(board, row, "*"),
        "reduced": [],
        "seen": [*row.seen, *_marked(board, row, "‡")],
        "scores": {column: _score(score) for column, score in row.scores.items()},
        "cost": cost and {key: cost.get(key) for key in COSTS},
        "details": None,
    }


def _marked(board: VectorBoard, row: VectorRow, mark: str) -> list[str]:
    """The types whose mean has this mark."""
    return [name for name in board.types if mark in board.type_mark(row, name)]


def _types(board: VectorBoard, ids: dict[VectorRow, str]) -> dict[str, Any]:
    """The means by type; the mean of a row is that over its types."""
    rows = {}
    for row, id in ids.items():
        means = {name: mean for name in board.types if (mean := board.type_mean(row, name)) is not None}
        by_type = board.average_by_type(row)
        if means:
            rows[id] = {
                "mean": None if by_type is None else _short(by_type),
                "scores": {name: _score(mean) for name, mean in means.items()},
            }
    titles = {name: board.type_title(name) for name in board.types}
    return {"metric": "types", "title": "by type", "tasks": list(titles), "titles": titles, "rows": rows}


def _score(value: float) -> dict[str, Any]:
    short = _short(value)
    return {"split": "test", "median": short, "min": short, "max": short, "interval": None}


def _short(score: float) -> float:
    return round(score, DECIMALS + 3)
