"""Targets that are a choice: the index, or the letter, of one of the candidate answers of a row."""

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite.file_column import INDEX, FileColumn
from mtl.benchmark_making.init_suite.guess import Guess, quoted, quoted_names, share
from mtl.benchmark_making.init_suite.tables import FileTable, SplitTables

# Columns of candidates are named choice1, ending0, option_a. Other columns with numbers (sentence1) are a pair.
CANDIDATE_NAMES = {"choice", "option", "ending", "candidate", "alternative", "answer", "solution", "response", "completion", "sol"}  # fmt: skip
CANDIDATE = re.compile(rf"(?:.*[_.-])?(?:{'|'.join(sorted(CANDIDATE_NAMES))})s?[_.-]?(?:[0-9]+|[a-h])", re.IGNORECASE)
LETTERS = "ABCDEFGHIJ"


class Choice(NamedTuple):
    """Targets that name one of the candidates of their row."""

    letters: str  # that stand in the file for the indices from 0; empty if the file has indices
    indices: list[int]  # the target of each row
    sizes: list[int]  # the number of candidates of each row
    bases: list[int]  # the indices that the first candidate may have: 0, 1 or both


def guess_choice(guess: Guess, tables: SplitTables, targets: FileColumn, known: Sequence[str] | None) -> bool:
    """Declare a choice if each target is the index or the letter of a candidate of its row, and say whether it is. If there are candidates without
    such targets, ask. Raises InputError for these if the kind is known, and for targets that are the texts of candidates."""
    names = known or candidate_names(tables.main, exclude={targets.name})
    names = [name for name in names if all(name in table.columns for table in tables.values())]
    if not names:
        return False
    choice = _choice_among(
        [FileColumn.joined([table.columns[name] for table in tables.values()]) for name in names], targets
    )
    if choice is not None:
        guess.kind = "choice"
        _declare_choice(guess, names, choice)
        return True
    problem = f"candidates: {quoted_names(names)} may be candidates, but {quoted(targets.name)} is not the index of one in each row"
    if guess.kind == "choice":
        raise InputError(problem)
    guess.questions.append(problem)
    return False


def candidate_names(table: FileTable, exclude: Collection[str] = ()) -> list[str]:
    """The columns of candidate answers by their names: one column of lists, or two or more columns with names like choice1 and choice2."""
    columns = [column for name, column in table.columns.items() if name not in exclude and not column.is_meta]
    if lists := [column.name for column in columns if are_candidates(column)]:
        return lists[:1]
    families: dict[str, list[str]] = {}  # answer1 and answer2, not answer1 and choice2
    for column in columns:
        if column.texts and not column.numbers and CANDIDATE.fullmatch(column.name):
            families.setdefault(re.sub("[0-9]+$|[a-hA-H]$", "", column.name), []).append(column.name)
    longest = max(families.values(), key=len, default=[])
    return longest if len(longest) > 1 else []


def are_candidates(column: FileColumn) -> bool:
    """Whether a column holds lists whose name says that they are candidates."""
    return bool(column.lists) and bool({column.words[-1], column.words[-1].removesuffix("s")} & CANDIDATE_NAMES)


def _choice_among(candidates: Sequence[FileColumn], targets: FileColumn) -> Choice | None:
    """The choice, if each target is the index or the letter of a candidate of its row. Raises InputError if each is the text of one."""
    rows: list[list[str]] = [[] for _ in targets.texts]
    for column in candidates:
        for row, values in zip(rows, column.values_by_row, strict=True):
            row += values
    letters = next((letters for letters in (LETTERS, LETTERS.lower()) if set(targets.counts) <= set(letters)), "")
    if not letters and not all(map(INDEX.fullmatch, targets.counts)):
        if all(text.strip() in map(str.strip, row) for text, row in zip(targets.texts, rows, strict=True)):
            raise InputError(f"{quoted(targets.name)} holds the text of a candidate; write its index, from 0")
        return None
    indices = [letters.index(value) if letters else int(value) for value in targets.texts]
    sizes = [len(row) for row in rows]
    pairs = list(zip(indices, sizes, strict=True))
    possible = [0] if letters else [0, 1]
    bases = [base for base in possible if all(base <= index < base + size for index, size in pairs)]
    return Choice(letters, indices, sizes, bases) if bases else None


def _declare_choice(guess: Guess, candidates: list[str], choice: Choice) -> None:
    """Declare a choice among columns of candidates, with a question if its indices may count from 0 as well as from 1."""
    letters, indices, sizes, bases = choice
    least, most = min(sizes), max(sizes)
    from_zero, from_one = ([str(base + number) for number in range(most)] for base in (0, 1))
    if len(bases) > 1:
        targets = f"the targets are {min(indices)} to {max(indices)} of {least} to {most} candidates"
        guess.questions.append(f"indices: {targets}: do they count from 0 ({from_zero}), or from 1 ({from_one})?")
    elif letters or bases == [1]:
        guess.declare("", indices=list(letters[:most]) or from_one)
    target = "letter of one" if letters else f"index of one, from {bases[0]}"
    number = f"{least}" if least == most else f"{least} to {most}"
    guess.declare(f"{number} candidates a row; in each the target is the {target}", candidates=candidates)
    chance = sum(1 / size for size in sizes if size) / len(sizes)
    guess.declare(f"a random choice is right in {share(chance, 1)} of the rows", metric="accuracy")
