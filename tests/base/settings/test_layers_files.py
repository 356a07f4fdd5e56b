"""Files of settings: where they are, and the one that a run keeps."""

from pathlib import Path

import pytest
from input_errors import refused

from mtl.base.errors import InputError
from mtl.base.settings.layers import (
    differences,
    find_yaml,
    flatten,
    flatten_config,
    nested,
    read_config,
    save_config,
    shipped,
)
from mtl.base.settings.schema import Config, EmbedderOptions
from mtl.embedders import embedder_kind
from mtl.jobs.job import load_job


def read(path: Path) -> Config:
    def options(name: str) -> type[EmbedderOptions]:
        return embedder_kind(name).options

    return read_config(path, options)


def test_shipped_folders_paths_and_dotted_keys(tmp_path: Path) -> None:
    assert find_yaml("suite", "klej") == shipped("configs") / "suite/klej.yaml"
    assert find_yaml("method", "svm", shipped("configs") / "method").is_file()
    assert (shipped("embeddings") / "fasttext-pl.yaml").is_file()
    assert flatten({"a": {"b": 1, "c": {"d": [2]}}, "e": None}) == {"a.b": 1, "a.c.d": [2], "e": None}
    assert nested("a.b.c", {"d": 1}) == {"a": {"b": {"c": {"d": 1}}}} and nested("a", 2) == {"a": 2}
    flat = flatten_config(load_job({"suite": "klej", "embeddings": "elmo"}).config)
    assert flat["embeddings.precision"] == "float16" and flat["encoder.hidden_size"] == 1024
    assert "embeddings.sparse" not in flat  # a key of random embeddings
    for name in ("b", "a"):
        (tmp_path / f"{name}.yaml").touch()
    assert find_yaml("kind", str(tmp_path / "a.yaml"), Path("elsewhere")) == tmp_path / "a.yaml"
    assert find_yaml("kind", "a", tmp_path) == tmp_path / "a.yaml"
    refused(lambda: find_yaml("kind", "c", tmp_path))
    for path in ("c.yaml", "a/b", "c.yml", "./", "/"):
        with pytest.raises(InputError, match=f"^kind={path}: no such file$"):
            find_yaml("kind", path, tmp_path)
    (tmp_path / "d.yml").touch()
    for name in ("a.yml", "a", "d", "d.yaml"):  # a.yaml and d.yml are meant
        refused(find_yaml, "kind", str(tmp_path / name), tmp_path)


@pytest.mark.parametrize("embeddings", ["random", "fasttext", "elmo"])
def test_a_saved_configuration_is_read_back_as_the_same(tmp_path: Path, embeddings: str) -> None:
    config = load_job({"suite": "klej", "tasks": ["cbd"], "embeddings": embeddings}).config
    save_config(config, tmp_path / "config.yaml")
    assert read(tmp_path / "config.yaml") == config
    with (tmp_path / "config.yaml").open("a", encoding="utf-8") as file:
        file.write("statistic: median\n")  # a key of an earlier version
    assert read(tmp_path / "config.yaml") == config and differences(tmp_path / "config.yaml", config) == []


def test_differences_are_named_unless_they_do_not_change_results(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    given = {"suite": "klej", "tasks": ["cbd"]}
    save_config(load_job(given).config, path)
    assert differences(path, load_job({**given, "data_dir": "elsewhere", "seeds_in_parallel": 2}).config) == []
    assert differences(path, load_job({**given, "max_length": 7}).config) == ["max_length: 256 there, 7 here"]
    other = differences(path, load_job({**given, "embeddings": "fasttext"}).config)
    assert "embeddings.name: random there, fasttext here" in other


def config() -> Config:
    return load_job({"suite": "klej"}).config


def test_what_is_not_a_configuration_is_named(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    save_config(config(), path)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    without_a_key = "".join(line for line in lines if not line.startswith("boundary_words:"))  # as another version's
    for text in ("max_length: many\n", "embeddings: 3\n", "embeddings: {name: random, glue: 1}\n", without_a_key):
        path.write_text(text, encoding="utf-8")
        refused(lambda: read(path), file="config.yaml")
    for call in (lambda: read(tmp_path / "none/config.yaml"), lambda: differences(tmp_path / "none", config())):
        refused(call)
