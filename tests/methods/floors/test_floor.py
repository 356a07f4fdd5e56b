"""Floors through the whole job, on the small suite."""

from pathlib import Path

import numpy as np
import pytest
import torch
from command_line import content, job
from data_files import read_column, read_json
from input_errors import refused
from kinds_suite import write_kinds_suite
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.metrics import f1_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from small_suite import write_tsv

import mtl.methods.floors.fasttext_classifier as fasttext_classifier
import mtl.methods.floors.floor as floor
from mtl.jobs.baseline import run_baseline
from mtl.methods.floors.model_file import KEEPABLE
from mtl.methods.predictor import Predictor

PAIRS = """\
name: par
language: sv
files: {dev: null, test: null}
tasks:
  lika:
    text: [a, b]
    target: same
    labels: ["0", "1"]
    metric: f1
    positive: "1"
    group: topic
  grad:
    text: [a, b]
    target: score
    range: [1, 5]
    metric: spearman
    group: topic
  ensam:
    text: [a]
    target: same
    labels: ["0", "1"]
    metric: accuracy
    group: topic
"""
# A forest each of whose trees finds a feature that tells all.
CERTAIN = ["floor.grid.max_features=[null]", "floor.grid.n_estimators=[5]"]
WORDS = ["solen skiner", "regnet faller", "vi sjunger", "hon ropar högt"]


@pytest.fixture
def pairs(tmp_path: Path) -> list[str]:
    """The settings of a suite of pairs. A pair with label 1 and score 5 repeats a text; the others share one word."""
    rows = []
    for i in range(80):
        same = i % 3 == 0
        first = f"{WORDS[i % 4]} nummer {i}"
        second = first if same else f"{WORDS[(i + 1 + i % 2) % 4]} nummer {i + 100}"
        rows.append((str(i), first, second, str(int(same)), "5" if same else "1"))
    (tmp_path / "par.yaml").write_text(PAIRS, encoding="utf-8")
    write_tsv(tmp_path / "data/train.tsv", ("topic", "a", "b", "same", "score"), *rows)
    folders = [f"{key}_dir={tmp_path / key}" for key in ("data", "run", "cache")]
    return [f"suite={tmp_path / 'par.yaml'}", *folders, "seeds=[1]"]


def one_word_tells(data: Path) -> None:
    """Write texts in which one word tells the label, and whether the score is 8 or 2."""
    for split, first, last in (("train", 0, 60), ("dev", 60, 90), ("test", 90, 100)):
        good = [i * 7 % 3 != 0 for i in range(first, last)]
        texts = [f"{'bra' if is_good else 'illa'} nummer {i}" for i, is_good in enumerate(good, first)]
        known = 1 if split == "test" else 2
        labels = [(text, "glad" if is_good else "arg")[:known] for text, is_good in zip(texts, good, strict=True)]
        scores = [(text, "8" if is_good else "2")[:known] for text, is_good in zip(texts, good, strict=True)]
        write_tsv(data / f"{split}.tsv", ("text", "label")[:known], *labels)
        write_tsv(data / f"scores/{split}.tsv", ("text", "score")[:known], *scores)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["svm", "tree", "forest", "logistic", "naive_bayes", "static", "fasttext"])
def test_a_word_that_tells_the_target_is_learned(
    floor_settings: list[str], tmp_path: Path, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fasttext_classifier, "BUCKETS", 500)
    one_word_tells(tmp_path / "data")
    settings = [*floor_settings, *reading(method, tmp_path), "seeds=[1,2]", *(CERTAIN if method == "forest" else [])]
    summary = run_baseline(job(settings), "mtl baseline …")
    assert summary["tasks"]["kansla"]["scores"] == {"1": 100, "2": 100}
    assert (summary["method"], summary["command"]) == (method, "mtl baseline …")
    cost, run = summary["cost"], tmp_path / "run"
    assert cost["parameters"] >= cost["parameters_without_embeddings"] > 0 and cost["sentences_per_second"] > 0
    assert cost["pretrain_seconds"] is None and cost["finetune_seconds"] > 0
    if method in ("svm", "tree", "forest"):
        assert summary["embeddings"] is None and (run / "seed-2/submission.zip").exists()
        assert (run / "seed-1/predictions/test_pred_betyg.tsv").exists()
        paths = ("gold/dev_betyg.tsv", "seed-1/predictions/dev_pred_betyg.tsv")
        gold, predicted = (np.array(read_column(run / path), float) for path in paths)
        assert predicted[gold == 8].min() > predicted[gold == 2].max()
    assert ("betyg" in summary["tasks"]) == (method != "naive_bayes")


