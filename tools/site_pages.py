"""A hook of MkDocs: notebooks and experiments are pages of the site.

It runs each notebook in docs/notebooks and makes it the page NAME.md, with its outputs. The site is built only if every cell runs.
`MTL_NOTEBOOKS=skip` shows the cells without outputs, which takes seconds instead of minutes.
"""

import os
import re
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Put a page in the place of each notebook, and add the experiments."""
    for path in notebooks(config):
        if notebook := files.get_file_from_path(f"notebooks/{path.name}"):
            files.remove(notebook)
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=page(executed(path))))
    root = Path(config.docs_dir).parent
    shown = (path for path in (root / "experiments").rglob("*") if path.suffix in {".md", ".svg", ".png"})
    for path in sorted(shown):
        files.append(File.generated(config, path.relative_to(root).as_posix(), abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Let links to notebooks, and those between docs/ and experiments/, lead to their pages."""
    markdown = re.sub(r"(\]\([^)]*notebooks/[\w-]+)\.ipynb\)", r"\1.md)", markdown)
    if page.file.src_uri.startswith("experiments/"):
        return markdown.replace("/docs/", "/")
    return re.sub(r"(\]\((?:\.\./)*)\.\./experiments/", r"\1experiments/", markdown)


def notebooks(config: MkDocsConfig) -> list[Path]:
    """The notebooks, in the order of their names."""
    return sorted((Path(config.docs_dir) / "notebooks").glob("*.ipynb"))


def executed(path: Path) -> Any:
    """The notebook with the outputs of its cells, which run in an empty folder."""
    notebook = nbformat.read(path, as_version=4)
    if os.environ.get("MTL_NOTEBOOKS") != "skip":
        from nbclient import NotebookClient

        with tempfile.TemporaryDirectory() as folder:
            NotebookClient(notebook, timeout=None, resources={"metadata": {"path": folder}}).execute()
    return notebook


def page(notebook: dict[str, Any]) -> str:
    """The Markdown of a notebook."""
    parts = []
    for cell in notebook["cells"]:
        source = joined(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
        elif cell["cell_type"] == "code" and source:
            parts.append(f"```python\n{source}\n```")
            parts += [output(entry) for entry in cell["outputs"] if entry.get("name") != "stderr"]
    return "\n\n".join(part for part in parts if part) + "\n"


def output(entry: dict[str, Any]) -> str:
    """What a cell shows: the richest form that a page can show."""
    data = {"text/plain": entry.get("text", "")} if entry["output_type"] == "stream" else entry.get("data", {})
    if "text/markdown" in data:
        return joined(data["text/markdown"])
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
