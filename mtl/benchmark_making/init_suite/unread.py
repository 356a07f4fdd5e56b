"""The columns that a task does not read: why, and the questions about those of them that may annotate its texts, so that it may need them."""

import shlex

from mtl.benchmark_making.init_suite.column_names import META, TOKEN_NAMES
from mtl.benchmark_making.init_suite.file_column import FileColumn
from mtl.benchmark_making.init_suite.guess import ANSWER, TOKEN_LABELS, Guess, TaskKeys
from mtl.benchmark_making.init_suite.nested_rows import NO_NAME
from mtl.benchmark_making.init_suite.passage_answers import START
from mtl.benchmark_making.init_suite.tables import FileTable, SplitTables
from mtl.benchmark_making.init_suite.text_columns import why_no_text
from mtl.benchmark_making.init_suite.token_tags import all_mark_entities, words_of
from mtl.benchmark_making.init_suite.wording import quoted_names
from mtl.data.columns import LIST
from mtl.tasks.task import BESIDE

ENDS = ("end", "stop", "to")  # words for the end of a span, where a column of its start has a word of START
# What lists, cells with tags and positions may be, as sentences with the {names} of the columns.
USES = "tags (kind: token_labels), labels (kind: multi_label), answers (kind: answer) or spans (reading.spans)"
LISTS_AS_TEXTS = "text: {names} may be texts, too: 2 columns at most, or one text made of them"
LISTS_AS_TARGET = "target: {names} may be the target: " + USES + "; or texts: answer target and text"
TAGS_AS_TARGET = "kind: {names} may hold a tag for each word of a text: kind=token_labels"
POSITIONS_OF_SPANS = (
    "spans: {names} may mark spans of a text, or of a target (reading.spans), or say where answers begin (kind: answer); an end "
    "must be the character after the last one, so add 1 where it is the last (docs/how-to/own-suite.md)"
)


def unread_columns(tables: SplitTables, keys: TaskKeys) -> dict[str, str]:
    """Each column that a task with these keys does not use, with the reason."""
    main, used = tables.main, _used_columns(tables.main, keys)
    target = main.columns[keys["target"]]
    reasons = {name: why_no_text(column, tables.test, target) or "a text" for name, column in main.columns.items()}
    reasons |= dict.fromkeys(main.incomplete, "no value in some rows") | main.unread
    return {name: reason for name, reason in reasons.items() if name not in used}


def unread_questions(main: FileTable, guess: Guess, known: TaskKeys) -> list[str]:
    """The questions about unread lists and, unless the targets are parts of texts, about cells with tags and positions that no key explains."""
    target, used = main.columns[guess.keys["target"]], _used_columns(main, guess.keys)
    lists = [name for name in _list_columns(main) if name not in used]
    about_lists = LISTS_AS_TEXTS if "target" in known else LISTS_AS_TARGET
    if guess.kind in (ANSWER, TOKEN_LABELS):
        names_by_question = {about_lists: [name for name in lists if not _only_says_more(main, name, target)]}
    else:
        # A known target may still be tags of another kind, but known positions are answered.
        tags = [name for name in _tag_columns(main) if known.get("target", name) == name]
        positions = [name for name in _position_columns(main) if known.get("target") != name]
        names_by_question = {about_lists: lists, TAGS_AS_TARGET: tags, POSITIONS_OF_SPANS: positions}
    return [question.format(names=quoted_names(names)) for question, names in names_by_question.items() if names]


def other_targets(task_id: str, table: FileTable) -> list[str]:
    """How to answer if no column looks like a target, but one that annotates texts may be it; or nothing."""
    columns = [*_list_columns(table), *_tag_columns(table), *_position_columns(table)]
    if not columns:
        return []
    spans = shlex.quote(f"tasks.{task_id}.reading.spans=TEXT + LIST.START[] + LIST.END[] + LIST.TYPE[]")
    return [f"{quoted_names(columns)} may be {USES}: answer kind, target and text, or for spans --answer {spans}"]


def _list_columns(table: FileTable) -> list[str]:
    """The columns of lists, also those that some rows lack, or that no column's name reaches. A list of tokens alone does not count."""
    names = [name for name in [*table.columns, *table.incomplete] if name.endswith(LIST)]
    names += [name for name, what in table.unread.items() if what.startswith("a list") or what == NO_NAME]
    is_alone = len(names) == 1 and names[0] in table.columns and "." not in names[0]
    return [] if is_alone and not TOKEN_NAMES.isdisjoint(table.columns[names[0]].words) else names


def _tag_columns(table: FileTable) -> list[str]:
    """The columns of texts whose words are tags of entities."""
    columns = [column for column in table.columns.values() if column.rows_of_several_words]
    return [column.name for column in columns if all_mark_entities(tag for tags in words_of(column) for tag in tags)]


def _position_columns(table: FileTable) -> list[str]:
    """The columns whose names say that they hold positions in texts: of those with whole numbers, and those with gaps."""
    possible = [name for name, column in table.columns.items() if column.whole_numbers is not None]
    possible += [name for name in table.incomplete if not (name.endswith(LIST) or name.lower().startswith(META))]
    starts = [name for name in possible if START.search(name)]  # as entity_start
    ends = {START.sub(end, start).lower() for start in starts for end in ENDS}  # as entity_end beside it
    return [name for name in possible if name in starts or name.lower() in ends or _is_index_of_text(table, name)]


def _is_index_of_text(table: FileTable, name: str) -> bool:
    """Whether a column says where the text of another one begins, as span1_index beside span1_text. An index that never repeats counts rows."""
    if name not in table.columns or "index" not in name or name.replace("index", "text") not in table.columns:
        return False
    column = table.columns[name]
    return name != "index" or len(column.counts) < column.rows


def _used_columns(table: FileTable, keys: TaskKeys) -> set[str]:
    """The columns that a task with these keys uses: those that the keys name, and those of the spans that tokens and tags are made of."""
    spans = table.layout.reading.spans.split(BESIDE) if table.layout.reading.spans else []
    names = {keys["target"], *keys["target"].split(BESIDE), *keys["text"], *keys.get("candidates", []), *spans}
    return names | {keys[key] for key in ("group", "starts") if keys.get(key) is not None}


def _only_says_more(table: FileTable, name: str, target: FileColumn) -> bool:
    """Whether a list only says more about the items of the target: it has one for each of them, or is the list of objects whose key the target is."""
    column = table.columns.get(name)  # None: some rows lack the list, or it cannot be read
    has_one_for_each = column is not None and [len(row) for row in column.lists] == [len(row) for row in target.lists]
    return has_one_for_each or target.name.startswith(f"{name}.")
