"""The Swedish sample: its files are as its suite file declares them, and its rows say what their labels mean."""

import json
import re
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from mtl.data.columns import names_in
from mtl.data.examples import Example, read_examples, span_texts
from mtl.sample.superlim.files import write_superlim
from mtl.sample.superlim.lexicon import NOUNS, SYNONYMS
from mtl.settings.layers import find_suite
from mtl.tasks.suite import load_suite
from mtl.tasks.task import SPLITS

SUITE = load_suite(find_suite("superlim-sample"))
# The keys of a row, as in Superlim's files (without most of absabank-imm's twelve annotators).
META = "meta.first_source meta.first_sense_id meta.second_source meta.second_sense_id meta.pos"
ERROR = "meta.confusion_pair.incorrect_span meta.confusion_pair.correction meta.error_span.start meta.error_span.stop"
KEYS = {
    "absabank-imm": "id text label a0 a1 a2",
    "argumentation-sentences": "sentence_id topic label sentence",
    "dalaj-ged-superlim": f"sentence label meta.error_label meta.education_level meta.l1 meta.data_source {ERROR}",
    "sweparaphrase": "genre file sentence_1 sentence_2 label",
    "swefaq": "category_id question candidate_answers[] label meta.category meta.source meta.link",
    "swenli": "id premise hypothesis label",
    "swewic": "idx label first.context first.word.text first.word.location.start first.word.location.stop second.context "
    f"second.word.text second.word.location.start second.word.location.stop {META}",
    "swewinograd": "idx text label meta.snippet_id pronoun.text pronoun.location.start pronoun.location.stop "
    "candidate_antecedent.text candidate_antecedent.location.start candidate_antecedent.location.stop",
    "swediagnostics": "id label premise hypothesis meta.lexical_semantics meta.predicate_argument_structure meta.logic "
    "meta.knowledge meta.domain",
    "swewinogender": "idx premise hypothesis label meta.tuple_id meta.template_id meta.occupation_participant "
    "meta.other_participant meta.pronoun",
    "supersim-superlim-similarity": "word_1 word_2 a1 a2 a3 a4 a5 label",
    "sweanalogy": "pair1_element1 pair1_element2 pair2_element1 label category",
    "swesat-synonyms": "id item candidate_answers[] label meta.comment",
    "swedn": "id headline summary article article_category",
}
# The smallest and the largest allowed share of the most frequent label.
MAJORITY = {
    "argumentation-sentences": (0.33, 0.45),
    "dalaj-ged-superlim": (0.5, 0.6),
    "swenli": (0.33, 0.45),
    "swewic": (0.5, 0.6),
    "swewinograd": (0.5, 0.5),
    "swediagnostics": (0.33, 0.45),
    "swewinogender": (0.5, 0.5),
    "swefaq": (0.2, 0.2),
    "swesat-synonyms": (0.2, 0.35),
}

Row = dict[str, Any]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    write_superlim(folder)
    return folder


def rows(folder: Path, id: str, split: str) -> list[Row]:
    path = SUITE.tasks[id].path(split, folder)
    if path is None or not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def every(folder: Path, id: str) -> list[Row]:
    return [row for split in SPLITS for row in rows(folder, id, split)]


def examples(folder: Path, id: str) -> dict[str, list[Example]]:
    task = SUITE.tasks[id]
    paths = {split: task.path(split, folder) for split in task.files}
    return {split: read_examples(task, path) for split, path in paths.items() if path is not None and path.exists()}


def test_same_bytes_on_every_call(folder: Path, tmp_path: Path) -> None:
    write_superlim(tmp_path)
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    assert all(path.read_bytes() == (tmp_path / path.relative_to(folder)).read_bytes() for path in files)


