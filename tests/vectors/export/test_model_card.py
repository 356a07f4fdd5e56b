"""Model cards say what the run's summary says."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
import yaml
from data_files import read_json
from run_folders import make_run, right

from mtl.tasks.suite import load_suite
from mtl.vectors.encoders.encoder import Description
from mtl.vectors.export.export import vectors_card
from mtl.vectors.export.model_card import code_block
from mtl.vectors.export.parts import EncoderParts, Export
from mtl.vectors.export.sentence_transformer import sentence_transformers_card


@pytest.fixture
def export(tmp_path: Path) -> Export:
    folder = make_run(tmp_path, right(0.7), tasks=["cbd", "cdsc-r"], reduced=["cbd"])
    suite = load_suite(folder.suite)
    suite.tasks["cdsc-r"].license = None
    facts = {"join_input": True, "language": "pl", "max_length": 7, "boundary_words": False, "all_words": True}
    parts = EncoderParts(["a", "b"], torch.zeros(4, 3), {}, 2, 1, **facts)
    trained_on = ("klej/cbd", "klej/cdsc-r")
    shown = Description("x", "LSTM, a_b", "lstm", 7, "pl", 1234, 1000, 99, 7, trained_on, "klej", 2)
    return Export(suite, read_json(folder.summary), "cc-by-4.0", "mtl export x --out y", parts, "max", None, shown)


def test_the_scores_and_the_data(export: Export) -> None:
    scores = export.summary["tasks"]["cbd"]
    row = [f"{value:.1f}" for value in (scores["scores"]["2"], scores["median"], scores["min"], scores["max"], 5.0)]
    for card in (sentence_transformers_card(export, "Modules()"), vectors_card(export)):
        lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in card.splitlines()]
        assert ["CBD", "F1", "dev", *row] in lines
        assert ["CBD", "BSD-3", "10040"] in lines and ["CDSC-R", "not stated", "8000"] in lines
        assert "Not the published data, but reduced or changed data: CBD." in card
        assert export.summary["command"] in card and "mtl export x --out y" in card
        assert "looks new words up" in card and "\n- Texts are cut after 7 tokens." in card


def test_the_form_of_sentence_transformers_with_and_without_a_license(export: Export) -> None:
    card = sentence_transformers_card(export, "Modules()")
    _, front, text = card.split("---\n", 2)
    read = yaml.safe_load(front)
    assert (read["language"], read["license"], read["library_name"]) == (["pl"], "cc-by-4.0", "sentence-transformers")
    assert "sentence-similarity" in read["tags"] and read["pipeline_tag"] == "sentence-similarity"
    headings = [line for line in text.splitlines() if line.startswith("#") and "`" not in line]
    details = ["## Model Details", "### Model Description", "### Full Model Architecture"]
    assert headings == ["# LSTM, a\\_b", *details, "## Usage", "## Evaluation", "## Training Details", "## Limits"]
    card = sentence_transformers_card(replace(export, license=None), "Modules()")
    assert "license" not in yaml.safe_load(card.split("---\n")[1])
    assert "**License:** not stated" in card and "No license is stated for the weights" in card


def test_a_command_cannot_end_its_code_block() -> None:
    assert code_block("mtl x ```\n# evil", language="sh") == "````sh\nmtl x ``` # evil\n````"
    assert code_block("a", "b") == "```python\na\nb\n```"
