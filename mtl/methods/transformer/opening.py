"""Opening the pretrained transformer that a run starts from, with checks that it is whole and can read a text."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from mtl.base.errors import InputError
from mtl.base.extras import import_transformers
from mtl.base.log import logger
from mtl.base.memory import check_fits
from mtl.base.wings import TrainedBody, hook
from mtl.base.wording import counted
from mtl.data.loading import training_texts
from mtl.methods.method import BuildRequest
from mtl.methods.transformer.entry import TINY
from mtl.methods.transformer.model_files import AGAIN, check_config, check_folder, check_place, check_tokenizer
from mtl.methods.transformer.pretrained import Pretrained
from mtl.methods.transformer.reading import NO_TOKENIZER, opened, tokenizing

PROBE = "Ala ma kota, a kot ma Alę."  # read once when a transformer is opened
PROBED = 16  # the most tokens of it that are read
FLOAT = 4  # bytes of a weight


def open_origin(request: BuildRequest) -> Pretrained:
    """The transformer that `transformer.path` names; without a path, a tiny one, pre-trained on the suite's training texts unless it exists."""
    config, suite = request.config, request.suite
    path = config.transformer.path
    if path is None:
        train: TrainedBody | None = hook("trained_body")
        if train is None:
            message = "names no transformer: a folder, or a name on the Hugging Face Hub"
            raise InputError(message, key="transformer.path")
        texts = training_texts(suite, request.data_dir, config.held_out)
        path = str(train(texts, suite.language, Path(config.embeddings_dir) / f"{suite.name}-transformer", TINY))
    pretrained = open_pretrained(path, config.transformer.tokenizer)
    sizes = (pretrained.config.num_hidden_layers, pretrained.dim, f"{pretrained.parameters:,}")
    logger.info("transformer %s: %d layers of %d, %s weights", path, *sizes)
    if pretrained.longest is not None and pretrained.longest < config.max_length:
        message = "max_length=%d: the transformer takes %d tokens at most, and inputs are cut to these"
        logger.info(message, config.max_length, pretrained.longest)
    return pretrained


def open_pretrained(path: str, tokenizer: str | None = None) -> Pretrained:
    """The transformer in a folder, or with a name on the Hub, and its tokenizer, perhaps that of another one. Weights are
    read as tensors only, and no code of others runs. Raises InputError for a model that cannot be opened."""
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
    """The body in a folder, or with a name on the Hub, in a precision ("auto": that of its files), and the tokenizer in another folder. Raises
    InputError for a body whose files lack weights, other than those of a pooler or a decoder, or hold some of other sizes or not finite, and for a
    tokenizer with tokens that the body does not have."""
    from transformers import AutoModel

    sized_body(path)  # raises InputError before memory holds any weights
    read_tokenizer = _open_tokenizer(tokenizer)
    # With weights of other sizes, transformers would name none of them: the report does.
    options: dict[str, Any] = {"output_loading_info": True, "ignore_mismatched_sizes": True}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)  # for weights that the files lack
        weights = "the model (config.json and its weights)"
        body, report = opened(path, weights, AutoModel.from_pretrained, path, dtype=dtype, **options)
    _check_weights(path, body, report)
    # The largest id counts, not the number of tokens: ids may have gaps.
    tokens, entries = max(read_tokenizer.get_vocab().values()) + 1, body.get_input_embeddings().num_embeddings
    if tokens > entries:
        message = f"its tokenizer has {tokens} tokens, but the model {path} has {entries}; set transformer.tokenizer="
        raise InputError(f"{tokenizer}: {message}")
    return body, read_tokenizer


def _check_weights(path: str, body: Any, report: Mapping[str, Any]) -> None:
    """Raise InputError unless transformers' report says that all weights of the body were read, as config.json describes them, and all are finite."""
    if mismatched := sorted(report["mismatched_keys"]):
        name, stored, described = mismatched[0]
        sizes = f"{name} is {tuple(stored)}, and config.json says {tuple(described)}"
        raise InputError(f"its weights are not of the sizes in config.json: {sizes}; {AGAIN}", path=path)
    optional = ("pooler", "decoder.") if body.config.is_encoder_decoder else ("pooler",)
    if lacking := sorted(name for name in report["missing_keys"] if not any(part in name for part in optional)):
        parts = f"has no weights for {counted(len(lacking), 'part')} of its body, such as {lacking[0]}"
        raise InputError(f"{parts}; {AGAIN}", path=path)
    if unexpected := sorted(name for name in report["unexpected_keys"] if _is_further_layer(body, name)):
        layers = f"config.json describes {body.config.num_hidden_layers} layers"
        raise InputError(f"{layers}, and the files hold {unexpected[0]}; {AGAIN}", path=path)
    for name, weight in body.named_parameters():
        if not weight.isfinite().all():
            raise InputError(f"its weights hold values that are not finite, in {name}; {AGAIN}", path=path)


def _is_further_layer(body: Any, name: str) -> bool:
    """Whether a weight of the files is of a further layer than the body has. Weights of heads, and old ones outside of layers, are not."""
    part, *inner = name.removeprefix(f"{body.base_model_prefix}.").split(".")
    numbers = [int(inner_part) for inner_part in inner if inner_part.isdecimal()]  # the first one is that of the layer
    return bool(numbers) and numbers[0] >= body.config.num_hidden_layers and hasattr(body, part)


def sized_body(path: str) -> Any:
    """The body that a configuration describes, without weights (on the device "meta"). Raises InputError if it cannot be read, or is too large."""
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
        most = min(pretrained.longest or PROBED, PROBED)  # damaged files may name a limit that is no number
        ids = pretrained.tokenizer(PROBE, truncation=True, max_length=most, return_tensors="pt")["input_ids"]
    mask = torch.ones_like(ids)
    with torch.no_grad():
        states = opened(name, "the model", lambda trust_remote_code: model(input_ids=ids, attention_mask=mask)[0])
    if not states.isfinite().all():
        raise InputError(f"{name}: its outputs are not finite numbers; {AGAIN}")


def _open_config(name: str) -> Any:
    """The configuration, after checks of a folder's files. Raises InputError."""
    from transformers import AutoConfig
    from transformers.utils import cached_file

    if Path(name).is_dir():
        check_folder(Path(name))
    else:
        opened(name, "config.json", AutoConfig.from_pretrained, name)  # first: its error says what is wrong
        quiet = {"_raise_exceptions_for_missing_entries": False, "_raise_exceptions_for_connection_errors": False}
        for file, check in (("config.json", check_config), ("tokenizer.json", check_tokenizer)):
            # Where the file is kept on this machine; None if the model has no such file.
            path = opened(name, file, lambda trust_remote_code, file=file: cached_file(name, file, **quiet))
            if path is not None:
                check(Path(path))
    return opened(name, "config.json", AutoConfig.from_pretrained, name)


def _open_tokenizer(name: str) -> Any:
    """The tokenizer in a folder, or with a name on the Hub. Raises InputError if there is none: transformers would make one that knows no word."""
    from transformers import AutoTokenizer

    if Path(name).is_dir():
        check_folder(Path(name))
    with tokenizing(name):
        tokenizer: Any = opened(name, "its tokenizer", AutoTokenizer.from_pretrained, name)
    if len(tokenizer) <= len(set(tokenizer.all_special_tokens)):
        raise InputError(f"{name}: {NO_TOKENIZER}")
    return tokenizer
