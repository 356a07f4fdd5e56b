"""Files that are numbered parts of one."""

from pathlib import Path

import pytest
from data_files import write_rows
from input_errors import refused

from mtl.data.hashes import hash_files
from mtl.data.numbered import numbered_names
from mtl.data.records import column_names, read_records
from mtl.tasks.layout import Layout
from mtl.tasks.task import Task


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_numbered_parts_are_one_file(tmp_path: Path, suffix: str) -> None:
    names = [f"part-{number}{suffix}" for number in range(11)]
    for number, name in enumerate(names):
        write_rows(tmp_path / name, ["text", "n"], [[f"t{number}", number], ["u", number]])
    write_rows(tmp_path / f"part-x{suffix}", ["text", "n"], [["no part", 99]])
    layout, first = Layout(part="*"), tmp_path / names[0]
    records = read_records(first, ["n"], layout=layout)
    assert [int(str(record.values[0])) for record in records] == [number // 2 for number in range(22)]
    lines = [record.line for record in records]
    assert lines == sorted(set(lines)) and column_names(first, layout) == ["text", "n"]
    task = Task(id="t", text=["text"], target="n", metric="accuracy", files={"train": f"{names[0]}#*"})
    assert [file.name for file in hash_files([task], tmp_path)] == names
    (tmp_path / names[4]).unlink()
    refused(lambda: read_records(first, ["n"], layout=layout), file=names[0])


@pytest.mark.parametrize("first", [0, 1])
def test_the_missing_part_is_named(first: int) -> None:
    names = [f"part-{number}.csv" for number in range(first, 30)]
    assert numbered_names(names[0], names) == names
    with pytest.raises(ValueError, match="part 25 is missing"):
        numbered_names(names[0], [name for name in names if name != "part-25.csv"])
    with pytest.raises(ValueError, match="several files of part 3"):
        numbered_names(names[0], [*names, "part-03.csv"])
    with pytest.raises(ValueError, match="part 1 is missing"):
        numbered_names(names[5], names[5:])
    with pytest.raises(ValueError, match="no such file"):
        numbered_names("other-0.csv", names)


def test_names_say_how_many_parts_there_are() -> None:
    names = [f"a-{number}-of-3-{number:016x}.parquet" for number in range(3)]
    assert numbered_names(names[1], [*names, "a-0-of-3.parquet"]) == names
    with pytest.raises(ValueError, match="the number of parts is 2, and 3 by their names"):
        numbered_names(names[0], names[:2])
    many = f"a-0-of-{10**20}.csv"  # refused at once: so many numbers would fill any memory
    with pytest.raises(ValueError, match="the number of parts is 1, and"):
        numbered_names(many, [many])
