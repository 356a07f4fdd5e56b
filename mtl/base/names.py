"""Names: which texts can be a path, a cell of a table or a key, and which known name an unknown one may stand for."""

import difflib
import json
import re
import unicodedata
from collections.abc import Collection, Iterable
from pathlib import Path

MOST = 5  # the most names in a message
# Of other programs: for a name of a setting, a method or a metric the names that it may have here ("synonyms"), and for a setting without one
# what stands here in its place ("absent").
_OTHERS = json.loads(Path(__file__).with_suffix(".json").read_bytes())
SYNONYMS: dict[str, list[str]] = _OTHERS["synonyms"]
ABSENT: dict[str, str] = _OTHERS["absent"]


def is_file_name(name: object) -> bool:
    """Whether this names files and folders on every system, but for names such as CON on Windows, as the ids of tasks and the names of suites do."""
    return isinstance(name, str) and re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}", name) is not None


def one_spelling(name: str) -> str:
    """The name in Unicode's form NFC: letters with accents are one character, not two, so that equal names are equal texts."""
    return unicodedata.normalize("NFC", name)


def text_problem(text: str) -> str | None:
    """Why a text cannot be part of a path or a file; None if it can. Python reads a byte that is no UTF-8 as half a surrogate pair."""
    if "\0" in text:
        return "holds the character NUL, which no name and no text has; leave it out"
    if any("\ud800" <= sign <= "\udfff" for sign in text):
        return "is not valid UTF-8; give the file or the folder another name, or write the text as UTF-8"
    return None


def meant(name: str, known: Iterable[str]) -> list[str]:
    """The known names, dotted or not, that an unknown one may stand for; at most `MOST`.
    >>> meant("lr", ["pretrain.learning_rate", "pretrain.final_learning_rate", "seeds"])
    ['pretrain.learning_rate']
    """
    names = sorted(known)
    sought = name.rpartition(".")[2].lower().replace("-", "_")
    spellings = {name, *SYNONYMS.get(sought, [])}
    exact = [key for key in names if key in spellings or key.rpartition(".")[2] in spellings]
    fitting = exact or [key for key in names if _shortens(sought, key.rpartition(".")[2])]
    in_section = [key for key in fitting if "." in name and key.startswith(f"{name.partition('.')[0]}.")]
    return (in_section or fitting or difflib.get_close_matches(name, names, 1))[:MOST]


def _shortens(sought: str, name: str) -> bool:
    """Whether what is sought is the initials of the name's words, as in lr, or some of its words, as in hidden, or all of them."""
    words = name.split("_")
    return sought == "".join(word[:1] for word in words) or set(sought.split("_")) <= set(words)


def advice(name: str, known: Collection[str], what: str, section: str = "") -> str:
    """Advice on an unknown name: which names may be meant, or else those most alike, each after the `section`; `what` is a word such as "keys"."""
    if not known:
        return "none is known here"
    if names := meant(name, known):
        return f"did you mean {' or '.join(section + known_name for known_name in names)}?"
    alike = sorted(difflib.get_close_matches(name, sorted(known), MOST, 0.0))
    shown = [section + known_name for known_name in alike]
    if len(alike) < len(known):
        shown.append(f"and {len(known) - len(alike)} more")
    return f"known {what}: {', '.join(shown)}"