@pytest.mark.parametrize("method", ["svm", "tree", "forest", "overlap"])
def test_pairs_are_told_apart_by_what_their_texts_share(pairs: list[str], method: str) -> None:
    """No word of a single text tells the label."""
    summary = run_baseline(job([*pairs, f"method={method}", *(CERTAIN if method == "forest" else [])]))
    assert summary["tasks"]["lika"]["median"] == 100


def test_constant_and_random(floor_settings: list[str], tmp_path: Path) -> None:
    constant = run_baseline(job([*floor_settings, "method=constant", "seeds=[1]"]))
    # 40 of 60 training texts are glad, and 20 of 30 dev texts.
    assert constant["tasks"]["kansla"]["median"] == pytest.approx(100 * 20 / 30)
    assert constant["tasks"]["betyg"]["median"] == 0
    # F1 is best where every row is positive: precision is their share, recall 1.
    share = np.mean([cell == "1" for cell in read_column(tmp_path / "run/gold/dev_samma.tsv")])
    assert constant["tasks"]["samma"]["median"] == pytest.approx(100 * 2 * share / (1 + share)) and share > 0
    assert all(of["constant"] == of["median"] for of in constant["tasks"].values())
    drawn = run_baseline(job([*floor_settings, "method=random", f"run_dir={tmp_path}/random"]))
    assert len(set(drawn["tasks"]["kansla"]["scores"].values())) > 1
    assert drawn["cost"]["parameters"] == 0
    assert drawn["tasks"]["samma"]["constant"] == constant["tasks"]["samma"]["median"]


def test_overlap_is_the_cosine_of_the_characters_in_the_range_of_the_task(pairs: list[str], tmp_path: Path) -> None:
    summary = run_baseline(job([*pairs, "method=overlap"]))
    lines = read_column(tmp_path / "data/train.tsv")
    held_out = read_json(tmp_path / "run/held_out.json")["grad"]
    texts = [line.split("\t")[1:3] for line in lines]
    dev = [texts[line - 2] for line in held_out]
    train = {text for number, row in enumerate(texts) if number + 2 not in held_out for text in row}
    vectorizer = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True, min_df=2).fit(train)
    first, second = (vectorizer.transform(side).toarray() for side in zip(*dev, strict=True))
    predicted = read_column(tmp_path / "run/seed-1/predictions/dev_pred_grad.tsv")
    np.testing.assert_allclose(np.array(predicted, float), 1 + 4 * (first * second).sum(axis=1), atol=1e-12)
    # A single text has no overlap: it gets the best constant answer.
    assert set(read_column(tmp_path / "run/seed-1/predictions/dev_pred_ensam.tsv")) == {"0"}
    assert summary["tasks"]["ensam"]["median"] == summary["tasks"]["ensam"]["constant"]
    assert summary["notes"] == ["Tasks of single texts have no overlap and get the best constant answer: ensam."]
    table = (tmp_path / "run/table.md").read_text(encoding="utf-8")
    assert "Tasks of single texts have no overlap and get the best constant answer: ensam." in table
    assert summary["cost"]["sentences_per_second"] > 0


