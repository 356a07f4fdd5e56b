"""The order of imports is the one that docs/explanation/architecture.md shows, no files import each other, and the wheel has all packages."""

import ast
import configparser
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from core_alone import LEFT_OUT, MARKERS, WINGS

ROOT = Path(__file__).parent.parent


@cache
def documented_order() -> list[str]:
    """The packages of the document's table, from top to bottom."""
    document = (ROOT / "docs/explanation/architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.+?) \|", document, re.MULTILINE)
    return [name for row in rows for name in re.findall(r"`(\w+)`", row)]


def part_of(module: Path) -> str:
    """The package below mtl, or the module."""
    return module.relative_to(ROOT / "mtl").parts[0].removesuffix(".py")


@cache
def imported(module: Path) -> set[str]:
    """The packages and modules below mtl that a module imports, at its top, inside functions or by a name in a string."""
    nodes = list(ast.walk(ast.parse(module.read_text(encoding="utf-8"))))
    names = {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
    names |= {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    of_package = [node for node in nodes if isinstance(node, ast.ImportFrom) and node.module == "mtl"]
    names |= {f"mtl.{alias.name}" for node in of_package for alias in node.names}
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    names |= {text for text in texts if re.fullmatch(r"mtl(\.\w+)+(:\w+)?", text)}
    assert "mtl" not in names, f"{module} imports the package, which stands above all"
    return {re.split("[.:]", name)[1] for name in names if name.startswith("mtl.")} & {*documented_order()}


def modules() -> list[Path]:
    return [module for module in sorted((ROOT / "mtl").rglob("*.py")) if not part_of(module).startswith("__")]


def test_every_package_is_in_the_table_of_at_most_sixteen_rooms() -> None:
    assert sorted(documented_order()) == sorted({part_of(module) for module in modules()})
    assert len({part_of(module) for module in modules()}) <= 16


def test_no_package_imports_one_below_it() -> None:
    order = documented_order()
    upward = {
        f"{module.relative_to(ROOT)} imports mtl.{name}"
        for module in modules()
        for name in imported(module)
        if order.index(name) > order.index(part_of(module))
    }
    assert upward == set()


def test_the_core_imports_no_wing_and_no_wing_another() -> None:
    wings = {file.parent.name for file in (ROOT / "mtl").glob("*/wing.py")}
    assert wings == set(documented_order()[-len(wings) :])
    across = {
        f"{module.relative_to(ROOT)} imports mtl.{name}"
        for module in modules()
        for name in imported(module) & wings
        if name != part_of(module)
    }
    assert across == set()
    core = sorted(name for name, module in FILES.items() if part_of(module) not in wings)
    code = f"import importlib, sys; [importlib.import_module(name) for name in {core!r}]; print(*sys.modules)"
    lean = environment(ROOT / "tests/lean")
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=lean, capture_output=True, text=True, check=True)
    assert not {name for name in done.stdout.split() if name.startswith(tuple(f"mtl.{wing}" for wing in wings))}


def imported_files(module: Path) -> set[str]:
    """The modules below mtl, by dotted name, that a module imports, at its top or inside functions, but not for types alone."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = []
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            modules = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= {module if module in FILES else node.module for module in modules}
    return names & FILES.keys()


FILES = {
    ".".join(module.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): module for module in modules()
}


def test_no_files_import_each_other() -> None:
    order = TopologicalSorter({name: imported_files(module) for name, module in FILES.items()})
    order.prepare()  # raises CycleError, which names the files of a circle


def test_names_of_lazy_imports_exist() -> None:
    """mypy does not see what registries import by name."""
    named = {
        (part_of(module), node.value)
        for module in modules()
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.fullmatch(r"mtl[\w.]+:\w+", node.value)
    }
    assert len(named) > 10
    for name in {name for _, name in named}:
        path, _, attribute = name.partition(":")
        tree = ast.parse(FILES[path].read_text(encoding="utf-8"))
        defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        stored = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
        defined |= {node.id for node in stored}
        assert attribute in defined, name

    order = documented_order()
    upward = {(part, name) for part, name in named if order.index(part) < order.index(name.split(".")[1].split(":")[0])}
    assert upward == set()


def test_every_package_is_in_the_wheel() -> None:
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    listed = {name for name in config["options"]["packages"].split() if not name.startswith("mtl.shipped.")}
    packages = [init.parent.relative_to(ROOT) for init in (ROOT / "mtl").rglob("__init__.py")]
    assert listed == {".".join(package.parts) for package in packages}
    folders = {path.parent.relative_to(ROOT / "configs") for path in (ROOT / "configs").rglob("*.yaml")}
    shipped = {".".join(("mtl", "shipped", "configs", *folder.parts)) for folder in folders}
    assert shipped <= set(config["options"]["packages"].split())


# A copy must not find the wings of an editable installation.
SITE = """\
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if not finder.__module__.startswith("__editable__")]
"""


@pytest.mark.slow
@pytest.mark.skipif(not WINGS, reason="this is such a copy")
def test_the_core_passes_its_tests_without_the_wings(tmp_path: Path) -> None:
    for name in ("mtl", "tests", "configs", "embeddings", "docs", "tools", "benchmarks"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", *WINGS))
    for name in ("pyproject.toml", "setup.cfg", "Makefile", "README.md", "mkdocs.yml"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "sitecustomize.py").write_text(SITE, encoding="utf-8")
    absent = [sys.executable, "-c", f"import mtl.{WINGS[0]}"]
    assert subprocess.run(absent, cwd=tmp_path, env=environment(tmp_path), capture_output=True).returncode == 1
    command = ["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *(f"--ignore=tests/{name}" for name in LEFT_OUT)]
    command = [sys.executable, *command, "-m", " and ".join(f"not {name}" for name in MARKERS)]
    done = subprocess.run(command, cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]


def environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(folder)}
