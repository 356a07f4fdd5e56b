"""The page of `mtl report`: one self-contained HTML file that needs no network."""

import base64
import hashlib
import html
import json
import math
from pathlib import Path
from string import Template
from typing import Any

HERE = Path(__file__).parent
LIBRARIES = (  # each with the files of its licences
    ("table-core.production.js", ("table-core.LICENSE",)),
    ("d3.min.js", ("d3.LICENSE",)),
    ("plot.umd.min.js", ("plot.LICENSE", "plot-bundled.LICENSE")),
)
# Joined in this order into one script with one scope: a file may use constants of the files before it.
SCRIPTS = (
    *("elements.js", "format.js", "model.js", "columns.js", "cells.js", "figure.js", "curves.js", "predictions.js"),
    *("details.js", "pager.js", "board.js", "notes.js", "sections.js", "scores.js", "cost.js", "plots.js"),
    *("controls.js", "main.js"),
)


def render_page(report: dict[str, Any]) -> str:
    """The report as an HTML page. All texts of the report are shown as text, even if they contain markup."""
    code = "\n".join(map(_read, SCRIPTS))
    scripts = [_library(*library) for library in LIBRARIES] + [f'(() => {{\n"use strict";\n{code}}})();\n']
    return Template(_read("page.html")).substitute(
        title=html.escape(report["title"]),
        policy=content_policy(scripts),
        style=_read("page.css"),
        data=embedded_json(report),
        scripts="\n".join(f"<script>{script}</script>" for script in scripts),
    )


def render_static(title: str, body: str) -> str:
    return Template(_read("static.html")).substitute(title=html.escape(title), style=_read("page.css"), body=body)


def _read(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def _library(file: str, licences: tuple[str, ...]) -> str:
    """A library's code with its licences, without the reference to a source map, which a browser would try to load."""
    lines = _read(f"vendor/{file}").splitlines()
    code = "\n".join(line for line in lines if not line.startswith("//# sourceMappingURL="))
    licence_texts = "\n".join(_read(f"vendor/{licence}").strip() for licence in licences)
    return f"/*\n{licence_texts}\n*/\n{code}\n"


def content_policy(scripts: list[str]) -> str:
    """A Content-Security-Policy that allows only these scripts to run."""
    hashes = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    sources = f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:"
    return f"{sources}; base-uri 'none'; form-action 'none'"


def embedded_json(content: dict[str, Any]) -> str:
    """Content of a page as JSON that cannot end the script element that contains it."""
    text = json.dumps(_finite(content), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _finite(value: Any) -> Any:
    """Content without NaN and infinity, which JSON does not have: None stands in their place."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