def test_the_files_are_those_of_the_suite(folder: Path) -> None:
    declared = {
        path: (task.scored, split)
        for task in SUITE.tasks.values()
        for split in task.files
        if (path := task.path(split, folder)) is not None
    }
    written = {path for path in folder.rglob("*") if path.is_file()}
    assert written <= set(declared)
    # Tasks scored on dev or test have no dev file, as in Superlim.
    assert {declared[path] for path in set(declared) - written} == {("dev_or_test", "dev")}
    assert len({path.parent for path in written}) == len(SUITE.tasks)


@pytest.mark.parametrize("id", KEYS)
def test_rows_have_superlim_s_keys(folder: Path, id: str) -> None:
    found = [set(names_in(row)) for row in every(folder, id)]
    # A sentence without an error has null where the error would be.
    optional = set(ERROR.split()) if id == "dalaj-ged-superlim" else set()
    assert set().union(*found) == set(KEYS[id].split())
    assert all(set(KEYS[id].split()) - keys <= optional for keys in found)


@pytest.mark.parametrize("id", SUITE.tasks)
def test_every_row_can_be_read_with_its_target_and_stands_in_one_split(folder: Path, id: str) -> None:
    texts = [tuple(example.texts) for part in examples(folder, id).values() for example in part]
    rows_of_a_text = 2 if id == "swewinograd" else 1  # one for each name
    assert set(Counter(texts).values()) == {rows_of_a_text}


@pytest.mark.parametrize("id", MAJORITY)
def test_labels_are_balanced(folder: Path, id: str) -> None:
    for split in SPLITS:
        labels = Counter(row["label"] for row in rows(folder, id, split))
        low, high = MAJORITY[id]
        assert not labels or low <= max(labels.values()) / labels.total() <= high


@pytest.mark.parametrize("id", ["absabank-imm", "sweparaphrase", "supersim-superlim-similarity"])
def test_numbers_are_spread_over_the_range(folder: Path, id: str) -> None:
    low, high = SUITE.tasks[id].bounds
    numbers = [row["label"] for row in every(folder, id)]
    third = (high - low) / 3
    assert all(low <= number <= high and isinstance(number, float) for number in numbers)
    assert min(Counter(min(int((number - low) / third), 2) for number in numbers).values()) > 0.15 * len(numbers)


def test_numbers_are_means_of_annotators(folder: Path) -> None:
    for id in ("absabank-imm", "supersim-superlim-similarity"):
        for row in every(folder, id):
            scores = [row[key] for key in row if re.fullmatch(r"a\d", key)]
            assert row["label"] == pytest.approx(sum(scores) / len(scores), abs=0.005)


def test_a_corrected_sentence_differs_in_the_marked_error_alone(folder: Path) -> None:
    articles = {noun.singular: noun.article for nouns in NOUNS.values() for noun in nouns}
    for row in every(folder, "dalaj-ged-superlim"):
        text, error = row["sentence"], row["meta"]
        start, stop, pair = error["error_span"]["start"], error["error_span"]["stop"], error["confusion_pair"]
        if start is not None:
            assert text[start:stop] == pair["incorrect_span"] != pair["correction"]
            text = text[:start] + pair["correction"] + text[stop:]
        found = re.search(r" (en|ett) \w+ (\w+)\.$", text)
        assert found is None or articles[found[2]] == found[1]
        assert not re.match(r"(I \w+|Nu|Just nu|Varje dag|Förra veckan|En gång) [A-Z]", text)  # the verb comes second


def test_marks_are_at_their_words(folder: Path) -> None:
    for part in examples(folder, "swewic").values():
        for example in part:
            words = span_texts(SUITE.tasks["swewic"], example.texts, example.spans)
            assert words[0] == words[1] != ""
    for row in every(folder, "swewinograd"):
        for mark in (row["pronoun"], row["candidate_antecedent"]):
            assert row["text"][mark["location"]["start"] : mark["location"]["stop"]] == mark["text"]
        assert row["pronoun"]["text"] in ("han", "hon") and row["candidate_antecedent"]["text"][0].isupper()
        assert row["text"][: row["pronoun"]["location"]["start"]].endswith(" eftersom ")


