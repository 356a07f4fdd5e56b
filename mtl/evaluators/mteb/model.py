"""A sentence encoder as a model of mteb, with complete metadata."""

import time
from typing import Any

import numpy as np
from mteb.models.abs_encoder import AbsEncoder
from mteb.models.model_meta import ModelMeta, ScoringFunction
from pydantic import ValidationError

from mtl.encoders.kind import SentenceEncoder
from mtl.errors import InputError
from mtl.evaluators.mteb.benchmark import Benchmark
from mtl.evaluators.mteb.folder import FINGERPRINT_DIGITS
from mtl.evaluators.mteb.settings import ModelFacts
from mtl.evaluators.mteb.summary import seen_by


class EncoderModel(AbsEncoder):
    """Gives mteb an encoder's vectors, and counts the texts and the seconds that they take. encoding: whether the encoder is at work."""

    def __init__(self, encoder: SentenceEncoder, meta: ModelMeta) -> None:
        self.mteb_model_meta = meta
        self._encoder = encoder
        self.sentences = 0
        self.seconds = 0.0
        self.encoding = False

    def encode(self, inputs: Any, **kwargs: Any) -> np.ndarray:
        """The vectors of batches of texts, float32 (texts, dim). inputs: batches with a list `text`; kwargs: what mteb says of them.

        Raises InputError for vectors that are not finite, which no task can score.
        """
        texts = [text for batch in inputs for text in batch["text"]]
        start, self.encoding = time.monotonic(), True
        vectors = self._encoder.encode(texts, progress=True)
        self.encoding = False
        if not np.isfinite(vectors).all():
            raise InputError(
                f"{self._encoder.description.title}: some of its vectors have values that are not finite numbers"
            )
        self.seconds += time.monotonic() - start
        self.sentences += len(texts)
        return vectors


def model_meta(encoder: SentenceEncoder, benchmark: Benchmark, facts: ModelFacts) -> ModelMeta:
    """The encoder's metadata, as mteb's leaderboard and its repository of results take them.

    training_datasets: the benchmark's tasks whose training rows the encoder has seen. The revision is the encoder's fingerprint. Raises
    InputError for a fact that mteb does not take, such as an unknown licence.
    """
    try:
        return _model_meta(encoder, benchmark, facts)
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(f"model.{first['loc'][0]}={first['input']}: {' '.join(first['msg'].split())[:200]}") from None


def _model_meta(encoder: SentenceEncoder, benchmark: Benchmark, facts: ModelFacts) -> ModelMeta:
    of = encoder.description
    language = benchmark.model_languages.get(of.language)
    return ModelMeta(
        loader=None,
        name=facts.name or f"mtl/{of.name}{'' if of.seed is None else f'-seed{of.seed}'}",
        revision=encoder.fingerprint()[:FINGERPRINT_DIGITS],
        release_date=facts.release_date,
        languages=[language] if language else None,
        n_parameters=of.parameters,
        n_embedding_parameters=of.parameters - of.parameters_without_embeddings,
        memory_usage_mb=of.memory / 2**20,
        max_tokens=of.max_length,
        embed_dim=of.dim,
        license=facts.license,
        open_weights=facts.open_weights,
        public_training_code=facts.public_training_code,
        public_training_data=facts.public_training_data,
        framework=["PyTorch"],
        reference=facts.reference,
        similarity_fn_name=ScoringFunction.COSINE,
        use_instructions=False,
        training_datasets=set(seen_by(of, benchmark)),
    )
