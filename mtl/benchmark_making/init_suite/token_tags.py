"""Targets of tokens: a tag for each word of a text."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite.file_column import INDEX, LABEL_NAMES, FileColumn
from mtl.benchmark_making.init_suite.guess import Guess, count, quoted
from mtl.benchmark_making.init_suite.labels import indices_of_names
from mtl.benchmark_making.init_suite.tables import FileTable, SplitTables
from mtl.benchmark_making.init_suite.target_column import possible_targets
from mtl.data.columns import LIST
from mtl.data.forms import form_of
from mtl.tasks.task import BESIDE

TOKEN_LABELS = "token_labels"  # the kind of such a task in a suite file
TOKEN_COLUMNS = {"token", "tokens", "word", "words", "form", "forms"}  # words in the names of columns of tokens
ENTITY_TAG = re.compile("O|[BIESLUM](-.+)?")
MOST_TAGS = 500  # different ones in a column
ROWS_PER_MISTAKE = 10  # at least; if more rows have lists of unequal lengths, they are not tags of the tokens
ROWS_PER_TAG = 3  # on average, at least

Rows = Sequence[Sequence[str]]  # the words of each row


class Tagged(NamedTuple):
    """The column of tokens, and the columns whose values have one tag for each token."""

    tokens: str
    tags: Mapping[str, Rows]


def tagged_columns(table: FileTable, known: Mapping[str, Any]) -> Tagged | None:
    """The columns of tokens and tags of a file; None if it has none, or if the known keys say that the task is of another kind. Raises InputError
    if the known target has no tags, and if a few rows have too few or too many tags."""
    rows = _words_by_column(table)
    called_tokens = [name for name in rows if TOKEN_COLUMNS & set(table.columns[name].words)]
    tokens = _token_column(rows, called_tokens, known.get("text"))
    if tokens not in rows or known.get("kind", TOKEN_LABELS) != TOKEN_LABELS:
        return None
    tags = _columns_of_tags(table, rows, tokens, tokens in called_tokens)
    is_certain = tokens in called_tokens or form_of(table.path, table.layout) == "conll"
    if not is_certain and not any(_are_entities(_distinct(words)) for words in tags.values()):
        return None  # lists of other things, as of candidates
    target = known.get("target")
    if target is None:
        return Tagged(tokens, tags) if tags else None
    if target in tags:
        return Tagged(tokens, {target: tags[target]})
    if known.get("kind") == TOKEN_LABELS or (target in rows and str(target).endswith(LIST)):
        raise InputError(f"{quoted(str(target))} has not one of at most {MOST_TAGS} tags for each of {quoted(tokens)}")
    return None


def guess_tokens(guess: Guess, tables: SplitTables, tagged: Tagged, known: Mapping[str, Any]) -> None:
    """Guess the keys of a task with a label for each token."""
    main, target = tables.main, next(iter(tagged.tags))
    guess.kind = TOKEN_LABELS
    guess.declare("", kind=TOKEN_LABELS)
    guess.declare(f"{quoted(target)} has a tag for each word of it", text=[tagged.tokens])
    guess.declare("as many as the words", target=target)
    possible = [f"{quoted(name)} ({count(len(_distinct(rows)), 'tag')})" for name, rows in tagged.tags.items()]
    if "target" not in known:
        for column in possible_targets(main):
            may_be_labels = not column.numbers or column.words[-1] in LABEL_NAMES
            if may_be_labels and not column.is_source and column.name not in (tagged.tokens, *tagged.tags):
                possible.append(f"{quoted(column.name)} ({count(len(column.counts), 'value')}, one for the whole text)")
    if len(possible) > 1:
        guess.questions.append(f"target: {', '.join(possible)} may be the target; declare a task for each that counts")
    tags_by_split = _tags_by_split(guess, tables, target)
    labels = _declare_tags(guess, set[str]().union(*tags_by_split.values()), main.columns[target].labels)
    are_entities = _are_entities(labels)
    marks = "mark" if are_entities else "do not mark"
    guess.declare(f"its tags {marks} entities", metric="span_f1" if are_entities else "token_accuracy")
    reasons = {name: "no text" if name in tagged.tags else "not needed" for name in main.columns}
    reasons |= dict.fromkeys(main.incomplete, "no value in some rows") | main.unread
    spans = (main.layout.reading.spans or "").split(BESIDE)  # the tokens and tags are made of these columns
    read = {tagged.tokens, target, *spans}
    read |= {name for name in reasons for column in spans if column.startswith(f"{name}.")}  # lists of spans
    guess.unread = {name: reason for name, reason in reasons.items() if name not in read}
    guess.test_has_targets = "test" in tags_by_split


def _words_by_column(table: FileTable) -> dict[str, Rows]:
    """The words of each column of lists, or in a file without lists, of texts. Columns that only number the words are left out."""
    rows: dict[str, Rows] = {name: column.lists for name, column in table.columns.items() if column.lists}
    if not rows:
        rows = {name: _words(column) for name, column in table.columns.items()}
        rows = {name: words for name, words in rows.items() if max(map(len, words), default=0) > 1}
    return {name: words for name, words in rows.items() if not all(map(_are_positions, words))}


def _token_column(rows: Mapping[str, Rows], called_tokens: Sequence[str], text: Any) -> str | None:
    """The column of tokens: the last one of those that the user names, or the one whose name says so, or the one with most distinct words."""
    if text is not None:
        return next(reversed(text), "")
    candidates = called_tokens if len(called_tokens) == 1 else rows
    return max(candidates, key=lambda name: len(_distinct(rows[name])), default=None)


def _columns_of_tags(table: FileTable, rows: Mapping[str, Rows], tokens: str, is_certain: bool) -> dict[str, Rows]:
    """The words of each column that has one tag for each token. Raises InputError if the tokens are certain, and a few rows of a list have not."""
    tags = {}
    for name in [name for name in rows if name != tokens]:
        column, pairs = table.columns[name], zip(rows[name], rows[tokens], strict=True)
        unequal = [number for number, (row, words) in enumerate(pairs) if len(row) != len(words)]
        are_few = ROWS_PER_MISTAKE * len(unequal) <= len(rows[tokens])
        if not unequal and _are_tags(column, rows[name]):
            tags[name] = rows[name]
        elif unequal and are_few and is_certain and column.lists:
            number = unequal[0]
            sizes = f"{count(len(rows[name][number]), 'tag')} for {count(len(rows[tokens][number]), 'word')} of {quoted(tokens)}"
            affected = f"of those looked at, and so in {count(len(unequal), 'row')}"
            raise InputError(f"{quoted(name)} has {sizes} in row {number} (from 0) {affected}")
    return tags


def _are_positions(row: Sequence[str]) -> bool:
    """Whether the values are the positions in the row, from 0 or from 1."""
    return any(list(row) == [str(base + number) for number in range(len(row))] for base in (0, 1))


def _are_tags(column: FileColumn, rows: Rows) -> bool:
    """Whether the words of a column look like tags: few different ones, each in several rows, which mark entities, or in lists have no spaces."""
    counts = Counter(chain.from_iterable(rows))
    if not 1 < len(counts) <= MOST_TAGS or ROWS_PER_TAG * len(counts) > counts.total():
        return False
    have_no_spaces = all(word and not set(word) & set(" \t\n") for word in counts)
    return _are_entities(counts) or (bool(column.lists) and have_no_spaces)


def _are_entities(tags: Collection[str]) -> bool:
    """Whether tags mark entities, as B-PER, I-PER and O."""
    return (any("-" in tag for tag in tags) or {*tags} >= {"B", "I"}) and all(map(ENTITY_TAG.fullmatch, tags))


def _words(column: FileColumn) -> Rows:
    """The words of each row: the items of its list, or those between the spaces of its text."""
    return column.lists or [re.findall("[^ ]+", text) for text in column.texts]


def _distinct(rows: Rows) -> set[str]:
    """The different words of all rows."""
    return set(chain.from_iterable(rows))


def _tags_by_split(guess: Guess, tables: SplitTables, target: str) -> dict[str, set[str]]:
    """The tags of the files that have them. Raises InputError if a file other than test lacks them."""
    tags: dict[str, set[str]] = {}
    for split, table in tables.items():
        if target not in table.columns:
            if split != "test":
                raise InputError(table.incomplete.get(target, f"no tags in column {quoted(target)}"), path=table.path)
        elif len(distinct := _distinct(_words(table.columns[target]))) > 1:
            tags[split] = distinct
        else:
            stands = f"all tokens of {split} have one tag: a placeholder?"
            guess.questions.append(f"files.{split}: {stands} Then no score on {split} means anything")
    return tags


def _declare_tags(guess: Guess, tags: Collection[str], names: Sequence[str]) -> list[str]:
    """Declare the tags as labels; where they are numbers, with names, or a question if there are none."""
    labels, why = sorted(tags, key=lambda tag: (tag != "O", tag)), f"the {count(len(tags), 'tag')} in the files"
    if indices := indices_of_names(tags, names):
        labels, why = list(names), "the names in the file's metadata"
        guess.declare("", indices=indices)
    elif tags and all(INDEX.fullmatch(tag.removeprefix("-")) for tag in tags):
        labels = sorted(tags, key=int)
        remedy = "write the tags in labels, and these numbers in indices"
        guess.questions.append(f"labels: numbers stand for tags, and the files do not name them; {remedy}")
    guess.declare(why, labels=labels)
    return labels
