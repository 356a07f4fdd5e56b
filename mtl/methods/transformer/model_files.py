"""Checks of a transformer's files, which someone else wrote, before the library transformers reads them.
A `config.json` of a few bytes may ask for terabytes or for years, and the rules of a `tokenizer.json` may double a text again and again."""

import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from math import prod
from pathlib import Path
from typing import Any, TypedDict

from mtl.base.errors import InputError
from mtl.base.untrusted import read_json

AGAIN = "restore the folder's files, or fetch or write them again"
WEIGHTS = (".safetensors", ".bin")  # ends of the names of files with weights
COUNTED_PARTS = ("layer", "block", "group", "expert", "depth")  # in keys of config.json
MOST_LAYERS = 512  # of each of these parts
MOST_POSITIONS = 2**21
LARGEST_INTEGER = 2**63 - 1  # of torch
MOST_RULES = 100  # of a tokenizer
MOST_TOKENS = 2**24  # of a tokenizer
MOST_GROWTH = 1000  # characters or tokens that a tokenizer's rules may make of one
HUB_NAME = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?")  # of a model: NAME or OWNER/NAME
RulesKnown = Callable[[Mapping[str, Any]], bool]  # whether the rules of a tokenizer.json with this content are known


class Index(TypedDict):
    """`model.safetensors.index.json`: the file of each weight."""

    weight_map: dict[str, str]


def check_folder(folder: Path, rules_known: RulesKnown | None = None) -> None:
    """Raise InputError for a folder that is not safe to open: with links other than those of a Hub's cache, files in other folders, an adapter,
    absurd sizes, or rules, unless they are known, that make texts far longer."""
    for path in folder.iterdir():
        is_in_cache = path.exists() and path.resolve().parent.name == "blobs"
        if path.is_symlink() and not is_in_cache:
            raise InputError("is a link; a transformer's folder holds only files: put the file itself there", path=path)
        if not stat.S_ISREG(path.stat().st_mode) and not path.is_dir():
            raise InputError("is not a file; put a file there, or remove it", path=path)
        if path.name.endswith(".index.json"):
            named = read_json(path, Index, AGAIN)["weight_map"].values()
            if outside := [name for name in named if Path(name).name != name]:
                raise InputError(f"{outside[0]!r} is no file of this folder; {AGAIN}", path=path, key="weight_map")
    if (adapter := folder / "adapter_config.json").exists():
        raise InputError("is an adapter, which is not read; merge it into its model, and save that", path=adapter)
    if (folder / "config.json").is_file():
        check_config(folder / "config.json")
    rules = folder / "tokenizer.json"
    if rules.is_file():
        check_tokenizer(rules, rules_known)


def stored_weights(folder: Path) -> int:
    """The most weights that the files of a folder can hold, at a byte for each."""
    return sum(path.stat().st_size for path in folder.iterdir() if path.name.endswith(WEIGHTS))


def check_config(path: Path) -> None:
    """Raise InputError for a `config.json` with sizes that no transformer has, or with settings that change how it computes."""
    pending: list[Any] = [read_json(path, dict[str, Any], AGAIN) | {"label2id": None}]  # whose keys are labels
    while pending:
        settings = pending.pop()
        pending += [value for value in _values(settings) if isinstance(value, dict | list)]
        for key, value in settings.items() if isinstance(settings, dict) else ():
            if _is_unsupported(key, value):
                message = f"such a setting is not supported; set it to null where you trust the folder, or {AGAIN}"
                raise InputError(message, path=path, key=key)
            most = _largest_value(key.lower())
            for number in value if isinstance(value, list) else [value]:
                if isinstance(number, int) and number > most:
                    message = f"{number} is more than any transformer has ({most:,} at most); {AGAIN}"
                    raise InputError(message, path=path, key=key)


def _is_unsupported(key: str, value: Any) -> bool:
    """Whether a setting computes in chunks, or with an implementation of others: with a slash, its name is a repository of code on the Hub."""
    if key.endswith("_implementation"):
        return value is not None and (not isinstance(value, str) or "/" in value)
    return key == "chunk_size_feed_forward" and bool(value)


