"""The files of settings that a run names: its method, embeddings, variant, architecture and preset."""

import re
from pathlib import Path
from typing import Any

from mtl.config.files import find_yaml, flatten
from mtl.config.schema import CHOICES, LOCATIONS
from mtl.embedders import EMBEDDERS
from mtl.errors import InputError
from mtl.methods import METHODS, method_name
from mtl.untrusted import read_yaml

SETTINGS_KINDS = ("architecture", "preset")  # kinds of files that change any settings


def read_method(name: str, folder: Path) -> dict[str, Any]:
    """The content of the method file with this name or path. A method without a file has no settings."""
    if name in METHODS and not (folder / f"{name}.yaml").is_file():
        return {"method": name}
    content = read_yaml(find_yaml("method", name, folder))
    return {**content, "method": method_name(str(content.get("method")))}


def read_named(kind: str, name: str, folder: Path) -> dict[str, Any]:
    """The content of the file with this name or path, which holds its own name under the key `kind`, as in `variant: frozen`."""
    path = find_yaml(kind, name, folder)
    content = read_yaml(path)
    if not re.fullmatch(r"\w[\w.+-]*", str(content.get(kind, ""))):
        raise InputError(f"{path}: {kind}: must be its name, of letters, digits and _ . + -")
    return {**content, kind: str(content[kind])}


def read_settings(kind: str, name: str, folder: Path, embeddings: str) -> dict[str, Any]:
    """The settings of the architecture or preset with this name or path. kind: "architecture" or "preset".

    Its section `embeddings` has a section for each kind of embeddings; only that of `embeddings` applies.
    """
    content = read_named(kind, name, folder)
    if wrong := [key for key in CHOICES if key in content and key != kind]:
        raise InputError(f"{kind}={name}: {wrong[0]}: only the command line and sweeps choose it")
    # Runs are told apart by these names, and both kinds stand in the same place of a run's name.
    for other in SETTINGS_KINDS:
        own = find_yaml(kind, name, folder).resolve() != (folder / f"{content[kind]}.yaml").resolve()
        if own and (folder.parent / other / f"{content[kind]}.yaml").is_file():
            raise InputError(f"{kind}={name}: {content[kind]} is the name of a shipped {other}; choose another name")
    sections = content.pop("embeddings", {})
    if not isinstance(sections, dict) or not all(isinstance(section, dict) for section in sections.values()):
        raise InputError(
            f"{kind}={name}: embeddings: must hold a section for each kind of embeddings, as in {{fasttext: {{dropout: 0.1}}}}"
        )
    if unknown := sorted(map(str, set(sections) - set(EMBEDDERS))):
        raise InputError(f"{kind}={name}: embeddings.{unknown[0]}: no such embeddings; known: {', '.join(EMBEDDERS)}")
    for name_of, section in sections.items():
        if unknown := sorted(map(str, set(section) - set(EMBEDDERS[name_of].options.__dataclass_fields__))):
            raise InputError(f"{kind}={name}: embeddings.{name_of}.{unknown[0]}: {name_of} embeddings have no such key")
    settings = {**content, "embeddings": sections.get(embeddings, {})}
    if locations := [key for key in flatten(settings) if key in LOCATIONS]:
        raise InputError(f"{kind}={name}: {locations[0]}: only the command line says where files are")
    if "name" in settings["embeddings"]:
        raise InputError(f"{kind}={name}: embeddings.{embeddings}.name: only the command line and sweeps choose it")
    return settings
