"""Tasks with a tag for each token of a text: the columns of tokens and of tags in a file, and the keys that the suite file declares."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite.file_column import INDEX, FileColumn
from mtl.benchmark_making.init_suite.guess import TOKEN_LABELS, Guess, TaskKeys
from mtl.benchmark_making.init_suite.labels import indices_of_names
from mtl.benchmark_making.init_suite.tables import FileTable, SplitTables
from mtl.benchmark_making.init_suite.target_column import possible_targets
from mtl.benchmark_making.init_suite.wording import quantity, quoted, with_count
from mtl.data.forms import form_of

TOKEN_COLUMNS = {"token", "tokens", "word", "words", "form", "forms"}  # words in the names of columns of tokens
ENTITY_TAG = re.compile("O|[BIESLUM](-.+)?")  # B-PER begins the name of a person, I-PER goes on, O is outside
MOST_TAGS = 500  # different ones in a column
TOKENS_PER_TAG = 3  # on average, at least
NUMBERED_TAGS = "labels: numbers stand for tags, and the files do not name them; write the tags in labels, and these numbers in indices"

Words = Sequence[Sequence[str]]  # the words, or the tags, of each row


class TaggedColumns(NamedTuple):
    """The names of the column of tokens, and of one or more columns that have a tag for each token, of which the first is the target."""

    tokens: str
    tags: Sequence[str]


def tagged_columns(table: FileTable, known: TaskKeys) -> TaggedColumns | None:
    """The columns of tokens and tags; None for another kind of task. Raises InputError if there are none, but the user names this kind, or a list."""
    is_known_kind = known.get("kind") == TOKEN_LABELS
    if "kind" in known and not is_known_kind:
        return None
    words = _words_by_column(table, in_texts=is_known_kind)
    tokens = _token_column(table, words, known)
    if tokens is None:
        if is_known_kind:
            raise InputError(f"kind: {TOKEN_LABELS} needs text: [COLUMN of tokens]: {table.listed}")
        return None
    target = known.get("target")
    sizes = [len(row) for row in words[tokens]]
    beside = [name for name, rows in words.items() if name != tokens and [len(row) for row in rows] == sizes]
    tags = [name for name in beside if target in (None, name) and _are_tags(table.columns[name])]
    if not tags and (is_known_kind or target in words):
        column = "target: COLUMN" if target is None else quoted(str(target))
        raise InputError(f"{column} has not one of at most {MOST_TAGS} tags for each of {quoted(tokens)}")
    return TaggedColumns(tokens, tags) if tags else None


def _words_by_column(table: FileTable, in_texts: bool) -> dict[str, Words]:
    """The words of each column of lists, or if the file has none, of texts where they may stand in texts. Columns that number words are left out."""
    columns = [column for column in table.columns.values() if column.lists]
    if in_texts and not columns:
        columns = list(table.columns.values())
    words = {column.name: words_of(column) for column in columns}
    return {name: rows for name, rows in words.items() if not all(map(_are_positions, rows))}


def words_of(column: FileColumn) -> Words:
    """The words of each row: the items of its list, or those between the spaces of its text."""
    return column.lists or [re.findall("[^ ]+", text) for text in column.texts]


def _are_positions(words: Sequence[str]) -> bool:
    """Whether the words of a row are their positions in it, from 0 or from 1."""
    positions = [str(position) for position in range(len(words) + 1)]
    return list(words) in (positions[:-1], positions[1:])


def _token_column(table: FileTable, words: Mapping[str, Words], known: TaskKeys) -> str | None:
    """The column of tokens among those of words; None if nothing says which it is: the user, its name, or a file in the form CoNLL."""
    is_conll = form_of(table.path, table.layout) == "conll"
    named = [name for name in words if "." not in name and TOKEN_COLUMNS.intersection(table.columns[name].words)]
    if "text" in known:
        # A task with this text may be of another kind, unless the user names this kind, or the form or the name says that it holds tokens.
        possible = list(words) if is_conll or "kind" in known else named
        return next((name for name in known["text"][-1:] if name in possible), None)
    if len(named) == 1:
        return named[0]
    # Tokens are more varied than tags: if a later column has more different words, the first one holds no tokens.
    vocabularies = [len(set(chain.from_iterable(rows))) for rows in words.values()]
    return next(iter(words)) if is_conll and words and vocabularies[0] == max(vocabularies) else None


def _are_tags(column: FileColumn) -> bool:
    """Whether its words look like tags: few different ones, each of several tokens, which mark entities, or in lists have no spaces."""
    counts = Counter(chain.from_iterable(words_of(column)))
    if not 1 < len(counts) <= MOST_TAGS or counts.total() < TOKENS_PER_TAG * len(counts):
        return False
    are_names = bool(column.lists) and all(re.fullmatch("[^ \t\n]+", tag) for tag in counts)
    return are_names or all_mark_entities(counts)


def all_mark_entities(tags: Iterable[str]) -> bool:
    """Whether all tags mark entities, as B-PER, I-PER and O, or B, I and O."""
    distinct = set(tags)
    have_types = any("-" in tag for tag in distinct)
    return all(map(ENTITY_TAG.fullmatch, distinct)) and (have_types or {"B", "I"} <= distinct)


def guess_tags(guess: Guess, tables: SplitTables, tagged: TaggedColumns, known: TaskKeys) -> None:
    """Guess the keys of a task with a tag for each token, from the files that have tags."""
    main, target = tables.main, tagged.tags[0]
    guess.kind = TOKEN_LABELS
    guess.declare("", kind=TOKEN_LABELS)
    guess.declare(f"{quoted(target)} has a tag for each word of it", text=[tagged.tokens])
    guess.declare("as many as the words", target=target)
    possible = _possible_targets(main, tagged.tags)
    if "target" not in known and len(possible) > 1:
        names = ", ".join(map(with_count, possible))
        guess.questions.append(f"target: {names} may be the target; declare a task for each that counts")
    tags = {tag for table in tables.values() for row in words_of(table.columns[target]) for tag in row}
    _declare_labels(guess, tags, main.columns[target].labels)
    if all_mark_entities(guess.keys["labels"]):
        guess.declare("its tags mark entities", metric="span_f1")
    else:
        guess.declare("its tags do not mark entities", metric="token_accuracy")


def _possible_targets(table: FileTable, tags: Sequence[str]) -> list[FileColumn]:
    """The columns of tags, and those that may hold a label of each row."""
    others = [column for column in possible_targets(table) if column.name not in tags and not column.is_source]
    labels = [column for column in others if column.is_called_label or not column.numbers]
    return [*(table.columns[name] for name in tags), *labels]


def _declare_labels(guess: Guess, tags: set[str], names: Sequence[str]) -> None:
    """Declare the labels: the names in the file's metadata, if the tags are their indices, or else the tags, with a question if they are numbers."""
    if indices := indices_of_names(tags, names):
        guess.declare("", indices=indices)
        guess.declare("the names in the file's metadata", labels=list(names))
        return
    are_numbers = all(INDEX.fullmatch(tag.removeprefix("-")) for tag in tags)
    if are_numbers:
        guess.questions.append(NUMBERED_TAGS)
    labels = sorted(tags, key=int) if are_numbers else sorted(tags, key=lambda tag: (tag != "O", tag))  # O is the first
    guess.declare(f"the {quantity(len(tags), 'tag')} in the files", labels=labels)
