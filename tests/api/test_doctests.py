"""The examples in the docstrings of the public names, each in a folder of its own."""

import doctest
import importlib
from pathlib import Path

import pytest

import mtl
from mtl.base.wings import wings

MODULES = {
    *(f"mtl.api.{name}" for name in ("settings", "show", "run", "making", "comparison")),
    "mtl.methods.lstm.module",
    *(path.partition(":")[0] for wing in wings() for path in wing.names.values()),
}
EXAMPLES = [
    example
    for name in sorted(MODULES)
    for example in doctest.DocTestFinder(exclude_empty=True).find(
        importlib.import_module(name), extraglobs={"mtl": mtl}
    )
    if example.examples
]


def test_every_public_name_has_an_example() -> None:
    with_examples = {example.name.rsplit(".", 1)[-1] for example in EXAMPLES}
    # Shown by the functions that make them, or older.
    others = {"AuditReport", "Comparison", "InputError", "import_predictions", "load"}
    assert set(mtl.__all__) - others <= with_examples


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_examples_do_what_they_say(example: doctest.DocTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    said: list[str] = []
    runner.run(example, out=said.append, clear_globs=False)
    assert runner.summarize(verbose=False).failed == 0, "".join(said)
