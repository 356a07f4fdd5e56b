import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from annotate_parts import read_key_of, write_forms_of
from input_errors import raises_input_error
from kinds_suite import write_kinds_suite
from small_suite import write_suite

from mtl.api.cli import main
from mtl.benchmark_making.annotate.draw import _parts, draw_sample, read_sample_settings, write_forms
from mtl.data.examples import Example, read_examples
from mtl.data.sampled import scored_file
from mtl.jobs.job import load_job


def content(forms: Path, task: str) -> dict[str, Any]:
    """What the form of a task holds."""
    page = (forms / f"{task}.html").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(re.search(r'id="content">(.*?)</script>', page, re.DOTALL)[1])  # type: ignore[index]
    return found


@pytest.mark.parametrize(("sizes", "count"), [([60, 30, 10], 20), ([100, 50], 100), ([7, 6, 87], 10), ([3, 2], 5)])
def test_each_label_has_its_share_of_the_sample_to_within_a_row(sizes: list[int], count: int) -> None:
    targets = [float(label) for label, size in enumerate(sizes) for _ in range(size)]
    examples = [Example(line, (("",),), target) for line, target in enumerate(targets, start=2)]
    for seed in range(50):
        drawn = draw_sample(examples, count, np.random.default_rng(seed))
        assert drawn == sorted(set(drawn)) and len(drawn) == count
        counts = Counter(targets[number] for number in drawn)
        assert all(abs(counts[label] - count * size / len(targets)) < 1 for label, size in enumerate(sizes))


def test_every_row_is_drawn_with_the_same_probability() -> None:
    examples = [Example(line, (("",),), float(line > 11)) for line in range(2, 17)]
    rng = np.random.default_rng(1)
    counts = Counter(number for _ in range(3000) for number in draw_sample(examples, 10, rng))
    # 15 binomial counts of probability 2/3, whose standard deviation is 26: all lie within five of them.
    assert all(abs(counts[number] - 2000) < 130 for number in range(15))


def test_the_form_has_the_texts_of_the_rows_and_no_target(tmp_path: Path) -> None:
    forms = write_forms_of(tmp_path, task=["kansla", "betyg"], rows=10)
    assert {path.name for path in forms.iterdir()} == {"kansla.html", "betyg.html", "key.json"}
    suite = load_job({"suite": str(tmp_path / "liten.yaml")}).suite
    for id in ("kansla", "betyg"):
        task, rows = suite.tasks[id], content(forms, id)["rows"]
        texts = {row.line: row.texts[0] for row in read_examples(task, scored_file(task, tmp_path / "data"))}
        assert all(set(row) == {"line", "texts", "candidates"} for row in rows)
        drawn = read_key_of(forms)["tasks"][id]["lines"]
        assert {row["line"]: row["texts"] for row in rows} == {line: [[[texts[line], False]]] for line in drawn}
        assert [row["line"] for row in rows] != sorted(drawn)


def test_the_same_settings_give_the_same_bytes_and_another_seed_other_rows(tmp_path: Path) -> None:
    made = []
    for number, seed in enumerate((1, 1, 2)):
        (tmp_path / str(number)).mkdir()
        made.append(write_forms_of(tmp_path / str(number), task="kansla", rows=10, seed=seed))
    for name in ("kansla.html", "key.json"):
        first, second, third = ((forms / name).read_bytes() for forms in made)
        assert first == second != third
    (tmp_path / "held").mkdir()  # rows that are held out of the training file are those of dev
    key = read_key_of(write_forms_of(tmp_path / "held", task="samma", rows=4))["tasks"]["samma"]
    assert (key["split"], key["file"], key["whole"]) == ("dev", "pairs/train.tsv", 6)


def test_instructions_are_those_of_the_suite_or_the_task(tmp_path: Path) -> None:
    suite, metric = write_suite(tmp_path), "    metric: accuracy\n"
    text = suite.read_text(encoding="utf-8").replace(metric, f"{metric}    instructions: Hur känns det?\n")
    suite.write_text(text, encoding="utf-8")
    job = load_job({"suite": str(suite), "data_dir": str(tmp_path / "data")})
    write_forms(job, read_sample_settings({"task": ["kansla", "betyg"], "rows": 3}), tmp_path / "forms")
    assert content(tmp_path / "forms", "kansla")["instructions"] == "Hur känns det?"
    assert content(tmp_path / "forms", "betyg")["instructions"].endswith("Answer with a number from 0 to 10.")


def test_spans_are_marked() -> None:
    assert _parts("en bra dag", [(3, 6)]) == [("en ", False), ("bra", True), (" dag", False)]
    assert _parts("bra", [(0, 3)]) == [("bra", True)] and _parts("bra", []) == [("bra", False)] and _parts("", []) == []


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({"suite": "kinds.yaml", "task": "opposite", "rows": 3}, "opposite"),  # a task on words
        ({}, "task"),
        ({"task": "borta"}, "task"),
        ({"task": "kansla", "rows": 31}, "rows"),
        ({"task": "kansla", "rows": 1}, "rows"),
        ({"task": "kansla", "rows": "all"}, "rows"),
        ({"task": "kansla", "seed": -1}, "seed"),
    ],
)
def test_what_cannot_be_drawn_is_one_line_and_nothing_is_written(
    settings: dict[str, Any], key: str, tmp_path: Path
) -> None:
    write_kinds_suite(tmp_path)
    with raises_input_error(key=key):
        write_forms_of(tmp_path, **settings)
    assert not (tmp_path / "forms").exists()


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite, out = write_suite(tmp_path), tmp_path / "forms"
    words = ["annotate", str(suite), f"data_dir={tmp_path / 'data'}", "task=kansla", "rows=5"]
    assert main([*words, f"out={out}"]) == 0
    assert capsys.readouterr().out.splitlines() == [str(out / "kansla.html"), str(out / "key.json")]
    for more, place in (([f"out={out}"], str(out)), ([], "out"), (["out=x", "colour=red"], "unknown key 'colour'")):
        assert main([*words, *more]) == 2
        assert capsys.readouterr().err.startswith(f"mtl: error: {place}")
