"""Guess each task of a suite file from its files, and for tasks without training rows the task that answers them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.base.untrusted import is_inside
from mtl.benchmark_making.init_suite.evidence import candidate_columns, is_candidates, names_each_other
from mtl.benchmark_making.init_suite.kinds import guess_target, joined
from mtl.benchmark_making.init_suite.names import SPLIT_OF, FoundFiles, SplitFiles, find_tasks, suffix_of, task_id
from mtl.benchmark_making.init_suite.sniffing import TABLES, Sniffed, has_header, sniff
from mtl.benchmark_making.init_suite.tables import FileColumn, FileTable, count, quoted, quoted_names, read_table, share
from mtl.benchmark_making.init_suite.target import TargetColumn, target_column
from mtl.benchmark_making.init_suite.texts import group_column, marked_spans, text_columns, unread_columns
from mtl.data.rows import form_of, parts_of
from mtl.tasks.task import SPAN_ENDS, SPLITS, Layout, Reading, Task

GIVEN = "as given"
OF_KIND = ("labels", "range", "indices", "metric", "positive")  # the keys that follow from the kind of the targets
TAKEN = ("kind", "labels", "range")  # the keys that a task takes from the task that answers it, see `mtl.tasks.suite`
SPLIT_COLUMNS = ("split", "set", "partition", "fold", "subset")
LEAST_ROWS = 10  # of a file whose targets are all the same: fewer say nothing


@dataclass
class Guess:
    """A task as the suite file will declare it.

    Args:
        files: names by split; None for a split that does not exist.
        keys: the other keys of the suite file, with their values.
        why: by key, what the guess is based on.
        questions: what the user has to decide, as "key: message": the suite does not run before.
        unread: by the name of a column that is not read, why.
        problem: why the task cannot be declared yet; a task with a problem becomes a comment.
    """

    id: str
    folder: str
    files: dict[str, str | None]
    rows: dict[str, int] = field(default_factory=dict)
    kind: str = ""
    keys: dict[str, Any] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)
    questions: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unread: dict[str, str] = field(default_factory=dict)
    problem: str | None = None


def files_of_tasks(data_dir: Path) -> FoundFiles:
    """The tasks below a folder: files named after splits, and files that hold the splits as keys, or in a column.

    The only data file of all, if it is neither, holds training rows, if the user agrees.
    """
    found = find_tasks(data_dir)
    tasks, unused = list(found.tasks), []
    for name in found.unused:
        folder, _, file = name.rpartition("/")
        parts = _splits_within(data_dir / name)
        id = task_id(file.removesuffix(suffix_of(file)), [task.id for task in tasks])
        if parts:
            tasks.append(SplitFiles(id, folder, {split: f"{file}#{part}" for split, part in parts.items()}))
        elif not found.tasks and len(found.unused) == 1:
            question = f"files: {file} names no split: are these the training rows, of which some are held out?"
            tasks.append(SplitFiles(id, folder, {"train": file}, question=question))
        else:
            unused.append(name)
    return replace(found, tasks=tasks, unused=unused)


def _splits_within(path: Path) -> dict[str, str]:
    """The parts of a file that are splits, by split: keys of a JSON object, members of a zip, or values of a column."""
    try:
        names = {Path(part).name.partition(".")[0].lower(): part for part in parts_of(path)}
        if parts := {SPLIT_OF[name]: part for name, part in names.items() if name in SPLIT_OF}:
            return parts
        table = read_table(path, sniff(path).layout)
    except InputError:
        return {}
    for column in table.columns.values():
        if column.name.lower() in SPLIT_COLUMNS and {value.lower() for value in column.counts} <= set(SPLIT_OF):
            return {SPLIT_OF[value.lower()]: f"{column.name}={value}" for value in column.counts}
    return {}


def guess_task(files: SplitFiles, data_dir: Path, known: Mapping[str, Any] | None = None) -> Guess:
    """Read a task's files and guess the keys that are not known. Bad data does not raise an error, but becomes the guess's `problem`."""
    guess = Guess(files.id, files.folder, {split: files.files.get(split) for split in SPLITS})
    if files.twice:
        guess.notes.append(f"not read: {quoted_names(files.twice)}; another file has this split")
    if files.question:
        guess.questions.append(files.question)
    try:
        tables = _tables(guess, data_dir, known or {})
        _guess_keys(guess, tables, known or {})
        if not _is_writable(guess.keys):
            raise InputError("a column or a label holds '${', which a suite file cannot hold; change it in the files")
    except InputError as error:
        guess.problem = str(error)
    guess.questions = [question for question in guess.questions if question.partition(":")[0] not in (known or {})]
    return guess


def _tables(guess: Guess, data_dir: Path, known: Mapping[str, Any]) -> dict[str, FileTable]:
    """The task's files by split. Raises InputError for a file that cannot be read, or whose name a suite file cannot hold."""
    files = {split: name for split, name in guess.files.items() if name is not None}
    for name in (guess.folder, *files.values()):
        if not _is_writable(name) or not all(map(is_inside, name.split(" + "))):
            raise InputError(f"rename {quoted(name)}: a suite file cannot hold this name")
    task = Task(id=guess.id, folder=guess.folder, text=[], target="", metric="", files=guess.files)
    paths = {split: path for split in files if (path := task.path(split, data_dir))}
    layouts = {split: task.layout(split, data_dir) for split in paths}
    sniffed = {split: sniff(path, layouts[split]) for split, path in paths.items()}
    reading = replace(_reading(files, sniffed), **known.get("reading", {}))
    for how in sniffed.values():
        guess.questions += [how.question] if how.question and how.question not in guess.questions else []
    if written := {key: value for key, value in vars(reading).items() if value is not None}:
        guess.keys["reading"], guess.why["reading"] = (
            written,
            next(filter(None, (how.why for how in sniffed.values())), ""),
        )
    layouts = {split: replace(layout, reading=reading) for split, layout in layouts.items()}
    if "header" in known:
        headers = dict.fromkeys(paths, _known_header(guess, known["header"]))
    else:
        headers = _headers(guess, paths, layouts, sniffed)
    tables = {split: read_table(paths[split], replace(layouts[split], header=headers[split])) for split in paths}
    without = [split for split in paths if headers[split]]
    if without and "header" not in known:
        names = headers[without[0]] or []
        if headed := [table for split, table in tables.items() if not headers[split]]:
            names = _named_alike(tables[without[0]], headed[0])
        tables |= {split: read_table(paths[split], replace(layouts[split], header=names)) for split in without}
        guess.keys["header"] = names
        listed = ", ".join(files[split] for split in without)
        guess.why["header"] = (
            f"the first line of {listed} looks like a row, so the names are made up; give the columns names"
        )
    guess.rows = {split: table.rows for split, table in tables.items()}
    if nameless := max(table.nameless for table in tables.values()):
        guess.notes.append(f"not read: {count(nameless, 'column')} without a name; give it one if the task needs it")
    guess.why["rows"] = "counted in these files; if other numbers are published, write those"
    return tables


