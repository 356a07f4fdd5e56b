"""`mtl leaderboard`: submissions from checks to the site."""

import json
import random
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from data_files import read_json, write_jsonl, write_lines

from mtl.api.cli import main
from mtl.base.errors import InputError
from mtl.benchmark_making.leaderboard import leaderboard, scoring, submission
from mtl.benchmark_making.leaderboard.leaderboard import Rules, check_submissions, make_leaderboard
from mtl.tasks.suite import load_suite

ROWS = 60
SUITE = """
name: tiny
title: "Tiny <b>"
tasks:
  mood:
    files: {train: train.tsv, dev: null, test: test.tsv}
    folder: mood
    text: [text]
    target: label
    labels: [bad, good]
    metric: accuracy
  close:
    files: {train: train.jsonl, dev: null, test: test.jsonl}
    folder: close
    text: [one, two]
    target: label
    range: [0, 5]
    metric: spearman
submission:
  ids: [id]
"""


OTHER = {"bad": "good", "good": "bad"}
MOODS = random.Random(1).choices(["bad", "good"], k=ROWS)
CLOSE: list[dict[str, Any]] = [{"id": n, "one": f"a {n}", "two": f"b {n}", "label": None} for n in range(ROWS)]


def write_rows(folder: Path, rows: Sequence[dict[str, Any]]) -> None:
    write_jsonl(folder / "close/test.jsonl", rows)


def write_data(folder: Path, with_labels: bool) -> None:
    """The test files of both tasks."""
    lines = ["text\tlabel", *(f"text {n}\t{mood}" for n, mood in enumerate(MOODS))]
    write_lines(folder / "mood/test.tsv", lines if with_labels else [line.partition("\t")[0] for line in lines])
    write_rows(folder, [{**row, "label": n % 6 if with_labels else None} for n, row in enumerate(CLOSE)])


def write_submission(folder: Path, share: float, seed: int = 0, about: str = "", tasks: str = "mood close") -> Path:
    """A submission in which this share of the answers is right."""
    rng = random.Random(seed)
    folder.mkdir(parents=True)
    if about:
        (folder / "system.yaml").write_text(about, encoding="utf-8")
    answers = [mood if rng.random() < share else OTHER[mood] for mood in MOODS]
    if "mood" in tasks:
        write_lines(folder / "test_pred_mood.tsv", ["target", *answers])
    if "close" in tasks:
        numbers = [n % 6 + (1 - share) * rng.uniform(-6, 6) for n in range(ROWS)]
        rows = [{**row, "prediction": min(5.0, max(0.0, n))} for row, n in zip(CLOSE, numbers, strict=True)]
        write_rows(folder, rows)
    return folder


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the suite, its data with and without labels, and three submissions."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.yaml").write_text(SUITE, encoding="utf-8")
    write_data(tmp_path / "gold", True)
    write_data(tmp_path / "public", False)
    write_submission(
        tmp_path / "all/good", 0.95, 1, "title: Good\nteam: A\ndate: 2026-11-02\nlink: https://example.org\n"
    )
    write_submission(tmp_path / "all/fair", 0.9, 2, "title: '<script>alert(1)</script>'\nteam: B\ndate: 2026-11-03\n")
    write_submission(tmp_path / "all/poor", 0.4, 3)
    return tmp_path


RUN = ["leaderboard", "tiny.yaml", "all", "gold=gold", "out=site"]


def content(home: Path) -> dict[str, Any]:
    return read_json(home / "site/leaderboard.json")


def by_name(home: Path) -> dict[str, dict[str, Any]]:
    return {system["name"]: system for system in content(home)["systems"]}


def report_of(page: Path) -> dict[str, Any]:
    """The data that a page holds."""
    return json.loads(page.read_text(encoding="utf-8").partition('id="report">')[2].partition("</script>")[0])


