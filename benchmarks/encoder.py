"""The encoder's BiLSTM beside the one of AllenNLP that KLEJ's baselines ran on, and beside the machine's matrix product.

    python benchmarks/encoder.py --data data/klej --runs 3

Training steps (forward and backward) and inference, for texts of like length and over KLEJ's mix: the batches that stage 1
draws, of which each task brings the one of median size, weighted by the task's share of batches. Without --data the
mix is left out. Both sides have the same weights and read the same batches, in one process and in turn; a figure is
the median of the runs. The limit is a 2048 × 2048 float32 product (torch.mm): useful operations a second over its.
Peak memory is that of a process that does one training step on 128 texts of 100 to 200 tokens.
"""

import argparse
import resource
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from allennlp_light.modules.seq2seq_encoders import LstmSeq2SeqEncoder
from timing import alternate, matrix_product, ratio, seconds
from torch import Tensor, nn

from mtl.memory import keep_memory, release_memory
from mtl.model.lstm import BiLSTM

DIM = 300
CLASSES = ((6, 20), (20, 80), (100, 200))  # tokens a text
SIDES = ("ours", "theirs")
PASSES = ("training", "inference")


@dataclass
class Workload:
    """A batch of texts by their lengths, and how much of the mix it stands for (0: none of it)."""

    title: str
    lengths: Tensor
    share: float = 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hidden", type=int, default=1024)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--data", type=Path, help="KLEJ's data")
    parser.add_argument("--keep-both", action="store_true", help="keep memory for AllenNLP's encoder too")
    parser.add_argument("--peak", choices=SIDES, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    if arguments.peak:
        print(peak(arguments.peak, arguments.hidden, arguments.batch))
        return
    memory = [
        int(subprocess.run([sys.executable, *sys.argv, "--peak", side], check=True, capture_output=True).stdout)
        for side in SIDES
    ]
    print(f"{arguments.hidden} units, batch {arguments.batch}, threads {arguments.threads}, torch {torch.__version__}")
    print(f"peak memory of a training step: ours {memory[0]:,} MiB, AllenNLP's {memory[1]:,} MiB")
    print(
        "| texts | pass | ours, tokens/s | AllenNLP, tokens/s | ratio (min – max) | ours ÷ limit | AllenNLP ÷ limit |"
    )
    print("|---|---|--:|--:|--:|--:|--:|")
    ours, theirs = pair(arguments.hidden)
    compare(ours, theirs, Workload("", torch.full((8,), 8)), 1, arguments.keep_both)
    works = [
        Workload(f"{low} – {high} tokens", torch.randint(low, high + 1, (arguments.batch,))) for low, high in CLASSES
    ]
    works += klej(arguments.data, arguments.batch) if arguments.data else []
    results = [(work, compare(ours, theirs, work, arguments.runs, arguments.keep_both)) for work in works]
    for number, title in enumerate(PASSES):
        mixed = [(work, result[number]) for work, result in results if work.share]
        if mixed:
            ours_each, theirs_each = ([sorted(of[side]) for _, of in mixed] for side in (0, 1))
            shares = [work.share for work, _ in mixed]
            limit = sum(work.share * of[2][0] for work, of in mixed)
            tokens = sum(work.share * int(work.lengths.sum()) for work, _ in mixed)
            # The extremes are those of all batches at once.
            ours_mix = [weighted(shares, ours_each, pick) for pick in (max, statistics.median, min)]
            theirs_mix = [weighted(shares, theirs_each, pick) for pick in (min, statistics.median, max)]
            show("KLEJ's mix", title, tokens, ours_mix, theirs_mix, limit)


def weighted(shares: list[float], each: list[list[float]], pick: Callable[[list[float]], float]) -> float:
    """Seconds of the mix, taking of each batch's runs the one that `pick` chooses."""
    return sum(share * pick(runs) for share, runs in zip(shares, each, strict=True))


def pair(hidden: int) -> tuple[BiLSTM, LstmSeq2SeqEncoder]:
    """Both sides with the same weights."""
    ours, theirs = BiLSTM(DIM, hidden), LstmSeq2SeqEncoder(DIM, hidden, 2, bidirectional=True)
    theirs._module.load_state_dict(ours.state_dict())
    return ours, theirs


def compare(
    ours: BiLSTM, theirs: LstmSeq2SeqEncoder, work: Workload, runs: int, keep_both: bool
) -> list[list[list[float]]]:
    """For each pass the seconds of either side, by run, and those that the limit would take. Prints a line a pass."""
    lengths = work.lengths
    inputs = torch.randn(len(lengths), int(lengths.max()), DIM)
    mask = torch.arange(inputs.shape[1]) < lengths[:, None]
    calls: list[tuple[nn.Module, Callable[[Tensor], Tensor]]] = [
        (ours, lambda x: ours(x, lengths)),
        (theirs, lambda x: theirs(x, mask)),
    ]
    with torch.no_grad():
        difference = (ours(inputs, lengths) - theirs(inputs, mask)).abs().max()
    assert difference < 1e-5, f"the two sides differ by {difference}"
    weights = sum(parameter.numel() for name, parameter in ours.named_parameters() if "weight" in name)
    tokens = int(lengths.sum())
    runs = runs if tokens <= 12_000 else 1
    keeps = (True, keep_both)
    results = []
    for title, operations, step in (
        (PASSES[0], 6 * weights * tokens, train),
        (PASSES[1], 2 * weights * tokens, infer),
    ):
        rate = max(matrix_product() for _ in range(2))
        sides = alternate(
            [partial(step, module, call, inputs, keep) for (module, call), keep in zip(calls, keeps, strict=True)], runs
        )
        limit = operations / max(rate, matrix_product())
        if work.title:
            show(work.title, title, tokens, sides[0], sides[1], limit)
        results.append([*sides, [limit]])
    return results


def show(texts: str, title: str, tokens: float, ours: list[float], theirs: list[float], limit: float) -> None:
    medians = [statistics.median(side) for side in (ours, theirs)]
    speeds = " | ".join(f"{tokens / median:,.0f}" for median in medians)
    shares = " | ".join(f"{limit / median:.0%}" for median in medians)
    print(f"| {texts} | {title} | {speeds} | {ratio(ours, theirs)} | {shares} |", flush=True)


def train(module: nn.Module, call: Callable[[Tensor], Tensor], inputs: Tensor, keep: bool) -> None:
    (keep_memory if keep else release_memory)()
    module.zero_grad()
    call(inputs.detach().requires_grad_()).sum().backward()


def infer(module: nn.Module, call: Callable[[Tensor], Tensor], inputs: Tensor, keep: bool) -> None:
    (keep_memory if keep else release_memory)()
    with torch.no_grad():
        call(inputs)


def peak(side: str, hidden: int, batch: int) -> int:
    """MiB of this process after one training step of one side on the longest class of texts."""
    lengths = torch.randint(*CLASSES[-1], (batch,))
    inputs = torch.randn(batch, int(lengths.max()), DIM)
    ours, theirs = pair(hidden)
    if side == "ours":
        seconds(partial(train, ours, lambda x: ours(x, lengths), inputs, True))
    else:
        mask = torch.arange(inputs.shape[1]) < lengths[:, None]
        seconds(partial(train, theirs, lambda x: theirs(x, mask), inputs, False))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def klej(data: Path, batch: int) -> list[Workload]:
    """For each task that is there the batch of median size among those that 2,000 steps of stage 1 draw."""
    from mtl.config import load_config
    from mtl.data.batches import Schedule, row_lengths
    from mtl.data.dataset import load_dataset

    config, suite = load_config(["suite=klej", f"data_dir={data}"])
    tasks = [task for task in suite.tasks.values() if (data / task.folder).is_dir()]
    dataset = load_dataset(suite, tasks, data, config.max_length, config.held_out, Path(config.cache_dir))
    splits = {task.id: dataset.splits[task.id]["train"] for task in tasks}
    schedule = Schedule(
        {id: row_lengths(split, dataset.texts.lengths) for id, split in splits.items()}, batch, 2000, seed=1
    )
    drawn: dict[str, list[Tensor]] = {}
    for step in range(len(schedule)):
        task, rows = schedule.rows(step)
        lengths = dataset.texts.lengths[splits[task].texts[rows].T.reshape(-1)]
        drawn.setdefault(task, []).append(torch.from_numpy(lengths))
    works = []
    for task, batches in sorted(drawn.items()):
        batches.sort(key=lambda lengths: int(lengths.sum()))
        median = batches[len(batches) // 2]
        works.append(Workload(f"{task}: {len(median)} texts", median, len(batches) / len(schedule)))
    return works


if __name__ == "__main__":
    main()
