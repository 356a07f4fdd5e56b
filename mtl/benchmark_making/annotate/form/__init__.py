"""The form that people answer rows in: one self-contained HTML file that needs no network. It holds texts, and no label of a row."""

import html
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import Any

from mtl.reports.page import content_policy, embedded_json

HERE = Path(__file__).parent
COLUMNS = ("task", "sample", "name", "line", "answer")  # of the file that it exports, as form.js writes it


def is_answers(path: Path) -> bool:
    """Whether this is, by its name, a file that the form exported."""
    return path.suffix.lower() == ".tsv"


def render_form(content: Mapping[str, Any]) -> str:
    """The form as an HTML page. All texts of the content are shown as text, even if they contain markup."""
    script = _read("form.js")
    return Template(_read("form.html")).substitute(
        title=html.escape(f"{content['title']}, {content['suite']}"),
        policy=content_policy([script]),
        style=_read("form.css"),
        data=embedded_json(dict(content)),
        script=script,
    )


def _read(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")
