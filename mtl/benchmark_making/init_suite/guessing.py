"""Guess each task of a suite file from its files, and for tasks without training rows the task that answers them."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.base.files import listed
from mtl.base.untrusted import inside
from mtl.benchmark_making.init_suite.evidence import candidate_columns, names_each_other
from mtl.benchmark_making.init_suite.kinds import guess_target, joined, several_target
from mtl.benchmark_making.init_suite.names import GIVEN, Guess
from mtl.benchmark_making.init_suite.reading import read_tables
from mtl.benchmark_making.init_suite.spans import INCLUSIVE, marked_spans, span_columns
from mtl.benchmark_making.init_suite.tables import FileColumn, FileTable, SplitTables
from mtl.benchmark_making.init_suite.target import KIND, MOST_REASONS, TargetColumn, named_labels, target_column
from mtl.benchmark_making.init_suite.text_targets import answer_columns, guess_answers, guess_tokens, tagged_columns
from mtl.benchmark_making.init_suite.texts import group_column, text_columns, unread_columns
from mtl.benchmark_making.init_suite.wording import count, quoted, quoted_names, share
from mtl.data.columns import LIST, TAGS
from mtl.tasks.task import BESIDE, PART, SPLITS, span_ends

# The keys that follow from the kind of the targets.
OF_KIND = {"labels", "label_separator", "range", "indices", "metric", "positive", "candidates", "kind"}
TAKEN = ("kind", "labels", "range")  # the keys that a task takes from the task that answers it, see `mtl.tasks.suite`
KINDS = {"range": "number", "labels": "labels", "candidates": "choice"}  # the kind that a known key means
# The metric of a task whose kind is known; of other kinds accuracy.
METRICS = {"number": "spearman", "text": "rouge1", KIND: "micro_f1"}
METRICS_OF_LABELS = ("accuracy", "f1", "macro_f1", "matthews")  # which mean that numbers are labels
# Questions that a known key answers, besides those of its own name.
SETTLED = {
    **dict.fromkeys(("range", "labels", "kind"), ("labels", "range", "kind", "metric")),
    "indices": ("candidates",),
}
MADE_OF_SPANS = f"{TAGS}{LIST}"  # the column of tags that are made of marked spans
MOST_NAMED = 8  # files and labels in a message
TEST_TOO = "the test file has targets too; scores are on dev unless the task says scored: test"
PRINTED_LIST = re.compile(r"\[(['\"]).*\1\]$")
LEAST_ROWS = 10  # of a file whose targets are all the same: fewer say nothing


def guess_task(files: Guess, data_dir: Path, known: Mapping[str, Any] | None = None) -> Guess:
    """Read a task's files and guess the keys that are not known. Bad data does not raise an error, but becomes the guess's `problem`."""
    known = dict(known or {})
    asked = [] if "files" in known else files.questions
    guess = replace(files, keys={}, why={}, questions=[*asked], notes=[*files.notes])
    guess.files = {split: files.files.get(split) for split in SPLITS}
    named = {split: None if name is None else str(name) for split, name in known.pop("files", {}).items()}
    guess.files |= {split: name for split, name in named.items() if split in SPLITS}
    try:
        for name in filter(None, named.values()):
            path = inside(data_dir / guess.folder, name.partition(PART)[0])
            if BESIDE not in name and not path.exists():
                there = listed(sorted(file.name for file in path.parent.glob("*")), MOST_NAMED)
                raise InputError(f"no such file; there are {there}", path=path)
        tables = read_tables(guess, data_dir, known)
        spans = span_columns(tables.main) if known.get("target", MADE_OF_SPANS) == MADE_OF_SPANS else None
        if spans and "spans" not in known.get("reading", {}):
            reading = {**known.get("reading", {}), "spans": spans.columns}
            tables = read_tables(guess, data_dir, {**known, "reading": reading})
            guess.why["reading"] = spans.why
            guess.questions += spans.questions
        for table in tables.values():
            for name in files.labels.keys() & table.columns:
                table.columns[name] = replace(table.columns[name], labels=files.labels[name])
        answers = None if tables.main.layout.reading.spans else answer_columns(tables.main)
        if known.get("kind") == "answer" or (answers and not {"kind", "target"} & set(known)):
            test_has_targets = guess_answers(guess, tables, known, answers)
        elif tagged := tagged_columns(tables.main, known):
            test_has_targets = guess_tokens(guess, tables, tagged, known)
        else:
            test_has_targets = _guess_values(guess, tables, known)
        _guess_splits(guess, tables, test_has_targets)
        _check_known(guess, tables.main, known)
    except InputError as error:
        guess.problem = str(error)
    settled = {name for key in known for name in (key, *SETTLED.get(key, ()))}
    guess.questions = [question for question in guess.questions if question.partition(":")[0] not in settled]
    return guess


def _guess_values(guess: Guess, sources: SplitTables, known: Mapping[str, Any]) -> bool:
    """Guess the keys of a task with labels, numbers, words or a choice. Returns whether the test file has targets."""
    is_one = bool({"range", "candidates"} & {*known})
    chosen = _chosen_column(sources, known, is_one)
    several, tables = chosen.several, sources
    if printed := next((value for value in chosen.column.counts if PRINTED_LIST.match(value)), None):
        problem = f"column {quoted(chosen.column.name)} has lists as Python prints them, {quoted(printed)}"
        raise InputError(f'{problem}; write them as JSON, ["a", "b"], or as a;b')
    guess.why["target"] = chosen.why
    guess.questions += [chosen.question] if chosen.question else []
    if several:
        tables = SplitTables({split: several.joined(table) for split, table in sources.items()})
    main = tables.main
    column = main.columns[several.target if several else chosen.column.name]
    guess.keys["target"] = column.name
    labelled = _labelled(guess, tables, column.name)
    by_split = {} if several else {split: table.whole(column.name) for split, table in labelled.items()}
    if several:
        target = several_target(several, {split: sources[split] for split in labelled})
    else:
        candidates = [  # those that all files with targets have
            joined([table.columns[each.name] for table in labelled.values()])
            for each in candidate_columns(main, {column.name})
            if all(each.name in table.columns for table in labelled.values())
        ]
        target = guess_target(main.whole(column.name), by_split, candidates, _label_names(main, column))
    implied = next((kind for key, kind in KINDS.items() if (is_one or not several) and key in known), target.kind)
    if implied == "number" and known.get("metric") in METRICS_OF_LABELS:
        implied = "labels"
    guess.kind = known.get("kind") or implied
    taken = {key: value for key, value in known.items() if key not in ("text", "target", "header", "reading")}
    if is_other := guess.kind != target.kind:
        taken.setdefault("metric", METRICS.get(guess.kind, "accuracy"))
    if (guess.kind, target.kind) == ("labels", "number"):  # ratings that are classes
        taken.setdefault("labels", sorted({rating for each in by_split.values() for rating in each.counts}, key=float))
    dropped = OF_KIND if is_other else set()
    guess.keys |= {key: value for key, value in target.keys.items() if key not in dropped} | taken
    guess.why |= {key: why for key, why in target.why.items() if key not in dropped} | dict.fromkeys(taken, GIVEN)
    if not chosen.question:  # else they are about a column that may not be the target
        guess.questions += [question for question in target.questions if question.partition(":")[0] not in dropped]
    _guess_texts(guess, tables, known.get("text"), several.columns if several else ())
    return "test" in labelled


def _check_known(guess: Guess, main: FileTable, known: Mapping[str, Any]) -> None:
    """Raise InputError, which lists those that are there, for a known column, label or range that does not fit the rows."""
    for key in {"group", "candidates", "starts"} & {*known}:
        for name in known[key] if isinstance(known[key], list) else [known[key]]:
            _known_column(main, name)
    target = main.columns.get(guess.keys["target"])
    if target is None or target.labels:  # labels of tokens, and names of labels
        return
    if target.name in guess.keys["text"]:
        raise InputError(f"text: {quoted(target.name)} is the target: {main.listed}")
    there = quoted_names(sorted(target.counts))
    if guess.kind == "labels":
        labels = list(map(str, guess.keys["labels"]))
        if lacking := [label for label in target.counts if label not in labels]:
            raise InputError(f"labels: {quoted(lacking[0])} is not among them; {quoted(target.name)} has {there}")
        if known.get("positive") is not None and str(known["positive"]) not in labels:
            raise InputError(f"positive: must be one of {there}")
    if guess.kind == "number" and target.numbers is None:
        there = quoted_names(list(target.counts)[:MOST_NAMED])
        raise InputError(f"{quoted(target.name)} has other values than numbers: {there}")


def _chosen_column(tables: SplitTables, known: Mapping[str, Any], is_one: bool) -> TargetColumn:
    """The column of the target, perhaps of one label alone. Raises InputError if there is none."""
    main = tables.main
    if "target" not in known:
        chosen = target_column(main, tables.test)
        lone = chosen.several is not None and len(chosen.several.columns) == 1
        return chosen._replace(several=None) if lone and (is_one or known.get("kind", KIND) != KIND) else chosen
    if several := named_labels(main, known):
        return TargetColumn(main.columns[several.columns[0]], GIVEN, several.question, several)
    return TargetColumn(_known_column(main, known["target"]), GIVEN)


def _known_column(table: FileTable, name: object) -> FileColumn:
    """The column of this name. Raises InputError if the file has none, or one that cannot be read."""
    if name in table.incomplete:
        raise InputError(table.incomplete[str(name)])
    if name not in table.columns:
        raise InputError(f"no column {quoted(str(name))}: {table.listed}")
    return table.columns[str(name)]


def _labelled(guess: Guess, tables: SplitTables, target: str) -> dict[str, FileTable]:
    """The files with targets in all rows. Raises InputError if a file other than test lacks some.

    One value in a whole file, where the training rows have several, is a placeholder, as -1 is: the user decides.
    """
    labelled = {}
    labels = tables.main.columns[target].counts
    for split, table in tables.items():
        if not table.has(target):
            if split == "test":
                continue
            if target in table.incomplete:
                raise InputError(table.incomplete[target])
            raise InputError(f"no targets in column {quoted(target)}", path=table.path)
        counts = table.columns[target].counts
        value = next(iter(counts))
        if len(counts) == 1 and table.rows >= LEAST_ROWS and labels[value] < 0.9 * labels.total():
            of_train = f"{share(labels[value], labels.total())} of train"
            stands = f"all {count(table.rows, 'row')} of {split} have {quoted(value)}, which {of_train} have"
            guess.questions.append(f"files: {stands}: a placeholder? Then no score on {split} means anything")
            if split == "test":
                continue
        labelled[split] = table
    return labelled


def _label_names(table: FileTable, target: FileColumn) -> dict[str, str] | None:
    """The names of labels that are whole numbers, by number: those in the file's metadata, or in a column that says the same in words."""
    if target.whole_numbers is None:
        return None
    if target.labels:
        return {str(number): name for number, name in enumerate(target.labels)}
    others = [each for each in table.columns.values() if each.name != target.name and each.texts and not each.numbers]
    named = next((column for column in others if names_each_other(target, column)), None)
    return dict(zip(target.texts, named.texts, strict=True)) if named else None


