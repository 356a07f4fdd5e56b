"""A fine-tuned transformer as a folder that transformers loads."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from input_errors import raises_input_error
from kinds_suite import write_kinds_suite
from safetensors.torch import load_file, save_file
from tiny_transformers import write_bert, write_roberta

import mtl
from mtl.api.cli import main
from mtl.vectors.export import transformers_folder
from mtl.vectors.export.export import export_run

TEXTS = [f"the film number {i} was fine lovely bright awful gloomy dull very nice" for i in range(20)]
SMALL = ["transformer.epochs=2", "transformer.batch_size=16", "transformer.learning_rate=0.002", "transformer.warmup=2"]


def made(folder: Path, transformer: Path, name: str, *settings: str) -> Path:
    """A finished run with one seed."""
    if not (folder / "kinds.yaml").exists():
        write_kinds_suite(folder)
    run = folder / name
    places = [f"suite={folder / 'kinds.yaml'}", f"data_dir={folder / 'data'}", f"run_dir={run}"]
    small = [] if "variant=frozen" in settings else [*SMALL, "transformer.keep=true"]
    given = [f"transformer.path={transformer}", "trainer.threads=1", "seeds=[1]", *small, *settings]
    assert main(["baseline", *places, "method=transformer", *given]) == 0
    return run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("exports")


@pytest.fixture(scope="module")
def run(folder: Path) -> Path:
    return made(folder, write_bert(folder / "bert", TEXTS), "run", "tasks=[mood,stars,answer]")


def export(run: Path, out: Path, **settings: Any) -> None:
    export_run(run, out, "transformers", settings, f"mtl export {run.name}")


def outputs(out: Path, texts: tuple[str, ...]) -> np.ndarray:
    """As the card says to compute them, with transformers alone."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(out)
    model = AutoModelForSequenceClassification.from_pretrained(out).eval()
    with torch.no_grad():
        found: np.ndarray = model(**tokenizer(*texts, truncation=True, return_tensors="pt")).logits[0].numpy()
    return found


def same_labels(run: Path, out: Path, *texts: str) -> Sequence[str]:
    """Check that an export gives the labels of its run; return all labels."""
    predictor = mtl.load(run)
    labels = predictor.suite.tasks["mood"].labels or ()
    found = [labels[int(outputs(out, (text,)).argmax())] for text in texts]
    assert predictor.predict("mood", [[text] for text in texts]) == found
    return labels


def test_labels(run: Path, tmp_path: Path) -> None:
    from transformers import AutoConfig

    export(run, tmp_path / "out", task="mood", license="mit")
    labels = same_labels(run, tmp_path / "out", *TEXTS[:3], "awful", "", "the film was gloomy " * 60)
    config = AutoConfig.from_pretrained(tmp_path / "out")
    assert list(config.id2label.values()) == list(labels) and config.problem_type == "single_label_classification"
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert card.startswith("---\nlanguage:\n") and "license: mit\n" in card and "## Evaluation" in card
    assert str(tmp_path) not in (tmp_path / "out" / "config.json").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["raw", "scaled"])
def test_a_number_is_that_of_its_range(folder: Path, run: Path, tmp_path: Path, loss: str) -> None:
    if loss == "scaled":
        run = made(folder, folder / "bert", "scaled", "tasks=[stars]", "transformer.number_loss=scaled")
    export(run, tmp_path / "out", task="stars")
    predictor = mtl.load(run)
    task = predictor.suite.tasks["stars"]
    rows = [tuple([text, "a bright film"][: len(task.text)]) for text in TEXTS[:4]]
    for row, said in zip(rows, predictor.predict("stars", rows), strict=True):
        (number,) = outputs(tmp_path / "out", row)
        assert float(np.clip(number, *task.bounds)) == pytest.approx(float(said), abs=1e-4)


@pytest.mark.slow
def test_roberta_reads_no_types(folder: Path, tmp_path: Path) -> None:
    run = made(folder, write_roberta(folder / "roberta", TEXTS), "roberta-run", "tasks=[mood]")
    export(run, tmp_path / "out")  # the run has one task
    same_labels(run, tmp_path / "out", TEXTS[0])


@pytest.mark.parametrize("settings", [{}, {"task": "answer"}, {"task": "none"}, {"task": "mood", "pooling": "max"}])
def test_what_transformers_cannot_hold_is_one_line(run: Path, tmp_path: Path, settings: dict[str, str]) -> None:
    with raises_input_error():
        export(run, tmp_path / "out", **settings)
    assert not (tmp_path / "out").exists()


def test_other_runs_are_one_line(folder: Path, run: Path, tmp_path: Path) -> None:
    frozen = made(folder, folder / "bert", "frozen", "variant=frozen", "tasks=[mood]", "finetune.max_epochs=1")
    with raises_input_error(file="frozen"):
        export(frozen, tmp_path / "out")
    with raises_input_error():
        export_run(run, tmp_path / "out", "vectors", {}, "mtl export")


def test_an_export_that_differs_is_not_written(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check = transformers_folder.check_loads

    def damaged(given: Any, out: Path) -> None:
        weights = load_file(out / "model.safetensors")
        weights["classifier.bias"] = weights["classifier.bias"] + 1
        save_file(weights, out / "model.safetensors", metadata={"format": "pt"})
        check(given, out)

    monkeypatch.setattr(transformers_folder, "check_loads", damaged)
    with raises_input_error():
        export(run, tmp_path / "out", task="mood")
    assert not (tmp_path / "out").exists()
