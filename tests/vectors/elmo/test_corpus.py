import numpy as np
from input_errors import raises_input_error

from mtl.vectors.elmo.corpus import Corpus, batches, build_corpus

TEXT = [["b", "a"], [], ["a", "c", "a", "b", "a"], ["żółw"]]


def words(corpus: Corpus) -> list[list[str]]:
    return [[corpus.types[i] for i in line] for line in np.split(corpus.tokens, corpus.starts[1:-1])]


def test_frequent_words_come_first() -> None:
    corpus = build_corpus(iter(TEXT), 3)
    assert words(corpus) == [["b", "a"], ["a", "c", "a"], ["b", "a"], ["żółw"]]
    assert corpus.types == ["a", "b", "c", "żółw"] and corpus.counts.tolist() == [4, 2, 1, 1]
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
