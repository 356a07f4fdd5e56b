"""The embedded suites, which need no download. Their texts are generated (`tools/make_samples.py`): no score compares with a published one."""

import tarfile
from pathlib import Path

from mtl.base.errors import InputError
from mtl.base.files import write_text
from mtl.base.locks import lock
from mtl.base.log import logger
from mtl.data.present_files import choose_scored, missing_tasks
from mtl.tasks.suite import Suite

# The suites, whose archives are in this folder.
SAMPLES = ("klej-sample", "superlim-sample", "glue-sample", "tasks-sample")
CORPORA = ("klej-corpora",)  # embedded sources of recipes, in archives of the same kind


def awaits_generation(suite: Suite, data_dir: Path) -> bool:
    """Whether the suite's data is generated, and some of it is not there yet: a process may have been killed while it wrote the data."""
    return suite.generated and bool(missing_tasks(suite, data_dir))


def write_generated(suite: Suite, data_dir: Path) -> None:
    """Write the data of an embedded suite, unless it is there. Raises InputError for a folder that the user named and that does not exist."""
    if data_dir != suite.data_dir and not data_dir.is_dir():
        remedy = f"correct it, drop it, or write the data there: mtl data {suite.name} data_dir={data_dir}"
        raise InputError(f"no such folder; {remedy}", key="data_dir", value=data_dir)
    if awaits_generation(suite, data_dir):
        write_embedded(suite, data_dir)


def write_embedded(suite: Suite, data_dir: Path) -> None:
    """Write those files of an embedded suite that are not there, one process after another."""
    with lock(data_dir / ".lock", f"{data_dir}: another process writes the data"):
        if missing_tasks(choose_scored(suite, data_dir), data_dir):
            write_sample(suite.name, data_dir)
            logger.info("%s: written to %s", suite.name, data_dir)
        else:
            logger.info("%s: already there", suite.name)


def write_sample(suite: str, folder: Path) -> None:
    """Write those data files of one of `SAMPLES` or `CORPORA` that do not exist in its data folder, each atomically."""
    with tarfile.open(Path(__file__).parent / f"{suite}.tar.xz") as archive:
        for member in archive:
            content, path = archive.extractfile(member), folder / member.name
            if content is not None and not path.exists():
                write_text(path, content.read().decode("utf-8"))