def _reading(files: Mapping[str, str], sniffed: Mapping[str, Sniffed]) -> Reading:
    """How all files of a task are read. Raises InputError if they are read in several ways."""
    found = [how.layout.reading for how in sniffed.values()]
    quoted_cells = next((reading.quoted for reading in found if reading.quoted is not None), None)
    encoding = next((reading.encoding for reading in found if reading.encoding is not None), None)
    readings = {
        replace(
            how.layout.reading,
            quoted=how.layout.reading.quoted if how.has_quotes else quoted_cells,
            encoding=encoding if how.is_ascii else how.layout.reading.encoding,
        )
        for how in sniffed.values()
    }
    if len(readings) > 1:
        differing = ", ".join(f"{files[split]}: {how.why or 'as its suffix says'}" for split, how in sniffed.items())
        raise InputError(f"the files of the task are read in several ways ({differing}); convert them to one")
    return next(iter(readings))


def _headers(
    guess: Guess, paths: Mapping[str, Path], layouts: Mapping[str, Layout], sniffed: Mapping[str, Sniffed]
) -> dict[str, list[str] | None]:
    """By split, the made-up names of the columns, column_1 and so on, of a file without a header; None for a file with one.

    Files whose lines have as many cells are looked at together: those with a header have the same one.
    """
    headers: dict[str, list[str] | None] = dict.fromkeys(paths)
    tables = {s: sniffed[s].rows for s in paths if form_of(paths[s], layouts[s]) in TABLES and sniffed[s].rows}
    for width in {len(rows[0]): None for rows in tables.values()}:
        splits = [split for split, rows in tables.items() if len(rows[0]) == width]
        headed, question = has_header({str(guess.files[split]): tables[split] for split in splits})
        guess.questions += [question] if question else []
        if not headed:
            headers |= {split: [f"column_{number + 1}" for number in range(width)] for split in splits}
    return headers


def _named_alike(without: FileTable, headed: FileTable) -> list[str]:
    """The names of the columns of a file without a header. Its columns of texts have the names that they have in another file of the task,
    if both have as many of them."""
    ours, theirs = (
        [column.name for column in file.columns.values() if 2 * column.several_words > column.rows]
        for file in (without, headed)
    )
    names = dict(zip(ours, theirs, strict=True)) if len(ours) == len(theirs) else {}
    return [names.get(name, name) for name in without.columns]


