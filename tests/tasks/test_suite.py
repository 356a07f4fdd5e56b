import re
from pathlib import Path

import pytest
from alpha_suite import write_alpha_suite
from input_errors import raises_input_error
from kinds_suite import write_kinds_suite
from spans_suite import write_spans_suite

from mtl.base.errors import InputError
from mtl.tasks.suite import load_suite

CHECKSUM = "  kansla:\n    source: {url: https://x/y.zip}\n    checksums: {dev: '"


def replaced(path: Path, old: str, new: str) -> Path:
    """The suite file, in which the first `old` now is `new`."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return path


def test_further_metrics_breakdowns_and_the_scale(tmp_path: Path) -> None:
    path = write_alpha_suite(tmp_path)
    suite = load_suite(path)
    assert suite.shown.show(28.6) == "0.286" and load_suite(write_kinds_suite(tmp_path)).shown.show(28.6) == "28.6"
    assert suite.tasks["entailment"].further_columns == ["triple", "phenomenon"]
    assert suite.tasks["answer"].chance == "1/4"
    text = path.read_text(encoding="utf-8")
    for old, new, complaint in (
        ("scale: 1", "scale: 10", "scale=10: must be one of 100, 1"),
        ("[accuracy, macro_f1]", "[accuracy, f2]", "tasks.stance.also: unknown metric 'f2'"),
        ("[accuracy, macro_f1]", "[accuracy, alpha_nominal]", "tasks.stance.also: names alpha_nominal twice"),
        ("[accuracy, macro_f1]", "[accuracy, accuracy]", "tasks.stance.also: names accuracy twice"),
        ("[accuracy, macro_f1]", "[spearman]", "tasks.stance.also: spearman is for targets of kind number"),
        ("[accuracy, macro_f1]", "[f1]", "tasks.stance.positive: name the label"),
        ("[accuracy, macro_f1]", "[gender_parity]", "tasks.stance.columns: metric gender_parity needs one column"),
        ("chance: 1/4", "chance: 4/1", "tasks.answer.chance: 4/1 must be below 1"),
        ("    chance: 1/4\n", "", "tasks.answer.chance: metric pseudo_alpha needs"),
        ("[phenomenon]", '["a[]"]', "tasks.entailment.breakdown: a[]: a column of lists"),
    ):
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")
        with pytest.raises(InputError, match=re.escape(complaint)):
            load_suite(path)


def test_the_target_kind_follows_from_the_declaration(tmp_path: Path) -> None:
    tasks = load_suite(write_kinds_suite(tmp_path)).tasks
    assert [task.kind for task in tasks.values()] == ["labels", "number", "choice", "word", "labels"]
    assert tasks["mood-elsewhere"].labels == ["bad", "good"]  # of the task whose head answers
    assert [task.scored_split for task in tasks.values()] == ["dev", "dev", "dev", "test", "test"]


@pytest.mark.parametrize(
    ("suite", "old", "new", "complaint"),
    [
        (
            "small",
            "metric: accuracy",
            "metric: acc",
            "tasks.kansla.metric: unknown metric 'acc'; did you mean accuracy?",
        ),
        (
            "small",
            "metric: accuracy",
            "metric: f1_macro",
            "tasks.kansla.metric: unknown metric 'f1_macro'; did you mean macro_f1?",
        ),
        (
            "small",
            "metric: accuracy",
            "metric: accuracy+F1-macro",
            "tasks.kansla.metric: unknown metric 'F1-macro'; did you mean macro_f1?",
        ),
        (
            "small",
            "metric: accuracy",
            "metric: f1_micro",
            "tasks.kansla.metric: unknown metric 'f1_micro'; did you mean accuracy?",
        ),
        (
            "small",
            "metric: accuracy",
            "metric: f1_score",
            "tasks.kansla.metric: unknown metric 'f1_score'; did you mean f1?",
        ),
        (
            "small",
            "metric: accuracy",
            "metric: accuracy_score",
            "tasks.kansla.metric: unknown metric 'accuracy_score'; did you mean accuracy?",
        ),
        (
            "small",
            "metric: accuracy",
            "metric: mcc",
            "tasks.kansla.metric: unknown metric 'mcc'; did you mean matthews?",
        ),
        (
            "small",
            "metric: spearman",
            "metric: pearsonr",
            "tasks.betyg.metric: unknown metric 'pearsonr'; did you mean pearson?",
        ),
        (
            "small",
            "metric: spearman",
            "metric: mae",
            "tasks.betyg.metric: unknown metric 'mae'; targets of kind number have spearman, pearson,",
        ),
        (
            "small",
            "metric: accuracy",
            "metric: roc_auc",
            "tasks.kansla.metric: unknown metric 'roc_auc'; targets of kind labels have accuracy, f1,",
        ),
        ("small", "metric: accuracy", "metric: spearman", "tasks.kansla.metric: spearman is for targets of kind"),
        ("small", "[glad, arg]", "[yes, no]", "tasks.kansla.labels.0: YAML reads yes"),
        ("small", "language: sv", "language: no", "language: YAML reads yes, no, on, off, true and false as truth"),
        ("small", "language: sv", "embeddings: {fasttext: /etc/passwd}", "embeddings.fasttext: '/etc/passwd' must be"),
        ("small", "labels: [glad, arg]", "", "tasks.kansla.labels: exactly one of"),
        ("small", "[a, b]", "[a, b, c]", "tasks.samma.text: names one column, or two"),
        ("small", 'positive: "1"', "", "tasks.samma.positive: name the label that metric f1"),
        ("small", "[0, 10]", "[10, 0]", "tasks.betyg.range: must be"),
        ("small", "dev: null, test: null", "train: null", "tasks.samma.files: a task needs a train file"),
        ("small", "dev: null, test: null", "valid: null", "tasks.samma.files: unknown split valid"),
        ("small", "  kansla:", "  ../kansla:", "id: a task's id names files"),
        ("small", "  kansla:", "  average:", "tasks.average.id: 'average' names the average of all tasks"),
        ("small", "folder: pairs", "folder: ../pairs", "tasks.samma.folder: '../pairs' must be a path below the data"),
        ("small", "dev: null, test: null", "dev: null, test: ../t.tsv", "tasks.samma.files.test: '../t.tsv' must be a"),
        ("small", "folder: pairs", "source: {url: 'file:///etc/x'}", "tasks.samma.source.url: 'file:///etc/x' must"),
        ("small", "folder: pairs", "source: {url: 'https://x/a.zip', sha256: zz}", "tasks.samma.source.sha256: 'zz'"),
        ("small", "folder: pairs", "source: {url: 'http://x/${oc.env:HOME}'}", "tasks.samma.source.url: holds '${'"),
        ("small", "group: topic", 'same_source: "2"', "tasks.samma.same_source: names a label"),
        ("small", "group: topic", 'group: topic\n    same_source: "1"', "same_source: a task has either group or"),
        ("small", "  kansla:", '  kansla:\n    same_source: "glad"', "tasks.kansla.same_source: names a label of a"),
        ("small", "target: score", "goal: score", "tasks.betyg.goal"),
        ("small", "text: [a, b]", "", "tasks.samma.text"),
        ("small", "  kansla:", "  kansla:\n    kind: tal", "tasks.kansla.kind: unknown kind 'tal', expected one of"),
        ("small", "  kansla:", "  kansla:\n    candidates: [x]", "tasks.kansla.labels: exactly one of"),
        ("small", "  kansla:", "  kansla:\n    scored: train", "tasks.kansla.scored=train: must be one of dev, test,"),
        ("small", "group: topic", "scored: test", "tasks.samma.scored: scores are on test, but the task has no test"),
        ("small", "  kansla:", "  kansla:\n    answered_by: betyg", "tasks.kansla.answered_by: task betyg has other"),
        ("small", "  kansla:", "  kansla:\n    answered_by: humor", "answered_by: 'humor' is not a task of the suite"),
        ("small", "group: topic", "scored: dev_or_test", "tasks.samma.scored: dev_or_test is for a task with names of"),
        ("small", "language: sv", "average: [kansla, humor]", "average: the suite has no task humor; it has kansla,"),
        ("small", "language: sv", "average: [kansla, kansla]", "average: must name at least one task, and none twice"),
        (
            "small",
            "language: sv",
            "average: [[[kansla]]]",
            "average: names tasks, and lists of tasks that count as one",
        ),
        ("small", "language: sv", "source: {url: 'ftp://x/{file}'}", "tasks.kansla.source.url: 'ftp://x/{file}' must"),
        ("small", "language: sv", "files: {train: '../{task}.tsv'}", "tasks.kansla.files.train: '../kansla.tsv' must"),
        ("small", "  kansla:", "  kansla:\n    checksums: {train: 'git:123'}", "checksums.train: 'git:123' must be"),
        ("small", "  kansla:", "  kansla:\n    checksums: {valid: x}", "tasks.kansla.checksums: unknown split valid"),
        ("small", "  kansla:", CHECKSUM + f"git:{40 * '0'}'}}", "tasks.kansla.checksums: are of single files"),
        ("small", "language: sv", "language: [", ":4: not YAML"),
        ("kinds", "text: [question]", 'text: ["a[]"]', "answer.text: a column with lists of texts can only be one of"),
        ("kinds", "kind: word", "kind: word\n    range: [0, 1]", "opposite.range: a task of kind word has no range"),
        ("kinds", "by: mood", "by: stars", "mood-elsewhere.metric: accuracy is for targets of kind labels or choice"),
        ("kinds", "by: mood", "by: answer", "mood-elsewhere.answered_by: task answer has a different number of texts"),
        ("kinds", "by: mood", "by: mood\n    labels: [a, b]", "mood-elsewhere.answered_by: task mood has other"),
        ("kinds", "{train: null, dev: null}", "{dev: null}", "mood-elsewhere.answered_by: is for a task without"),
        ("kinds", "{train: null, dev: null}", "{train: null, test: null}", "scored: scores are on test, but the task"),
        ("kinds", "    kind: word\n", "    kind: word\n    answered_by: mood-elsewhere\n", "'mood-elsewhere' is not a"),
        ("spans", "spans: {text:", "spans: {texts:", "refers.spans: 'texts' is not one of the text columns text"),
        ("spans", "candidate.location]", "pronoun.location]", "refers.spans: names for each text one span column or"),
        ("spans", "{text: [pronoun.location, candidate.location]}", "{}", "refers.spans: names for each text one span"),
        ("spans", "candidate.location]", '"candidate[]"]', "refers.spans: a span column holds an object with start"),
        (
            "spans",
            "candidate.location]",
            "a + b + c]",
            "refers.spans: a span is one column with start and stop, or two",
        ),
        ("spans", 'labels: ["no", "yes"]', "candidates: [a, b]", "refers.spans: a choice has no spans"),
        ("spans", "spans: {text: [pronoun.location, candidate.location]}", "spans: [pronoun]", "spans"),
    ],
)
def test_a_wrong_suite_file_is_one_line_that_names_the_key(
    suite_file: Path, tmp_path: Path, suite: str, old: str, new: str, complaint: str
) -> None:
    path = suite_file if suite == "small" else {"kinds": write_kinds_suite, "spans": write_spans_suite}[suite](tmp_path)
    with pytest.raises(InputError) as caught:
        load_suite(replaced(path, old, new))
    assert str(caught.value).startswith(f"{path}:") and complaint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_that_are_no_suite(tmp_path: Path) -> None:
    with raises_input_error(file="none.yaml"):
        load_suite(tmp_path / "none.yaml")
    for content in (b"", b"- a\n", b"just text", b"\xff\xfe", b"name: x\n", b"name: x\ntasks: {}\n"):
        path = tmp_path / "bad.yaml"
        path.write_bytes(content)
        with raises_input_error(file="bad.yaml"):
            load_suite(path)


def test_choose_and_declared_spans_and_levels(suite_file: Path, tmp_path: Path) -> None:
    suite = load_suite(suite_file)
    assert [task.id for task in suite.choose(["betyg", "kansla"])] == ["kansla", "betyg"]
    with raises_input_error(key="tasks"):
        suite.choose(["humor"])
    with raises_input_error(key="tasks"):
        suite.choose([])
    tasks = load_suite(write_spans_suite(tmp_path)).tasks
    assert tasks["sense"].marked == [(0, "first.word.location"), (1, "second.word.location")]
    assert tasks["refers"].spans == {"text": ["pronoun.location", "candidate.location"]}
    replaced(suite_file, "text: [a, b]", "text: [a, b, c]\n    level: word")
    assert load_suite(suite_file).tasks["samma"].sides == 3


def test_a_head_answers_only_tasks_with_the_same_spans(tmp_path: Path) -> None:
    path = write_spans_suite(tmp_path)
    answered = """\
  answered:
    folder: refers
    text: [text]
    SPANS
    target: label
    metric: accuracy
    answered_by: refers
    files: {train: null}
