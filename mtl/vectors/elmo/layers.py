"""The layers of an ELMo without a run: one of them, or their mean."""

from torch import Tensor, nn

from mtl.base.errors import InputError
from mtl.embedders.elmo.embeddings import ElmoReader, load_elmo, new_mix
from mtl.embedders.elmo.model import split_layers
from mtl.vectors.encoders.readers import VectorReaderRequest


class ElmoLayer(nn.Module):
    """One layer of each token, counted from 0, the token layer."""

    def __init__(self, projection_dim: int, layer: int) -> None:
        super().__init__()
        self.projection_dim = projection_dim
        self.layer = layer

    def forward(self, rows: Tensor) -> Tensor:
        return split_layers(rows.float(), self.projection_dim)[self.layer]


def open_elmo(request: VectorReaderRequest) -> ElmoReader:
    """One layer of the ELMo in `request.path`, or the mean of its layers, in float32. Raises InputError if it has no such layer."""
    elmo, digest = load_elmo(request.path, request.options.exact, request.device)
    layer, layers = request.layer, elmo.options.n_layers
    if layer is not None and not 0 <= layer <= layers:
        raise InputError(f"{request.path} has the layers 0 to {layers}", key="layer", value=layer)
    embedder = new_mix(elmo) if layer is None else ElmoLayer(elmo.options.projection_dim, layer)
    return ElmoReader(elmo, digest, "float32", embedder)
