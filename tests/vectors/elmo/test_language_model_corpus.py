from pathlib import Path

import numpy as np
from input_errors import raises_input_error

from mtl.vectors.elmo.language_model import Corpus, batches, build_corpus

LINES = [["b", "a"], [], ["a", "c", "a", "b", "a"], ["żółw"]]


def words(corpus: Corpus) -> list[list[str]]:
    return [
        [corpus.types[i] for i in corpus.tokens[a:b]]
        for a, b in zip(corpus.starts[:-1], corpus.starts[1:], strict=True)
    ]


def test_frequent_words_come_first_and_long_lines_are_cut() -> None:
    corpus = build_corpus(iter(LINES), 3)
    assert words(corpus) == [["b", "a"], ["a", "c", "a"], ["b", "a"], ["żółw"]]
    assert corpus.types == ["a", "b", "c", "żółw"] and corpus.counts.tolist() == [4, 2, 1, 1]


def test_saved_corpus_is_loaded(tmp_path: Path) -> None:
    corpus = build_corpus(LINES, 3)
    corpus.save(tmp_path / "c.npz")
    again = Corpus.load(tmp_path / "c.npz")
    assert words(again) == words(corpus) and again.counts.tolist() == corpus.counts.tolist()


def test_texts_without_words() -> None:
    with raises_input_error():
        build_corpus([[], []], 3)


def test_epoch_has_each_line_once_in_batches_of_similar_length() -> None:
    rng = np.random.default_rng(0)
    lengths, lines = rng.integers(1, 60, 5000), np.arange(0, 5000, 2)
    result = batches(lengths, lines, 500, [1, 2])
    assert sorted(np.concatenate(result)) == lines.tolist()
    sizes = [lengths[batch].sum() for batch in result]
    assert max(sizes) < 500 + 60 and np.mean(sizes) > 400
    assert np.mean([np.ptp(lengths[batch]) for batch in result]) < 6
    again = batches(lengths, lines, 500, [1, 2])
    assert all(np.array_equal(a, b) for a, b in zip(result, again, strict=True))
    assert not np.array_equal(result[0], batches(lengths, lines, 500, [1, 3])[0])
