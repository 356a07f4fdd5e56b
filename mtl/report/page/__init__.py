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
LIBRARIES = (
    ("table-core.production.js", ("table-core.LICENSE",)),
    ("d3.min.js", ("d3.LICENSE",)),
    ("plot.umd.min.js", ("plot.LICENSE", "plot-bundled.LICENSE")),
)
# In the order in which they build on each other; together they are one script with one scope.
OWN = (
    "elements.js",
    "format.js",
    "model.js",
    "columns.js",
    "cells.js",
    "figure.js",
    "curves.js",
    "predictions.js",
    "details.js",
    "board.js",
    "notes.js",
    "scores.js",
    "cost.js",
    "plots.js",
    "controls.js",
    "main.js",
)


def render_page(report: dict[str, Any]) -> str:
    """The report as an HTML page; every text in it is shown as text, whatever it contains."""
    scripts = [*(_library(file, licences) for file, licences in LIBRARIES), _own()]
    return Template(_read("page.html")).substitute(
        title=html.escape(report["title"]),
        policy=_policy(scripts),
        style=_read("page.css"),
        data=_embedded(report),
        scripts="\n".join(f"<script>{script}</script>" for script in scripts),
    )


def _read(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def _library(file: str, licences: tuple[str, ...]) -> str:
    """A library under its licences, without the pointer to a source map, which a browser would look for."""
    lines = _read(f"vendor/{file}").splitlines()
    code = "\n".join(line for line in lines if not line.startswith("//# sourceMappingURL="))
    terms = "\n".join(_read(f"vendor/{licence}").strip() for licence in licences)
    return f"/*\n{terms}\n*/\n{code}\n"


def _own() -> str:
    return '(() => {\n"use strict";\n' + "\n".join(_read(name) for name in OWN) + "})();\n"


def _policy(scripts: list[str]) -> str:
    """The Content-Security-Policy under which the page's own scripts run, and nothing else does."""
    hashes = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _embedded(report: dict[str, Any]) -> str:
    """The report as JSON that cannot end the element which it stands in."""
    text = json.dumps(_finite(report), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _finite(value: Any) -> Any:
    """JSON knows no NaN: a diverged loss, the correlation of a constant. They are unknown values here."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
