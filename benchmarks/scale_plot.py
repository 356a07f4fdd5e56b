"""The plot of benchmarks/scale.py: hours against workers, both logarithmic, with a panel for each sweep."""

from collections.abc import Mapping, Sequence
from math import log10

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 470, 330, 60, 44, 60
COLOURS = ("#b0412a", "#2a6fb0")
STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#555}.title{font-weight:600;font-size:13px}.axis{stroke:#999;fill:none}"
    "polyline{fill:none;stroke-width:2}@media(prefers-color-scheme:dark){text{fill:#bbb}}"
)


def plot(curves: Mapping[tuple[str, str], Sequence[tuple[int, float]]]) -> str:
    """An SVG image. curves: workers and hours, by the panel's title and the curve's."""
    panels = list(dict.fromkeys(panel for panel, _ in curves))
    names = list(dict.fromkeys(name for _, name in curves))
    parts = [_panel(place, panel, [curves[panel, name] for name in names]) for place, panel in enumerate(panels)]
    for place, name in enumerate(names):
        x, y = LEFT + 230 * place, HEIGHT + 14
        parts.append(f'<rect x="{x}" y="{y - 9}" width="10" height="10" fill="{COLOURS[place]}"/>')
        parts.append(f'<text x="{x + 16}" y="{y}">{name}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH * len(panels)} {HEIGHT + 30}" role="img" '
        f'aria-label="Hours of a sweep against workers"><style>{STYLE}</style>{"".join(parts)}</svg>\n'
    )


def _panel(place: int, title: str, curves: Sequence[Sequence[tuple[int, float]]]) -> str:
    left, right = place * WIDTH + LEFT, (place + 1) * WIDTH - 50
    hours = [value for curve in curves for _, value in curve]
    low, high = log10(min(hours)), log10(max(hours))
    most = log10(max(workers for curve in curves for workers, _ in curve))

    def at(workers: float, value: float) -> tuple[float, float]:
        x = left + (right - left) * log10(workers) / most
        return x, HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP - 16) * (log10(value) - low) / (high - low)

    parts = [
        f'<text class="title" x="{left}" y="18">{title}</text><text x="{left}" y="36">hours</text>',
        f'<path class="axis" d="M{left - 10},{TOP}V{HEIGHT - BOTTOM + 14}H{right + 10}"/>',
    ]
    for colour, curve in zip(COLOURS, curves, strict=False):
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(*point) for point in curve))
        parts.append(f'<polyline points="{points}" stroke="{colour}"/>')
    for workers, value in curves[0]:
        x, y = at(workers, value)
        shown = f"{value:,.0f}" if value >= 10 else f"{value:.2f}"
        parts.append(f'<text x="{x + 6:.1f}" y="{y - 6:.1f}">{shown}</text>')
        parts.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 30}" text-anchor="middle">{workers:,}</text>')
    for workers, value in curves[-1][-1:]:
        x, y = at(workers, value)
        parts.append(f'<text x="{x + 6:.1f}" y="{y + 14:.1f}">{value:.2f}</text>')
    parts.append(f'<text x="{(left + right) / 2:.1f}" y="{HEIGHT - BOTTOM + 48}" text-anchor="middle">workers</text>')
    return "".join(parts)
