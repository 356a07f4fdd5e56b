"""Targets that are parts of texts: answers that stand in a passage."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite.columns import unread_columns
from mtl.benchmark_making.init_suite.file_column import INDEX, NO_SPACES, FileColumn
from mtl.benchmark_making.init_suite.guess import Guess, count, quoted, quoted_names, share
from mtl.benchmark_making.init_suite.tables import FileTable, SplitTables

STARTS = {"start", "starts"}  # words in the name of a column of places
SAMPLE = 1000  # texts, whose characters show whether their script has spaces between words
UNSPACED = 0.2  # the share of characters of scripts without spaces, of which metrics then count characters


class AnswerColumns(NamedTuple):
    """The names of the columns of answers, of the places where they begin, and of passages."""

    target: str
    starts: str
    passage: str


def answer_columns(table: FileTable) -> AnswerColumns | None:
    """The columns that stand for answers in passages: in every row, the answers begin in the passage where the places say, and some begin
    behind its first character. None unless there is one such set of columns."""
    columns = list(table.columns.values())
    fitting = []
    for start in [column for column in columns if STARTS & set(column.words)]:
        answers = [column for column in columns if column is not start and bool(column.lists) == bool(start.lists)]
        passages = [column for column in columns if column is not start and not column.lists]
        for answer, passage in product(answers, passages):
            if answer is not passage and _are_within(answer, start, passage):
                fitting.append(AnswerColumns(answer.name, start.name, passage.name))
    return fitting[0] if len(fitting) == 1 else None


def guess_answers(guess: Guess, tables: SplitTables, known: Mapping[str, Any], columns: AnswerColumns | None) -> None:
    """Guess the keys of a task with answers in passages, from the columns of `answer_columns` or the user. Raises InputError for unknown columns."""
    main = tables.main
    target, starts, texts = known.get("target"), known.get("starts"), known.get("text")
    if columns and known.get("target", columns.target) == columns.target:
        target, starts = columns.target, known.get("starts", columns.starts)
        texts = _texts(main, columns) if texts is None else texts
    if target not in main.columns or texts is None or len(texts) != 2 or not set(texts) <= set(main.columns):
        needs = "kind: answer needs target: COLUMN of answers, and text: [COLUMN of questions, COLUMN of passages]"
        raise InputError(f"{needs}: {main.listed}")
    column, passages = main.columns[target], main.columns[texts[-1]]
    guess.kind = "answer"
    guess.declare("the answers stand in the passage where the places say", kind="answer")
    without = sum(not any(answers) for answers in _answers(column))
    part = f"{share(without, len(_answers(column)))} of {count(main.rows, 'row')} have no answer"
    guess.declare(part if without else "every row has an answer", target=target)
    guess.declare("the passage holds all answers", text=texts)
    if starts:
        guess.declare("", starts=starts)
    if "metric" not in known:
        _declare_metric(guess, passages.texts[:SAMPLE])
    if len(passages.counts) < len(passages.texts):
        guess.declare("questions on one passage stay together", group=passages.name)
    labelled = [split for split, table in tables.items() if any(map(any, _answers(table.columns.get(target))))]
    if lacking := [split for split in tables if split not in ("test", *labelled)]:
        raise InputError(f"no answers in column {quoted(target)} of {quoted_names(lacking)}")
    used = {target, *texts, *filter(None, [starts, guess.keys.get("group")])}
    guess.unread = unread_columns(tables, column, used)
    guess.test_has_targets = "test" in labelled


def _declare_metric(guess: Guess, passages: Sequence[str]) -> None:
    """Declare SQuAD's metric as the main one, which counts characters where these passages have no spaces between words."""
    by_characters = sum(len(NO_SPACES.findall(text)) for text in passages) > UNSPACED * sum(map(len, passages))
    further = ", by characters: the passages have no spaces between words" if by_characters else ""
    guess.declare(f"SQuAD's{further}", metric="squad_f1_characters" if by_characters else "squad_f1")
    guess.declare("", also=["squad_exact"])


def _are_within(answers: FileColumn, starts: FileColumn, passages: FileColumn) -> bool:
    """Whether all answers stand where the places say, some of them behind the first character. Rows without an answer tell nothing."""
    is_behind = False
    for texts, places, passage in zip(_answers(answers), _answers(starts), passages.texts, strict=True):
        if any(texts):
            if len(texts) != len(places) or not all(map(INDEX.fullmatch, places)):
                return False
            if not all(passage.startswith(text, int(place)) for text, place in zip(texts, places, strict=True)):
                return False
            is_behind |= any(map(int, places))
    return is_behind


def _answers(column: FileColumn | None) -> list[list[str]]:
    """The answers, or places, of each row; none without a column."""
    return (column.lists or [[text] for text in column.texts]) if column else []


def _texts(table: FileTable, answers: AnswerColumns) -> list[str]:
    """The columns of questions and passages. Raises InputError unless one column is named after questions."""
    named = [name for name, column in table.columns.items() if column.is_question and not column.lists]
    if len(named) != 1:
        called = f"{len(named)} columns are called question" if named else "no column is called question"
        remedy = "answer kind=answer and text=[QUESTIONS, PASSAGES], or name another target"
        where = f"{quoted(answers.target)} stands in {quoted(answers.passage)}"
        raise InputError(f"{where}, and {called}; {remedy}: {table.listed}")
    return [named[0], answers.passage]
