from pathlib import Path

import pytest
import yaml
from data_files import sentences, write_jsonl, write_table
from input_errors import raises_input_error
from omegaconf import OmegaConf

from mtl.api.cli import main
from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite.init_suite import init_suite, known_answers, scalar, suite_document
from mtl.benchmark_making.init_suite.reading import Guess
from mtl.data.dataset import load_dataset
from mtl.tasks.suite import load_suite

TEXTS, OTHERS = sentences(40), sentences(40, "another")


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


def test_load_suite_takes_the_file(data_dir: Path, tmp_path: Path) -> None:
    done = init_suite(data_dir, language="pl", out=tmp_path / "out.yaml")
    suite = load_suite(done.path)
    assert (suite.name, suite.language, list(suite.tasks)) == ("my-bench", "pl", ["mood", "pairs", "sts"])
    mood, pairs, sts = suite.tasks.values()
    assert (mood.text, mood.target, mood.labels) == (["text"], "target", ["0", "no", "off", "yes"])
    assert mood.files == {"train": "train.tsv", "dev": "dev.tsv", "test": "test.tsv"}
    assert mood.rows == {"train": 40, "dev": 40, "test": 40}
    assert (pairs.text, pairs.labels, pairs.group) == (["question", "answer"], ["0", "1"], "q_id")
    assert (pairs.metric, pairs.positive, pairs.files["dev"]) == ("f1", "1", None)
    assert (sts.range, sts.metric, sts.labels) == ([0, 4], "spearman", None)


def test_the_summary_has_a_line_for_each_task(data_dir: Path, tmp_path: Path) -> None:
    write_table(data_dir / "broken" / "train.tsv", ["text"], [[text] for text in TEXTS])
    (data_dir / "notes").mkdir()
    (data_dir / "notes" / "sheet.tsv").touch()
    out = tmp_path / "out.yaml"
    lines = init_suite(data_dir, out=out).summary.splitlines()
    assert lines == [
        'broken  not decided: no column looks like a target: train.tsv has "text"; name the column label',
        'mood    target "target": 4 labels, accuracy; text "text"; train 40, dev 40, test 40',
        'pairs   target "target": 2 labels, f1; text "question", "answer"; train 40, no dev, no test',
        'sts     target "score": numbers 0 to 4, spearman; text "text"; train 40, dev 40, no test',
        "language: not guessed, the file says en; set it, or give --language",
        'not read: 1 file named after no split: "notes/sheet.tsv"',
        f"{out}: 3 tasks, and 1 as comments; check it, then: mtl audit suite={out} data_dir='{data_dir}'",
    ]
    assert list(load_suite(out).tasks) == ["mood", "pairs", "sts"]


def test_load_suite_takes_every_kind_of_target_and_split(tmp_path: Path) -> None:
    """A choice that is scored on test, words, and a task without training rows that another task answers."""
    words = [a + b for a in "abcde" for b in "klmnopqr"]
    faq = [{"question": t, "answers": [t[::-1], "it is not"], "label": i % 2} for i, t in enumerate(TEXTS)]
    analogy = [{"a": a, "b": b, "label": c} for a, b, c in zip(words, words[::-1], words, strict=True)]
    nli = [{"a": a, "b": b, "label": "xyz"[i % 3]} for i, (a, b) in enumerate(zip(TEXTS, OTHERS, strict=True))]
    gender = [row for row in nli if row["label"] != "z"]
    files = {"faq_train": faq, "faq_test": faq, "analogy_train": analogy, "nli_train": nli, "gender_test": gender}
    for name, rows in files.items():
        write_jsonl(tmp_path / "data" / f"{name}.jsonl", rows)
    path = init_suite(tmp_path / "data", out=tmp_path / "out.yaml").path
    with raises_input_error(file="out.yaml"):
        load_suite(path)  # before its questions are answered
    content = yaml.safe_load(path.read_text())
    asked = {
        id: [question.partition(":")[0] for question in task.pop("decide", [])] for id, task in content["tasks"].items()
    }
    assert asked == {"analogy": [], "faq": [], "gender": ["answered_by"], "nli": []}
    path.write_text(yaml.safe_dump(content))
    written = content["tasks"]["gender"]
    assert written["files"] == {"train": None, "dev": None, "test": "gender_test.jsonl"} and "labels" not in written
    suite = load_suite(path)
    kinds = {"analogy": "word", "faq": "choice", "gender": "labels", "nli": "labels"}
    assert {id: task.kind for id, task in suite.tasks.items()} == kinds
    task = suite.tasks["faq"]
    assert (task.scored_split, task.text, task.candidates, task.sides) == ("test", ["question"], ["answers[]"], 2)
    task = suite.tasks["analogy"]
    assert (task.scored_split, task.files["dev"], task.text) == ("dev", None, ["a", "b"])
    task = suite.tasks["gender"]
    assert (task.answered_by, task.scored_split, task.labels) == ("nli", "test", ["x", "y", "z"])
    assert suite.choose(["nli", "gender"]) == [task, suite.tasks["nli"]]
    # The data is read with what was guessed.
    dataset = load_dataset(suite, suite.choose(None), tmp_path / "data", 0.1)
    assert dataset.scored(suite.tasks["faq"]).sizes is not None and len(dataset.scored(task)) == len(gender)


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


