from dataclasses import asdict, replace
from pathlib import Path

import pytest
import torch
from embedding_requests import build_request

from mtl.base.errors import InputError
from mtl.base.typed import typed
from mtl.data.text import BOUNDARIES, Vocabulary
from mtl.embedders.static import RandomOptions, random_embeddings
from mtl.embedders.words import WordEmbeddings


def options(**changes: object) -> RandomOptions:
    given = {"dim": 6, "trainable": True, "init_std": 0.5, "min_count": 2, "dropout": 0.2}
    return RandomOptions(name="random", **{**given, **changes})  # type: ignore[arg-type]


def embeddings(suite_file: Path, **changes: object) -> WordEmbeddings:
    return random_embeddings(build_request(suite_file, options(**changes)))


def test_rare_words_and_words_of_dev_alone_are_unknown(suite_file: Path) -> None:
    made = embeddings(suite_file)
    # The number in each training text occurs once, that in a dev text never.
    assert not [word for word in made.vocabulary.words if word.isdigit()]
    assert "solen" in made.vocabulary.words and "nummer" in made.vocabulary.words
    assert made.vocabulary.ids(["17"]).tolist() == [Vocabulary.UNKNOWN]
    assert made.coverage.unknown == (100, 100)
    assert made.coverage.ngram_types is None and made.coverage.unknown_types.sum() == 100
    words = embeddings(suite_file, min_count=1).vocabulary.words
    assert "17" in words and "77" not in words
    few = embeddings(suite_file, min_count=1, max_words=5)
    assert set(few.vocabulary.words) < set(words) and few.coverage.found[0] == len(few.vocabulary.words) == 5


def test_boundary_words_have_vectors_and_each_seed_draws_its_own(suite_file: Path) -> None:
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
    assert abs(weight[1:].std() - 0.5) < 0.02 and (weight[0] == 0).all()


@pytest.mark.parametrize("key", ["dim", "min_count", "max_words", "init_std"])
def test_options_must_be_positive(key: str) -> None:
    assert typed(RandomOptions, asdict(options())) == options()
    with pytest.raises(InputError, match=f"^embeddings.{key}=0: must (be|lie)"):
        typed(RandomOptions, {**asdict(options()), key: 0}, "embeddings.")
