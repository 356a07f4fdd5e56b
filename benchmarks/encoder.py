"""Compare the encoder's BiLSTM with AllenNLP's, which KLEJ's baselines used, and with the machine's matrix product.

    python benchmarks/encoder.py --data data/klej --runs 3

Measures training steps (forward and backward) and inference, on texts of similar length and on KLEJ's mix: of the batches
that stage 1 draws, the one of median size for each task, weighted by the task's share of the batches. Without --data, the
mix is left out. With --shuffled, only the mix is measured, with batches of rows in random order, not sorted by length.
Both sides have the same weights and read the same batches, in turn. Each figure is the median of the runs (of one run for
batches of more than 12,000 tokens). Each side has its own process, so that its peak memory can be measured: ours keeps
freed memory as `mtl baseline` does (mtl/base/memory.py); AllenNLP's does so only with --keep-both.
The limit is the speed of a 2048 × 2048 float32 product (torch.mm), in useful operations per second. Peak memory is that of
each process after training steps on 128 texts of 100 to 200 tokens.
"""

import argparse
import multiprocessing
import resource
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import torch
from timing import matrix_product, ratio, seconds
from torch import Tensor, nn

from mtl.base.memory import keep_memory
from mtl.model.lstm import BiLSTM

DIM = 300
CLASSES = ((6, 20), (20, 80), (100, 200))  # tokens per text
SIDES = ("ours", "theirs")
PASSES = {"training": 6, "inference": 2}  # operations per weight and token


@dataclass
class Workload:
    """A batch of texts, given by their lengths in tokens, and its weight in the mix (0: not part of the mix)."""

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
    parser.add_argument("--shuffled", action="store_true", help="only the mix, with rows in random order")
    parser.add_argument("--passes", nargs="+", choices=PASSES, default=list(PASSES))
    parser.add_argument("--keep-both", action="store_true", help="keep memory on AllenNLP's side too")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    works = [
        Workload(f"{low} – {high} tokens", torch.randint(low, high + 1, (arguments.batch,))) for low, high in CLASSES
    ]
    context = multiprocessing.get_context("spawn")
    sides = []
    for side in SIDES:
        mine, other = context.Pipe()
        keep = side == "ours" or arguments.keep_both
        context.Process(
            target=serve, args=(other, side, arguments.hidden, arguments.threads, keep), daemon=True
        ).start()
        sides.append(mine)
    print(f"{arguments.hidden} units, batch {arguments.batch}, threads {arguments.threads}, torch {torch.__version__}")
    difference = (
        (ask(sides[0], ("outputs", works[0].lengths)) - ask(sides[1], ("outputs", works[0].lengths))).abs().max()
    )
    assert difference < 1e-5, f"the two sides differ by {difference}"
    print(
        "| texts | pass | ours, tokens/s | AllenNLP, tokens/s | ratio (min – max) | ours ÷ limit | AllenNLP ÷ limit |"
    )
    print("|---|---|--:|--:|--:|--:|--:|")
    weights = sum(p.numel() for name, p in BiLSTM(DIM, arguments.hidden).named_parameters() if "weight" in name)
    for work in works if not arguments.shuffled else ():
        compare(sides, work, arguments.runs, weights, arguments.passes)
    memory = [ask(side, ("memory", None)) for side in sides]
    works = klej(arguments.data, arguments.batch, arguments.shuffled) if arguments.data else []
    results = [compare(sides, work, arguments.runs, weights, arguments.passes) for work in works]
    for title in arguments.passes if works else ():
        each = [result[title] for result in results]
        shares = [work.share for work in works]

        def mixed(side: int, pick: Any, each: list[Any] = each, shares: list[float] = shares) -> float:
            """Seconds of the mix; `pick` selects one of the runs of each batch."""
            return sum(share * pick(of[side]) for share, of in zip(shares, each, strict=True))

        tokens = sum(work.share * int(work.lengths.sum()) for work in works)
        # The ends of the range take the slowest run of every batch, and the fastest.
        ours = [mixed(0, pick) for pick in (max, statistics.median, min)]
        theirs = [mixed(1, pick) for pick in (min, statistics.median, max)]
        show("KLEJ's mix", title, tokens, ours, theirs, mixed(2, min))
    if not arguments.shuffled:
        print(f"peak memory of training on the longest texts: ours {memory[0]:,} MiB, AllenNLP's {memory[1]:,} MiB")


