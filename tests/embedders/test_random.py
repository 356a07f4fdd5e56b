from pathlib import Path

import pytest
import torch
from embedding_requests import build_request

from mtl.data.text import Vocabulary
from mtl.embedders.random import RandomOptions, random_embeddings
from mtl.embedders.words import WordEmbeddings
from mtl.errors import InputError


def options(**changes: object) -> RandomOptions:
    given = {"dim": 6, "trainable": True, "init_std": 0.5, "min_count": 2, "dropout": 0.2}
    return RandomOptions("random", **{**given, **changes})  # type: ignore[arg-type]


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


def test_each_seed_draws_its_own(suite_file: Path) -> None:
    made = embeddings(suite_file)
    drawn = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        drawn.append(made.embedder().table.weight)
    assert torch.equal(drawn[0], drawn[1]) and not torch.equal(drawn[0], drawn[2])


def test_the_spread_of_the_first_vectors(suite_file: Path) -> None:
    weight = embeddings(suite_file, dim=4000).embedder().table.weight.detach()
    assert abs(weight[1:].std() - 0.5) < 0.02 and (weight[0] == 0).all()


@pytest.mark.parametrize("key", ["dim", "min_count", "init_std"])
def test_options_must_be_positive(key: str) -> None:
    options().check()
    with pytest.raises(InputError, match=f"^embeddings.{key}=0: must be"):
        options(**{key: 0}).check()
