"""How people see scores. A score is × 100 everywhere in the package and in files that programs read back."""

from dataclasses import dataclass

from mtl.base.wording import MISSING


@dataclass(frozen=True)
class Scale:
    """One way to show scores."""

    divisor: float  # of a score × 100
    decimals: int  # of a score as shown
    unit: str  # what notes and axes call a score

    @property
    def heading(self) -> str:
        """What the notes of a table call its scores, as in "Scores × 100"."""
        return self.unit.replace("score", "Scores")

    @property
    def perfect(self) -> int:
        """The highest score on this scale: 100 or 1."""
        return round(100 / self.divisor)

    def value(self, score: float) -> float:
        """A score × 100 on this scale, not rounded."""
        return score / self.divisor

    def show(self, score: float | None, marks: str = "") -> str:
        """A score × 100 as shown, with its marks: 28.61 as 28.6, or as 0.286; in place of no score, MISSING."""
        return MISSING if score is None else f"{self.value(score):.{self.decimals}f}{marks}"

    def difference(self, points: float) -> str:
        """A difference of two scores × 100 as shown, with its sign; one that is shown as zero has a plus."""
        return f"{round(self.value(points), self.decimals) + 0.0:+.{self.decimals}f}"


SCALES = {100: Scale(1.0, 1, "score × 100"), 1: Scale(100.0, 3, "score")}  # by the value of `scale` in a suite file
PERCENT = SCALES[100]
