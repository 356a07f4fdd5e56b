import hashlib
from collections import Counter
from pathlib import Path

import pytest

from mtl.sample.klej import lexicon
from mtl.sample.klej.grammar import write_klej

LABELS = {
    "nkjp-ner": set(lexicon.ENTITY_FRAMES),
    "cdsc-e": {"NEUTRAL", "CONTRADICTION", "ENTAILMENT"},
    "cbd": {"0", "1"},
    "polemo2.0-in": {f"__label__meta_{name}" for name in ("amb", "minus_m", "plus_m", "zero")},
    "polemo2.0-out": {f"__label__meta_{name}" for name in ("amb", "minus_m", "plus_m", "zero")},
    "dyk": {"0", "1"},
    "psc": {"0", "1"},
    "ar": {"1.0", "2.0", "3.0", "4.0", "5.0"},
}
COLUMNS = {
    "nkjp-ner": ["sentence", "target"],
    "cdsc-e": ["pair_ID", "sentence_A", "sentence_B", "entailment_judgment"],
    "cdsc-r": ["pair_ID", "sentence_A", "sentence_B", "relatedness_score"],
    "cbd": ["sentence", "target"],
    "polemo2.0-in": ["sentence", "target"],
    "polemo2.0-out": ["sentence", "target"],
    "dyk": ["q_id", "question", "answer", "target"],
    "psc": ["extract_text", "summary_text", "label"],
    "ar": ["text", "rating"],
}
WITHOUT_DEV = {"cbd", "dyk", "psc"}
# The smallest and the largest allowed share of the most frequent label.
MAJORITY = {
    "nkjp-ner": (0.16, 0.3),
    "cdsc-e": (0.5, 0.68),
    "cbd": (0.7, 0.83),
    "polemo2.0-in": (0.27, 0.45),
    "polemo2.0-out": (0.27, 0.45),
    "dyk": (0.62, 0.8),
    "psc": (0.57, 0.7),
    "ar": (0.25, 0.42),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    write_klej(folder)
    return folder


def table(folder: Path, task: str, split: str) -> list[list[str]]:
    """The rows of a file, without the header."""
    return [line.split("\t") for line in text(folder, task, split).removesuffix("\n").split("\n")[1:]]


def text(folder: Path, task: str, split: str) -> str:
    return (folder / f"klej_{task}" / f"{split}.tsv").read_bytes().decode()


def splits(task: str) -> list[str]:
    return ["train"] if task in WITHOUT_DEV else ["train", "dev"]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_same_bytes_on_every_call(folder: Path, tmp_path: Path) -> None:
    write_klej(tmp_path)
    assert contents(tmp_path) == contents(folder)


def test_the_bytes_are_those_that_finished_runs_were_made_with(folder: Path) -> None:
    """If this fails, scores of older runs on the suite cannot be compared with new ones."""
    digest = hashlib.sha256()
    for name, written in sorted(contents(folder).items()):
        digest.update(name.encode() + b"\0" + written)
    assert digest.hexdigest() == "64629197fb433516c0fc6972cf950b40f4a5fcbc957f0ea8ba90ab79ebdcf56e"


def test_files(folder: Path) -> None:
    assert set(contents(folder)) == {
        f"klej_{task}/{split}.tsv" for task in COLUMNS for split in [*splits(task), "test_features"]
    }


@pytest.mark.parametrize("task", COLUMNS)
def test_layout(folder: Path, task: str) -> None:
    for split in [*splits(task), "test_features"]:
        columns = COLUMNS[task][:-1] if split == "test_features" else COLUMNS[task]
        written = text(folder, task, split)
        assert written.endswith("\n") and "\r" not in written
        assert written.split("\n", 1)[0].split("\t") == columns
        rows = table(folder, task, split)
        assert all(len(row) == len(columns) and all(cell.strip() == cell != "" for cell in row) for row in rows)
        low, high = {"train": (400, 480), "dev": (150, 150), "test_features": (100, 100)}[split]
        assert low <= len(rows) <= high


@pytest.mark.parametrize("task", LABELS)
def test_labels(folder: Path, task: str) -> None:
    for split in splits(task):
        counts = Counter(row[-1] for row in table(folder, task, split))
        assert set(counts) == LABELS[task]
        low, high = MAJORITY[task]
        assert low <= max(counts.values()) / counts.total() <= high


def test_scores_are_means_of_three_annotators(folder: Path) -> None:
    scores = {row[-1] for split in ("train", "dev") for row in table(folder, "cdsc-r", split)}
    assert scores <= {str(round(total / 3, 2)) for total in range(16)}
    assert {"0.0", "5.0", "0.33"} <= scores


def test_relatedness_follows_judgement(folder: Path) -> None:
    means = {}
    judged, scored = table(folder, "cdsc-e", "train"), table(folder, "cdsc-r", "train")
    for label in LABELS["cdsc-e"]:
        scores = [float(score[-1]) for row, score in zip(judged, scored, strict=True) if row[-1] == label]
        means[label] = sum(scores) / len(scores)
    assert means["NEUTRAL"] + 1 < means["CONTRADICTION"] < means["ENTAILMENT"]


def test_shared_files(folder: Path) -> None:
    assert text(folder, "polemo2.0-in", "train") == text(folder, "polemo2.0-out", "train")
    assert text(folder, "polemo2.0-in", "dev") != text(folder, "polemo2.0-out", "dev")
    for split in ("train", "dev"):
        judged, scored = table(folder, "cdsc-e", split), table(folder, "cdsc-r", split)
        assert [row[:3] for row in judged] == [row[:3] for row in scored]
    assert text(folder, "cdsc-e", "test_features") == text(folder, "cdsc-r", "test_features")


@pytest.mark.parametrize("task", ["dyk", "psc"])
@pytest.mark.parametrize("split", ["train", "test_features"])
def test_groups_of_four(folder: Path, task: str, split: str) -> None:
    assert set(Counter(row[0] for row in table(folder, task, split)).values()) == {4}


def test_most_names_are_held_out(folder: Path) -> None:
    def names(split: str) -> set[str]:
        """Words that end like a surname, a place or a company."""
        endings = ("ski", "ska", "owo", "owice", "pol", "bud", "tech", "mex")
        return {word for row in table(folder, "nkjp-ner", split) for word in row[0].split() if word.endswith(endings)}

    train, dev = names("train"), names("dev")
    assert len(dev) > 30
    assert len(dev & train) < 0.3 * len(dev)


@pytest.mark.parametrize("task", ["nkjp-ner", "cdsc-e", "cbd", "polemo2.0-in", "ar"])
def test_no_text_in_two_splits(folder: Path, task: str) -> None:
    columns = slice(1, 3) if task == "cdsc-e" else slice(0, 1)
    files = [*splits(task), "test_features"]
    texts = [tuple(row[columns]) for split in files for row in table(folder, task, split)]
    assert len(set(texts)) == len(texts)


def test_some_texts_contain_quotation_marks(folder: Path) -> None:
    for task in ("nkjp-ner", "cbd", "dyk", "psc", "ar"):
        assert '"' in text(folder, task, "train")
