"""Targets that are parts of texts: answers that stand in a passage."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite.file_column import INDEX, NO_SPACES, FileColumn
from mtl.benchmark_making.init_suite.guess import ANSWER, Guess, TaskKeys
from mtl.benchmark_making.init_suite.tables import FileTable

SQUAD = ("answers.text[]", "answers.answer_start[]", "context")  # SQuAD's columns of answers, positions and passages
START = re.compile("start|begin|from", re.IGNORECASE)  # in the names of positions
QUESTION = "question"  # SQuAD's column of questions
SAMPLE = 1000  # texts, whose characters show whether their script has spaces between words
UNSPACED = 0.2  # the share of characters of scripts without spaces, of which metrics then count characters


class AnswerColumns(NamedTuple):
    target: str  # the name of the column of answers
    starts: str | None  # of the column of the positions where they begin
    text: Sequence[str]  # of the columns of the question and the passage


def answer_columns(table: FileTable, known: TaskKeys) -> AnswerColumns | None:
    """The columns that the user names, and SQuAD's for the rest; None for another kind. Raises InputError for this kind without known columns."""
    answers, starts, passage = SQUAD
    is_squad = known.get("target", answers) == answers and _has_squad_columns(table)
    user_says_otherwise = "kind" in known or "target" in known or table.layout.reading.spans
    if known.get("kind") != ANSWER and (user_says_otherwise or not is_squad):
        return None
    target = known.get("target", answers if is_squad else None)
    text = known.get("text", [QUESTION, passage] if is_squad else [])
    if target not in table.columns or len(text) != 2 or not set(text) <= set(table.columns):
        needs = "kind: answer needs target: COLUMN of answers, and text: [COLUMN of questions, COLUMN of passages]"
        raise InputError(f"{needs}: {table.listed}")
    return AnswerColumns(target, known.get("starts", starts if is_squad else None), text)


def guess_answers(guess: Guess, main: FileTable, names: AnswerColumns, known: TaskKeys) -> None:
    passages = main.columns[names.text[-1]]
    guess.kind = ANSWER
    guess.declare("the answers stand in the passage", kind=ANSWER)
    guess.declare("", target=names.target)
    guess.declare("the passage holds all answers", text=list(names.text))
    if names.starts:
        guess.declare("where the answers begin", starts=names.starts)
    elif "starts" not in known:
        guess.questions.append("starts: name the column that says where the answers begin, or null if there is none")
    signs = sum(len(NO_SPACES.findall(text)) for text in passages.texts[:SAMPLE])
    if signs > UNSPACED * sum(map(len, passages.texts[:SAMPLE])):
        guess.declare("by characters: the passages have no spaces between words", metric="squad_f1_characters")
    else:
        guess.declare("SQuAD's", metric="squad_f1")
    if "metric" not in known:
        guess.declare("", also=["squad_exact"])
    if len(passages.counts) < len(passages.texts):
        guess.declare("questions on one passage stay together", group=passages.name)


def _has_squad_columns(table: FileTable) -> bool:
    """Whether a file has SQuAD's columns, all answers stand where the positions say, and nothing else could be the answers, positions or passages."""
    columns = list(table.columns.values())
    questions = [column.name for column in columns if column.is_question and not column.lists]
    if questions != [QUESTION] or not set(SQUAD) <= set(table.columns):
        return False
    answers, starts, passages = (table.columns[name] for name in SQUAD)
    fitting = [column for column in columns if _are_answers(column, starts, passages)]
    fitting += [column for column in columns if START.search(column.name) and _are_answers(answers, column, passages)]
    fitting += [column for column in columns if _are_answers(answers, starts, column)]
    return [column.name for column in fitting] == [*SQUAD]


def _are_answers(answers: FileColumn, starts: FileColumn, passages: FileColumn) -> bool:
    """Whether all answers stand where the positions say, some of them behind the first character. Rows without an answer tell nothing."""
    if passages.lists or len({answers.name, starts.name, passages.name}) < 3:
        return False
    all_positions: list[int] = []
    for texts, positions, passage in zip(answers.values_by_row, starts.values_by_row, passages.texts, strict=True):
        if any(texts):
            pairs = zip(texts, positions, strict=False)
            stand_there = all(INDEX.fullmatch(start) and passage.startswith(text, int(start)) for text, start in pairs)
            if len(texts) != len(positions) or not stand_there:
                return False
            all_positions += map(int, positions)
    return any(all_positions)