@pytest.mark.slow
def test_continued_it_ends_the_same(floor_settings: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = [*floor_settings, "method=forest", "seeds=[1]", "floor.grid.n_estimators=[5]"]
    run_baseline(job([*run, f"run_dir={tmp_path}/whole"]))
    fitted = []
    fit = floor.Search.fit_estimator

    def interrupted(self, chosen, features):  # type: ignore[no-untyped-def]
        fitted.append(self.task.id)
        if len(fitted) == 6:
            raise KeyboardInterrupt
        return fit(self, chosen, features)

    monkeypatch.setattr(floor.Search, "fit_estimator", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_baseline(job(run))
    assert fitted == ["kansla"] * 4 + ["samma"] * 2
    run_baseline(job(run))
    assert fitted[6:] == ["kansla", *["samma"] * 4, *["betyg"] * 2]  # kansla with its chosen settings alone
    assert content(tmp_path / "run") == content(tmp_path / "whole")


BAD = "embeddings=fasttext floor.features=joint floor.choice=all"
BAD += " floor.train_rows.nemo=3 floor.train_rows.samma=0 floor.grid.C=3 floor.min_count=1000"


def test_bad_settings(floor_settings: list[str]) -> None:
    for setting in BAD.split():
        refused(lambda setting=setting: run_baseline(job([*floor_settings, "method=svm", setting])))
    refused(lambda: run_baseline(job([*floor_settings, "method=overlap", "floor.features=joined"])))


JOINED = ["method=svm", "floor.features=joined", "floor.grid.C=null", "floor.grid.class_weight=null", "seeds=[1]"]


def test_joined_texts_are_those_of_a_plain_pipeline(pairs: list[str], tmp_path: Path) -> None:
    """The best vectorizer on dev, trained on some of the rows, beside scikit-learn's own pipeline on the joined texts."""
    settings = [*pairs, *JOINED, "floor.train_rows.lika=40", "tasks=[lika]"]
    summary = run_baseline(job(settings))
    assert summary["title"] == "Word n-grams + linear SVM"
    lines = [line.split("\t") for line in read_column(tmp_path / "data/train.tsv")]
    held_out = read_json(tmp_path / "run/held_out.json")["lika"]
    train = [line for number, line in enumerate(lines) if number + 2 not in held_out]
    train = [train[row * len(train) // 40] for row in range(40)]
    dev = [lines[number - 2] for number in held_out]
    expected = {}
    for name, vectorizer in (("counts", CountVectorizer), ("tfidf", TfidfVectorizer)):
        for longest in (2, 3):
            words = vectorizer(lowercase=False, ngram_range=(1, longest))
            model = make_pipeline(words, LinearSVC(random_state=1, max_iter=20_000))
            model.fit([f"{line[1]} [SEP] {line[2]}" for line in train], [int(line[3]) for line in train])
            predicted = model.predict([f"{line[1]} [SEP] {line[2]}" for line in dev])
            score = 100 * f1_score([int(line[3]) for line in dev], predicted, zero_division=0)
            expected[f"{name}-1-{longest}"] = (score, [str(label) for label in predicted])
    chosen = read_json(tmp_path / "run/seed-1/chosen/lika.json")
    scores = {name: score for name, (score, _) in expected.items()}
    assert {trial["settings"]["vectorizer"]: trial["score"] for trial in chosen["trials"]} == pytest.approx(scores)
    score, predicted = expected[chosen["settings"]["vectorizer"]]
    assert score == max(score for score, _ in expected.values())
    assert chosen["score"] == summary["tasks"]["lika"]["scores"]["1"] == pytest.approx(score)
    assert read_column(tmp_path / "run/seed-1/predictions/dev_pred_lika.tsv") == predicted


def test_joined_texts_of_every_kind(tmp_path: Path) -> None:
    """A choice is learned from one right and one wrong candidate of each row; mood's estimator answers mood-elsewhere, too."""
    folders = [f"data_dir={tmp_path}/data", f"run_dir={tmp_path}/run", f"cache_dir={tmp_path}/c"]
    suite = f"suite={write_kinds_suite(tmp_path)}"
    summary = run_baseline(job([suite, *folders, *JOINED, "floor.choice=pairs"]))
    tasks = {id: of["median"] for id, of in summary["tasks"].items() if id != "stars"}
    assert tasks == {"mood": 100, "answer": 100, "opposite": 100, "mood-elsewhere": 100}
    assert not (tmp_path / "c").exists()  # the texts are not tokenized


def test_training_rows_without_a_word_or_of_one_label(floor_settings: list[str], tmp_path: Path) -> None:
    path = tmp_path / "data/train.tsv"
    path.write_text(path.read_text(encoding="utf-8").replace("\targ", "\tglad"), encoding="utf-8")
    refused(lambda: run_baseline(job([*floor_settings, "method=svm", f"run_dir={tmp_path}/one"])))
    write_tsv(path, ("text", "label"), *[(f"{i} ?", "glad" if i % 2 else "arg") for i in range(9)])
    refused(lambda: run_baseline(job([*floor_settings, *JOINED])))


def reading(method: str, folder: Path) -> list[str]:
    """The settings of a method, with a file of vectors if it reads one. fastText starts a process for each training."""
    if method == "fasttext":
        return ["method=fasttext", "floor.grid.word_ngrams=[1]", "floor.grid.max_characters=[0]"]
    (folder / "words.vec").write_text("4 2\nbra 1 0\nilla 0 1\nnummer 1 1\na 0.5 0.1\n", encoding="utf-8")
    vectors = ["embeddings=fasttext", f"embeddings.path={folder / 'words.vec'}"] if method == "static" else []
    return [*vectors, f"method={method}"]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["logistic", "naive_bayes", "static", "fasttext"])
def test_all_kinds_of_targets(tmp_path: Path, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels, numbers, choices and words, as far as the method predicts them."""
    monkeypatch.setattr(fasttext_classifier, "BUCKETS", 500)
    suite = write_kinds_suite(tmp_path)
    folders = [f"{key}_dir={tmp_path / key}" for key in ("data", "run", "cache")]
    run_baseline(job([f"suite={suite}", *folders, *reading(method, tmp_path), "seeds=[1]"]))
    assert (tmp_path / "run/seed-1/submission.zip").exists() or (tmp_path / "run/seed-1/predictions").is_dir()


@pytest.mark.parametrize("method", KEEPABLE)
def test_a_kept_floor_predicts_new_rows_as_before(pairs: list[str], tmp_path: Path, method: str) -> None:
    summary = run_baseline(job([*pairs, f"method={method}", "floor.keep=true"]))
    predictor = Predictor.load(tmp_path / "run")
    lines = read_column(tmp_path / "data/train.tsv")
    held_out = read_json(tmp_path / "run/held_out.json")
    for task in set(summary["tasks"]) - {"ensam"}:
        rows = [lines[line - 2].split("\t")[1:3] for line in held_out[task]]
        predicted = list(map(str, predictor.predict(task, rows)))
        assert predicted == read_column(tmp_path / f"run/seed-1/predictions/dev_pred_{task}.tsv")
    refused(lambda: predictor.encode(["solen"]))
    refused(lambda: run_baseline(job([*pairs, f"method={method}", "floor.keep=true", "floor.choice=pairs"])))


def test_models_that_cannot_be_read(pairs: list[str], tmp_path: Path) -> None:
    run_baseline(job([*pairs, "method=logistic", "floor.keep=false"]))
    refused(lambda: Predictor.load(tmp_path / "run"), file="lika.ckpt")
    refused(lambda: run_baseline(job([*pairs, "method=logistic", "floor.keep=true"])))
    refused(lambda: run_baseline(job([*pairs, "method=constant", "floor.keep=true", f"run_dir={tmp_path / 'other'}"])))


def test_a_finished_run_that_was_not_asked_to_keep_its_models_does_not_keep_them_later(pairs: list[str]) -> None:
    run_baseline(job([*pairs, "method=logistic", "seeds=[1]"]))
    refused(lambda: run_baseline(job([*pairs, "method=logistic", "floor.keep=true", "seeds=[1,2]"])), file="run")


def test_a_kept_model_of_another_form_is_refused(pairs: list[str], tmp_path: Path) -> None:
    run_baseline(job([*pairs, "method=logistic", "floor.keep=true", "seeds=[1]"]))
    file = tmp_path / "run/seed-1/models/lika.ckpt"
    good = torch.load(file, weights_only=True)
    numbers = good["numbers"]
    wrong: list[object] = [
        {"estimator": 1},
        *({**good, "classes": bad} for bad in ([0, 7], [0], None, [0, 1, 1])),
        *({**good, "vectorizer": bad} for bad in ("tfidf-1-2", "tfidf")),
        {**good, "numbers": {}},
        {**good, "numbers": {**numbers, "coef_": numbers["coef_"][:, :-1]}},
        {**good, "numbers": {**numbers, "coef_": numbers["coef_"] * float("nan")}},
        {**good, "numbers": {**numbers, "coef_": "1"}},
        {**good, "numbers": {**numbers, "coef_": numbers["coef_"].to_sparse()}},
        {**good, "numbers": {**numbers, "coef_": numbers["coef_"][:, :1].clone().expand(numbers["coef_"].shape)}},
        {**good, "numbers": {**numbers, "coef_": torch.zeros(1, dtype=torch.float64).as_strided((1, 10**15), (0, 0))}},
        {**good, "numbers": {**numbers, "intercept_": torch.zeros(7, dtype=torch.float64)}},
        {**good, "features": {**good["features"], "scale": good["features"]["scale"] * 0}},
        {**good, "features": {**good["features"], "words": {"ngrams": "[", "idf": good["features"]["words"]["idf"]}}},
        {**good, "features": {**good["features"], "mean": good["features"]["mean"][:1]}},
        *({**good, "features": {**good["features"], "characters": part}} for part in (torch.zeros(3), [], "x", None)),
    ]
    for damaged in wrong:
        torch.save(damaged, file)
        refused(lambda: Predictor.load(tmp_path / "run"), file="lika.ckpt")
    file.write_bytes(b"PK")
    refused(lambda: Predictor.load(tmp_path / "run"), file="lika.ckpt")
