"""The embedded suites, which need no download. Their texts are generated (`tools/make_samples.py`): no score compares with a published one."""

import tarfile
from pathlib import Path

from mtl.base.files import write_text

# The suites, whose archives are in this folder.
SAMPLES = ("klej-sample", "superlim-sample", "glue-sample", "tasks-sample")
CORPORA = ("klej-corpora",)  # embedded sources of recipes, in archives of the same kind


def write_sample(suite: str, folder: Path) -> None:
    """Write those data files of one of `SAMPLES` or `CORPORA` that do not exist in its data folder, each atomically."""
    with tarfile.open(Path(__file__).parent / f"{suite}.tar.xz") as archive:
        for member in archive:
            content, path = archive.extractfile(member), folder / member.name
            if content is not None and not path.exists():
                write_text(path, content.read().decode("utf-8"))
