"""Exported runs give the vectors of the run."""

import logging
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import yaml
from command_line import job
from data_files import read_json
from input_errors import raises_input_error
from small_suite import small_settings

import mtl
from mtl.api.cli import main
from mtl.base.extras import missing_package
from mtl.jobs.baseline import run_baseline
from mtl.vectors.encoders import open_encoder
from mtl.vectors.export.export import EXPORT_FORMATS, export_run
from mtl.vectors.words.fasttext import FastTextTraining

pytestmark = pytest.mark.slow

TEXTS = [
    *("solen skiner nummer 1", "", " \t", "helt nya ord, (t.ex. Dr. Ek)...", "regnet faller. " * 200),
    "jag skrattar gott nummer 2",
]
QUICK = ["seeds=[1,2]", "pretrain.max_steps=4", "finetune.max_epochs=1", "max_length=20"]
VARIANTS: dict[str, Sequence[str]] = {
    "plain": (),
    "joined": ("seeds=[1]", "encoder.join_input=true", "encoder.num_layers=1"),
    "bounded": ("seeds=[1]", "boundary_words=true", "encoder.join_input=true"),
}


def made(folder: Path, *settings: str) -> Path:
    """A finished run on the small suite, whose data lies beside it in `data`."""
    run_baseline(job([*small_settings(folder), *QUICK, *settings]))
    return folder / "run"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {name: made(tmp_path_factory.mktemp(name), *settings) for name, settings in VARIANTS.items()}


def export(run: Path, out: Path, format: str, *settings: str) -> None:
    """Export a run; skips the test if a package is missing that the format needs."""
    extra = EXPORT_FORMATS[format].extra
    if extra and (missing := missing_package(extra)):
        pytest.skip(f"needs the package {missing}")
    assert main(["export", str(run), "--format", format, "--out", str(out), *settings]) == 0


def loaded(folder: Path) -> Any:
    """An export, loaded by sentence-transformers."""
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), device="cpu", local_files_only=True)


@pytest.mark.parametrize(("variant", "pooling"), [("plain", "mean"), ("joined", "max"), ("joined", "mean")])
def test_sentence_transformers_gives_the_run_s_vectors(
    runs: dict[str, Path], tmp_path: Path, variant: str, pooling: str
) -> None:
    out = tmp_path / "new" / "out"
    export(runs[variant], out, "sentence-transformers", f"pooling={pooling}")
    model = loaded(out)
    wanted = mtl.load(runs[variant]).encode(TEXTS, pooling)
    for batch_size in (32, 1):
        np.testing.assert_allclose(model.encode(TEXTS, batch_size=batch_size), wanted, rtol=0, atol=1e-5)
    assert model.get_embedding_dimension() == wanted.shape[1]
    types = [module["type"] for module in read_json(out / "modules.json")]
    assert all(type.startswith("sentence_transformers.") for type in types)
    assert not list(out.rglob("*.py")) and [path.name for path in out.parent.iterdir()] == ["out"]


def test_the_card_says_what_the_summary_says(runs: dict[str, Path], tmp_path: Path) -> None:
    export(runs["plain"], tmp_path / "out", "sentence-transformers", "license=cc-by-4.0", "seed=2")
    export(runs["plain"], tmp_path / "vectors", "vectors", "seed=2")
    summary, suite = read_json(runs["plain"] / "summary.json"), mtl.load(runs["plain"], 2).suite
    _, front, text = (tmp_path / "out/README.md").read_text(encoding="utf-8").split("---\n", 2)
    read, other = yaml.safe_load(front), (tmp_path / "vectors/README.md").read_text(encoding="utf-8")
    assert (read["language"], read["license"], read["library_name"]) == (["sv"], "cc-by-4.0", "sentence-transformers")
    assert "No license is stated" not in text and "No license is stated" in other and "license:" not in other
    for card in (text, other):
        for id, scored in summary["tasks"].items():
            assert f"{suite.tasks[id].title or id} {suite.shown.show(scored['scores']['2'])}" in card
        assert summary["command"] in card and "\n- Texts are cut after 20 tokens" in card
        assert (runs["plain"] / "table.md").read_text(encoding="utf-8").partition("\n\n")[2].strip() in card


def test_centred_vectors(runs: dict[str, Path], tmp_path: Path) -> None:
    shutil.copytree(runs["joined"].parent, tmp_path / "copy")
    run, data = tmp_path / "copy/run", tmp_path / "copy/data"
    export(run, tmp_path / "out", "sentence-transformers", "centre=true", f"suite_data_dir={data}", "seed=1")
    wanted = open_encoder(str(run), {"seed": 1, "centre": True, "suite_data_dir": str(data)}).encode(TEXTS)
    assert np.abs(wanted - mtl.load(run, 1).encode(TEXTS)).max() > 1e-3
    exported = open_encoder("sentence_transformer", {"path": str(tmp_path / "out")})
    for model in (loaded(tmp_path / "out"), exported):
        np.testing.assert_allclose(model.encode(TEXTS), wanted, rtol=0, atol=1e-5)
    assert exported.description.max_length and exported.description.parameters_without_embeddings


