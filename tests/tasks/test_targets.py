"""Target kinds: cells, outputs, losses and predictions, against independent computations."""

import random
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from scipy.special import log_softmax, softmax

from mtl.tasks.kinds.text import escape, unescape
from mtl.tasks.targets import TARGET_KINDS, target_kind
from mtl.tasks.task import Task


def task(kind: str, **declared: Any) -> Task:
    return Task("t", kind=kind, text=["x"], target="y", metric="accuracy", **declared)


LABELS = target_kind(task("labels", labels=["glad", "arg", "trött"]))
NUMBER = target_kind(task("number", range=[1, 5]))
CHOICE = target_kind(task("choice", candidates=["z[]"]))
WORD = target_kind(task("word"))
TEXT = target_kind(task("text"))
KINDS = {"labels": LABELS, "number": NUMBER, "choice": CHOICE, "word": WORD, "text": TEXT}
HEADS = [name for name, kind in TARGET_KINDS.core.items() if kind.head_type is not None]
TARGETS = {
    "labels": np.array([0.0, 2, 2, 1]),
    "number": np.array([1.0, 5, 1 / 3 + 1, 5]),
    "choice": np.array([0.0, 3, 11, 0]),
    "word": np.array(["sol", "åska och regn", "sol", " dag "], dtype=object),
    "text": np.array(["Solen.\n\tOch \\n är \r\n ingen rad.", " ", "regn\x85\u2028", "regn\x85\u2028"], dtype=object),
}
SIZES = np.array([2, 4, 12, 1])  # candidates of each row


def test_every_kind_is_here_trains_estimators_and_has_outputs() -> None:
    assert {name: type(kind) for name, kind in KINDS.items()} == TARGET_KINDS.core
    assert LABELS.parse("arg") == 1 and NUMBER.parse("4e0") == 4 and CHOICE.parse("7") == 7
    assert LABELS.training_targets(TARGETS["labels"], None).tolist() == [0, 2, 2, 1]
    assert NUMBER.training_targets(TARGETS["number"], None).tolist() == TARGETS["number"].tolist()
    assert WORD.training_targets(TARGETS["word"], None).tolist() == TARGETS["word"].tolist()
    chosen = CHOICE.training_targets(np.array([1.0, 0, 2]), np.array([2, 1, 4]))
    assert chosen.tolist() == [0, 1, 1, 0, 0, 1, 0]
    assert [KINDS[name].head.outputs(KINDS[name].head.answers(TARGETS[name])) for name in HEADS] == [3, 1, 1, 3]
    assert HEADS == ["labels", "number", "choice", "word"]
    assert WORD.head.answers(TARGETS["word"]) == [" dag ", "sol", "åska och regn"]
    assert LABELS.head.answers(TARGETS["labels"]) == []
    assert WORD.head.encode(np.array(["dag", "natt"], dtype=object), ["dag", "sol"]).tolist() == [0, -1]


@pytest.mark.parametrize("name", KINDS)
def test_a_cell_is_read_back_as_the_same(name: str) -> None:
    kind, targets = KINDS[name], TARGETS[name]
    lines = [kind.to_line(target) for target in targets.tolist()]
    assert all(isinstance(line, str) and not {"\t", "\n", "\r"} & set(line) for line in lines)
    assert [kind.parse_prediction(kind.line_cell(line)) for line in lines] == targets.tolist()
    cells = [kind.format(target) for target in targets.tolist() if str(target).strip()]
    assert [kind.format(kind.parse(cell)) for cell in cells] == cells


@pytest.mark.parametrize(
    ("name", "cell", "problem"),
    [
        ("labels", "Arg", "unknown label 'Arg', expected one of glad, arg, trött"),
        ("number", "fyra", "target 'fyra' is not a number"),
        ("number", "nan", "target nan is outside 1 to 5"),
        ("number", "0.9", "target 0.9 is outside 1 to 5"),
        ("choice", "-1", "target '-1' is not the index of a candidate"),
        ("choice", "1.0", "target '1.0' is not the index of a candidate"),
        ("choice", "٣", "target '٣' is not the index of a candidate"),
        ("choice", "", "target '' is not the index of a candidate"),
        ("choice", "3", "target 3 is not the index of one of the row's 3 candidates"),
        ("word", "", "is not a word"),
        ("word", " ", "is not a word"),
        ("word", "två\trader", "is not a word"),
        ("word", "\udcff\udcfe", "is not a word"),
        ("text", " \n", "the target is an empty text"),
    ],
)
def test_a_cell_that_is_no_target(name: str, cell: str, problem: str) -> None:
    with pytest.raises(ValueError) as caught:
        KINDS[name].parse(cell, 3)
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "declared", "key"),
    [
        *(("labels", {"labels": labels}, "labels") for labels in (["a"], ["a", "b", "a"], None)),
        *(("number", {"range": ends}, "range") for ends in ([1, 1], [1], [0, np.nan], None)),
        *(("choice", {"candidates": columns}, "candidates") for columns in ([], None)),
        *(("labels", {"labels": ["a", "b"]}, None), ("number", {"range": [-1.5, 2]}, None), ("choice", {"candidates": ["a", "b"]}, None)),
        *(("word", {}, None), ("text", {}, None)),
    ],
)  # fmt: skip
def test_a_declaration(kind: str, declared: dict[str, Any], key: str | None) -> None:
    problem = TARGET_KINDS[kind].problem(task(kind, **declared))
    assert problem is None if key is None else str(problem).startswith(f"{key}: ")


