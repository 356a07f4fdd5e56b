import logging
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest
import torch
from elmo_files import sentences, write_elmo
from input_errors import refused
from processes import CONTEXT

from mtl.base.errors import InputError
from mtl.data.text import TokenizedTexts
from mtl.embedders import EMBEDDERS, ElmoOptions
from mtl.embedders.elmo import embeddings
from mtl.embedders.elmo.embeddings import ElmoEmbeddings, ElmoReader, LayerCache, elmo_embeddings, run_elmo
from mtl.embedders.elmo.model import ELMo
from mtl.embedders.interface import EmbeddingsRequest, RunReaderRequest
from mtl.model.sequences import ArraySequences

TEXTS = TokenizedTexts.tokenize(["solen skiner", "nej", "jag skrattar gott idag"], "sv", 9)
CPU = torch.device("cpu")


def options(precision: str = "float32", cache: bool = True) -> ElmoOptions:
    return ElmoOptions(name="elmo", dropout=0.2, precision=precision, exact=True, cache=cache)


def build(folder: Path, cache_dir: Path, precision: str = "float32", cache: bool = True) -> ElmoEmbeddings:
    return elmo_embeddings(EmbeddingsRequest(options(precision, cache), TEXTS, np.array([0]), folder, cache_dir, CPU))


@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_cached_layers_equal_computed_ones_of_all_words(
    elmo_files: tuple[Path, Path], tmp_path: Path, precision: str
) -> None:
    folder = elmo_files[0].parent
    made = build(folder, tmp_path / "cache", precision)
    texts = torch.tensor([2, 0, 2, 1])
    cached, lengths = made.sequences(TEXTS).gather(texts)
    computed, same_lengths = made.uncached_sequences(TEXTS).gather(texts)
    assert lengths.tolist() == same_lengths.tolist() == [4, 2, 4, 1]
    assert torch.equal(cached, computed)
    assert list((tmp_path / "cache").glob(f"elmo-*-{precision}-*/*.rows.npy"))
    without = build(folder, tmp_path / "none", precision, cache=False).sequences(TEXTS)
    assert torch.equal(without.gather(texts)[0], cached) and not (tmp_path / "none").exists()
    assert made.coverage.unknown == (0, 0) and made.coverage.found == (len(TEXTS.types), len(TEXTS.tokens))


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
    refused(lambda: build(tmp_path / "none", tmp_path), file="none")
    refused(lambda: build(tmp_path, tmp_path), file="TMP")


EXISTS = EMBEDDERS["elmo"].exists


def test_a_folder_holds_an_elmo_once_its_weights_are_there(tmp_path: Path) -> None:
    folder = tmp_path / "elmo"
    assert not EXISTS(folder)
    options, weights = write_elmo(folder)
    assert EXISTS(folder)
    weights.rename(weights.with_name(f"pl_{weights.name}"))
    assert EXISTS(folder)
    weights.with_name(f"pl_{weights.name}").unlink()
    assert options.exists() and not EXISTS(folder)


@pytest.fixture
def elmo(elmo_files: tuple[Path, Path]) -> ELMo:
    return ELMo(*elmo_files)


def check(sequences: ArraySequences, elmo: ELMo, texts: list[list[str]], tolerance: float) -> None:
    rows, lengths = sequences.gather(torch.arange(len(texts)).flip(0))
    assert lengths.tolist() == [len(text) for text in texts][::-1]
    for row, length, text in zip(rows, lengths, texts[::-1], strict=True):
        torch.testing.assert_close(row[:length].float(), elmo.rows([text])[0], atol=tolerance, rtol=0)
        assert (row[length:] == 0).all()


def test_float16_rows_equal_elmo_s_up_to_rounding(elmo: ELMo, tmp_path: Path) -> None:
    texts = sentences(30, 9)
    half = LayerCache(tmp_path, elmo, np.dtype("float16")).sequences(texts)
    assert half.gather(torch.tensor([3]))[0].dtype == torch.float16
    check(half, elmo, texts, 2e-3)