"""
    whole = path.read_text(encoding="utf-8")
    for spans, good in (("spans: {text: [a, b]}", True), ("spans: {text: [a]}", False), ("", False)):
        path.write_text(whole + answered.replace("    SPANS\n", f"    {spans}\n" if spans else ""), encoding="utf-8")
        if good:
            assert load_suite(path).tasks["answered"].marked == [(0, "a"), (0, "b")]
        else:
            with raises_input_error(file="spans.yaml"):
                load_suite(path)


def test_keys_of_the_suite_apply_to_its_tasks(suite_file: Path) -> None:
    keys = "files: {train: '{task}.tsv', test: null}\nsource: {url: 'https://x/{folder}/{file}'}\naverage: [betyg, kansla]\n"
    own = "  kansla:\n    source: {url: https://y/z.zip}\n    files: {dev: '{task}_{task}'}\n"
    text = keys + suite_file.read_text(encoding="utf-8").replace("  kansla:\n", own)
    suite_file.write_text(text, encoding="utf-8")
    suite = load_suite(suite_file)
    kansla, samma, betyg = suite.tasks.values()
    assert kansla.files == {"train": "kansla.tsv", "dev": "kansla_kansla", "test": None}
    assert samma.files == {"train": "samma.tsv", "dev": None, "test": None}
    assert betyg.source and betyg.source.single_files
    assert betyg.source.address("a b/å", "c.tsv") == "https://x/a%20b/%C3%A5/c.tsv"
    assert kansla.source and kansla.source.url == "https://y/z.zip" and not kansla.source.single_files
    assert suite.averaged == ["kansla", "betyg"]
    assert suite.mean({"samma": 1.0}) is None and suite.mean({"samma": 1.0, "betyg": 4.0, "kansla": 3.0}) == 3.5
    assert suite.lacking(["samma", "betyg"]) == ["kansla"]


def test_tasks_in_one_list_of_the_average_count_as_one(tmp_path: Path) -> None:
    path = write_kinds_suite(tmp_path)
    ids = list(load_suite(path).tasks)[:4]
    suite = load_suite(replaced(path, "tasks:", f"average: [{ids[2]}, [{ids[1]}, {ids[0]}]]\ntasks:"))
    scores = {ids[0]: 10.0, ids[1]: 30.0, ids[2]: 80.0, ids[3]: 0.0}
    assert suite.averaged == ids[:3]
    assert suite.mean(scores) == (80 + (10 + 30) / 2) / 2
    assert suite.mean({ids[0]: 10.0, ids[2]: 80.0}) == 45.0  # the list's mean is over those that are there
    assert suite.mean({ids[3]: 1.0}) is None
    divisors = suite.divisors(scores)
    assert divisors == {ids[0]: 4, ids[1]: 4, ids[2]: 2}
    assert sum(scores[id] / divisor for id, divisor in divisors.items()) == suite.mean(scores)
    assert suite.average_text == f"{ids[2]}, ({ids[1]} + {ids[0]}) / 2"
    assert suite.lacking({ids[0]: 1.0}) == ids[1:3]


def test_a_published_row_may_have_further_metrics(tmp_path: Path) -> None:
    path = write_kinds_suite(tmp_path)
    row = "published: [{model: a, family: lstm, also: {mood: {f1: 71.9}}}]\ntasks:"
    assert load_suite(replaced(path, "tasks:", row)).published[0].also == {"mood": {"f1": 71.9}}
    with pytest.raises(InputError, match="published: a: also: 'accurracy' is no metric"):
        load_suite(replaced(path, "{f1:", "{accurracy:"))
