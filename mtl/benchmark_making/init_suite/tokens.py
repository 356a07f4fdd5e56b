"""Tasks with a label for each token: the columns of tokens and of their tags, which are lists of equal lengths, or texts with as many words."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite.evidence import is_source
from mtl.benchmark_making.init_suite.reading import Guess
from mtl.benchmark_making.init_suite.tables import FileTable, count, quoted
from mtl.benchmark_making.init_suite.target import LABEL_NAMES, possible_targets
from mtl.data.columns import LIST
from mtl.data.rows import form_of

KIND = "token_labels"
NAMES = {"token", "tokens", "word", "words", "form", "forms"}  # of a column of tokens
ENTITY_TAG = re.compile("O|[BIESLUM](-.+)?")
MOST_TAGS = 500
REPEATED = 3  # rows in which each tag stands on average, at least


@dataclass(frozen=True)
class Tagged:
    """The column of tokens, and the columns whose values have one tag for each token; each as its rows of words."""

    tokens: str
    tags: Mapping[str, Sequence[Sequence[str]]]


def tagged_columns(table: FileTable, known: Mapping[str, Any]) -> Tagged | None:
    """The columns of tokens and tags of a file; None if it has none, or if known keys say that the task is another one."""
    rows = {name: column.lists for name, column in table.columns.items() if column.lists}
    if not rows:
        rows = {name: list(map(_words, column.texts)) for name, column in table.columns.items()}
        rows = {name: words for name, words in rows.items() if max(map(len, words), default=0) > 1}
    rows = {name: words for name, words in rows.items() if not _is_counter(words)}
    tokens = _tokens(table, rows, known.get("text"))
    if tokens is None or known.get("kind", KIND) != KIND:
        return None
    lengths = [len(words) for words in rows[tokens]]
    tags = {
        name: words
        for name, words in rows.items()
        if name != tokens and [len(row) for row in words] == lengths and _are_tags(words, is_list=name.endswith(LIST))
    }
    named = NAMES & set(table.columns[tokens].words) or form_of(table.path, table.layout) == "conll"
    if not named and not any(_are_entities(list(_distinct(words))) for words in tags.values()):
        return None  # lists of other things, as of candidates
    wanted = known.get("target")
    if wanted is not None and wanted not in tags:
        if known.get("kind") == KIND or (wanted in rows and str(wanted).endswith(LIST)):
            lacks = f"{quoted(str(wanted))} has not one of at most {MOST_TAGS} tags"
            raise InputError(f"{lacks} for each of {quoted(tokens)}")
        return None
    return Tagged(tokens, {wanted: tags[wanted]} if wanted else tags) if tags else None


def _tokens(table: FileTable, rows: Mapping[str, Sequence[Sequence[str]]], known: object) -> str | None:
    """The column of tokens: as known, by its name, or that with most different words."""
    if known is not None:
        named = [known] if isinstance(known, str) else list(known) if isinstance(known, list) else []
        return named[-1] if named and named[-1] in rows else None
    called = [name for name in rows if NAMES & set(table.columns[name].words)]
    pool = called if len(called) == 1 else list(rows)
    return max(pool, key=lambda name: len(_distinct(rows[name])), default=None)


def _is_counter(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the values of each row count it from 1 or 0."""
    return all(list(row) in ([str(i) for i in range(len(row))], [str(i + 1) for i in range(len(row))]) for row in rows)


def _are_tags(rows: Sequence[Sequence[str]], is_list: bool) -> bool:
    """Whether words look like tags: few different ones, none with a space. Those of a text must be tags of entities."""
    counts = Counter(chain.from_iterable(rows))
    if not 1 < len(counts) <= MOST_TAGS or REPEATED * len(counts) > counts.total():
        return False
    return _are_entities(list(counts)) or (is_list and all(word and not set(word) & set(" \t\n") for word in counts))


def _are_entities(tags: Sequence[str]) -> bool:
    return (any("-" in tag for tag in tags) or {*tags} >= {"B", "I"}) and all(map(ENTITY_TAG.fullmatch, tags))


def guess_tokens(
    guess: Guess, tables: Mapping[str, FileTable], main: FileTable, tagged: Tagged, known: Mapping[str, Any]
) -> bool:
    """Guess the keys of a task with a label for each token. Returns whether the test file has targets."""
    target = next(iter(tagged.tags))
    guess.kind = KIND
    guess.keys |= {"text": [tagged.tokens], "kind": KIND, "target": target}
    guess.why |= {"text": f"{quoted(target)} has a tag for each word of it", "target": "as many as the words"}
    listed = [f"{quoted(name)} ({count(len(_distinct(rows)), 'tag')})" for name, rows in tagged.tags.items()]
    listed += [
        f"{quoted(column.name)} ({count(len(column.counts), 'value')}, one for the whole text)"
        for column in possible_targets(main)
        if "target" not in known
        and column.name not in (tagged.tokens, *tagged.tags)
        and not is_source(column)
        and (not column.numbers or column.words[-1] in LABEL_NAMES)
    ]
    if listed[1:]:
        guess.questions.append(f"target: {', '.join(listed)} may be the target; declare a task for each that counts")
    labelled = _labelled(guess, tables, target)
    tags = _distinct(chain(*labelled.values()))
    names = main.columns[target].labels
    labels = sorted(tags, key=lambda tag: (tag != "O", tag))
    guess.why["labels"] = f"the {count(len(labels), 'tag')} in the files"
    if names and all(tag.isdecimal() and int(tag) < len(names) for tag in tags):
        labels = list(names)
        guess.keys["indices"] = [str(number) for number in range(len(names))]
        guess.why["labels"] = "the names in the file's metadata"
    elif all(tag.removeprefix("-").isdecimal() for tag in tags):
        labels = sorted(tags, key=int)
        remedy = "write the tags in labels, and these numbers in indices"
        guess.questions.append(f"labels: numbers stand for tags, and the files do not name them; {remedy}")
    guess.keys["labels"] = labels
    spans = _are_entities(labels)
    guess.keys["metric"] = "span_f1" if spans else "token_accuracy"
    guess.why["metric"] = "its tags mark entities" if spans else "its tags do not mark entities"
    guess.take(known)
    if isinstance(guess.keys["text"], str):
        guess.keys["text"] = [guess.keys["text"]]
    rest = [name for name in main.columns if name not in (*guess.keys["text"], guess.keys["target"])]
    guess.unread = {name: "no text" if name in tagged.tags else "not needed" for name in rest}
    guess.unread |= dict.fromkeys(main.incomplete, "no value in some rows") | dict(main.unread)
    return "test" in labelled


def _words(text: str) -> list[str]:
    return re.findall("[^ ]+", text)


def _distinct(rows: Iterable[Sequence[str]]) -> set[str]:
    return set(chain.from_iterable(rows))


def _labelled(guess: Guess, tables: Mapping[str, FileTable], target: str) -> dict[str, Sequence[Sequence[str]]]:
    """The tags of the files that have them. Raises InputError if a file other than test has none."""
    labelled = dict[str, Sequence[Sequence[str]]]()
    for split, table in tables.items():
        column = table.columns.get(target)
        if column is None:
            if split != "test":
                raise InputError(table.incomplete.get(target, f"no tags in column {quoted(target)}"), path=table.path)
            continue
        rows = column.lists or list(map(_words, column.texts))
        if len(_distinct(rows)) > 1:
            labelled[split] = rows
        else:
            stands = f"all tokens of {split} have one tag: a placeholder?"
            guess.questions.append(f"files: {stands} Then no score on {split} means anything")
    return labelled
