"""The registry entry of the LSTM."""

from mtl.base.errors import InputError
from mtl.base.memory import check_fits
from mtl.base.settings.schema import PAPER, Config
from mtl.embedders import EMBEDDERS
from mtl.methods.method import MethodKind
from mtl.tasks.suite import Suite

FLOAT = 4  # bytes of a number
TRAINED = 4  # numbers for a weight in training: itself, its gradient, and Adam's two moments


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

    def check(self, config: Config, suite: Suite) -> None:
        """Raise InputError for an LSTM that is too large, and for sparse gradients of several processes."""
        if config.trainer.devices > 1 and getattr(config.embeddings, "sparse", False):
            problem = "gradients of several processes are dense; set embeddings.sparse=false"
            raise InputError(problem, key="trainer.devices")
        check_trainable(config, getattr(config.embeddings, "dim", None) or 0, embeddings=0)


def further_names(config: Config) -> list[str]:
    """What a title and a folder's name say of a configuration beside embeddings and variant."""
    head, names = config.head, [name for name in (config.architecture, config.preset) if name != PAPER]
    parts = {"overlap": head.overlap, "linear": head.linear, "cosine": head.pair == "cosine", "crf": head.crf}
    return [*names, *(name for name, on in parts.items() if on)]


def check_trainable(config: Config, dim: int, embeddings: int) -> None:
    """Raise InputError if an encoder of this configuration cannot be trained in this machine's memory.

    Args:
        dim: the size of a word's vector, or the least that it can be.
        embeddings: the weights of all word vectors, or 0 if they are not known.
    """
    trained = getattr(config.embeddings, "trainable", False)
    check_fits_memory(config, dim, TRAINED * lstm_weights(config, dim) + (TRAINED if trained else 1) * embeddings)


def lstm_weights(config: Config, dim: int) -> int:
    """The number of weights that `torch.nn.LSTM(bidirectional=True)` has for word vectors of size `dim`."""
    size, later = config.encoder.hidden_size, config.encoder.num_layers - 1
    return 2 * 4 * size * ((dim + size + 2) + later * (2 * size + size + 2))


def check_fits_memory(config: Config, dim: int, numbers: int) -> None:
    """Raise InputError if the encoder's numbers do not fit this machine's memory, before anything is allocated."""
    encoder = config.encoder
    sizes = f"encoder.hidden_size={encoder.hidden_size}, encoder.num_layers={encoder.num_layers}, word vectors of {dim:,} numbers"
    check_fits(FLOAT * numbers, f"{sizes}: the network", "set smaller sizes")


LSTM = LstmKind()
