import numpy as np
import torch
from lstm_parts import LABELS, NUMBERS, OTHER, WORDS, mixed_dataset

from mtl.methods.lstm.coded import Coded

DATA = Coded(mixed_dataset())


def test_each_head_has_the_outputs_of_its_task() -> None:
    answers = DATA.dataset.answers["words"]
    assert answers == sorted(answers) and "okänt" not in answers
    assert DATA.outputs == {"labels": 2, "numbers": 1, "choice": 1, "words": len(answers), "other": len(answers)}


def test_words_are_indices_of_answers_and_unseen_words_are_none_of_them() -> None:
    answers = DATA.answers(WORDS)
    train, dev = (DATA.splits["words"][split].targets for split in ("train", "dev"))
    words = DATA.dataset.splits["words"]["train"].targets
    assert [answers[int(code)] for code in train] == words.tolist()
    assert dev[0] == -1 and (dev[1:] >= 0).all() and dev.dtype == np.float64


def test_a_task_without_training_rows_has_the_answers_of_the_head_that_answers_it() -> None:
    assert DATA.answers(OTHER) == DATA.answers(WORDS)
    answers = DATA.answers(WORDS)
    assert DATA.splits["other"]["test"].targets.tolist() == [answers.index("regnet"), -1, answers.index("jag")]


def test_labels_and_numbers_are_their_own_codes() -> None:
    for task in (LABELS, NUMBERS):
        for split, part in DATA.splits[task.id].items():
            np.testing.assert_array_equal(part.targets, DATA.dataset.splits[task.id][split].targets)


def test_an_unseen_dev_word_counts_as_wrong() -> None:
    metric = DATA.dev_score(WORDS)
    codes = torch.from_numpy(DATA.splits["words"]["dev"].targets).clamp(min=0)
    metric.update(codes, torch.arange(20), torch.tensor(True))
    assert float(metric.compute()) == 95  # all but the first of 20 rows
