"""A model of the library sentence-transformers as an encoder: the library itself computes, as in mteb."""

import hashlib
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from math import isinf
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from mtl.base.device import device_of, exact_arithmetic
from mtl.base.errors import InputError
from mtl.base.extras import check_installed, library_versions, missing_package
from mtl.base.files import sha256
from mtl.base.progress import Progress, hidden_progress
from mtl.base.typed import AT_LEAST_ONE, typed
from mtl.base.version import VERSION
from mtl.data.blocks import text_blocks
from mtl.methods.floors.features import Document
from mtl.methods.transformer.entry import short_name
from mtl.methods.transformer.inputs import encodable
from mtl.methods.transformer.model_files import AGAIN
from mtl.methods.transformer.opening import PROBE
from mtl.methods.transformer.reading import opened
from mtl.vectors.encoders.encoder import Description, PretrainedSettings, SentenceEncoder
from mtl.vectors.encoders.sentence_model import MODEL_FILES, check_model, load_model, local_folder

LIBRARY_LOADER = "SentenceTransformerEncoderWrapper"  # mteb's loader of models that the library alone computes
KNOWN_ARGUMENTS = {"model_prompts", "trust_remote_code"}  # of this loader


@dataclass
class SentenceTransformerSettings(PretrainedSettings):
    prompts: dict[str, str] | None = None  # put before texts, by names such as query; None: as mteb or the model says
    prompt: str | None = None  # a name in `prompts`: of the prompt before every text; None: as mteb or the model says
    mteb_name: str | None = None  # the model's name in mteb, whose metadata names prompts; None: its name on the Hub
    batch_size: Annotated[int, AT_LEAST_ONE] = 32  # texts in a batch; the library and mteb have the same default

    def check(self) -> None:
        """Raise InputError as `PretrainedSettings.check`, and for a name in mteb whose prompts would not be used."""
        super().check()
        if self.prompts is not None and self.mteb_name is not None:
            raise InputError("prompts= are used instead; drop one of them", key="mteb_name", value=self.mteb_name)


class SentenceTransformerEncoder(SentenceEncoder):
    """The vectors of a model of sentence-transformers, in the precision of its files."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        """Raises InputError for what is no value of `SentenceTransformerSettings`, a model that cannot be opened, or one without the prompt."""
        settings = typed(SentenceTransformerSettings, values)
        check_installed("sentence-transformers")
        device = device_of(settings.device, "device")
        self._settings, self._folder = settings, local_folder(settings.path)
        self._modules = check_model(self._folder)
        self._model = load_model(self._folder, str(device))
        self._model.prompts, origin = prompts_of(settings, self._model.prompts)
        if settings.prompt is None:  # else every text has this prompt, and there is no other to choose
            self.prompts = self._model.prompts
        elif settings.prompt not in self._model.prompts:
            problem = f"no such prompt; there are: {', '.join(self._model.prompts)}"
            raise InputError(problem, key="prompt", value=settings.prompt)
        self.similarity = str(self._model.similarity_fn_name)
        self.description = self._describe(self._checked_dim(), origin)

    @exact_arithmetic()
    def encode(self, texts: Sequence[str], progress: bool = False, prompt: str | None = None) -> np.ndarray:
        """As `SentenceEncoder.encode`. The library gets all texts at once: it sorts them by length before it makes batches."""
        if self._settings.prompt is not None:
            prompt = self._model.prompts[self._settings.prompt]
        checked = [encodable(text) for _, block in text_blocks(texts) for text in block]
        with (
            hidden_progress(not progress),
            Progress("encoding texts", len(texts), "texts") as bar,
            self._model.register_forward_hook(lambda model, _, batch: bar.advance(len(batch["sentence_embedding"]))),
        ):
            vectors = self._encode(checked, prompt)
        return vectors.reshape(len(checked), self.description.dim)

    @cached_property
    def fingerprint(self) -> str:  # type: ignore[override]
        """A hash of the model's files and of the prompts, but of no path."""
        content = hashlib.sha256(repr((sorted(self._model.prompts.items()), self._settings.prompt)).encode())
        folders = {folder for _, folder in self._modules} | {self._folder}
        for path in sorted(path for folder in folders if folder.is_dir() for path in folder.iterdir()):
            if path.is_file() and path.suffix in MODEL_FILES:
                content.update(f"{path.relative_to(self._folder).as_posix()} {sha256(path)}".encode())
        return content.hexdigest()

    def versions(self) -> dict[str, str]:
        return {"mtl": VERSION, "sentence-transformers": version("sentence-transformers"), **library_versions()}

    def _encode(self, texts: list[str], prompt: str | None) -> np.ndarray:
        batch_size = self._settings.batch_size
        vectors = self._model.encode(texts, prompt=prompt, batch_size=batch_size, show_progress_bar=False)
        return np.asarray(vectors, dtype=np.float32)

    def _checked_dim(self) -> int:
        """The size of the vectors. Raises InputError if the model cannot encode a short text: its modules may not fit together."""
        vectors = opened(str(self._folder), "the model", lambda trust_remote_code: self._encode([PROBE], None))
        if vectors.ndim != 2 or not np.isfinite(vectors).all():
            raise InputError(f"its vectors are not finite numbers; {AGAIN}", path=self._folder)
        return vectors.shape[1]

    def _describe(self, dim: int, prompts_origin: str) -> Description:
        settings, model = self._settings, self._model
        short, prompt = short_name(settings.path), settings.prompt
        name_suffix, title_suffix = (f"-{prompt}", f", prompt {prompt}") if prompt else ("", "")
        body = model.transformers_model
        embeddings = model[0] if body is None else body.get_input_embeddings()
        parameters = sum(weight.numel() for weight in model.parameters())
        embedding_parameters = sum(weight.numel() for weight in embeddings.parameters())
        limit = model.max_seq_length
        prompts = ", ".join(f"{key} {text!r}" for key, text in model.prompts.items() if text)
        shown_prompts = f"of {prompts_origin}: {prompts}" if prompts else "none"
        return Description(
            name=f"sentence_transformer-{short}{name_suffix}",
            title=f"Sentence transformer, {short}{title_suffix}",
            family="transformer",
            dim=dim,
            language=settings.language or "",
            parameters=parameters,
            parameters_without_embeddings=parameters - embedding_parameters,
            memory=sum(weight.numel() * weight.element_size() for weight in model.parameters()),
            max_length=None if limit is None or isinf(limit) else int(limit),
            settings=f"modules {', '.join(module for module, _ in self._modules)}, prompts {shown_prompts}",
        )


