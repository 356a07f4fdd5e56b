"""A data set of the Hugging Face Hub, `hf://OWNER/NAME`, as a folder of data files from which tasks are guessed: those of one commit; no code of it
is run. Import this module only where the extra `hub` is installed."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from huggingface_hub import errors

from mtl.base.errors import InputError
from mtl.base.files import link_or_copy
from mtl.benchmark_making import hub_files
from mtl.benchmark_making.init_suite.finding import DataFolder, find_tasks
from mtl.benchmark_making.init_suite.hub_configurations import Configuration, configurations, configured_tasks
from mtl.benchmark_making.init_suite.named_file import read_name
from mtl.benchmark_making.init_suite.named_tasks import task_id
from mtl.data.columns import printable_names

REVISION = r"refs/(?:convert|pr)/[\w.-]+|[\w.-]+"
ADDRESS = re.compile(rf"hf://(?:datasets/)?(\w[\w.-]*/\w[\w.-]*)(?:@({REVISION}))?(?:/([^/]+))?/?")
CONVERTED = "refs/convert/parquet"  # the revision under which the Hub keeps its conversion of a data set to parquet
HIDDEN = re.compile(r"(^|/)(\.|dummy/)")  # in a path; folders called dummy are of the tests of a script
LIMIT = 2**32  # bytes of files that are downloaded
MOST_CONFIGURATIONS = 50  # that are taken as tasks of one suite


@dataclass(frozen=True)
class Snapshot:
    dataset: str  # OWNER/NAME
    commit: str
    files: hub_files.HubFiles
    card: Mapping[Any, Any]  # empty for the Hub's conversion

    @property
    def data(self) -> list[str]:
        """The files that may hold data, by their paths."""
        visible = [path for path in self.files if not HIDDEN.search(path)]
        return [path for path in visible if read_name(PurePosixPath(path)).may_be_data]

    @property
    def language(self) -> str | None:
        """The only language that the card names, as a code of two or three letters."""
        languages = self.card.get("language")
        language = languages[0] if isinstance(languages, list) and len(languages) == 1 else languages
        return language if re.fullmatch("[a-z]{2,3}", str(language)) else None

    @property
    def keys(self) -> dict[str, Any]:
        """The keys of a suite file that all tasks of the data set have."""
        keys: dict[str, Any] = {"hub": {"dataset": self.dataset, "revision": self.commit, "mirror": True}}
        return keys | ({"license": self.card["license"]} if isinstance(self.card.get("license"), str) else {})


@contextmanager
def hub_set(address: str) -> Iterator[DataFolder]:
    """A folder with the files of the data set at an address: `hf://OWNER/NAME`, with `@REVISION` or `/CONFIGURATION` after it. The files are those in
    the cache of huggingface_hub; the folder is deleted in the end. Raises InputError if they cannot be had, and for a data set without any."""
    parts = ADDRESS.fullmatch(address)
    if parts is None:
        problem = "write hf://OWNER/NAME, hf://OWNER/NAME@REVISION or hf://OWNER/NAME/CONFIGURATION"
        raise InputError(problem, path=address)
    dataset, revision, wanted = parts.groups()
    name = dataset.rpartition("/")[2]
    with TemporaryDirectory(prefix="mtl-hub-") as temporary:
        folder = Path(temporary, f"{name}-{wanted}" if wanted else name)
        folder.mkdir()
        with hub_files.naming_the_dataset(dataset, Path(temporary)):
            snapshot = _snapshot(dataset, revision)
            chosen = _chosen(snapshot, wanted)
            _download(snapshot, [path for configuration in chosen for path in configuration.paths], folder)
            if chosen:
                data = DataFolder(folder, configured_tasks(chosen, dataset))
            else:  # the card names no files: their names say the tasks, and an only one is named after the data set
                data = find_tasks(folder)
                if len(data.tasks) == 1:
                    data.tasks[0].id = task_id(folder.name)
        pinned = f"hf://{dataset}@{snapshot.commit}" + (f"/{wanted}" if wanted else "")
        yield replace(data, address=pinned, keys=snapshot.keys, language=snapshot.language)


def _snapshot(dataset: str, revision: str | None) -> Snapshot:
    """The data set, or the Hub's conversion of it, which has no card. Raises InputError if neither has data files."""
    snapshot = Snapshot(dataset, *hub_files.list_files(dataset, revision or "main"))
    if snapshot.data:
        return snapshot
    if revision is None:
        try:
            commit, parquet_files, _ = hub_files.list_files(dataset, CONVERTED)
            return Snapshot(dataset, commit, parquet_files, {})
        except InputError as error:
            if not isinstance(error.__cause__, errors.RevisionNotFoundError):
                raise
    seen = printable_names([path for path in snapshot.files if not path.startswith(".")][: hub_files.LISTED])
    remedy = "name another revision: @REVISION; or load it with its script, which mtl does not run, and give mtl.Suite.from_frames what that returns"
    raise InputError(f"it has no data file that mtl reads; it has {seen}; {remedy}")


def _chosen(snapshot: Snapshot, wanted: str | None) -> list[Configuration]:
    """The configuration that the address names, or all of them. Raises InputError if there is none of this name, or if there are too many."""
    declared = configurations(snapshot.card, snapshot.files)
    known = ", ".join(configuration.name for configuration in declared[: hub_files.LISTED])
    chosen = [configuration for configuration in declared if wanted in (None, configuration.name)]
    if wanted is not None and not chosen:
        raise InputError(f"it has no configuration {wanted}; it has {known or 'none'}")
    if len(chosen) > MOST_CONFIGURATIONS:
        remedy = f"name one: hf://{snapshot.dataset}/CONFIGURATION"
        raise InputError(f"it has {len(declared)} configurations; {remedy}; it has {known}, …")
    return chosen


def _download(snapshot: Snapshot, paths: list[str], folder: Path) -> None:
    """Put these files, or all that may hold data, into a folder. Raises InputError if they cannot be had."""
    files = {path: snapshot.files[path] for path in paths or snapshot.data}
    for path, copy in hub_files.download(snapshot.dataset, snapshot.commit, files, LIMIT).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        link_or_copy(copy.resolve(), folder / path)  # the cache of huggingface_hub has links
