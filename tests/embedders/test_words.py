from collections import Counter
from dataclasses import replace

import numpy as np
import torch
from embedding_requests import VECTORS, two_words

from mtl.data.text import BOUNDARIES, TokenizedTexts, Vocabulary
from mtl.embedders.interface import count_coverage
from mtl.embedders.words import WordEmbedder, frequent_words
from mtl.model.encoder import Encoder

COUNTED = TokenizedTexts.tokenize(["kot kot", "kot pies", "dom dom"], "pl", 10)


def test_padding_is_zero_gradients_are_sparse_and_some_rows_keep_their_values() -> None:
    embedder = WordEmbedder(5, 3, trainable=True)
    optimizer = torch.optim.Adam(embedder.parameters(), 0.1)
    embedder(torch.tensor([[0, 2], [3, 0]])).pow(2).sum().backward()
    optimizer.step()
    assert (embedder(torch.tensor([0])) == 0).all()
    embedder = WordEmbedder(5, 3, trainable=True, sparse=True)
    embedder(torch.tensor([[2, 0], [4, 2]])).sum().backward()
    gradient = embedder.table.weight.grad
    assert gradient is not None and gradient.is_sparse
    assert gradient.to_dense()[:, 0].tolist() == [0, 0, 2, 0, 1]  # none for padding
    drawn = np.array([False, True, False, True])
    torch.manual_seed(3)
    before = WordEmbedder(4, 2, trainable=True).table.weight.detach().clone()
    torch.manual_seed(3)
    weight = replace(two_words(), drawn=drawn).embedder().table.weight.detach()
    assert torch.equal(weight[drawn], before[drawn])  # N(0, 1), from the current random state
    assert weight[~drawn].tolist() == [[0, 0], [1, 2]]


def test_the_most_frequent_words_and_those_added_after_them() -> None:
    texts = TokenizedTexts.tokenize(["d c b a", "b a c", "a b e", "e e e f"], "pl", 9)
    training = np.array([0, 1, 2])
    for min_count in (1, 2, 3):
        for max_words in (None, 1, 2, 3, 9):
            counts = Counter(word for text in training for word in texts.words(text))
            # Counter.most_common keeps the order of first occurrence among equally frequent words.
            kept = {word for word, count in counts.most_common(max_words) if count >= min_count}
            expected = [word for word in texts.types if word in kept]
            assert frequent_words(texts, training, min_count, max_words) == expected
    assert frequent_words(texts, training, 1, 3) == ["c", "b", "a"]  # d and e occur once, and f never
    # Boundary words are no words of the texts: they do not count, and are always there.
    bounded = frequent_words(texts.with_boundaries(), training, 99, 3)
    assert bounded == [*BOUNDARIES]
    embedder = WordEmbedder(3, 2, trainable=True)
    before = embedder(torch.tensor([[0, 1, 2]]))
    saved = set(embedder.state_dict())
    embedder.add(np.array([[5, 6]], dtype=np.float32))
    embedder.add(np.array([[7, 8], [9, 10]], dtype=np.float32))
    assert embedder(torch.tensor([[5, 3, 4]])).tolist() == [[[9, 10], [5, 6], [7, 8]]]
    assert torch.equal(embedder(torch.tensor([[0, 1, 2]])), before) and set(embedder.state_dict()) == saved


def test_tasks_share_the_vectors_and_train_them_no_more() -> None:
    encoder = Encoder(WordEmbedder(3, 2, trainable=True), 2, 4, 1, 0.0, 0.0)
    one, other = encoder.for_task(), encoder.for_task()
    encoder.embedder.add(np.array([[5, 6]], dtype=np.float32))
    assert one.embedder is other.embedder is encoder.embedder
    assert not any(parameter.requires_grad for parameter in one.embedder.parameters())
    assert all(parameter.requires_grad for parameter in one.lstm.parameters())
    trained = [id(parameter) for copy in (encoder, one, other) for parameter in copy.lstm.parameters()]
    assert len(set(trained)) == len(trained)


def test_the_fingerprint_follows_words_and_vectors() -> None:
    made = two_words()
    others = [
        replace(made, vocabulary=Vocabulary(["kot", "pies"])),
        replace(made, vectors=2 * VECTORS),
        replace(made, vectors=None),
        replace(made, drawn=np.array([False, True, True, True])),
    ]
    assert made.fingerprint() == two_words().fingerprint()
    assert len({made.fingerprint(), *(other.fingerprint() for other in others)}) == 5


def test_coverage_counts_types_and_tokens_without_boundary_words() -> None:
    found, from_ngrams = np.array([True, False, False]), np.array([False, True, False])
    counted = count_coverage(COUNTED, found, from_ngrams)
    expected = {"found": 3, "from_ngrams": 1, "unknown": 2}
    assert counted.as_dict() == {name: {"types": 1, "tokens": tokens} for name, tokens in expected.items()}
    assert str(counted).startswith("known 1 types (33.3%), 3 tokens (50.0%); from n-grams 1 types")
    assert counted.unknown_types.tolist() == [False, False, True]
    counted = count_coverage(COUNTED, np.array([False, True, True]))
    assert (counted.found, counted.from_ngrams, counted.unknown) == ((2, 3), (0, 0), (1, 3))
    assert "n-grams" not in str(counted)
    texts = COUNTED.with_boundaries()
    known = np.array([word == "kot" for word in texts.types])
    assert count_coverage(texts, known).as_dict() == count_coverage(COUNTED, known[: len(COUNTED.types)]).as_dict()
    assert count_coverage(texts, np.ones(len(texts.types), dtype=bool)).found == (3, 6)
