"""Requests to build embeddings of the small suite's words, and trainings of embeddings that are short."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from command_line import job

from mtl.base.settings.schema import EmbedderOptions
from mtl.data.loading import load_dataset
from mtl.data.text import TokenizedTexts, Vocabulary, tokenized
from mtl.embedders import EMBEDDERS, recipes
from mtl.embedders.find import Vectors, find_vectors
from mtl.embedders.interface import Embeddings, EmbeddingsRequest, count_coverage
from mtl.embedders.words import WordEmbeddings
from mtl.jobs.job import Job
from mtl.tasks.suite import load_suite


def build_request(suite_file: Path, options: EmbedderOptions, path: Path | None = None) -> EmbeddingsRequest:
    """For the texts of the task `kansla`: 60 of train, 30 of dev, 10 of test. Each ends in a number of its own."""
    suite = load_suite(suite_file)
    dataset = load_dataset(suite, suite.choose(["kansla"]), suite_file.parent / "data", 0.1)
    texts = tokenized(dataset.texts, suite.language, 50)
    cache_dir = suite_file.parent / "cache"
    return EmbeddingsRequest(options, texts, dataset.distinct_texts("train"), path, cache_dir, torch.device("cpu"))


def vectors_of(run: Job) -> Path | None:
    """The file or folder of a run's vectors, which are trained first if they do not exist."""
    if vectors := find_vectors(run.config, run.suite):
        vectors.check_obtainable()
        vectors.train_if_missing(run.suite, run.data_dir, run.config.held_out, torch.device("cpu"))
    return None if vectors is None else vectors.path


def small_job(suite_file: Path, *settings: str, fasttext: str | None = None) -> Job:
    """A run with fastText on the small suite, whose file names these vectors."""
    if fasttext is not None:
        text = suite_file.read_text(encoding="utf-8")
        suite_file.write_text(f"{text}embeddings: {{fasttext: {fasttext}}}\n", encoding="utf-8")
    folder = suite_file.parent
    given = [f"suite={suite_file}", f"data_dir={folder / 'data'}", f"embeddings_dir={folder / 'vectors'}"]
    return job([*given, "embeddings=fasttext", *settings])


def build(suite_file: Path, run: Job) -> Embeddings:
    request = build_request(suite_file, run.config.embeddings)
    return EMBEDDERS[run.config.embeddings.name].build(replace(request, path=vectors_of(run)))


def found(run: Job) -> Vectors:
    return find_vectors(run.config, run.suite)


# Of padding and of the unknown word, then of the words pies and kot.
VECTORS = np.array([[0, 0], [2, 4], [1, 2], [3, 6]], dtype=np.float32)


def two_words() -> WordEmbeddings:
    """Of the words pies and kot, in this order, with these vectors."""
    texts = TokenizedTexts.tokenize(["kot pies kot"], "pl", 9)
    return WordEmbeddings(Vocabulary(["pies", "kot"]), 2, VECTORS, count_coverage(texts, np.ones(2, dtype=bool)), True)


def train_one_epoch(patch: pytest.MonkeyPatch) -> None:
    """Let each training of a recipe last one epoch."""
    load = recipes.load_recipe

    def shortened(name: str) -> recipes.Recipe:
        recipe = load(name)
        return replace(recipe, train={**recipe.train, "epochs": 1})

    patch.setattr(recipes, "load_recipe", shortened)