class TextVectorSource:
    """As `mtl.methods.floors.static.WordFile`, of whole texts: a text is its own only token, and each has a vector."""

    def __init__(self, path: str) -> None:
        """Raises InputError for a model that cannot be opened. The model says itself how many tokens of a text count."""
        self._encoder = SentenceTransformerEncoder({"path": path})
        self.size = self._encoder.description.parameters

    def tokens(self, documents: Sequence[Document]) -> list[list[str]]:
        return [[document.text] for document in documents]

    def vectors(self, tokens: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        return self._encoder.encode(tokens, progress=True), np.ones(len(tokens), dtype=bool)

    def fingerprints(self) -> dict[str, str]:
        versions = ", ".join(f"{name} {number}" for name, number in self._encoder.versions().items() if name != "mtl")
        return {"static.model": self._encoder.fingerprint, "static.software": versions}


def prompts_of(settings: SentenceTransformerSettings, model_prompts: Mapping[str, str]) -> tuple[dict[str, str], str]:
    """The prompts by name: those of the settings, or else of mteb, or else of the model; and whose they are. Raises InputError as `mteb_prompts`."""
    prompts, origin = settings.prompts, "the settings"
    if prompts is None:
        prompts, origin = mteb_prompts(settings), "mteb"
    if prompts is None:
        return dict(model_prompts), "the model"
    passage = prompts.get("passage", prompts.get("corpus"))  # the library takes both for "document", too
    document = {} if passage is None else {"document": passage}
    return {**document, **prompts}, origin


def mteb_prompts(settings: SentenceTransformerSettings) -> dict[str, str] | None:
    """The prompts that mteb names for a model, if it knows it. Raises InputError for an unknown `mteb_name`, or a model that mteb runs otherwise."""
    key, name = ("path", settings.path) if settings.mteb_name is None else ("mteb_name", settings.mteb_name)
    if key == "path" and (Path(name).is_dir() or missing_package("mteb") is not None):
        return None
    check_installed("mteb", key=key, value=name)
    os.environ.setdefault("MTEB_CACHE", str(Path(tempfile.gettempdir()) / "mteb"))  # a folder that importing mteb makes
    import mteb

    try:
        meta = mteb.get_model_meta(name, fetch_from_hf=False)
    except KeyError:
        if key == "path":
            return None
        raise InputError("mteb knows no model of this name", key=key, value=name) from None
    loader = getattr(meta.loader, "__name__", "other code")
    unsupported = sorted(set(meta.loader_kwargs) - KNOWN_ARGUMENTS)
    if loader != LIBRARY_LOADER or unsupported:
        means = f"with {', '.join(unsupported)}" if unsupported else f"by {loader}"
        message = f"mteb evaluates it {means}, which mtl does not have; set prompts= to evaluate it without"
        raise InputError(message, key=key, value=name)
    return meta.loader_kwargs.get("model_prompts")
