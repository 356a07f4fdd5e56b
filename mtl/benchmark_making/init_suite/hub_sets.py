"""A data set of the Hugging Face Hub, `hf://OWNER/NAME`, as a folder of data files from which tasks are guessed.
Its files are those of one commit, and no code of it is run. Import this module only where the extra `hub` is installed."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from huggingface_hub import errors

from mtl.base.errors import InputError
from mtl.base.files import link_or_copy
from mtl.benchmark_making import hub_files
from mtl.benchmark_making.init_suite import file_names
from mtl.benchmark_making.init_suite.configurations import Configuration, configurations, configured_tasks, converted
from mtl.benchmark_making.init_suite.finding import FolderContent, files_of_tasks
from mtl.data.columns import printable_names

REVISION = r"refs/(?:convert|pr)/[\w.-]+|[\w.-]+"
ADDRESS = re.compile(rf"hf://(?:datasets/)?(\w[\w.-]*/\w[\w.-]*)(?:@({REVISION}))?(?:/([^/]+))?/?")
CONVERTED = "refs/convert/parquet"  # the revision under which the Hub keeps its conversion of a data set to parquet
LIMIT = 2**32  # bytes of files that are downloaded
MOST_CONFIGURATIONS = 50  # that are taken as tasks of one suite


@dataclass(frozen=True)
class HubSet:
    """A data set of the Hub, of which a folder has the data files."""

    address: str  # with its commit
    folder: Path  # named after the data set
    content: FolderContent
    keys: dict[str, Any]  # the keys of the suite file that all its tasks have
    language: str | None  # the only language that the card names


@contextmanager
def hub_set(address: str) -> Iterator[HubSet]:
    """A data set by its address, `hf://OWNER/NAME`, with `@REVISION` or `/CONFIGURATION` after it. The files are those in the cache of
    huggingface_hub; the folder is deleted in the end. Raises InputError if it cannot be had, and for a data set without data files."""
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
            paths = list(chain(*(configuration.paths for configuration in chosen))) or list(filter(_may_be_data, files))
            for path, copy in hub_files.download(dataset, commit, {path: files[path] for path in paths}, LIMIT).items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                link_or_copy(copy.resolve(), folder / path)  # the cache of huggingface_hub has links
            if chosen:
                content = FolderContent(configured_tasks(chosen, dataset, len(declared) == 1), [], [])
            else:  # the card names no files: their names say the tasks, and an only one is named after the data set
                content = files_of_tasks(folder)
                if len(content.tasks) == 1:
                    content.tasks[0].id = file_names.task_id(folder.name, [])
        keys: dict[str, Any] = {"hub": {"dataset": dataset, "revision": commit, "mirror": True}}
        keys |= {"license": card["license"]} if isinstance(card.get("license"), str) else {}
        languages = card.get("language")
        language = languages[0] if isinstance(languages, list) and len(languages) == 1 else languages
        language = language if re.fullmatch("[a-z]{2,3}", str(language)) else None
        pinned = f"hf://{dataset}@{commit}" + (f"/{wanted}" if wanted else "")
        yield HubSet(pinned, folder, content, keys, language)


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
    suffix = file_names.suffix_of(name)
    return file_names.is_data(name) or bool(suffix in file_names.LINE_SUFFIXES and file_names.WORD.search(path))
