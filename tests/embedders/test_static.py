"""Static vectors of a run: which words get one, from files that fastText's own library wrote and from GloVe's text."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import fasttext
import numpy as np
import pytest
import torch
from embedding_requests import build_request
from input_errors import refused
from vector_words import PACKED, write_fasttext

from mtl.data.text import BOUNDARIES, TokenizedTexts, Vocabulary
from mtl.embedders import EMBEDDERS, RandomOptions, StaticOptions, read_embeddings
from mtl.embedders.interface import EmbeddingsRequest, RunReaderRequest
from mtl.embedders.new_words import run_words
from mtl.embedders.words import WordEmbeddings, random_embeddings, static_embeddings

LINES = [["solen", "skiner", "nummer"], ["jag", "skrattar", "gott"], ["regnet", "faller", "nummer"]] * 30


def request(
    suite_file: Path, path: Path, dim: int | None = None, min_count: int = 1, **changes: object
) -> EmbeddingsRequest:
    given = {"dropout": 0.2, "dim": dim, "trainable": True, "min_count": min_count, **changes}
    return build_request(suite_file, StaticOptions(name="fasttext", **given), path)  # type: ignore[arg-type]


def test_every_word_gets_its_vector(suite_file: Path, tmp_path: Path) -> None:
    write_fasttext(tmp_path / "v.bin", LINES)
    model = fasttext.load_model(str(tmp_path / "v.bin"))
    made = static_embeddings(request(suite_file, tmp_path / "v.bin"))
    weight = made.embedder().table.weight.detach()
    assert set(made.vocabulary.words) >= {"solen", "sjunger"}
    for word, vector in zip(made.vocabulary.words, weight[2:], strict=True):
        np.testing.assert_allclose(vector, model.get_word_vector(word), atol=1e-6)
    torch.testing.assert_close(weight[1], weight[2:].mean(0))
    assert made.coverage.found[0] == 8  # the words of LINES; the texts have no "</s>"
    assert made.coverage.found[0] + made.coverage.from_ngrams[0] == len(made.vocabulary.words)
    assert made.coverage.unknown == (0, 0)


def test_min_count_and_max_words_count_only_the_training_texts(suite_file: Path, tmp_path: Path) -> None:
    write_fasttext(tmp_path / "v.bin", LINES)
    given = request(suite_file, tmp_path / "v.bin")
    everything = static_embeddings(given).vocabulary.words
    assert everything == given.texts.types  # words of dev and test texts too, in the texts' order
    train = [given.texts.words(text) for text in given.training_texts]
    counts = Counter(word for words in train for word in words)
    frequent = {word for word, _ in counts.most_common(5)}
    for changes, kept in (
        ({"min_count": 2}, {word for word in counts if counts[word] >= 2}),
        ({"min_count": 5}, {word for word in counts if counts[word] >= 5}),
        ({"max_words": 5}, frequent),
    ):
        limited = request(suite_file, tmp_path / "v.bin", **changes)  # type: ignore[arg-type]
        words = static_embeddings(limited).vocabulary.words
        assert words == [word for word in given.texts.types if word in kept] and 0 < len(words) < len(everything)
        assert given.options.takes_all_words and not limited.options.takes_all_words
    rare = request(suite_file, tmp_path / "v.bin", min_count=999)
    refused(static_embeddings, rare, key="embeddings.min_count")


def test_words_that_a_text_file_lacks_are_unknown(suite_file: Path, tmp_path: Path) -> None:
    vec = tmp_path / "v.vec"
    vec.write_text("1 3\nsolen 1 2 3\n", encoding="utf-8")
    made = static_embeddings(request(suite_file, vec))
    assert made.vocabulary.words == ["solen"]
    assert made.vocabulary.ids(["regnet"]).tolist() == [Vocabulary.UNKNOWN]
    assert made.coverage.found[0] == 1 and made.coverage.from_ngrams == (0, 0)
    refused(lambda: static_embeddings(request(suite_file, vec, dim=300)))
    vec.write_text("1 3\nsłońce 1 2 3\n", encoding="utf-8")
    refused(lambda: static_embeddings(request(suite_file, vec)), file="v.vec")


def test_boundary_words_have_random_vectors_and_are_not_looked_up(suite_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "v.vec"
    path.write_text("3 2\nsolen 1 2\nnummer 3 4\n<SOS> 5 6\n", encoding="utf-8")
    given = request(suite_file, path)
    made = static_embeddings(replace(given, texts=given.texts.with_boundaries()))
    assert sorted(made.vocabulary.words) == ["<EOS>", "<SOS>", "nummer", "solen"]
    torch.manual_seed(7)
    weight = made.embedder().table.weight.detach()
    torch.manual_seed(7)
    drawn = torch.nn.Embedding(6, 2, padding_idx=0).weight.detach()
    ids = made.vocabulary.ids(["solen", "nummer", *BOUNDARIES])
    assert weight[ids[:2]].tolist() == [[1, 2], [3, 4]] and weight[1].tolist() == [2, 3]
    assert torch.equal(weight[ids[2:]], drawn[ids[2:]])
    assert made.coverage.found[0] == 2 and made.coverage.from_ngrams == (0, 0)


@pytest.mark.parametrize(
    ("changes", "new"),
    [
        ({}, ["known", "n-grams"]),
        ({"missing": "random"}, ["known", "unknown"]),
        ({"max_words": 5}, ["unknown", "unknown"]),
    ],
)
def test_a_word_that_is_new(suite_file: Path, tmp_path: Path, changes: dict[str, object], new: list[str]) -> None:
    path = tmp_path / "v.bin"
    write_fasttext(path, [*LINES, *[["månen", "lyser"]] * 9])
    given = request(suite_file, path, **changes)
    made = static_embeddings(given)
    assert (made.coverage.from_ngrams[0] > 0) == ("missing" not in changes)  # n-grams are not used for random vectors
    made.save(tmp_path)
    weights = made.embedder().state_dict()
    finished = RunReaderRequest(given.options, tmp_path, weights, made.fingerprint(), path, torch.device("cpu"))
    reader = run_words(finished)
    reader.embedder.load_state_dict(weights)
    tokens, _ = reader.sequences(TokenizedTexts.tokenize(["månen månarna"], "sv", 9)).gather(torch.tensor([0]))
    vectors = reader.embedder(tokens)[0].detach()
    model = fasttext.load_model(str(path))
    for word, kind, vector in zip(("månen", "månarna"), new, vectors, strict=True):
        expected = weights["table.weight"][1] if kind == "unknown" else torch.tensor(model.get_word_vector(word))
        torch.testing.assert_close(vector, expected, atol=1e-6, rtol=0)


GLOVE_TEXT = """\
Solen 9 9 9
solen 0.5 -1 0.25
at name@domain.com 1 1 1
nummer 3 2 1
solen 7 7 7
. . . 4 4 4
"""


def test_an_embeddings_file_names_its_kind(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("dim: 10\n", encoding="utf-8")
    refused(lambda: read_embeddings(str(tmp_path / "x.yaml")), file="x.yaml", key="name")


def test_glove_is_fixed_keeps_the_case_and_draws_what_the_file_lacks(suite_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_bytes(PACKED["zip"](GLOVE_TEXT.encode()))
    given = build_request(suite_file, StaticOptions(**{**read_embeddings("glove"), "path": str(path)}), path)
    made = EMBEDDERS["glove"].build(given)
    assert made.vocabulary.words == given.texts.types
    torch.manual_seed(7)
    table = made.embedder().table
    torch.manual_seed(7)
    expected = torch.nn.Embedding(len(given.texts.types) + 2, 3, padding_idx=0).weight.detach()
    expected[made.vocabulary.ids(["solen", "nummer"])] = torch.tensor([[0.5, -1, 0.25], [3, 2, 1]])
    assert torch.equal(table.weight, expected) and not table.weight.requires_grad
    assert made.coverage.found[0] == 2 and made.coverage.from_ngrams == (0, 0)
    # Words that the run never saw, in either case.
    made.save(tmp_path)
    weights = made.embedder().state_dict()
    saved = RunReaderRequest(given.options, tmp_path, weights, made.fingerprint(), path, torch.device("cpu"))
    reader = EMBEDDERS["glove"].load(saved)
    reader.embedder.load_state_dict(weights)
    tokens, _ = reader.sequences(TokenizedTexts.tokenize(["Solen solen SOLEN"], "sv", 9)).gather(torch.tensor([0]))
    read = reader.embedder(tokens)[0]
    assert read[:2].tolist() == [[9, 9, 9], [0.5, -1, 0.25]] and torch.equal(read[2], weights["table.weight"][1])


def options(**changes: object) -> RandomOptions:
    given = {"dim": 6, "trainable": True, "min_count": 2, "dropout": 0.2}
    return RandomOptions(name="random", **{**given, **changes})  # type: ignore[arg-type]


def embeddings(suite_file: Path, **changes: object) -> WordEmbeddings:
    return random_embeddings(build_request(suite_file, options(**changes)))


def test_random_vectors_of_rare_words_boundary_words_and_seeds(suite_file: Path) -> None:
    made = embeddings(suite_file)
    # The number in each training text occurs once, that in a dev text never.
    assert not [word for word in made.vocabulary.words if word.isdigit()]
    assert "solen" in made.vocabulary.words and "nummer" in made.vocabulary.words
    assert made.vocabulary.ids(["17"]).tolist() == [Vocabulary.UNKNOWN]
    assert made.coverage.unknown == (100, 100) and made.coverage.unknown_types.sum() == 100
    words = embeddings(suite_file, min_count=1).vocabulary.words
    assert "17" in words and "77" not in words
    few = embeddings(suite_file, min_count=1, max_words=5)
    assert set(few.vocabulary.words) < set(words) and few.coverage.found[0] == len(few.vocabulary.words) == 5
    request = build_request(suite_file, options(min_count=99))
    made = random_embeddings(replace(request, texts=request.texts.with_boundaries()))
    assert made.vocabulary.words == [*BOUNDARIES]
    tokens, _ = made.sequences(request.texts.with_boundaries()).gather(torch.tensor([0]))
    assert tokens.tolist() == [[2, 1, 1, 1, 1, 3]]
    assert made.embedder().table.weight.shape == (4, 6)
    made = embeddings(suite_file)
    drawn = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        drawn.append(made.embedder().table.weight)
    assert torch.equal(drawn[0], drawn[1]) and not torch.equal(drawn[0], drawn[2])
    weight = embeddings(suite_file, dim=4000).embedder().table.weight.detach()
    assert abs(weight[1:].std() - 1) < 0.04 and (weight[0] == 0).all()
