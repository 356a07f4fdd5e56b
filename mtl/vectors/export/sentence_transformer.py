"""The export as a folder that `SentenceTransformer` loads, of the library's own modules alone: mtl is not needed there."""

import logging
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mtl.base.errors import InputError
from mtl.base.files import write_text
from mtl.vectors.encoders.sentence_model import load_model
from mtl.vectors.export.export import Export, card
from mtl.vectors.export.tokenizer import UNSUPPORTED_LANGUAGES, moses_tokenizer

# The tokenizer gives a text without a token one unknown word, but not an empty text: so each text begins with a space.
PROMPTS = {"query": " ", "document": " "}
TOLERANCE = 1e-5  # between vectors of the exported model and of the run


def write(export: Export, folder: Path) -> None:
    """Write the model and its card. Raises InputError for a run that the library's modules cannot express, and for other vectors than the run's."""
    if problem := _inexpressible_part(export):
        remedy = "mtl encode writes its vectors, --format vectors its words'"
        raise InputError(f"{problem}; {remedy}", path=export.encoder.predictor.folder.path)
    logging.getLogger("sentence_transformers").setLevel(logging.ERROR)  # hides what it logs about models in general
    _new_model(export).save_pretrained(str(folder), create_model_card=False)
    for weights in folder.rglob("*.safetensors"):  # the library lets their owner alone read them
        weights.chmod((folder / "modules.json").stat().st_mode)
    loaded = load_model(folder, "cpu")
    _check_vectors(loaded, export)
    centred = "" if export.encoder.centre is None else ", minus the mean vector of the training texts"
    write_text(folder / "README.md", card(export, "sentence_transformer.md", centred=centred, architecture=str(loaded)))


def _inexpressible_part(export: Export) -> str | None:
    """What the library's modules cannot express of a run, in a message; None: they can express all."""
    if export.model.config.boundary_words:
        return "boundary_words=true: sentence-transformers cuts long texts after these words are added"
    if export.model.language in UNSUPPORTED_LANGUAGES:
        return f"language {export.model.language}: the library tokenizers cannot split its apostrophes as Moses does"
    return None


def _check_vectors(loaded: Any, export: Export) -> None:
    texts = _probe_texts(export.reader.vocabulary.words, export.model.config.max_length)
    difference = float(np.abs(loaded.encode(texts, show_progress_bar=False) - export.encoder.encode(texts)).max())
    if not difference <= TOLERANCE:  # true for NaN, too
        message = f"the exported model gives other vectors than the run (they differ by up to {difference:.2g}), so nothing is written"
        raise InputError(f"{message}; use the versions of constraints.txt", key="--format sentence-transformers")


def _new_model(export: Export) -> Any:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules
    from transformers import PreTrainedTokenizerFast

    moses = moses_tokenizer(export.model.language, export.reader.vocabulary.words)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=moses)
    words = modules.WordEmbeddings(tokenizer, export.word_vectors(), max_seq_length=export.model.config.max_length)
    return SentenceTransformer(
        modules=[words, *_after_words(export)],
        device="cpu",
        prompts=dict(PROMPTS),
        default_prompt_name="document",
        similarity_fn_name="cosine",
    )


def _after_words(export: Export) -> list[Any]:
    """The modules that turn word vectors into a text's vector."""
    from sentence_transformers.sentence_transformer import modules

    trained, pooling, centre = export.model.encoder, export.encoder.pooling, export.encoder.centre
    size, width = trained.lstm.input_size, 2 * trained.lstm.hidden_size
    lstm = modules.LSTM(size, trained.lstm.hidden_size, trained.lstm.num_layers, dropout=0, bidirectional=True)
    lstm.encoder.load_state_dict(trained.lstm.state_dict())
    if not trained.join_input:
        chain = [lstm, modules.Pooling(width, pooling)]
    else:  # the last pooling joins its result with the pooled word vectors
        pooled_words = _linear(size, None, module_output_name="cls_token_embeddings")
        chain = [modules.Pooling(size, pooling), pooled_words, lstm, modules.Pooling(width, (pooling, "cls"))]
    # Subtracts the centre. After joining it is always there, as the size that `Pooling` names is not that of its result.
    if trained.join_input or centre is not None:
        chain.append(_linear(trained.output_size, centre))
    return chain


def _linear(dim: int, centre: np.ndarray | None, **names: Any) -> Any:
    """A module that subtracts a vector from a text's vector, or nothing: x W^T + b with W = 1 and b = -centre."""
    from sentence_transformers.base.modules import Dense

    bias = torch.zeros(dim) if centre is None else -torch.from_numpy(centre)
    return Dense(dim, dim, activation_function=torch.nn.Identity(), init_weight=torch.eye(dim), init_bias=bias, **names)


def _probe_texts(words: Sequence[str], max_length: int) -> list[str]:
    """Texts of different lengths, the longest longer than `max_length` tokens, with known and unknown words; some have no word."""
    rng = random.Random(0)
    lengths = (1, 2, 3, 5, 8, 13, 21, max_length, max_length + 7)
    texts = [" ".join(rng.choices(words or ["x"], k=length)) for length in lengths]
    return [*texts, f"{texts[2]}, {texts[3]} (qx7-zz)...", "qx7zz", "", " ", texts[1]]
