import numpy as np
import pytest
import torch

from mtl.embedders.elmo.network import BiLM
from mtl.vectors.elmo.corpus import build_corpus, packed_lines
from mtl.vectors.elmo.language_model import (
    BEGIN_CLASS,
    END_CLASS,
    FIRST_WORD_CLASS,
    UNKNOWN_CLASS,
    LanguageModel,
    SampledSoftmax,
    TrainedLSTM,
)
from mtl.vectors.elmo.training import ELMoTraining

SIZES = ELMoTraining(character_dim=4, filters=[[1, 3], [2, 5]], projection_dim=6, lstm_dim=9, dropout=0.0)
LINES = [["a", "b", "c"], ["b"], ["a", "a", "rare", "b", "c"], ["c", "a"]]


@pytest.fixture
def model() -> LanguageModel:
    torch.manual_seed(0)
    return LanguageModel(BiLM(SIZES.options(), 0.0, TrainedLSTM), build_corpus(LINES, 9), min_count=2, draws=4).eval()


def test_only_sampled_rows_have_a_gradient(model: LanguageModel) -> None:
    model.softmax(torch.randn(2, 6), torch.tensor([1, 1]), torch.tensor([0, 3])).sum().backward()
    grad = model.softmax.weight.weight.grad
    assert grad is not None and grad.is_sparse
    assert grad.coalesce().indices().tolist() == [[0, 1, 3]]


@torch.no_grad()
def test_losses_equal_those_computed_word_by_word(model: LanguageModel) -> None:
    """The reference predicts the next and the previous word from each state with a softmax over all classes."""
    corpus = model.corpus
    classes = {
        word: FIRST_WORD_CLASS + i if FIRST_WORD_CLASS + i < model.class_count else UNKNOWN_CLASS
        for i, word in enumerate(corpus.types)
    }
    assert classes["rare"] == UNKNOWN_CLASS and model.class_count == FIRST_WORD_CLASS + 3
    expected = [0.0, 0.0]
    for line in range(len(LINES)):
        tokens, sizes = packed_lines(corpus, np.array([line]))
        packed = torch.nn.utils.rnn.PackedSequence(model.token_vectors(tokens), torch.from_numpy(sizes))
        gold = [BEGIN_CLASS, *(classes[word] for word in LINES[line]), END_CLASS]
        for direction, (states, targets) in enumerate(
            [(model.bilm.states(packed, 0)[-1][:-1], gold[1:]), (model.bilm.states(packed, 1)[-1][1:], gold[:-1])]
        ):
            for state, target in zip(states, targets, strict=True):
                scores = model.softmax.weight.weight @ state + model.softmax.bias.weight[:, 0]
                expected[direction] -= float(scores.log_softmax(0)[target])
    losses = model.losses(np.arange(len(LINES)), None)
    assert [len(loss) for loss in losses] == [sum(len(line) + 1 for line in LINES)] * 2
    for loss, value in zip(losses, expected, strict=True):
        assert float(loss.sum()) == pytest.approx(value, rel=1e-5)


def test_sample_of_all_classes_equals_the_full_softmax_and_draws_as_expected() -> None:
    torch.manual_seed(0)
    softmax = SampledSoftmax(np.arange(20), dim=5, draws=100_000)  # enough to draw every class
    softmax.bias.weight.data.normal_()
    states, targets = torch.randn(7, 5), torch.randint(0, 20, (7,))
    sample = softmax.sample(np.random.default_rng(0))
    assert sample.tolist() == list(range(20))
    torch.testing.assert_close(softmax(states, targets, sample), softmax(states, targets, None))
    softmax = SampledSoftmax(np.arange(50), dim=2, draws=30)
    rng = np.random.default_rng(0)
    drawn = np.zeros(50)
    for _ in range(20_000):
        drawn[softmax.sample(rng).numpy()] += 1
    np.testing.assert_allclose(drawn / 20_000, softmax.log_expected.exp(), atol=0.015)
