"""A fine-tuned transformer as a folder that transformers loads."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
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


def same_labels(run: Path, out: Path, *texts: str) -> Sequence[str]:
    """Check that an export, used as its card says, gives the labels of its run; return all labels."""
    from transformers import pipeline

    predictor, classify = mtl.load(run), pipeline("text-classification", model=str(out), truncation=True)
    found = [answer["label"] for answer in classify(list(texts))]
    assert predictor.predict("mood", [[text] for text in texts]) == found
    return predictor.suite.tasks["mood"].labels or ()


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
def test_roberta_reads_no_types(folder: Path, tmp_path: Path) -> None:
    run = made(folder, write_roberta(folder / "roberta", TEXTS), "roberta-run", "tasks=[mood]")
    export(run, tmp_path / "out")  # the run has one task
    same_labels(run, tmp_path / "out", TEXTS[0])


@pytest.mark.parametrize(
    "settings", [{}, {"task": "answer"}, {"task": "stars"}, {"task": "none"}, {"task": "mood", "pooling": "max"}]
)
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
