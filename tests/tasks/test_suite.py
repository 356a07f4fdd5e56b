from pathlib import Path

import pytest
from alpha_suite import write_alpha_suite
from input_errors import raises_input_error, refused
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
    for old, new in (
        *(("scale: 1", "scale: 10"), ("[phenomenon]", '["a[]"]')),
        *(("[accuracy, macro_f1]", f"[{names}]") for names in ("accuracy, alpha_nominal", "accuracy, accuracy")),
        *(("[accuracy, macro_f1]", f"[{name}]") for name in ("spearman", "f1", "gender_parity")),
        *(("chance: 1/4", "chance: 4/1"), ("    chance: 1/4\n", "")),
    ):
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")
        refused(lambda: load_suite(path), file=path.name)


def test_the_target_kind_follows_from_the_declaration(tmp_path: Path) -> None:
    tasks = load_suite(write_kinds_suite(tmp_path)).tasks
    assert [task.kind for task in tasks.values()] == ["labels", "number", "choice", "word", "labels"]
    assert tasks["mood-elsewhere"].labels == ["bad", "good"]  # of the task whose head answers
    assert [task.scored_split for task in tasks.values()] == ["dev", "dev", "dev", "test", "test"]


SMALL = (
    *(("metric: accuracy", "metric: spearman"), ("[glad, arg]", "[yes, no]")),
    *(("language: sv", "language: no"), ("language: sv", "embeddings: {fasttext: /etc/passwd}")),
    *(("labels: [glad, arg]", ""), ("[a, b]", "[a, b, c]"), ('positive: "1"', ""), ("[0, 10]", "[10, 0]")),
    *(("dev: null, test: null", "train: null"), ("dev: null, test: null", "valid: null")),
    *(("  kansla:", "  ../kansla:"), ("  kansla:", "  average:"), ("folder: pairs", "folder: ../pairs")),
    *(("dev: null, test: null", "dev: null, test: ../t.tsv"), ("folder: pairs", "source: {url: 'file:///etc/x'}")),
    ("folder: pairs", "source: {url: 'https://x/a.zip', sha256: zz}"),
    *(("folder: pairs", "source: {url: 'http://x/${oc.env:HOME}'}"), ("group: topic", 'same_source: "2"')),
    *(("group: topic", 'group: topic\n    same_source: "1"'), ("  kansla:", '  kansla:\n    same_source: "glad"')),
    *(("target: score", "goal: score"), ("text: [a, b]", "")),
    *(("  kansla:", "  kansla:\n    candidates: [x]"), ("  kansla:", "  kansla:\n    scored: train")),
    *(("group: topic", "scored: test"), ("  kansla:", "  kansla:\n    answered_by: betyg")),
    *(("  kansla:", "  kansla:\n    answered_by: humor"), ("group: topic", "scored: dev_or_test")),
    *(("language: sv", "average: [kansla, humor]"), ("language: sv", "average: [kansla, kansla]")),
    *(("language: sv", "average: [[[kansla]]]"), ("language: sv", "language: swedish")),
    *(
        ("metric: accuracy", f"metric: {name}")
        for name in ("acc", "f1_macro", "accuracy+F1-macro", "f1_micro", "f1_score")
    ),
    *(("metric: accuracy", f"metric: {name}") for name in ("accuracy_score", "mcc", "roc_auc")),
    *(("metric: spearman", f"metric: {name}") for name in ("pearsonr", "mae")),
    ("language: sv", "source: {url: 'ftp://x/{file}'}"),
    ("language: sv", "files: {train: '../{task}.tsv'}"),
    ("  kansla:", "  kansla:\n    checksums: {train: 'git:123'}"),
    *(("  kansla:", "  kansla:\n    checksums: {valid: x}"), ("  kansla:", CHECKSUM + f"git:{40 * '0'}'}}")),
    ("language: sv", "language: ["),
)
KINDS = (
    *(("text: [question]", 'text: ["a[]"]'), ("kind: word", "kind: word\n    range: [0, 1]")),
    *(("by: mood", "by: stars"), ("by: mood", "by: answer"), ("by: mood", "by: mood\n    labels: [a, b]")),
    *(("{train: null, dev: null}", "{dev: null}"), ("{train: null, dev: null}", "{train: null, test: null}")),
    ("    kind: word\n", "    kind: word\n    answered_by: mood-elsewhere\n"),
)
SPANS = (
    *(("spans: {text:", "spans: {texts:"), ("candidate.location]", "pronoun.location]")),
    *(("{text: [pronoun.location, candidate.location]}", "{}"), ("candidate.location]", '"candidate[]"]')),
    *(("candidate.location]", "a + b + c]"), ('labels: ["no", "yes"]', "candidates: [a, b]")),
    ("spans: {text: [pronoun.location, candidate.location]}", "spans: [pronoun]"),
)


def test_a_copy_on_the_hub_without_a_commit_is_read(suite_file: Path) -> None:
    """A run's own suite file may have one; only `mtl data` refuses to download it."""
    replaced(suite_file, "folder: pairs", "folder: pairs\n    hub: {dataset: a/b}")
    assert any(task.hub for task in load_suite(suite_file).tasks.values())


def test_a_wrong_suite_file_is_one_line_that_names_the_key(suite_file: Path, tmp_path: Path) -> None:
    for path, changes in (
        (suite_file, SMALL),
        (write_kinds_suite(tmp_path), KINDS),
        (write_spans_suite(tmp_path), SPANS),
    ):
        whole = path.read_text(encoding="utf-8")
        for old, new in changes:
            path.write_text(whole, encoding="utf-8")
            replaced(path, old, new)
            with raises_input_error(file=path.name) as caught:
                load_suite(path)
            assert "\n" not in str(caught.value)
    refused(lambda: load_suite(tmp_path / "none.yaml"), file="none.yaml")
    for content in (b"", b"- a\n", b"just text", b"\xff\xfe", b"name: x\n", b"name: x\ntasks: {}\n"):
        path = tmp_path / "bad.yaml"
        path.write_bytes(content)
        refused(load_suite, path, file="bad.yaml")


def test_names_that_nothing_registers(suite_file: Path) -> None:
    whole = suite_file.read_text(encoding="utf-8")
    for old, new, problem in (
        ("metric: accuracy", "metric: acc", r"tasks\.kansla\.metric: unknown metric 'acc'; did you mean accuracy\?"),
        (
            "metric: accuracy",
            "metric: accuracy\n    also: [f2]",
            r"tasks\.kansla\.also: unknown metric 'f2'; targets of kind labels have ",
        ),
        ("  kansla:", "  kansla:\n    kind: tal", r"tasks\.kansla\.kind: unknown kind 'tal', expected one of labels, "),
    ):
        suite_file.write_text(whole, encoding="utf-8")
        with pytest.raises(InputError, match=rf"liten\.yaml: {problem}"):
            load_suite(replaced(suite_file, old, new))


def test_choose_and_declared_spans_and_levels(suite_file: Path, tmp_path: Path) -> None:
    suite = load_suite(suite_file)
    assert [task.id for task in suite.choose(["betyg", "kansla"])] == ["kansla", "betyg"]
    refused(lambda: suite.choose(["humor"]), key="tasks")
    refused(lambda: suite.choose([]), key="tasks")
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
            refused(lambda: load_suite(path), file="spans.yaml")


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
    refused(lambda: load_suite(replaced(path, "{f1:", "{accurracy:")))
