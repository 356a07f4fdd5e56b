"""Targets that are parts of texts: answers that stand in a passage."""

from collections.abc import Mapping, Sequence
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
    """The names of the columns of a task with answers in passages."""

    target: str  # of the answers
    starts: str | None  # of the places where they begin
    passage: str
    question: str = ""  # empty: not looked for yet


def answer_columns(table: FileTable) -> AnswerColumns | None:
    """The columns of answers that begin in a passage where the places of their row say, if there is one such set of columns; else None."""
    columns = list(table.columns.values())
    fitting = []
    for start in [column for column in columns if STARTS & set(column.words)]:
        for answer in [column for column in columns if bool(column.lists) == bool(start.lists)]:
            for passage in [column for column in columns if not column.lists]:
                if len({answer.name, start.name, passage.name}) == 3 and _are_answers(answer, start, passage):
                    fitting.append(AnswerColumns(answer.name, start.name, passage.name))
    return fitting[0] if len(fitting) == 1 else None


def guess_answers(guess: Guess, tables: SplitTables, known: Mapping[str, Any], likely: AnswerColumns | None) -> None:
    """Guess the keys of a task with answers in passages. Raises InputError for unknown columns, and for a file other than test without answers."""
    main = tables.main
    target, starts, passage, question = _chosen_columns(main, known, likely)
    answers, passages = main.columns[target], main.columns[passage]
    guess.kind = "answer"
    guess.declare("the answers stand in the passage where the places say", kind="answer")
    unanswered = sum(not any(items) for items in answers.values_by_row)
    part = f"{share(unanswered, len(answers.values_by_row))} of {count(main.rows, 'row')} have no answer"
    guess.declare(part if unanswered else "every row has an answer", target=target)
    guess.declare("the passage holds all answers", text=[question, passage])
    if starts:
        guess.declare("", starts=starts)
    if "metric" not in known:
        _declare_metric(guess, passages.texts[:SAMPLE])
    if len(passages.counts) < len(passages.texts):
        guess.declare("questions on one passage stay together", group=passages.name)
    columns = {split: table.columns[target] for split, table in tables.items() if target in table.columns}
    labelled = [split for split, column in columns.items() if any(any(items) for items in column.values_by_row)]
    if lacking := [split for split in tables if split not in ("test", *labelled)]:
        raise InputError(f"no answers in column {quoted(target)} of {quoted_names(lacking)}")
    guess.unread = unread_columns(tables, answers, {target, starts, question, passage, guess.keys.get("group")})
    guess.test_has_targets = "test" in labelled


def _chosen_columns(table: FileTable, known: Mapping[str, Any], likely: AnswerColumns | None) -> AnswerColumns:
    """The columns that the user names, else the likely ones. Raises InputError for columns that the file lacks, and if there is no question."""
    target, starts, texts = known.get("target"), known.get("starts"), known.get("text")
    if likely and known.get("target", likely.target) == likely.target:
        target, starts = likely.target, known.get("starts", likely.starts)
        texts = [_question_column(table, likely), likely.passage] if texts is None else texts
    if target not in table.columns or texts is None or len(texts) != 2 or not set(texts) <= set(table.columns):
        needs = "kind: answer needs target: COLUMN of answers, and text: [COLUMN of questions, COLUMN of passages]"
        raise InputError(f"{needs}: {table.listed}")
    return AnswerColumns(target, starts, passage=texts[1], question=texts[0])


def _question_column(table: FileTable, likely: AnswerColumns) -> str:
    """The name of the column of questions. Raises InputError unless one column is named after them."""
    named = [name for name, column in table.columns.items() if column.is_question and not column.lists]
    if len(named) != 1:
        called = f"{len(named)} columns are called question" if named else "no column is called question"
        remedy = "answer kind=answer and text=[QUESTIONS, PASSAGES], or name another target"
        where = f"{quoted(likely.target)} stands in {quoted(likely.passage)}"
        raise InputError(f"{where}, and {called}; {remedy}: {table.listed}")
    return named[0]


def _declare_metric(guess: Guess, passages: Sequence[str]) -> None:
    """Declare SQuAD's metric as the main one, which counts characters where these passages have no spaces between words."""
    by_characters = sum(len(NO_SPACES.findall(text)) for text in passages) > UNSPACED * sum(map(len, passages))
    reason = ", by characters: the passages have no spaces between words" if by_characters else ""
    guess.declare(f"SQuAD's{reason}", metric="squad_f1_characters" if by_characters else "squad_f1")
    guess.declare("", also=["squad_exact"])


def _are_answers(answers: FileColumn, starts: FileColumn, passages: FileColumn) -> bool:
    """Whether all answers stand where the places say, some of them behind the first character. Rows without an answer tell nothing."""
    places_of_answers: list[int] = []
    for texts, places, passage in zip(answers.values_by_row, starts.values_by_row, passages.texts, strict=True):
        if any(texts):
            if len(texts) != len(places) or not all(map(INDEX.fullmatch, places)):
                return False
            if not all(passage.startswith(text, int(place)) for text, place in zip(texts, places, strict=True)):
                return False
            places_of_answers += map(int, places)
    return any(places_of_answers)
