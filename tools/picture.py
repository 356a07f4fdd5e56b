"""Draw docs/assets/baselines.svg, the picture of the README, from the table of docs/results/laptop.md.

Each row is a system with its average on unseen examples of KLEJ, its 95 % CI, and the minutes of a seed.
"""

import re
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt

ROOT = Path(__file__).parents[1]
FAMILIES = {"LSTM": "#2563eb", "simple baseline": "#6b7280"}


def systems() -> list[tuple[str, float, float, float, str]]:
    """Title, score, both ends of its interval, and minutes of each row."""
    lines = (ROOT / "docs/results/laptop.md").read_text(encoding="utf-8").splitlines()
    found = []
    for line in lines:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) > 2 and (score := re.fullmatch(r"([\d.]+) \(([\d.]+)–([\d.]+)\)", cells[1])):
            title = cells[0].replace("`", "").replace("– ensemble", "ensemble")
            found.append((title, *map(float, score.groups()), cells[2]))
    return found


def draw() -> None:
    """Write the picture, whose text stays text."""
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "mtl", "font.family": "sans-serif"})
    rows = systems()
    figure, axes = plt.subplots(figsize=(8, 3.6))
    for position, (title, score, low, high, minutes) in enumerate(rows):
        family = "LSTM" if "LSTM" in title or "ensemble" in title else "simple baseline"
        color = FAMILIES[family]
        axes.plot([low, high], [position, position], color=color, linewidth=3, alpha=0.35, solid_capstyle="round")
        axes.plot(score, position, "o", color=color, label=family)
        spent = "seconds" if float(minutes) == 0 else f"{float(minutes):g} min"
        axes.annotate(f"{score:.1f}", (score, position), (0, 6), textcoords="offset points", ha="center", fontsize=8)
        axes.annotate(spent, (1.01, position), xycoords=("axes fraction", "data"), va="center", fontsize=8)
    axes.set_yticks(range(len(rows)), [title for title, *_ in rows])
    axes.invert_yaxis()
    axes.set_xlabel(
        "KLEJ: average of five tasks on unseen examples × 100, with 95 % CI; training time of a seed on one core"
    )
    axes.xaxis.label.set_fontsize(9)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="#e5e7eb")
    axes.set_axisbelow(True)
    handles, labels = axes.get_legend_handles_labels()
    families = dict(zip(labels, handles, strict=True))
    axes.legend(families.values(), families.keys(), frameon=False, loc="lower left")
    figure.savefig(ROOT / "docs/assets/baselines.svg", bbox_inches="tight", metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    draw()
