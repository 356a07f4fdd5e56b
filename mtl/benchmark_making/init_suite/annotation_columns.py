"""Columns that may annotate texts: lists, cells with a tag for each word, and positions in texts. A task may need them, but nothing says what for."""

from mtl.benchmark_making.init_suite.column_names import META, TOKEN_NAMES
from mtl.benchmark_making.init_suite.nested_rows import NO_NAME
from mtl.benchmark_making.init_suite.passage_answers import START
from mtl.benchmark_making.init_suite.tables import FileTable
from mtl.benchmark_making.init_suite.token_tags import all_mark_entities, words_of
from mtl.data.columns import LIST

ENDS = ("end", "stop", "to")  # words for the end of a span, where a column of its start has a word of START


def list_columns(table: FileTable) -> list[str]:
    """The columns of lists, also those that some rows lack, or that no column's name reaches. A list of tokens alone does not count."""
    names = [name for name in [*table.columns, *table.incomplete] if name.endswith(LIST)]
    names += [name for name, what in table.unread.items() if what.startswith("a list") or what == NO_NAME]
    is_alone = len(names) == 1 and names[0] in table.columns and "." not in names[0]
    return [] if is_alone and not TOKEN_NAMES.isdisjoint(table.columns[names[0]].words) else names


def tag_columns(table: FileTable) -> list[str]:
    """The columns of texts whose words are tags of entities."""
    columns = [column for column in table.columns.values() if column.rows_of_several_words]
    return [column.name for column in columns if all_mark_entities(tag for tags in words_of(column) for tag in tags)]


def position_columns(table: FileTable) -> list[str]:
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
