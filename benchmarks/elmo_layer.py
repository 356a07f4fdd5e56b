"""Compare one projected LSTM layer with allennlp-light's LstmCellWithProjection: forward, and forward and backward.

    python benchmarks/elmo_layer.py --cells 512 --projection 128 --runs 5

The two sides have the same weights and take turns in one process. Each figure is the median of the runs.
"""

import argparse
import statistics
from collections.abc import Callable
from functools import partial

import torch
from allennlp_light.modules.lstm_cell_with_projection import LstmCellWithProjection
from timing import alternate, ratio
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence

from mtl.embedders.elmo.weights import reorder_gates
from mtl.vectors.elmo.language_model import LSTMWithGradient

CLIP = 3.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=4096)
    parser.add_argument("--projection", type=int, default=512)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    size = arguments.projection
    cell = LstmCellWithProjection(size, size, arguments.cells, True, 0.0, CLIP, CLIP)
    weights = [
        reorder_gates(cell.input_linearity.weight.detach(), (3, 0, 1, 2)).requires_grad_(),
        reorder_gates(cell.state_linearity.weight.detach(), (3, 0, 1, 2)).requires_grad_(),
        reorder_gates(cell.state_linearity.bias.detach(), (3, 0, 1, 2)).requires_grad_(),
        cell.state_projection.weight.detach().clone().requires_grad_(),
    ]
    lengths = torch.randint(6, 41, (arguments.batch,)).sort(descending=True).values
    inputs = torch.randn(arguments.batch, int(lengths[0]), size)
    packed = pack_padded_sequence(inputs, lengths, batch_first=True)
    sizes = packed.batch_sizes.tolist()

    def ours() -> Tensor:
        result: Tensor = LSTMWithGradient.apply(packed.data, sizes, False, *weights, CLIP, CLIP)
        return result

    def theirs() -> Tensor:
        result: Tensor = cell(inputs, lengths.tolist())[0]
        return result

    print(f"{arguments.cells} cells, projection {size}, batch {arguments.batch}, threads {arguments.threads}")
    print("| | ours, tokens/s | allennlp-light, tokens/s | ours ÷ theirs (min – max) |")
    print("|---|--:|--:|--:|")
    for title, backward in (("forward", False), ("forward and backward", True)):
        alternate([partial(run, side, backward) for side in (ours, theirs)], 1)  # warms up
        sides = alternate([partial(run, side, backward) for side in (ours, theirs)], arguments.runs)
        speed = [int(lengths.sum()) / statistics.median(side) for side in sides]
        print(f"| {title} | {speed[0]:,.0f} | {speed[1]:,.0f} | {ratio(*sides)} |", flush=True)


def run(step: Callable[[], Tensor], backward: bool) -> None:
    with torch.set_grad_enabled(backward):
        result = step()
    if backward:
        result.sum().backward()


if __name__ == "__main__":
    main()
