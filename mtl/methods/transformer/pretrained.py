"""The pretrained transformer that a run starts from: its body, its tokenizer, and what both say about the longest input."""

import copy
import hashlib
import json
import os
import re
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from mtl.base.errors import InputError
from mtl.base.extras import import_transformers, library_versions
from mtl.base.folders import new_folder
from mtl.base.memory import check_fits
from mtl.base.untrusted import without_advice
from mtl.base.wording import counted
from mtl.methods.transformer.model_files import AGAIN, check_config, check_folder, check_tokenizer
from mtl.training.checkpoints import update_with_weights

HUB_NAME = re.compile(r"[\w][\w.-]*(/[\w][\w.-]*)?")  # of a model: NAME or OWNER/NAME
PROBE = "Ala ma kota, a kot ma Alę."  # read once when a transformer is opened
FLOAT = 4  # bytes of a weight
NO_LIMIT = 10**9  # a tokenizer whose folder names no longest input says 1e30

Opened = TypeVar("Opened")


@dataclass(frozen=True)
class Pretrained:
    """A transformer's tokenizer and body: transformers' model without a head, float32, on the CPU. Messages give its name. Where the files lack a
    pooler, which stands between a body and a head, its weights are drawn, always the same."""

    name: str
    body: Any
    tokenizer: Any

    @property
    def config(self) -> Any:
        return self.body.config

    @property
    def longest(self) -> int | None:
        """The most tokens of one input, as the body's positions and the tokenizer say; None if neither limits them."""
        limits = (positions(self.body), self.tokenizer.model_max_length)
        return min((int(limit) for limit in limits if limit is not None and limit < NO_LIMIT), default=None)

    @property
    def has_types(self) -> bool:
        """Whether the body tells the two texts of a pair apart by token types. RoBERTa has one type, XLM none."""
        return int(getattr(self.config, "type_vocab_size", None) or 0) > 1

    @property
    def padding(self) -> int:
        """The token that stands past the end of an input. Attention never reads it."""
        tokenizer = self.tokenizer
        candidates = (tokenizer.pad_token_id, self.config.pad_token_id, tokenizer.eos_token_id, 0)
        return int(next(token for token in candidates if token is not None))

    @property
    def dim(self) -> int:
        return int(self.config.hidden_size)

    @property
    def parameters(self) -> int:
        return sum(weight.numel() for weight in self.body.parameters())

    @property
    def parameters_without_embeddings(self) -> int:
        """Those that are not in the table of token embeddings."""
        return self.parameters - sum(weight.numel() for weight in self.body.get_input_embeddings().parameters())

    def fingerprint(self) -> str:
        """A hash of weights, configuration and tokenizer, but of no path."""
        content = hashlib.sha256(self.form().encode())
        update_with_weights(content, self.body.state_dict())
        return content.hexdigest()

    def fingerprints(self) -> dict[str, str]:
        """What predictions depend on, by name: the `fingerprint`, and the versions of the libraries that make tokens."""
        versions = ", ".join(f"{name} {version}" for name, version in library_versions().items())
        return {"transformer": self.fingerprint(), "tokenizer": versions}

    def form(self) -> str:
        """All that turns a text into vectors but the weights and the libraries: configuration, tokenizer and longest input."""
        unnamed = ("_name_or_path", "transformers_version", "dtype", "torch_dtype", "architectures")
        config = {key: value for key, value in self.config.to_dict().items() if key not in unnamed}
        return repr((sorted(config.items(), key=str), self.rules(), self.longest))

    def rules(self) -> str:
        """How the tokenizer turns texts into tokens."""
        backend = getattr(self.tokenizer, "backend_tokenizer", None)
        if backend is None:
            return repr(sorted(self.tokenizer.get_vocab().items()))
        rules = json.loads(backend.to_str())
        return json.dumps({**rules, "truncation": None, "padding": None})  # these two are those of its last call

    def classifier(self, outputs: int) -> Any:
        """The architecture's own model for sequence classification: this body, copied, with a new head of so many outputs. A body without weights
        leaves those of the copy to be loaded. The head is drawn from torch's random numbers. Its last layer computes in float32 under
        `torch.autocast` too: in bfloat16, which has 8 significant bits, many rows would have the same output."""
        from transformers import AutoModelForSequenceClassification

        config = copy.deepcopy(self.config)
        config.num_labels, config.pad_token_id, config.use_cache = outputs, self.padding, False
        make = AutoModelForSequenceClassification.from_config
        model: Any = opened(self.name, "config.json", make, config, dtype=torch.float32)
        if self.body.device.type != "meta":
            weights, inner = self.body.state_dict(), model.base_model
            kept = {name: weights[name] for name in inner.state_dict() if name in weights}
            if lacking := [name for name, _ in inner.named_parameters() if name not in kept]:
                raise InputError(f"{self.name}: its model for classification has another body, with {lacking[0]}")
            inner.load_state_dict(kept, strict=False)
        inside = f"{model.base_model_prefix}."
        for name, part in model.named_modules():
            if type(part) is nn.Linear and part.out_features == outputs and not name.startswith(inside):
                part.__class__ = ExactLinear
        return model

    def save(self, folder: Path, weights: bool) -> None:
        """Write configuration and tokenizer to a new folder, and the body's weights if asked to. Does nothing if it exists."""
        if folder.is_dir():
            return
        with new_folder(folder) as partial:
            self.tokenizer.save_pretrained(partial)
            (self.body if weights else self.config).save_pretrained(partial)


