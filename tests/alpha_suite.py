"""A suite whose tasks differ in their metrics, with further metrics and breakdowns; scores are shown as they are, not × 100."""

from pathlib import Path

SUITE = """\
name: alphas
scale: 1
tasks:
  stance:
    title: Stance
    text: [text]
    target: label
    labels: [pro, con, neutral]
    metric: alpha_nominal
    also: [accuracy, macro_f1]
  rating:
    title: Rating
    text: [text]
    target: rating
    range: [1, 5]
    metric: alpha_interval
    also: [spearman, pearson]
  answer:
    title: Answer
    text: [question]
    candidates: ["candidates[]"]
    target: label
    metric: pseudo_alpha
    chance: 1/4
    also: [accuracy]
    files: {train: train.jsonl, dev: dev.jsonl, test: null}
  entailment:
    title: Entailment
    text: [premise, hypothesis]
    target: label
    labels: [yes it is, "no"]
    metric: alpha_nominal
    columns: [triple]
    also: [gender_parity]
    breakdown: [phenomenon]
published:
  - {model: printed, family: transformer, average: 40.0, scores: {stance: 55.5, rating: 40.0, answer: 41.0, entailment: 23.5}}
"""


def write_alpha_suite(folder: Path) -> Path:
    """The suite's file; it has no data, since `run_folders.make_run` needs none."""
    path = folder / "alphas.yaml"
    path.write_text(SUITE, encoding="utf-8")
    return path
