"""Vectors read from files equal those that fastText and gensim compute."""

import gzip
import os
import random
import struct
import tracemalloc
from contextlib import suppress
from pathlib import Path

import fasttext
import numpy as np
import pytest
from vector_words import LEXICON, OUTSIDE, PACKED, TABLE, WANTED, assert_rejected, assert_table, has_surrogates

from mtl.base.errors import InputError
from mtl.embedders.vector_files.fasttext_binary import ngram_hashes
from mtl.embedders.vector_files.vector_file import VectorFile

DIM = 8
THREADS = 12  # fastText 0.9.3 with fewer than 11 threads leaves a part of the matrix uninitialized


def write_text(path: Path) -> None:
    chance = random.Random(0)
    path.write_text("\n".join(" ".join(chance.choices(LEXICON, k=12)) for _ in range(300)), encoding="utf-8")


def train(path: Path, **settings: float) -> Path:
    write_text(path.with_suffix(".txt"))
    defaults = {"dim": DIM, "bucket": 5000, "minCount": 1, "epoch": 1, "t": 1, "thread": THREADS, "verbose": 0}
    text = str(path.with_suffix(".txt"))
    fasttext.train_unsupervised(text, model="cbow", **(defaults | settings)).save_model(str(path))
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train(tmp_path_factory.mktemp("model") / "small.bin", minn=2, maxn=5)


def plain_hashes(word: str, minn: int, maxn: int) -> list[int]:
    """FastText's Dictionary::computeSubwords and hash, over characters."""
    bracketed, hashes = f"<{word}>", []
    for start in range(len(bracketed)):
        for end in range(start + max(minn, 1), min(start + maxn, len(bracketed)) + 1):
            if end - start == 1 and (start == 0 or end == len(bracketed)):
                continue
            value = 2166136261
            for byte in bracketed[start:end].encode():
                signed = byte if byte < 128 else byte | 0xFFFFFF00
                value = (value ^ signed) * 16777619 & 0xFFFFFFFF
            hashes.append(value)
    return hashes


@pytest.mark.parametrize(("minn", "maxn"), [(1, 1), (1, 4), (0, 3), (2, 5), (3, 6), (5, 5), (3, 2), (0, 0)])
def test_ngram_hashes_equal_a_plain_loop(minn: int, maxn: int) -> None:
    words = [word for word in LEXICON + OUTSIDE if word.isprintable() or "\u00a0" in word]
    hashes, owners = ngram_hashes([word.encode() for word in words], minn, maxn)
    assert hashes.dtype == np.uint32
    for position, word in enumerate(words):
        assert sorted(hashes[owners == position].tolist()) == sorted(plain_hashes(word, minn, maxn)), word


@pytest.mark.parametrize(
    "settings",
    [
        *({"minn": 2, "maxn": 5}, {"minn": 1, "maxn": 3}, {"minn": 1, "maxn": 1}),
        *({"minn": 5, "maxn": 5}, {"minn": 3, "maxn": 6, "bucket": 7}),
        *({"minn": 0, "maxn": 0}, {"minn": 0, "maxn": 0, "bucket": 0}),
    ],
)
def test_model_gives_the_same_vectors_as_fasttext(tmp_path: Path, settings: dict[str, int]) -> None:
    path = train(tmp_path / "model.bin", **settings)
    reference = fasttext.load_model(str(path))
    vocabulary = set(reference.get_words())
    words = [word for word in LEXICON + OUTSIDE if not has_surrogates(word)]
    random.Random(1).shuffle(words)
    read = VectorFile(path).read_once(words)
    expected = np.array([reference.get_word_vector(word) for word in words])
    short = np.array([len(word) < 50 for word in words])
    np.testing.assert_allclose(read.vectors[short], expected[short], rtol=2e-6, atol=1e-6)
    # fastText adds the hundreds of n-grams of a long word one by one, in float32, which rounds more
    np.testing.assert_allclose(read.vectors[~short], expected[~short], rtol=1e-4, atol=1e-5)
    assert read.vectors.dtype == np.float32 and read.dim == DIM
    assert read.in_file.tolist() == [word in vocabulary for word in words]
    has_ngrams = [word not in vocabulary and len(reference.get_subwords(word)[1]) > 0 for word in words]
    assert read.from_ngrams.tolist() == has_ngrams
    assert (read.has_vector == (read.in_file | read.from_ngrams)).all()
    assert not read.vectors[~read.has_vector].any()


def test_long_lists_and_wide_gaps_between_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = train(tmp_path / "model.bin", minn=2, maxn=4)
    words = LEXICON + [word for word in OUTSIDE if not has_surrogates(word)]
    whole = VectorFile(path).read_once(words)
    monkeypatch.setattr("mtl.embedders.vector_files.fasttext_layout._CHUNK", 7)
    for name, value in {"_CHUNK_BYTES": 1000, "_GAP_BYTES": 100, "_CHUNK_PAIRS": 20, "_HASHED_WORDS": 5}.items():
        monkeypatch.setattr(f"mtl.embedders.vector_files.fasttext_binary.{name}", value)
    in_parts = VectorFile(path).read_once(words)
    np.testing.assert_allclose(in_parts.vectors, whole.vectors, atol=1e-6)
    assert (in_parts.in_file == whole.in_file).all() and (in_parts.from_ngrams == whole.from_ngrams).all()


