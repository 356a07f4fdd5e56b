"""Where the data of a task is downloaded from: its publisher's address, or a copy on the Hugging Face Hub."""

import re
from dataclasses import dataclass, field
from urllib.parse import quote

from mtl.base.untrusted import is_web_address

HUB_SPLITS = {"train": "train", "dev": "validation", "test": "test"}  # what most data sets on the Hub call them


@dataclass
class Source:
    """Where a task's official data is: the address of a zip, or one with `{file}`, which stands for a single file's name. `{folder}` in the address
    stands for the task's folder. The checksums of single files are the task's (`Task.checksums`)."""

    url: str  # the address
    size: int | None = None  # the size of a zip in bytes, where it is known
    sha256: str | None = None  # the checksum of a zip, where it is known

    @property
    def problem(self) -> str | None:
        """The error in this declaration, as "key: message", or None."""
        if not is_web_address(self.url):
            return f"url: {self.url!r} must begin with https:// or http://"
        if self.sha256 is not None and not is_sha256(self.sha256):
            return f"sha256: {self.sha256!r} must have 64 hexadecimal digits"
        return None

    @property
    def single_files(self) -> bool:
        """Whether each file of a task has an address of its own."""
        return "{file}" in self.url

    def address(self, folder: str, file: str) -> str:
        """The address of a single file of a task."""
        return self.url.replace("{folder}", quote(folder)).replace("{file}", quote(file))


@dataclass
class HubSource:
    """A copy of the task's data on the Hugging Face Hub, for when `source` is missing or cannot be downloaded.

    Args:
        splits: for each split, its name on the Hub, or the path of its file in the dataset's repository"""

    dataset: str  # OWNER/NAME
    revision: str = ""  # a commit, 40 hexadecimal digits, shown under Files, History on its page; `mtl data` needs it
    splits: dict[str, str] = field(default_factory=HUB_SPLITS.copy)
    columns: dict[str, str] = field(default_factory=dict)  # by column of the task, its name in the copy, if another
    mirror: bool = False  # `true`: the repository has the task's files, in the same folder; they are copied


def is_sha256(digest: str) -> bool:
    """Whether this is a SHA-256 in the form that a suite or a recipe states it: 64 hexadecimal digits, perhaps after `sha256:`."""
    return re.fullmatch("(sha256:)?[0-9a-fA-F]{64}", digest) is not None
