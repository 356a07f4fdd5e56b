"""A small suite in Swedish, as a user would declare one: a single-sentence task, a pair task and a regression."""

from pathlib import Path

from data_files import write_lines

SUITE = """\
name: liten
language: sv
tasks:
  kansla:
    text: [text]
    target: label
    labels: [glad, arg]
    metric: accuracy
  samma:
    text: [a, b]
    target: same
    labels: ["0", "1"]
    metric: f1
    positive: "1"
    group: topic
    files: {dev: null, test: null}
    folder: pairs
  betyg:
    text: [text]
    target: score
    range: [0, 10]
    metric: spearman
    folder: scores
"""
GLAD = ["solen skiner", "jag skrattar gott", "vi sjunger glatt", "fin dag idag"]
ARG = ["regnet faller", "jag ropar argt", "vi gråter tyst", "trist dag idag"]


def rows(count: int) -> list[tuple[str, str, str]]:
    """Texts with a label and a score, none alike."""
    made = []
    for i in range(count):
        happy = (i * 7) % 3 != 0
        words = (GLAD if happy else ARG)[i % 4]
        made.append((f"{words} nummer {i}", "glad" if happy else "arg", str(8 - i % 3 if happy else i % 3)))
    return made


def write_tsv(path: Path, *lines: tuple[str, ...]) -> None:
    write_lines(path, map("\t".join, lines))


SMALL = ["baselines=false", "encoder.hidden_size=8", "head.hidden_size=16", "embeddings.dim=12", "trainer.threads=1"]
SMALL += ["pretrain.max_steps=6", "pretrain.validate_every=2", "pretrain.batch_size=16", "pretrain.learning_rate=0.02"]
SMALL += ["finetune.max_epochs=2", "finetune.batch_size=32"]


def write_suite(folder: Path) -> Path:
    """The suite's file, with its data beside it in `data`."""
    path = folder / "liten.yaml"
    path.write_text(SUITE, encoding="utf-8")
    data = folder / "data"
    for split, made in (("train", rows(60)), ("dev", rows(90)[60:]), ("test", rows(100)[90:])):
        known = split != "test"
        header = ("text", *(["label"] if known else []))
        write_tsv(data / f"{split}.tsv", header, *((t, label)[: len(header)] for t, label, _ in made))
        header = ("text", *(["score"] if known else []))
        write_tsv(data / "scores" / f"{split}.tsv", header, *((t, score)[: len(header)] for t, _, score in made))
    pairs = []
    for i, (text, label, _) in enumerate(rows(60)):
        other = rows(60)[(i * 11 + 5) % 60]
        pairs.append((str(i // 3), text, other[0], str(int(label == other[1]))))
    write_tsv(data / "pairs" / "train.tsv", ("topic", "a", "b", "same"), *pairs)
    return path


def locations(folder: Path) -> list[str]:
    """Write the suite to a folder; return settings that name it, its data, and `run` beside it for the results."""
    return [f"suite={write_suite(folder)}", *(f"{name}_dir={folder / name}" for name in ("data", "run", "cache"))]


def small_settings(folder: Path) -> list[str]:
    """Write the suite to a folder; return settings with which an LSTM's run on it takes a second."""
    return [*locations(folder), *SMALL]
