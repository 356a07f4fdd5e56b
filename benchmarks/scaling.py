"""Measure how the time of a training step grows with hidden size, text length, vocabulary and number of tasks.

    python benchmarks/scaling.py --out experiments/performance/scaling.svg

Measures one step of stage 1 (forward, backward, clipping, Adam with AMSGrad) on random words. The base is 128 texts of 20
tokens, 256 units, 30,000 trainable word vectors of 300 numbers, and one task; each panel changes one of these. Each figure
is the median of the runs.
"""

import argparse
import statistics
from functools import partial
from pathlib import Path

import torch
from timing import seconds

from mtl.base.files import write_text
from mtl.base.memory import keep_memory
from mtl.embedders.words import WordEmbedder
from mtl.model.encoder import Encoder
from mtl.model.network import Heads
from mtl.tasks.suite import Task

BASE = {"hidden size": 256, "tokens per text": 20, "words": 30_000, "tasks": 1}
VALUES = {
    "hidden size": [64, 128, 256, 512, 1024],
    "tokens per text": [10, 20, 40, 80, 160],
    "words": [3_000, 10_000, 30_000, 100_000, 300_000],
    "tasks": [1, 2, 4, 8, 16],
}
TEXTS = 128
WIDTH, HEIGHT, MARGIN = 300, 220, 52


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--out", type=Path, required=True, help="the plot, an SVG file")
    arguments = parser.parse_args()
    keep_memory()
    measured = {}
    print("| varied | " + " | ".join(["value: ms per step"] * 5) + " |")
    print("|---|" + "--:|" * 5)
    for name, values in VALUES.items():
        points = [(value, milliseconds({**BASE, name: value}, arguments.runs)) for value in values]
        print(f"| {name} | " + " | ".join(f"{value:,}: {time:,.0f}" for value, time in points) + " |", flush=True)
        measured[name] = points
    write_text(arguments.out, plot(measured))


def milliseconds(sizes: dict[str, int], runs: int) -> float:
    """The median time of a step with these sizes, in milliseconds. Several tasks take turns."""
    torch.manual_seed(0)
    tasks = [
        Task(id=f"task{n}", text=["text"], target="label", labels=["a", "b"], metric="accuracy")
        for n in range(sizes["tasks"])
    ]
    encoder = Encoder(WordEmbedder(sizes["words"], 300, True), 300, sizes["hidden size"], 2, 0.2, 0.2)
    heads = Heads(tasks, {task.id: 2 for task in tasks}, encoder.output_size, 512, 0.2)
    parameters = [*encoder.parameters(), *heads.parameters()]
    optimizer = torch.optim.Adam(parameters, 1e-4, amsgrad=True, fused=True)
    lengths = torch.full((TEXTS,), sizes["tokens per text"])
    targets = torch.randint(2, (TEXTS,))

    def step(number: int) -> None:
        tokens = torch.randint(2, sizes["words"], (TEXTS, sizes["tokens per text"]))
        optimizer.zero_grad()
        outputs = heads[tasks[number % len(tasks)].id].read(encoder.outputs(tokens, lengths), lengths)
        torch.nn.functional.cross_entropy(outputs, targets).backward()
        torch.nn.utils.clip_grad_norm_(parameters, 5.0)
        optimizer.step()

    for number in range(len(tasks)):
        step(number)  # warms up
    return 1000 * statistics.median(seconds(partial(step, number)) for number in range(max(runs, len(tasks))))


def plot(measured: dict[str, list[tuple[int, float]]]) -> str:
    """An SVG image of four panels with logarithmic axes."""
    parts = []
    top = max(time for points in measured.values() for _, time in points)
    low = min(time for points in measured.values() for _, time in points)
    for panel, (name, points) in enumerate(measured.items()):
        left = panel * WIDTH + MARGIN
        positions = [
            (left + 14 + i * (WIDTH - MARGIN - 44) / (len(points) - 1), _height(time, low, top))
            for i, (_, time) in enumerate(points)
        ]
        parts.append(f'<text class="title" x="{left}" y="20">{name}</text>')
        if not panel:
            parts.append(f'<text x="{left}" y="40">ms per step</text>')
        parts.append(f'<path class="axis" d="M{left - 10},32V{HEIGHT - 36}H{left + WIDTH - MARGIN - 14}"/>')
        parts.append('<polyline points="' + " ".join(f"{x:.1f},{y:.1f}" for x, y in positions) + '"/>')
        for (x, y), (value, time) in zip(positions, points, strict=True):
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"/>')
            parts.append(f'<text x="{x:.1f}" y="{y - 9:.1f}" text-anchor="middle">{time:,.0f}</text>')
            parts.append(f'<text x="{x:.1f}" y="{HEIGHT - 18}" text-anchor="middle">{_short(value)}</text>')
    style = (
        "text{font:12px system-ui,sans-serif;fill:#555}.title{font-weight:600;font-size:13px}.axis{stroke:#999;fill:none}"
        "polyline{fill:none;stroke:#2a6fb0;stroke-width:2}circle{fill:#2a6fb0}"
        "@media(prefers-color-scheme:dark){text{fill:#bbb}polyline{stroke:#7db8ea}circle{fill:#7db8ea}}"
    )
    width = WIDTH * len(measured)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT}" role="img" '
        f'aria-label="Milliseconds per training step"><style>{style}</style>{"".join(parts)}</svg>\n'
    )


def _height(time: float, low: float, top: float) -> float:
    share = torch.tensor(time / low).log() / torch.tensor(top / low).log()
    return float(HEIGHT - 48 - share * (HEIGHT - 48 - 50))


def _short(value: int) -> str:
    return f"{value // 1000}k" if value >= 1000 and value % 1000 == 0 else str(value)


if __name__ == "__main__":
    main()