def test_several_shards(elmo: ELMo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "SHARD", 30 * 4 * elmo.width)  # 30 tokens
    monkeypatch.setattr(embeddings, "CHUNK", 2)
    texts = [*sentences(30, 9), ["a"] * 40]
    check(LayerCache(tmp_path, elmo, np.dtype("float32")).sequences(texts), elmo, texts, 1e-5)
    assert len(list(tmp_path.glob("*.index.npz"))) > 4


def test_each_text_is_computed_once(elmo: ELMo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    some, more = sentences(20, 9), sentences(40, 9)
    layer_cache = LayerCache(tmp_path, elmo, np.dtype("float32"))
    layer_cache.sequences([*some, *some])
    computed: list[list[str]] = []
    rows = elmo.rows
    monkeypatch.setattr(elmo, "rows", lambda texts: computed.extend(texts) or rows(texts))
    cached = layer_cache.sequences([*more, *some])
    assert {tuple(text) for text in computed} == {tuple(t) for t in more} - {tuple(t) for t in some}
    monkeypatch.undo()
    check(cached, elmo, [*more, *some], 1e-5)


def test_complete_shards_are_kept_after_a_crash(elmo: ELMo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "SHARD", 30 * 4 * elmo.width)
    texts, layer_cache = sentences(40, 9), LayerCache(tmp_path, elmo, np.dtype("float32"))
    calls = 0
    rows = elmo.rows

    def failing(texts: list[list[str]]) -> list[torch.Tensor]:
        nonlocal calls
        calls += 1
        if calls == 4:
            raise KeyboardInterrupt
        return rows(texts)

    monkeypatch.setattr(elmo, "rows", failing)
    with pytest.raises(KeyboardInterrupt):
        layer_cache.sequences(texts)
    complete = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.np?")}
    assert len(complete) == 6
    # Rows without an index, and a temporary file, as a SIGKILL leaves them.
    (tmp_path / ("0" * 16 + ".rows.npy")).write_bytes(b"half")
    (tmp_path / ".x.rows.npy.1.partial").write_bytes(b"half")
    check(layer_cache.sequences(texts), elmo, texts, 1e-5)
    assert all(path.stat().st_mtime_ns == time for path, time in complete.items())
    assert not list(tmp_path.glob(".*.partial"))


def fill(files: tuple[Path, Path], folder: Path, name: str) -> None:
    texts = [[chr(97 + i % 26) * (1 + j % 5) for j in range(1 + i % 30)] for i in range(400)]
    cached = LayerCache(folder / "cache", ELMo(*files), np.dtype("float32")).sequences(texts)
    content = f"{len(cached.rows.shards)} {float(cached.rows[np.arange(100)].sum())}"
    (folder / name).write_text(content, encoding="utf-8")


@pytest.mark.slow
def test_two_processes_fill_one_cache(elmo_files: tuple[Path, Path], tmp_path: Path) -> None:
    both = [CONTEXT.Process(target=fill, args=(elmo_files, tmp_path, name)) for name in "ab"]
    for process in both:
        process.start()
    for process in both:
        process.join()
    one, other = ((tmp_path / name).read_text(encoding="utf-8") for name in "ab")
    assert one == other and one.startswith("1 ")


def test_full_disk(
    elmo: ELMo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage(100, 0, 100))
    with caplog.at_level(logging.INFO, logger="mtl"), pytest.raises(InputError) as refused:
        LayerCache(tmp_path / "new", elmo, np.dtype("float32")).sequences(sentences(200, 400))
    assert "5 MB more than is free; free some space, or set embeddings.cache=false" in str(refused.value)
    assert "computing ELMo's layers of" in caplog.text and "MB on disk" in caplog.text
    assert not list((tmp_path / "new").glob("*.np?"))


def test_broken_shard_gives_a_one_line_error(elmo: ELMo, tmp_path: Path) -> None:
    layer_cache = LayerCache(tmp_path, elmo, np.dtype("float32"))
    layer_cache.sequences([["a"]])
    next(tmp_path.glob("*.rows.npy")).write_bytes(b"")
    refused(layer_cache.sequences, [["a"]], file="9ff807771f08be9d.rows.npy")