def _known_header(guess: Guess, header: object) -> list[str] | None:
    """The columns of files without a header as the user names them; None for `true`: the first line is one."""
    if header is True:
        return None
    if not isinstance(header, list) or not all(isinstance(name, str) for name in header):
        raise InputError("header: true, or the names of the columns, as in [text, label]")
    guess.keys["header"], guess.why["header"] = header, GIVEN
    return header


def _guess_keys(guess: Guess, tables: Mapping[str, FileTable], known: Mapping[str, Any]) -> None:
    """Guess the columns, and then which split is scored. Raises InputError if there is no guess."""
    main = tables.get("train") or tables.get("dev") or tables["test"]
    test = tables.get("test") if tables.get("test") is not main else None
    if "target" in known:
        chosen = TargetColumn(_known_column(main, known["target"]), GIVEN)
    else:
        chosen = target_column(main, test)
    column, guess.why["target"] = chosen.column, chosen.why
    guess.questions += [chosen.question] if chosen.question else []
    guess.keys["target"] = column.name
    labelled = _labelled(guess, tables, main, column.name)
    candidates = [
        candidate.name
        for candidate in candidate_columns(main, {column.name})
        if all(candidate.name in table.columns for table in labelled.values())
    ]
    lists = [
        name
        for name, other in main.columns.items()
        if other.lists and not is_candidates(other) and all(name in table.columns for table in labelled.values())
    ]
    target = guess_target(
        main.whole(column.name),
        {split: table.whole(column.name) for split, table in labelled.items()},
        _joined(labelled, candidates),
        _joined(labelled, lists),
        _label_names(main, column),
    )
    of_kind = {*OF_KIND, "candidates"} if known.get("kind", target.kind) != target.kind else set()
    known_keys = {key: value for key, value in known.items() if key not in ("text", "target", "header", "reading")}
    guess.kind = str(known.get("kind", target.kind))
    guess.keys |= {key: value for key, value in target.keys.items() if key not in of_kind} | known_keys
    guess.why |= {key: why for key, why in target.why.items() if key not in of_kind} | dict.fromkeys(known_keys, GIVEN)
    if not chosen.question:  # else they are about a column that may not be the target
        guess.questions += [question for question in target.questions if question.partition(":")[0] not in of_kind]
    _guess_texts(guess, main, test, list(tables.values()), known.get("text"))
    _guess_splits(guess, tables, "test" in labelled)


def _known_column(table: FileTable, name: object) -> FileColumn:
    """The column of this name. Raises InputError if the file has none, or one that cannot be read."""
    if name in table.incomplete:
        raise InputError(table.incomplete[str(name)])
    if name not in table.columns:
        raise InputError(f"no column {quoted(str(name))}: {table.listed}")
    return table.columns[str(name)]


def _labelled(guess: Guess, tables: Mapping[str, FileTable], main: FileTable, target: str) -> dict[str, FileTable]:
    """The files with targets in all rows. Raises InputError if a file other than test lacks some.

    One value in a whole file, where the training rows have several, is a placeholder, as -1 is: the user decides.
    """
    labelled = {}
    labels = main.columns[target].counts
    for split, table in tables.items():
        if not table.has(target):
            if split != "test":
                reason = table.incomplete.get(target, f"no targets in column {quoted(target)}")
                raise InputError(reason) if target in table.incomplete else InputError(reason, path=table.path)
            continue
        counts = table.columns[target].counts
        value = next(iter(counts))
        if len(counts) == 1 and table.rows >= LEAST_ROWS and labels[value] < 0.9 * labels.total():
            stands = f"all {count(table.rows, 'row')} of {split} have {quoted(value)}, which {share(labels[value], labels.total())} of train have"
            guess.questions.append(f"files: {stands}: a placeholder? Then no score on {split} means anything")
            if split == "test":
                continue
        labelled[split] = table
    return labelled


def _joined(tables: Mapping[str, FileTable], names: Sequence[str]) -> list[FileColumn]:
    """Columns of several files, each as one."""
    return [joined([table.columns[name] for table in tables.values()]) for name in names]


def _label_names(table: FileTable, target: FileColumn) -> dict[str, str] | None:
    """The names of labels that are whole numbers, by number: those in the file's metadata, or in a column that says the same in words."""
    if target.whole_numbers is None:
        return None
    if target.labels:
        return {str(number): name for number, name in enumerate(target.labels)}
    for column in table.columns.values():
        if column.name != target.name and column.texts and not column.numbers and names_each_other(target, column):
            return dict(zip(target.texts, column.texts, strict=True))
    return None