@pytest.mark.parametrize("name", HEADS)
def test_codes_stand_for_targets(name: str) -> None:
    kind, targets = KINDS[name], TARGETS[name]
    answers = kind.head.answers(targets)
    codes = kind.head.encode(targets, answers)
    assert codes.dtype == np.float64
    decoded = kind.head.decode(codes, answers)
    assert decoded.dtype == kind.dtype and decoded.tolist() == targets.tolist()


@pytest.mark.parametrize("name", ["labels", "word"])
def test_the_loss_of_labels_and_words_is_cross_entropy(name: str) -> None:
    outputs = np.random.default_rng(1).normal(size=(4, 3))
    codes = np.array([0, 2, 1, 1])
    expected = -np.mean(log_softmax(outputs, axis=1)[np.arange(4), codes])
    found = KINDS[name].head.loss(torch.from_numpy(outputs), torch.from_numpy(codes).double(), None)
    assert float(found) == pytest.approx(expected)
    predicted = KINDS[name].head.predict(torch.from_numpy(outputs), None)
    assert predicted.tolist() == outputs.argmax(axis=1).tolist()


@pytest.mark.parametrize(("power", "ratio"), [(1.0, 9.0), (0.5, 3.0)])
def test_rare_labels_count_more_after_balancing(power: float, ratio: float) -> None:
    kind = target_kind(task("labels", labels=["glad", "arg", "trött"]))
    codes = np.array([0.0] * 9 + [1.0])  # "trött" has no row
    kind.head = kind.head.balanced(codes, power)
    outputs, gold = torch.randn(10, 3, generator=torch.Generator().manual_seed(0)), torch.tensor(codes)
    losses = -log_softmax(outputs.double().numpy(), axis=1)[np.arange(10), codes.astype(int)]
    weights = np.where(codes == 1, ratio, 1.0)
    loss = kind.head.loss(outputs, gold, None)
    assert float(loss) == pytest.approx((weights * losses).sum() / weights.sum(), rel=1e-5)
    assert torch.isfinite(kind.head.loss(outputs, torch.full((10,), 2.0), None))


def test_the_loss_of_numbers_is_the_squared_error_in_the_range_or_raw() -> None:
    outputs, codes = np.array([0.0, 1.0, -0.25, 1.5]), np.array([1.0, 4.0, 2.0, 5.0])
    found = NUMBER.head.loss(torch.from_numpy(outputs)[:, None], torch.from_numpy(codes), None)
    assert float(found) == pytest.approx(np.mean((outputs - (codes - 1) / 4) ** 2))
    codes = NUMBER.head.predict(torch.from_numpy(outputs)[:, None], None).numpy().astype(np.float64)
    # 0 and 1 are the ends of the range, beyond which none goes.
    assert NUMBER.head.decode(codes, []).tolist() == [1.0, 5.0, 1.0, 5.0]
    kind = target_kind(task("number", range=[1, 5]))
    kind.head = kind.head.unscaled()
    outputs, codes = torch.tensor([[0.5], [4.5], [6.0]]), torch.tensor([1.0, 4.0, 5.0])
    assert float(kind.head.loss(outputs, codes, None)) == pytest.approx((0.25 + 0.25 + 1.0) / 3)
    assert kind.head.decode(kind.head.predict(outputs, None).double().numpy(), []).tolist() == [1.0, 4.5, 5.0]


