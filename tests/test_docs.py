"""The documents: settings, file names, links and examples are those of the code."""

import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml
from omegaconf import MISSING

from mtl.data.examples import read_examples, span_texts
from mtl.embedders.elmo.training import ELMoTraining
from mtl.embedders.fasttext import FastTextTraining
from mtl.encoders.average import AverageSettings
from mtl.encoders.run import RunSettings
from mtl.encoders.transformer import TransformerSettings
from mtl.jobs.sweep import load_sweep
from mtl.make.recipe import load_recipe
from mtl.make.steps import STEPS
from mtl.mteb.benchmark import ModelFacts, MtebSettings, load_benchmark
from mtl.similarity.comparison import SimilarityOptions
from mtl.tasks.metrics import METRICS
from mtl.tasks.suite import load_suite
from mtl.tasks.targets import TARGET_KINDS

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", ROOT / "embeddings/README.md", *sorted((ROOT / "docs").glob("*.md"))]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def read_table(text: str, first: str) -> dict[str, list[str]]:
    """The cells of the table whose header begins with these cells, by the content of each row's first cell, a code span."""
    lines = iter(text[text.index(f"\n{first}") + 1 :].splitlines())
    header = [cell.strip() for cell in next(lines).split("|")[1:-1]]
    rows = {"": header[1:]}
    next(lines)
    for line in lines:
        if not line.startswith("|"):
            break
        key, *cells = (cell.strip() for cell in line.split("|")[1:-1])
        assert key.strip("`") not in rows, f"{key} is listed twice"
        rows[key.strip("`")] = cells
    return rows


def value(cell: str) -> Any:
    """The YAML value in a code span."""
    assert re.fullmatch("`[^`]+`", cell), f"{cell} is not a code span"
    return yaml.safe_load(cell.strip("`"))


def test_the_tables_of_keys_say_what_the_declarations_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "tools")
    from reference import documents

    for path, text in documents().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: run tools/reference.py"


def test_the_embeddings_table_lists_the_defaults_of_each_kind() -> None:
    rows = read_table(read("docs/configuration.md"), "| key | random |")
    names = rows.pop("")[:-1]
    assert sorted(names) == sorted(path.stem for path in (ROOT / "configs/embeddings").iterdir())
    for place, name in enumerate(names):
        content = yaml.safe_load(read(f"configs/embeddings/{name}.yaml"))
        defaults = {f"embeddings.{key}": of for key, of in content.items() if key not in ("name", "config")}
        assert {key: value(cells[place]) for key, cells in rows.items() if cells[place] != "–"} == defaults


@pytest.mark.parametrize("training", [FastTextTraining, ELMoTraining])
def test_every_setting_of_a_training_is_listed(training: type) -> None:
    text = read("docs/embeddings.md")
    assert [field.name for field in fields(training) if f"`{field.name}`" not in text] == []


@pytest.mark.parametrize(
    ("settings", "column"),
    [
        (RunSettings, "key of a run"),
        (AverageSettings, "key of `average`"),
        (TransformerSettings, "key of `transformer`"),
    ],
)
def test_the_tables_of_encoders_list_the_defaults(settings: type, column: str) -> None:
    rows = read_table(read("docs/encoders.md"), f"| {column} |")
    del rows[""]
    assert {key: value(cells[0]) for key, cells in rows.items()} == {key.name: key.default for key in fields(settings)}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_settings_that_a_document_names_exist(document: Path) -> None:
    tables = [read_table(read("docs/configuration.md"), f"| key | {column} |") for column in ("default", "random")]
    known = set().union(*tables)
    sections = {key.partition(".")[0] for key in known if "." in key}
    named = re.findall(rf"(?<![\w/.])(?:{'|'.join(sections)})\.[a-z_]+(?![\w/])", document.read_text(encoding="utf-8"))
    assert sorted(set(named) - known - {"embeddings.md"}) == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_and_file_names_lead_somewhere(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if not link.startswith("http")]
    wrong = [link for link in links if not leads_somewhere(link, document)]
    files = re.findall(r"(?<![\w/.}-])(?:mtl|benchmarks|configs|tests|docs)/[\w/.-]+\.(?:py|yaml|md|svg|png)\b", text)
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
    (example,) = code_blocks("docs/running.md", "yaml")
    path = tmp_path / "sweep.yaml"
    path.write_text(example, encoding="utf-8")
    names = [run.name for run in load_sweep(str(path), {"suite": "klej-sample"}).runs]
    assert len(names) == 5 and names[-1] == "tiny"
    assert names[0] == "random-frozen,encoder.hidden_size=256"
    assert f"`{names[0]}`" in read("docs/running.md")


