"""How a data file is read: its form, its columns, and the part of it that is meant."""

import re
from codecs import lookup
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

FORMS = ("tsv", "csv", "jsonl", "json", "parquet", "txt", "fasttext", "conll")  # the forms of data files
# The columns of `Reading.spans`: those of the spans are keys, or places, below one list, so their first keys are the same.
SPANS = re.compile(r"[^ ]+ \+ ([^ .]+)\.[^ ]+\[\]( \+ \1\.[^ ]+\[\]){2}")
NOT_OF_FILES = ("punycode", "idna", "undefined")  # codecs of text, but not of files


@dataclass(frozen=True)
class Reading:
    """How data files are read, where their names do not say so.

    Args:
        form: `tsv`, `csv`, `jsonl`, `json`, `parquet`; `txt`, with a text a line; `fasttext`, with `__label__` before the text; `conll`, with a
            token and its labels a line; default: what the suffix says
        spans: of files of objects: the column of a text, and of the first characters, the ends and the types of spans in it, as in
            `"text + labels.start[] + labels.end[] + labels.type[]"`. They become the columns `tokens[]` and `tags[]`"""

    form: str | None = None
    separator: str | None = None  # between the cells of a tsv or csv file, as in `";"`; default: a tab, a comma
    quoted: bool | None = None  # whether cells of a tsv or csv file may stand in quotes; default: those of csv
    encoding: str | None = None  # of text, as in `cp1250`; default: `utf-8`, or what a byte order mark says
    spans: str | None = None

    @property
    def problem(self) -> str | None:
        """The error in this declaration, as "key: message", or None."""
        if self.form not in (None, *FORMS):
            return f"form: unknown form {self.form!r}, expected one of {', '.join(FORMS)}"
        if self.separator is not None and (len(self.separator) != 1 or self.separator in '"\r\n'):
            return "separator: is one character, neither a quote nor a line end"
        if self.encoding is not None and not _is_encoding(self.encoding):
            return f"encoding: {self.encoding!r} is no encoding of text; utf-8, utf-16, cp1252 and so on are"
        if self.spans is not None and not SPANS.fullmatch(self.spans):
            return 'spans: four columns are needed, as in "text + labels.start[] + labels.end[] + labels.type[]"; three of one list'
        return None


def _is_encoding(name: str) -> bool:
    """Whether files of text may have this encoding. `decode` itself refuses codecs that give bytes."""
    try:
        return isinstance(b"a".decode(name, "ignore"), str) and lookup(name).name not in NOT_OF_FILES
    except (LookupError, ValueError):
        return False


@dataclass(frozen=True)
class Layout:
    """How the file of one split is read."""

    header: Sequence[str] | None = None  # the columns of a file without a header line
    reading: Reading = Reading()
    part: str | None = None  # a key of a JSON object, `COLUMN=VALUE`, or NUMBERED: the rows of the file; None: all
    beside: Path | None = None  # a second file, whose line n has a further column of row n
