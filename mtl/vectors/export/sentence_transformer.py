"""The export as a folder that `SentenceTransformer` loads, of the library's own modules alone: mtl is not needed there."""

import json
import logging
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mtl.base.device import exact_arithmetic
from mtl.base.files import write_text
from mtl.base.progress import hidden_progress
from mtl.base.terminal import escaped
from mtl.data.text import TokenizedTexts, Vocabulary
from mtl.embedders.words import WordEmbedder, word_sequences
from mtl.model.encoder import Encoder
from mtl.vectors.export.model_card import NOT_STATED, card, code_block, encoder_summary, shared_sections
from mtl.vectors.export.parts import EncoderParts, Export, check_difference
from mtl.vectors.export.tokenizer import can_express, tokenizer_json

# A text without a token is one unknown word; the tokenizer says so of none that is empty.
PROMPTS = {"query": " ", "document": " "}


@exact_arithmetic()
def reference_vectors(export: Export, texts: Sequence[str]) -> np.ndarray:
    """The vectors that an export must give, without boundary words, float32 (texts, dim). Words that are not among its words are unknown."""
    parts = export.parts
    embedder = WordEmbedder(len(parts.vectors), parts.vectors.shape[1], trainable=False)
    embedder.load(parts.vectors.numpy())
    sizes = (parts.vectors.shape[1], parts.hidden_size, parts.num_layers)
    encoder = Encoder(embedder, *sizes, embedding_dropout=0, dropout=0, join_input=parts.join_input)
    encoder.lstm.load_state_dict(parts.lstm)
    with hidden_progress():
        tokenized = TokenizedTexts(texts, parts.language, parts.max_length)
        sequences = word_sequences(Vocabulary(parts.words), tokenized)
        encoded = encoder.encode(sequences, torch.arange(len(tokenized)), pooling=export.pooling)
    vectors: np.ndarray = encoded[[tokenized.index[text] for text in texts]].numpy()
    return vectors if export.centre is None else vectors - export.centre


def probe_texts(words: Sequence[str], max_length: int) -> list[str]:
    """Texts of different lengths, the longest longer than `max_length` tokens, with known and unknown words; some have no word."""
    rng = random.Random(0)
    lengths = (1, 2, 3, 5, 8, 13, 21, max_length, max_length + 7)
    texts = [" ".join(rng.choices(words or ["x"], k=length)) for length in lengths]
    return [*texts, f"{texts[2]}, {texts[3]} (qx7-zz)...", "qx7zz", "", " ", texts[1]]


def problem(parts: EncoderParts) -> str | None:
    """Why the modules of sentence-transformers cannot express an encoder, or None.

    They cut texts after all words are added, and the library tokenizers do not split every language as Moses does.
    """
    if parts.boundary_words:
        return "boundary_words=true: sentence-transformers cuts long texts after these words are added"
    if not can_express(parts.language):
        return f"language {parts.language}: the library tokenizers cannot split its apostrophes as Moses does"
    return None


def write(export: Export, folder: Path) -> None:
    """Write the model and its card. Raises InputError if the written model gives other vectors than the run."""
    from sentence_transformers import SentenceTransformer

    library = logging.getLogger("sentence_transformers")
    level = library.level
    library.setLevel(logging.ERROR)  # hides what it logs about models in general
    try:
        model = _model(export, folder / "tokenizer.json")
        model.save_pretrained(str(folder), create_model_card=False)
        for weights in folder.rglob("*.safetensors"):  # the library lets their owner alone read them
            weights.chmod((folder / "modules.json").stat().st_mode)
        loaded = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
        texts = probe_texts(export.parts.words, export.parts.max_length)
        vectors = loaded.encode(texts, show_progress_bar=False)
    finally:
        library.setLevel(level)
    check_difference(vectors, reference_vectors(export, texts), "vectors", "sentence-transformers")
    write_text(folder / "README.md", sentence_transformers_card(export, str(loaded)))


