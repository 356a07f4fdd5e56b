"""Stand-ins for modules: what takes their place, and when the modules are imported after all."""

import subprocess
import sys
from pathlib import Path

import pytest

from mtl.base.stand_ins import Empty, StandIn


def imported_by(code: str) -> list[str]:
    """The first modules of the compiler and of scipy.signal that are imported after this code, in a new process."""
    shown = "print(*[name for name in sys.modules if name.startswith(('torch._dynamo.', 'torch._inductor.', 'scipy.signal.', 'transformers.'))][:3])"
    done = subprocess.run([sys.executable, "-c", f"import sys\n{code}\n{shown}"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1].split()


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a package with two modules, of which it imports one."""
    folder = tmp_path / "stood_for"
    folder.mkdir()
    (folder / "__init__.py").write_text("from stood_for import first\nvalue = 3\n", encoding="utf-8")
    for name in ("first", "second"):
        (folder / f"{name}.py").write_text("marks = []\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("stood_for", "stood_for.first", "stood_for.second"):
        monkeypatch.setitem(sys.modules, name, None)
        del sys.modules[name]
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    return "stood_for"


def test_known_attributes_import_nothing(package: str) -> None:
    stand_in = StandIn(package, {"known": 1})
    exec("from stood_for import known")
    assert stand_in.known == 1 and not hasattr(stand_in, "__file__") and "stood_for.first" not in sys.modules


def test_another_attribute_imports_the_module(package: str) -> None:
    stand_in = StandIn(package, {"known": 1})
    assert stand_in.value == 3 and sys.modules[package] is not stand_in
    assert stand_in.first is sys.modules["stood_for.first"]
    with pytest.raises(AttributeError):
        stand_in.nothing  # noqa: B018


@pytest.mark.parametrize("name", ["first", "second"])
def test_a_submodule_is_imported_once(package: str, name: str) -> None:
    StandIn(package, {})
    exec(f"import stood_for.{name} as module; module.marks.append(1)")
    module = sys.modules[f"stood_for.{name}"]
    assert module.marks == [1] and getattr(sys.modules[package], name) is module


def test_an_empty_module_has_every_name() -> None:
    assert Empty("any").thing is None and not hasattr(Empty("any"), "__file__")


@pytest.mark.slow
def test_a_program_of_someone_else_is_left_alone() -> None:
    code = "import mtl.training.module; from torchmetrics.functional.text import bert; assert bert.AutoModel"
    assert imported_by(code)


@pytest.mark.slow
def test_a_training_imports_no_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = [
        *("seeds=[1]", "tasks=[cbd]", "encoder.hidden_size=8", "head.hidden_size=8", "embeddings.dim=8"),
        *("pretrain.max_steps=2", "pretrain.validate_every=2", "finetune.max_epochs=1"),
    ]
    monkeypatch.chdir(tmp_path)
    assert imported_by(f"from mtl.api.cli import main\nassert main(['baseline', *{settings}]) == 0") == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    [
        "import torch\nassert torch.compile(lambda x: x + 1, backend='eager')(torch.ones(1)).item() == 2",
        "import torch._dynamo.eval_frame",
        "import torch\ntorch.use_deterministic_algorithms(True)",
        "from scipy.signal import find_peaks",
        "from transformers import AutoModel; assert AutoModel.from_config",
    ],
)
def test_the_modules_themselves_work_afterwards(code: str) -> None:
    assert imported_by(f"import mtl.training.module\n{code}")