def files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def test_scores_ranks_and_files(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["leaderboard", "tiny.yaml", "all", "data_dir=public"]) == 0
    assert capsys.readouterr().out.splitlines() == ["fair: valid", "good: valid", "poor: valid"]
    assert not (home / "site").exists()
    assert main(RUN) == 0
    board = content(home)
    assert (board["suite"], board["split"]) == ("tiny", "test")
    assert [system["name"] for system in board["systems"]] == ["good", "fair", "poor"]
    assert board["refused"] == []
    for system in board["systems"]:
        answers = (home / f"all/{system['name']}/test_pred_mood.tsv").read_text(encoding="utf-8").split()[1:]
        accuracy = 100 * np.mean([answer == right for answer, right in zip(answers, MOODS, strict=True)])
        assert system["scores"]["mood"] == round(accuracy, 1)
    poor = by_name(home)["poor"]
    assert poor["rank"] == [3, 3] and by_name(home)["good"]["rank"][0] == 1
    assert set(files(home / "site")) == {
        *("index.html", "leaderboard.json", "mtl-files.json"),
        *(f"systems/{name}.html" for name in ("good", "fair", "poor")),
    }
    out = capsys.readouterr().out
    assert "good: valid" in out and "site/index.html" in out
    # Titles are shown as text.
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in (home / "site/systems/fair.html").read_text(encoding="utf-8")
    for name in ("index.html", "systems/fair.html", "systems/good.html"):
        assert "<script>alert" not in (home / f"site/{name}").read_text(encoding="utf-8")
    # Scores are rounded as the suite shows them.
    (suite,) = report_of(home / "site/index.html")["suites"]
    for row in suite["rows"]:
        for score in row["scores"].values():
            values = [score["median"], *score["interval"]]
            assert values == [round(value, 1) for value in values] and values[1] <= values[0] <= values[2]
        assert row["details"] is None
    assert suite["comparisons"] == {}


def test_the_same_folders_give_the_same_bytes_and_changed_labels_other_scores(home: Path) -> None:
    assert main(RUN) == 0
    first = files(home / "site")
    refused = make_leaderboard(load_suite(home / "tiny.yaml"), home / "all", home / "gold", home / "other", Rules())
    assert refused == {"fair": "", "good": "", "poor": ""} and files(home / "other") == first
    before = by_name(home)["good"]["scores"]["mood"]
    swapped = [f"text {n}\t{OTHER[mood]}" for n, mood in enumerate(MOODS)]
    write_lines(home / "gold/mood/test.tsv", ["text\tlabel", *swapped])
    assert main(RUN) == 0
    assert by_name(home)["good"]["scores"]["mood"] == pytest.approx(100 - before)


def test_a_reason_says_no_path_of_a_hidden_folder_and_keeps_names_that_end_like_one(tmp_path: Path) -> None:
    hidden = (Path("subs"), tmp_path / "gold", Path("gold"))
    for path, said in (("subs/marigold/a.tsv", "marigold/a.tsv"), (f"{tmp_path}/gold/a.tsv", "a.tsv"), ("gold/a", "a")):
        assert leaderboard._reason(InputError("bad", path=path), hidden) == f"{said}: bad"


def test_a_zip_the_same_predictions_twice_a_system_without_a_task_and_removed_ones(home: Path) -> None:
    """The rows of the zip are in another order: their ids say which they are."""
    (home / "all/zipped").mkdir()
    rows_of(home / "all/good", lambda rows: rows[::-1])
    with zipfile.ZipFile(home / "all/zipped/predictions.zip", "w") as archive:
        for file in ("test_pred_mood.tsv", "close/test.jsonl"):
            archive.write(home / "all/good" / file, file)
    rows_of(home / "all/good", lambda rows: rows[::-1])
    write_submission(home / "all/half", 0.9, 5, tasks="mood")
    assert main(RUN) == 0
    zipped, half = by_name(home)["zipped"], by_name(home)["half"]
    assert zipped["scores"] == by_name(home)["good"]["scores"] and zipped["same_predictions"] == ["good"]
    assert "The same predictions" in (home / "site/systems/good.html").read_text(encoding="utf-8")
    assert half["average"] is None and half["rank"] is None and set(half["scores"]) == {"mood"}
    assert content(home)["systems"][-1]["name"] == "half"
    (home / "site/CNAME").write_text("example.org", encoding="utf-8")
    (home / "all/poor").rename(home / "poor")
    assert main(RUN) == 0
    assert not (home / "site/systems/poor.html").exists() and (home / "site/CNAME").exists()


TEAMS = ["a", "\uff21", "a ", "\uff41"]  # one name in several spellings


