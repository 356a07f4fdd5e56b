"""A pretrained transformer: its body, its tokenizer, and what both say about the longest input."""

import copy
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from mtl.base.errors import InputError
from mtl.base.extras import library_versions
from mtl.base.folders import new_folder
from mtl.methods.transformer.reading import opened
from mtl.training.checkpoints import update_hash

NO_LIMIT = 10**9  # a tokenizer whose folder names no longest input says 1e30


@dataclass(frozen=True)
class Pretrained:
    """A transformer's tokenizer and body. A pooler (between body and head) that the files lack has random weights, always the same ones."""

    name: str  # in messages: the path, or the name on the Hub
    body: Any  # transformers' model without a head, float32, on the CPU
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
        update_hash(content, self.body.state_dict())
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
        """The architecture's own model for sequence classification: a copy of this body with a new head of so many outputs.
        The head is drawn from torch's random numbers. The copy of a body without weights has random ones, which are to be replaced."""
        from transformers import AutoModelForSequenceClassification

        config = copy.deepcopy(self.config)
        config.num_labels, config.pad_token_id, config.use_cache = outputs, self.padding, False
        make = AutoModelForSequenceClassification.from_config
        model: Any = opened(self.name, "config.json", make, config, dtype=torch.float32)
        if self.body.device.type != "meta":
            self._copy_weights(model.base_model)
        of_body = f"{model.base_model_prefix}."
        # The last layer of the head: in bfloat16, which has 8 significant bits, many rows would have the same output.
        for name, layer in model.named_modules():
            if type(layer) is nn.Linear and layer.out_features == outputs and not name.startswith(of_body):
                layer.__class__ = ExactLinear
        return model

    def _copy_weights(self, body: Any) -> None:
        """Copy this body's weights into a new one. Raises InputError if the new one has further weights."""
        weights = self.body.state_dict()
        shared = {name: weights[name] for name in body.state_dict() if name in weights}
        if lacking := [name for name, _ in body.named_parameters() if name not in shared]:
            raise InputError(f"{self.name}: its model for classification has another body, with {lacking[0]}")
        body.load_state_dict(shared, strict=False)

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


def positions(body: Any) -> int | None:
    """The most tokens that a body has positions for; None without a limit. RoBERTa's table of positions begins after its padding index."""
    for name, part in body.named_modules():
        if name.endswith("position_embeddings") and isinstance(part, nn.Embedding) and part.padding_idx is not None:
            return part.num_embeddings - part.padding_idx - 1
    most = getattr(body.config, "max_position_embeddings", None)
    return most if most is not None and most > 0 else None
