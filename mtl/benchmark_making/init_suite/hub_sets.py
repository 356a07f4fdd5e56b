"""A data set of the Hugging Face Hub, `hf://OWNER/NAME`, as a folder of data files from which tasks are guessed.

Its files are those of one commit, which the suite file names. No code of a data set is run. As `mtl.benchmark_making.hub`, this module
imports huggingface_hub: import it only where the extra `hub` is installed."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from huggingface_hub import HfApi

from mtl.base.errors import InputError
from mtl.base.files import link_or_copy
from mtl.benchmark_making.hub import (
    CONVERTED,
    LISTED,
    HubFiles,
    NoRevisionError,
    download,
    list_files,
    naming_the_dataset,
)
from mtl.benchmark_making.init_suite.cards import (
    DEFAULT,
    Configuration,
    class_labels,
    configurations,
    converted,
    read_card,
    split_files,
)
from mtl.benchmark_making.init_suite.names import (
    LINE_SUFFIXES,
    SCHEME,
    WORD,
    FoundFiles,
    SplitFiles,
    is_data,
    suffix_of,
    task_id,
)
from mtl.benchmark_making.init_suite.reading import files_of_tasks
from mtl.data.columns import listed

ADDRESS = re.compile(
    r"hf://(?:datasets/)?(\w[\w.-]*/\w[\w.-]*)(?:@(refs/(?:convert|pr)/[\w.-]+|[\w.-]+))?(?:/([^/]+))?/?"
)
LIMIT = 2**32  # bytes of files that are downloaded
MOST_CONFIGURATIONS = 50  # that are taken as tasks of one suite


@dataclass(frozen=True)
class HubSet:
    """A data set of the Hub, of which a folder has the data files."""

    address: str  # with its commit
    folder: Path  # named after the data set
    found: FoundFiles
    keys: dict[str, Any]  # the keys of the suite file that all its tasks have
    language: str | None  # the only language that the card names


@contextmanager
def hub_set(address: str) -> Iterator[HubSet]:
    """A data set by its address, `hf://OWNER/NAME`, with `@REVISION` or `/CONFIGURATION` after it.

    The files are those in the cache of huggingface_hub; the folder is deleted in the end. Raises InputError if it cannot be had, and
    for a data set without data files.
    """
    parts = ADDRESS.fullmatch(address)
    if parts is None:
        raise InputError(
            "write hf://OWNER/NAME, hf://OWNER/NAME@REVISION or hf://OWNER/NAME/CONFIGURATION", path=address
        )
    dataset, revision, wanted = parts.groups()
    api, name = HfApi(library_name="mtl"), dataset.rpartition("/")[2]
    with TemporaryDirectory(prefix="mtl-hub-") as temporary:
        folder = Path(temporary, f"{name}-{wanted}" if wanted else name)
        folder.mkdir()
        with naming_the_dataset(dataset, Path(temporary)):
            commit, files, card = _revision(api, dataset, revision, Path(temporary))
            declared = configurations(card, files) if card else converted(files)
            chosen = _chosen(declared, wanted, dataset)
            paths = [path for one in chosen for split in one.splits.values() for path in split]
            paths = paths or [path for path in files if _may_be_data(path)]
            for path, copy in download(api, dataset, commit, {path: files[path] for path in paths}, LIMIT).items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                link_or_copy(copy.resolve(), folder / path)  # the cache of huggingface_hub has links
            found = _as_tasks(chosen, dataset, len(declared) == 1) if chosen else _by_names(folder, card)
        keys: dict[str, Any] = {"hub": {"dataset": dataset, "revision": commit, "mirror": True}}
        if isinstance(license := card.get("license"), str):
            keys["license"] = license
        named = card.get("language")
        (language,) = named if isinstance(named, list) and len(named) == 1 else (named,)
        language = language if re.fullmatch("[a-z]{2,3}", str(language)) else None
        again = f"{SCHEME}{dataset}@{commit}" + (f"/{wanted}" if wanted else "")
        yield HubSet(again, folder, found, keys, language)


def _revision(api: HfApi, dataset: str, revision: str | None, temporary: Path) -> tuple[str, HubFiles, dict[Any, Any]]:
    """The commit, the files and the card of a data set; of one without data files those of the Hub's conversion, which has no card.

    Raises InputError for a data set that has neither.
    """
    commit, files = list_files(api, dataset, revision or "main")
    readme = {path: files[path] for path in files if path == "README.md"}
    card: dict[Any, Any] = {}
    for copy in download(api, dataset, commit, readme).values():
        card = read_card(copy, temporary / "README.md")
    if any(_may_be_data(path) for path in files):
        return commit, files, card
    if revision is None:
        try:
            return *list_files(api, dataset, CONVERTED), {}
        except NoRevisionError:
            pass
    scripts = [path for path in files if path.endswith(".py")]
    if scripts:
        problem = f"it has no data file but a script that loads them ({scripts[0]}), which mtl does not run, and the Hub has not converted it"
        raise InputError(f"{problem}; load it yourself, and give mtl.Suite.from_frames what the script returns")
    seen = listed([path for path in files if not path.startswith(".")][:LISTED])
    raise InputError(f"it has no data file that mtl reads; it has {seen}; name a revision that has some: @REVISION")


def _may_be_data(path: str) -> bool:
    """Whether a file may hold data that a task reads, by its path."""
    parts = PurePosixPath(path).parts
    if any(part.startswith(".") or part == "dummy" for part in parts):  # dummy: of the tests of a script
        return False
    suffix = suffix_of(parts[-1])
    return is_data(parts[-1]) or suffix == ".zip" or (suffix in LINE_SUFFIXES and bool(WORD.search(path.lower())))


def _chosen(declared: Sequence[Configuration], wanted: str | None, dataset: str) -> list[Configuration]:
    """The configuration that the user names, or all. Raises InputError if there is no such one, and for too many."""
    names = ", ".join(one.name for one in declared[:LISTED])
    if wanted is not None:
        if chosen := [one for one in declared if one.name == wanted]:
            return chosen
        raise InputError(f"it has no configuration {wanted}; it has {names or 'none'}")
    if len(declared) > MOST_CONFIGURATIONS:
        raise InputError(
            f"it has {len(declared)} configurations; name one: {SCHEME}{dataset}/CONFIGURATION; it has {names}, …"
        )
    return list(declared)


def _as_tasks(chosen: Sequence[Configuration], dataset: str, is_only: bool) -> FoundFiles:
    """Each configuration as a task, with a question where another one is meant or has the same files.

    Args:
        is_only: whether the data set has no further one: then its name says nothing.
    """
    tasks: list[SplitFiles] = []
    by_path: dict[str, list[str]] = {}
    for one in chosen:
        for path in dict.fromkeys(path for split in one.splits.values() for path in split):
            by_path.setdefault(path, []).append(one.name)
    default = next((one.name for one in chosen if one.is_default), None)
    for one in chosen:
        id = task_id(
            dataset.rpartition("/")[2] if is_only or one.name == DEFAULT else one.name, [task.id for task in tasks]
        )
        files = split_files(id, one)
        shared = sorted({other for path, names in by_path.items() if one.name in names for other in names} - {one.name})
        remedy = f"delete this task if it is not one of its own, or name one: {SCHEME}{dataset}/CONFIGURATION"
        question = None
        if shared:
            question = f"files: configuration {one.name} has files of {', '.join(shared)}, too; {remedy}"
        elif default not in (None, one.name):
            question = f"files: the data set's configuration is {default}, and this is {one.name}; {remedy}"
        if question is not None:
            files = replace(files, question="; ".join(filter(None, (files.question, question))))
        tasks.append(files)
    return FoundFiles(tasks, [], [])


def _by_names(folder: Path, card: dict[Any, Any]) -> FoundFiles:
    """The tasks of a data set whose card names no files, by the names of its files."""
    found = files_of_tasks(folder)
    ids = [task.id for task in found.tasks] if found.tasks[1:] else [task_id(folder.name, [])]
    labels = class_labels(card)
    return replace(
        found, tasks=[replace(task, id=id, labels=labels) for id, task in zip(ids, found.tasks, strict=False)]
    )