def test_the_limit_of_a_team_in_a_month(home: Path) -> None:
    """A submission that is refused does not count."""
    for number, date in enumerate(["2026-11-04", "2026-11-01", "2026-12-01", "2026-11-01"]):
        write_submission(home / f"all/more-{number}", 0.5, number, f'team: "{TEAMS[number]}"\ndate: {date}\n')
    (home / "all/more-3/test_pred_mood.tsv").write_text("target\n", encoding="utf-8")
    assert main([*RUN, "limit=2"]) == 0
    refused = {each["name"]: each["reason"] for each in content(home)["refused"]}
    assert set(refused) == {"more-0", "more-3", "poor"} and "one more in" not in refused["more-3"]
    assert refused["more-0"].endswith("team a may make 2 submissions a month, and this is one more in 2026-11")
    assert "needs team and date" in refused["poor"]
    checked = check_submissions(load_suite(home / "tiny.yaml"), home / "all", home / "public", Rules(limit=2))
    assert {name for name, reason in checked.items() if reason} == set(refused)


Damage = Callable[[Path], object]


def lines_of(folder: Path, change: Callable[[list[str]], list[str]]) -> None:
    path = folder / "test_pred_mood.tsv"
    write_lines(path, change(path.read_text(encoding="utf-8").splitlines()))


