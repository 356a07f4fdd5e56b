"""ELMo as an entry of the embedders' registry."""

from dataclasses import dataclass
from pathlib import Path

from omegaconf import MISSING

from mtl.config.checks import check_choice
from mtl.config.schema import EmbedderOptions
from mtl.embedders.kind import BuildRequest, EmbedderKind, Embeddings, LoadRequest, OpenRequest, Reader, VectorFiles


@dataclass
class ElmoOptions(EmbedderOptions):
    """The keys of ELMo embeddings; configs/embeddings/elmo.yaml explains them."""

    path: str | None = None
    precision: str = MISSING
    exact: bool = MISSING
    cache: bool = MISSING

    def check(self) -> None:
        super().check()
        check_choice("embeddings.precision", self.precision, ("float16", "float32"))


def build(request: BuildRequest) -> Embeddings:
    """The ELMo at `request.path`."""
    from mtl.embedders.elmo.embeddings import elmo_embeddings

    return elmo_embeddings(request)


def load(request: LoadRequest) -> Reader:
    """The ELMo of a finished run."""
    from mtl.embedders.elmo.embeddings import run_elmo

    return run_elmo(request)


def open_vectors(request: OpenRequest) -> Reader:
    """A layer of an ELMo, or the mean of its layers."""
    from mtl.embedders.elmo.embeddings import open_elmo

    return open_elmo(request)


def training() -> type:
    """The settings of a training."""
    from mtl.embedders.elmo.training import ELMoTraining

    return ELMoTraining


def holds_elmo(folder: Path) -> bool:
    """Whether the weights are in the folder; they are written last."""
    return any(folder.glob("*weights.hdf5"))


def problem(path: Path) -> str | None:
    """A message if the path is a file, which cannot hold an ELMo; else None."""
    return "is a file; embeddings.path must name the folder that holds the ELMo's files" if path.is_file() else None


ELMO = EmbedderKind(
    title="ELMo",
    options=ElmoOptions,
    build=build,
    load=load,
    open=open_vectors,
    open_keys=("embeddings.path", "embeddings.exact", "layer"),
    files=VectorFiles(
        exists=holds_elmo, problem=problem, training=training, trained_name=lambda suite: f"{suite}-elmo"
    ),
    audit_note=lambda options: "ELMo, which has a vector for any word",
)
