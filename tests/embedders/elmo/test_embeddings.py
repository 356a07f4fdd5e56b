from pathlib import Path

import numpy as np
import torch
from elmo_files import write_elmo
from input_errors import refused

from mtl.data.text import TokenizedTexts
from mtl.embedders.elmo import ELMO, ElmoOptions
from mtl.embedders.elmo.embeddings import ElmoEmbeddings, ElmoReader, elmo_embeddings, run_elmo
from mtl.embedders.interface import EmbeddingsRequest, RunReaderRequest

TEXTS = TokenizedTexts(["solen skiner", "nej", "jag skrattar gott idag"], "sv", 9)
CPU = torch.device("cpu")


def options(cache: bool = True) -> ElmoOptions:
    return ElmoOptions(name="elmo", dropout=0.2, precision="float32", exact=True, cache=cache)


def build(folder: Path, cache_dir: Path, cache: bool = True) -> ElmoEmbeddings:
    return elmo_embeddings(EmbeddingsRequest(options(cache), TEXTS, np.array([0]), folder, cache_dir, CPU))


def test_cached_layers_equal_computed_ones_of_all_words(elmo_files: tuple[Path, Path], tmp_path: Path) -> None:
    folder = elmo_files[0].parent
    made = build(folder, tmp_path / "cache")
    texts = torch.tensor([2, 0, 2, 1])
    cached, lengths = made.sequences(TEXTS).gather(texts)
    computed, same_lengths = made.uncached_sequences(TEXTS).gather(texts)
    assert lengths.tolist() == same_lengths.tolist() == [4, 2, 4, 1]
    torch.testing.assert_close(cached, computed, atol=1e-5, rtol=0)
    assert list((tmp_path / "cache").glob("elmo-*-float32-*/*.rows.npy"))
    build(folder, tmp_path / "none", cache=False).sequences(TEXTS)
    assert not (tmp_path / "none").exists()
    made = build(elmo_files[0].parent, tmp_path)
    assert made.coverage.unknown == (0, 0)
    assert made.coverage.found == (len(TEXTS.types), len(TEXTS.tokens))


def test_a_run_reads_only_the_elmo_that_it_was_made_with(tmp_path: Path) -> None:
    write_elmo(tmp_path / "elmo")
    made = build(tmp_path / "elmo", tmp_path / "cache")

    def reader() -> ElmoReader:
        return run_elmo(RunReaderRequest(options(), tmp_path, {}, made.fingerprint(), tmp_path / "elmo", CPU))

    gathered, _ = reader().sequences(TEXTS).gather(torch.tensor([1]))
    torch.testing.assert_close(gathered, made.uncached_sequences(TEXTS).gather(torch.tensor([1]))[0])
    assert reader().dim == made.dim
    write_elmo(tmp_path / "elmo", scale=0.9)
    refused(lambda: reader(), file="elmo")


def test_a_folder_without_an_elmo_is_one_line(elmo_files: tuple[Path, Path], tmp_path: Path) -> None:
    refused(lambda: build(tmp_path / "none", tmp_path), file="none")
    refused(lambda: build(tmp_path, tmp_path), file="TMP")


assert ELMO.exists is not None
EXISTS = ELMO.exists


def test_a_folder_holds_an_elmo_once_its_weights_are_there(tmp_path: Path) -> None:
    folder = tmp_path / "elmo"
    assert not EXISTS(folder)
    options, weights = write_elmo(folder)
    assert EXISTS(folder)
    weights.rename(weights.with_name(f"pl_{weights.name}"))
    assert EXISTS(folder)
    weights.with_name(f"pl_{weights.name}").unlink()
    assert options.exists() and not EXISTS(folder)
    (tmp_path / "file").write_bytes(b"")
    assert "must name the folder" in str(ELMO.problem(tmp_path / "file"))
    assert ELMO.problem(tmp_path) is None and ELMO.problem(tmp_path / "none") is None
