from pathlib import Path

import pytest
from elmo_files import write_elmo
from embedding_requests import build, found, small_job
from input_errors import raises_input_error, refused
from vector_words import write_fasttext

from mtl.embedders.find import Vectors, find_vectors
from mtl.embedders.recipes import load_recipe, suite_fingerprint, texts_note_path


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
    for paths in ("fasttext", "elmo-sample"), ("glove", str(tmp_path / "none.zip"), "glove-840b"):
        for path in ([], *([f"embeddings.path={path}"] for path in paths[1:])):
            run = small_job(suite_file, f"embeddings={paths[0]}", *path)
            refused(build, suite_file, run)


def test_without_the_wing_that_trains_a_recipe_is_one_line(suite_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mtl.embedders.find.hook", lambda name: None)
    run = small_job(suite_file, fasttext="fasttext-sample")
    refused(lambda: build(suite_file, run), file="klej-sample.bin")
    path = found(run).path
    path.parent.mkdir(exist_ok=True)
    write_fasttext(path, [["solen", "skiner"]])
    with raises_input_error(file="klej-sample.bin"):  # they are not known to be of these texts
        build(suite_file, run)
    texts_note_path(path).write_text(suite_fingerprint(run.suite, run.data_dir, run.config.held_out), encoding="utf-8")
    assert build(suite_file, run).dim == 6


@pytest.mark.wings  # the line names the wing's command, too
def test_a_file_in_the_place_of_an_elmo_is_one_line(suite_file: Path, tmp_path: Path) -> None:
    (tmp_path / "elmo").write_bytes(b"weights")
    run = small_job(suite_file, "embeddings=elmo", f"embeddings.path={tmp_path / 'elmo'}")
    refused(lambda: found(run).check_obtainable(), file="elmo")
    (tmp_path / "elmo").unlink()
    write_elmo(tmp_path / "elmo")
    found(run).check_obtainable()
