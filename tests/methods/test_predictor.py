import pickle
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from command_line import job
from data_files import read_column
from input_errors import refused
from kinds_suite import write_kinds_suite
from run_folders import make_run, right
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from small_suite import rows as rows_of
from small_suite import small_settings
from vector_words import write_fasttext

import mtl
from mtl.data.splits import read_task
from mtl.data.text import TokenizedTexts
from mtl.jobs.baseline import run_baseline
from mtl.jobs.job import Job
from mtl.methods.predictor import Predictor

QUICK = ["seeds=[1]", "encoder.hidden_size=4", "encoder.num_layers=1", "head.hidden_size=4", "head.attention_size=4"]
QUICK += ["pretrain.max_steps=3", "pretrain.validate_every=3", "finetune.max_epochs=1"]
JIANT = "architecture=jiant head.projection=6 finetune.token_outputs=float32"
WORDS = ["solen", "skiner", "jag", "skrattar", "glatt", "regnet", "faller", "dag", "idag", "nummer", "1", "främmande"]
TEXTS, LABELS = [text for text, _, _ in rows_of(30)], [label for _, label, _ in rows_of(30)]


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory, elmo_files: tuple[Path, Path]) -> dict[str, list[str]]:
    """Settings of each kind of embeddings: no words beyond a list in the .vec, all words in the .bin by their n-grams."""
    folder = tmp_path_factory.mktemp("vectors")
    rng = np.random.default_rng(0)
    text = "".join(f"{word} {' '.join(map(str, rng.normal(size=6)))}\n" for word in WORDS)
    (folder / "v.vec").write_text(text, encoding="utf-8")
    write_fasttext(folder / "v.bin", [WORDS] * 20)
    return {
        "random": ["embeddings=random", "embeddings.dim=6"],
        "vec": ["embeddings=fasttext", f"embeddings.path={folder / 'v.vec'}"],
        "bin": ["embeddings=fasttext", f"embeddings.path={folder / 'v.bin'}"],
        "elmo": ["embeddings=elmo", f"embeddings.path={elmo_files[0].parent}"],
    }


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Settings of the small suite, but for the run's folder, the embeddings and the sizes."""
    folder = tmp_path_factory.mktemp("small")
    return [setting for setting in small_settings(folder) if setting.startswith(("suite=", "data_dir=", "cache_dir="))]


def check_predictions(job: Job) -> None:
    """Check that a run's model, loaded again, predicts for the rows of dev and test what the run predicted."""
    predictor = mtl.load(job.folder.path)
    for task in job.tasks:
        for split, examples in read_task(task, job.data_dir, job.config.held_out).rows.items():
            if split == "train":
                continue
            rows = [list(example.texts) for example in examples]
            lines = read_column(job.folder.predictions(1, split, task.id))
            new = [[f"helt nya ord {task.id}"] * len(rows[0])]
            for predicted in (
                predictor.predict(task.id, rows),
                predictor.predict(task.id, [*new, *rows])[1:],  # new words between the calls change nothing
                [predictor.predict(task.id, [row])[0] for row in rows[:8]],
            ):
                if task.kind == "number":
                    numbers = np.float64(predicted), np.float64(lines[: len(predicted)])
                    np.testing.assert_allclose(*numbers, rtol=0, atol=1e-5)
                else:
                    assert list(map(str, predicted)) == lines[: len(predicted)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "variant", "min_count", "trainable"),
    [
        *(("random", "attention", 5, False), ("random", f"frozen {JIANT}", 2, True), ("vec", "frozen", 2, False)),
        *(("vec", "finetune", 1, True), ("bin", "finetune", 5, True), ("bin", "attention", 1, False)),
        *(("elmo", "frozen", None, None), ("elmo", "finetune", None, None), ("elmo", f"attention {JIANT}", None, None)),
    ],
)
def test_a_run_s_rows_get_the_predictions_of_the_run(
    small: list[str],
    tmp_path: Path,
    vectors: dict[str, list[str]],
    kind: str,
    variant: str,
    min_count: int | None,
    trainable: bool | None,
) -> None:
    words = [] if kind == "elmo" else [f"embeddings.min_count={min_count}", f"embeddings.trainable={trainable}"]
    chosen = [f"run_dir={tmp_path}", *QUICK, *vectors[kind], *words, *f"variant={variant}".split()]
    this = job([*small, *chosen])
    run_baseline(this)
    check_predictions(this)


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["frozen", "finetune", "attention"])
def test_every_kind_and_a_task_without_rows(tmp_path: Path, vectors: dict[str, list[str]], variant: str) -> None:
    folders = [f"{key}_dir={tmp_path / key}" for key in ("data", "run", "cache")]
    folders += [f"suite={write_kinds_suite(tmp_path)}"]
    # Each word has a vector, so that no two candidates of a row are the same to the model: rounding would choose between them.
    this = job([*folders, *QUICK, *vectors["random"], f"variant={variant}"])
    run_baseline(this)
    check_predictions(this)
    predictor = mtl.load(tmp_path / "run")
    for rows in ([["fråga"]], [[]], ["text"]):
        refused(predictor.predict, "answer", rows)
    predictor.predict_file("answer", tmp_path / "data/answer/dev.jsonl", tmp_path / "new.tsv")
    assert (tmp_path / "new.tsv").read_bytes() == (tmp_path / "run/seed-1/predictions/dev_pred_answer.tsv").read_bytes()


