from pathlib import Path

import numpy as np
import pytest
from default_settings import section
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from mtl.base.settings.schema import FloorConfig
from mtl.data.dataset import Split
from mtl.methods.floors.features import Document, fitted_state, restore_fitted
from mtl.methods.floors.inputs import training_inputs
from mtl.methods.floors.static import TextVectors, WordFile
from mtl.methods.floors.tfidf import TaskFeatures, new_vectorizers
from mtl.tasks.task import Task

PAIR = Task("pair", kind="labels", text=["a", "b"], target="y", labels=["0", "1"], metric="accuracy")
CHOICE = Task("c", kind="choice", text=["x"], candidates=["z[]"], target="y", metric="accuracy")
SINGLE = Task("single", kind="labels", text=["a"], target="y", labels=["0", "1"], metric="accuracy")
AB, CD, NEW = Document("ab ab", ["ab", "ab"]), Document("ab Cd", ["ab", "Cd"]), Document("zz", ["zz"])
RARE = np.log(3 / 2) + 1  # idf = ln((1 + texts) / (1 + texts with it)) + 1 (scikit-learn), of "cd"; that of "ab" is 1


@pytest.fixture(autouse=True)
def short_ngrams(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mtl.methods.floors.tfidf.WORD_NGRAMS", (1, 1))
    monkeypatch.setattr("mtl.methods.floors.tfidf.CHARACTER_NGRAMS", (3, 3))


def config(**other: object) -> FloorConfig:
    plain = {"min_count": 1, "max_features": 1000, "grid": {}}
    return section(FloorConfig, **(plain | other))  # type: ignore[arg-type]


def vectors(*documents: Document) -> list[np.ndarray]:
    return [vectorizer.fit_transform(documents).toarray() for vectorizer in new_vectorizers(config()).values()]


ROWS = [(AB, CD), (CD, CD), (AB, AB)]


def pair_features(method: str) -> tuple[TaskFeatures, np.ndarray]:
    features = TaskFeatures(method, config(), PAIR)
    found = features.fit(ROWS)
    return features, found if method == "overlap" else found.toarray()


def standardized(values: np.ndarray) -> np.ndarray:
    return (values - values.mean(axis=0)) / values.std(axis=0)


def by_hand() -> dict[str, list[np.ndarray]]:
    """What may be computed of ROWS, for words and for characters."""
    first, second = [0, 1, 0], [1, 1, 0]
    found: dict[str, list[np.ndarray]] = {"bag": [], "differences": [], "products": [], "cosines": [], "distances": []}
    for kind in vectors(AB, CD):
        u, v = kind[first], kind[second]
        found["bag"].append((u + v) / np.sqrt(((u + v) ** 2).sum(axis=1, keepdims=True)))
        found["differences"].append(np.abs(u - v))
        found["products"].append(u * v)
        found["cosines"].append(np.einsum("ij,ij->i", u, v)[:, None])
        found["distances"].append(np.abs(u - v).sum(axis=1)[:, None])
    return found


def test_ngrams_by_their_formula_and_none_that_are_left() -> None:
    words, characters = vectors(AB, CD)
    length = np.hypot(1, RARE)  # term frequency = 1 + ln(count), length 1
    np.testing.assert_allclose(words, [[1, 0], [1 / length, RARE / length]])
    # Characters within words: " ab", "ab ", " cd", "cd ", two of each.
    assert characters.shape == (2, 4)
    np.testing.assert_allclose(characters[0] @ characters[0], 1)
    np.testing.assert_allclose(sorted(characters[1]), sorted([1 / length / 2**0.5] * 2 + [RARE / length / 2**0.5] * 2))

    def width(**other: object) -> list[int]:
        return [made.fit_transform([AB, CD]).shape[1] for made in new_vectorizers(config(**other)).values()]

    assert width(min_count=2) == [1, 2]
    assert width(max_features=1) == [1, 1]
    assert all(made.fit([AB, CD]).transform([NEW]).nnz == 0 for made in new_vectorizers(config()).values())
    with pytest.raises(ValueError, match="min_df"):
        TaskFeatures("svm", config(min_count=3), SINGLE).fit([[AB], [CD]])  # two documents hold nothing three times
    # Its n-grams would have numbers beyond the columns of the matrix.
    for ngrams in ('["bra", "bra"]', "[]"):
        with pytest.raises(ValueError, match="twice"):
            restore_fitted(CountVectorizer(), {"ngrams": ngrams})


def test_a_single_text_is_its_ngrams_and_overlap_has_the_cosines() -> None:
    features = TaskFeatures("svm", config(), SINGLE)
    np.testing.assert_allclose(features.fit([[AB], [CD]]).toarray(), np.hstack(vectors(AB, CD)))
    assert features.transform([[NEW], [CD]]).shape == (2, 6)
    once, often = (TaskFeatures("tree", config(), SINGLE) for _ in range(2))
    once.fit([[AB], [CD]])
    np.testing.assert_allclose(often.fit([[AB], [AB], [CD]]).toarray()[1:], once.transform([[AB], [CD]]).toarray())
    length = np.hypot(1, RARE)  # the words' vectors are (1, 0) and (1, RARE) / length
    _, found = pair_features("overlap")
    np.testing.assert_allclose(found, [[1 / length] * 2, [1, 1], [1, 1]])
    np.testing.assert_allclose(found, np.hstack(by_hand()["cosines"]))
    # A text of unknown n-grams is like no other.
    assert pair_features("overlap")[0].transform([(NEW, CD), (NEW, NEW)]).tolist() == [[0, 0], [0, 0]]


def test_pairs_have_ngrams_and_what_the_texts_share_and_forests_whole_texts_several_times() -> None:
    hand = by_hand()
    expected = [*hand["bag"], *hand["differences"], *hand["products"], standardized(np.hstack(hand["cosines"]))]
    np.testing.assert_allclose(pair_features("svm")[1], np.hstack(expected), atol=1e-12)
    hand = by_hand()
    whole = np.hstack([standardized(np.hstack(hand["cosines"])), *hand["distances"]])
    expected = np.hstack([*hand["differences"], *hand["products"], whole])
    assert expected.shape[1] == 16
    np.testing.assert_allclose(pair_features("tree")[1], expected, atol=1e-12)
    np.testing.assert_allclose(pair_features("forest")[1], np.hstack([expected, whole, whole]), atol=1e-12)


@pytest.mark.parametrize("method", ["svm", "tree", "forest", "overlap"])
def test_new_pairs_have_the_training_texts_ngrams_and_weights(method: str) -> None:
    features, found = pair_features(method)
    again = features.transform([*ROWS[1:], (NEW, CD)])
    np.testing.assert_allclose((again if method == "overlap" else again.toarray())[:2], found[1:], atol=1e-12)


@pytest.mark.parametrize("ngrams", ["{}", "[1]", "[", "3", "[" * 100_000, '["a", "b"]'])
def test_a_kept_vocabulary_of_another_form_is_refused(ngrams: str) -> None:
    state = fitted_state(TfidfVectorizer().fit(["ett två tre"]))
    with pytest.raises((ValueError, RecursionError)):
        restore_fitted(TfidfVectorizer(), {**state, "ngrams": ngrams})


def split(targets: list[float], sizes: list[int] | None = None) -> Split:
    inputs = len(targets) if sizes is None else sum(sizes)
    return Split(np.arange(inputs)[:, None], np.array(targets), None if sizes is None else np.array(sizes))


def test_rows_in_their_order_fewer_of_them_and_candidates() -> None:
    for task, rows, most, places, targets in (
        (SINGLE, split([0.0, 1, 1]), None, [0, 1, 2], [0, 1, 1]),
        (CHOICE, split([1.0, 0], [3, 2]), 9, [0, 1, 2, 3, 4], [0, 1, 0, 1, 0]),
        (SINGLE, split([float(i % 2) for i in range(10)]), 4, [0, 2, 5, 7], [0, 0, 1, 1]),
        (CHOICE, split([1.0, 0, 0], [3, 2, 1]), 1, [0, 1, 2], [0, 1, 0]),
    ):
        assert [found.tolist() for found in training_inputs(task, rows, most, False)] == [places, targets]
    # A row with one candidate has no wrong one.
    rows = split([2.0, 0, 0] * 500, [4, 3, 1] * 500)
    places, targets = training_inputs(CHOICE, rows, None, True)
    pairs = places.reshape(-1, 5) - 8 * np.arange(500)[:, None]
    assert targets.reshape(-1, 5).tolist() == [[1, 0, 1, 0, 1]] * 500
    assert set(pairs[:, 0]) == {2} and set(pairs[:, 2]) == {4} and set(pairs[:, 4]) == {7}
    drawn = np.bincount(pairs[:, 1], minlength=4) / 500
    assert drawn[2] == 0 and np.abs(drawn[[0, 1, 3]] - 1 / 3).max() < 0.08
    assert set(pairs[:, 3]) == {5, 6}
    assert (training_inputs(CHOICE, rows, None, True)[0] == places).all()


VECTORS = {"solen": [1.0, 0.0], "skiner": [0.0, 2.0], "regnet": [3.0, 3.0]}


def documents(*texts: str) -> list[Document]:
    return [Document(text, text.split()) for text in texts]


@pytest.fixture
def words(tmp_path: Path) -> WordFile:
    lines = [f"{word} {' '.join(map(str, vector))}" for word, vector in VECTORS.items()]
    (tmp_path / "words.vec").write_text(f"{len(lines)} 2\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return WordFile(tmp_path / "words.vec")


def test_a_text_is_the_mean_of_its_known_words(words: WordFile) -> None:
    texts = documents("solen skiner", "solen okänd solen regnet", "okänd", "")
    vectors = TextVectors(words, texts).transform([[text] for text in texts])
    assert vectors == pytest.approx(np.array([[0.5, 1.0], [(1 + 1 + 3) / 3, 1.0], [0, 0], [0, 0]]))
    assert words.size == 6


def test_vectors_that_no_text_needs_are_a_warning(words: WordFile, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    TextVectors(words, documents("solen skiner", "okänd"))
    TextVectors(words, documents("okänd", "annan"))
    said = [(record.levelname, record.message) for record in caplog.records]
    some, none = (f"{count} of 2 texts have a word with a vector" for count in (1, 0))
    assert said == [("INFO", some), ("WARNING", none)]
