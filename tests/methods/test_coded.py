import numpy as np
import pytest
import torch
from default_settings import section
from lstm_parts import CHOICE, LABELS, OTHER, WORDS, mixed_dataset

from mtl.base.settings.schema import LossConfig
from mtl.methods.coded import Coded
from mtl.methods.network_training import set_losses
from mtl.model.network import Heads, Network

DATA = Coded(mixed_dataset())


def test_outputs_words_and_pairs_as_heads_read_them() -> None:
    answers = DATA.dataset.answers["words"]
    assert answers == sorted(answers) and "okänt" not in answers
    assert DATA.outputs == {"labels": 2, "numbers": 1, "choice": 1, "words": len(answers), "other": len(answers)}
    answers = DATA.answers(WORDS)
    train, dev = (DATA.splits["words"][split].targets for split in ("train", "dev"))
    words = DATA.dataset.splits["words"]["train"].targets
    assert [answers[int(code)] for code in train] == words.tolist()
    assert dev[0] == -1 and (dev[1:] >= 0).all() and dev.dtype == np.float64
    assert DATA.answers(OTHER) == DATA.answers(WORDS)
    answers = DATA.answers(WORDS)
    assert DATA.splits["other"]["test"].targets.tolist() == [answers.index("regnet"), -1, answers.index("jag")]
    pairs = section(LossConfig, choice="pairs")
    whole, drawn = DATA.train_rows(CHOICE, section(LossConfig), 1), DATA.train_rows(CHOICE, pairs, 1)
    assert whole is DATA.splits["choice"]["train"]
    assert whole.sizes is not None and set(whole.sizes.tolist()) == {2, 3}
    assert drawn.sizes is not None and set(drawn.sizes.tolist()) == {2} and len(drawn) == len(whole)
    np.testing.assert_array_equal(drawn.texts, DATA.train_rows(CHOICE, pairs, 1).texts)  # the same in both stages
    assert not np.array_equal(drawn.texts, DATA.train_rows(CHOICE, pairs, 2).texts)
    assert DATA.train_rows(LABELS, pairs, 1) is DATA.splits["labels"]["train"]


@pytest.mark.parametrize("choice", ["candidates", "pairs"])
def test_the_loss_of_a_choice_is_what_the_configuration_says(choice: str) -> None:
    network = Network([LABELS, CHOICE], Heads([LABELS, CHOICE], DATA.outputs, 4, 5, 0.0), None)
    set_losses(DATA, network, section(LossConfig, choice=choice))
    outputs, codes, sizes = torch.tensor([[1.0], [-2.0]]), torch.tensor([1.0]), torch.tensor([2])
    one, other = np.log1p(np.exp(1.0)), np.log1p(np.exp(2.0))  # no for the first candidate, yes for the second
    expected = (one + other) / 2 if choice == "pairs" else np.log1p(np.exp(3.0))
    assert float(network.head_targets["choice"].loss(outputs, codes, sizes)) == pytest.approx(expected, rel=1e-6)
