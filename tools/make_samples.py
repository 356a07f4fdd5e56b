"""Generate the embedded suites and corpora, and pack them into the archives of the package.

    python tools/make_samples.py

Every call, Python version and platform generates the same files. Python's own version of liblzma decides how an archive is compressed.
"""

import io
import tarfile
from collections.abc import Iterator
from pathlib import Path

from samples.glue.grammar import glue_files
from samples.klej.corpora import corpora_files
from samples.klej.grammar import klej_files
from samples.superlim.files import superlim_files
from samples.tasks.files import tasks_files

GENERATORS = {
    "klej-sample": klej_files,
    "superlim-sample": superlim_files,
    "glue-sample": glue_files,
    "tasks-sample": tasks_files,
    "klej-corpora": corpora_files,
}
SAMPLES = Path(__file__).resolve().parent.parent / "mtl/data/sample"


def pack(files: Iterator[tuple[str, str]], archive: Path) -> None:
    """Write a .tar.xz of these files.

    Args:
        files: the path below the data folder, and the text, of each.
        archive: where to write.
    """
    with tarfile.open(archive, "w:xz", preset=9) as tar:
        for name, text in files:
            content = text.encode()
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))


if __name__ == "__main__":
    for suite, generate in GENERATORS.items():
        pack(generate(), SAMPLES / f"{suite}.tar.xz")