def compare(
    sides: list[Connection], work: Workload, runs: int, weights: int, passes: list[str]
) -> dict[str, list[list[float]]]:
    """For each pass the seconds of both sides by run, and the seconds at the limit. Prints a line for each pass."""
    tokens = int(work.lengths.sum())
    results = {}
    for title in passes:
        rate, taken = 0.0, []
        for _ in range(runs if tokens <= 12_000 else 1):
            rate = max(rate, matrix_product())
            taken.append([ask(side, (title, work.lengths)) for side in sides])
        limit = PASSES[title] * weights * tokens / max(rate, matrix_product())
        ours, theirs = ([run[side] for run in taken] for side in (0, 1))
        show(work.title, title, tokens, ours, theirs, limit)
        results[title] = [ours, theirs, [limit]]
    return results


def show(texts: str, title: str, tokens: float, ours: list[float], theirs: list[float], limit: float) -> None:
    medians = [statistics.median(side) for side in (ours, theirs)]
    speeds = " | ".join(f"{tokens / median:,.0f}" for median in medians)
    shares = " | ".join(f"{limit / median:.0%}" for median in medians)
    print(f"| {texts} | {title} | {speeds} | {ratio(ours, theirs)} | {shares} |", flush=True)


def ask(side: Connection, question: Any) -> Any:
    side.send(question)
    return side.recv()


def masked(module: nn.Module, inputs: Tensor, lengths: Tensor) -> Tensor:
    """Call an AllenNLP encoder, which reads a mask instead of lengths."""
    outputs: Tensor = module(inputs, torch.arange(inputs.shape[1]) < lengths[:, None])
    return outputs


def serve(connection: Connection, side: str, hidden: int, threads: int, keep: bool) -> None:
    """Serve the first process's requests to one side: the seconds of a pass over texts of these lengths, outputs, memory."""
    torch.set_num_threads(threads)
    if keep:
        keep_memory()
    torch.manual_seed(1)
    ours = BiLSTM(DIM, hidden)
    module: nn.Module = ours
    call: Callable[[Tensor, Tensor], Tensor] = ours
    if side == "theirs":
        from allennlp_light.modules.seq2seq_encoders import LstmSeq2SeqEncoder

        module = theirs = LstmSeq2SeqEncoder(DIM, hidden, 2, bidirectional=True)
        theirs._module.load_state_dict(ours.state_dict())
        call = partial(masked, theirs)

    def infer(inputs: Tensor, lengths: Tensor) -> Tensor:
        with torch.no_grad():
            return call(inputs, lengths)

    def train(inputs: Tensor, lengths: Tensor) -> None:
        module.zero_grad()
        call(inputs.requires_grad_(), lengths).sum().backward()

    for _ in range(3):
        train(torch.randn(16, 8, DIM), torch.full((16,), 8))  # warms up
    while True:
        try:
            question, lengths = connection.recv()
        except EOFError:  # the first process has ended
            return
        if question == "memory":
            connection.send(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
            continue
        inputs = torch.randn(len(lengths), int(lengths.max()), DIM, generator=torch.Generator().manual_seed(2))
        if question == "outputs":
            connection.send(infer(inputs, lengths))
        else:
            pass_ = train if question == "training" else infer
            connection.send(seconds(partial(pass_, inputs, lengths)))


def klej(data: Path, batch: int, shuffled: bool) -> list[Workload]:
    """For each task with data, the batch of median size among those that 2,000 steps of stage 1 draw.

    shuffled: replace the rows of each batch by random ones, of any length.
    """
    from mtl.data.loading import load_dataset
    from mtl.data.text import tokenized
    from mtl.jobs.job import load_job
    from mtl.training.schedule import Schedule, row_lengths

    job = load_job({"suite": "klej", "data_dir": str(data)})
    config, suite = job.config, job.suite
    tasks = [task for task in suite.tasks.values() if (data / task.folder).is_dir()]
    dataset = load_dataset(suite, tasks, data, config.held_out)
    tokens = tokenized(dataset.texts, suite.language, config.max_length, Path(config.cache_dir)).lengths
    splits = {task.id: dataset.splits[task.id]["train"] for task in tasks}
    lengths = {id: row_lengths(split, tokens) for id, split in splits.items()}
    schedule = Schedule(lengths, dict.fromkeys(splits, batch), 2000, seed=1)
    chance = np.random.default_rng(1)
    drawn: dict[str, list[Tensor]] = {}
    for step in range(len(schedule)):
        task, rows = schedule.rows(step)
        if shuffled:
            rows = chance.choice(len(splits[task]), len(rows), replace=False)
        of_texts = tokens[splits[task].texts[rows].T.reshape(-1)]
        drawn.setdefault(task, []).append(torch.from_numpy(of_texts))
    works = []
    for task, batches in sorted(drawn.items()):
        batches.sort(key=lambda lengths: int(lengths.sum()))
        median = batches[len(batches) // 2]
        works.append(Workload(f"{task}: {len(median)} texts", median, len(batches) / len(schedule)))
    return works


if __name__ == "__main__":
    main()
