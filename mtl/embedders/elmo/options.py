"""The sizes of an ELMo, read from and written to AllenNLP's options.json.

ELMo as an entry of the embedders' registry.
"""

import json
import reprlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omegaconf import MISSING

from mtl.base.errors import InputError
from mtl.base.lazy import lazy
from mtl.base.untrusted import read_json
from mtl.embedders.embedder import EmbedderKind, VectorFiles
from mtl.settings.bounds import one_of
from mtl.settings.schema import EmbedderOptions

ACTIVATIONS = ("relu", "tanh")

# The names of an ELMo's files; either may have a prefix.
OPTIONS, WEIGHTS = "options.json", "weights.hdf5"

# The largest size that is accepted: a larger one is an error in the file.
LARGEST = 2**20
MOST_FILTERS = 100  # pairs of a width and a number
MOST_CHARACTERS = 2**12  # bytes of a word


@dataclass(frozen=True)
class Options:
    """Sizes of the character convolution and of the language model (Peters et al. 2018)."""

    character_dim: int
    filters: tuple[tuple[int, int], ...]  # (width in characters, number of filters)
    n_highway: int
    activation: str
    max_characters: int  # bytes of a word, including its begin and end markers
    projection_dim: int  # size of a token's vector and of the states of one direction
    lstm_dim: int  # cells per direction
    n_layers: int
    cell_clip: float | None
    state_clip: float | None
    skip_connections: bool

    @property
    def n_filters(self) -> int:
        return sum(number for _, number in self.filters)

    def to_json(self) -> str:
        """The content of an options.json in AllenNLP's format."""
        values = {
            "lstm": {
                "dim": self.lstm_dim,
                "projection_dim": self.projection_dim,
                "cell_clip": self.cell_clip,
                "proj_clip": self.state_clip,
                "n_layers": self.n_layers,
                "use_skip_connections": self.skip_connections,
            },
            "char_cnn": {
                "activation": self.activation,
                "embedding": {"dim": self.character_dim},
                "filters": [list(pair) for pair in self.filters],
                "max_characters_per_token": self.max_characters,
                "n_characters": 262,
                "n_highway": self.n_highway,
            },
        }
        return json.dumps(values, indent=1) + "\n"


def read_options(path: Path) -> Options:
    """Read an options.json. Raises InputError that names the key that is missing or wrong."""
    if not path.exists():
        raise InputError("no such file", path=path)
    values = read_json(path, dict[str, Any], "it must be AllenNLP's options.json of an ELMo")

    def get(kind: type | tuple[type, ...], *keys: str) -> Any:
        value: Any = values
        for key in keys:
            if not isinstance(value, dict) or key not in value:
                raise InputError(f"{'.'.join(keys)} is missing; is it AllenNLP's options.json of an ELMo?", path=path)
            value = value[key]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise InputError(f"{'.'.join(keys)} is {reprlib.repr(value)}, a value of the wrong type", path=path)
        return value

    def size(*keys: str, minimum: int = 1, maximum: int = LARGEST) -> int:
        value = get(int, *keys)
        if not minimum <= value <= maximum:
            raise InputError(f"{'.'.join(keys)} is {value}: must lie between {minimum} and {maximum}", path=path)
        return int(value)

    def clip(*keys: str) -> float | None:
        value = get((int, float, type(None)), *keys)
        if value and not value > 0:
            raise InputError(f"{'.'.join(keys)} is {value}: must be greater than 0, or null", path=path)
        return float(value) if value else None

    filters = get(list, "char_cnn", "filters")
    if not 0 < len(filters) <= MOST_FILTERS or not all(
        isinstance(pair, list) and len(pair) == 2 and all(isinstance(n, int) and 0 < n <= LARGEST for n in pair)
        for pair in filters
    ):
        raise InputError(
            f"char_cnn.filters is {reprlib.repr(filters)}: must be 1 to {MOST_FILTERS} pairs of a width and a number of filters",
            path=path,
        )
    activation = get(str, "char_cnn", "activation")
    if activation not in ACTIVATIONS:
        raise InputError(
            f"char_cnn.activation is {reprlib.repr(activation)}: must be one of {', '.join(ACTIVATIONS)}", path=path
        )
    characters = size("char_cnn", "n_characters")
    if characters not in (261, 262):
        raise InputError(f"char_cnn.n_characters is {characters}: must be 262", path=path)
    length = size("char_cnn", "max_characters_per_token", minimum=3, maximum=MOST_CHARACTERS)
    if (widest := max(width for width, _ in filters)) > length:
        raise InputError(
            f"char_cnn.filters are up to {widest} wide, but max_characters_per_token is only {length}", path=path
        )
    return Options(
        character_dim=size("char_cnn", "embedding", "dim"),
        filters=tuple((width, number) for width, number in filters),
        n_highway=size("char_cnn", "n_highway", minimum=0, maximum=100),
        activation=activation,
        max_characters=length,
        projection_dim=size("lstm", "projection_dim"),
        lstm_dim=size("lstm", "dim"),
        n_layers=size("lstm", "n_layers", maximum=100),
        cell_clip=clip("lstm", "cell_clip"),
        state_clip=clip("lstm", "proj_clip"),
        skip_connections=get(bool, "lstm", "use_skip_connections"),
    )


@dataclass
class ElmoOptions(EmbedderOptions):
    """The keys of ELMo embeddings; configs/embeddings/elmo.yaml explains them."""

    path: str | None = None
    precision: str = one_of("float16", "float32")
    exact: bool = MISSING
    cache: bool = MISSING


def holds_elmo(folder: Path) -> bool:
    """Whether the weights are in the folder; they are written last."""
    return any(folder.glob("*weights.hdf5"))


def problem(path: Path) -> str | None:
    """A message if the path is a file, which cannot hold an ELMo; else None."""
    return "is a file; embeddings.path must name the folder that holds the ELMo's files" if path.is_file() else None


ELMO = EmbedderKind(
    title="ELMo",
    options=ElmoOptions,
    build=lazy("mtl.embedders.elmo.embeddings:elmo_embeddings"),
    load=lazy("mtl.embedders.elmo.embeddings:run_elmo"),
    open=lazy("mtl.embedders.elmo.embeddings:open_elmo"),
    open_keys=("embeddings.path", "embeddings.exact", "layer"),
    files=VectorFiles(
        exists=holds_elmo,
        problem=problem,
        training="mtl.embedders.elmo.training:ELMoTraining",
        trained_name=lambda suite: f"{suite}-elmo",
    ),
    audit_note=lambda options: "ELMo, which has a vector for any word",
)