class ExactLinear(nn.Linear):
    """A linear layer that computes in its weights' precision under `torch.autocast` too."""

    def forward(self, input: Tensor) -> Tensor:
        with torch.autocast(input.device.type, enabled=False):
            return super().forward(input.to(self.weight.dtype))


def open_pretrained(path: str, tokenizer: str | None = None) -> Pretrained:
    """The transformer in a folder, or with a name on the Hub. Its tokenizer may have another name or path. Weights are read as tensors only, and no
    code of others runs. Raises InputError, which says what is wrong and what to do."""
    import_transformers()
    check_place("transformer.path", path)
    if tokenizer is not None:
        check_place("transformer.tokenizer", tokenizer)
    body, read_tokenizer = open_parts(path, tokenizer or path, torch.float32)
    if body.config.is_encoder_decoder:
        raise InputError("is an encoder with a decoder; fine-tuning needs an encoder alone, such as BERT", path=path)
    pretrained = Pretrained(path, body, read_tokenizer)
    check_runs(pretrained, body)
    return pretrained


def open_parts(path: str, tokenizer: str, dtype: torch.dtype | str) -> tuple[Any, Any]:
    """The body in a folder, or with a name on the Hub, in a precision ("auto": that of its files), and the tokenizer in another. Raises InputError
    for a body whose files lack weights, other than those of a pooler or a decoder, or hold some of other sizes or not finite, and for a tokenizer
    with tokens that the body does not have."""
    from transformers import AutoModel

    sized_body(path)
    read_tokenizer = _open_tokenizer(tokenizer)
    # With weights of other sizes, transformers would name none of them: the report does.
    options: dict[str, Any] = {"output_loading_info": True, "ignore_mismatched_sizes": True}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)  # for weights that the files lack
        weights = "the model (config.json and its weights)"
        body, report = opened(path, weights, AutoModel.from_pretrained, path, dtype=dtype, **options)
    if mismatched := sorted(report["mismatched_keys"]):
        name, theirs, here = mismatched[0]
        sizes = f"{name} is {tuple(theirs)}, and config.json says {tuple(here)}"
        raise InputError(f"its weights are not of the sizes in config.json: {sizes}; {AGAIN}", path=path)
    unread = ("pooler", "decoder.") if body.config.is_encoder_decoder else ("pooler",)
    if lacking := sorted(name for name in report["missing_keys"] if not any(part in name for part in unread)):
        parts = f"has no weights for {counted(len(lacking), 'part')} of its body, such as {lacking[0]}"
        raise InputError(f"{parts}; {AGAIN}", path=path)
    if unexpected := sorted(name for name in report["unexpected_keys"] if _is_further_layer(body, name)):
        described = f"config.json describes {body.config.num_hidden_layers} layers"
        raise InputError(f"{described}, and the files hold {unexpected[0]}; {AGAIN}", path=path)
    for name, weight in body.named_parameters():
        if not weight.isfinite().all():
            raise InputError(f"its weights hold values that are not finite, in {name}; {AGAIN}", path=path)
    # Not their number: a token's id may be any.
    tokens, entries = max(read_tokenizer.get_vocab().values()) + 1, body.get_input_embeddings().num_embeddings
    if tokens > entries:
        message = f"its tokenizer has {tokens} tokens, but the model {path} has {entries}; set transformer.tokenizer="
        raise InputError(f"{tokenizer}: {message}")
    return body, read_tokenizer


