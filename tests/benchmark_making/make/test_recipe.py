"""Recipes are checked before any data is read: each error names the file and the key."""

import os
from pathlib import Path
from typing import Any

import pytest
from input_errors import ANY, raises_input_error
from make_parts import SPLIT, TASK, column, recipe_of, write_recipe

from mtl.benchmark_making.make.recipe import RecipeSource, load_recipe
from mtl.benchmark_making.make.table import Origin, Table
from mtl.tasks.layout import Reading

FEW = {"step": "sample", "number": 2, "into_table": "a"}
PAIR = {"texts": ["sentence", "sentence"], "groups": ["author", "author"]}


def test_a_step_takes_the_table_of_the_step_before_and_a_recipe_is_yaml(tmp_path: Path) -> None:
    steps = [{"step": "sample", "number": 3, "into_table": "few"}, {"step": "shuffle"}, SPLIT]
    recipe = load_recipe(write_recipe(tmp_path, recipe_of(steps=steps)))
    assert [(use.tables, use.into) for use in recipe.uses] == [(["corpus"], "few"), (["few"], "few"), (["few"], "few")]
    assert recipe.written["t"].table == "few"
    (tmp_path / "recipe.yaml").write_text("name: [\n", encoding="utf-8")
    with raises_input_error(file="recipe.yaml", line=2):
        load_recipe(tmp_path / "recipe.yaml")


def step(name: str, **options: Any) -> dict[str, Any]:
    return {"steps": [{"step": name, **options}, SPLIT]}


@pytest.mark.parametrize(
    ("keys", "key"),
    [
        ({"nmae": "x"}, ANY),
        ({"name": "a b"}, "name"),
        ({"sources": {}}, "sources"),
        ({"sources": {"corpus": {"file": "../secret.tsv"}}}, "sources.corpus.file"),
        ({"sources": {"corpus": {"file": "c.tsv"}, "more": {"file": "d.tsv"}}}, "steps.1.split.table"),
        ({"sources": {"corpus": {"file": "c.tsv"}, "more": {"file": "d.tsv"}}, "steps": [{**SPLIT, "table": "corpus"}]}, "sources.more"),
        ({"tasks": {}}, "tasks"),
        ({"tasks": {"t": {**TASK, "metric": "speed"}}}, ANY),
        ({"tasks": {"t": {**TASK, "files": {"dev": None}}}}, "tasks.t.files"),
        ({"tasks": {"t": {**TASK, "data": {"table": "none"}}}}, "tasks.t.data.table"),
        ({"steps": ["split"]}, "steps.1"),
        (step("divide"), "steps.1.step"),
        (step("keep", column="label"), "steps.1.keep.values"),
        (step("keep", column="label", values=["x"], words=[1, 2]), "steps.1.keep.values"),
        (step("keep", column="label", words=[5, 3]), "steps.1.keep.words"),
        (step("keep", column="label", words=[5]), "steps.1.keep.words"),
        (step("keep", colum="label", values=["x"]), ANY),
        (step("keep", table="none", column="label", values=["x"]), "steps.1.keep.table"),
        (step("sample", column="label", number=1), "steps.1.sample.column"),
        (step("number", columns=["a"], into="b", range=[5, 0]), "steps.1.number.range"),
        (step("stack", tables=["corpus"], into_table="x"), "steps.1.stack.tables"),
        (step("stack", tables=["corpus", "corpus"]), "steps.1.stack.into_table"),
        (step("pairs", tables=["corpus", "corpus"], into_table="p", scope="across", **PAIR), "steps.1.pairs.scope"),
        (step("pairs", tables=["corpus"], into_table="p", scope="within", **PAIR), "steps.1.pairs.tables"),
        (step("pairs", tables=["corpus", "corpus"], into_table="p", scope="within", one_per_groups=True, **PAIR), "steps.1.pairs.one_per_groups"),
        (step("pairs", tables=["corpus", "corpus"], into_table="p", scope="within", **{**PAIR, "texts": ["a"]}), "steps.1.pairs.texts"),
        (step("similarity", columns=["sentence"]), "steps.1.similarity.columns"),
        ({"steps": [FEW, {**SPLIT, "table": "corpus"}]}, "steps.1.sample"),
        ({"steps": [FEW, {"step": "shuffle", "table": "corpus", "into_table": "a"}, SPLIT]}, "steps.2.shuffle"),
        ({"steps": [{"step": "split", "shares": {"train": 0.9, "dev": 0.2}}]}, "steps.1.split.shares"),
        ({"steps": [{"step": "split", "shares": {"train": 0.9, "valid": 0.1}}]}, "steps.1.split.shares"),
        ({"steps": [{"step": "split", "shares": {"train": 0.9, "dev": 0}}]}, "steps.1.split.shares"),
        ({"steps": [{"step": "split", "shares": {}}]}, "steps.1.split.shares"),
        ({"steps": [{"step": "split", "shares": {"train": float("nan")}}]}, "steps.1.split.shares.train"),
        (step("keep", column="label", words=[1, {}]), "steps.1.keep.words.1"),
        (step("stack", tables=["corpus", "none"], into_table="x"), "steps.1.stack.tables"),
        ({"sources": {"corpus": {"file": "c.tsv"}, "more": {"file": "d.tsv"}}, "steps": []}, "tasks.t.data.table"),
    ],
)  # fmt: skip
def test_a_bad_recipe_is_an_error_at_its_key(keys: dict[str, Any], key: str, tmp_path: Path) -> None:
    path = write_recipe(tmp_path, recipe_of(**keys))
    with raises_input_error(file="recipe.yaml", key=key):
        load_recipe(path)


