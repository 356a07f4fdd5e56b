"""Suite files from other people."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from mutations import VALUES, message_of, mutated_bytes, mutated_json
from rows_suite import SUITE as ROWS
from small_suite import SUITE as SMALL

from mtl.base.errors import InputError
from mtl.jobs.setting_files import load_checked_suite, read_layers

FURTHER: dict[str, Any] = {
    "title": "Small",
    "scale": 100,
    "average": ["kansla"],
    "embeddings": {"fasttext": "vectors"},
    "source": {"url": "https://example.org/{file}", "size": 3},
    "config": {"encoder": {"hidden_size": 8}, "methods": {"svm": {"floor": {"min_count": 1}}}},
    "published": [{"model": "A", "family": "lstm", "scores": {"kansla": 1.0}, "average": 2.0}],
}


def load(path: Path) -> None:
    load_checked_suite(str(path))


@pytest.mark.slow
@pytest.mark.parametrize("content", [{**yaml.safe_load(SMALL), **FURTHER}, yaml.safe_load(ROWS)])
def test_a_suite_file_with_one_damaged_value_is_one_line(content: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "suite.yaml"
    for what, changed in mutated_json(content, 60):
        path.write_bytes(changed)
        message = message_of(lambda: load(path), what)
        assert message is None or message.startswith((f"{path}:", "suite ")), what


def test_damaged_bytes_and_tasks_that_are_no_texts_are_one_line(tmp_path: Path) -> None:
    path = tmp_path / "suite.yaml"
    for what, changed in mutated_bytes(ROWS.encode(), 30):
        path.write_bytes(changed)
        message_of(lambda: load(path), what)
    path = tmp_path / "suite.yaml"
    path.write_text(SMALL, encoding="utf-8")
    message = message_of(lambda: load_checked_suite(str(path)).choose(["kansla", ["betyg"]]), "list")  # type: ignore[list-item]
    assert message is not None and message.startswith("tasks: suite liten has no task ['betyg']")


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("range: [0, 10]", f"range: [0, {VALUES['huge']}]", "suite.yaml: "),
        ("language: sv", f"language: sv\npublished: [{{model: A, family: b, scores: {{betyg: {VALUES['huge']}}}}}]", "suite.yaml: "),
        ("language: sv", "language: sv\npublished: [{model: A, family: b, scores: {betyg: .nan}}]", "betyg=nan: must be a finite number"),
        ("labels: [glad, arg]", f"labels: [{', '.join(map(str, range(10_001)))}]", "more than 10,000 values"),
        ("language: sv", f"language: sv\ntitle: {VALUES['deep']}", "nested more than 50 levels deep"),
        ("range: [0, 10]", "range: [0, [10]]", "tasks.betyg.range.1=[10]: must be a number"),
        ("language: sv", "language: sv\npublished: [{model: A, family: b, scores: {betyg: [1]}}]", "published.0.scores.betyg=[1]: must be a number"),
        ("language: sv", 'language: "\\ud800"', "not YAML"),
    ],
)  # fmt: skip
def test_numbers_sizes_and_depths_that_no_suite_has(old: str, new: str, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "suite.yaml"
    assert old in SMALL
    path.write_text(SMALL.replace(old, new, 1), encoding="utf-8")
    message = message_of(lambda: load(path), new[:60])
    assert message is not None and complaint in message


def test_the_variant_of_a_method_file_may_be_no_text(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("method: lstm\nvariant: 3\n", encoding="utf-8")
    with pytest.raises(InputError, match="variant=3: unknown"):
        read_layers({"method": str(path)})