def test_labels_of_a_classifier_are_not_words(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("__label__dobre bardzo dobry film\n__label__złe bardzo zły film\n" * 20, encoding="utf-8")
    path = tmp_path / "model.bin"
    settings = {"dim": DIM, "minn": 2, "maxn": 3, "bucket": 100, "epoch": 1, "thread": THREADS, "verbose": 0}
    classifier = fasttext.train_supervised(str(text), **settings)
    classifier.save_model(str(path))
    read = VectorFile(path).read(["film", "__label__złe", "filmy"])
    assert read.in_file.tolist() == [True, False, False]
    np.testing.assert_allclose(read.vectors[2], classifier.get_word_vector("filmy"), rtol=2e-6, atol=1e-6)


def test_repeated_words_no_words_and_words_that_are_not_unicode(model: Path) -> None:
    read = VectorFile(model).read_once(["kot", "nowe", "kot", "nowe"])
    assert (read.vectors[:2] == read.vectors[2:]).all()
    assert read.in_file.tolist() == [True, False, True, False]
    assert VectorFile(model).read_once([]).vectors.shape == (0, DIM)
    assert VectorFile(model).read_once(["\udcff\udc80", "\ud83d", "kot"]).in_file.tolist() == [False, False, True]


@pytest.mark.slow
def test_memory_does_not_grow_with_the_buckets(tmp_path: Path) -> None:
    peaks = []
    for bucket in (50_000, 1_000_000):
        path = train(tmp_path / "model.bin", minn=2, maxn=5, bucket=bucket, dim=32)
        VectorFile(path).read_once(LEXICON)  # a first call for what is allocated only once
        tracemalloc.start()
        VectorFile(path).read_once(LEXICON)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert path.stat().st_size > 128_000_000
    assert peaks[1] < peaks[0] + 1_000_000
    assert peaks[1] < 12_000_000


# Damaged models


def test_quantized_and_truncated_models_are_rejected(tmp_path: Path, model: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("__label__a kot pies gęś\n__label__b pies kot\n" * 300, encoding="utf-8")
    settings = {"dim": DIM, "minn": 2, "maxn": 3, "bucket": 1000, "epoch": 1, "thread": THREADS, "verbose": 0}
    for name, cutoff in (("plain.ftz", 0), ("pruned.ftz", 300)):
        classifier = fasttext.train_supervised(str(text), **settings)
        classifier.quantize(input=str(text), cutoff=cutoff, retrain=False)
        classifier.save_model(str(tmp_path / name))
        assert_rejected(tmp_path / name)
    data = model.read_bytes()
    assert len(data) > 10_000
    for length in [4, 6, 30, 70, 90, 500, 5000, len(data) // 2, len(data) - 1]:
        path = tmp_path / "truncated.bin"
        path.write_bytes(data[:length])
        assert_rejected(path)


@pytest.mark.parametrize(("place", "value"), [(0, 7), (4, 13), (8, DIM + 1), (8, -1), (64, 3)])
def test_damaged_headers_refused(model: Path, tmp_path: Path, place: int, value: int) -> None:
    """What is no fastText model, another version, dimensions, and the number of words."""
    data = bytearray(model.read_bytes())
    struct.pack_into("<i", data, place, value)
    (tmp_path / "damaged.bin").write_bytes(data)
    assert_rejected(tmp_path / "damaged.bin")


def test_endless_words_are_rejected(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mtl.embedders.vector_files.fasttext_layout._LONGEST_ENTRY", 1000)
    monkeypatch.setattr("mtl.embedders.vector_files.fasttext_layout._CHUNK", 1000)
    path = tmp_path / "endless.bin"
    path.write_bytes(model.read_bytes()[:100] + b"a" * 5000)
    assert_rejected(path)


# Text


def rows(table: dict[str, list[float]] = TABLE, end: str = "\n") -> str:
    return "".join(f"{word} {' '.join(map(str, numbers))}{end}" for word, numbers in table.items())


@pytest.mark.parametrize("end", ["\n", " \n", "\r\n"])  # fastText ends lines with a space
def test_text(tmp_path: Path, end: str) -> None:
    path = tmp_path / "vectors.vec"
    path.write_bytes(("4 3\n" + rows(end=end)).encode())
    assert_table(VectorFile(path).read_once(WANTED), WANTED)


@pytest.mark.parametrize(
    ("content", "vector"),
    [
        *(("2 1\nkot 1\nkot 2\n", [1]), ("1 2\nkot  1 2\n", [1, 2])),
        (f"kot {2.0**127} {2.0**127}\n", [2.0**127] * 2),  # whose sum is infinite in float32
    ],
)
def test_the_first_of_equal_rows_two_spaces_after_a_word_and_large_numbers(
    tmp_path: Path, content: str, vector: list[float]
) -> None:
    (tmp_path / "vectors.vec").write_text(content)
    assert VectorFile(tmp_path / "vectors.vec").read_once(["kot"]).vectors.tolist() == [vector]


def test_text_that_is_not_utf8_bad_or_announces_one_row_too_many(tmp_path: Path) -> None:
    path = tmp_path / "vectors.vec"
    path.write_bytes(b"2 1\n\xff\x80 1\nkot 2\n")
    read = VectorFile(path).read_once(["kot", b"\xff\x80".decode("utf-8", "surrogateescape"), "\ud83d"])
    assert read.vectors.tolist() == [[2], [1], [0]]
    wide, path = " 1" * 2**17, tmp_path / "vectors.vec"
    for content in (
        *("2 3\n", "kot\n", "1 0\nkot\n", "1 3\nkot 1 2\n", "1 2\ninny 1.0 2.0 3.0\n", "1 999999999999\nkot 1 2\n"),
        *("1 2\nkot 1  2\n", "a 1 2\nkot 1 dwa\n", "3 2\na 1 2\nb 1 2", "4 2\na 1 2\nb 1 2\n"),
        *("<!DOCTYPE html>\n<html>\n", "a text of words\nno vectors\n"),
        *(f"2 2\npies 1 2\nkot {bad}\n" for bad in ("1 nan", "inf -inf", "1e400 2", "1e39 1")),
        *("9" * 10_000 + " 2\nkot 1 2\n", "1 " + "9" * 10_000 + "\nkot 1 2\n"),
        *(f"1 {2**17}\nkot{wide}\n", f"kot{wide}\n", "kot 1 2 3 4\nx\nnowe 1 2 3 4\n"),
    ):
        path.write_text(content)
        assert_rejected(path)
    path = tmp_path / "vectors.vec"
    path.write_text("3 2\na 1 2\nb 3 4\n")
    for read in (VectorFile(path).read, VectorFile(path).read_once):
        assert read(["b"]).vectors.tolist() == [[3, 4]]
    assert VectorFile(path).shape == (2, 2)


@pytest.mark.parametrize("packing", PACKED)
def test_a_bad_line_is_named_however_the_file_is_packed(tmp_path: Path, packing: str) -> None:
    (tmp_path / "v").write_bytes(PACKED[packing](b"3 2\na 1 2\nb 1 2\nkot 1.5 2 3\n"))
    assert_rejected(tmp_path / "v")
    (tmp_path / "v").write_bytes(PACKED[packing](b""))
    assert_rejected(tmp_path / "v")


def test_bad_gzip_missing_files_folders_and_pipes_are_rejected(model: Path, tmp_path: Path) -> None:
    data = bytearray(gzip.compress(random.Random(0).randbytes(1000) + ("4 3\n" + rows()).encode()))
    path = tmp_path / "vectors.vec.gz"
    good = gzip.compress(("4 3\n" + rows()).encode())
    for bad in (good[:-5], good[: len(good) // 2], good + b"garbage", good[:10] + b"\xff" * 20 + good[30:]):
        path.write_bytes(bad)
        assert_rejected(path)
    data[500] ^= 255
    for bad in (data, gzip.compress(model.read_bytes())):
        path.write_bytes(bad)
        assert_rejected(path)
    assert_rejected(tmp_path / "none.vec")
    assert_rejected(tmp_path)
    os.mkfifo(tmp_path / "vectors.vec")
    assert_rejected(tmp_path / "vectors.vec")


@pytest.mark.parametrize(
    ("start", "unit"),
    [(b"", b"a" * 2**20), (b"1 2\nkot 1 2\n", b" " * 2**20), (b"1 2\nkot 1 2\n", b"x 1 2" + b" " * 2**20 + b"\n")],
    ids=["first line", "later line", "ratio"],
)
def test_gzip_bomb_is_rejected(tmp_path: Path, start: bytes, unit: bytes) -> None:
    with gzip.open(tmp_path / "bomb.vec.gz", "wb", compresslevel=6) as file:
        file.write(start)
        for _ in range(80):
            file.write(unit)
    assert_rejected(tmp_path / "bomb.vec.gz")


def test_mutated_text_is_read_or_rejected(tmp_path: Path) -> None:
    chance, path = random.Random(0), tmp_path / "vectors.vec"
    original = ("4 3\n" + rows()).encode()
    parts = (b"9" * 5000, *b"-1|nan|1e999|\0|\xff| |\n|\r||0|\xc2\x85|\x1f\x8b".split(b"|"))
    for _ in range(150):
        content = original
        for _ in range(chance.randint(1, 3)):
            place = chance.randrange(len(content) + 1)
            content = content[:place] + chance.choice(parts) + content[place + chance.randrange(4) :]
        path.write_bytes(gzip.compress(content) if chance.random() < 0.3 else content)
        file = VectorFile(path)
        for read in (file.read, file.read_once, lambda words, file=file: list(file.blocks())):
            with suppress(InputError):
                read(["kot", "0.5"])
