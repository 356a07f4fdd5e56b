"""Write a small ELMo in the original file format. Its random weights are large, so that values reach every clip."""

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np

WORDS = ["a", "zażółć", "gęślą", "🙂👍🏽", "Łódź", "konstantynopolitańczykowianeczka" * 3, "ż" * 24, "ż" * 25, ",", "日本語", "\x00"]  # fmt: skip
LSTM = {"dim": 14, "projection_dim": 6, "cell_clip": 0.8, "proj_clip": 0.5, "n_layers": 2, "use_skip_connections": True}
CNN = {"activation": "relu", "embedding": {"dim": 4}, "filters": [[1, 3], [2, 4], [5, 5]], "n_highway": 2}
OPTIONS: dict[str, Any] = {"lstm": LSTM, "char_cnn": {**CNN, "max_characters_per_token": 50, "n_characters": 262}}


def write_elmo(folder: Path, scale: float = 1.0, **changes: Any) -> tuple[Path, Path]:
    """Write options.json, with changes such as lstm={"n_layers": 1}, and weights.hdf5 to fit; return both paths."""
    options = {part: {**values, **changes.get(part, {})} for part, values in OPTIONS.items()}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "options.json").write_text(json.dumps(options))
    rng = np.random.default_rng(0)
    d, p, n = (options["lstm"][name] for name in ("dim", "projection_dim", "n_layers"))
    filters, chars = options["char_cnn"]["filters"], options["char_cnn"]["embedding"]["dim"]
    total = sum(number for _, number in filters)

    def normal(*shape: int) -> np.ndarray:
        return (scale * rng.normal(size=shape) / np.sqrt(shape[0] if len(shape) > 1 else 4)).astype(np.float32)

    with h5py.File(folder / "weights.hdf5", "w") as file:
        file["char_embed"] = normal(261, chars)
        for i, (width, number) in enumerate(filters):
            file[f"CNN/W_cnn_{i}"] = normal(1, width, chars, number)
            file[f"CNN/b_cnn_{i}"] = normal(number)
        for i in range(options["char_cnn"]["n_highway"]):
            for gate in ("carry", "transform"):
                file[f"CNN_high_{i}/W_{gate}"] = normal(total, total)
                file[f"CNN_high_{i}/b_{gate}"] = normal(total)
        file["CNN_proj/W_proj"] = normal(total, p)
        file["CNN_proj/b_proj"] = normal(p)
        for direction in (0, 1):
            for i in range(n):
                cell = file.create_group(f"RNN_{direction}/RNN/MultiRNNCell/Cell{i}/LSTMCell")
                cell["W_0"], cell["B"], cell["W_P_0"] = normal(2 * p, 4 * d), normal(4 * d), 2 * normal(d, p)
    return folder / "options.json", folder / "weights.hdf5"


def sentences(count: int, longest: int) -> list[list[str]]:
    rng = np.random.default_rng(count)
    sizes = rng.integers(1, longest + 1, size=count)
    return [[WORDS[i] for i in rng.integers(len(WORDS), size=size)] for size in sizes]
