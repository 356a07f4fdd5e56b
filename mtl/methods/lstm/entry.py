"""The registry entry of the LSTM."""

from dataclasses import replace
from typing import TYPE_CHECKING

from mtl.config.schema import PAPER, Config
from mtl.embedders import EMBEDDERS
from mtl.methods.kind import BuildRequest, LoadRequest, Method, MethodKind, Model, reads_texts
from mtl.tasks.suite import Suite

if TYPE_CHECKING:
    from mtl.data.dataset import Dataset


def title(config: Config) -> str:
    """As in "LSTM, fastText, frozen", or "LSTM, fastText, frozen, jiant" with an architecture or preset other than the paper's."""
    return ", ".join(["LSTM", EMBEDDERS[config.embeddings.name].title, config.variant, *_further_names(config)])


def folder(config: Config) -> str:
    """As in "fasttext-frozen", or "fasttext-frozen-jiant"."""
    return "-".join([config.embeddings.name, config.variant, *_further_names(config)])


def describe(config: Config) -> dict[str, str]:
    """The names that the summary of a run has."""
    return {
        "embeddings": config.embeddings.name,
        "variant": config.variant,
        "architecture": config.architecture,
        "preset": config.preset,
    }


def chosen_on_dev(config: Config) -> str:
    """What is chosen on dev, as tables name it."""
    return "checkpoints and thresholds" if config.finetune.threshold == "dev" else "checkpoints"


def _further_names(config: Config) -> list[str]:
    names = [name for name in (config.architecture, config.preset) if name != PAPER]
    parts = {"overlap": config.head.overlap, "cosine": config.head.pair == "cosine"}
    return [*names, *(name for name, on in parts.items() if on)]


def check(config: Config, suite: Suite) -> None:
    """Raise InputError, which says how to get the vectors, if they do not exist and cannot be trained."""
    from mtl.embedders.find import check_obtainable

    check_obtainable(config, suite)


def shared(config: Config) -> str:
    """The key of a seed's stage 1, with paths in place of the content of files, and the chosen device and precision in place of those of a
    machine."""
    from mtl.methods.lstm.shared_stage1 import stage1_key

    inputs = {
        "data": f"{config.suite} {config.data_dir}",
        "embeddings": str(getattr(config.embeddings, "path", None)),  # random ones have none
        "device": f"{config.trainer.accelerator} {config.trainer.precision}",
    }
    trainer = replace(config.trainer, accelerator="cpu", precision="32-true")
    return stage1_key(replace(config, trainer=trainer), config.tasks or (), inputs, seed=0)


def measured(config: Config, dataset: "Dataset") -> float:
    """The seconds of a seed's stage 1, by measured steps of the encoder."""
    from mtl.methods.lstm.rate import stage1_seconds

    return stage1_seconds(config, dataset)


def build(request: BuildRequest) -> Method:
    """The method, which trains in two stages."""
    from mtl.methods.lstm.two_stages import TwoStages

    return TwoStages(request)


def load(request: LoadRequest) -> Model:
    """The encoder and the heads of a seed."""
    from mtl.methods.lstm.trained import load_trained

    return load_trained(request)


LSTM = MethodKind(
    family="lstm",
    title=title,
    folder=folder,
    reads=(
        *("embeddings", "embeddings.", "embeddings_dir", "variant", "architecture", "preset", "boundary_words"),
        *("encoder.", "head.", "loss.", "pretrain.", "finetune.", "trainer."),
    ),
    build=build,
    load=load,
    describe=describe,
    chosen_on_dev=chosen_on_dev,
    check=check,
    answers=reads_texts,
    shared=shared,
    measured=measured,
)