def _is_further_layer(body: Any, name: str) -> bool:
    """Whether a weight of the files is of a layer that the body does not have. Heads, and what old files keep, are none."""
    part, *inner = name.removeprefix(f"{body.base_model_prefix}.").split(".")
    layer = next((int(number) for number in inner if number.isdecimal()), None)
    return layer is not None and layer >= body.config.num_hidden_layers and hasattr(body, part)


def sized_body(path: str) -> Any:
    """The body that a transformer's configuration describes, without weights (on the device "meta"). Raises InputError for one that cannot be read,
    or that describes more weights than this machine's memory holds."""
    from transformers import AutoModel

    config = _open_config(path)
    with torch.random.fork_rng(devices=[]), torch.device("meta"):
        body: Any = opened(path, "config.json", AutoModel.from_config, config, dtype=torch.float32)
    size = FLOAT * sum(weight.numel() for weight in body.parameters())
    check_fits(size, f"{path}: a transformer of these sizes (config.json)", f"name a smaller one, or {AGAIN}")
    return body


def open_without_weights(folder: Path) -> Pretrained:
    """What `Pretrained.save` wrote, with a body that has no weights."""
    import_transformers()
    return Pretrained(str(folder), sized_body(str(folder)), _open_tokenizer(str(folder)))


def check_runs(pretrained: Pretrained, model: Any) -> None:
    """Raise InputError if the body, with or without a head, cannot read a short text: settings in its files may contradict each other."""
    name = pretrained.name
    with tokenizing(name):
        most = min(pretrained.longest or 16, 16)  # damaged files may name a limit that is no number
        ids = pretrained.tokenizer(PROBE, truncation=True, max_length=most, return_tensors="pt")["input_ids"]
    mask = torch.ones_like(ids)
    with torch.no_grad():
        states = opened(name, "the model", lambda trust_remote_code: model(input_ids=ids, attention_mask=mask)[0])
    if not states.isfinite().all():
        raise InputError(f"{name}: its outputs are not finite numbers; {AGAIN}")


@contextmanager
def tokenizing(name: str) -> Iterator[None]:
    """Whatever a tokenizer raises within the block becomes an InputError that names it. The panics of its library are no Exceptions."""
    try:
        yield
    except InputError:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise InputError(f"{name}: its tokenizer cannot read a text: {_begin(error)}; {AGAIN}") from None


def _open_config(name: str) -> Any:
    """The configuration, after checks of a folder's files. Raises InputError."""
    from transformers import AutoConfig
    from transformers.utils import cached_file

    if Path(name).is_dir():
        check_folder(Path(name))
    else:
        opened(name, "config.json", AutoConfig.from_pretrained, name)  # says what is wrong with the Hub, or the name
        quiet = {"_raise_exceptions_for_missing_entries": False, "_raise_exceptions_for_connection_errors": False}
        for file, check in (("config.json", check_config), ("tokenizer.json", check_tokenizer)):
            # Where the file is kept on this machine; None if the model has no such file.
            path = opened(name, file, lambda trust_remote_code, file=file: cached_file(name, file, **quiet))
            if path is not None:
                check(Path(path))
    return opened(name, "config.json", AutoConfig.from_pretrained, name)


