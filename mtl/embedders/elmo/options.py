"""The sizes of an ELMo, read from AllenNLP's options.json."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TypedDict

from msgspec import Meta

from mtl.base.errors import InputError
from mtl.base.untrusted import read_json

OPTIONS, WEIGHTS = "options.json", "weights.hdf5"  # the names of an ELMo's files; either may have a prefix

LARGEST = 2**20  # a larger size is an error in the file
Size = Annotated[int, Meta(ge=1, le=LARGEST)]
Clip = Annotated[float, Meta(ge=0)] | None  # 0: none


class _Lstm(TypedDict):
    dim: Size
    projection_dim: Size
    cell_clip: Clip
    proj_clip: Clip
    n_layers: Annotated[int, Meta(ge=1, le=100)]
    use_skip_connections: bool


class _Embedding(TypedDict):
    dim: Size


class _CharCnn(TypedDict):
    activation: Literal["relu", "tanh"]
    embedding: _Embedding
    filters: Annotated[list[tuple[Size, Size]], Meta(min_length=1, max_length=100)]
    max_characters_per_token: Annotated[int, Meta(ge=3, le=2**12)]
    n_characters: Annotated[int, Meta(ge=261, le=262)]
    n_highway: Annotated[int, Meta(ge=0, le=100)]


class Content(TypedDict):
    """The content of an options.json, as far as it is read."""

    lstm: _Lstm
    char_cnn: _CharCnn


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


def read_options(path: Path) -> Options:
    """Read an options.json. Raises InputError that names the key that is missing or wrong."""
    if not path.exists():
        raise InputError("no such file", path=path)
    options = options_of(read_json(path, Content, "it must be AllenNLP's options.json of an ELMo"))
    if (widest := max(width for width, _ in options.filters)) > options.max_characters:
        length = f"max_characters_per_token is only {options.max_characters}"
        raise InputError(f"char_cnn.filters are up to {widest} wide, but {length}", path=path)
    return options


def options_of(content: Content) -> Options:
    """The sizes in the content of an options.json."""
    lstm, characters = content["lstm"], content["char_cnn"]
    return Options(
        character_dim=characters["embedding"]["dim"],
        filters=tuple((width, number) for width, number in characters["filters"]),
        n_highway=characters["n_highway"],
        activation=characters["activation"],
        max_characters=characters["max_characters_per_token"],
        projection_dim=lstm["projection_dim"],
        lstm_dim=lstm["dim"],
        n_layers=lstm["n_layers"],
        cell_clip=float(lstm["cell_clip"] or 0) or None,
        state_clip=float(lstm["proj_clip"] or 0) or None,
        skip_connections=lstm["use_skip_connections"],
    )
