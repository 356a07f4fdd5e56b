import hashlib
import io
import zipfile
from pathlib import Path

import pytest
from download_server import download_server
from input_errors import refused

from mtl.api.cli import main
from mtl.base.settings.layers import shipped
from mtl.embedders.recipes import fetch_embeddings, load_recipe, published_recipes, vector_path
from mtl.embedders.vector_files.vector_file import VectorFile


def test_an_unknown_recipe_is_one_line() -> None:
    refused(lambda: load_recipe("zz"))


@pytest.mark.parametrize(
    "line",
    ["file: ../v.bin", "file: v.bin\nurl: file:///etc/passwd", "file: v.bin\nsize: large", "name_of_file: v.bin"],
)
def test_a_wrong_recipe_names_its_file_and_key(tmp_path: Path, line: str) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(f"embeddings: fasttext\n{line}\n", encoding="utf-8")
    refused(lambda: load_recipe(str(path)), file="own.yaml")


def test_recipes_name_files_of_which_some_can_be_fetched(tmp_path: Path) -> None:
    for named in ("v.bin", "v.vec", "v.txt", "v.zip", "folder/elmo"):
        assert vector_path(named, tmp_path, 0.1) == (Path(named), None)
    path, recipe = vector_path("fasttext-pl", tmp_path, 0.25)  # its vectors are fetched, and so are those of no share
    assert path == tmp_path / "cc.pl.300.bin" and recipe == load_recipe("fasttext-pl")
    assert vector_path("fasttext-sample", tmp_path, 0.25)[0] == tmp_path / "klej-sample-held-out-0.25.bin"
    assert published_recipes("fasttext") == ["fasttext-pl", "fasttext-sv"]
    assert published_recipes("glove") == ["glove-840b"] and published_recipes("elmo") == ["elmo-pl"]
    recipe = load_recipe("glove-840b")
    assert recipe.url == "https://nlp.stanford.edu/data/glove.840B.300d.zip" and recipe.file == "glove.840B.300d.zip"
    assert vector_path("glove-840b", Path("e"), 0.25) == (Path("e/glove.840B.300d.zip"), recipe)


def test_the_only_vectors_with_an_address_are_fetched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "cc.pl.300.bin").write_bytes(b"vectors")  # fetched before
    assert fetch_embeddings("fasttext", None, str(tmp_path)) == tmp_path / "cc.pl.300.bin"
    assert fetch_embeddings("fasttext", "fasttext-pl", str(tmp_path)) == tmp_path / "cc.pl.300.bin"
    refused(lambda: fetch_embeddings("elmo", None, str(tmp_path)))
    refused(lambda: fetch_embeddings("fasttext", "fasttext-sample", str(tmp_path)), key="recipe")
    # Names that look like numbers.
    assert main(["embeddings", "fetch", "fasttext", "recipe=3", "embeddings_dir=4"]) == 2
    assert "recipe=3: unknown" in capsys.readouterr().err


def test_a_zip_of_vectors_is_fetched_verified_and_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A recipe as glove-840b, for a zip on this machine."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("v.txt", "kot 1 2\npies 3 4\n")
    content, own, folder = buffer.getvalue(), tmp_path / "own.yaml", tmp_path / "embeddings"
    text, recipe = (shipped("embeddings") / "glove-840b.yaml").read_text(encoding="utf-8"), load_recipe("glove-840b")
    with download_server(monkeypatch) as server:
        url = server.url.replace("file.bin", "glove.840B.300d.zip")
        digest = hashlib.sha256(content).hexdigest()
        for old, new in ((recipe.url, url), (recipe.size, len(content)), (recipe.sha256, digest)):
            text = text.replace(str(old), str(new))
        own.write_text(text, encoding="utf-8")
        server.content = content[:-1] + b"\1"  # not what the checksum says
        refused(lambda: fetch_embeddings("glove", str(own), str(folder)))
        assert list(folder.iterdir()) == []
        server.content = content
        path, requests = fetch_embeddings("glove", str(own), str(folder)), len(server.requests)
        assert fetch_embeddings("glove", str(own), str(folder)) == path and len(server.requests) == requests
        assert VectorFile(path).read_once(["pies"]).vectors.tolist() == [[3, 4]]
