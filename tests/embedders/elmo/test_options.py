import json
from pathlib import Path
from typing import Any

import pytest
from elmo_files import OPTIONS
from input_errors import refused

from mtl.embedders.elmo.options import read_options


def write(path: Path, **changes: Any) -> Path:
    path.write_text(json.dumps({part: {**values, **changes.get(part, {})} for part, values in OPTIONS.items()}))
    return path


def test_options_are_read_also_without_a_clip(tmp_path: Path) -> None:
    options = read_options(write(tmp_path / "a.json"))
    assert (options.n_filters, options.lstm_dim, options.projection_dim, options.cell_clip) == (12, 14, 6, 0.8)
    options = read_options(write(tmp_path / "a.json", lstm={"cell_clip": None, "proj_clip": 0}))
    assert options.cell_clip is None and options.state_clip is None


@pytest.mark.parametrize(
    "changes",
    [
        {"lstm": {"dim": "x"}}, {"lstm": {"n_layers": 0}}, {"lstm": {"cell_clip": -3}}, {"lstm": {"proj_clip": float("nan")}},
        {"lstm": {"use_skip_connections": 1}}, {"char_cnn": {"filters": []}}, {"char_cnn": {"filters": [[1, 2]] * 10**5}},
        {"char_cnn": {"max_characters_per_token": 10**6}}, {"char_cnn": {"filters": [[60, 3]]}}, {"char_cnn": {"activation": "gelu"}},
        {"char_cnn": {"n_characters": 300}}, {"char_cnn": {"embedding": {}}},
    ],
)  # fmt: skip
def test_wrong_options(tmp_path: Path, changes: dict[str, Any]) -> None:
    refused(lambda: read_options(write(tmp_path / "options.json", **changes)), file="options.json")


@pytest.mark.parametrize("content", [b"", b"[1]", b"{", b"\xff", b'{"lstm": 3}', b"[" * 100_000, b'{"lstm":' * 100_000])
def test_file_without_options(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "options.json").write_bytes(content)
    refused(lambda: read_options(tmp_path / "options.json"))
    refused(lambda: read_options(tmp_path / "none.json"), file="none.json")
