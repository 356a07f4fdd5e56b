"""Answers that are parts of passages: the columns of answers, of the places where they begin, of passages and of questions."""

from collections.abc import Collection, Mapping
from itertools import permutations
from typing import Any, NamedTuple

from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite.evidence import is_source
from mtl.benchmark_making.init_suite.reading import Guess
from mtl.benchmark_making.init_suite.tables import NO_SPACES, FileColumn, FileTable, count, quoted, quoted_names, share
from mtl.benchmark_making.init_suite.target import possible_targets
from mtl.benchmark_making.init_suite.texts import QUESTIONS, text_columns, unread_columns

STARTS = {"start", "starts"}  # words in the name of a column of places
SAMPLE = 1000  # texts


class AnswerColumns(NamedTuple):
    """The names of the columns of answers, of the places where they begin, and of passages."""

    target: str
    starts: str
    passage: str


def answer_columns(table: FileTable) -> AnswerColumns | None:
    """The columns that stand for answers in passages: in every row, the answers begin in the passage where the places say, and some begin
    behind its first character. None unless there is one such set of columns."""
    found = [
        AnswerColumns(answer.name, start.name, passage.name)
        for answer, start, passage in permutations(table.columns.values(), 3)
        if STARTS & set(start.words) and not passage.lists and bool(answer.lists) == bool(start.lists)
        if _are_within(answer, start, passage)
    ]
    return found[0] if len(found) == 1 else None


def _are_within(answers: FileColumn, starts: FileColumn, passages: FileColumn) -> bool:
    """Whether all answers stand where the places say. Rows without an answer tell nothing, and some row must."""
    is_behind = False
    for texts, places, passage in zip(_rows(answers), _rows(starts), passages.texts, strict=True):
        if not any(texts):
            continue
        if len(texts) != len(places) or not all(place.isdecimal() for place in places):
            return False
        if not all(passage.startswith(text, int(place)) for text, place in zip(texts, places, strict=True)):
            return False
        is_behind |= any(map(int, places))
    return is_behind


def _rows(column: FileColumn) -> list[list[str]]:
    return column.lists or [[text] for text in column.texts]


def guess_answers(
    guess: Guess,
    tables: Mapping[str, FileTable],
    main: FileTable,
    known: Mapping[str, Any],
    found: AnswerColumns | None,
) -> bool:
    """Guess the keys of a task whose answers are parts of passages, from the columns that were found, or that the user names.

    Returns whether the test file has answers. Raises InputError if a column is not known.
    """
    if found and known.get("target", found.target) != found.target:
        found = None
    target, starts = known.get("target", found and found.target), known.get("starts", found and found.starts)
    if target not in main.columns:
        wanted = f"no column {quoted(str(target))}" if target else "kind: answer needs target: the column of answers"
        raise InputError(f"{wanted}: {main.listed}")
    column, test = main.columns[target], tables.get("test") if tables.get("test") is not main else None
    used = {target, *([starts] if starts else [])}
    texts = list(known["text"]) if "text" in known else _texts(guess, main, test, column, used, found)
    guess.kind = "answer"
    guess.keys |= {"kind": "answer", "text": texts, "target": target, **({"starts": starts} if starts else {})}
    guess.why |= {"kind": "the answers stand in the passage where the places say", "target": "every row has an answer"}
    if without := sum(not any(answers) for answers in _rows(column)):
        guess.why["target"] = f"{share(without, len(_rows(column)))} of {count(main.rows, 'row')} have no answer"
    passages = main.columns.get(texts[-1])
    if "metric" not in known:
        guess.keys |= {"metric": "squad_f1", "also": ["squad_exact"]}
        guess.why["metric"] = "SQuAD's"
        if passages is not None and _has_no_spaces(passages):
            guess.keys["metric"] = "squad_f1_characters"
            guess.why["metric"] += ", by characters: the passages have no spaces between words"
    if passages is not None and len(passages.counts) < len(passages.texts):
        guess.keys["group"], guess.why["group"] = passages.name, "questions on one passage stay together"
    guess.take(known)
    with_column = {split: table.columns[target] for split, table in tables.items() if target in table.columns}
    labelled = [split for split, answers in with_column.items() if any(map(any, _rows(answers)))]
    if lacking := [split for split in tables if split not in ("test", *labelled)]:
        raise InputError(f"no answers in column {quoted(target)} of {quoted_names(lacking)}")
    guess.unread = dict(unread_columns(main, test, column, {*used, *texts, guess.keys.get("group", "")}))
    return "test" in labelled


def _texts(
    guess: Guess,
    main: FileTable,
    test: FileTable | None,
    target: FileColumn,
    used: Collection[str],
    found: AnswerColumns | None,
) -> list[str]:
    """The columns of questions and passages. Raises InputError if they are not known."""
    if found is None:
        raise InputError("kind: answer needs text: [the column of questions, the column of passages]")
    named = [name for name, column in main.columns.items() if column.words[-1] in QUESTIONS and not column.lists]
    guess.why["text"] = "the passage holds all answers"
    if len(named) == 1:
        return [named[0], found.passage]
    lists = {name for name, column in main.columns.items() if column.lists}  # about the answers, as their types
    guessed = text_columns(main, test, target, {*used, *lists, found.passage}, most=1)
    if not guessed.columns:
        problem = f"{quoted(found.target)} stands in {quoted(found.passage)}, and no column looks like a question"
        raise InputError(f"{problem}; if another column is the target, name it with target: {main.listed}")
    guess.questions += guessed.questions
    others = [column.name for column in possible_targets(main) if not is_source(column)]
    if others := [name for name in others if name not in (*used, *guessed.columns, found.passage)]:
        # What is marked in a text stands there, too.
        what = f"{quoted(found.target)} stands in {quoted(found.passage)}, and no column is named after questions"
        guess.questions.append(f"target: {what}; {quoted_names(others)} may be the target")
    return [*guessed.columns, found.passage]


def _has_no_spaces(column: FileColumn) -> bool:
    """Whether a text is of a script that sets no spaces between words: at least a fifth of its characters."""
    texts = column.texts[:SAMPLE]
    return 5 * sum(len(NO_SPACES.findall(text)) for text in texts) > sum(map(len, texts))
