"""Three suites of Superlim's Argumentation whose test rows are training rows that no dev row repeats.

python new_rows.py FOLDER_OF_THE_TASK OUT
"""

import json
import random
import sys
from pathlib import Path
from typing import Any

SUITE = """name: {name}
language: sv
scale: 1
data: .
tasks:
  argumentation:
    folder: .
    text: [sentence, topic]
    target: label
    labels: [pro, con, non]
    metric: alpha_nominal
    scored: test
    files: {{train: train.jsonl, dev: dev.jsonl, test: test.jsonl}}
"""


def read(path: Path) -> list[dict[str, Any]]:
    """The rows of a file."""
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


source, out = map(Path, sys.argv[1:])
train, dev = (read(source / f"argumentation-sentences_{split}.jsonl") for split in ("train", "dev"))
in_train, in_dev = ({row["sentence"] for row in rows} for rows in (train, dev))
new = set(random.Random(1).sample(sorted(in_train - in_dev), 700))
rest, test = ([row for row in train if (row["sentence"] in new) is chosen] for chosen in (False, True))
suites = {
    "as-published": (rest, dev),
    "clean-train": ([row for row in rest if row["sentence"] not in in_dev], dev),
    "clean-dev": (rest, [row for row in dev if row["sentence"] not in in_train]),
}
for name, (own_train, own_dev) in suites.items():
    (out / name).mkdir(parents=True)
    (out / name / "suite.yaml").write_text(SUITE.format(name=name), encoding="utf-8")
    for split, rows in (("train", own_train), ("dev", own_dev), ("test", test)):
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
        (out / name / f"{split}.jsonl").write_text("".join(lines), encoding="utf-8")