def test_the_example_of_a_benchmark_is_right(tmp_path: Path) -> None:
    path = tmp_path / "sv-small.yaml"
    path.write_text(next(code_blocks("docs/mteb.md", "yaml")), encoding="utf-8")
    assert len(load_benchmark(path).tasks) == 2


def test_the_settings_of_mteb_are_listed() -> None:
    keys = [field.name for field in fields(MtebSettings) if field.name != "model"]
    keys += [f"model.{field.name}" for field in fields(ModelFacts)]
    assert [key for key in keys if f"`{key}`" not in read("docs/mteb.md")] == []
    rows = read_table(read("docs/mteb.md"), "| key | default |")
    plain = {key: value(cells[0]) for key, cells in rows.items() if key in keys and not key.startswith("model.")}
    assert plain == {key: getattr(MtebSettings(), key) for key in plain} and len(plain) == 4


def test_the_example_of_a_suite_is_right(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(next(code_blocks("docs/your-suite.md", "yaml")), encoding="utf-8")
    assert list(load_suite(path).tasks) == ["sentiment", "similarity"]


def test_the_example_of_spans_is_right(tmp_path: Path) -> None:
    (declared,) = [block for block in code_blocks("docs/your-suite.md", "yaml") if "spans:" in block]
    (tmp_path / "mine.yaml").write_text(f"name: mine\ntasks:\n{declared}", encoding="utf-8")
    task = load_suite(tmp_path / "mine.yaml").tasks["coreference"]
    (tmp_path / "x.jsonl").write_text(next(code_blocks("docs/your-suite.md", "json")), encoding="utf-8")
    (example,) = read_examples(task, tmp_path / "x.jsonl")
    assert span_texts(task, example.texts, example.spans) == ("she", "Anna")
    assert repr([list(example.row)]).replace("'", '"') in read("docs/predict.md")


def test_the_tables_of_kinds_and_metrics_list_all() -> None:
    section = read("docs/your-suite.md").split("## Kinds of target")[1].split("\n## ")[0]
    assert all(re.search(rf"^\|.*`{name}`", section, re.MULTILINE) for name in METRICS)
    assert all(re.search(rf"^\| {name} \|", section, re.MULTILINE) for name in TARGET_KINDS)


def option_tables() -> dict[str, dict[str, list[str]]]:
    """The cells of the table of each step's options in docs/making-tasks.md, by step and option; "" has the options of similarities."""
    text = read("docs/making-tasks.md")
    tables: dict[str, dict[str, list[str]]] = {}
    for part in re.split(r"\n(?=\*\*`|`pairs`, `similarity`)", text)[1:]:
        names = re.findall(r"\*\*`(\w+)`\*\*", part) or [""]
        rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|(.*?)\|", part.split("\n## ")[0].split("\n### ")[0], re.MULTILINE)
        tables |= {
            name: {option: [default.strip()] for names, default in rows for option in re.findall(r"`(\w+)`", names)}
            for name in names
        }
    return tables


def test_every_option_of_every_step_is_listed() -> None:
    tables, common = option_tables(), {field.name for field in fields(SimilarityOptions)}
    assert set(tables) == {*STEPS, ""}
    steps = {name: step.options for name, step in STEPS.items()} | {"": SimilarityOptions}
    for name, options in steps.items():
        own = set() if name == "" or not issubclass(options, SimilarityOptions) else common
        declared = {field.name: field.default for field in fields(options) if field.name not in own}
        assert set(tables[name]) == set(declared), name
        for option, default in declared.items():
            shown = (
                "" if default in (None, MISSING) or not isinstance(default, str | int | float) else str(default).lower()
            )
            assert tables[name][option] == [f"`{shown}`" if shown else ""], (name, option)


def test_the_shipped_recipes_are_shown() -> None:
    blocks = list(code_blocks("docs/making-tasks.md", "yaml"))
    for path in sorted((ROOT / "configs/recipe").glob("*.yaml")):
        text = path.read_text(encoding="utf-8")
        assert text[text.index("sources:") : text.index("tasks:")] in blocks, path.stem


def test_the_example_of_a_recipe_is_right(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(next(code_blocks("docs/making-tasks.md", "yaml")), encoding="utf-8")
    assert [use.name for use in load_recipe(path).uses] == ["keep", "duplicates", "map", "split"]
