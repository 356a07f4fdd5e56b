import re
import shlex
from pathlib import Path

import pytest
import yaml
from data_files import sentences, write_jsonl, write_table
from golden import check_golden
from input_errors import raises_input_error
from omegaconf import OmegaConf

from mtl.api.cli import main
from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite.finding import DataFolder
from mtl.benchmark_making.init_suite.guess import Guess
from mtl.benchmark_making.init_suite.init_suite import init_suite
from mtl.benchmark_making.init_suite.known_keys import parse_answers
from mtl.benchmark_making.init_suite.suite_guess import SuiteGuess, scalar
from mtl.data.loading import load_dataset
from mtl.tasks.suite import load_suite

TEXTS, OTHERS = sentences(40), sentences(40, "another")
TONES = [(text, "abc"[i % 3], "xy"[i % 2], i % 7) for i, text in enumerate(TEXTS)]
TONE, KIND = ["text", "tone", "kind", "score"], ["text", "tone", "kind"]


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """A folder of tab-separated tasks: labels that YAML would misread, a rare label with groups and no dev, numbers."""
    folder = tmp_path / "my bench"
    mood = list(zip(TEXTS, ["yes", "no", "0", "off"] * 10, strict=True))
    pairs = [(f"q{i // 4}", *texts, int(i % 5 == 0)) for i, texts in enumerate(zip(TEXTS, OTHERS, strict=True))]
    scores = [(text, i / 10) for i, text in enumerate(TEXTS)]
    for split in ("train", "dev"):
        write_table(folder / "mood" / f"{split}.tsv", ["text", "target"], mood)
        write_table(folder / "sts" / f"{split}.tsv", ["text", "score"], scores)
    write_table(folder / "mood" / "test.tsv", ["text"], [[text] for text in TEXTS])
    write_table(folder / "pairs" / "train.tsv", ["q_id", "question", "answer", "target"], pairs)
    return folder


def test_the_file_and_its_summary(data_dir: Path, tmp_path: Path) -> None:
    write_table(data_dir / "broken" / "train.tsv", ["text"], [[text] for text in TEXTS])
    (data_dir / "notes").mkdir()
    (data_dir / "notes" / "sheet.tsv").touch()
    out = tmp_path / "out.yaml"
    made = init_suite(data_dir, out=out)
    check_golden("init-suite-document.txt", f"{made.summary}\n\n{made.document}".replace(f"{tmp_path}/", ""))
    suite = load_suite(out)
    assert (suite.name, suite.language, list(suite.tasks)) == ("my-bench", "en", ["mood", "pairs", "sts"])
    assert suite.tasks["mood"].labels == ["0", "no", "off", "yes"]
    commented = made.document.partition("# Left out")[2].partition("\n")[2]
    assert yaml.safe_load(re.sub("^  # ", "  ", commented, flags=re.MULTILINE))["broken"]["folder"] == "broken"


def test_columns_of_ids_name_the_rows_of_predictions(tmp_path: Path) -> None:
    rows = [{"id": f"i{i}", "uid": f"u{i:03}", "text": text, "label": "xy"[i % 2]} for i, text in enumerate(TEXTS)]
    for split in ("train", "dev"):
        write_jsonl(tmp_path / "data" / f"{split}.jsonl", rows)
    suite = load_suite(init_suite(tmp_path / "data", out=tmp_path / "out.yaml").path)
    assert suite.submission.ids == ["uid"]  # the column id needs no name


def test_load_suite_takes_a_task_that_another_one_answers(tmp_path: Path) -> None:
    nli = [{"a": a, "b": b, "label": "xyz"[i % 3]} for i, (a, b) in enumerate(zip(TEXTS, OTHERS, strict=True))]
    gender = [row for row in nli if row["label"] != "z"]
    for name, rows in {"nli_train": nli, "gender_test": gender}.items():
        write_jsonl(tmp_path / "data" / f"{name}.jsonl", rows)
    made = init_suite(tmp_path / "data", out=tmp_path / "out.yaml")
    assert "tasks.gender.answered_by=TASK, which may be nli" in made.problems["gender"]
    known = {"gender": {"answered_by": "nli"}}
    suite = load_suite(init_suite(tmp_path / "data", out=tmp_path / "answered.yaml", known=known).path)
    task = suite.tasks["gender"]
    assert (task.answered_by, task.scored_split, task.labels) == ("nli", "test", ["x", "y", "z"])
    dataset = load_dataset(suite, suite.choose(None), tmp_path / "data", 0.1)
    assert len(dataset.scored(task)) == len(gender)


