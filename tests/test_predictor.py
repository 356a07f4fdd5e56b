from pathlib import Path

import numpy as np
import pytest

import mtl
from mtl.config import load_config
from mtl.errors import InputError
from mtl.predictor import Predictor
from mtl.training.baseline import run_baseline


@pytest.fixture
def run(settings: list[str], suite_file: Path) -> Path:
    run_baseline(*load_config([*settings, "seeds=[1,2]"]))
    return suite_file.parent / "run"


def test_predictions_are_those_of_the_run(run: Path, suite_file: Path) -> None:
    rows = [[line] for line in (suite_file.parent / "data/test.tsv").read_text(encoding="utf-8").splitlines()[1:]]
    for seed in (1, 2):
        lines = (run / f"seed-{seed}/predictions/test_pred_kansla.tsv").read_text(encoding="utf-8").splitlines()
        assert mtl.load(run, seed).predict("kansla", rows) == lines[1:]
        numbers = (run / f"seed-{seed}/predictions/test_pred_betyg.tsv").read_text(encoding="utf-8").splitlines()[1:]
        predicted = mtl.load(run, seed).predict("betyg", rows)
        np.testing.assert_allclose([float(x) for x in predicted], [float(x) for x in numbers], atol=1e-4)
    assert mtl.load(run).predict("samma", [["en text", "en annan"], ["", "ny"]]) != []
    assert mtl.load(run).predict("kansla", []) == []


def test_vectors_do_not_depend_on_their_neighbours(run: Path) -> None:
    predictor = mtl.load(run)
    texts = ["solen skiner nummer 1", "", "helt nya ord", "solen skiner nummer 1", "jag " * 300]
    vectors = predictor.encode(texts)
    assert vectors.shape == (5, 16) and vectors.dtype == np.float32
    np.testing.assert_array_equal(vectors[0], vectors[3])
    np.testing.assert_allclose(vectors[2], predictor.encode(texts[2:3])[0], atol=1e-5)
    assert predictor.encode([]).shape == (0, 16)


def test_files(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in.tsv").write_text("id\ttext\n1\tsolen skiner\n2\tregnet faller\n", encoding="utf-8")
    predictor = Predictor.load(run, None, "kansla")
    predictor.predict_file("kansla", tmp_path / "in.tsv", None)
    printed = capsys.readouterr().out
    predictor.predict_file("kansla", tmp_path / "in.tsv", tmp_path / "out.tsv")
    assert (tmp_path / "out.tsv").read_text(encoding="utf-8") == printed
    assert printed.splitlines()[0] == "label" and len(printed.splitlines()) == 3
    (tmp_path / "in.txt").write_text("solen skiner\n\nregnet faller\n", encoding="utf-8")
    predictor.encode_file(tmp_path / "in.txt", tmp_path / "out.npy")
    np.testing.assert_array_equal(
        np.load(tmp_path / "out.npy"), predictor.encode(["solen skiner", "", "regnet faller"])
    )


def test_wrong_calls(run: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is .* a run folder"):
        mtl.load(tmp_path / "none")
    with pytest.raises(InputError, match="--seed 9: not in this run; it has 1, 2"):
        mtl.load(run, 9)
    with pytest.raises(InputError, match="--task zz: not in this run; it has kansla, samma, betyg"):
        Predictor.load(run, None, "zz")
    with pytest.raises(InputError, match="not in this run"):
        mtl.load(run).predict("zz", [["x"]])
    with pytest.raises(InputError, match="takes rows, each a list of 2 texts: a, b"):
        mtl.load(run).predict("samma", [["x"]])
    with pytest.raises(InputError, match="takes rows, each a list of 1 texts: text"):
        mtl.load(run).predict("kansla", ["x"])
    with pytest.raises(InputError, match="takes a list of texts"):
        mtl.load(run).encode("x")
    checkpoint = run / "seed-1/finetune/kansla/best.ckpt"
    checkpoint.write_bytes(checkpoint.read_bytes()[:1000])
    with pytest.raises(InputError, match=r"best\.ckpt: not a checkpoint that can be read"):
        mtl.load(run, 1).predict("kansla", [["x"]])
    checkpoint.unlink()
    with pytest.raises(InputError, match=r"best\.ckpt: not a checkpoint that can be read"):
        mtl.load(run, 1).predict("kansla", [["x"]])


def test_words_that_the_run_never_saw_get_their_vectors(settings: list[str], suite_file: Path) -> None:
    vectors = suite_file.parent / "v.vec"
    rng = np.random.default_rng(0)
    words = ["solen", "skiner", "regnet", "faller", "jag", "främmande", "obekant"]
    vectors.write_text("".join(f"{w} {' '.join(map(str, rng.normal(size=12)))}\n" for w in words), encoding="utf-8")
    run_baseline(*load_config([*settings, "seeds=[1]", "embeddings=fasttext", f"embeddings.path={vectors}"]))
    run = suite_file.parent / "run"
    known = mtl.load(run).encode(["jag främmande", "jag obekant"])
    assert np.abs(known[0] - known[1]).max() > 1e-3
    vectors.unlink()
    unknown = mtl.load(run).encode(["jag främmande", "jag obekant"])
    np.testing.assert_allclose(unknown[0], unknown[1], atol=1e-6)
