"""Names: which texts can be a path, a cell of a table or a key, and which known name an unknown one may stand for."""

import difflib
import re
import unicodedata
from collections.abc import Collection, Iterable

MOST = 5  # the most names in a message
# Names that other programs give to a setting or a metric, and which are not like its name here.
SYNONYMS = {
    **{"device": "accelerator", "cuda": "accelerator", "workers": "seeds_in_parallel", "dataset": "suite"},
    **{"model": "method", "benchmark": "suite", "out": "run_dir", "output_dir": "run_dir", "iterations": "max_steps"},
    **{
        "acc": "accuracy",
        "mcc": "matthews",
        "f1_score": "f1",
        "f1_micro": "accuracy",
    },  # of one label a row, micro F1 is the accuracy
}


def is_file_name(name: object) -> bool:
    """Whether this names files and folders on every system, as the ids of tasks and the names of suites do."""
    return isinstance(name, str) and re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}", name) is not None


def one_spelling(name: str) -> str:
    """The name in Unicode's form NFC: letters with accents are one character, not two, so that equal names are equal texts."""
    return unicodedata.normalize("NFC", name)


def text_problem(text: str) -> str | None:
    """Why a text cannot be part of a path or a file; None if it can. In a path that is not valid UTF-8, Python reads each wrong byte as half of a
    surrogate pair."""
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
    last = {key: key.rpartition(".")[2] for key in names}
    sought = name.rpartition(".")[2].lower()
    words = set(sought.split("_"))
    alike = [key for key in names if last[key] == name] or difflib.get_close_matches(name, names, 1)
    # Words of a name, as in hidden, their initials, as in lr, or a synonym.
    parts = {key: last[key].split("_") for key in names}
    forms = {key: ("".join(word[:1] for word in parts[key]), last[key]) for key in names}
    related = [key for key in names if words <= {*parts[key]} or {sought, SYNONYMS.get(sought)} & {*forms[key]}]
    return (alike or related)[:MOST]


def advice(name: str, known: Collection[str], what: str, section: str = "") -> str:
    """The advice of a message about an unknown name: which names may be meant, or else the known names that are most alike.

    Args:
        what: a word for the known names, such as "keys".
        section: the section that all of them are in, with its dot; it is put before each.
    """
    if not known:
        return "none is known here"
    if names := meant(name, known):
        return f"did you mean {' or '.join(section + known_name for known_name in names)}?"
    alike = sorted(difflib.get_close_matches(name, sorted(known), MOST, 0.0))
    rest = len(known) - len(alike)
    return (
        f"known {what}: {', '.join(section + known_name for known_name in alike)}{f', and {rest} more' if rest else ''}"
    )