@pytest.mark.slow
def test_predictions_and_vectors_do_not_depend_on_their_neighbours(small_run: Path) -> None:
    rows = [[line] for line in read_column(small_run.parent / "data/test.tsv")]
    for seed in (1, 2):
        lines = (small_run / f"seed-{seed}/predictions/test_pred_kansla.tsv").read_text(encoding="utf-8").splitlines()
        assert mtl.load(small_run, seed).predict("kansla", rows) == lines[1:]
        numbers = read_column(small_run / f"seed-{seed}/predictions/test_pred_betyg.tsv")
        predicted = mtl.load(small_run, seed).predict("betyg", rows)
        assert {type(number) for number in predicted} == {float}
        np.testing.assert_allclose([float(x) for x in predicted], [float(x) for x in numbers], atol=1e-4)
    assert mtl.load(small_run).predict("samma", [["en text", "en annan"], ["", "ny"]]) != []
    assert mtl.load(small_run).predict("kansla", []) == []
    texts = np.array([text for [text] in rows])  # a task of one text takes the texts themselves
    for method in ("predict", "predict_proba"):
        made = [getattr(mtl.load(small_run), method)("kansla", given) for given in (rows, texts)]
        np.testing.assert_array_equal(made[0], made[1])
    pairs = [["en text", "en annan"], ["helt nya", "ord"]]
    named = [dict(zip("ab", pair, strict=True)) for pair in pairs]
    for table in (named, pd.DataFrame(named)[["b", "a"]]):  # by name, in any order
        assert mtl.load(small_run).predict("samma", table) == mtl.load(small_run).predict("samma", pairs)
    refused(lambda: mtl.load(small_run).predict("samma", [{"a": "en text"}]))
    predictor = mtl.load(small_run)
    texts = ["solen skiner nummer 1", "", "helt nya ord", "solen skiner nummer 1", "jag " * 300]
    vectors = predictor.encode(texts)
    assert vectors.shape == (5, 16) and vectors.dtype == np.float32
    np.testing.assert_array_equal(vectors[0], vectors[3])
    np.testing.assert_allclose(vectors[2], predictor.encode(texts[2:3])[0], atol=1e-5)
    assert predictor.encode([]).shape == (0, 16)


