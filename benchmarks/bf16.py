"""Compare the encoder's BiLSTM with products in bfloat16 with the same BiLSTM in float32.

    python benchmarks/bf16.py --data data/klej --runs 3

Measures training steps (forward and backward) and inference, on the texts that encoder.py measures: texts of similar length,
and KLEJ's mix (without --data, it is left out). Both sides have the same weights and read the same batches, in turn. Each
figure is the median of the runs. A ratio is float32's seconds divided by bfloat16's: above 1, bfloat16 is faster. The first
lines say which bfloat16 instructions the CPU has, and how fast it computes a matrix product in either format: a CPU without
such instructions is many times slower in bfloat16.
"""

import argparse
import statistics
from functools import partial
from pathlib import Path

import torch
from encoder import CLASSES, DIM, PASSES, Workload, klej
from timing import alternate, matrix_product, ratio

from mtl.base.device import CPU_INFORMATION, bfloat16_instructions
from mtl.base.memory import keep_memory
from mtl.model.lstm import BiLSTM

DTYPES = (torch.float32, torch.bfloat16)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hidden", type=int, default=1024)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--product", type=int, default=2048, help="rows and columns of the matrix product")
    parser.add_argument("--data", type=Path, help="KLEJ's data")
    parser.add_argument("--passes", nargs="+", choices=PASSES, default=list(PASSES))
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    keep_memory()
    torch.manual_seed(0)
    show_machine(arguments.product)
    print(f"{arguments.hidden} units, batch {arguments.batch}, threads {arguments.threads}, torch {torch.__version__}")
    lstm = BiLSTM(DIM, arguments.hidden)
    lengths = torch.full((16,), 8)
    for dtype in DTYPES:
        train(lstm, torch.randn(16, 8, DIM), lengths, dtype)  # warms up
    works = [
        Workload(f"{low} – {high} tokens", torch.randint(low, high + 1, (arguments.batch,))) for low, high in CLASSES
    ]
    mix = klej(arguments.data, arguments.batch, shuffled=False) if arguments.data else []
    print("| texts | pass | float32, tokens/s | bfloat16, tokens/s | ratio (min – max) |")
    print("|---|---|--:|--:|--:|")
    for title in arguments.passes:
        for work in works:
            compare(lstm, work, title, arguments.runs)
        if mix:
            compare_mix(mix, [compare(lstm, work, title, arguments.runs) for work in mix], title)


def show_machine(size: int) -> None:
    """Print the CPU's bfloat16 instructions, and the speed of its products in either format."""
    missing = "none" if CPU_INFORMATION.is_file() else f"unknown (no {CPU_INFORMATION})"
    print(f"bfloat16 instructions: {', '.join(bfloat16_instructions()) or missing}")
    rates = [matrix_product(size, dtype) / 1e9 for dtype in DTYPES]
    print(
        f"product of {size} × {size}: float32 {rates[0]:,.1f} GFLOP/s, bfloat16 {rates[1]:,.1f} ({rates[1] / rates[0]:.2f} times)"
    )


def compare(lstm: BiLSTM, work: Workload, title: str, runs: int) -> list[list[float]]:
    """The seconds of a pass over a batch, (dtypes, runs). Prints them as a line of the table."""
    generator = torch.Generator().manual_seed(2)
    inputs = torch.randn(len(work.lengths), int(work.lengths.max()), DIM, generator=generator)
    pass_ = train if title == "training" else infer
    taken = alternate([partial(pass_, lstm, inputs, work.lengths, dtype) for dtype in DTYPES], runs)
    show(work.title, title, float(work.lengths.sum()), taken)
    return taken


def compare_mix(works: list[Workload], taken: list[list[list[float]]], title: str) -> None:
    """Print the line of the mix: each batch weighted by its task's share. taken: the seconds of each batch, (dtypes, runs)."""
    tokens = sum(work.share * int(work.lengths.sum()) for work in works)
    weighted = list(zip(works, taken, strict=True))
    runs = range(len(taken[0][0]))
    mixed = [[sum(work.share * of[side][run] for work, of in weighted) for run in runs] for side in range(len(DTYPES))]
    show("KLEJ's mix", title, tokens, mixed)


def show(texts: str, title: str, tokens: float, taken: list[list[float]]) -> None:
    float32, bfloat16 = taken
    speeds = " | ".join(f"{tokens / statistics.median(side):,.0f}" for side in taken)
    print(f"| {texts} | {title} | {speeds} | {ratio(bfloat16, float32, digits=2)} |", flush=True)


def train(lstm: BiLSTM, inputs: torch.Tensor, lengths: torch.Tensor, dtype: torch.dtype) -> None:
    lstm.zero_grad()
    read = inputs.detach().requires_grad_()
    with torch.autocast("cpu", torch.bfloat16, enabled=dtype == torch.bfloat16):
        outputs = lstm(read, lengths)
    outputs.float().sum().backward()


def infer(lstm: BiLSTM, inputs: torch.Tensor, lengths: torch.Tensor, dtype: torch.dtype) -> None:
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=dtype == torch.bfloat16):
        lstm(inputs, lengths)


if __name__ == "__main__":
    main()
