"""Models of sentence-transformers as encoders: vectors, prompts, and folders that are not trusted."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from data_files import read_json
from input_errors import raises_input_error
from safetensors.numpy import load_file, save_file
from sentence_models import DENSE, MEAN, write_model
from tokenizers import Tokenizer

from mtl.methods.floors.features import Document
from mtl.vectors.encoders import open_encoder
from mtl.vectors.encoders.encoder import SentenceEncoder
from mtl.vectors.encoders.sentence_transformer import SentenceTransformerSettings, mteb_prompts

pytest.importorskip("sentence_transformers")

TEXTS = ["solen skiner", "regnet faller på taket och på vägen " * 4, "", "fin dag", "taket"]
PROMPTS = {"query": "fin dag ", "passage": "regnet "}


def opened(folder: Path, **settings: Any) -> SentenceEncoder:
    return open_encoder("sentence_transformer", {"path": str(folder), **settings})


@pytest.fixture(scope="module")
def mean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("model") / "liten", TEXTS, prompts=PROMPTS, similarity_fn_name="dot")


@pytest.fixture
def copy(mean: Path, tmp_path: Path) -> Path:
    return shutil.copytree(mean, tmp_path / "kopia")


def change(folder: Path, name: str, content: Any) -> None:
    (folder / name).write_text(json.dumps(content), encoding="utf-8")


def states(folder: Path, text: str) -> np.ndarray:
    """The last layer by transformers alone, cut to 12 tokens."""
    from transformers import AutoModel, AutoTokenizer

    read = AutoTokenizer.from_pretrained(folder)(
        text, return_tensors="pt", truncation=True, max_length=12, return_token_type_ids=True
    )
    body = AutoModel.from_pretrained(folder).eval()
    return body(**read).last_hidden_state[0].detach().numpy()


def weighted(tokens: np.ndarray) -> np.ndarray:
    places = np.arange(1, len(tokens) + 1)[:, None]
    return (tokens * places).sum(axis=0) / places.sum()


POOLINGS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "cls_token": lambda tokens: tokens[0],
    "max_tokens": lambda tokens: tokens.max(axis=0),
    "mean_tokens": lambda tokens: tokens.mean(axis=0),
    "mean_sqrt_len_tokens": lambda tokens: tokens.sum(axis=0) / np.sqrt(len(tokens)),
    "weightedmean_tokens": weighted,
    "lasttoken": lambda tokens: tokens[-1],
}


@pytest.mark.parametrize("pooling", POOLINGS)
def test_a_vector_is_what_the_modules_say(pooling: str, tmp_path: Path) -> None:
    """Computed with transformers and NumPy, text by text, for texts of all lengths in batches of one and of all."""
    settings = {"word_embedding_dimension": 32, "pooling_mode_mean_tokens": False, f"pooling_mode_{pooling}": True}
    full = write_model(tmp_path / "full", TEXTS, ("Pooling", settings), ("Dense", DENSE), ("Normalize", {}))
    plain = shutil.copytree(full, tmp_path / "plain")
    change(plain, "modules.json", read_json(full / "modules.json")[:2])
    linear = load_file(full / "2_Dense/model.safetensors")
    pooled = np.stack([POOLINGS[pooling](states(full, text)) for text in TEXTS])
    dense = np.tanh(pooled @ linear["linear.weight"].T + linear["linear.bias"])
    unit = dense / np.linalg.norm(dense, axis=1, keepdims=True)
    for batch_size in (1, 32):
        np.testing.assert_allclose(opened(plain, batch_size=batch_size).encode(TEXTS), pooled, rtol=0, atol=1e-6)
        np.testing.assert_allclose(opened(full, batch_size=batch_size).encode(TEXTS), unit, rtol=0, atol=1e-6)


def test_vectors_are_those_of_the_library(mean: Path, tmp_path: Path) -> None:
    """Bit for bit, also of a folder as the library writes it now, and of a model without a transformer."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Normalize
    from sentence_transformers.sentence_transformer.modules import LayerNorm, StaticEmbedding

    words = StaticEmbedding(Tokenizer.from_file(str(mean / "tokenizer.json")), embedding_dim=32)
    static = SentenceTransformer(modules=[words, LayerNorm(32), Normalize()], device="cpu")
    for name, library in (("new", SentenceTransformer(str(mean), device="cpu")), ("static", static)):
        library.save_pretrained(str(tmp_path / name))
        encoder = opened(tmp_path / name)
        for prompt in (None, "fin dag "):
            np.testing.assert_array_equal(encoder.encode(TEXTS, prompt=prompt), library.encode(TEXTS, prompt=prompt))
        assert encoder.encode([]).shape == (0, 32)
        assert encoder.encode(["a \ud800"]).dtype == np.float32  # half a surrogate pair, which no tokenizer takes


def test_prompts_stand_before_texts(mean: Path) -> None:
    plain = opened(mean)
    assert plain.prompts == {"query": "fin dag ", "document": "", "passage": "regnet "}
    assert "prompts of the model: query 'fin dag ', passage 'regnet '" in plain.description.settings
    query = opened(mean, prompt="query")
    with_prompt = plain.encode([f"fin dag {text}" for text in TEXTS])
    np.testing.assert_array_equal(query.encode(TEXTS), with_prompt)
    np.testing.assert_array_equal(plain.encode(TEXTS, prompt="fin dag "), with_prompt)
    assert query.prompts == {} and query.description.name == "sentence_transformer-liten-query"
    given = opened(mean, prompts={"query": "a: ", "passage": "b: "})
    assert given.prompts == {"query": "a: ", "passage": "b: ", "document": "b: "}
    assert len({encoder.fingerprint for encoder in (plain, query, given)}) == 3
    with raises_input_error(key="prompt"):
        opened(mean, prompt="fråga")
    with raises_input_error(key="mteb_name"):
        opened(mean, prompts={"query": "a: "}, mteb_name="a/b")