@pytest.mark.parametrize("ends", [(0, 0.8), (0.7, 3), (-0.1, 0.1), (0.3, 0.9), (1, 5)])
def test_a_decoded_number_is_within_its_range(ends: tuple[float, float]) -> None:
    kind, (low, high) = target_kind(task("number", range=list(ends))), ends
    outputs = torch.linspace(-1, 2, 301)[:, None]
    decoded = kind.head.decode(kind.head.predict(outputs, None).numpy().astype(np.float64), [])
    assert decoded.dtype == np.float64 and decoded.min() >= low and decoded.max() <= high
    assert [kind.parse(kind.to_line(number)) for number in decoded.tolist()] == decoded.tolist()
    assert kind.remark(decoded) is None
    if ends == (1, 5):  # as float32 has these ends exactly, numbers are those that float32 would clip
        assert (decoded == (1 + 4 * outputs[:, 0]).clamp(1, 5).double().numpy()).all()


@pytest.mark.parametrize("cell", ["0.73", "5.03", "-0.01", "6", "-1e9"])
def test_a_predicted_number_may_be_outside_the_range(cell: str) -> None:
    assert NUMBER.parse_prediction(cell) == float(cell)
    assert NUMBER.remark(np.array([float(cell), 1.0, 5.0])) == "1 of 3 predictions are outside 1 to 5"


@pytest.mark.parametrize("cell", ["nan", "inf", "-inf", "1e101", "fyra", "", "1_0"])
def test_a_predicted_number_that_no_metric_can_score(cell: str) -> None:
    with pytest.raises(ValueError, match="is not"):
        NUMBER.parse_prediction(cell)


@pytest.mark.parametrize("name", ["labels", "balanced", "number", "word"])
def test_the_mean_of_a_batch_is_the_weighted_mean_of_its_parts(name: str) -> None:
    kind = target_kind(KINDS["labels" if name == "balanced" else name].task)
    generator = torch.Generator().manual_seed(0)
    codes = torch.tensor([1.0, 0.0, 1.0, 1.0, 0.0, 1.0])
    outputs = torch.randn(6, kind.head.outputs(["a", "b"]), generator=generator)
    if name == "balanced":
        kind.head = kind.head.balanced(codes.numpy(), 1.0)
    parts = [slice(0, 3), slice(3, 5), slice(5, 6)]
    weights = [float(kind.head.loss_weight(codes[part], None)) for part in parts]
    losses = [float(kind.head.loss(outputs[part], codes[part], None)) for part in parts]
    assert float(kind.head.loss_weight(codes, None)) == pytest.approx(sum(weights))
    assert float(kind.head.loss(outputs, codes, None)) == pytest.approx(np.average(losses, weights=weights), rel=1e-5)


def test_labels_are_integers_in_python_if_all_are_written_so() -> None:
    for labels, values in (
        (["0", "-1", "12"], [0, -1, 12]),
        (["1", "01"], ["1", "01"]),
        (["12", "1\u0662"], ["12", "1\u0662"]),
    ):
        kind = target_kind(task("labels", labels=labels))
        assert [kind.to_python(float(index)) for index in range(len(labels))] == values


class Estimator:
    """What scikit-learn's estimators have, with known answers."""

    def __init__(self, **answers: Any) -> None:
        for name, answer in answers.items():
            setattr(self, name, lambda features, answer=answer: answer)


def test_what_an_estimator_predicts() -> None:
    assert NUMBER.estimator_targets(Estimator(predict=[0.5, 3.5, 9]), None, None).tolist() == [1, 3.5, 5]
    labels = LABELS.estimator_targets(Estimator(predict=np.array([2, 0])), None, None)
    assert labels.tolist() == [2, 0] and labels.dtype == np.float64
    words = WORD.estimator_targets(Estimator(predict=np.array(["sol", "dag"])), None, None)
    assert words.tolist() == ["sol", "dag"] and words.dtype == object
    scores = np.array([0.1, 0.3, -2.0, 0.5, 0.5, 0.4])
    sizes = np.array([2, 1, 3])
    assert CHOICE.estimator_targets(Estimator(decision_function=scores), None, sizes).tolist() == [1, 0, 0]
    probabilities = np.stack([1 - scores, scores], axis=1)
    assert CHOICE.estimator_targets(Estimator(predict_proba=probabilities), None, sizes).tolist() == [1, 0, 0]


@pytest.mark.parametrize("name", ["labels", "number", "word", "text"])
def test_random_targets_are_distributed_as_in_training(name: str) -> None:
    train = TARGETS[name]
    drawn = Counter(KINDS[name].draw(train, 4000, None, np.random.default_rng(3)).tolist())
    for target, count in Counter(train.tolist()).items():
        assert drawn[target] / 4000 == pytest.approx(count / len(train), abs=0.04)
    assert set(drawn) <= set(train.tolist())