def rows_of(folder: Path, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> None:
    lines = (folder / "close/test.jsonl").read_text(encoding="utf-8").splitlines()
    write_rows(folder, change([json.loads(line) for line in lines]))


def lines_to_json(folder: Path) -> None:
    """Predictions as JSON lines with ids, which the data file lacks."""
    (folder / "test_pred_mood.tsv").unlink()
    lines = [json.dumps({"id": str(n), "prediction": mood}) for n, mood in enumerate(MOODS)]
    write_lines(folder / "test_pred_mood.jsonl", lines)


BAD: dict[str, tuple[Damage, str]] = {
    "missing row": (lambda f: lines_of(f, lambda lines: lines[:-1]), "test_pred_mood.tsv:60: 59 predictions for the 60 rows of"),
    "label": (lambda f: lines_of(f, lambda lines: [*lines[:-1], "ugly"]), "test_pred_mood.tsv:61: "),
    "bytes": (lambda f: (f / "test_pred_mood.tsv").write_bytes(b"target\n\xff\n"), "test_pred_mood.tsv"),
    "another id": (
        lambda f: rows_of(f, lambda rows: [{**rows[0], "id": 999}, *rows[1:]]),
        "close/test.jsonl:1: the row on line 1 of close/test.jsonl, with one, two, id ",
    ),
    "out of range": (lambda f: rows_of(f, lambda rows: [{**rows[0], "prediction": "NaN"}, *rows[1:]]), "close/test.jsonl:1: "),
    "unknown task": (lambda f: (f / "test_pred_else.tsv").write_text("target\n"), "is no file of predictions of suite tiny"),
    "link": (lambda f: (f / "link.txt").symlink_to("/etc/passwd"), "bad/link.txt"),
    "zip": (lambda f: (f / "a.zip").write_bytes(b"PK"), "a.zip"),
    "two zips": (lambda f: [(f / name).write_bytes(b"PK") for name in ("a.zip", "b.zip")], "has 2 zips"),
    "yaml": (lambda f: (f / "system.yaml").write_text("title: [a"), "system.yaml:"),
    "unknown key": (lambda f: (f / "system.yaml").write_text("titel: a"), "system.yaml: unknown key 'titel'; did you mean title?"),
    "link to code": (lambda f: (f / "system.yaml").write_text("link: 'javascript:alert(1)'"), "system.yaml: link: must begin with"),
    "date": (lambda f: (f / "system.yaml").write_text("date: 2026-13-01"), "system.yaml: date: "),
    "long title": (lambda f: (f / "system.yaml").write_text(f"title: {'a' * 301}"), "system.yaml: title: must be one line"),
    "ids of no column": (lambda f: lines_to_json(f), "test_pred_mood.jsonl:1: has ids, and mood/test.tsv has no column id"),
    "escape in the name": (lambda f: f.rename(f.parent / "x\x1b[2J"), "x\\x1b[2J: must be a folder whose name has"),
    "nothing": (lambda f: [p.unlink() for p in (f / "test_pred_mood.tsv", f / "close/test.jsonl")], "has no predictions for test"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_submission_is_refused_in_one_line_and_stops_no_other(
    home: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The reason is short, and says neither where the labels are nor where the submissions are."""
    damage, message = BAD[kind]
    damage(write_submission(home / "all/bad", 0.9, 9))
    assert main([*RUN, f"gold={home / 'gold'}"]) == 0
    (refused,) = content(home)["refused"]
    assert message in refused["reason"] and "\n" not in refused["reason"] and len(refused["reason"]) <= 300
    assert str(home) not in refused["reason"]
    assert {system["name"] for system in content(home)["systems"]} == {"good", "fair", "poor"}
    assert f"{refused['name']}: refused: {refused['reason']}" in capsys.readouterr().out
    # Without labels the check says the same.
    assert main(["leaderboard", "tiny.yaml", str(home / "all"), f"data_dir={home / 'public'}"]) == 2
    shown = capsys.readouterr()
    assert message in shown.out and "all: 1 of 4 submissions would be refused" in shown.err
    assert str(home) not in shown.out


@pytest.mark.parametrize(("module", "name"), [(submission, "check_plain_folder"), (scoring, "score_submission")])
@pytest.mark.parametrize(
    "error", [RecursionError(), MemoryError(), KeyError("good"), PermissionError(13, "", "all/good")]
)
def test_no_error_of_one_submission_stops_the_others_or_is_published(
    home: Path, module: Any, name: str, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    function = getattr(module, name)

    def fail(folder: Path, *more: Any) -> Any:
        if folder.name == "good":
            raise error
        return function(folder, *more)

    monkeypatch.setattr(module, name, fail)
    assert main(RUN) == 0
    (refused,) = content(home)["refused"]
    assert refused == {"name": "good", "reason": f"cannot be read ({type(error).__name__})"}
    assert set(by_name(home)) == {"fair", "poor"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gold=gold"], "out: name the folder"),
        (["out=site"], "out: is used with gold= alone"),
        (["gold=public", "out=site"], "public: has no test file of suite tiny with a label in every row"),
        (["gold=gold", "out=site", "split=train"], "split=train: must be one of dev, test"),
        (["gold=gold", "out=site", "limit=0"], "limit=0: must be at least 1"),
        (["gold=gold", "out=site", "seeds=[1]"], "seeds: is not used"),
        (["gold=gold", "out=."], "gold: gold is in the folder of the site"),
        (["gold=gold", "out=www"], "www: is not empty, and no mtl-files.json"),
        (["none", "gold=gold", "out=site"], "none: holds no submission"),
        (["nowhere", "gold=gold", "out=site"], "nowhere: no such folder"),
    ],
)
def test_bad_arguments(home: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "none").mkdir()
    write_lines(home / "www/systems/thesis.html", ["mine"])
    folder = arguments[0] if "=" not in arguments[0] else "all"
    assert main(["leaderboard", "tiny.yaml", folder, *(word for word in arguments if "=" in word)]) == 2
    assert message in capsys.readouterr().err and not (home / "site").exists()
    assert files(home / "www") == {"systems/thesis.html": b"mine\n"}


def test_nothing_says_which_rows_are_right(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Two submissions with equal scores and errors on other rows give the same site, but for their names and the digest."""
    for name, wrong in (("one", 3), ("other", 4)):
        folder = write_submission(home / f"alone/{name}/{name}", 1.0, 7, tasks="mood")
        answers = [OTHER[mood] if number == wrong else mood for number, mood in enumerate(MOODS)]
        write_lines(folder / "test_pred_mood.tsv", ["target", *answers])
        assert main(["leaderboard", "tiny.yaml", f"alone/{name}", "gold=gold", f"out=sites/{name}"]) == 0
    one, other = (read_json(home / f"sites/{name}/leaderboard.json")["systems"][0] for name in ("one", "other"))
    assert {**one, "name": "", "title": ""} == {**other, "name": "", "title": ""}
    for name in ("one", "other"):
        report = report_of(home / f"sites/{name}/index.html")
        assert not any(word in json.dumps(report) for word in ("confusion", "points", "by_seed", "SHA"))