def test_mteb_knows_the_prompts_of_its_models(mean: Path) -> None:
    pytest.importorskip("mteb")
    known = opened(mean, mteb_name="intfloat/multilingual-e5-small")
    assert known.prompts == {"query": "query: ", "document": "passage: "}
    assert opened(mean, mteb_name="sentence-transformers/LaBSE").prompts == opened(mean).prompts  # it names none
    for name in ("", "a/b", "Qwen/Qwen3-Embedding-0.6B"):  # unknown; with instructions for each task
        with raises_input_error(key="mteb_name"):
            opened(mean, mteb_name=name)
    with raises_input_error(key="path"):  # which the user gave
        mteb_prompts(SentenceTransformerSettings(path="Qwen/Qwen3-Embedding-0.6B"))


def test_it_describes_itself(mean: Path) -> None:
    encoder = opened(mean, language="sv")
    shown = encoder.description
    assert (shown.name, shown.language, shown.dim) == ("sentence_transformer-liten", "sv", 32)
    assert (shown.family, shown.max_length, encoder.similarity) == ("transformer", 12, "dot")
    assert shown.parameters_without_embeddings < shown.parameters and shown.memory == 4 * shown.parameters
    assert list(encoder.versions()) == ["mtl", "sentence-transformers", "transformers", "tokenizers"]
    with raises_input_error(key="path"):
        open_encoder("sentence_transformer", {})


def test_the_fingerprint_follows_from_the_files(mean: Path, copy: Path) -> None:
    before = opened(copy).fingerprint
    (copy / "README.md").write_text("notes", encoding="utf-8")
    assert opened(mean).fingerprint == before == opened(copy).fingerprint
    change(copy, "1_Pooling/config.json", {**MEAN, "pooling_mode_max_tokens": True})
    assert opened(copy).fingerprint != before


def listed(kind: str, path: str = "1_Pooling") -> Any:
    return [{"path": "", "type": "sentence_transformers.models.Transformer"}, {"path": path, "type": kind}]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("modules.json", listed("evil.Pooling")),
        ("modules.json", listed("sentence_transformers.models.Router")),
        ("modules.json", listed("sentence_transformers.models.Pooling", "../1_Pooling")),
        ("modules.json", listed("sentence_transformers.models.Dense", "2_Dense")),
        ("modules.json", []),
        ("modules.json", {"path": ""}),
        ("config_sentence_transformers.json", {"model_type": "SparseEncoder"}),
        ("config_sentence_transformers.json", {"prompts": {"query": 5}}),
        ("sentence_bert_config.json", {"model_kwargs": {"attn_implementation": "a/b"}}),
        ("sentence_bert_config.json", {"modality_config": {"text": {"method": "save_pretrained"}}}),
        ("config.json", {"model_type": "bert", "hidden_size": 2**20, "num_attention_heads": 16}),
        ("1_Pooling/config.json", {"word_embedding_dimension": 32, "pooling_mode": "median"}),
    ],
)
def test_a_folder_is_not_trusted(name: str, content: Any, copy: Path) -> None:
    change(copy, name, content)
    with raises_input_error():
        opened(copy)


@pytest.mark.parametrize("name", ["embeddings.position_embeddings.weight", "encoder.layer.1.output.dense.bias"])
def test_weights_that_the_files_lack_are_not_drawn(name: str, copy: Path) -> None:
    """sentence-transformers would draw them, others in each process."""
    weights = load_file(copy / "model.safetensors")
    save_file({key: weight for key, weight in weights.items() if key != name}, copy / "model.safetensors")
    with raises_input_error(file="kopia"):
        opened(copy)


def test_pickles_are_not_read(copy: Path) -> None:
    (copy / "model.safetensors").unlink()
    (copy / "pytorch_model.bin").write_bytes(b"cos\nsystem\n(S'touch pwned'\ntR.")
    with raises_input_error(file="kopia"):
        opened(copy)
    assert not Path("pwned").exists()


def test_a_layer_must_fit(tmp_path: Path) -> None:
    """Its sizes are compared with those of its file before memory is taken, and with what comes before it."""
    folder = write_model(tmp_path / "m", TEXTS, ("Pooling", MEAN), ("Dense", {**DENSE, "in_features": 31}))
    with raises_input_error():
        opened(folder)
    change(folder, "2_Dense/config.json", {**DENSE, "out_features": 10**12})
    with raises_input_error(file="config.json"):
        opened(folder)
    (folder / "2_Dense/model.safetensors").unlink()
    with raises_input_error(file="2_Dense"):
        opened(folder)


def test_other_folders_are_named(tmp_path: Path, copy: Path) -> None:
    (copy / "modules.json").unlink()
    (copy / "sentence_bert_config.json").unlink()
    with raises_input_error(file="kopia"):
        opened(copy)
    (copy / "vocab.txt").symlink_to("/etc/passwd")
    with raises_input_error(file="vocab.txt"):
        opened(copy)
    with raises_input_error(key="path"):
        opened(tmp_path / "nothing")


def test_a_text_is_its_own_token_for_the_method_static(mean: Path) -> None:
    from mtl.base.wings import hook
    from mtl.methods.floors.static import TextVectors

    opener = hook("text_vectors")
    assert opener is not None
    source = opener(str(mean))
    documents = [Document(text, text.split()) for text in TEXTS]
    vectors = TextVectors(source, documents).transform([[document] for document in documents])
    np.testing.assert_allclose(vectors, opened(mean).encode(TEXTS), rtol=0, atol=1e-6)
    assert source.fingerprints()["static.model"] == opened(mean).fingerprint
    assert source.size == opened(mean).description.parameters
