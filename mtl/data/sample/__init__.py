"""Embedded data: suites, and sources of recipes, whose files are archives in this folder, so that they need no download. Of such a suite, the suite
file says `generated: true`: `tools/make_samples.py` generates the texts, and no score compares with a published one."""

import tarfile
from pathlib import Path

from mtl.base.errors import InputError
from mtl.base.files import write_text
from mtl.base.locks import lock
from mtl.base.log import logger
from mtl.data.present_files import missing_tasks
from mtl.tasks.suite import Suite

SAMPLES = ("klej-sample", "superlim-sample", "glue-sample", "tasks-sample")  # archives of suites of these names
CORPORA = ("klej-corpora",)  # archives of sources


def lacks_embedded_data(suite: Suite, data_dir: Path) -> bool:
    """Whether the suite's data is embedded, and some of it is not in the folder yet: a process may have been killed while it wrote the data."""
    return suite.generated and bool(missing_tasks(suite, data_dir))


def ensure_embedded_data(suite: Suite, data_dir: Path) -> None:
    """Write what a suite lacks of its data, if that is embedded. Raises InputError for a folder that the user named and that does not exist."""
    if data_dir != suite.data_dir and not data_dir.is_dir():
        remedy = f"correct it, drop it, or write the data there: mtl data {suite.name} data_dir={data_dir}"
        raise InputError(f"no such folder; {remedy}", key="data_dir", value=data_dir)
    if lacks_embedded_data(suite, data_dir):
        write_embedded_data(suite, data_dir)


def write_embedded_data(suite: Suite, data_dir: Path) -> None:
    """Write those files of an embedded suite that are not in the folder, which is made. Waits for another process that does."""
    with lock(data_dir / ".lock", f"{data_dir}: another process writes the data"):
        if lacks_embedded_data(suite, data_dir):
            unpack_embedded(suite.name, data_dir)
            logger.info("%s: written to %s", suite.name, data_dir)
        else:
            logger.info("%s: already there", suite.name)


def unpack_embedded(archive_name: str, folder: Path) -> None:
    """Write those files of an archive, one of `SAMPLES` or `CORPORA`, that do not exist in the folder, each atomically."""
    with tarfile.open(Path(__file__).parent / f"{archive_name}.tar.xz") as archive:
        for member in archive:
            path = folder / member.name
            content = archive.extractfile(member)  # None: a folder
            if content is not None and not path.exists():
                write_text(path, content.read().decode("utf-8"))
