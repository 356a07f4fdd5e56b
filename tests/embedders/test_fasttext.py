from collections import Counter
from pathlib import Path

import fasttext
import numpy as np
import pytest
import torch

from mtl.config.load import load_config
from mtl.data.dataset import Dataset, load_dataset
from mtl.embedders import build_embeddings
from mtl.embedders import fasttext as module
from mtl.embedders.fasttext import FastTextTraining, fasttext_embeddings, train_fasttext
from mtl.embedders.recipes import fetch, load_recipe
from mtl.embedders.train import train
from mtl.embedders.words import WordEmbeddings
from mtl.errors import InputError
from mtl.progress import Progress
from mtl.tasks.suite import Suite, load_suite

SMALL = FastTextTraining(dim=6, epochs=2, min_count=1, bucket=500, threads=1)
LINES = [["solen", "skiner", "nummer"], ["jag", "skrattar", "gott"], ["regnet", "faller", "nummer"]] * 30


def dataset(suite_file: Path) -> tuple[Suite, Dataset]:
    suite = load_suite(suite_file)
    return suite, load_dataset(suite, suite.choose(["kansla"]), suite_file.parent / "data", 50, 0.1)


def test_every_word_gets_its_vector(suite_file: Path, tmp_path: Path) -> None:
    train_fasttext(LINES, tmp_path / "v.bin", SMALL)
    model = fasttext.load_model(str(tmp_path / "v.bin"))
    made = fasttext_embeddings(dataset(suite_file)[1], tmp_path / "v.bin", None, 1, True)
    weight = made.embedder().table.weight.detach()
    assert set(made.vocabulary.words) >= {"solen", "sjunger"}
    for word, vector in zip(made.vocabulary.words, weight[2:], strict=True):
        np.testing.assert_allclose(vector, model.get_word_vector(word), atol=1e-6)
    torch.testing.assert_close(weight[1], weight[2:].mean(0))
    assert made.coverage.found[0] == 8  # "gott" and its like; the texts have no "</s>"
    assert made.coverage.found[0] + made.coverage.from_ngrams[0] == len(made.vocabulary.words)


def test_min_count_counts_the_training_texts_alone(suite_file: Path, tmp_path: Path) -> None:
    train_fasttext(LINES, tmp_path / "v.bin", SMALL)
    data = dataset(suite_file)[1]
    everything = fasttext_embeddings(data, tmp_path / "v.bin", None, 1, True).vocabulary.words
    assert everything == data.texts.types  # words of dev and test texts too, in the texts' order
    train = [data.texts.words(text) for text in data.distinct_texts("train")]
    for least in (2, 5):
        counts = Counter(word for words in train for word in words)
        expected = [word for word in data.texts.types if counts[word] >= least]
        assert fasttext_embeddings(data, tmp_path / "v.bin", None, least, True).vocabulary.words == expected
        assert 0 < len(expected) < len(everything)
    with pytest.raises(InputError, match="embeddings.min_count=999: no word stands so often in the training texts"):
        fasttext_embeddings(data, tmp_path / "v.bin", None, 999, True)


def test_training_shows_its_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reached = []

    class Recorded(Progress):
        def reach(self, done: int) -> None:
            reached.append((done, self.total))

    monkeypatch.setattr(module, "Progress", Recorded)
    train_fasttext(LINES, tmp_path / "v.bin", FastTextTraining(dim=4, epochs=2, min_count=1, bucket=100))
    assert reached[-1] == (2 * 90 * 4, 2 * 90 * 4)  # epochs, lines, tokens of a line with its end


def test_what_fasttext_writes_is_progress_or_the_reason_of_a_failure() -> None:
    lines = [
        "Read 0M words\n",
        "\n",
        "Progress:   1.5% words/sec/thread:   12345 lr:  0.049 avg.loss:  4.1 ETA:   0h 3m12s\n",
        "ValueError: Encountered NaN.\n",
        "Progress: 100.0% words/sec/thread:   12345 lr:  0.000 avg.loss:  4.1 ETA:   0h 0m 0s\n",
    ]
    with Progress("training", 200, "tokens") as shown:
        assert module._follow(lines[:3], shown, 200) == "Read 0M words"
        assert shown.done == 3
        assert module._follow(lines, shown, 200) == "ValueError: Encountered NaN."
        assert shown.done == 200


