"""The registry entry of the LSTM."""

from mtl.config.schema import Config
from mtl.embedders import EMBEDDERS
from mtl.methods.kind import BuildRequest, LoadRequest, Method, MethodKind, Model
from mtl.tasks.suite import Suite


def title(config: Config) -> str:
    """As in "LSTM, fastText, frozen"."""
    return f"LSTM, {EMBEDDERS[config.embeddings.name].title}, {config.variant}"


def check(config: Config, suite: Suite) -> None:
    """Raise InputError, which says how to get the vectors, if they do not exist and cannot be trained."""
    from mtl.embedders.find import check_obtainable

    check_obtainable(config, suite)


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
    folder=lambda config: f"{config.embeddings.name}-{config.variant}",
    reads=("embeddings", "variant", "encoder.", "head.", "pretrain.", "finetune.", "trainer."),
    build=build,
    load=load,
    describe=lambda config: {"embeddings": config.embeddings.name, "variant": config.variant},
    chosen_on_dev="checkpoints",
    check=check,
)