@pytest.mark.slow
def test_blocks_and_poolings(small_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mtl.data.blocks.BLOCK", 2)
    predictor = mtl.load(small_run)
    texts = ["solen skiner nummer 1", "helt nya ord", "jag", "regnet faller"]
    sequences = predictor.model.to_sequences(TokenizedTexts.tokenize(texts, "sv", 99))  # type: ignore[attr-defined]
    for pooling, pool in (("max", np.max), ("mean", np.mean)):
        vectors = predictor.encode(texts, pooling)
        for number, vector in enumerate(vectors):
            tokens, lengths = sequences.gather(torch.tensor([number]))
            with torch.no_grad():
                outputs = predictor.model.encoder.outputs(tokens, lengths)[0].numpy()  # type: ignore[attr-defined]
            np.testing.assert_allclose(vector, pool(outputs, axis=0), atol=1e-6)


def test_files(small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in.tsv").write_text("id\ttext\n1\tsolen skiner\n2\tregnet faller\n", encoding="utf-8")
    predictor = Predictor.load(small_run, None, "kansla")
    predictor.predict_file("kansla", tmp_path / "in.tsv", None)
    printed = capsys.readouterr().out
    predictor.predict_file("kansla", tmp_path / "in.tsv", tmp_path / "out.tsv")
    assert (tmp_path / "out.tsv").read_text(encoding="utf-8") == printed
    assert printed.splitlines()[0] == "label" and len(printed.splitlines()) == 3
    predictor.predict_file("kansla", tmp_path / "in.tsv", tmp_path / "out.csv")
    assert pd.read_csv(tmp_path / "out.csv")["label"].tolist() == printed.splitlines()[1:]
    for name in ("out.jsonl", "out.tsv.gz"):
        refused(predictor.predict_file, "kansla", tmp_path / "in.tsv", tmp_path / name, file=name)
    refused(predictor.predict_file, "kansla", tmp_path / "none.tsv", tmp_path / "out.tsv", file="none.tsv")


def test_wrong_calls_and_a_run_that_is_not_finished(small_run: Path, tmp_path: Path) -> None:
    refused(lambda: mtl.load(tmp_path / "none"), file="config.yaml")
    refused(lambda: mtl.load(small_run, 9))
    refused(lambda: Predictor.load(small_run, None, "zz"))
    refused(lambda: mtl.load(small_run, device="warp"), key="device")
    predictor = mtl.load(small_run)
    bad = (("zz", [["x"]]), ("samma", [["x"]]), ("samma", ["x"]), ("kansla", "x"), ("kansla", {"text": "x"}))
    bad = (*bad, ("kansla", [None]), ("kansla", pd.DataFrame({"txt": ["x"]})))
    for task, rows in bad:
        refused(predictor.predict, task, rows)
    for texts in ("x", ["x", 2]):
        refused(predictor.encode, texts)
    refused(lambda: predictor.encode(["x"], pooling="min"), key="pooling")
    broken = tmp_path / "run"
    shutil.copytree(small_run, broken)
    checkpoint = broken / "seed-1/finetune/kansla/best.ckpt"
    checkpoint.write_bytes(checkpoint.read_bytes()[:1000])
    refused(lambda: mtl.load(broken, 1).predict("kansla", [["x"]]), file="best.ckpt")
    checkpoint.unlink()
    refused(lambda: mtl.load(broken, 1).predict("kansla", [["x"]]), file="best.ckpt")
    make_run(tmp_path, right(0.5), tasks=["cbd"]).summary.unlink()
    refused(lambda: mtl.load(tmp_path), file="TMP")


def test_as_a_transformer_it_gives_the_run_s_vectors(small_run: Path) -> None:
    predictor = mtl.load(small_run, seed=2)
    transformer = predictor.as_transformer(pooling="mean")
    expected = predictor.encode(TEXTS, pooling="mean")
    np.testing.assert_array_equal(transformer.fit_transform(np.array(TEXTS, dtype=object)), expected)
    assert len(transformer.get_feature_names_out()) == expected.shape[1]
    copy = clone(transformer)
    assert copy is not transformer and copy.run is predictor and copy.get_params() == transformer.get_params()
    content = pickle.dumps(transformer)
    assert len(content) < 1000
    again = pickle.loads(content)
    assert again.run is not predictor and again.run.seed == 2
    np.testing.assert_array_equal(again.transform(TEXTS), expected)


def test_a_pipeline_and_wrong_parameters(small_run: Path) -> None:
    pipeline = make_pipeline(mtl.load(small_run).as_transformer(), LogisticRegression())
    search = GridSearchCV(pipeline, {"texttransformer__pooling": ["max", "mean"]}, cv=3)
    predicted = search.fit(TEXTS, LABELS).predict(TEXTS)
    assert set(predicted) <= {"glad", "arg"} and len(predicted) == len(TEXTS)
    fitted = search.best_estimator_
    vectors = mtl.load(small_run).encode(TEXTS, pooling=search.best_params_["texttransformer__pooling"])
    assert (predicted == LogisticRegression().fit(vectors, LABELS).predict(vectors)).all()
    assert (pickle.loads(pickle.dumps(fitted)).predict(TEXTS) == predicted).all()
    refused(lambda: mtl.load(small_run).as_transformer("min").fit_transform(["x"]), key="pooling")
    refused(lambda: mtl.load(small_run).as_transformer().transform("x"))
