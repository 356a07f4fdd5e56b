"""The columns that a task does not read: the reason for each, and questions about those that it may need all the same: lists, tags and places."""

import shlex
from collections.abc import Mapping
from typing import Any

from mtl.benchmark_making.init_suite.columns import why_no_text
from mtl.benchmark_making.init_suite.file_column import META, TOKEN_NAMES, FileColumn
from mtl.benchmark_making.init_suite.guess import Guess, quoted_names
from mtl.benchmark_making.init_suite.nested_rows import NO_NAME
from mtl.benchmark_making.init_suite.passage_answers import ANSWER, START
from mtl.benchmark_making.init_suite.tables import FileTable, SplitTables
from mtl.benchmark_making.init_suite.token_tags import TOKEN_LABELS, all_mark_entities, words_of
from mtl.data.columns import LIST
from mtl.tasks.task import BESIDE

ENDS = ("end", "stop", "to")  # in the names of places, where the first one has START
USES = "tags (kind: token_labels), labels (kind: multi_label), answers (kind: answer) or spans (reading.spans)"
LISTS_AS_TEXTS = "text: {} may be texts, too: 2 columns at most, or one text made of them"
LISTS_AS_TARGET = "target: {} may be the target: " + USES + "; or texts: answer target and text"
TAGS_AS_TARGET = "kind: {} may hold a tag for each word of a text: kind=token_labels"
USES_OF_PLACES = "may mark spans of a text, or of a target (reading.spans), or say where answers begin (kind: answer)"
END_RULE = "an end must be the character after the last one, so add 1 where it is the last (docs/how-to/own-suite.md)"
PLACES_OF_SPANS = "spans: {} " + USES_OF_PLACES + "; " + END_RULE


def unread_columns(tables: SplitTables, keys: Mapping[str, Any]) -> dict[str, str]:
    """Each column that a task with these keys does not use, with the reason."""
    main, used = tables.main, _used_columns(tables.main, keys)
    target = main.columns[keys["target"]]
    reasons = {name: why_no_text(column, tables.test, target) or "a text" for name, column in main.columns.items()}
    reasons |= dict.fromkeys(main.incomplete, "no value in some rows") | main.unread
    return {name: reason for name, reason in reasons.items() if name not in used}


def unread_questions(main: FileTable, guess: Guess, known: Mapping[str, Any]) -> list[str]:
    """The questions about lists, cells with tags and places of which no key says what they are."""
    used, target = _used_columns(main, guess.keys), main.columns[guess.keys["target"]]
    has_parts = guess.kind in (ANSWER, TOKEN_LABELS)  # of texts as targets: lists beside them only say more
    lists = [name for name in _lists(main) if name not in used]
    lists = [name for name in lists if not (has_parts and _is_beside(main, name, target))]
    names = {LISTS_AS_TEXTS if "target" in known else LISTS_AS_TARGET: lists}
    if not has_parts:
        names[TAGS_AS_TARGET] = [name for name in _tags(main) if known.get("target", name) == name]
        names[PLACES_OF_SPANS] = [name for name in _places(main) if name != known.get("target")]
    return [question.format(quoted_names(columns)) for question, columns in names.items() if columns]


def other_targets(id: str, table: FileTable) -> list[str]:
    """How to answer if the target of a task may be in lists, in cells with tags, or at places, as no other column looks like one; or nothing."""
    names = quoted_names([*_lists(table), *_tags(table), *_places(table)])
    spans = shlex.quote(f"tasks.{id}.reading.spans=TEXT + LIST.START[] + LIST.END[] + LIST.TYPE[]")
    return [f"{names} may be {USES}: answer kind, target and text, or for spans --answer {spans}"] if names else []


def _used_columns(table: FileTable, keys: Mapping[str, Any]) -> set[str]:
    """The columns that a task with these keys uses: those that the keys name, and those of the spans that tokens and tags are made of."""
    spans = table.layout.reading.spans.split(BESIDE) if table.layout.reading.spans else []
    names = {keys["target"], *keys["target"].split(BESIDE), *keys["text"], *keys.get("candidates", []), *spans}
    return names | {keys[key] for key in ("group", "starts") if keys.get(key) is not None}


def _lists(table: FileTable) -> list[str]:
    """The columns of lists, also those that some rows lack, or that no column's name reaches. A list of tokens alone does not count."""
    lists = [name for name in [*table.columns, *table.incomplete] if name.endswith(LIST)]
    lists += [name for name, what in table.unread.items() if what.startswith("a list") or what == NO_NAME]
    is_alone = len(lists) == 1 and lists[0] in table.columns and "." not in lists[0]
    return [] if is_alone and TOKEN_NAMES & set(table.columns[lists[0]].words) else lists


def _is_beside(table: FileTable, name: str, target: FileColumn) -> bool:
    """Whether a list has an item for each one of the target, of which it says more, or is the list of objects whose key the target is."""
    sizes = [len(row) for row in table.columns[name].lists] if name in table.columns else []
    return sizes == [len(row) for row in target.lists] or target.name.startswith(f"{name}.")


def _tags(table: FileTable) -> list[str]:
    """The columns of texts whose words are tags of entities."""
    columns = [column for column in table.columns.values() if column.several_words]
    return [column.name for column in columns if all_mark_entities(tag for tags in words_of(column) for tag in tags)]


def _places(table: FileTable) -> list[str]:
    """The columns whose names say that they hold places in texts: numbers and columns with gaps. An index that never repeats counts rows."""
    numbers = [column for column in table.columns.values() if column.whole_numbers is not None]
    gaps = [name for name in table.incomplete if not name.endswith(LIST) and not name.lower().startswith(META)]
    names = [*(column.name for column in numbers), *gaps]
    starts = [name for name in names if START.search(name)]  # as entity_start
    ends = {START.sub(end, start).lower() for start in starts for end in ENDS}  # as entity_end beside it
    repeat = [column.name for column in numbers if column.name != "index" or len(column.counts) < column.rows]
    indices = [
        name for name in repeat if "index" in name and name.replace("index", "text") in table.columns
    ]  # span1_index
    return [name for name in names if name in starts or name.lower() in ends or name in indices]
