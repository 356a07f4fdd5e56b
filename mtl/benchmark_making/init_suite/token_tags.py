"""Targets of tokens, a tag for each word of a text: the columns of tokens and tags in a file, and the keys of such a task."""

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
TOKENS_PER_TAG = 3  # on average, at least

Words = Sequence[Sequence[str]]  # the words, or the tags, of each row


class Tagged(NamedTuple):
    """The column of tokens, and the columns whose values have one tag for each token."""

    tokens: str
    tags: Mapping[str, Words]


def tagged_columns(table: FileTable, known: Mapping[str, Any]) -> Tagged | None:
    """The columns of tokens and tags of a file; None if it has none, or if the known keys say that the task is of another kind. Raises InputError
    if the known target has no tags, and if a few rows have too few or too many tags."""
    words = _words_by_column(table)
    named = [name for name in words if TOKEN_COLUMNS & set(table.columns[name].words)]
    tokens = _token_column(words, named, known.get("text"))
    if tokens not in words or known.get("kind", TOKEN_LABELS) != TOKEN_LABELS:
        return None
    is_named = tokens in named
    tags = _columns_of_tags(table, words, tokens, is_named)
    are_tokens = is_named or form_of(table.path, table.layout) == "conll"
    if not are_tokens and not any(_mark_entities(_distinct(column_tags)) for column_tags in tags.values()):
        return None  # lists of other things, as of candidates
    target = known.get("target")
    if target is None:
        return Tagged(tokens, tags) if tags else None
    if target in tags:
        return Tagged(tokens, {target: tags[target]})
    if known.get("kind") == TOKEN_LABELS or (target in words and str(target).endswith(LIST)):
        raise InputError(f"{quoted(str(target))} has not one of at most {MOST_TAGS} tags for each of {quoted(tokens)}")
    return None


def guess_tokens(guess: Guess, tables: SplitTables, tagged: Tagged, known: Mapping[str, Any]) -> None:
    """Guess the keys of a task with a label for each token."""
    main, target = tables.main, next(iter(tagged.tags))
    guess.kind = TOKEN_LABELS
    guess.declare("", kind=TOKEN_LABELS)
    guess.declare(f"{quoted(target)} has a tag for each word of it", text=[tagged.tokens])
    guess.declare("as many as the words", target=target)
    possible = _possible_targets(main, tagged, is_known="target" in known)
    if len(possible) > 1:
        guess.questions.append(f"target: {', '.join(possible)} may be the target; declare a task for each that counts")
    tags_by_split = _tags_by_split(guess, tables, target)
    labels = _declare_tags(guess, set[str]().union(*tags_by_split.values()), main.columns[target].labels)
    marks, metric = ("mark", "span_f1") if _mark_entities(labels) else ("do not mark", "token_accuracy")
    guess.declare(f"its tags {marks} entities", metric=metric)
    guess.unread = _unread_columns(main, tagged, target)
    guess.test_has_targets = "test" in tags_by_split


def _words_by_column(table: FileTable) -> dict[str, Words]:
    """The words of each column of lists, or in a file without lists, of texts. Columns that only number the words are left out."""
    words: dict[str, Words] = {name: column.lists for name, column in table.columns.items() if column.lists}
    if not words:
        words = {name: _words_of(column) for name, column in table.columns.items()}
        words = {name: rows for name, rows in words.items() if any(len(row) > 1 for row in rows)}
    return {name: rows for name, rows in words.items() if not all(map(_are_positions, rows))}


def _words_of(column: FileColumn) -> Words:
    """The words of each row: the items of its list, or those between the spaces of its text."""
    return column.lists or [re.findall("[^ ]+", text) for text in column.texts]


def _are_positions(words: Sequence[str]) -> bool:
    """Whether the words of a row are their positions in it, from 0 or from 1."""
    return any(list(words) == [str(base + place) for place in range(len(words))] for base in (0, 1))


def _token_column(words: Mapping[str, Words], named: Sequence[str], text: Sequence[str] | None) -> str | None:
    """The column of tokens: the last text that the user names, or the only column whose name says so, or the one with most distinct words."""
    if text is not None:
        return text[-1] if text else None
    candidates = named if len(named) == 1 else words
    return max(candidates, key=lambda name: len(_distinct(words[name])), default=None)


