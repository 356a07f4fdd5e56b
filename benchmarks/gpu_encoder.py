"""Milliseconds of the encoder on a GPU, forward and backward, in each precision.

    python benchmarks/gpu_encoder.py

Two BiLSTM layers of 1,024 units read batches of 300 numbers a token, of the sizes in SHAPES. Each figure is the median of 20 after five
that are not counted, with the GPU waited for. The last line of a shape is a step of Adam and a clipping of these weights.
"""

import statistics
import time
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial

import torch
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from mtl.base.device import exact_arithmetic
from mtl.model.lstm import BiLSTM
from mtl.training.optimizers import Adam

SHAPES = ((256, 40), (64, 40), (128, 15))  # sequences, and tokens of the longest; the others have 3 tokens and more
PRECISIONS = {"float32": None, "TF32": None, "bfloat16": torch.bfloat16, "float16": torch.float16}
WARM_UP, REPEATS = 5, 20
GPU = torch.device("cuda")


def main() -> None:
    print(torch.__version__, torch.cuda.get_device_name())
    for sequences, longest in SHAPES:
        torch.manual_seed(1)
        lengths = torch.randint(3, longest + 1, (sequences,))
        lengths[0] = longest
        lstm = BiLSTM(300, 1024, 2).to(GPU)
        print(f"{sequences} sequences, {longest} tokens at most, {int(lengths.sum()):,} in all")
        measure(lstm, torch.randn(sequences, longest, 300, device=GPU, requires_grad=True), lengths)


def measure(lstm: BiLSTM, inputs: Tensor, lengths: Tensor) -> None:
    def pass_both_ways(dtype: torch.dtype | None) -> None:
        lstm.zero_grad(set_to_none=True)
        with torch.autocast(GPU.type, dtype) if dtype else nullcontext():
            outputs = lstm(inputs, lengths)
        outputs.float().amax(1).sum().backward()

    for name, dtype in PRECISIONS.items():
        with exact_arithmetic():
            if name == "TF32":
                torch.backends.cudnn.rnn.fp32_precision = "tf32"  # type: ignore[attr-defined]
                torch.backends.cuda.matmul.fp32_precision = "tf32"
            passes = partial(pass_both_ways, dtype)
            print(f"  {name}: {milliseconds(passes):.1f} ms")
    optimizer = Adam(lstm.parameters(), 1e-4, amsgrad=True)
    clipping = milliseconds(lambda: clip_grad_norm_(lstm.parameters(), 5.0))
    print(f"  Adam: {milliseconds(optimizer.step):.1f} ms, clipping: {clipping:.1f} ms")


def milliseconds(call: Callable[[], object]) -> float:
    """The median time of a call, with the GPU waited for."""
    times = []
    for _ in range(WARM_UP + REPEATS):
        begin = time.perf_counter()
        call()
        torch.cuda.synchronize()
        times.append(1000 * (time.perf_counter() - begin))
    return statistics.median(times[WARM_UP:])


if __name__ == "__main__":
    main()
