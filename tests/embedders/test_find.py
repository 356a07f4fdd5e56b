import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import job
from elmo_files import write_elmo
from embedding_requests import build_request, vectors_of
from input_errors import raises_input_error, refused
from vector_words import write_fasttext

from mtl.base.errors import InputError
from mtl.base.locks import waiting_lock
from mtl.embedders import EMBEDDERS
from mtl.embedders.find import Vectors, find_vectors
from mtl.embedders.interface import Embeddings
from mtl.embedders.recipes import load_recipe, source_note, suite_source
from mtl.jobs.job import Job


def small_job(suite_file: Path, *settings: str, fasttext: str | None = None) -> Job:
    """A run with fastText on the small suite, whose file names these vectors."""
    if fasttext is not None:
        text = suite_file.read_text(encoding="utf-8")
        suite_file.write_text(f"{text}embeddings: {{fasttext: {fasttext}}}\n", encoding="utf-8")
    folder = suite_file.parent
    given = [f"suite={suite_file}", f"data_dir={folder / 'data'}", f"embeddings_dir={folder / 'vectors'}"]
    return job([*given, "embeddings=fasttext", *settings])


def build(suite_file: Path, run: Job) -> Embeddings:
    request = build_request(suite_file, run.config.embeddings)
    return EMBEDDERS[run.config.embeddings.name].build(replace(request, path=vectors_of(run)))


def found(run: Job) -> Vectors:
    vectors = find_vectors(run.config, run.suite)
    assert vectors is not None
    return vectors


@pytest.mark.parametrize(("share", "name"), [(0.1, "klej-sample.bin"), (0.25, "klej-sample-held-out-0.25.bin")])
def test_each_share_of_held_out_rows_has_its_vectors(suite_file: Path, share: float, name: str) -> None:
    for recipe, file in (("fasttext-sample", name), ("fasttext-pl", "cc.pl.300.bin")):
        run = small_job(suite_file, f"held_out={share}", f"embeddings.path={recipe}")
        assert found(run) == Vectors("fasttext", suite_file.parent / "vectors" / file, load_recipe(recipe))


def test_random_embeddings_need_no_file_and_vectors_at_a_path_are_used(suite_file: Path, tmp_path: Path) -> None:
    run = small_job(suite_file, "embeddings=random")
    assert find_vectors(run.config, run.suite) is None
    (tmp_path / "v.vec").write_text("1 3\nsolen 1 2 3\n", encoding="utf-8")
    run = small_job(suite_file, f"embeddings.path={tmp_path / 'v.vec'}")
    assert found(run).exist
    made = build(suite_file, run)
    assert (made.dim, made.coverage.found[0]) == (3, 1)


def test_missing_vectors_are_one_line_that_says_how_to_get_them(suite_file: Path, tmp_path: Path) -> None:
    for kind, path, problem in (
        ("fasttext", None, "embeddings.path: suite liten names no fasttext vectors; set embeddings.path=PATH"),
        ("fasttext", "elmo-sample", "embeddings.path=elmo-sample: a recipe for elmo embeddings, not for fasttext"),
        ("glove", None, "names no glove vectors; set embeddings.path=PATH or embeddings.path=glove-840b$"),
        ("glove", tmp_path / "none.zip", r"none\.zip: no such vectors; check embeddings\.path$"),
        (
            "glove",
            "glove-840b",
            r"zip: no such vectors; fetch them: mtl embeddings fetch glove recipe=glove-840b; or set",
        ),
    ):
        run = small_job(suite_file, f"embeddings={kind}", *([] if path is None else [f"embeddings.path={path}"]))
        with pytest.raises(InputError, match=problem):
            build(suite_file, run)


@pytest.mark.wings
def test_missing_vectors_can_be_trained(suite_file: Path, tmp_path: Path) -> None:
    run = small_job(suite_file, f"embeddings.path={tmp_path / 'none.bin'}")
    refused(lambda: build(suite_file, run), file="none.bin")
    run = small_job(suite_file, fasttext="fasttext-pl")
    refused(lambda: build(suite_file, run), file="cc.pl.300.bin")


def test_without_the_wing_that_trains_a_recipe_is_one_line(suite_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mtl.embedders.find.trainings", lambda: None)
    run = small_job(suite_file, fasttext="fasttext-sample")
    refused(lambda: build(suite_file, run), file="klej-sample.bin")
    path = found(run).path
    path.parent.mkdir(exist_ok=True)
    write_fasttext(path, [["solen", "skiner"]])
    with raises_input_error(file="klej-sample.bin"):  # they are not known to be of these texts
        build(suite_file, run)
    source_note(path).write_text(suite_source(run.suite, run.data_dir, run.config.held_out), encoding="utf-8")
    assert build(suite_file, run).dim == 6


def test_a_file_in_the_place_of_an_elmo_is_one_line(suite_file: Path, tmp_path: Path) -> None:
    (tmp_path / "elmo").write_bytes(b"weights")
    run = small_job(suite_file, "embeddings=elmo", f"embeddings.path={tmp_path / 'elmo'}")
    refused(lambda: found(run).check_obtainable(), file="elmo")
    (tmp_path / "elmo").unlink()
    write_elmo(tmp_path / "elmo")
    found(run).check_obtainable()


@pytest.mark.wings
def test_a_recipe_that_can_be_trained_is_trained_once(suite_file: Path) -> None:
    run = small_job(suite_file, fasttext="fasttext-sample")
    recipe = load_recipe("fasttext-sample")
    found(run).check_obtainable()
    made = build(suite_file, run)
    assert made.dim == recipe.train["dim"]
    path = suite_file.parent / "vectors/klej-sample.bin"
    assert found(run).path == path and found(run).exist
    written = path.stat().st_mtime_ns
    assert build(suite_file, run).fingerprint() == made.fingerprint()
    assert path.stat().st_mtime_ns == written
    # Vectors that were trained on other texts than these are not used.
    with (suite_file.parent / "data/train.tsv").open("a", encoding="utf-8") as file:
        file.write("ny rad\tglad\n")
    refused(lambda: build(suite_file, run), file="klej-sample.bin")


@pytest.mark.wings
def test_a_recipe_that_another_process_trains_is_waited_for(
    suite_file: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = small_job(suite_file, fasttext="fasttext-sample")
    build(suite_file, run)
    path = suite_file.parent / "vectors/klej-sample.bin"
    made = {file: file.read_bytes() for file in (path, path.with_name(f"{path.name}.source"))}
    for file in made:
        file.unlink()
    monkeypatch.setattr("mtl.vectors.words.fasttext.FastTextTraining.train", None)  # must not be called
    caplog.clear()
    with caplog.at_level("INFO", logger="mtl"), ThreadPoolExecutor() as pool:
        with waiting_lock(path.with_name(f".{path.name}.lock"), ""):
            obtained = pool.submit(vectors_of, run)
            while "another process is training these vectors" not in caplog.text and not obtained.done():
                time.sleep(0.01)
            for file in reversed(made):
                file.write_bytes(made[file])
        assert obtained.result() == path
    assert "on the suite's training text" not in caplog.text
