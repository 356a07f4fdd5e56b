"""Draw the packages of mtl and what they import, as docs/assets/house.svg.

    python tools/house.py

A package stands above everything that it imports. Lines are imports, without those that follow from other lines. The dashed boxes are wings.
"""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs/assets/house.svg"
WIDTH, BOX, HEIGHT, GAP, ROW = 520, 140, 34, 18, 74  # pixels
STYLE = (
    "text{font:13px sans-serif;text-anchor:middle;fill:#222}.lines{font-size:10px;fill:#666}"
    "rect{fill:#f4f1ea;stroke:#8a7f6a}.wing{fill:#e8f0f6;stroke:#4a7a9c;stroke-dasharray:5 3}line{stroke:#b9b2a3}"
)


def main() -> None:
    imports = {package: imported(package) for package in packages()}
    PICTURE.write_text(drawing(imports), encoding="utf-8")
    print(PICTURE)


def packages() -> list[str]:
    """The folders of mtl that hold code."""
    return sorted(init.parent.name for init in (ROOT / "mtl").glob("*/__init__.py"))


def imported(package: str) -> set[str]:
    """The other packages that a package imports, at the top of its modules or inside functions."""
    names = set()
    for module in (ROOT / "mtl" / package).rglob("*.py"):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mtl."):
                names.add(str(node.module).split(".")[1])
    return names & set(packages()) - {package}


def reached(package: str, imports: dict[str, set[str]]) -> set[str]:
    """All packages that a package imports, or that these import, and so on."""
    below = set(imports[package])
    for name in imports[package]:
        below |= reached(name, imports)
    return below


def levels(imports: dict[str, set[str]]) -> list[list[str]]:
    """The packages in rows, the ground last: each is one row above the highest of those that it imports."""
    height: dict[str, int] = {}

    def rise(package: str) -> int:
        if package not in height:
            height[package] = max((rise(name) + 1 for name in imports[package]), default=0)
        return height[package]

    top = max(map(rise, imports))
    return [[name for name in imports if height[name] == row] for row in range(top, -1, -1)]


def drawing(imports: dict[str, set[str]]) -> str:
    """The picture, in SVG."""
    rows = levels(imports)
    place = {
        name: (WIDTH / 2 + (column - (len(row) - 1) / 2) * (BOX + GAP), GAP + number * ROW)
        for number, row in enumerate(rows)
        for column, name in enumerate(row)
    }
    parts = []
    for name, below in imports.items():
        implied = set().union(*(reached(other, imports) for other in below)) if below else set()
        for other in sorted(below - implied):
            (x, y), (to_x, to_y) = place[name], place[other]
            parts.append(f'<line x1="{x:g}" y1="{y + HEIGHT:g}" x2="{to_x:g}" y2="{to_y:g}"/>')
    for name, (x, y) in place.items():
        wing = ' class="wing"' if (ROOT / "mtl" / name / "wing.py").is_file() else ""
        hundreds = round(sum(lines_in(module) for module in (ROOT / "mtl" / name).rglob("*.py")) / 100) * 100
        parts.append(f'<rect{wing} x="{x - BOX / 2:g}" y="{y:g}" width="{BOX}" height="{HEIGHT}" rx="4"/>')
        parts.append(f'<text x="{x:g}" y="{y + 15:g}">{name}</text>')
        parts.append(f'<text class="lines" x="{x:g}" y="{y + 28:g}">{hundreds:,} lines</text>')
    height = GAP + len(rows) * ROW
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"><style>{STYLE}</style>'
    return "\n".join([head, *parts, "</svg>\n"])


def lines_in(module: Path) -> int:
    return module.read_text(encoding="utf-8").count("\n")


if __name__ == "__main__":
    main()