def check_place(key: str, name: str) -> None:
    """Raise InputError for a folder that does not exist or holds no model, and for what cannot be a name on the Hub."""
    folder = Path(name)
    if folder.is_dir():
        if key == "transformer.path" and not (folder / "config.json").is_file():
            raise InputError("is no folder of a transformer: it has no config.json", key=key, value=name)
        return
    if folder.exists():
        raise InputError("is a file; name the folder that holds it", key=key, value=name)
    is_in_folder = folder.parent != Path() and folder.parent.is_dir()
    if is_in_folder or name.startswith((".", "~", os.sep)) or not HUB_NAME.fullmatch(name):
        message = "no such folder, and not a name on the Hugging Face Hub, as in OWNER/NAME"
        raise InputError(message, key=key, value=name)


def opened(name: str, part: str, read: Callable[..., Opened], *arguments: Any, **options: Any) -> Opened:
    """`read(…)` of a part of a folder, without running code that it brings along: transformers would ask on standard input. Raises InputError with
    the beginning of what transformers says, which raises errors of many kinds."""
    try:
        return read(*arguments, trust_remote_code=False, **options)
    except OSError as error:
        if not Path(name).is_dir():
            raise InputError(
                f"{name}: cannot be had from the Hugging Face Hub: there is no network, or no such model, and no folder of this name;"
                " a folder with the model works without a network: set transformer.path="
            ) from None
        raise InputError(f"{name}: {part} cannot be read: {_begin(error)}; {AGAIN}") from None
    except ImportError as error:
        raise InputError(f"{name}: needs a package that is not installed: {_begin(error)}") from None
    except Exception as error:  # damaged files: of safetensors, of pickle, of JSON, of shapes
        if "trust_remote_code" in str(error):
            raise InputError(
                f"{name}: needs code that it brings along, and such code is never run; name a transformer whose architecture the"
                " transformers library has"
            ) from None
        if str(error).startswith("Couldn't instantiate the backend tokenizer"):
            raise _no_tokenizer(name) from None
        raise InputError(f"{name}: {part} cannot be read: {_begin(error)}; {AGAIN}") from None


def _begin(error: BaseException) -> str:
    """The beginning of an error's message, as one line."""
    text = without_advice(str(error)) or type(error).__name__
    return textwrap.shorten(text, 200, placeholder=" …").rstrip(".")


def _open_tokenizer(name: str) -> Any:
    """Raises InputError if there is none: transformers would then make one that knows no word."""
    from transformers import AutoTokenizer

    if Path(name).is_dir():
        check_folder(Path(name))
    with tokenizing(name):
        tokenizer: Any = opened(name, "its tokenizer", AutoTokenizer.from_pretrained, name)
    if len(tokenizer) <= len(set(tokenizer.all_special_tokens)):
        raise _no_tokenizer(name)
    return tokenizer


def _no_tokenizer(name: str) -> InputError:
    return InputError(
        f"{name}: has no tokenizer that can be read; restore its tokenizer.json, or name a folder or a model that has one with"
        " transformer.tokenizer="
    )


def positions(body: Any) -> int | None:
    """The most tokens that a body has positions for; None without a limit. RoBERTa's table of positions begins after its padding index."""
    for name, part in body.named_modules():
        if name.endswith("position_embeddings") and isinstance(part, nn.Embedding) and part.padding_idx is not None:
            return part.num_embeddings - part.padding_idx - 1
    most = getattr(body.config, "max_position_embeddings", None)
    return most if most is not None and most > 0 else None