def test_no_link_leads_out_of_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither as a split, nor as a file that may hold splits."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret").write_text("SECRET\tlabel\nSECRET a\ttrain\n", encoding="utf-8")
    for folder, name in (("split", "train.tsv"), ("other", "corpus.tsv"), ("deep", "a/b/test.tsv")):
        (tmp_path / folder / name).parent.mkdir(parents=True)
        (tmp_path / folder / name).symlink_to(tmp_path / "secret")
        with pytest.raises(InputError, match="a link leads out of") as caught:
            init_suite(tmp_path / folder)
        assert "SECRET" not in str(caught.value)


def test_what_is_refused(data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "out.yaml"
    out.write_text("mine")
    (tmp_path / "empty").mkdir()
    empty = [(text, "ab"[i % 2] * (i > 2)) for i, text in enumerate(TEXTS)]
    write_table(tmp_path / "d" / "train.csv", ["text", "label"], empty, ",")
    refused = {data_dir: "out.yaml", Path("nowhere"): "nowhere", Path("empty"): "empty", Path("d"): "d"}
    for folder, file in {**refused, Path("d/train.csv"): "train.csv"}.items():
        with raises_input_error(file=file):
            init_suite(folder, out=out if folder == data_dir else None)
    with raises_input_error():
        init_suite(data_dir, name="a/b")
    assert out.read_text() == "mine" and [path.name for path in tmp_path.glob("*.yaml")] == ["out.yaml"]


def test_the_advice_answers_every_question(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_table(tmp_path / "d" / "rows.csv", KIND, [row[:3] for row in TONES], ";")
    assert main(["init-suite", str(tmp_path / "d"), "--out", str(tmp_path / "d.yaml")]) == 0
    told = capsys.readouterr().out
    for key in {line.split(": ")[2] for line in told.splitlines() if line.startswith("decide: ")}:
        assert f"tasks.rows.{key}" in told.splitlines()[-1]


def test_a_name_with_characters_that_do_not_print(tmp_path: Path) -> None:
    name = "rows\x1b[31m\u202e\n.csv"
    write_table(tmp_path / "d" / name, ["text", "label"], [row[:2] for row in TONES], ",")
    told = init_suite(tmp_path / "d", out=tmp_path / "d.yaml").summary
    assert all(line.isprintable() for line in told.splitlines())
    known = {"rows-31m": {"files": {"train": name}}}
    suite = load_suite(init_suite(tmp_path / "d", out=tmp_path / "answered.yaml", known=known).path)
    assert {task.files["train"] for task in suite.tasks.values()} == {name}


def test_the_answer_for_a_task_that_is_left_out_has_its_spans_read(tmp_path: Path) -> None:
    spans = [{"start": 0, "stop": 4, "label": "place"}]
    write_jsonl(tmp_path / "d" / "train.jsonl", [{"text": f"Oslo is number {i}", "spans": spans} for i in range(40)])
    with raises_input_error() as caught:
        init_suite(tmp_path / "d", out=tmp_path / "d.yaml")
    (answer,) = shlex.split(str(caught.value).rpartition("--answer ")[2])
    for word, key in {"TEXT": "text", "LIST": "spans", "START": "start", "END": "stop", "TYPE": "label"}.items():
        answer = answer.replace(word, key)
    made = init_suite(tmp_path / "d", out=tmp_path / "d.yaml", known=parse_answers([answer]))
    assert load_suite(made.path).tasks["d"].labels == ["O", "B-place"] and "not read" not in made.summary


def test_answers_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows, out = [row[:3] for row in TONES], tmp_path / "d.yaml"
    write_table(tmp_path / "d" / "train.csv", KIND, rows, ",")
    command = ["init-suite", str(tmp_path / "d"), "--language", "sv", "--out", str(out)]
    assert main(command) == 0
    assert 'decide: d: target: "tone" (3 values), "kind" (2 values) may be the target' in capsys.readouterr().out
    assert main(["audit", f"suite={out}", f"data_dir={tmp_path / 'd'}"]) == 2
    assert "tasks.d.decide: 1 question to answer" in capsys.readouterr().err
    out.unlink()
    for name in ("e.v1.2", "f", "g.files"):
        write_table(tmp_path / "d" / name / "dev.csv", KIND, rows, ",")
    files = ["tasks.e.v1.2.target=kind", "tasks.e.v1.2.files.train=dev.csv", "tasks.e.v1.2.files.dev=null"]
    files += ["tasks.g.files.target=kind", "tasks.g.files.answered_by=d"]
    assert main([*command, "--answer", "tasks.d.target=kind", "tasks.d.labels=[x, y]", *files]) == 0
    tasks = load_suite(out).tasks
    assert (tasks["d"].target, tasks["d"].labels, tasks["d"].text) == ("kind", ["x", "y"], ["text"])
    assert (tasks["e.v1.2"].files["train"], tasks["g.files"].answered_by, "f" in tasks) == ("dev.csv", "d", False)
    out.unlink()
    wrong = ["target=kind", "tasks.d=kind", "tasks.d.target=[", "tasks.other.target=kind", "tasks.d.rows=3"]
    wrong += ["tasks.d.target=[text]", "tasks.d.kind=nix", "tasks.d.header=text", "tasks.d.text=2001-99-99"]
    wrong += ["tasks.d.labels=null", "tasks.d.candidates=null", "tasks.d.header=1", "tasks.d.header=!!bool x"]
    wrong += [f"tasks.d.reading{rest}" for rest in ("=utf", ".encoding=punycode", ".x=1", ".form.x=1")]
    for answer in wrong:
        assert main([*command, "--answer", answer]) == 2 and not out.exists(), answer


@pytest.mark.parametrize(
    "answers",
    [
        *("target=nix", "group=nix", "text=tone", "labels=[a, b]", "positive=d", "files.dev=nix.csv", "files.dev=5", "metric=nix"),
        *("metric=rouge1", "answered_by=nix", "kind=number", "target=score range=[1]", "scored=test", "candidates=text", "kind=nix"),
        *("kind=answer text=[text, 5]", "files.train=null files.dev=null"),
    ],
)  # fmt: skip
def test_an_answer_that_fits_nothing_is_one_line_with_what_there_is(tmp_path: Path, answers: str) -> None:
    for split in ("train", "dev"):
        write_table(tmp_path / "d" / f"{split}.csv", TONE, TONES, ",")
    named = answers if answers.startswith("target") else f"target=tone {answers}"
    known = parse_answers([f"tasks.d.{answer}" for answer in re.split(r" (?=\S+=)", named)])
    with raises_input_error():
        init_suite(tmp_path / "d", out=tmp_path / "d.yaml", known=known)
    assert not (tmp_path / "d.yaml").exists()


def test_a_file_that_an_answer_names_is_read(tmp_path: Path) -> None:
    for name in ("train", "held"):
        write_table(tmp_path / "d" / f"{name}.csv", TONE, TONES, ",")
    for number, answers in enumerate(([], ["tasks.d.files.dev=held.csv"])):
        known = parse_answers(["tasks.d.target=tone", *answers])
        made = init_suite(tmp_path / "d", out=tmp_path / f"{number}.yaml", known=known)
        assert ('not read: 1 file named after no split: "held.csv"' in made.summary) == (not answers)


# Texts that YAML reads as something else, or not at all, when they stand there without quotes.
NASTY = [
    "yes", "no", "on", "off", "true", "null", "~", "", "0", "1", "1.0", "1e-4", "0x1f", "1_000", "12:30", "2020-01-01",
    "a: b", "a #b", "- a", "[a", "{a", "a,b", "'", '"', "\\", "*a", "&a", "!a", "%a", "@a", "`a", "|", ">", "?", "=", "<<",
    " a", "a ", "a\nb", "a\r", "a\tb", "a\0b", "\x1b[31m", "\x7f", "a\x85b", "a\u2028b", "\ufeff", "\ufffe", "żółw", "😀",
    "long " * 60,
]  # fmt: skip


@pytest.mark.parametrize("text", NASTY)
def test_a_text_reads_back_as_the_same_text(text: str) -> None:
    line = f"value: [{scalar(text)}]  # a comment"
    assert len(line.splitlines()) == 1
    assert OmegaConf.to_container(OmegaConf.create(line))["value"] == [text]
    assert yaml.safe_load(line)["value"] == [text]


def test_no_comment_breaks_out_of_its_line() -> None:
    evil = "a\nname: evil\r\x85\u2028\x1b[31m"
    keys = {"text": ["text"], "target": "label", "labels": ["0", "yes"], "metric": "accuracy"}
    guesses = [
        Guess(id, "my mood", {"train": "train.tsv"}, keys=keys, why={"target": evil}, questions=[evil], notes=[evil], problem=problem)
        for id, problem in (("a", None), ("b", evil))
    ]  # fmt: skip
    text = SuiteGuess("mine", "sv", guesses, DataFolder(Path("data"), []), Path("my data"), Path("mine.yaml")).document
    assert yaml.safe_load(text)["name"] == "mine" and list(yaml.safe_load(text)["tasks"]) == ["a"]
    assert not any(line.startswith("name: evil") for line in text.splitlines()) and "\x1b" not in text
