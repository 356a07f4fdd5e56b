"""A reference ELMo: the formulas of Peters et al. 2018, computed word by word and step by step in float64 NumPy.

It shares no code with the package.
"""

import json
from pathlib import Path

import h5py
import numpy as np


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


class Reference:
    def __init__(self, options: Path, weights: Path) -> None:
        self.options = json.loads(options.read_text())
        self.file: dict[str, np.ndarray] = {}
        with h5py.File(weights, "r") as file:
            file.visititems(
                lambda name, item: (
                    self.file.__setitem__(name, item[...].astype(np.float64))
                    if isinstance(item, h5py.Dataset)
                    else None
                )
            )

    def characters(self, word: str | None, boundary: int = 0) -> list[int]:
        """TensorFlow's ids: a byte is its own id; 256 and 257 begin and end a sentence, 258 and 259 a word; 260 pads."""
        most = self.options["char_cnn"]["max_characters_per_token"]
        inner = [boundary] if word is None else list(word.encode("utf-8"))[: most - 2]
        ids = [258, *inner, 259]
        return ids + [260] * (most - len(ids))

    def token(self, ids: list[int]) -> np.ndarray:
        cnn = self.options["char_cnn"]
        embedded = self.file["char_embed"][ids]  # (characters, d)
        pooled = []
        for i, (width, filters) in enumerate(cnn["filters"]):
            kernel = self.file[f"CNN/W_cnn_{i}"][0]  # (width, d, filters)
            bias = self.file[f"CNN/b_cnn_{i}"]
            best = np.full(filters, -np.inf)
            for start in range(len(ids) - width + 1):
                best = np.maximum(best, np.einsum("wd,wdf->f", embedded[start : start + width], kernel) + bias)
            pooled.append(np.maximum(best, 0) if cnn["activation"] == "relu" else np.tanh(best))
        x = np.concatenate(pooled)
        for i in range(cnn["n_highway"]):
            part = {n: self.file[f"CNN_high_{i}/{n}"] for n in ("W_carry", "b_carry", "W_transform", "b_transform")}
            gate = sigmoid(x @ part["W_carry"] + part["b_carry"])
            x = gate * np.maximum(x @ part["W_transform"] + part["b_transform"], 0) + (1 - gate) * x
        return x @ self.file["CNN_proj/W_proj"] + self.file["CNN_proj/b_proj"]

    def lstm(self, inputs: np.ndarray, direction: int, layer: int) -> np.ndarray:
        lstm = self.options["lstm"]
        cell_of = f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
        W, B, P = (self.file[f"{cell_of}/{name}"] for name in ("W_0", "B", "W_P_0"))
        h, c = np.zeros(lstm["projection_dim"]), np.zeros(lstm["dim"])
        states = np.zeros((len(inputs), len(h)))
        for t in range(len(inputs)) if direction == 0 else reversed(range(len(inputs))):
            i, j, f, o = np.split(np.concatenate([inputs[t], h]) @ W + B, 4)
            c = sigmoid(f + 1.0) * c + sigmoid(i) * np.tanh(j)
            if lstm["cell_clip"]:
                c = np.clip(c, -lstm["cell_clip"], lstm["cell_clip"])
            h = (sigmoid(o) * np.tanh(c)) @ P
            if lstm["proj_clip"]:
                h = np.clip(h, -lstm["proj_clip"], lstm["proj_clip"])
            states[t] = h
        return states

    def layers(self, sentence: list[str]) -> np.ndarray:
        ids = [self.characters(None, 256), *map(self.characters, sentence), self.characters(None, 257)]
        tokens = np.stack([self.token(word) for word in ids])
        layers = [np.concatenate([tokens, tokens], axis=1)]
        inputs = [tokens, tokens]
        for layer in range(self.options["lstm"]["n_layers"]):
            for direction in (0, 1):
                states = self.lstm(inputs[direction], direction, layer)
                skip = layer and self.options["lstm"]["use_skip_connections"]
                inputs[direction] = states + inputs[direction] if skip else states
            layers.append(np.concatenate(inputs, axis=1))
        return np.stack(layers)[:, 1:-1]