def test_what_is_refused(data_dir: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.yaml"
    out.write_text("mine")
    with raises_input_error(file="out.yaml"):
        init_suite(data_dir, out=out)
    assert out.read_text() == "mine"
    (tmp_path / "empty").mkdir()
    for folder in ("nowhere", "empty"):
        with raises_input_error(file=folder):
            init_suite(tmp_path / folder)
    with raises_input_error():
        init_suite(data_dir, name="a/b")


def test_without_a_task_nothing_is_written_and_a_file_is_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_table(
        tmp_path / "d" / "train.csv",
        ["text", "label"],
        [(text, "ab"[i % 2] * (i > 2)) for i, text in enumerate(TEXTS)],
        ",",
    )
    for _ in range(2):
        assert main(["init-suite", "d"]) == 2
        assert capsys.readouterr().err.startswith(
            "mtl: error: d: no task could be guessed, and no suite file is written: d: "
        )
    assert [path.name for path in tmp_path.iterdir()] == ["d"]
    assert main(["init-suite", "d/train.csv"]) == 2
    assert "d/train.csv: is a file; name its folder, d, in which it should be alone" in capsys.readouterr().err


def test_the_advice_answers_every_question(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [(f"{text} é", "abc"[i % 3], "xy"[i % 2]) for i, text in enumerate(TEXTS)]
    write_table(tmp_path / "d" / "rows.csv", ["text", "tone", "kind"], rows, ",")
    file = tmp_path / "d" / "rows.csv"
    file.write_bytes(file.read_text(encoding="utf-8").encode("cp1252"))
    assert main(["init-suite", str(tmp_path / "d"), "--out", str(tmp_path / "d.yaml")]) == 0
    told = capsys.readouterr().out
    for key in {line.split(": ")[2] for line in told.splitlines() if line.startswith("decide: ")}:
        assert f"tasks.rows.{key}" in told.splitlines()[-1]
    assert "tasks.rows.reading.encoding=cp1252" in told.splitlines()[-1]


def test_answers_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [(text, "abc"[i % 3], "xy"[i % 2]) for i, text in enumerate(TEXTS)]
    write_table(tmp_path / "d" / "train.csv", ["text", "tone", "kind"], rows, ",")
    out = tmp_path / "d.yaml"
    command = ["init-suite", str(tmp_path / "d"), "--language", "sv", "--out", str(out)]
    assert main(command) == 0
    assert 'decide: d: target: "tone" (3 values), "kind" (2 values) may be the target' in capsys.readouterr().out
    assert main(["audit", f"suite={out}", f"data_dir={tmp_path / 'd'}"]) == 2
    assert "tasks.d.decide: 1 question to answer" in capsys.readouterr().err
    out.unlink()
    assert main([*command, "--answer", "tasks.d.target=kind", "tasks.d.labels=[x, y]"]) == 0
    task = load_suite(out).tasks["d"]
    assert (task.target, task.labels, task.text) == ("kind", ["x", "y"], ["text"])
    out.unlink()
    for name in ("e.v1.2", "f", "g", "h"):
        write_table(tmp_path / "d" / name / "dev.csv", ["text", "tone", "kind"], rows, ",")
    files = ["tasks.e.v1.2.target=kind", "tasks.e.v1.2.files.train=dev.csv", "tasks.e.v1.2.files.dev=null"]
    assert main([*command, "--answer", "tasks.d.target=kind", *files]) == 0
    assert load_suite(out).tasks["e.v1.2"].files == {"train": "dev.csv", "dev": None, "test": None}
    assert "decide: f, g, h: answered_by: no training rows" not in capsys.readouterr().out
    out.unlink()
    wrong = ["target=kind", "tasks.d=kind", "tasks.d.target=[", "tasks.other.target=kind", "tasks.d.rows=3"]
    wrong += ["tasks.d.target=[text]", "tasks.d.kind=nix", "tasks.d.header=text", "tasks.d.text=2001-99-99"]
    wrong += [f"tasks.d.reading{rest}" for rest in ("=utf", ".encoding=punycode", ".x=1", ".form.x=1")]
    for answer in wrong:
        assert main([*command, "--answer", answer]) == 2 and not out.exists(), answer


@pytest.mark.parametrize(
    ("answers", "there"),
    [
        ("target=nix", '"text", "tone", "score"'),
        ("group=nix", '"text", "tone", "score"'),
        ("text=tone", '"tone" is the target'),
        ("labels=[a, b]", '"a", "b", "c"'),
        ("positive=d", '"a", "b", "c"'),
        ("files.dev=nix.csv", "dev.csv, train.csv"),
        ("files.dev=5", "dev.csv, train.csv"),
        ("metric=nix", "accuracy, f1"),
        ("metric=rouge1", "kind text"),
        ("answered_by=nix", "not a task"),
        ("kind=number", '"a", "b", "c"'),
        ("target=score range=[1]", "[smallest, largest]"),
        ("scored=test", "no test file"),
    ],
)
def test_an_answer_that_fits_nothing_is_one_line_with_what_there_is(tmp_path: Path, answers: str, there: str) -> None:
    rows = [(text, "abc"[i % 3], i % 7) for i, text in enumerate(TEXTS)]
    for split in ("train", "dev"):
        write_table(tmp_path / "d" / f"{split}.csv", ["text", "tone", "score"], rows, ",")
    named = answers if answers.startswith("target") else f"target=tone {answers}"
    known = known_answers([f"tasks.d.{answer}" for answer in named.split(" ", 1)])
    with raises_input_error() as raised:
        init_suite(tmp_path / "d", out=tmp_path / "d.yaml", known=known)
    assert there in str(raised.value) and not (tmp_path / "d.yaml").exists()


@pytest.mark.parametrize(
    ("answers", "kind", "metric"),
    [
        (["tasks.d.range=[1,5]"], "number", "spearman"),
        (["tasks.d.kind=labels"], "labels", "accuracy"),
        (['tasks.d.labels=["1","2","3","4","5"]', "tasks.d.metric=macro_f1"], "labels", "macro_f1"),
    ],
)
def test_answers_settle_the_questions_of_the_kind(tmp_path: Path, answers: list[str], kind: str, metric: str) -> None:
    rows = [(text, str(1 + i % 5)) for i, text in enumerate(TEXTS)]
    write_table(tmp_path / "d" / "train.csv", ["text", "label"], rows, ",")
    known = known_answers(answers)
    task = load_suite(init_suite(tmp_path / "d", out=tmp_path / "d.yaml", known=known, undecided=False).path).tasks["d"]
    assert (task.kind, task.metric, task.decide) == (kind, metric, [])


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


def guess(**changes: object) -> Guess:
    made = Guess("mood", "my mood", {"train": "train.tsv", "dev": None, "test": None}, {"train": 12}, "labels")
    made.keys = {"text": ["text"], "target": "label", "labels": ["0", "yes"], "metric": "accuracy"}
    made.why = {"target": "by its name", "labels": "x" * 120}
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def document(*guesses: Guess, language: str | None = "sv") -> str:
    return suite_document("mine", language, guesses, Path("my data"), Path("mine.yaml"))


def test_a_task_with_its_comments() -> None:
    assert document(guess(questions=["metric: choose"], notes=["look"])) == (
        "# Guessed by `mtl init-suite`. The comments say from what; correct what is wrong. Then:\n"
        "#   mtl audit suite=mine.yaml data_dir='my data'\n"
        "#   mtl baseline suite=mine.yaml data_dir='my data' preset=strong seeds=1\n"
        "name: mine\n"
        "language: sv\n"
        "\n"
        "tasks:\n"
        "  mood:\n"
        "    # look\n"
        "    decide:  # correct the keys below and delete each answered line; the suite does not run before\n"
        '      - "metric: choose"\n'
        '    folder: "my mood"\n'
        "    text: [text]\n"
        "    target: label  # by its name\n"
        f"    # labels: {'x' * 120}\n"
        '    labels: ["0", "yes"]\n'
        "    metric: accuracy\n"
        "    files: {train: train.tsv, dev: null, test: null}\n"
        "    rows: {train: 12}\n"
    )


def test_a_task_with_a_problem_is_a_comment_that_is_yaml_without_its_marks() -> None:
    text = document(guess(), guess(id="other", problem="train.tsv:2: not UTF-8"), language=None)
    assert "\nlanguage: en  # not guessed: set the language of the tokenizer\n" in text
    assert list(yaml.safe_load(text)["tasks"]) == ["mood"]
    assert "\n  # Not decided: train.tsv:2: not UTF-8\n" in text
    below = text.split("not UTF-8\n")[1]
    assert yaml.safe_load(below.replace("  # ", "  "))["other"]["folder"] == "my mood"
    assert yaml.safe_load(document(guess(problem="no")))["tasks"] == {}


def test_no_comment_breaks_out_of_its_line() -> None:
    evil = "a\nname: evil\r\x85\u2028\x1b[31m"
    text = document(guess(why={"target": evil}, questions=[evil], notes=[evil]), guess(id="b", problem=evil))
    assert yaml.safe_load(text)["name"] == "mine"
    assert not any(line.startswith("name: evil") for line in text.splitlines())
    assert "\x1b" not in text
