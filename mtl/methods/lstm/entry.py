"""The registry entry of the LSTM."""

from mtl.base.settings.schema import PAPER, Config
from mtl.embedders import EMBEDDERS
from mtl.methods.method_kind import MethodKind


class LstmKind(MethodKind):
    """The LSTM with its two stages."""

    family = "lstm"
    reads = (
        *("embeddings", "embeddings.", "embeddings_dir", "variant", "architecture", "preset", "boundary_words"),
        *("encoder.", "head.", "loss.", "pretrain.", "finetune.", "trainer."),
    )
    builds = "mtl.methods.lstm.two_stages:TwoStages"
    loads = "mtl.methods.lstm.trained:load_trained"
    reads_units = True
    named_values = {"head.overlap": True, "head.linear": True, "head.pair": "cosine", "head.crf": True}

    def title(self, config: Config) -> str:
        """As in "LSTM, fastText, frozen", or "LSTM, fastText, frozen, jiant" with an architecture or preset other than the paper's."""
        return ", ".join(["LSTM", EMBEDDERS[config.embeddings.name].title, config.variant, *further_names(config)])

    def folder(self, config: Config) -> str:
        return "-".join([config.embeddings.name, config.variant, *further_names(config)])

    def describe(self, config: Config) -> dict[str, str]:
        return {
            "embeddings": config.embeddings.name,
            "variant": config.variant,
            "architecture": config.architecture,
            "preset": config.preset,
        }

    def chosen_on_dev(self, config: Config) -> str:
        return "checkpoints and thresholds" if config.finetune.threshold != "argmax" else "checkpoints"


def further_names(config: Config) -> list[str]:
    """What a title and a folder's name say of a configuration beside embeddings and variant."""
    head, names = config.head, [name for name in (config.architecture, config.preset) if name != PAPER]
    parts = {"overlap": head.overlap, "linear": head.linear, "cosine": head.pair == "cosine", "crf": head.crf}
    return [*names, *(name for name, on in parts.items() if on)]


LSTM = LstmKind()