def _guess_texts(guess: Guess, tables: SplitTables, known: Sequence[str] | str | None, taken: Collection[str]) -> None:
    """Guess the columns of groups, and of texts unless they are known. Raises InputError if no column looks like a text."""
    main, test, every = tables.main, tables.test, list(tables.values())
    candidates = guess.keys.get("candidates", [])
    target = main.columns[guess.keys["target"]]
    used = {target.name, *taken, *candidates}
    if known is not None:
        names = [known] if isinstance(known, str) else known
        guess.keys["text"], guess.why["text"] = [_known_column(main, name).name for name in names], GIVEN
    else:
        texts = text_columns(main, test, target, used, most=1 if candidates else 2)
        if not texts.columns and not candidates:
            lists = quoted_names(name for name, column in main.columns.items() if column.lists)
            cut = f"; {lists} may be texts that are cut into words: write each as one text" if lists else ""
            reasons = "".join(f"; {reason}" for reason in [*main.incomplete.values()][:MOST_REASONS])
            raise InputError(f"no column looks like a text: {main.listed}{reasons}{cut}")
        guess.keys["text"] = texts.columns
        guess.why |= {"text": texts.why} if texts.columns else {}
        guess.questions += texts.questions
    used |= set(guess.keys["text"])
    if "spans" not in guess.keys and not candidates:
        if spans := marked_spans(main, guess.keys["text"], every):
            guess.keys["spans"], guess.why["spans"] = spans, "in each row, the text has these words at these places"
            for column in chain.from_iterable(spans.values()):
                used |= {*span_ends(column), f"{column.rpartition('.')[0]}.text"}
            guess.questions = [question for question in guess.questions if not question.startswith("text: ")]
        else:
            for column in chain.from_iterable(marked_spans(main, guess.keys["text"], every, last=1).values()):
                guess.questions.append(f"spans: {quoted(span_ends(column)[1])} {INCLUSIVE}")
    if "group" not in guess.keys and (group := group_column(main, every, target, used)):
        guess.keys["group"], guess.why["group"] = group
    guess.unread = dict(unread_columns(main, test, target, {*used, guess.keys.get("group", "")}))


