"""A pretrained transformer as an encoder, without a run."""

from pathlib import Path

import numpy as np
import pytest
from input_errors import raises_input_error
from tiny_transformers import write_bert

from mtl.vectors.encoders import open_encoder

TEXTS = ["solen skiner", "regnet faller på taket och på vägen", "", "fin dag"]


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bert(tmp_path_factory.mktemp("bert") / "liten", TEXTS)


def test_vectors_are_means_over_tokens(bert: Path) -> None:
    """Computed by transformers alone, text by text."""
    from transformers import AutoModel, AutoTokenizer

    tokenizer, body = AutoTokenizer.from_pretrained(bert), AutoModel.from_pretrained(bert).eval()
    encoder = open_encoder("transformer", {"path": str(bert)})
    for text, vector in zip(TEXTS, encoder.encode(TEXTS), strict=True):
        states = body(**tokenizer(text, return_tensors="pt", return_token_type_ids=True)).last_hidden_state[0]
        np.testing.assert_allclose(vector, states.mean(dim=0).detach(), rtol=0, atol=1e-5)


def test_it_describes_itself(bert: Path) -> None:
    encoder = open_encoder("transformer", {"path": str(bert), "language": "sv"})
    shown = encoder.description
    assert (shown.name, shown.title, shown.language) == ("transformer-liten", "Transformer, liten", "sv")
    assert (shown.family, shown.dim, shown.max_length, shown.trained_on) == ("transformer", 32, 64, ())
    assert shown.parameters_without_embeddings < shown.parameters and shown.memory == 4 * shown.parameters
    assert list(encoder.versions()) == ["mtl", "transformers", "tokenizers"]
    with raises_input_error(key="path"):
        open_encoder("transformer", {})