CONLL = """# newdoc id = first
# text = Anna's here.
1\tAnna\tB-per\t_
2\t's\tO\t_
3\there\tO\t_
4\t.\tO\t_

1\tNo\tO\t_
2\t!\tO\t_

# newdoc id = second
1\tOslo\tB-place\t_
"""


def read(folder: Path, name: str, content: str, **keys: object) -> Table:
    (folder / name).write_text(content, encoding="utf-8")
    return RecipeSource(name, **keys).read("corpus", folder).table  # type: ignore[arg-type]


def test_a_token_file_has_a_row_for_each_sentence_and_documents_may_be_numbered(tmp_path: Path) -> None:
    table = read(tmp_path, "a.conll", CONLL, header=["id", "tokens", "tags", "misc"])
    assert column(table, "text") == ["Anna's here.", "No !", "Oslo"]
    assert column(table, "tags[]") == [["B-per", "O", "O", "O"], ["O", "O"], ["B-place"]]
    assert column(table, "document") == ["first", "first", "second"]
    assert [row.origins for row in table.rows] == [(Origin("a.conll", line),) for line in (3, 8, 12)]
    content = "-DOCSTART- -X- O\n\nEU ORG O\n\n-DOCSTART- -X- O\n\nUN ORG B\n"
    table = read(tmp_path, "a.txt", content, header=["tokens", "pos", "tags"], reading=Reading(form="conll"))
    assert column(table, "document") == ["1", "2"] and column(table, "text") == ["EU", "UN"]


def test_lists_nested_keys_and_the_recipe_s_names_are_columns(tmp_path: Path) -> None:
    table = read(tmp_path, "a.jsonl", '{"meta": {"id": 1}, "parts": ["a", "b"]}\n{"meta": {"id": 2}}\n')
    assert table.columns == ["meta.id", "parts[]"]
    assert column(table, "parts[]") == [["a", "b"], None]
    assert column(read(tmp_path, "a.tsv", "x\ty\nz\tw\n", header=["one", "two"]), "two") == ["y", "w"]


def test_files_that_are_no_sources(tmp_path: Path) -> None:
    """A link out of the recipe's folder, a pipe, bytes that are no UTF-8, and a file with fewer columns."""
    (tmp_path / "secret.tsv").write_text("text\nSECRET\n", encoding="utf-8")
    (tmp_path / "r").mkdir()
    (tmp_path / "r/a.tsv").symlink_to("../secret.tsv")
    os.mkfifo(tmp_path / "r/pipe.conll")
    (tmp_path / "r/a.conll").write_bytes(b"a\t\xff\n")
    (tmp_path / "r/b.conll").write_bytes(b"a\tO\n")
    for file, width, line in (("a.tsv", 1, None), ("pipe.conll", 2, None), ("a.conll", 2, 1), ("b.conll", 3, 1)):
        source = RecipeSource(file, header=["tokens", "tags", "more"][:width])
        with raises_input_error(file=file, line=line):
            source.read("corpus", tmp_path / "r")