def _columns_of_tags(table: FileTable, words: Mapping[str, Words], tokens: str, is_named: bool) -> dict[str, Words]:
    """The tags in each column with one for each token. Raises InputError if the tokens have a name of tokens, and a few lists of tags do not fit."""
    sizes = [len(row) for row in words[tokens]]
    tags = {}
    for name in [name for name in words if name != tokens]:
        in_lists = bool(table.columns[name].lists)
        unequal = [number for number, row in enumerate(words[name]) if len(row) != sizes[number]]
        if not unequal and _are_tags(words[name], in_lists):
            tags[name] = words[name]
        elif unequal and in_lists and is_named and ROWS_PER_MISTAKE * len(unequal) <= len(sizes):
            number = unequal[0]
            lengths = f"{count(len(words[name][number]), 'tag')} for {count(sizes[number], 'word')} of {quoted(tokens)}"
            affected = f"of those looked at, and so in {count(len(unequal), 'row')}"
            raise InputError(f"{quoted(name)} has {lengths} in row {number} (from 0) {affected}")
    return tags


def _are_tags(tags: Words, in_lists: bool) -> bool:
    """Whether these look like tags: few different ones, each of several tokens, which mark entities, or in lists have no spaces."""
    counts = Counter(chain.from_iterable(tags))
    if not 1 < len(counts) <= MOST_TAGS or TOKENS_PER_TAG * len(counts) > counts.total():
        return False
    have_no_spaces = all(tag and not set(tag) & set(" \t\n") for tag in counts)
    return _mark_entities(counts) or (in_lists and have_no_spaces)


def _mark_entities(tags: Collection[str]) -> bool:
    """Whether tags mark entities, as B-PER, I-PER and O."""
    have_types = any("-" in tag for tag in tags)
    return (have_types or {*tags} >= {"B", "I"}) and all(map(ENTITY_TAG.fullmatch, tags))


def _distinct(words: Words) -> set[str]:
    """The different words of all rows."""
    return set(chain.from_iterable(words))


def _possible_targets(main: FileTable, tagged: Tagged, is_known: bool) -> list[str]:
    """The columns that may be the target, in words: all with tags, and those with a label of the whole text, unless the target is known."""
    possible = [f"{quoted(name)} ({count(len(_distinct(words)), 'tag')})" for name, words in tagged.tags.items()]
    for column in [] if is_known else possible_targets(main):
        may_be_labels = not column.numbers or column.words[-1] in LABEL_NAMES
        if may_be_labels and not column.is_source and column.name not in (tagged.tokens, *tagged.tags):
            possible.append(f"{quoted(column.name)} ({count(len(column.counts), 'value')}, one for the whole text)")
    return possible


def _tags_by_split(guess: Guess, tables: SplitTables, target: str) -> dict[str, set[str]]:
    """The tags of the files that have several, with a question about those with one. Raises InputError if a file other than test lacks them."""
    tags_by_split: dict[str, set[str]] = {}
    for split, table in tables.items():
        if target in table.columns:
            tags = _distinct(_words_of(table.columns[target]))
            if len(tags) > 1:
                tags_by_split[split] = tags
            else:
                stands = f"all tokens of {split} have one tag: a placeholder?"
                guess.questions.append(f"files.{split}: {stands} Then no score on {split} means anything")
        elif split != "test":
            raise InputError(table.incomplete.get(target, f"no tags in column {quoted(target)}"), path=table.path)
    return tags_by_split


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


def _unread_columns(main: FileTable, tagged: Tagged, target: str) -> dict[str, str]:
    """Each column that the task does not read, with the reason."""
    reasons = {name: "no text" if name in tagged.tags else "not needed" for name in main.columns}
    reasons |= dict.fromkeys(main.incomplete, "no value in some rows") | main.unread
    spans = (main.layout.reading.spans or "").split(BESIDE)  # the tokens and tags are made of these columns
    lists_of_spans = {name for name in reasons for column in spans if column.startswith(f"{name}.")}
    read = {tagged.tokens, target, *spans, *lists_of_spans}
    return {name: reason for name, reason in reasons.items() if name not in read}
