"""An encoder as a model of mteb: its vectors, and what mteb's leaderboard and results say of it."""

import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
from mteb.models.abs_encoder import AbsEncoder, get_prompt
from mteb.models.model_meta import ModelMeta, ScoringFunction
from mteb.types import PromptType

from mtl.base.errors import InputError
from mtl.vectors.encoders.encoder import EncodeBlocks, SentenceEncoder
from mtl.vectors.mteb.benchmark import Benchmark

COMPARED = {"cosine": ScoringFunction.COSINE, "dot": ScoringFunction.DOT_PRODUCT}  # what mteb computes itself


class EncoderModel(AbsEncoder):
    """Gives mteb an encoder's vectors, and counts the texts and the seconds that they take."""

    def __init__(self, encoder: SentenceEncoder, meta: ModelMeta, encode_blocks: EncodeBlocks | None = None) -> None:
        """`encode_blocks` encodes the documents of corpora in other processes; None: this process does."""
        self.mteb_model_meta = meta
        self._encoder, self._encode_blocks = encoder, encode_blocks
        self.sentences = 0
        self.seconds = 0.0
        self.encoding = False  # whether the encoder is at work

    def encode(self, inputs: Any, **kwargs: Any) -> np.ndarray:
        """The vectors of batches with a list `text`, float32 (texts, dim). Raises InputError if they are not finite."""
        texts = [text for batch in inputs for text in batch["text"]]
        prompt = get_prompt(dict(self._encoder.prompts), kwargs["task_metadata"], kwargs.get("prompt_type"))
        return self._counted(lambda: self._encoder.encode(texts, progress=True, prompt=prompt))

    def encode_documents(self, blocks: Iterable[list[str]], task_metadata: Any) -> Iterator[np.ndarray]:
        """As `encode`, for the documents of a corpus, block by block. Reading them counts as seconds, too, as other processes encode meanwhile."""
        prompt = get_prompt(dict(self._encoder.prompts), task_metadata, PromptType.document)
        if self._encode_blocks is None:
            for block in blocks:
                yield self._counted(partial(self._encoder.encode, block, prompt=prompt))
            return
        encoded = self._encode_blocks(blocks, prompt)
        while len(vectors := self._counted(lambda: next(encoded, np.empty(0)))):  # none after the last block
            yield vectors

    def _counted(self, encode: Callable[[], np.ndarray]) -> np.ndarray:
        """The vectors that `encode` returns, which are counted with its seconds. `encoding` stays true if it fails."""
        start, self.encoding = time.monotonic(), True
        vectors = encode()
        self.encoding = False
        if not np.isfinite(vectors).all():
            title = self._encoder.description.title
            raise InputError(f"{title}: some of its vectors have values that are not finite numbers")
        self.seconds += time.monotonic() - start
        self.sentences += len(vectors)
        return vectors


def model_meta(encoder: SentenceEncoder, benchmark: Benchmark) -> ModelMeta:
    """The encoder's metadata for mteb's leaderboard and results; None: not known. Raises InputError for a similarity that mteb lacks."""
    description, similarity = encoder.description, encoder.similarity
    language = benchmark.model_languages.get(description.language)
    seed = "" if description.seed is None else f"-seed{description.seed}"
    if similarity not in COMPARED:
        message = f"{description.title}: compares vectors by {similarity}, and mteb only by {' or '.join(COMPARED)}"
        raise InputError(message)
    metadata = {
        "name": f"mtl/{description.name}{seed}",
        "revision": encoder.revision,
        "languages": [language] if language else None,
        "n_parameters": description.parameters,
        "n_embedding_parameters": description.parameters - description.parameters_without_embeddings,
        "memory_usage_mb": description.memory / 2**20,
        "max_tokens": None if description.max_length is None else float(description.max_length),
        "embed_dim": description.dim,
        "framework": ["PyTorch"],
        "similarity_fn_name": COMPARED[similarity],
        "use_instructions": any(encoder.prompts.values()),
        "training_datasets": set(benchmark.seen_by(description.trained_on)),
    }
    return ModelMeta.create_empty(metadata)