def test_uniform_and_commonest_targets() -> None:
    rng = np.random.default_rng(5)
    labels = Counter(LABELS.uniform(np.array([0.0, 0, 0]), 3000, None, rng).tolist())
    assert set(labels) == {0, 1, 2} and all(abs(count / 3000 - 1 / 3) < 0.04 for count in labels.values())
    numbers = NUMBER.uniform(np.array([2.0, 4.0, 4.0, 4.0]), 3000, None, rng)
    assert 2 <= numbers.min() < 2.01 and 3.99 < numbers.max() <= 4 and abs(numbers.mean() - 3) < 0.05
    words = Counter(WORD.uniform(TARGETS["word"], 3000, None, rng).tolist())
    assert set(words) == set(TARGETS["word"]) and all(abs(count / 3000 - 1 / 3) < 0.04 for count in words.values())
    choices = CHOICE.uniform(TARGETS["choice"], 3000, np.repeat([2, 4], 1500), rng)
    assert set(choices[:1500]) == {0, 1} and set(choices[1500:]) == {0, 1, 2, 3}
    assert LABELS.commonest(np.array([2.0, 2, 0])) == 2
    # "arg" is before "glad" and "trött" in the alphabet, although not in the suite file.
    assert LABELS.commonest(np.array([0.0, 2, 1, 2, 1, 0])) == 1
    assert NUMBER.commonest(np.array([1.0, 1, 4])) == 2
    assert CHOICE.commonest(np.array([3.0, 3, 1])) == 0
    assert WORD.commonest(np.array(["sol", "dag"], dtype=object)) == "dag"
    assert LABELS.constants(TARGETS["labels"]) == [2, 0, 1]
    assert NUMBER.constants(np.array([1.0, 2, 5, 5])) == [3.25, 2]  # the mean; the median of 1, 2, 5
    assert CHOICE.constants(np.array([3.0, 1, 1])) == [1, 3]
    assert WORD.constants(np.array(["dag", "sol", "sol"], dtype=object)) == ["sol", "dag"]
    assert TEXT.constants(TARGETS["text"]) == ["regn\x85\u2028"]
    assert len(WORD.constants(np.array([str(number) for number in range(99)], dtype=object))) == WORD.most_constants


def test_words_for_a_reader_and_any_text_read_back() -> None:
    assert LABELS.distribution(TARGETS["labels"]) == "glad 25.0%, arg 25.0%, trött 50.0%"
    assert NUMBER.distribution(np.array([1.0, 2, 3])) == "mean 2.00, sd 0.82, 1 to 3"
    assert WORD.distribution(TARGETS["word"]) == "3 different"
    assert LABELS.absent(np.array([0.0, 2])) == ["arg"] and WORD.absent(TARGETS["word"]) == []
    assert NUMBER.show(4.0) == "4" and LABELS.show(1.0) == "arg"
    assert LABELS.stratum(1.0) == 1.0 and LABELS.stratum(None) is None
    assert [NUMBER.stratum(3.0), CHOICE.stratum(1.0), WORD.stratum("sol")] == [None] * 3
    assert escape('Rad "ett", 100 % år\n\\n') == 'Rad "ett", 100 % år\\n\\\\n'
    chance = random.Random(1)
    for _ in range(2000):
        text = "".join(chance.choices(["\\", "\t", "\n", "\r", "n", "t", "r", " ", "å", "\x85", "\u2028", '"'], k=8))
        line = escape(text)
        assert unescape(line) == text and not {"\t", "\n", "\r"} & set(line)


@pytest.mark.parametrize(("line", "named"), [("C:\\mapp", r"'\\m'"), ("slut\\", r"'\\' is no escape")])
def test_a_backslash_that_begins_no_escape(line: str, named: str) -> None:
    with pytest.raises(ValueError) as caught:
        unescape(line)
    assert named in str(caught.value)


TASK = CHOICE.task


def test_a_choice_has_one_text_or_none_and_candidates_that_may_be_named() -> None:
    choice = replace(TASK)
    choice.text = []
    assert CHOICE.problem(choice) is None
    choice.text = ["a", "b"]
    assert CHOICE.problem(choice) == "text: a choice has at most one text column beside its candidates"
    kind = target_kind(replace(TASK, indices=["1", "2", "3"]))
    assert [kind.parse(cell, 3) for cell in "123"] == [0, 1, 2]
    assert (kind.format(1.0), kind.to_json(1.0)) == ("2", "2")
    assert [kind.has_type(value) for value in (1, "1", 1.0, True)] == [True, True, False, False]
    for cell, candidates in (("0", 3), ("3", 2), ("A", None)):
        with pytest.raises(ValueError, match="one of 1, 2"):
            kind.parse(cell, candidates)
    assert CHOICE.problem(replace(TASK, indices=["A", "A"])) == "indices: needs at least two, all different"


