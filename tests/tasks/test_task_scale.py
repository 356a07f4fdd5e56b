import doctest

import mtl.tasks.task
from mtl.tasks.task import SCALES


def test_the_worked_example() -> None:
    assert doctest.testmod(mtl.tasks.task).failed == 0


def test_differences_have_a_sign() -> None:
    assert [SCALES[100].difference(points) for points in (1.26, -1.26)] == ["+1.3", "-1.3"]
    assert [SCALES[1].difference(points) for points in (1.26, -1.26)] == ["+0.013", "-0.013"]
    assert [SCALES[1].difference(points) for points in (0.0, -0.0, -0.01)] == ["+0.000"] * 3


def test_scores_below_zero() -> None:
    assert (SCALES[100].show(-54.1), SCALES[1].show(-54.1)) == ("-54.1", "-0.541")
