"""The columns that a task does not read: the reason for each, and questions about those that it may need all the same: lists, tags and places."""

import shlex
from collections.abc import Mapping
from typing import Any

from mtl.benchmark_making.init_suite.columns import why_no_text
from mtl.benchmark_making.init_suite.file_column import TOKEN_NAMES
from mtl.benchmark_making.init_suite.guess import Guess, quoted_names
from mtl.benchmark_making.init_suite.nested_rows import NO_NAME
from mtl.benchmark_making.init_suite.passage_answers import ANSWER, START
from mtl.benchmark_making.init_suite.tables import FileTable, SplitTables
from mtl.benchmark_making.init_suite.token_tags import TOKEN_LABELS, mark_entities, words_of
from mtl.data.columns import LIST
from mtl.tasks.task import BESIDE

ENDS = ("end", "stop", "to")  # in the names of places, where the first one has START
USES = (
    "tags of tokens (kind: token_labels), labels (kind: multi_label), answers (kind: answer) or spans (reading.spans)"
)
SPANS = (
    "tasks.{id}.reading.spans=TEXT + {list}.START[] + {list}.END[] + {list}.TYPE[]"  # words in capitals are replaced
)


def unread_columns(tables: SplitTables, keys: Mapping[str, Any]) -> dict[str, str]:
    """Each column that a task with these keys does not use, with the reason."""
    main, used = tables.main, _used_columns(tables.main, keys)
    target = main.columns[keys["target"]]
    reasons = {name: why_no_text(column, tables.test, target) or "a text" for name, column in main.columns.items()}
    reasons |= dict.fromkeys(main.incomplete, "no value in some rows") | main.unread
    return {name: reason for name, reason in reasons.items() if name not in used}


def unread_questions(main: FileTable, guess: Guess, known: Mapping[str, Any]) -> list[str]:
    """The questions about lists, cells with tags and places of which no key says what they are."""
    used, questions = _used_columns(main, guess.keys), []
    has_items = guess.kind in (
        ANSWER,
        TOKEN_LABELS,
    )  # lists with one item for each of the target's say more about these
    sizes = [len(row) for row in main.columns[guess.keys["target"]].lists] if has_items else []
    lists = [name for name in _lists(main) if name not in used]
    lists = [
        name for name in lists if name not in main.columns or [len(row) for row in main.columns[name].lists] != sizes
    ]
    if lists and "target" in known:
        questions.append(f"text: {quoted_names(lists)} may be texts, too: 2 columns at most, or one text made of them")
    elif lists:
        questions.append(f"target: {quoted_names(lists)} may be texts (text), or the target: {USES}")
    if not has_items:
        names = [name for name in _tags(main) if known.get("target", name) == name]
        questions += [f"kind: {quoted_names(names)} may hold tags of tokens, for kind: token_labels"] if names else []
        names = [name for name in _places(main) if name not in used]
        remedy = (
            "an end must be the character after the last one, so add 1 where it is the last (docs/how-to/own-suite.md)"
        )
        questions += (
            [f"spans: {quoted_names(names)} may mark spans, or answers (kind: answer); {remedy}"] if names else []
        )
    return questions


def remedy(id: str, table: FileTable) -> str:
    """How to answer if the target of a task is in lists, in cells with tags, or at places, and no other column looks like one; or empty."""
    lists = [name.removesuffix(LIST) for name in _lists(table)]
    if not lists:
        names = quoted_names([*_tags(table), *_places(table)])
        return f"with {names}, answer kind=token_labels or kind=answer, target and text" if names else ""
    answer = shlex.quote(SPANS.format(id=id, list=lists[0].rpartition(".")[0] or lists[0]))
    return f"lists may be {USES}: answer kind, target and text; or for spans --answer {answer}"


def _used_columns(table: FileTable, keys: Mapping[str, Any]) -> set[str]:
    """The columns that a task with these keys uses."""
    names = [keys["target"], *keys["target"].split(BESIDE), *keys["text"], *keys.get("candidates", [])]
    spans = (table.layout.reading.spans or "").split(BESIDE)  # tokens and tags are made of these columns
    return {*names, *spans, keys.get("group"), keys.get("starts")}


def _lists(table: FileTable) -> list[str]:
    """The lists, also those that some rows lack, or that no column's name reaches. A list of tokens alone only repeats a text."""
    lists = [name for name in [*table.columns, *table.incomplete] if name.endswith(LIST)]
    lists += [name for name, what in table.unread.items() if what.startswith("a list") or what == NO_NAME]
    are_tokens = len(lists) == 1 and lists[0] in table.columns and TOKEN_NAMES & {*table.columns[lists[0]].words}
    return [] if are_tokens else lists


def _tags(table: FileTable) -> list[str]:
    """The columns of texts whose words are tags of entities."""
    return [name for name, column in table.columns.items() if column.texts and mark_entities(words_of(column))]


def _places(table: FileTable) -> list[str]:
    """The columns of whole numbers, also those that some rows lack, that have the name of a start, of the end beside it, or of the index of words."""
    numbers = [column for column in table.columns.values() if column.whole_numbers is not None]
    names = [column.name for column in numbers] + [name for name in table.incomplete if not name.endswith(LIST)]
    ends = {START.sub(end, name).lower() for name in names for end in ENDS if START.search(name)}
    repeat = [column.name for column in numbers if column.name != "index" or len(column.counts) < column.rows]
    indices = {name for name in repeat if "index" in name and name.replace("index", "text") in table.columns}
    return [name for name in names if START.search(name) or name.lower() in ends or name in indices]
