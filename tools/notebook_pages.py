"""A hook of MkDocs: each notebook in docs/notebooks is a page of the site, NAME.md in its navigation, with the outputs that are stored in it."""

import json
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Put a page in the place of each notebook."""
    for path in notebooks(config):
        if notebook := files.get_file_from_path(f"notebooks/{path.name}"):
            files.remove(notebook)
        content = page(json.loads(path.read_text(encoding="utf-8")))
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=content))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Let links to notebooks lead to their pages."""
    return re.sub(r"(\]\([^)]*notebooks/[\w-]+)\.ipynb\)", r"\1.md)", markdown)


def notebooks(config: MkDocsConfig) -> list[Path]:
    """The notebooks, in the order of their names."""
    return sorted((Path(config.docs_dir) / "notebooks").glob("*.ipynb"))


def page(notebook: dict[str, Any]) -> str:
    """The Markdown of a notebook."""
    parts = []
    for cell in notebook["cells"]:
        source = joined(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
        elif cell["cell_type"] == "code" and source:
            parts.append(f"```python\n{source}\n```")
            parts += [output(entry) for entry in cell["outputs"]]
    return "\n\n".join(part for part in parts if part) + "\n"


def output(entry: dict[str, Any]) -> str:
    """What a cell shows: the richest form that a page can show."""
    data = {"text/plain": entry.get("text", "")} if entry["output_type"] == "stream" else entry.get("data", {})
    if "text/html" in data:
        lines = [
            line for line in joined(data["text/html"]).splitlines() if line.strip()
        ]  # a blank line would end the block
        return "<div class='jp-output'>\n" + "\n".join(lines) + "\n</div>"
    for kind in ("image/png", "image/jpeg"):
        if kind in data:
            return f"<img alt='The output of the cell above' src='data:{kind};base64,{joined(data[kind]).strip()}'>"
    if "image/svg+xml" in data:
        return f"<div class='jp-output'>\n{joined(data['image/svg+xml'])}\n</div>"
    text = joined(data.get("text/plain", "")).rstrip()
    return f"```text\n{text}\n```" if text else ""


def joined(text: str | list[str]) -> str:
    """A text that a notebook keeps as one or as lines."""
    return text if isinstance(text, str) else "".join(text)
