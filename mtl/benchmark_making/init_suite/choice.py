"""Targets that are a choice: the index, or the letter, of one of the candidate answers of a row."""

import re
from collections.abc import Collection, Sequence
from itertools import chain

from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite.file_column import INDEX, FileColumn
from mtl.benchmark_making.init_suite.guess import Guess, quoted, quoted_names, share
from mtl.benchmark_making.init_suite.tables import FileTable, SplitTables

# Columns of candidates are named choice1, ending0, option_a. Other columns with numbers (sentence1) are a pair.
CANDIDATE_NAMES = {"choice", "option", "ending", "candidate", "alternative", "answer", "solution", "response", "completion", "sol"}  # fmt: skip
CANDIDATE = re.compile(rf"(?:.*[_.-])?(?:{'|'.join(sorted(CANDIDATE_NAMES))})s?[_.-]?(?:[0-9]+|[a-h])", re.IGNORECASE)
LETTERS = "ABCDEFGHIJ"


def guess_choice(guess: Guess, tables: SplitTables, targets: FileColumn, known: Sequence[str] | None) -> bool:
    """Declare a choice if each target is the index or the letter of a candidate of its row, and say whether it is; ask about other candidates. Raises
    InputError if the kind is known and the targets are none, and for targets that are the texts of candidates."""
    names = known or candidate_names(tables.main, exclude={targets.name})
    names = [name for name in names if all(name in table.columns for table in tables.values())]
    if not names:
        return False
    columns = [FileColumn.joined([table.columns[name] for table in tables.values()]) for name in names]
    rows = [[*chain(*cells)] for cells in zip(*(column.values_by_row for column in columns), strict=True)]
    sizes = [len(row) for row in rows]
    letters = next((letters for letters in (LETTERS, LETTERS.lower()) if set(targets.counts) <= set(letters)), "")
    if bases := _possible_bases(targets, letters, sizes):
        guess.kind = "choice"
        _declare_choice(guess, names, letters, bases, sizes)
        return True
    if all(text.strip() in map(str.strip, row) for text, row in zip(targets.texts, rows, strict=True)):
        raise InputError(f"{quoted(targets.name)} holds the text of a candidate; write its index, from 0")
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


def _possible_bases(targets: FileColumn, letters: str, sizes: Sequence[int]) -> list[int]:
    """The indices that the first candidate of a row may have, 0, 1 or both, if each target is the index, or the letter, of a candidate; else none."""
    if not letters and not all(map(INDEX.fullmatch, targets.counts)):
        return []
    indices = [letters.index(value) if letters else int(value) for value in targets.texts]
    possible = [0] if letters else [0, 1]
    return [
        base
        for base in possible
        if all(base <= index < base + size for index, size in zip(indices, sizes, strict=True))
    ]


def _declare_choice(guess: Guess, candidates: list[str], letters: str, bases: list[int], sizes: list[int]) -> None:
    """Declare a choice among columns of candidates, so many in each row, with a question if its indices may count from 0 as well as from 1."""
    least, most = min(sizes), max(sizes)
    number = f"{least}" if least == most else f"{least} to {most}"
    from_zero, from_one = ([str(base + place) for place in range(most)] for base in (0, 1))
    if len(bases) > 1:
        ways = f"do they count from 0 ({from_zero}), or from 1 ({from_one})?"
        guess.questions.append(f"indices: the targets are indices of {number} candidates: {ways}")
    elif letters or bases == [1]:
        guess.declare("", indices=list(letters[:most]) or from_one)
    target = "letter of one" if letters else f"index of one, from {bases[0]}"
    guess.declare(f"{number} candidates a row; in each the target is the {target}", candidates=candidates)
    chance = sum(1 / size for size in sizes if size) / len(sizes)
    guess.declare(f"a random choice is right in {share(chance, 1)} of the rows", metric="accuracy")
