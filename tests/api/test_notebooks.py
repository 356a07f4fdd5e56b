"""The notebooks in docs/ are kept without outputs, since `make docs` runs them; a cell that is interrupted continues."""

from pathlib import Path

import pytest
from data_files import read_json
from processes import LEAN

FOLDER = Path(__file__).parents[2] / "docs/notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_kept_without_outputs(path: Path) -> None:
    cells = read_json(path)["cells"]
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)


INTERRUPT = """\
import os, signal
import mtl
from mtl.training.module import MultitaskModule

steps, plain_step = [], MultitaskModule.training_step

def interrupted_step(self, batch, batch_idx):
    steps.append(self.global_step)
    if len(steps) == 25:  # after the validation at step 20
        os.kill(os.getpid(), signal.SIGINT)  # what interrupting a cell does
    return plain_step(self, batch, batch_idx)

MultitaskModule.training_step = interrupted_step
small = {"encoder": {"hidden_size": 8}, "pretrain": {"max_steps": 40, "validate_every": 10}, "finetune": {"max_epochs": 1}}
"""
CELL = "run = mtl.run(small, suite='klej-sample', tasks=['cbd'], seeds=1); run"


@pytest.mark.slow
def test_an_interrupted_cell_continues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import nbformat
    from nbclient import NotebookClient

    monkeypatch.setenv("PYTHONPATH", str(LEAN))
    sources = [INTERRUPT, CELL, "print(steps[-1], os.path.exists('runs/klej-sample/random-frozen/summary.json'))"]
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(text) for text in (*sources, CELL, "print(steps[25], run.scores.size)")]
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=None, allow_errors=True, resources=resources).execute()
    _, interrupted, between, continued, after = [cell.outputs for cell in notebook.cells]
    assert interrupted[-1]["ename"] == "KeyboardInterrupt"
    assert between[0]["text"].split() == ["24", "False"]
    assert "text/markdown" in continued[-1]["data"]
    assert after[0]["text"].split() == ["20", "1"]  # it went on after the last validation, not from the beginning