def test_one_of_two_names_is_meant(folder: Path) -> None:
    snippets = defaultdict(list)
    for row in every(folder, "swewinograd"):
        snippets[row["meta"]["snippet_id"]].append((row["text"], row["label"]))
    for pair in snippets.values():
        assert [label for _, label in sorted(pair)] == ["coreferring", "not_coreferring"] and len(set(dict(pair))) == 1


def test_triples_differ_in_the_pronoun_alone(folder: Path) -> None:
    triples = defaultdict(list)
    for row in every(folder, "swewinogender"):
        triples[row["meta"]["tuple_id"]].append(row)
    for triple in triples.values():
        assert [row["meta"]["pronoun"] for row in triple] == ["han", "hon", "hen"]
        assert (
            len(
                {(re.sub(r"\b(han|hon|hen)\b", "–", row["premise"]), row["hypothesis"], row["label"]) for row in triple}
            )
            == 1
        )


def test_the_questions_of_a_category_share_their_answers(folder: Path) -> None:
    categories = defaultdict(set)
    for split in SPLITS:
        by_category = defaultdict(list)
        for row in rows(folder, "swefaq", split):
            by_category[row["category_id"]].append(row)
            categories[row["category_id"]].add(split)
        for listed in by_category.values():
            assert len({tuple(row["candidate_answers"]) for row in listed}) == 1
            assert sorted(row["label"] for row in listed) == list(range(len(listed[0]["candidate_answers"])))
    assert all(len(splits) == 1 for splits in categories.values())


def test_the_chance_of_a_choice_is_that_of_its_test_rows(folder: Path) -> None:
    for id in ("swefaq", "swesat-synonyms"):
        test = rows(folder, id, "test")
        guesses = Fraction(sum(len(row["candidate_answers"]) for row in test), len(test))
        assert Fraction(SUITE.tasks[id].chance or "") == 1 / guesses


def test_one_candidate_is_a_synonym(folder: Path) -> None:
    synonyms = {pair for words, _ in SYNONYMS for pair in product(words, words)}
    for row in every(folder, "swesat-synonyms"):
        right = [(row["item"], candidate) in synonyms for candidate in row["candidate_answers"]]
        assert right.index(True) == row["label"] and sum(right) == 1 and len(set(row["candidate_answers"])) == 5


def test_analogies_are_about_words_of_other_tasks(folder: Path) -> None:
    """Vectors that are trained on the suite's text have them."""
    text = (folder / "dalaj-ged-superlim/dalaj-ged-superlim_train.jsonl").read_text(encoding="utf-8").lower()
    asked = {row["label"] for row in every(folder, "sweanalogy")}
    assert len([word for word in asked if re.search(rf"\b{word}\b", text)]) > 0.9 * len(asked)
    train, test = ({row["label"] for row in rows(folder, "sweanalogy", split)} for split in ("train", "test"))
    assert not train & test


def test_diagnostics_are_new_to_the_head_that_answers_them(folder: Path) -> None:
    seen = {(row["premise"], row["hypothesis"]) for row in every(folder, "swenli")}
    asked = [(row["premise"], row["hypothesis"]) for row in every(folder, "swediagnostics")]
    assert asked and not seen & set(asked)


def test_a_denial_contradicts_and_is_marked_as_a_negation(folder: Path) -> None:
    denials = Counter(row["label"] for row in every(folder, "swenli") if re.search(r"^Ing|\binte\b", row["hypothesis"]))
    assert denials["contradiction"] > 4 * denials["neutral"] > 0
    for row in every(folder, "swediagnostics"):
        assert ("Negation" in row["meta"]["logic"]) == (row["label"] == "contradiction")


def test_most_summaries_share_words_with_the_first_sentence(folder: Path) -> None:
    shared = []
    for row in every(folder, "swedn"):
        first = set(re.findall(r"\w+", row["article"].split(". ")[0].lower()))
        shared.append(len(first & set(re.findall(r"\w+", row["summary"].lower()))) >= 3)
    assert 0.6 < sum(shared) / len(shared) < 1
