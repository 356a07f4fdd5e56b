"""Targets that are a choice: the index, or the letter, of one of the candidate answers of a row."""

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite.file_column import CANDIDATE, INDEX, FileColumn
from mtl.benchmark_making.init_suite.guess import Guess, quoted, share
from mtl.benchmark_making.init_suite.tables import FileTable

LETTERS = "ABCDEFGHIJ"


class Choice(NamedTuple):
    """Targets that name one of the candidates of their row."""

    candidates: list[str]  # the names of their columns
    letters: str  # that stand in the file for the indices from 0; empty if the file has indices
    indices: list[int]  # the target of each row
    sizes: list[int]  # the number of candidates of each row
    bases: list[int]  # the indices that the first candidate may have: 0, 1 or both


def candidate_names(table: FileTable, exclude: Collection[str] = ()) -> list[str]:
    """The columns of candidate answers by their names: one column of lists, or two or more columns with names like choice1 and choice2."""
    columns = [column for name, column in table.columns.items() if name not in exclude and not column.is_meta]
    if lists := [column.name for column in columns if column.lists and column.is_candidates]:
        return lists[:1]
    families: dict[str, list[str]] = {}  # answer1 and answer2, not answer1 and choice2
    for column in columns:
        if column.texts and not column.numbers and CANDIDATE.fullmatch(column.name):
            families.setdefault(re.sub("[0-9]+$|[a-hA-H]$", "", column.name), []).append(column.name)
    longest = max(families.values(), key=len, default=[])
    return longest if len(longest) > 1 else []


def choice_among(candidates: Sequence[FileColumn], targets: FileColumn) -> Choice | None:
    """The choice, if each target is the index or the letter of a candidate of its row. Raises InputError if each is the text of one."""
    rows: list[list[str]] = [[] for _ in targets.texts]
    for column in candidates:
        for row, values in zip(rows, column.values_by_row, strict=True):
            row += values
    letters = next((letters for letters in (LETTERS, LETTERS.lower()) if set(targets.counts) <= set(letters)), "")
    if not letters and not all(INDEX.fullmatch(value) for value in targets.counts):
        if all(text.strip() in map(str.strip, row) for text, row in zip(targets.texts, rows, strict=True)):
            raise InputError(f"{quoted(targets.name)} holds the text of a candidate; write its index, from 0")
        return None
    indices = [letters.index(value) if letters else int(value) for value in targets.texts]
    sizes = [len(row) for row in rows]
    pairs = list(zip(indices, sizes, strict=True))
    possible = [0] if letters else [0, 1]
    bases = [base for base in possible if all(base <= index < base + size for index, size in pairs)]
    return Choice([column.name for column in candidates], letters, indices, sizes, bases) if bases else None


def declare_choice(guess: Guess, choice: Choice) -> None:
    """Declare a choice, with a question if its indices may count from 0 as well as from 1."""
    candidates, letters, indices, sizes, bases = choice
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
    guess.kind = "choice"
