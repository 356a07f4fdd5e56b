"""One training step of the encoder's LSTM beside torch's packed LSTM, and beside the machine's matrix product.

    python benchmarks/encoder_step.py --hidden 256 --runs 5

The two sides alternate in one process; a figure is the median of the runs. Tokens are drawn with uniform lengths.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from mtl.model.lstm import BiLSTM

LENGTHS = ((6, 20), (20, 80), (100, 200))  # tokens


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hidden", type=int, default=1024)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    print(f"hidden {arguments.hidden}, batch {arguments.batch}, threads {arguments.threads}, torch {torch.__version__}")
    print("| tokens a text | ours, tokens/s | torch, tokens/s | ours ÷ torch (min – max) | ours ÷ matrix product |")
    print("|---|--:|--:|--:|--:|")
    for low, high in LENGTHS:
        ours = BiLSTM(300, arguments.hidden)
        theirs = nn.LSTM(300, arguments.hidden, 2, bidirectional=True, batch_first=True)
        theirs.load_state_dict(ours.state_dict())
        lengths = torch.randint(low, high + 1, (arguments.batch,))
        inputs = torch.randn(arguments.batch, int(lengths.max()), 300, requires_grad=True)
        steps = [
            partial(_step, ours, BiLSTM.__call__, inputs, lengths),
            partial(_step, theirs, _packed, inputs, lengths),
        ]
        seconds: list[list[float]] = [[], []]
        rate = []
        for run in range(arguments.runs + 1):
            measured = [_seconds(step) for step in steps]
            product = _matrix_product()
            if run:  # the first warms up
                for side, value in zip(seconds, measured, strict=True):
                    side.append(value)
                rate.append(product)
        tokens = int(lengths.sum())
        weights = sum(p.numel() for name, p in ours.named_parameters() if "weight" in name)
        ratios = [b / a for a, b in zip(*seconds, strict=True)]
        speed = [tokens / statistics.median(side) for side in seconds]
        share = 6 * weights * speed[0] / statistics.median(rate)
        spread = f"{statistics.median(ratios):.1f} ({min(ratios):.1f} – {max(ratios):.1f})"
        print(f"| {low} – {high} | {speed[0]:,.0f} | {speed[1]:,.0f} | {spread} | {share:.0%} |", flush=True)


def _step(lstm: nn.LSTM, forward: Callable[..., Tensor], inputs: Tensor, lengths: Tensor) -> None:
    lstm.zero_grad()
    forward(lstm, inputs, lengths).sum().backward()


def _packed(lstm: nn.LSTM, inputs: Tensor, lengths: Tensor) -> Tensor:
    packed = pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False)
    return pad_packed_sequence(lstm(packed)[0], batch_first=True)[0]


def _seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _matrix_product() -> float:
    """The machine's float32 matrix product, 2048 × 2048, in operations a second."""
    a, b = torch.randn(2, 2048, 2048)
    return 2 * 2048**3 / min(_seconds(lambda: torch.mm(a, b)) for _ in range(3))


if __name__ == "__main__":
    main()
