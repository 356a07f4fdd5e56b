"""The registry entry of transformers."""

from dataclasses import fields
from pathlib import Path

from mtl.base.errors import InputError
from mtl.base.extras import check_installed
from mtl.base.settings.schema import Config
from mtl.base.wings import resolve
from mtl.methods.method import BuildRequest, LoadRequest, Method, Model
from mtl.methods.method_kind import MethodKind
from mtl.methods.transformer.model_files import check_place
from mtl.tasks.suite import Suite

TINY = "tiny"  # the settings, and the name, of the transformer that a run without `transformer.path` trains


class TransformerKind(MethodKind):
    """Transformers: fine-tuned, or with heads on a fixed body."""

    family = "transformer"
    reads = (
        *("variant", "embeddings_dir", "transformer.", "loss."),
        *("trainer.accelerator", "trainer.precision", "trainer.force_precision", "trainer.logger", "trainer.callbacks"),
        *("finetune.", "head.hidden_size", "head.dropout", "head.overlap", "head.pair"),
    )
    builds = "mtl.methods.transformer.finetune:FineTuned"
    loads = "mtl.methods.transformer.trained:load_trained"

    def title(self, config: Config) -> str:
        """As in "Transformer, bert-base-multilingual-cased, finetune"."""
        return f"Transformer, {name_of(config)}, {config.variant}"

    def folder(self, config: Config) -> str:
        return f"transformer-{name_of(config)}-{config.variant}"

    def describe(self, config: Config) -> dict[str, str]:
        return {"variant": config.variant}

    def chosen_on_dev(self, config: Config) -> str:
        """Checkpoints, but of fine-tuning only if the best weights predict, and thresholds of heads on a fixed body."""
        if config.finetune.train_encoder:
            return "checkpoints" if config.transformer.checkpoint == "best" else ""
        return "checkpoints and thresholds" if config.finetune.threshold != "argmax" else "checkpoints"

    def unread(self, config: Config) -> tuple[str, ...]:
        if config.finetune.train_encoder:
            return ("finetune.", "head.")
        of_body = ("path", "tokenizer", "keep")
        return tuple(f"transformer.{field.name}" for field in fields(config.transformer) if field.name not in of_body)

    def check(self, config: Config, suite: Suite) -> None:
        """Raise InputError for settings that contradict each other, a missing package, and a path that leads to no transformer."""
        if config.transformer.path is None and config.transformer.tokenizer is not None:
            message = "is for a transformer with its tokenizer elsewhere; set transformer.path="
            raise InputError(message, key="transformer.tokenizer")
        spans = [task.id for task in suite.choose(config.tasks) if task.marked]
        if spans and not config.finetune.train_encoder:
            message = f"a fixed transformer has no vectors of marked spans ({', '.join(spans)}); choose other tasks, or variant=finetune"
            raise InputError(message, key="tasks")
        check_installed("transformers", key="method", value="transformer")
        for key in ("path", "tokenizer"):
            if (name := getattr(config.transformer, key)) is not None:
                check_place(f"transformer.{key}", name)

    def sources(self, config: Config) -> list[Path]:
        """The folders of the transformer and of its tokenizer; what comes from the Hub is not among them."""
        named = (config.transformer.path, config.transformer.tokenizer)
        return [Path(name) for name in named if name is not None and Path(name).is_dir()]

    def build(self, request: BuildRequest) -> Method:
        tuned = request.config.finetune.train_encoder
        return super().build(request) if tuned else resolve("mtl.methods.transformer.frozen:Frozen")(request)

    def load(self, request: LoadRequest) -> Model:
        tuned = request.config.finetune.train_encoder
        return super().load(request) if tuned else resolve("mtl.methods.transformer.frozen:load_frozen")(request)


def name_of(config: Config) -> str:
    """The transformer's name in titles and folders: the last part of its path."""
    return TINY if config.transformer.path is None else short_name(config.transformer.path)


def short_name(path: str) -> str:
    """The last part of a transformer's path or name, with "-" for what a folder's name should not have."""
    last = Path(path).name
    if last in ("", ".."):
        last = Path(path).resolve().name or "root"
    return "".join(letter if letter.isalnum() or letter in "_.-" else "-" for letter in last)


TRANSFORMER = TransformerKind()
