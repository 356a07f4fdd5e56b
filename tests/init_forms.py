"""Forms of data, and what `mtl init-suite` says of them."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from data_files import write_jsonl, write_table
from golden import check_golden

from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite.init_suite import init_suite
from mtl.data.loading import load_dataset
from mtl.tasks.suite import load_suite

Columns = dict[str, Any]


class Form(NamedTuple):
    """Columns by split; `known`: answers; `write`: what writes the files in another form than .jsonl with lists, else .tsv."""

    train: Columns | None = None
    dev: Columns | None = None
    test: Columns | None = None
    known: dict[str, Any] | None = None
    write: Callable[[Path], Any] | None = None

    def write_to(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        if self.write:
            self.write(folder)
        for split, columns in zip(("train", "dev", "test"), self[:3], strict=True):
            if columns:
                rows = list(zip(*columns.values(), strict=True))
                if any(isinstance(cell, list | dict) for cell in rows[0]):
                    write_jsonl(folder / f"{split}.jsonl", [dict(zip(columns, row, strict=True)) for row in rows])
                else:
                    write_table(folder / f"{split}.tsv", list(columns), rows)


def check_forms(group: str, forms: Mapping[str, Form], tmp_path: Path) -> None:
    """`golden/init-suite-GROUP.txt` has the warnings and the tasks of each form, or the refusal. Data without a question is read as guessed."""
    said = []
    for number, (name, form) in enumerate(forms.items()):
        data, out = tmp_path / str(number) / "data", tmp_path / f"{number}.yaml"
        form.write_to(data)
        try:
            made = init_suite(data, out=out, known={"data": form.known} if form.known else None)
            warnings = "".join(f"{line}\n" for line in made.warnings)
            tasks = made.document.partition("tasks:\n")[2]
            said.append(f"== {name}\n{warnings}{tasks}".replace(f"{data.parent}/", ""))
            if not made.questions:
                suite = load_suite(out)
                load_dataset(suite, suite.choose(None), data, 0.1)
        except InputError as error:
            said.append(f"== {name}\nrefused: {error}\n".replace(f"{data.parent}/", ""))
    check_golden(f"init-suite-{group}.txt", "\n".join(said))