def test_vectors_are_those_of_the_trained_words(runs: dict[str, Path], tmp_path: Path) -> None:
    from gensim.models import KeyedVectors

    export(runs["plain"], tmp_path / "out", "vectors", "seed=1")
    read = KeyedVectors.load_word2vec_format(str(tmp_path / "out/vectors.vec"))
    encoder: Any = mtl.load(runs["plain"], 1).model
    words = (runs["plain"] / "vocabulary.txt").read_text(encoding="utf-8").split("\n")[:-1]
    assert read.index_to_key == words
    np.testing.assert_array_equal(read.vectors, encoder.encoder.embedder.table.weight.detach().numpy()[2:])


@pytest.fixture(scope="module")
def fasttext_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that looks new words up in a fastText model."""
    folder = tmp_path_factory.mktemp("fasttext")
    words = ["solen", "skiner", "regnet", "faller", "jag", "främmande", "nummer"]
    settings = FastTextTraining(dim=6, epochs=1, min_count=1, bucket=200, threads=1)
    settings.train([words] * 20, folder / "v.bin")
    embeddings = ["embeddings=fasttext", f"embeddings.path={folder / 'v.bin'}"]
    given = [setting for setting in small_settings(folder) if not setting.startswith("embeddings.dim")]
    run_baseline(job([*given, *QUICK, *embeddings, "embeddings.min_count=1", "embeddings.trainable=false"]))
    return folder / "run"


def test_new_words_have_vectors_if_words_names_them(
    fasttext_run: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="mtl")
    texts = ["solen skiner främmande", "helt obekant", ""]
    (tmp_path / "words.txt").write_text("helt obekant\n\nfrämmande\n", encoding="utf-8")
    wanted = mtl.load(fasttext_run).encode(texts, "max")
    export(fasttext_run, tmp_path / "with", "sentence-transformers", f"words={tmp_path / 'words.txt'}")
    np.testing.assert_allclose(loaded(tmp_path / "with").encode(texts), wanted, rtol=0, atol=1e-5)
    export(fasttext_run, tmp_path / "without", "sentence-transformers")
    assert re.search(r"without: knows \d+ words; all others are unknown to it, unlike the run", caplog.text)
    without = loaded(tmp_path / "without").encode(texts)
    assert np.abs(without[1] - wanted[1]).max() > 1e-5
    np.testing.assert_allclose(without[2], wanted[2], rtol=0, atol=1e-5)
    export(fasttext_run, tmp_path / "vectors", "vectors", f"words={tmp_path / 'words.txt'}")
    assert "\nobekant " in (tmp_path / "vectors/vectors.vec").read_text(encoding="utf-8")


def refused(run: Path, out: Path, format: str, settings: dict[str, Any] | None = None, **place: Any) -> None:
    """The export is one line, and nothing is written."""
    before = sorted(out.parent.glob("*"))
    with raises_input_error(**place):
        export_run(run, out, format, settings or {}, "mtl export")
    assert sorted(out.parent.glob("*")) == before


def test_an_empty_folder_is_used_and_bad_input_writes_nothing(
    runs: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, out = runs["plain"], tmp_path / "out"
    (tmp_path / "full").mkdir()
    (tmp_path / "full/file").touch()
    words = [str(path) for path in (run / "vocabulary.txt", tmp_path / "none.txt", tmp_path)]
    for target, settings in (
        *((out, settings) for settings in ({"pooling": "max"}, {"seed": 9}, *({"words": name} for name in words))),
        *((tmp_path / name, {"seed": 1}) for name in ("full", "full/file")),
    ):
        refused(run, target, "vectors", settings)
    refused(run, out, "pickle")
    refused(Path("average"), out, "vectors")
    damaged = shutil.copytree(run, tmp_path / "run")
    (damaged / "vocabulary.txt").unlink()
    refused(damaged, out, "vectors", file="vocabulary.txt")
    with monkeypatch.context() as patch:
        patch.setattr("mtl.vectors.export.export.open_run", lambda *given: SimpleNamespace(model="a transformer"))
        refused(run, out, "vectors")
    out.mkdir()
    export(run, out, "vectors")
    assert sorted(path.name for path in out.iterdir()) == ["README.md", "vectors.vec"]


def test_an_elmo_has_no_vectors_of_words(elmo_files: tuple[Path, Path], tmp_path: Path) -> None:
    elmo = f"embeddings.path={elmo_files[0].parent}"
    given = [setting for setting in small_settings(tmp_path) if not setting.startswith("embeddings.dim")]
    run_baseline(job([*given, *QUICK, "seeds=[1]", "embeddings=elmo", elmo]))
    refused(tmp_path / "run", tmp_path / "out", "vectors", key="embeddings")


def test_a_format_that_cannot_express_the_encoder(
    runs: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    format, out = "sentence-transformers", tmp_path / "out"
    with monkeypatch.context() as patch:
        patch.setattr("mtl.base.extras.find_spec", lambda name: None)
        refused(runs["plain"], out, format)
    monkeypatch.setattr("mtl.base.extras.find_spec", lambda name: True)
    refused(runs["bounded"], out, format)
    shutil.copytree(runs["plain"], tmp_path / "run")
    suite = tmp_path / "run/suite.yaml"
    suite.write_text(suite.read_text(encoding="utf-8").replace("language: sv", "language: en"), encoding="utf-8")
    refused(tmp_path / "run", out, format)


def test_an_export_with_other_vectors_is_not_kept(
    runs: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sentence_transformers")
    prompts = {"query": "solen ", "document": "solen "}
    monkeypatch.setattr("mtl.vectors.export.sentence_transformer.PROMPTS", prompts)
    refused(runs["plain"], tmp_path / "out", "sentence-transformers")
