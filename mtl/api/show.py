"""What a notebook shows: Markdown, and tables as DataFrames of pandas, which is imported when one is made."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mtl.base.extras import check_installed

if TYPE_CHECKING:
    from pandas import DataFrame

EXTRA = "notebook"  # the extra with pandas and matplotlib


class MarkdownText(str):
    """A table and its notes as Markdown, which also reads well as plain text; a notebook renders it.

    What strangers write into the files of a run is shown, and never becomes HTML, a picture, or a link that hides its address.

    >>> MarkdownText("| [<b>]( |")
    | [<b>]( |
    >>> MarkdownText("| [<b>]( |")._repr_markdown_()
    '| &#91;&#60;b>]( |'
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_markdown_(self) -> str:
        return re.sub(r"\\?([<\[])", lambda match: f"&#{ord(match[1])};", self)


def frame(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> "DataFrame":
    """A DataFrame of rows. Raises InputError if pandas is not installed."""
    check_installed(EXTRA, "pandas")
    import pandas

    return pandas.DataFrame(list(rows), columns=list(columns))


def grid(cells: Mapping[Any, Mapping[Any, Any]], index: str, columns: str) -> "DataFrame":
    """A DataFrame of cells by row, then by column; `index` and `columns` say what these are. Raises InputError if pandas is not installed."""
    check_installed(EXTRA, "pandas")
    import pandas

    return pandas.DataFrame.from_dict(dict(cells), orient="index").rename_axis(index=index, columns=columns)
