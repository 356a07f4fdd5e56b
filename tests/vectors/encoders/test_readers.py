"""Word vectors without a run: a file's words have its vectors, and all other words are unknown."""

from pathlib import Path

import torch

from mtl.data.text import TokenizedTexts
from mtl.vectors.encoders.readers import OPENERS, VectorReaderRequest, embedder_options


def test_a_file_knows_its_words_as_they_are_written(tmp_path: Path) -> None:
    path = tmp_path / "v.vec"
    path.write_text("ryba 7 8\nkot 1 2\nKot 3 4\nkot 5 6\n", encoding="utf-8")
    for name in ("fasttext", "glove"):
        options = embedder_options(name, {"path": str(path)})
        made = OPENERS[name].open(VectorReaderRequest(options, path, None, 1, torch.device("cpu")))
        tokens, _ = made.sequences(TokenizedTexts(["kot nic Kot ryba"], "pl", 9)).gather(torch.tensor([0]))
        assert made.embedder(tokens)[0].tolist() == [[1, 2], [0, 0], [3, 4], [7, 8]]
        assert made.have_vectors(TokenizedTexts(["nic kot"], "pl", 9)).tolist() == [False, True]
        assert (made.dim, made.parameters()) == (2, 8)
