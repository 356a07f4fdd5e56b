"""The registry of methods: each entry describes itself."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from golden import check_golden
from input_errors import refused

from mtl.base.settings.layers import flatten_config, shipped
from mtl.base.settings.schema import Config
from mtl.jobs.job import load_job
from mtl.methods import METHODS, method_name
from mtl.methods.floors.model_file import KEEPABLE
from mtl.methods.method_kind import COMMON_KEYS
from mtl.tasks.task import Task

pytestmark = pytest.mark.wings  # the method word_vectors is one of a wing

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


def test_each_method_describes_its_runs(configs: dict[str, Config]) -> None:
    described = [
        f"{name} | {kind.title(configs[name])} | {kind.folder(configs[name])} | {kind.family} | {kind.describe(configs[name])}\n"
        for name, kind in METHODS.items()
    ]
    check_golden("methods.txt", "".join(described))


def test_keys_that_methods_read_their_files_and_their_names(configs: dict[str, Config]) -> None:
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
                **{"floor": READ_FLOOR, "word_vectors": ["word_vectors"], "static": ["static"]},
                **{name: [name] for name in ("imported", "ensemble")},
                **{"transformer": ["transformer"], "finetune": TRAINED, "loss": TRAINED, "trainer": TRAINED},
            }.get(section, ["lstm"])
            assert readers == SHARED.get(key, only), key
    files = {path.stem for path in (shipped("configs") / "method").glob("*.yaml")}
    assert files == {*METHODS, "transformer-superlim"}
    assert {name for name, kind in METHODS.items() if kind.loads} == {*TRAINED, *KEEPABLE}
    assert method_name("svm") == "svm"
    refused(lambda: method_name("bayes"), key="method")


def test_vectors_that_do_not_exist_are_found_before_a_run(tmp_path: Path) -> None:
    missing = {"suite": "klej-sample", "embeddings": "glove", "embeddings.path": str(tmp_path / "none.txt")}
    job = load_job(missing)
    refused(lambda: METHODS["lstm"].find_inputs(job.config, job.suite), file="none.txt")
    refused(lambda: METHODS["word_vectors"].find_inputs(job.config, job.suite), file="none.txt")
    for name in ("svm", "random"):
        METHODS[name].find_inputs(replace(job.config, method=name), job.suite)


@pytest.mark.parametrize("embeddings", ["random", "elmo"])
def test_word_vectors_need_a_file_of_vectors(embeddings: str) -> None:
    job = load_job({"suite": "klej-sample", "method": "word_vectors", "embeddings": embeddings})
    refused(lambda: METHODS["word_vectors"].check(job.config, job.suite), key="embeddings")


def test_what_a_method_answers() -> None:
    def task(kind: str, *text: str, **more: Any) -> Task:
        return Task(kind=kind, text=[*text], target="y", metric="accuracy", **more)

    tasks = {
        "labels": task("labels", "a", labels=["x", "y"]),
        "number": task("number", "a", "b", range=[0, 1]),
        "summary": task("text", "a"),
        "summary of a pair": task("text", "a", "b"),
        "similarity": task("number", "a", "b", range=[0, 1], level="word"),
        "synonym": task("choice", "a", candidates=["b[]"], level="word"),
        "analogy": task("word", "a", "b", "c", level="word"),
        "candidates alone": task("choice", candidates=["b[]"], level="word"),
        "opposite": task("word", "a", level="word"),
    }

    def answered(method: str) -> set[str]:
        return {name for name, task in tasks.items() if METHODS[method].answers(task)}

    texts = {"summary", "summary of a pair"}
    assert answered("random") == answered("constant") == set(tasks)
    assert answered("uniform") == answered("majority") == set(tasks) - texts
    assert all(answered(name) == {"labels", "number"} for name in ("overlap", "svm", "tree", "forest", *TRAINED))
    assert answered("lead") == {"summary"}
    assert answered("word_vectors") == {"number", "similarity", "synonym", "analogy"}
