from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import fasttext
import numpy as np
import pytest
import torch
from embedding_requests import build_request
from input_errors import raises_input_error

from mtl.base.progress import Progress
from mtl.data.text import BOUNDARIES, TokenizedTexts, Vocabulary
from mtl.embedders import fasttext as module
from mtl.embedders.embedder import BuildRequest, LoadRequest, note_source, noted_source
from mtl.embedders.fasttext import FASTTEXT, FastTextOptions, FastTextTraining, fasttext_embeddings, train_fasttext

SMALL = FastTextTraining(dim=6, epochs=2, min_count=1, bucket=500, threads=1)
LINES = [["solen", "skiner", "nummer"], ["jag", "skrattar", "gott"], ["regnet", "faller", "nummer"]] * 30


def request(
    suite_file: Path, path: Path, dim: int | None = None, min_count: int = 1, **changes: object
) -> BuildRequest:
    given = {"dropout": 0.2, "dim": dim, "trainable": True, "min_count": min_count, **changes}
    return build_request(suite_file, FastTextOptions("fasttext", **given), path)  # type: ignore[arg-type]


def test_every_word_gets_its_vector(suite_file: Path, tmp_path: Path) -> None:
    train_fasttext(LINES, tmp_path / "v.bin", SMALL)
    model = fasttext.load_model(str(tmp_path / "v.bin"))
    made = fasttext_embeddings(request(suite_file, tmp_path / "v.bin"))
    weight = made.embedder().table.weight.detach()
    assert set(made.vocabulary.words) >= {"solen", "sjunger"}
    for word, vector in zip(made.vocabulary.words, weight[2:], strict=True):
        np.testing.assert_allclose(vector, model.get_word_vector(word), atol=1e-6)
    torch.testing.assert_close(weight[1], weight[2:].mean(0))
    assert made.coverage.found[0] == 8  # the words of LINES; the texts have no "</s>"
    assert made.coverage.found[0] + made.coverage.from_ngrams[0] == len(made.vocabulary.words)
    assert made.coverage.ngram_types is not None and made.coverage.unknown == (0, 0)


def test_min_count_counts_only_the_training_texts(suite_file: Path, tmp_path: Path) -> None:
    train_fasttext(LINES, tmp_path / "v.bin", SMALL)
    given = request(suite_file, tmp_path / "v.bin")
    everything = fasttext_embeddings(given).vocabulary.words
    assert everything == given.texts.types  # words of dev and test texts too, in the texts' order
    train = [given.texts.words(text) for text in given.training_texts]
    for least in (2, 5):
        counts = Counter(word for words in train for word in words)
        expected = [word for word in given.texts.types if counts[word] >= least]
        words = fasttext_embeddings(request(suite_file, tmp_path / "v.bin", min_count=least)).vocabulary.words
        assert words == expected
        assert 0 < len(expected) < len(everything)
    with raises_input_error(key="embeddings.min_count"):
        fasttext_embeddings(request(suite_file, tmp_path / "v.bin", min_count=999))


def test_words_that_a_text_file_lacks_are_unknown(suite_file: Path, tmp_path: Path) -> None:
    vec = tmp_path / "v.vec"
    vec.write_text("1 3\nsolen 1 2 3\n", encoding="utf-8")
    made = fasttext_embeddings(request(suite_file, vec))
    assert made.vocabulary.words == ["solen"]
    assert made.vocabulary.ids(["regnet"]).tolist() == [Vocabulary.UNKNOWN]
    assert made.coverage.found[0] == 1 and made.coverage.from_ngrams == (0, 0)
    with raises_input_error():
        fasttext_embeddings(request(suite_file, vec, dim=300))
    vec.write_text("1 3\nsłońce 1 2 3\n", encoding="utf-8")
    with raises_input_error(file="v.vec"):
        fasttext_embeddings(request(suite_file, vec))


