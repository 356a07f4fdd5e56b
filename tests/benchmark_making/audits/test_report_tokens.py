from pathlib import Path

import pytest
from command_line import job
from small_suite import write_tsv

from mtl.benchmark_making.audits.audit import Audit, audit

SUITE = """\
name: ord
language: sv
tasks:
  ton:
    text: [text]
    target: label
    labels: [a, b]
    metric: accuracy
    files: {test: null}
"""


@pytest.fixture
def settings(tmp_path: Path) -> list[str]:
    """Three words occur in train at least twice: sol, regn, vind."""
    (tmp_path / "ord.yaml").write_text(SUITE, encoding="utf-8")
    write_tsv(tmp_path / "train.tsv", ("text", "label"), ("sol regn sol", "a"), ("regn vind vind snö", "b"))
    write_tsv(tmp_path / "dev.tsv", ("text", "label"), ("sol sol sol sol sol hagel", "a"), ("regn vind snö is", "b"))
    return [f"suite={tmp_path / 'ord.yaml'}", f"data_dir={tmp_path}", f"cache_dir={tmp_path / 'cache'}"]


def table(done: Audit) -> dict[str, list[str]]:
    """The numbers by split: rows, published, median, longest, cut, unknown, …"""
    lines = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in done.report.splitlines() if "| ton" in line
    ]
    return {cells[1]: cells[2:] for cells in reversed(lines)}


def test_lengths_and_rare_words_up_to_max_length(settings: list[str]) -> None:
    done = audit(job(settings))
    # train: 1 of 7 tokens is a word that occurs once; dev: hagel, snö and is, of 10 tokens.
    assert table(done) == {
        "train": ["2", "–", "3.5", "4", "0.0%", "14.3%"],
        "dev": ["2", "–", "5", "6", "0.0%", "30.0%"],
    }
    assert done.findings == []
    done = audit(job([*settings, "max_length=3"]))
    # train: sol regn sol, regn vind vind, where each word occurs twice; dev: sol sol sol, regn vind snö.
    numbers = {split: numbers[2:] for split, numbers in table(done).items()}
    assert numbers == {"train": ["3.5", "4", "50.0%", "0.0%"], "dev": ["5", "6", "100.0%", "16.7%"]}
    assert [(f.kind, f.split, f.count) for f in done.findings] == [("cut", "train", 1), ("cut", "dev", 2)]


def test_words_of_another_language_and_words_without_a_training_file(settings: list[str], tmp_path: Path) -> None:
    done = audit(job([*settings, "embeddings.min_count=3"]))
    kinds = [(f.kind, f.split, f.count) for f in done.findings]
    assert kinds == [("unknown words", "train", 1), ("unknown words", "dev", 1)]
    (tmp_path / "train.tsv").unlink()
    done = audit(job(settings))
    assert table(done)["dev"] == ["2", "–", "5", "6", "0.0%", "–"]
    assert [finding.kind for finding in done.findings] == ["missing"]
