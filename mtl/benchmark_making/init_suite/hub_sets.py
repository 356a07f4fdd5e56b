"""A data set of the Hugging Face Hub, `hf://OWNER/NAME`, as a folder of data files from which tasks are guessed: those of one commit; no code of it
is run. Its configurations are tasks, by its card or the names of its files. A card is not trusted: what is not of the form that the Hub documents
("Data files configuration") does not count. Import this module only where the extra `hub` is installed."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path, PurePosixPath
from posixpath import commonpath
from tempfile import TemporaryDirectory
from typing import Any

from fsspec.utils import glob_translate
from huggingface_hub import errors

from mtl.base.errors import InputError
from mtl.base.files import link_or_copy
from mtl.benchmark_making import hub_files
from mtl.benchmark_making.init_suite.file_names import LINE_SUFFIXES, WORD, first_part, is_data, suffix_of
from mtl.benchmark_making.init_suite.finding import DataFolder, files_of_tasks
from mtl.benchmark_making.init_suite.guess import Guess, quoted_names
from mtl.benchmark_making.init_suite.named_tasks import task_id
from mtl.data.columns import printable_names
from mtl.tasks.task import SPLIT_OF, SPLITS

REVISION = r"refs/(?:convert|pr)/[\w.-]+|[\w.-]+"
ADDRESS = re.compile(rf"hf://(?:datasets/)?(\w[\w.-]*/\w[\w.-]*)(?:@({REVISION}))?(?:/([^/]+))?/?")
CONVERTED = "refs/convert/parquet"  # the revision under which the Hub keeps its conversion of a data set to parquet
LIMIT = 2**32  # bytes of files that are downloaded
MOST_CONFIGURATIONS = 50  # that are taken as tasks of one suite
DEFAULT = "default"  # the name of the configuration of a card that names none
LONGEST_PATTERN, MOST_STARS = 500, 8  # characters, and stars, of a pattern of file names: others could take for ever


@dataclass(frozen=True)
class Configuration:
    """One configuration of a data set."""

    name: str
    splits: Mapping[str, Sequence[str]]  # by the name of a split on the Hub, its files, in order
    is_default: bool = False  # whether the card says that it is meant where nobody names one

    @property
    def paths(self) -> list[str]:
        return list(chain(*self.splits.values()))


@contextmanager
def hub_set(address: str) -> Iterator[DataFolder]:
    """A folder with the files of the data set at an address: `hf://OWNER/NAME`, with `@REVISION` or `/CONFIGURATION` after it. The files are those in
    the cache of huggingface_hub; the folder is deleted in the end. Raises InputError if they cannot be had, and for a data set without any."""
    if (parts := ADDRESS.fullmatch(address)) is None:
        forms = "hf://OWNER/NAME, hf://OWNER/NAME@REVISION or hf://OWNER/NAME/CONFIGURATION"
        raise InputError(f"write {forms}", path=address)
    dataset, revision, wanted = parts.groups()
    name = dataset.rpartition("/")[2]
    with TemporaryDirectory(prefix="mtl-hub-") as temporary:
        folder = Path(temporary, f"{name}-{wanted}" if wanted else name)
        folder.mkdir()
        with hub_files.naming_the_dataset(dataset, Path(temporary)):
            commit, files, card = _revision(dataset, revision)
            declared = configurations(card, files) if card else converted(files)
            chosen = _chosen(declared, wanted, dataset)
            configured_paths = [path for configuration in chosen for path in configuration.paths]
            paths = configured_paths or [path for path in files if _may_be_data(path)]
            for path, copy in hub_files.download(dataset, commit, {path: files[path] for path in paths}, LIMIT).items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                link_or_copy(copy.resolve(), folder / path)  # the cache of huggingface_hub has links
            if chosen:
                found = DataFolder(folder, configured_tasks(chosen, dataset, len(declared) == 1))
            else:  # the card names no files: their names say the tasks, and an only one is named after the data set
                found = files_of_tasks(folder)
                if len(found.tasks) == 1:
                    found.tasks[0].id = task_id(folder.name, [])
        keys: dict[str, Any] = {"hub": {"dataset": dataset, "revision": commit, "mirror": True}}
        keys |= {"license": card["license"]} if isinstance(card.get("license"), str) else {}
        pinned = f"hf://{dataset}@{commit}" + (f"/{wanted}" if wanted else "")
        yield replace(found, address=pinned, keys=keys, language=_language(card))


def _language(card: Mapping[Any, Any]) -> str | None:
    """The only language that a card names, as a code of two or three letters."""
    languages = card.get("language")
    language = languages[0] if isinstance(languages, list) and len(languages) == 1 else languages
    return language if re.fullmatch("[a-z]{2,3}", str(language)) else None


def _chosen(declared: Sequence[Configuration], wanted: str | None, dataset: str) -> list[Configuration]:
    """The configuration that the address names, or all of them. Raises InputError if there is none of this name, or if there are too many."""
    known = ", ".join(configuration.name for configuration in declared[: hub_files.LISTED])
    chosen = [configuration for configuration in declared if wanted in (None, configuration.name)]
    if wanted is not None and not chosen:
        raise InputError(f"it has no configuration {wanted}; it has {known or 'none'}")
    if len(chosen) > MOST_CONFIGURATIONS:
        remedy = f"name one: hf://{dataset}/CONFIGURATION"
        raise InputError(f"it has {len(declared)} configurations; {remedy}; it has {known}, …")
    return chosen


def _revision(dataset: str, revision: str | None) -> tuple[str, hub_files.HubFiles, dict[str, Any]]:
    """The commit, files and card of a data set, or of the Hub's conversion, which has no card. Raises InputError if neither has data files."""
    commit, files, card = hub_files.list_files(dataset, revision or "main")
    if any(_may_be_data(path) for path in files):
        return commit, files, card
    if revision is None:
        try:
            commit, parquet_files, _ = hub_files.list_files(dataset, CONVERTED)
            return commit, parquet_files, {}
        except InputError as error:
            if not isinstance(error.__cause__, errors.RevisionNotFoundError):
                raise
    if scripts := [path for path in files if path.endswith(".py")]:
        problem = f"it has no data file but a script that loads them ({scripts[0]}), which mtl does not run, and the Hub has not converted it"
        raise InputError(f"{problem}; load it yourself, and give mtl.Suite.from_frames what the script returns")
    seen = printable_names([path for path in files if not path.startswith(".")][: hub_files.LISTED])
    raise InputError(f"it has no data file that mtl reads; it has {seen}; name a revision that has some: @REVISION")


