from pathlib import Path

import pytest
from input_errors import raises_input_error

from mtl.base.errors import InputError
from mtl.embedders.find import fetch, load_recipe, trained_file, vector_file


def test_an_unknown_recipe_is_one_line() -> None:
    with raises_input_error():
        load_recipe("zz")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("embeddings: fasttext\nfile: ../v.bin\n", "file: '../v.bin' must be a path below the folder of embeddings"),
        ("embeddings: fasttext\nfile: v.bin\nurl: file:///etc/passwd\n", "url: .* must begin with https"),
        ("embeddings: fasttext\nfile: v.bin\nsize: large\n", "size: "),
        ("embeddings: fasttext\nname_of_file: v.bin\n", "name_of_file: "),
    ],
)
def test_a_wrong_recipe_names_its_file_and_key(tmp_path: Path, content: str, problem: str) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=rf"own\.yaml: {problem}"):
        load_recipe(str(path))


def test_a_path_names_itself_and_a_recipe_names_its_file(tmp_path: Path) -> None:
    for named in ("v.bin", "v.vec", "folder/elmo"):
        assert vector_file(named, tmp_path, 0.1) == (Path(named), None)
    path, recipe = vector_file("fasttext-pl", tmp_path, 0.25)  # its vectors are fetched, and so are those of no share
    assert path == tmp_path / "cc.pl.300.bin" and recipe == load_recipe("fasttext-pl")
    assert vector_file("fasttext-sample", tmp_path, 0.25)[0] == tmp_path / "klej-sample-held-out-0.25.bin"


def test_vectors_of_another_share_have_another_name() -> None:
    assert trained_file(Path("a/v.bin"), 0.1) == Path("a/v.bin")
    assert trained_file(Path("a/v.bin"), 0.3) == Path("a/v-held-out-0.3.bin")
    assert trained_file(Path("a/elmo"), 0.3) == Path("a/elmo-held-out-0.3")


def test_fetch_keeps_vectors_that_exist_and_needs_an_address(tmp_path: Path) -> None:
    (tmp_path / "cc.pl.300.bin").write_bytes(b"vectors")
    assert fetch("fasttext-pl", tmp_path) == tmp_path / "cc.pl.300.bin"
    assert (tmp_path / "cc.pl.300.bin").read_bytes() == b"vectors"
    with raises_input_error(key="recipe"):
        fetch("fasttext-sample", tmp_path)
