import numpy as np
import pytest
import torch
from allennlp_light.modules.lstm_cell_with_projection import LstmCellWithProjection
from input_errors import raises_input_error
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from mtl.embedders.elmo.model import BiLM
from mtl.vectors.elmo.language_model import (
    BEGIN,
    END,
    FIRST,
    UNKNOWN,
    Corpus,
    LanguageModel,
    ProjectedLSTMLayer,
    SampledSoftmax,
    TrainedLSTM,
    batches,
    build_corpus,
    packed_lines,
)
from mtl.vectors.elmo.training import ELMoTraining

SIZES = ELMoTraining(character_dim=4, filters=[[1, 3], [2, 5]], projection_dim=6, lstm_dim=9, dropout=0.0)
TEXT = [["b", "a"], [], ["a", "c", "a", "b", "a"], ["żółw"]]
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
    classes = {word: FIRST + i if FIRST + i < model.classes else UNKNOWN for i, word in enumerate(corpus.types)}
    assert classes["rare"] == UNKNOWN and model.classes == FIRST + 3
    expected = [0.0, 0.0]
    for line in range(len(LINES)):
        tokens, sizes = packed_lines(corpus, np.array([line]))
        packed = torch.nn.utils.rnn.PackedSequence(model.token_vectors(tokens), torch.from_numpy(sizes))
        gold = [BEGIN, *(classes[word] for word in LINES[line]), END]
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


LENGTHS = [[3], [1, 1], [5, 5, 5], [9, 7, 4, 4, 1], [30, 6, 5, 4, 3, 2, 1]]
CLIPS = [(1e9, 1e9), (0.3, 0.2)]  # none is reached, or both


def weights(inputs: int, hidden: int, projection: int) -> list[Tensor]:
    torch.manual_seed(0)
    shapes = [(4 * hidden, inputs), (4 * hidden, projection), (4 * hidden,), (projection, hidden)]
    return [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]


def theirs(made: list[Tensor], reverse: bool, clips: tuple[float, float]) -> LstmCellWithProjection:
    """allennlp-light's cell with these weights; its gates have the order i, f, g, o, ours o, i, f, g."""
    w_input, w_state, bias, w_projection = made
    projection, hidden = w_projection.shape
    module = LstmCellWithProjection(w_input.shape[1], projection, hidden, not reverse, 0.0, *clips).double()
    with torch.no_grad():
        module.input_linearity.weight.copy_(w_input.roll(-hidden, 0))
        module.state_linearity.weight.copy_(w_state.roll(-hidden, 0))
        module.state_linearity.bias.copy_(bias.roll(-hidden, 0))
        module.state_projection.weight.copy_(w_projection)
    return module


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("clips", CLIPS)
def test_equals_allennlp_in_outputs_and_gradients(
    lengths: list[int], reverse: bool, clips: tuple[float, float]
) -> None:
    mine = weights(5, 7, 3)
    cell = theirs(mine, reverse, clips)
    inputs = torch.randn(len(lengths), lengths[0], 5, dtype=torch.float64, requires_grad=True)
    packed = pack_padded_sequence(inputs, torch.tensor(lengths), batch_first=True)
    rows = ProjectedLSTMLayer.apply(packed.data, packed.batch_sizes.tolist(), reverse, *mine, *clips)
    ours = pad_packed_sequence(PackedSequence(rows, packed.batch_sizes), batch_first=True)[0]
    twin = inputs.detach().clone().requires_grad_()
    expected, _ = cell(twin, lengths)
    torch.testing.assert_close(ours, expected, atol=1e-12, rtol=0)
    assert (ours.abs() == clips[1]).any() == (clips[1] < 1)
    weight = torch.randn_like(ours)
    (ours * weight).sum().backward()
    (expected * weight).sum().backward()
    torch.testing.assert_close(inputs.grad, twin.grad, atol=1e-12, rtol=0)
    grads = [cell.input_linearity.weight.grad, cell.state_linearity.weight.grad, cell.state_linearity.bias.grad]
    ordered = [grad.roll(7, 0) for grad in grads]
    for parameter, grad in zip(mine, [*ordered, cell.state_projection.weight.grad], strict=True):
        torch.testing.assert_close(parameter.grad, grad, atol=1e-11, rtol=0)