@pytest.mark.parametrize("kind", ["vec", "bin"])
def test_missing_words_may_have_random_vectors_of_their_own(suite_file: Path, tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"v.{kind}"
    if kind == "vec":
        path.write_text("2 6\nsolen 1 2 3 4 5 6\nnummer 3 2 1 0 1 2\n", encoding="utf-8")
        expected = {"solen": [1, 2, 3, 4, 5, 6], "nummer": [3, 2, 1, 0, 1, 2]}
    else:
        train_fasttext(LINES, path, SMALL)
        model = fasttext.load_model(str(path))
        expected = {word: model.get_word_vector(word) for words in LINES for word in words}
    given = request(suite_file, path, missing="random")
    made = fasttext_embeddings(given)
    assert made.vocabulary.words == given.texts.types
    torch.manual_seed(7)
    weight = made.embedder().table.weight.detach()
    torch.manual_seed(7)
    drawn = torch.nn.Embedding(len(made.vocabulary), 6, padding_idx=0).weight.detach()
    assert (weight[0] == 0).all() and torch.equal(weight[1], drawn[1])  # the unknown word's is random too, as in jiant
    for place, word in enumerate(made.vocabulary.words, start=2):
        if word in expected:
            np.testing.assert_allclose(weight[place], expected[word], atol=1e-6)
        else:  # n-grams are not used
            assert torch.equal(weight[place], drawn[place])
    found = sum(word in expected for word in given.texts.types)
    assert made.coverage.found[0] == found and made.coverage.from_ngrams == (0, 0)
    assert made.coverage.unknown[0] == len(given.texts.types) - found


def test_boundary_words_have_random_vectors_and_are_not_looked_up(suite_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "v.vec"
    path.write_text("3 2\nsolen 1 2\nnummer 3 4\n<SOS> 5 6\n", encoding="utf-8")
    given = request(suite_file, path)
    made = fasttext_embeddings(replace(given, texts=given.texts.with_boundaries()))
    assert sorted(made.vocabulary.words) == ["<EOS>", "<SOS>", "nummer", "solen"]
    torch.manual_seed(7)
    weight = made.embedder().table.weight.detach()
    torch.manual_seed(7)
    drawn = torch.nn.Embedding(6, 2, padding_idx=0).weight.detach()
    ids = made.vocabulary.ids(["solen", "nummer", *BOUNDARIES])
    assert weight[ids[:2]].tolist() == [[1, 2], [3, 4]] and weight[1].tolist() == [2, 3]
    assert torch.equal(weight[ids[2:]], drawn[ids[2:]])
    assert made.coverage.found[0] == 2 and made.coverage.from_ngrams == (0, 0)


def test_only_the_most_frequent_words_have_a_vector(suite_file: Path, tmp_path: Path) -> None:
    train_fasttext(LINES, tmp_path / "v.bin", SMALL)
    given = request(suite_file, tmp_path / "v.bin", max_words=5)
    counts = Counter(word for text in given.training_texts for word in given.texts.words(text))
    made = fasttext_embeddings(given)
    assert made.vocabulary.words == [
        word for word in given.texts.types if word in {frequent for frequent, _ in counts.most_common(5)}
    ]
    assert not given.options.takes_all_words and request(suite_file, tmp_path / "v.bin").options.takes_all_words


@pytest.mark.parametrize(
    ("changes", "new"),
    [
        ({}, ["known", "n-grams"]),
        ({"missing": "random"}, ["known", "unknown"]),
        ({"max_words": 5}, ["unknown", "unknown"]),
    ],
)
def test_a_word_that_a_run_never_saw(
    suite_file: Path, tmp_path: Path, changes: dict[str, object], new: list[str]
) -> None:
    path = tmp_path / "v.bin"
    train_fasttext([*LINES, *[["månen", "lyser"]] * 9], path, SMALL)
    given = request(suite_file, path, **changes)
    made = fasttext_embeddings(given)
    made.save(tmp_path)
    weights = made.embedder().state_dict()
    reader = module.load(LoadRequest(given.options, tmp_path, weights, made.fingerprint(), path, torch.device("cpu")))
    reader.embedder.load_state_dict(weights)
    tokens, _ = reader.sequences(TokenizedTexts(["månen månarna"], "sv", 9)).gather(torch.tensor([0]))
    vectors = reader.embedder(tokens)[0].detach()
    model = fasttext.load_model(str(path))
    for word, kind, vector in zip(("månen", "månarna"), new, vectors, strict=True):
        expected = weights["table.weight"][1] if kind == "unknown" else torch.tensor(model.get_word_vector(word))
        torch.testing.assert_close(vector, expected, atol=1e-6, rtol=0)


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
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.bin", "a.bin.source", "b.bin", "b.bin.source"]


def test_nothing_to_learn(tmp_path: Path) -> None:
    with raises_input_error(file="v.bin"):
        train_fasttext([["a", "b"]], tmp_path / "v.bin", FastTextTraining(min_count=9))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("changes", "note"),
    [
        ({}, "fastText's vectors"),
        (
            {"min_count": 3, "max_words": 50},
            "fastText's vectors; words that occur fewer than 3 times in the training texts are unknown, and all but the 50 most frequent ones",
        ),
    ],
)
def test_the_audit_s_note_says_which_words_are_unknown(changes: dict[str, int], note: str) -> None:
    options = FastTextOptions("fasttext", 0.2, trainable=True, **{"min_count": 1, **changes})
    assert FASTTEXT.audit_note(options) == note


@pytest.mark.parametrize("former", [False, True])
def test_vectors_never_have_the_source_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, former: bool) -> None:
    """At whatever moment the process is killed."""
    path = tmp_path / "v.bin"
    if former:
        note_source(path, "former")
        path.write_text("former", encoding="utf-8")
    seen = []

    def look() -> None:
        seen.append((path.read_bytes()[:6] if path.exists() else None, noted_source(path)))

    def observed(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            result = real(*given, **named)
            look()
            return result

        return call

    for name in ("replace", "unlink"):
        monkeypatch.setattr(Path, name, observed(getattr(Path, name)))
    look()
    train_fasttext(LINES, path, SMALL, "new")
    monkeypatch.undo()
    trained = path.read_bytes()[:6]
    assert seen[-1] == (trained, "new") and (None, "new") in seen
    assert {note for vectors, note in seen if vectors == trained} == {"new"}
    assert {note for vectors, note in seen if vectors == b"former"} == ({"former"} if former else set())