def _guess_texts(
    guess: Guess,
    main: FileTable,
    test: FileTable | None,
    tables: Sequence[FileTable],
    known: Sequence[str] | str | None,
) -> None:
    """Guess the columns of groups, and of texts unless they are known. Raises InputError if no column looks like a text."""
    candidates = guess.keys.get("candidates", [])
    target = main.columns[guess.keys["target"]]
    used = {target.name, *candidates}
    if known is not None:
        names = [known] if isinstance(known, str) else list(known)
        guess.keys["text"], guess.why["text"] = [_known_column(main, name).name for name in names], GIVEN
    else:
        texts = text_columns(main, test, target, used, most=1 if candidates else 2)
        if not texts.columns and not candidates:
            lists = [name for name, column in main.columns.items() if column.lists]
            cut = (
                f"; {quoted_names(lists)} may be texts that are cut into words: write each as one text" if lists else ""
            )
            raise InputError(f"no column looks like a text: {main.listed}{cut}")
        guess.keys["text"] = texts.columns
        if texts.columns:
            guess.why["text"] = texts.why
        guess.questions += texts.questions
    used |= set(guess.keys["text"])
    if "spans" not in guess.keys and not candidates:
        spans = marked_spans(main, guess.keys["text"], tables)
        if spans:
            guess.keys["spans"] = spans
            guess.why["spans"] = "in each row, these characters of the text are the words of the column text beside"
            columns = [column for named in spans.values() for column in named]
            used |= {f"{column}.{end}" for column in columns for end in SPAN_ENDS}
            used |= {f"{column.rpartition('.')[0]}.text" for column in columns}
            guess.questions = [question for question in guess.questions if not question.startswith("text: ")]
    if "group" not in guess.keys and (group := group_column(main, tables, target, used)):
        guess.keys["group"], guess.why["group"] = group
    guess.unread = dict(unread_columns(main, test, target, {*used, guess.keys.get("group", "")}))


def _guess_splits(guess: Guess, tables: Mapping[str, FileTable], test_has_targets: bool) -> None:
    """Leave out files that lack a text, and guess which split is scored."""
    for split in ("dev", "test"):
        inputs = [*guess.keys["text"], *guess.keys.get("candidates", [])]
        absent = [name for name in inputs if split in tables and name not in tables[split].columns]
        if absent:
            reason = tables[split].incomplete.get(absent[0], f"{guess.files[split]} has no column {quoted(absent[0])}")
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
        guess.notes.append("the test file has targets too; scores are on dev unless the task says scored: test")


def _is_writable(value: object) -> bool:
    """Whether a suite file can hold a value: no OmegaConf reference (`mtl.base.untrusted_yaml.read_yaml`), and valid Unicode only."""
    if isinstance(value, str):
        return "${" not in value and not any("\ud800" <= sign <= "\udfff" for sign in value)
    if isinstance(value, dict):
        return all(map(_is_writable, value.values()))
    return all(map(_is_writable, value)) if isinstance(value, list) else True


def choose_answering_tasks(guesses: Sequence[Guess]) -> None:
    """For each task without a train file, guess the task that answers it. If none could, give the task a problem.

    The files do not say which task it is. A candidate has training rows, the same text columns and kind, and all the task's labels
    or its whole range. If there are several, the one with the most training rows is chosen.
    """
    for guess in guesses:
        if guess.problem is not None or guess.files["train"] is not None:
            continue
        candidates = [task for task in guesses if task.problem is None and _could_answer(task, guess)]
        if candidates:
            candidates.sort(key=lambda task: -task.rows["train"])
            _answer(guess, candidates[0], candidates[1:])
        else:
            lacking = "no other task has training rows with the same text columns and all its labels"
            guess.problem = f"no train file, and {lacking}; add one, or write answered_by: TASK"


def _could_answer(task: Guess, guess: Guess) -> bool:
    if task.files["train"] is None or task.kind != guess.kind:
        return False
    if any(task.keys.get(key) != guess.keys.get(key) for key in ("text", "candidates")):
        return False
    if guess.kind == "number":
        (low, high), (lowest, highest) = guess.keys["range"], task.keys["range"]
        return bool(lowest <= low and high <= highest)
    return set(guess.keys.get("labels", ())) <= set(task.keys.get("labels", ()))


def _answer(guess: Guess, task: Guess, alternatives: Sequence[Guess]) -> None:
    targets = guess.keys.get("labels") or guess.keys.get("range")
    for key in TAKEN:
        guess.keys.pop(key, None)
        guess.why.pop(key, None)
    # "labels: may also be ratings" is a question of the task that answers.
    guess.questions = [question for question in guess.questions if not question.startswith("labels:")]
    guess.keys["answered_by"] = task.id
    guess.why["answered_by"] = "a guess: it has the same text columns, and these targets among its own; check"
    if targets:
        own_targets = quoted_names(map(str, targets))
        guess.notes.append(f"its own targets: {own_targets}; labels or range come from {quoted(task.id)}")
    choice = f"; or {', '.join(alternative.id for alternative in alternatives)}" if alternatives else ""
    guess.questions.append(f"answered_by: no training rows; {task.id} has the same columns and labels{choice}")
    guess.why["files"] = "no train file"