def _model(export: Export, tokenizer_file: Path) -> Any:
    """The model; its tokenizer is written to a file, from which the library reads it."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules
    from transformers import PreTrainedTokenizerFast

    parts = export.parts
    content = tokenizer_json(parts.language, parts.words)
    tokenizer_file.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(tokenizer_file))
    words = modules.WordEmbeddings(tokenizer, parts.vectors, max_seq_length=parts.max_length)
    return SentenceTransformer(
        modules=[words, *_after_words(export)],
        device="cpu",
        prompts=dict(PROMPTS),
        default_prompt_name="document",
        similarity_fn_name="cosine",
    )


def _after_words(export: Export) -> list[Any]:
    """The modules that turn word vectors into a text's vector.

    With `join_input`, the pooled word vectors are kept as `cls_token_embeddings`, which the second pooling joins with its own result:
    to pool joined vectors, and to join pooled vectors, is the same. A last linear module subtracts the centre. It is also there if the
    input is joined, because `Pooling` would name another size.
    """
    from sentence_transformers.sentence_transformer import modules

    parts = export.parts
    size, width = parts.vectors.shape[1], 2 * parts.hidden_size
    lstm = modules.LSTM(size, parts.hidden_size, parts.num_layers, dropout=0, bidirectional=True)
    lstm.encoder.load_state_dict(parts.lstm)
    if not parts.join_input:
        chain = [lstm, modules.Pooling(width, export.pooling)]
    else:
        kept = _linear(size, None, module_output_name="cls_token_embeddings")
        chain = [modules.Pooling(size, export.pooling), kept, lstm, modules.Pooling(width, (export.pooling, "cls"))]
    if parts.join_input or export.centre is not None:
        chain.append(_linear(parts.dim, export.centre))
    return chain


def _linear(dim: int, centre: np.ndarray | None, **names: Any) -> Any:
    """A module that subtracts a vector from a text's vector, or nothing: x W^T + b with W = 1 and b = -centre."""
    from sentence_transformers.base.modules import Dense

    bias = torch.zeros(dim) if centre is None else -torch.from_numpy(centre)
    return Dense(dim, dim, activation_function=torch.nn.Identity(), init_weight=torch.eye(dim), init_bias=bias, **names)


def sentence_transformers_card(export: Export, architecture: str) -> str:
    """The card of a folder that sentence-transformers loads, with the sections that its own cards have."""
    parts, description = export.parts, export.description
    front = {
        "library_name": "sentence-transformers",
        "pipeline_tag": "sentence-similarity",
        "tags": ["sentence-transformers", "sentence-similarity", "feature-extraction", "bilstm"],
    }
    described = [
        "- **Model Type:** Sentence Transformer",
        f"- **Maximum Sequence Length:** {parts.max_length} tokens",
        f"- **Output Dimensionality:** {description.dim} dimensions",
        "- **Similarity Function:** Cosine Similarity",
        f"- **Language:** {escaped(description.language)}",
        f"- **License:** {escaped(export.license or NOT_STATED)}",
        f"- **Parameters:** {description.parameters:,}, of which {description.parameters_without_embeddings:,} are not in word vectors",
    ]
    sections = [
        f"# {escaped(description.title)}",
        f"This is a sentence-transformers model that maps texts to vectors of {description.dim} numbers: {encoder_summary(export)}",
        "## Model Details\n\n### Model Description\n\n" + "\n".join(described),
        f"### Full Model Architecture\n\n```\n{architecture}\n```",
        "## Usage\n\nWith sentence-transformers 6 or later; neither mtl nor `trust_remote_code` is needed.\n\n"
        + code_block(
            "from sentence_transformers import SentenceTransformer",
            "",
            'model = SentenceTransformer("FOLDER")',
            'vectors = model.encode(["Text one.", "Text two."])',
            "model.similarity(vectors, vectors)",
        )
        + "\n\nThe prompt of the model is a space, which changes no vector but that of an empty text. If you set a prompt of your own,"
        " begin it with a space. Use `encode` for all texts: in sentence-transformers 6.2, `encode_query` and `encode_document` fail for"
        " every model with word vectors and a tokenizer of transformers.",
        *shared_sections(export),
    ]
    return card(export, front, sections)
