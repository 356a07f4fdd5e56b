"""The columns that a task does not read: the reason for each, and questions about those that it may need all the same: lists, tags and places."""

import shlex
from collections.abc import Mapping
from itertools import chain
from typing import Any

from mtl.benchmark_making.init_suite.columns import why_no_text
from mtl.benchmark_making.init_suite.file_column import TOKEN_NAMES, FileColumn
from mtl.benchmark_making.init_suite.guess import Guess, quoted_names
from mtl.benchmark_making.init_suite.nested_rows import NO_NAME
from mtl.benchmark_making.init_suite.passage_answers import ANSWER, START
from mtl.benchmark_making.init_suite.tables import FileTable, SplitTables
from mtl.benchmark_making.init_suite.token_tags import TOKEN_LABELS, all_mark_entities, words_of
from mtl.data.columns import LIST
from mtl.tasks.task import BESIDE

ENDS = ("end", "stop", "to")  # in the names of places, where the first one has START
USES = "tags (kind: token_labels), labels (kind: multi_label), answers (kind: answer) or spans (reading.spans)"


def unread_columns(tables: SplitTables, keys: Mapping[str, Any]) -> dict[str, str]:
    """Each column that a task with these keys does not use, with the reason."""
    main, used = tables.main, _used_columns(tables.main, keys)
    target = main.columns[keys["target"]]
    reasons = {name: why_no_text(column, tables.test, target) or "a text" for name, column in main.columns.items()}
    reasons |= dict.fromkeys(main.incomplete, "no value in some rows") | main.unread
    return {name: reason for name, reason in reasons.items() if name not in used}


def unread_questions(main: FileTable, guess: Guess, known: Mapping[str, Any]) -> list[str]:
    """The questions about lists, cells with tags and places of which no key says what they are."""
    used, target, questions = _used_columns(main, guess.keys), main.columns[guess.keys["target"]], []
    lists = [name for name in _lists(main) if name not in used]
    if guess.kind in (ANSWER, TOKEN_LABELS):
        lists = [name for name in lists if not _is_beside(main, name, target)]
    if lists and "target" in known:
        questions.append(f"text: {quoted_names(lists)} may be texts, too: 2 columns at most, or one text made of them")
    elif lists:
        questions.append(f"target: {quoted_names(lists)} may be the target: {USES}; or texts: answer target and text")
    if guess.kind in (ANSWER, TOKEN_LABELS):
        return questions
    if tags := [name for name in _tags(main) if known.get("target", name) == name]:
        questions.append(f"kind: {quoted_names(tags)} may hold a tag for each word of a text: kind=token_labels")
    if places := [name for name in _places(main) if name != known.get("target")]:
        ends = "an end must be the character after the last one, so add 1 where it is the last"
        uses = "may mark spans of a text, or of a target (reading.spans), or say where answers begin (kind: answer)"
        questions.append(f"spans: {quoted_names(places)} {uses}; {ends} (docs/how-to/own-suite.md)")
    return questions


def other_targets(id: str, table: FileTable) -> list[str]:
    """How to answer if the target of a task may be in lists, in cells with tags, or at places, as no other column looks like one; or nothing."""
    names = quoted_names([*_lists(table), *_tags(table), *_places(table)])
    spans = shlex.quote(f"tasks.{id}.reading.spans=TEXT + LIST.START[] + LIST.END[] + LIST.TYPE[]")
    ways = f"answer kind, target and text, or for spans --answer {spans}"
    return [f"{names} may be {USES}: {ways}"] if names else []


def _used_columns(table: FileTable, keys: Mapping[str, Any]) -> set[str]:
    """The columns that a task with these keys uses."""
    names = [keys["target"], *keys["target"].split(BESIDE), *keys["text"], *keys.get("candidates", [])]
    spans = table.layout.reading.spans  # of these columns tokens and tags are made
    return {*names, *(spans.split(BESIDE) if spans else ()), keys.get("group"), keys.get("starts")}


def _lists(table: FileTable) -> list[str]:
    """The lists, also those that some rows lack, or that no column's name reaches. A list of tokens alone only repeats a text."""
    lists = [name for name in [*table.columns, *table.incomplete] if name.endswith(LIST)]
    lists += [name for name, what in table.unread.items() if what.startswith("a list") or what == NO_NAME]
    is_alone = len(lists) == 1 and lists[0] in table.columns and "." not in lists[0]
    return [] if is_alone and TOKEN_NAMES & {*table.columns[lists[0]].words} else lists


def _is_beside(table: FileTable, name: str, target: FileColumn) -> bool:
    """Whether a list has an item for each one of the target, of which it says more, or is the list of objects whose key the target is."""
    sizes = [len(row) for row in table.columns[name].lists] if name in table.columns else []
    return sizes == [len(row) for row in target.lists] or target.name.startswith(f"{name}.")


def _tags(table: FileTable) -> list[str]:
    """The columns of texts whose words are tags of entities."""
    columns = [column for column in table.columns.values() if column.several_words]
    return [column.name for column in columns if all_mark_entities(chain.from_iterable(words_of(column)))]


def _places(table: FileTable) -> list[str]:
    """The columns of whole numbers, also those that some rows lack, that have the name of a start, of the end beside it, or of the index of words."""
    numbers = [column for column in table.columns.values() if column.whole_numbers is not None]
    gaps = [name for name in table.incomplete if not name.endswith(LIST) and not FileColumn(name, []).is_meta]
    names = [*(column.name for column in numbers), *gaps]
    ends = {START.sub(end, name).lower() for name in names for end in ENDS if START.search(name)}
    repeat = [column.name for column in numbers if column.name != "index" or len(column.counts) < column.rows]
    indices = {name for name in repeat if "index" in name and name.replace("index", "text") in table.columns}
    return [name for name in names if START.search(name) or name.lower() in ends or name in indices]