def _may_be_data(path: str) -> bool:
    """Whether a file may hold data that a task reads, by its path."""
    *folders, name = PurePosixPath(path).parts
    if any(part.startswith(".") or part == "dummy" for part in (*folders, name)):  # dummy: of the tests of a script
        return False
    return is_data(name) or bool(suffix_of(name) in LINE_SUFFIXES and WORD.search(path))


def configurations(card: Mapping[Any, Any], files: Collection[str]) -> list[Configuration]:
    """The configurations whose data files, among those of the data set, a card names. Raises InputError if there are no such files."""
    declared = []
    for item in _dictionaries(card.get("configs")):
        name, patterns = str(item.get("config_name", DEFAULT)), item.get("data_files")
        folder = str(item.get("data_dir") or "")
        below = [path for path in sorted(files) if not folder or PurePosixPath(path).is_relative_to(folder)]
        splits: dict[str, list[str]] = {}
        if entries := [entry for entry in _dictionaries(patterns) if "split" in entry]:
            splits = {str(entry["split"]): _matching(entry.get("path"), folder, below, name) for entry in entries}
        else:
            visible = [path for path in below if not PurePosixPath(path).name.startswith((".", "README"))]
            paths = visible if patterns is None else _matching(patterns, folder, below, name)
            # By the word of a split in their names, else in their folders; without any they are training rows, as on the Hub.
            for path in paths:
                words = WORD.findall(PurePosixPath(path).stem.lower()) or WORD.findall(path.lower()) or ["train"]
                splits.setdefault(SPLIT_OF[words[-1]], []).append(path)
        declared.append(Configuration(name, splits, item.get("default") is True or name == DEFAULT))
    return declared


def converted(files: Collection[str]) -> list[Configuration]:
    """The configurations in the Hub's own conversion of a data set to parquet, whose files are CONFIGURATION/SPLIT/0000.parquet."""
    by_name: dict[str, dict[str, list[str]]] = {}
    for path in sorted(files):
        if parts := re.fullmatch(r"([^/]+)/([^/]+)/\d+\.parquet", path):
            by_name.setdefault(parts[1], {}).setdefault(parts[2], []).append(path)
    return [Configuration(name, splits, name == DEFAULT) for name, splits in by_name.items()]