def test_one_thread_trains_the_same_vectors_each_time(tmp_path: Path) -> None:
    for name in ("a.bin", "b.bin"):
        train_fasttext(LINES, tmp_path / name, SMALL)
    assert (tmp_path / "a.bin").read_bytes() == (tmp_path / "b.bin").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.bin", "b.bin"]


def test_nothing_to_learn(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"v\.bin: fastText could not train: .*vocabulary.*min_count=9"):
        train_fasttext([["a", "b"]], tmp_path / "v.bin", FastTextTraining(min_count=9))
    assert list(tmp_path.iterdir()) == []


def build(suite: Suite, data: Dataset, folder: Path, path: Path | None, dim: int | None = None) -> WordEmbeddings:
    settings = ["suite=klej-sample", "embeddings=fasttext", f"embeddings_dir={folder}", f"data_dir={folder / 'data'}"]
    settings += [f"embeddings.{key}={value}" for key, value in (("path", path), ("dim", dim)) if value is not None]
    made = build_embeddings(load_config(settings)[0], suite, data, torch.device("cpu"))
    assert isinstance(made, WordEmbeddings)
    return made


def test_wrong_vectors_are_one_line(suite_file: Path, tmp_path: Path) -> None:
    suite, data = dataset(suite_file)
    vec = tmp_path / "v.vec"
    vec.write_text("1 3\nsolen 1 2 3\n", encoding="utf-8")
    assert build(suite, data, tmp_path, vec).vocabulary.words == ["solen"]
    with pytest.raises(InputError, match="has vectors of 3 numbers, but embeddings.dim=300"):
        build(suite, data, tmp_path, vec, 300)
    vec.write_text("1 3\nsłońce 1 2 3\n", encoding="utf-8")
    with pytest.raises(InputError, match="knows none of the suite's"):
        build(suite, data, tmp_path, vec)
    with pytest.raises(InputError, match=r"none\.bin: no such vectors; train your own: mtl embeddings train"):
        build(suite, data, tmp_path, tmp_path / "none.bin")
    with pytest.raises(InputError, match="suite liten names no fasttext vectors; set embeddings.path"):
        build(suite, data, tmp_path, None)
    suite.embeddings["fasttext"] = "fasttext-pl"
    with pytest.raises(
        InputError, match=r"cc\.pl\.300\.bin: no such vectors; fetch them: mtl embeddings fetch fasttext"
    ):
        build(suite, data, tmp_path, None)


def test_a_recipe_that_can_be_trained_is_trained(suite_file: Path, tmp_path: Path) -> None:
    suite, data = dataset(suite_file)
    suite.embeddings["fasttext"] = "fasttext-sample"
    made = build(suite, data, tmp_path, None)
    assert made.dim == load_recipe("fasttext-sample").train["dim"]
    assert (tmp_path / "klej-sample.bin").exists()


def test_train_on_a_suite_or_on_texts(suite_file: Path, tmp_path: Path) -> None:
    small = ["dim=4", "bucket=100", "min_count=1", "epochs=1", "threads=1"]
    out = tmp_path / "v.bin"
    assert (
        train("fasttext", [f"suite={suite_file}", f"data_dir={suite_file.parent / 'data'}", f"out={out}", *small])
        == out
    )
    assert "skiner" in fasttext.load_model(str(out)).words
    for settings, complaint in (
        ([], "name what to train on"),
        (["texts=a.txt"], "name what to write"),
        (["texts=a.txt", "suite=klej", "out=x"], "name what to train on"),
        (["texts=a.txt", "out=x", "dimension=3"], "unknown key 'dimension'"),
        (["texts=a.txt", "out=x", "dim=wide"], "dim=wide"),
        (["texts=none.txt", f"out={out}"], "none.txt: no such file"),
    ):
        with pytest.raises(InputError, match=complaint):
            train("fasttext", settings)


def test_fetch_complains(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown key 'recipes'"):
        fetch("fasttext", ["recipes=a"])
    with pytest.raises(InputError, match="recipe=fasttext-sample: names no address"):
        fetch("fasttext", ["recipe=fasttext-sample"])
    with pytest.raises(
        InputError, match="recipe=zz: unknown; known: elmo-pl, elmo-sample, fasttext-pl, fasttext-sample"
    ):
        fetch("fasttext", ["recipe=zz"])
    (tmp_path / "cc.pl.300.bin").write_bytes(b"there")
    assert fetch("fasttext", [f"embeddings_dir={tmp_path}"]) == tmp_path / "cc.pl.300.bin"
