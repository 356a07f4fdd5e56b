"""Targets that are a choice: the index, or the letter, of one of the candidate answers of a row."""

import re
from collections.abc import Collection, Sequence
from itertools import chain

from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite.file_column import INDEX, FileColumn
from mtl.benchmark_making.init_suite.guess import Guess
from mtl.benchmark_making.init_suite.tables import FileTable, SplitTables
from mtl.benchmark_making.init_suite.wording import percent, quoted, quoted_names

LETTERS = "ABCDEFGHIJ"  # of candidates
# Columns of candidates are named choice1, ending0, option_a. Other columns with numbers (sentence1) are a pair.
CANDIDATE_NAMES = {"choice", "option", "ending", "candidate", "alternative", "answer", "solution", "response", "completion", "sol"}  # fmt: skip
# A name without the number or letter at its end, which names all columns of one family: answer1 and answer2, not answer1 and choice2.
FAMILY = rf"((?:.*[_.-])?(?:{'|'.join(sorted(CANDIDATE_NAMES))})s?[_.-]?)"
CANDIDATE = re.compile(rf"{FAMILY}(?:[0-9]+|[{LETTERS}])", re.IGNORECASE)


def guess_choice(guess: Guess, tables: SplitTables, targets: FileColumn, known_names: Sequence[str] | None) -> bool:
    """Declare a choice if each target is the index or letter of a candidate of its row; return whether it is. Raises InputError for other choices."""
    names = known_names or candidate_names(tables.main, exclude={targets.name})
    names = [name for name in names if all(name in table.columns for table in tables.values())]
    if not names:
        return False
    columns = [FileColumn.joined([table.columns[name] for table in tables.values()]) for name in names]
    rows = [list(chain(*cells)) for cells in zip(*(column.values_by_row for column in columns), strict=True)]
    sizes = [len(row) for row in rows]
    if numberings := _possible_numberings(targets, sizes):
        guess.kind = "choice"
        _declare_choice(guess, names, numberings, sizes)
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
    for column in columns:
        if are_candidates(column):
            return [column.name]
    families: dict[str, list[str]] = {}
    for column in columns:
        match = CANDIDATE.fullmatch(column.name)
        if match and column.texts and not column.numbers:
            families.setdefault(match[1], []).append(column.name)
    longest = max(families.values(), key=len, default=[])
    return longest if len(longest) > 1 else []


def are_candidates(column: FileColumn) -> bool:
    """Whether a column holds lists whose name says that they are candidates."""
    word = column.words[-1]
    return bool(column.lists) and (word in CANDIDATE_NAMES or word.removesuffix("s") in CANDIDATE_NAMES)


def _possible_numberings(targets: FileColumn, sizes: Sequence[int]) -> list[list[str]]:
    """What may stand for the first candidate, the second and so on, so that each target fits its row: letters, or numbers from 0 or from 1."""
    if all(map(INDEX.fullmatch, targets.counts)):
        texts = [str(int(text)) for text in targets.texts]  # 01 is 1
        numberings = [[str(first + index) for index in range(max(sizes))] for first in (0, 1)]
    else:
        texts = targets.texts
        numberings = [list(letters) for letters in (LETTERS, LETTERS.lower()) if set(targets.counts) <= set(letters)]
    rows = list(zip(texts, sizes, strict=True))
    return [numbers for numbers in numberings if all(text in numbers[:size] for text, size in rows)]


def _declare_choice(guess: Guess, names: list[str], numberings: list[list[str]], sizes: list[int]) -> None:
    """Declare a choice among columns of candidates, so many in each row, with a question if its indices may count from 0 as well as from 1."""
    least, most = min(sizes), max(sizes)
    number = f"{least}" if least == most else f"{least} to {most}"
    numbering = numberings[0]
    if len(numberings) > 1:
        ways = f"do they count from 0 ({numbering}), or from 1 ({numberings[1]})?"
        guess.questions.append(f"indices: the targets are indices of {number} candidates: {ways}")
    elif numbering[0] != "0":
        guess.declare("", indices=numbering[:most])
    target = f"index of one, from {numbering[0]}" if numbering[0] in "01" else "letter of one"
    guess.declare(f"{number} candidates a row; in each the target is the {target}", candidates=names)
    chance = sum(1 / size for size in sizes) / len(sizes)
    guess.declare(f"a random choice is right in {percent(chance, 1)} of the rows", metric="accuracy")
