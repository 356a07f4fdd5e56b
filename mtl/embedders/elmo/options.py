"""The sizes of an ELMo, read from AllenNLP's options.json."""

from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from mtl.base.errors import InputError
from mtl.base.untrusted import read_json

OPTIONS, WEIGHTS = "options.json", "weights.hdf5"  # the names of an ELMo's files; either may have a prefix

LARGEST = 2**20  # a larger size is an error in the file
Size = Annotated[int, Meta(ge=1, le=LARGEST)]
Clip = Annotated[float, Meta(ge=0)] | None  # 0: none


class Lstm(Struct, frozen=True):
    """The language model in one direction."""

    dim: Size  # cells
    projection_dim: Size  # of a token's vector and of the states
    cell_clip: Clip
    proj_clip: Clip  # of the states
    n_layers: Annotated[int, Meta(ge=1, le=100)]
    use_skip_connections: bool


class Embedding(Struct, frozen=True):
    dim: Size  # of a character's vector


class CharCnn(Struct, frozen=True):
    """The character convolution."""

    activation: Literal["relu", "tanh"]
    embedding: Embedding
    filters: Annotated[tuple[tuple[Size, Size], ...], Meta(min_length=1, max_length=100)]  # (width, number)
    max_characters_per_token: Annotated[int, Meta(ge=3, le=2**12)]  # bytes, including the begin and end markers
    n_characters: Annotated[int, Meta(ge=261, le=262)]
    n_highway: Annotated[int, Meta(ge=0, le=100)]

    @property
    def n_filters(self) -> int:
        return sum(number for _, number in self.filters)


class Options(Struct, frozen=True):
    """The content of an options.json, as far as it is read (Peters et al. 2018)."""

    lstm: Lstm
    char_cnn: CharCnn


def read_options(path: Path) -> Options:
    """Read an options.json. Raises InputError that names the key that is missing or wrong."""
    if not path.exists():
        raise InputError("no such file", path=path)
    options = msgspec.convert(read_json(path, Options, "it must be AllenNLP's options.json of an ELMo"), Options)
    characters = options.char_cnn
    if (widest := max(width for width, _ in characters.filters)) > characters.max_characters_per_token:
        length = f"max_characters_per_token is only {characters.max_characters_per_token}"
        raise InputError(f"char_cnn.filters are up to {widest} wide, but {length}", path=path)
    return options
