from pathlib import Path

import torch

from mtl.data.dataset import load_dataset
from mtl.data.text import Vocabulary
from mtl.embedders.random import random_embeddings
from mtl.tasks.suite import load_suite


def test_rare_words_and_words_of_dev_alone_are_unknown(suite_file: Path) -> None:
    suite = load_suite(suite_file)
    dataset = load_dataset(suite, suite.choose(["kansla"]), suite_file.parent / "data", 50, 0.1)
    made = random_embeddings(dataset, 6, min_count=2, init_std=0.5, trainable=True)
    # Each text ends in a number of its own: of the training texts those are seen once, of dev never.
    assert not [word for word in made.vocabulary.words if word.isdigit()]
    assert "solen" in made.vocabulary.words and "nummer" in made.vocabulary.words
    assert made.vocabulary.ids(["17"]).tolist() == [Vocabulary.UNKNOWN]
    assert made.coverage.unknown == (100, 100)
    assert "17" in random_embeddings(dataset, 6, min_count=1, init_std=0.5, trainable=True).vocabulary.words


def test_each_seed_draws_its_own(suite_file: Path) -> None:
    suite = load_suite(suite_file)
    dataset = load_dataset(suite, suite.choose(["kansla"]), suite_file.parent / "data", 50, 0.1)
    made = random_embeddings(dataset, 6, min_count=2, init_std=0.5, trainable=True)
    drawn = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        drawn.append(made.embedder().table.weight)
    assert torch.equal(drawn[0], drawn[1]) and not torch.equal(drawn[0], drawn[2])


def test_the_spread_of_the_first_vectors(suite_file: Path) -> None:
    suite = load_suite(suite_file)
    dataset = load_dataset(suite, suite.choose(["kansla"]), suite_file.parent / "data", 50, 0.1)
    weight = random_embeddings(dataset, 4000, 2, init_std=0.5, trainable=True).embedder().table.weight.detach()
    assert abs(weight[1:].std() - 0.5) < 0.02 and (weight[0] == 0).all()