def _largest_value(key: str) -> int:
    """The largest value that a key of config.json may have, alone or in a list."""
    if any(part in key for part in COUNTED_PARTS) and ("size" not in key or key == "block_sizes"):
        return MOST_LAYERS  # the block sizes of a Funnel are numbers of layers
    if "num_labels" in key:
        return MOST_TOKENS
    return MOST_POSITIONS if "position" in key or "n_ctx" in key else LARGEST_INTEGER


def check_tokenizer(path: Path, rules_known: RulesKnown | None = None) -> None:
    """Raise InputError for a `tokenizer.json` with ids of tokens that no table holds, or rules that make texts far longer, unless they are known."""
    content = read_json(path, dict[str, Any], AGAIN)
    model, added = content.get("model"), content.get("added_tokens")
    ids = _values(model.get("vocab") if isinstance(model, dict) else None)
    ids += [token.get("id") for token in _values(added) if isinstance(token, dict)]
    last = max((number for number in ids if isinstance(number, int)), default=0)
    if last >= MOST_TOKENS:
        raise InputError(f"names a token {last}, and no tokenizer has {MOST_TOKENS:,}; {AGAIN}", path=path)
    rules = [rule for part in ("normalizer", "pre_tokenizer", "post_processor") for rule in _rules(content.get(part))]
    if len(rules) > MOST_RULES:
        raise InputError(f"has {len(rules):,} rules for texts ({MOST_RULES} at most); {AGAIN}", path=path)
    growth = prod(map(_growth, rules))
    if growth > MOST_GROWTH and not (rules_known and rules_known(content)):
        message = f"its rules make a text up to {growth:.0e} times longer ({MOST_GROWTH:,} at most); {AGAIN}"
        raise InputError(message, path=path)


def _rules(part: Any) -> Iterator[dict[str, Any]]:
    """The rules of a part of a tokenizer, which may be sequences of rules."""
    pending = [part]
    while pending:
        rule = pending.pop()
        if isinstance(rule, dict):
            yield rule
            inner = (rule.get(key) for key in ("normalizers", "pretokenizers", "processors"))
            pending += [nested for rules in inner if isinstance(rules, list) for nested in rules]


def _growth(rule: dict[str, Any]) -> float:
    """How many times longer a rule may make a text."""
    kind, content, pattern = rule.get("type"), rule.get("content"), rule.get("pattern")
    if kind == "Replace":
        written = len(content) if isinstance(content, str) else 0
        literal = pattern.get("String") if isinstance(pattern, dict) else None
        # A regular expression may match nothing at all: then the content stands between all characters.
        return max(1.0, written / len(literal)) if isinstance(literal, str) and literal else 1.0 + written
    if kind == "TemplateProcessing":
        return max(1.0, _copies(rule.get("single")), _copies(rule.get("pair")) / 2)
    # A character has up to 4 bytes, and a table of characters that is compiled may write several for one.
    return {"ByteLevel": 4.0, "Precompiled": 10.0}.get(str(kind), 1.0)


def _copies(pieces: Any) -> int:
    """How many copies of texts a template has."""
    return sum(isinstance(piece, dict) and "Sequence" in piece for piece in _values(pieces))


def _values(container: Any) -> list[Any]:
    """The values of an object or a list; none of anything else."""
    if isinstance(container, dict):
        return list(container.values())
    return container if isinstance(container, list) else []


def check_place(key: str, name: str) -> None:
    """Raise InputError for a folder that does not exist or holds no model, and for what cannot be a name on the Hub."""
    folder = Path(name)
    if folder.is_dir():
        if key == "transformer.path" and not (folder / "config.json").is_file():
            raise InputError("is no folder of a transformer: it has no config.json", key=key, value=name)
        return
    if folder.exists():
        raise InputError("is a file; name the folder that holds it", key=key, value=name)
    is_in_folder = folder.parent != Path() and folder.parent.is_dir()
    if is_in_folder or name.startswith((".", "~", os.sep)) or not HUB_NAME.fullmatch(name):
        message = "no such folder, and not a name on the Hugging Face Hub, as in OWNER/NAME"
        raise InputError(message, key=key, value=name)