def test_the_loss_of_a_choice_is_cross_entropy_over_the_row_s_candidates() -> None:
    rng = np.random.default_rng(2)
    rows = [rng.normal(size=size) for size in SIZES]
    targets = np.array([1, 3, 7, 0])
    expected = -np.mean([log_softmax(row)[target] for row, target in zip(rows, targets, strict=True)])
    outputs, sizes = torch.from_numpy(np.concatenate(rows)).float()[:, None], torch.from_numpy(SIZES)
    loss = CHOICE.head.loss(outputs, torch.from_numpy(targets).double(), sizes)
    assert float(loss) == pytest.approx(expected, rel=1e-5)
    assert CHOICE.head.predict(outputs, sizes).tolist() == [int(row.argmax()) for row in rows]
    # The candidates of another row change nothing.
    assert CHOICE.head.predict(-outputs.abs() - 5, sizes).tolist() == [int((-abs(row)).argmax()) for row in rows]


def test_separate_candidates_are_rows_of_a_yes_no_problem() -> None:
    kind = target_kind(TASK)
    kind.head = kind.head.separated()
    rng = np.random.default_rng(2)
    rows = [rng.normal(size=size) for size in (2, 1, 2)]
    targets = np.array([1, 0, 0])
    losses = []
    for row, target in zip(rows, targets, strict=True):
        for place, output in enumerate(row):
            probability = 1 / (1 + np.exp(-output))
            losses.append(-np.log(probability if place == target else 1 - probability))
    outputs, sizes = torch.from_numpy(np.concatenate(rows)).float()[:, None], torch.tensor([2, 1, 2])
    loss = kind.head.loss(outputs, torch.from_numpy(targets).float(), sizes)
    assert float(loss) == pytest.approx(np.mean(losses), rel=1e-5)
    # The prediction is the candidate with the highest output, as ever.
    assert kind.head.predict(outputs, sizes).tolist() == [int(row.argmax()) for row in rows]


@pytest.mark.parametrize("separately", [False, True])
def test_the_mean_of_choices_is_the_weighted_mean_of_its_parts(separately: bool) -> None:
    kind = target_kind(TASK)
    if separately:
        kind.head = kind.head.separated()
    outputs, codes, sizes = torch.arange(7.0)[:, None], torch.tensor([1.0, 0.0, 3.0]), torch.tensor([2, 1, 4])
    first = kind.head.loss(outputs[:2], codes[:1], sizes[:1]) * kind.head.loss_weight(codes[:1], sizes[:1])
    second = kind.head.loss(outputs[2:], codes[1:], sizes[1:]) * kind.head.loss_weight(codes[1:], sizes[1:])
    mean = (first + second) / kind.head.loss_weight(codes, sizes)
    torch.testing.assert_close(kind.head.loss(outputs, codes, sizes), mean)


def test_labels_numbers_and_candidates_are_averaged() -> None:
    rng = np.random.default_rng(1)
    outputs = [4 * rng.normal(size=(5, 3)) for _ in range(3)]
    head = LABELS.head
    joint = head.joint([torch.from_numpy(scores) for scores in outputs], None)
    np.testing.assert_allclose(joint.exp(), np.mean([softmax(scores, axis=1) for scores in outputs], axis=0), atol=1e-6)
    rng, sizes = np.random.default_rng(2), np.array([2, 4, 1])
    outputs = [rng.normal(size=(7, 1)) for _ in range(2)]
    head = CHOICE.head
    joint = head.joint([torch.from_numpy(scores) for scores in outputs], torch.from_numpy(sizes))
    expected = [
        np.logaddexp(*(log_softmax(scores[start:stop, 0]) for scores in outputs)) - np.log(2)
        for start, stop in [(0, 2), (2, 6), (6, 7)]
    ]
    np.testing.assert_allclose(joint[:, 0], np.concatenate(expected), atol=1e-6)
    head = NUMBER.head
    joint = head.joint([torch.tensor([[0.0], [1.0]]), torch.tensor([[1.0], [0.5]])], None)
    assert joint.tolist() == [[0.5], [0.75]]
    # Both heads predict the same numbers from them.
    raw = np.array([[1.0], [2.0], [6.0]], dtype=np.float32)
    standard = head.unscaled().standard(raw)
    assert standard.dtype == np.float32
    assert head.predict(torch.from_numpy(standard), None).tolist() == raw[:, 0].tolist()
    assert (head.standard(raw) == raw).all()
