"""What works without the optional packages, and what a command says that needs one."""

import configparser
import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from input_errors import refused

from mtl.base.extras import check_installed, installed_extras, known_extras

SETUP = Path(__file__).parents[2] / "setup.cfg"
SMALL = [
    *("seeds=[1]", "encoder.hidden_size=8", "head.hidden_size=16", "pretrain.max_steps=4", "pretrain.validate_every=4"),
    *("finetune.max_epochs=1", "tasks=[cbd,cdsc-e]", "embeddings.dim=8"),
]


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with links to the packages of the core install alone."""
    folder = tmp_path_factory.mktemp("core")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(SETUP.parent / "tools")
        from wheels import core_packages
    for name in core_packages():
        distribution = metadata.distribution(name)
        for top in {file.parts[0] for file in distribution.files or () if file.parts[0] not in ("..", "__pycache__")}:
            link = folder / top
            if not link.exists():
                link.symlink_to(Path(str(distribution.locate_file(top))))
    return folder


RUN = """
import sys
from contextlib import suppress
from mtl.api.cli import main
for words in sys.argv[1:]:
    with suppress(SystemExit):  # of --version
        print("status", main(words.split()), flush=True)
    print("end of", words, file=sys.stderr, flush=True)
"""


def with_core(core: Path, folder: Path, *commands: str) -> tuple[str, list[str]]:
    """Run mtl with these commands, one after another, in a process that has only the packages of `core`. Returns what it prints, and the
    errors of each command."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(core), str(SETUP.parent)))}
    command = [sys.executable, "-S", "-c", RUN, *commands]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8")
    errors = re.split("^end of .*\n", done.stderr, flags=re.MULTILINE)
    assert done.returncode == 0 and len(errors) == len(commands) + 1, done.stderr
    return done.stdout, errors[:-1]


@pytest.mark.wings
def test_every_extra_is_in_setup_cfg_with_its_packages() -> None:
    setup = configparser.ConfigParser()
    setup.read(SETUP, encoding="utf-8")
    declared = setup["options.extras_require"]
    assert set(declared) - {"all", "test", "lint", "docs"} == set(known_extras())
    assert declared["all"].strip() == f"mtl-baselines[{','.join(known_extras())}]"
    for extra, packages in known_extras().items():
        assert all(name.replace("_", "-") in declared[extra].replace("_", "-") for name in packages)


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "parquet" not in installed_extras()
    refused(lambda: check_installed("parquet", path="a.parquet"), file="a.parquet")


@pytest.mark.slow
@pytest.mark.wings
def test_a_run_a_floor_a_report_and_an_audit_need_no_extra(core: Path, tmp_path: Path) -> None:
    commands = ("baseline " + " ".join(SMALL), "baseline method=majority seeds=[1]", "report", "audit", "--version")
    printed, errors = with_core(core, tmp_path, *commands)
    assert printed.count("status 0\n") == 4, errors
    assert (tmp_path / "report/index.html").is_file()
    assert not list(tmp_path.rglob("tensorboard"))  # the log of an extra
    assert printed.endswith("; extras: none\n")


CORE = {
    **{"baseline embeddings=elmo": "elmo", "baseline method=transformer": "transformers", "baseline engine=ray": "ray"},
    "baseline suite=suite.yaml data_dir=.": "parquet",
}
OF_WINGS = {
    **{"baseline embeddings=fasttext": "fasttext", "mteb average": "mteb"},
    "embeddings train fasttext suite=klej-sample out=v.bin": "fasttext",
    "embeddings train elmo suite=klej-sample out=e": "elmo",
    "pretrain transformer suite=klej-sample out=b": "transformers",
}


@pytest.mark.slow
@pytest.mark.parametrize("extras", [CORE, pytest.param(OF_WINGS, marks=pytest.mark.wings)])
def test_a_command_names_the_package_that_it_lacks(extras: dict[str, str], core: Path, tmp_path: Path) -> None:
    suite = "name: own\nlanguage: pl\ntasks:\n  a:\n    text: [text]\n    target: label\n    labels: [x, y]\n    metric: accuracy\n"
    files = "    files: {train: a.parquet, dev: a.parquet, test: null}\n"
    (tmp_path / "suite.yaml").write_text(suite + files, encoding="utf-8")
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    printed, errors = with_core(core, tmp_path, *extras)
    assert printed.count("status 2\n") == len(extras)
    for extra, error in zip(extras.values(), errors, strict=True):
        assert error.rstrip().endswith(f"install it: pip install 'mtl-baselines[{extra}]'") and "Traceback" not in error