def _guess_splits(guess: Guess, tables: Mapping[str, FileTable], test_has_targets: bool) -> None:
    """Leave out files that lack a text, and guess which split is scored."""
    inputs = [*guess.keys["text"], *guess.keys.get("candidates", [])]
    for split in [split for split in ("dev", "test") if split in tables]:
        if absent := next((name for name in inputs if name not in tables[split].columns), None):
            reason = tables[split].incomplete.get(absent, f"{guess.files[split]} has no column {quoted(absent)}")
            guess.questions.append(f"files: {split} is not used: {reason}")
            guess.files[split] = None
            del guess.rows[split]
    test_scored = test_has_targets and guess.files["test"] is not None
    if guess.files["dev"] is None:
        if guess.files["train"] is not None:
            guess.why["files"] = "no dev file: rows of train are held out" + ("" if test_scored else ", and scored")
        if test_scored:
            guess.keys["scored"] = "test"
            guess.why["scored"] = "there is no dev file, and the test file has targets"
    elif test_scored:
        guess.notes.append(TEST_TOO)


def choose_answering_tasks(guesses: Sequence[Guess]) -> None:
    """For each task without a train file, guess the task that answers it. If none could, give the task a problem.

    The files do not say which task it is. A candidate has training rows, the same text columns and kind, and all the task's labels
    or its whole range. If there are several, the one with the most training rows is chosen.
    """
    for guess in [guess for guess in guesses if guess.problem is None and guess.files["train"] is None]:
        possible = [task for task in guesses if task.problem is None and _could_answer(task, guess)]
        if not possible:
            lacking = "no train file, and no other task has training rows with the same text columns and all its labels"
            guess.problem = f"{lacking}; add one, answer files.train=FILE, or write answered_by: TASK"
            continue
        task, *others = sorted(possible, key=lambda task: -task.rows["train"])
        if targets := guess.keys.get("labels") or guess.keys.get("range"):
            own_targets = quoted_names(map(str, targets))
            guess.notes.append(f"its own targets: {own_targets}; labels or range come from {quoted(task.id)}")
        for key in TAKEN:
            guess.keys.pop(key, None)
            guess.why.pop(key, None)
        # "labels: may also be ratings" is a question of the task that answers.
        guess.questions = [question for question in guess.questions if not question.startswith("labels:")]
        guess.keys["answered_by"] = task.id
        guess.why["answered_by"] = "a guess: it has the same text columns, and these targets among its own; check"
        choice = f"; or {', '.join(other.id for other in others)}" if others else ""
        guess.questions.append(f"answered_by: no training rows; {task.id} has the same columns and labels{choice}")
        guess.why["files"] = "no train file"


def _could_answer(task: Guess, guess: Guess) -> bool:
    if task.files["train"] is None or task.kind != guess.kind:
        return False
    if any(task.keys.get(key) != guess.keys.get(key) for key in ("text", "candidates")):
        return False
    if guess.kind == "number":
        (low, high), (lowest, highest) = guess.keys["range"], task.keys["range"]
        return bool(lowest <= low and high <= highest)
    return set(guess.keys.get("labels", ())) <= set(task.keys.get("labels", ()))
