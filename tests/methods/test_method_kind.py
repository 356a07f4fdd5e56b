"""The registry of methods: each entry describes itself."""

from dataclasses import replace
from pathlib import Path

import pytest
from input_errors import raises_input_error

from mtl.base.errors import InputError
from mtl.base.settings.layers import flatten_config, shipped
from mtl.base.settings.schema import Config
from mtl.jobs.job import load_job
from mtl.methods import METHODS, method_name
from mtl.methods.floors.kept import KEEPABLE
from mtl.methods.method import COMMON_KEYS
from mtl.tasks.task import Task

pytestmark = pytest.mark.wings  # the method word_vectors is one of a wing

TITLES = {
    "lstm": "LSTM, random, frozen",
    "random": "Random targets",
    "constant": "Best constant",
    "overlap": "TF-IDF, overlap of a pair",
    "svm": "TF-IDF + linear SVM",
    "logistic": "TF-IDF + logistic regression",
    "naive_bayes": "TF-IDF + naive Bayes",
    "fasttext": "fastText classifier",
    "static": "Static vectors, random",
    "tree": "TF-IDF + decision tree",
    "forest": "TF-IDF + random forest",
    "uniform": "Uniform",
    "majority": "Majority or mean",
    "lead": "First sentences",
    "word_vectors": "Word vectors, random",
    "imported": "another system, imported",
    "ensemble": "ensemble",
    "selected": "chosen settings",
    "transformer": "Transformer, tiny, finetune",
}
TRAINED = ["lstm", "transformer"]
SHARED = {  # keys that other methods read than the rest of their section
    "embeddings_dir": ["lstm", "transformer", "static", "word_vectors"],
    "embeddings.dim": ["lstm", "word_vectors"],
    "trainer.accelerator": [*TRAINED, "ensemble"],
    **dict.fromkeys(("head.hidden_size", "head.dropout", "head.overlap", "head.pair"), TRAINED),
}
GUESSES = ["random", "constant", "uniform", "majority"]
READ_FLOOR = [*GUESSES, "overlap", "svm", "logistic", "naive_bayes", "tree", "forest", "fasttext", "static"]


@pytest.fixture(scope="module")
def configs() -> dict[str, Config]:
    """The configuration of a run of each method."""
    return {name: load_job({"suite": "klej-sample", "method": name}).config for name in METHODS}


def test_each_method_has_a_title_and_a_folder(configs: dict[str, Config]) -> None:
    assert {name: kind.title(configs[name]) for name, kind in METHODS.items()} == TITLES
    folders = {name: kind.folder(configs[name]) for name, kind in METHODS.items()}
    others = {"lstm": "random-frozen", "transformer": "transformer-tiny-finetune", "static": "static-random"}
    assert folders == {name: others.get(name, name) for name in METHODS}
    families = {name: kind.family for name, kind in METHODS.items()}
    assert (families.pop("lstm"), families.pop("transformer")) == ("lstm", "transformer")
    of_others = ("imported", "ensemble", "selected")
    assert tuple(map(families.pop, of_others)) == of_others
    assert set(families.values()) == {"floor"}
    # A summary of a floor names neither embeddings nor variant.
    embedded = ("lstm", "word_vectors", "transformer", "static")
    assert all(METHODS[name].describe(config) == {} for name, config in configs.items() if name not in embedded)
    assert METHODS["word_vectors"].describe(configs["word_vectors"]) == {"embeddings": "random"}


def test_every_key_is_read_by_a_method_and_all_read_the_common_ones(configs: dict[str, Config]) -> None:
    keys = [key for key in flatten_config(configs["lstm"]) if key not in ("method", "embeddings.name", "variant")]
    common = [key for key in keys if key.startswith(COMMON_KEYS)]
    assert {"suite", "tasks", "seeds", "run_dir", "trainer.threads"} <= set(common)
    for key in keys:
        readers = [name for name, kind in METHODS.items() if kind.reads_key(key)]
        if key in common:
            assert readers == list(METHODS)
        else:
            section = key.partition(".")[0]
            only = {
                **{"floor": READ_FLOOR, "word_vectors": ["word_vectors"], "lead": ["lead"], "static": ["static"]},
                **{name: [name] for name in ("imported", "ensemble", "selected")},
                **{"transformer": ["transformer"], "finetune": TRAINED, "loss": TRAINED, "trainer": TRAINED},
            }.get(section, ["lstm"])
            assert readers == SHARED.get(key, only), key


def test_methods_have_files_of_settings_some_are_loaded_again_and_names_are_known() -> None:
    files = {path.stem for path in (shipped("configs") / "method").glob("*.yaml")}
    assert files == {*METHODS, "transformer-superlim"}
    assert {name for name, kind in METHODS.items() if kind.loads} == {*TRAINED, *KEEPABLE}
    assert method_name("svm") == "svm"
    with raises_input_error(key="method"):
        method_name("bayes")


def test_vectors_that_do_not_exist_are_found_before_a_run(tmp_path: Path, configs: dict[str, Config]) -> None:
    missing = {"suite": "klej-sample", "embeddings": "glove", "embeddings.path": str(tmp_path / "none.txt")}
    job = load_job(missing)
    with raises_input_error(file="none.txt"):
        METHODS["lstm"].find_inputs(job.config, job.suite)
    with raises_input_error(file="none.txt"):
        METHODS["word_vectors"].find_inputs(job.config, job.suite)
    for name in ("svm", "random"):
        METHODS[name].find_inputs(replace(job.config, method=name), job.suite)


@pytest.mark.parametrize("embeddings", ["random", "elmo"])
def test_word_vectors_need_a_file_of_vectors(embeddings: str) -> None:
    job = load_job({"suite": "klej-sample", "method": "word_vectors", "embeddings": embeddings})
    complaint = (
        f"^embeddings={embeddings}: method word_vectors reads a file of word vectors; "
        "set embeddings=fasttext or glove or word2vec$"
    )
    with pytest.raises(InputError, match=complaint):
        METHODS["word_vectors"].check(job.config, job.suite)


def test_what_a_method_answers() -> None:
    tasks = {
        "labels": Task(kind="labels", text=["a"], labels=["x", "y"], target="y", metric="accuracy"),
        "number": Task(kind="number", text=["a", "b"], range=[0, 1], target="y", metric="accuracy"),
        "summary": Task(kind="text", text=["a"], target="y", metric="accuracy"),
        "summary of a pair": Task(kind="text", text=["a", "b"], target="y", metric="accuracy"),
        "similarity": Task(kind="number", text=["a", "b"], range=[0, 1], level="word", target="y", metric="accuracy"),
        "synonym": Task(kind="choice", text=["a"], candidates=["b[]"], level="word", target="y", metric="accuracy"),
        "analogy": Task(kind="word", text=["a", "b", "c"], level="word", target="y", metric="accuracy"),
        "candidates alone": Task(
            kind="choice", text=[], candidates=["b[]"], level="word", target="y", metric="accuracy"
        ),
        "opposite": Task(kind="word", text=["a"], level="word", target="y", metric="accuracy"),
    }

    def answered(method: str) -> set[str]:
        return {name for name, task in tasks.items() if METHODS[method].answers(task)}

    texts = {"summary", "summary of a pair"}
    assert answered("random") == answered("constant") == set(tasks)
    assert answered("uniform") == answered("majority") == set(tasks) - texts
    assert all(answered(name) == {"labels", "number"} for name in ("overlap", "svm", "tree", "forest", *TRAINED))
    assert answered("lead") == {"summary"}
    assert answered("word_vectors") == {"number", "similarity", "synonym", "analogy"}
