"""The documents: the reference, settings, file names, links, commands and examples are those of the code."""

import re
from collections.abc import Iterator
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from mtl.base.typed import declared_keys
from mtl.benchmark_making.make.recipe import load_recipe
from mtl.data.examples import read_examples, span_texts
from mtl.embedders import EMBEDDERS
from mtl.jobs.sweep import load_sweep
from mtl.settings.schema import Config
from mtl.tasks.suite import load_suite
from mtl.vectors.mteb.benchmark import load_benchmark

ROOT = Path(__file__).parents[1]
DOCUMENTS = [
    *(ROOT / "README.md", ROOT / "embeddings/README.md"),
    *sorted(path for folder in ("docs", "experiments") for path in (ROOT / folder).rglob("*.md")),
]


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "tools")
        return import_module("reference")


def test_the_reference_says_what_the_declarations_say(reference: ModuleType) -> None:
    for path, text in reference.pages().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: run tools/reference.py"
        without = [line for line in text.splitlines() if line.startswith("| `") and line.endswith("|  |")]
        assert without == [], f"{path.name}: no meaning"


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_settings_that_a_document_names_exist(document: Path, reference: ModuleType) -> None:
    known = {key for key, _ in declared_keys(Config)}
    known |= {f"embeddings.{item.name}" for kind in EMBEDDERS.values() for item in fields(kind.options)}
    sections = {key.partition(".")[0] for key in known if "." in key}
    named = re.findall(rf"(?<![\w/.])(?:{'|'.join(sections)})\.[a-z_]+(?![\w/])", document.read_text(encoding="utf-8"))
    assert sorted(set(named) - known) == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_links_and_file_names_lead_somewhere(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if not link.startswith("http")]
    wrong = [link for link in links if not leads_somewhere(link, document)]
    files = re.findall(
        r"(?<![\w/.}-])(?:mtl|benchmarks|configs|tests|docs|experiments)/[\w/.-]+\.(?:py|yaml|md|svg|png)\b", text
    )
    assert wrong + [name for name in files if not (ROOT / name).exists() and "NAME" not in name] == []


def leads_somewhere(link: str, document: Path) -> bool:
    """Whether the file of a relative link exists, and has the heading that the link names, if any."""
    name, _, anchor = link.partition("#")
    target = document.parent / name if name else document
    if not anchor:
        return target.exists()
    headings = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return anchor in [re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings]


def code_blocks(name: str, language: str) -> Iterator[str]:
    """The code blocks of a document in a language."""
    yield from re.findall(rf"^```{language}\n(.*?)^```$", read(name), flags=re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_the_example_of_a_sweep_is_right(tmp_path: Path) -> None:
    (example,) = code_blocks("docs/how-to/sweeps.md", "yaml")
    path = tmp_path / "sweep.yaml"
    path.write_text(example, encoding="utf-8")
    names = [run.name for run in load_sweep(str(path), {"suite": "klej-sample"}).runs]
    assert len(names) == 5 and names[-1] == "tiny"
    assert names[0] == "random-frozen,encoder.hidden_size=256"
    assert f"`{names[0]}`" in read("docs/how-to/sweeps.md")


def test_the_example_of_a_benchmark_is_right(tmp_path: Path) -> None:
    path = tmp_path / "sv-small.yaml"
    path.write_text(next(code_blocks("docs/how-to/mteb.md", "yaml")), encoding="utf-8")
    assert len(load_benchmark(path).tasks) == 2


def test_the_example_of_a_suite_is_right(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(next(code_blocks("docs/how-to/own-suite.md", "yaml")), encoding="utf-8")
    assert list(load_suite(path).tasks) == ["sentiment", "similarity"]


def test_the_example_of_spans_is_right(tmp_path: Path) -> None:
    (declared,) = [block for block in code_blocks("docs/how-to/own-suite.md", "yaml") if "spans:" in block]
    (tmp_path / "mine.yaml").write_text(f"name: mine\ntasks:\n{declared}", encoding="utf-8")
    task = load_suite(tmp_path / "mine.yaml").tasks["coreference"]
    row = next(code_blocks("docs/how-to/own-suite.md", "json")).replace("\n ", " ")
    (tmp_path / "x.jsonl").write_text(row, encoding="utf-8")
    (example,) = read_examples(task, tmp_path / "x.jsonl")
    assert span_texts(task, example.texts, example.spans) == ("she", "Anna")
    assert repr([list(example.row)]).replace("'", '"') in read("docs/how-to/predict.md")


def test_the_shipped_recipes_are_shown() -> None:
    blocks = list(code_blocks("docs/explanation/klej-constructions.md", "yaml"))
    for path in sorted((ROOT / "configs/recipe").glob("*.yaml")):
        text = path.read_text(encoding="utf-8")
        assert text[text.index("sources:") : text.index("tasks:")] in blocks, path.stem


def test_the_example_of_a_recipe_is_right(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(next(code_blocks("docs/how-to/making-tasks.md", "yaml")), encoding="utf-8")
    assert [use.name for use in load_recipe(path).uses] == ["keep", "duplicates", "map", "split"]