def _dictionaries(value: Any) -> list[dict[Any, Any]]:
    """The dictionaries in a list, or the only one."""
    return [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)]


def _matching(patterns: Any, folder: str, files: Sequence[str], name: str) -> list[str]:
    """The files of a configuration that a pattern, or one of a list, names, in order. Raises InputError for a pattern that names none."""
    matches = dict[str, None]()
    for item in patterns if isinstance(patterns, list) else [patterns]:
        pattern = str(PurePosixPath(folder, str(item)))
        fitting: list[str] = []
        if len(pattern) <= LONGEST_PATTERN and pattern.count("*") <= MOST_STARS:
            with suppress(ValueError, re.error):
                expression = glob_translate(pattern)
                fitting = [file for file in files if re.match(expression, file)]
        if not fitting:
            problem = f"configuration {name} names {pattern[:200]}, and no file of the data set fits"
            raise InputError(f"{problem}; name another revision: @REVISION")
        matches |= dict.fromkeys(fitting)
    return list(matches)


def configured_tasks(chosen: Sequence[Configuration], dataset: str, is_only: bool) -> list[Guess]:
    """Each configuration as a task, with a question where another one is meant or has the same files. The name of the only one says nothing."""
    tasks: list[Guess] = []
    default = next((configuration.name for configuration in chosen if configuration.is_default), None)
    for configuration in chosen:
        name = dataset.rpartition("/")[2] if is_only or configuration.name == DEFAULT else configuration.name
        task = _task(task_id(name, [task.id for task in tasks]), configuration)
        sharing = [rest.name for rest in chosen if rest is not configuration and {*rest.paths} & {*configuration.paths}]
        problem = ""
        if sharing:
            problem = f"configuration {configuration.name} has files of {', '.join(sorted(sharing))}, too"
        elif default not in (None, configuration.name):
            problem = f"the data set's configuration is {default}, and this is {configuration.name}"
        if problem:
            remedy = f"delete this task if it is not one of its own, or name one: hf://{dataset}/CONFIGURATION"
            task.questions.append(f"files.train: {problem}; {remedy}")
        tasks.append(task)
    return tasks


def _task(id: str, configuration: Configuration) -> Guess:
    """The files of a configuration as those of a task. What the names of its splits do not say is a question."""
    guess = Guess(id, "", {})
    by_split = _named_splits(guess, configuration)
    if not by_split:
        raise InputError(f"configuration {configuration.name} has no split {', '.join(SPLITS)}")
    all_paths = chain.from_iterable(paths for by_name in by_split.values() for paths in by_name.values())
    guess.folder = commonpath([PurePosixPath(path).parent.as_posix() for path in all_paths])
    for split, by_name in by_split.items():
        below = [[str(PurePosixPath(path).relative_to(guess.folder)) for path in paths] for paths in by_name.values()]
        files = below[0]
        parts = first_part(files) if len(files) > 1 else files[0]
        guess.files[split] = parts or files[0]
        if parts is None:
            many = f"{len(files)} files, {quoted_names(files, 4)}"
            guess.questions.append(f"files.{split}: the split is {many}; write them as one file")
        if len(by_name) > 1:
            splits = [f"{name} ({', '.join(paths[:2])})" for name, paths in zip(by_name, below, strict=True)]
            guess.questions.append(f"files.{split}: may be the split {' or '.join(splits)}")
    return guess


def _named_splits(guess: Guess, configuration: Configuration) -> dict[str, dict[str, Sequence[str]]]:
    """The files of a configuration by split, then by the name on the Hub: several may mean one split. The guess gets notes and questions."""
    by_split: dict[str, dict[str, Sequence[str]]] = {}
    for name, paths in configuration.splits.items():
        words = {SPLIT_OF[word] for word in WORD.findall(name.lower())}
        if len(words) == 1:
            (split,) = words
        elif len(configuration.splits) == 1:
            split = "train"
            guess.questions.append(f"files.train: the only split is called {name}: are these the training rows?")
        else:
            guess.notes.append(f"not read: split {quoted_names([name])}, which is none of {', '.join(SPLITS)}")
            continue
        by_split.setdefault(split, {})[name] = paths
        if name.startswith("partial-"):
            complete = name.removeprefix("partial-")
            guess.questions.append(f"files.{split}: the Hub has converted only a part of {complete}; do these rows do?")
    return by_split
