"""For which systems and Pythons do installed packages have wheels in an index? Reads the index's lists of files, and downloads none of them.

    python tools/wheels.py INDEX_URL              # the packages of the core install
    python tools/wheels.py INDEX_URL NAME…        # others

Prints a line for each package: the newest versions with wheels, and the systems that have none.
"""

import argparse
import configparser
import json
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import Version

SETUP = Path(__file__).resolve().parents[1] / "setup.cfg"
PYTHONS = [(3, minor) for minor in range(11, 15)]
SYSTEMS = {
    "Linux x86-64": [f"manylinux_2_{minor}_x86_64" for minor in range(5, 35)]
    + ["manylinux2014_x86_64", "manylinux1_x86_64"],
    "Linux Arm": [f"manylinux_2_{minor}_aarch64" for minor in range(17, 35)] + ["manylinux2014_aarch64"],
    "macOS Arm": [f"macosx_{major}_0_{kind}" for major in range(11, 27) for kind in ("arm64", "universal2")]
    + [f"macosx_10_{minor}_universal2" for minor in range(4, 17)],
    "Windows": ["win_amd64"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", metavar="INDEX_URL", help="a simple index, as pip's --index-url")
    parser.add_argument("names", metavar="NAME", nargs="*")
    arguments = parser.parse_args()
    names = arguments.names or sorted(core_packages())
    accepted = {
        (python, system): {*cpython_tags(python, platforms=platforms), *compatible_tags(python, None, platforms)}
        for python in PYTHONS
        for system, platforms in SYSTEMS.items()
    }
    with ThreadPoolExecutor(8) as pool:
        for name, files in zip(names, pool.map(lambda name: wheels(arguments.index, name), names), strict=True):
            newest: dict[tuple[tuple[int, int], str], Version] = {}
            for version, tags in files:
                for place, own in accepted.items():
                    if own & tags and version > newest.get(place, Version("0")):
                        newest[place] = version
            lacking = [
                f"{major}.{minor} {system}"
                for (major, minor), system in accepted
                if ((major, minor), system) not in newest
            ]
            print(
                f"{name} {', '.join(map(str, sorted(set(newest.values()))))}: {'none for ' + ', '.join(lacking) if lacking else 'all'}"
            )


def wheels(index: str, name: str) -> Iterator[tuple[Version, frozenset[Tag]]]:
    """The version and the tags of each wheel of a package that is a release and not withdrawn."""
    accept = {"Accept": "application/vnd.pypi.simple.v1+json"}
    request = urllib.request.Request(f"{index.rstrip('/')}/{canonicalize_name(name)}/", headers=accept)
    with urllib.request.urlopen(request, timeout=60) as answer:
        files = json.load(answer)["files"]
    for file in files:
        try:
            _, version, _, tags = parse_wheel_filename(file["filename"])
        except InvalidWheelFilename:
            continue
        if not (file.get("yanked") or version.is_prerelease):
            yield version, tags


def core_packages() -> set[str]:
    """The packages that the core install brings, as the metadata of the installed ones say."""
    setup = configparser.ConfigParser()
    setup.read(SETUP, encoding="utf-8")
    waiting, names, seen = setup["options"]["install_requires"].split(), set[str](), set[str]()
    while waiting:
        requirement = Requirement(waiting.pop())
        for needed in map(Requirement, metadata.requires(requirement.name) or ()):
            extras = ("", *requirement.extras)
            wanted = needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in extras)
            name = f"{needed.name}[{','.join(needed.extras)}]"
            if wanted and name not in seen:
                seen.add(name)
                waiting.append(name)
        names.add(canonicalize_name(requirement.name))
    return names


if __name__ == "__main__":
    main()
