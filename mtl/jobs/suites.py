"""The suite of a run: its name, and the settings that its file has for runs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mtl.config.files import find_suite, flatten
from mtl.config.schema import CHOICES, LOCATIONS
from mtl.errors import InputError
from mtl.methods import METHODS
from mtl.runs.formats import submission_problem
from mtl.sample import SAMPLES
from mtl.tasks.suite import Suite, load_suite

METHODS_KEY = "methods"  # in a suite file's `config`: settings for runs of single methods


def chosen_suite(given: Mapping[str, Any], baseline: Mapping[str, Any]) -> str:
    """The name or path of the suite. given: the settings of a run, by dotted key. baseline: the content of baseline.yaml."""
    name = str(given.get("suite", baseline.get("suite")))
    data_dir = given.get("data_dir")
    return _default_suite(Path(str(data_dir)) if data_dir else None) if name == "auto" else name


def _default_suite(data_dir: Path | None) -> str:
    """klej if its data is there, else the embedded sample. Raises InputError if `data_dir` is given without KLEJ's data."""
    folders = [task.folder for task in load_suite(find_suite("klej")).tasks.values()]
    where = data_dir or Path("data/klej")
    if any((where / folder).is_dir() for folder in folders):
        return "klej"
    if data_dir is not None:
        raise InputError(
            f"data_dir={data_dir}: holds none of KLEJ's folders ({folders[0]}, …); name its suite with suite=, or drop data_dir"
        )
    return "klej-sample"


def load_checked_suite(name: str) -> Suite:
    """The suite with this name or path. Raises InputError, also for settings in its file that a suite must not have."""
    suite = load_suite(find_suite(name))
    if suite.generated and suite.name not in SAMPLES:
        raise InputError(f"suite {suite.name}: generated: only the data of {' and '.join(SAMPLES)} is; drop this key")
    if problem := submission_problem(suite):
        raise InputError(f"suite {suite.name}: submission.{problem}")
    for where, settings in suite_settings(suite).items():
        if locations := [key for key in flatten(settings) if key in LOCATIONS]:
            raise InputError(f"suite {suite.name}: {where}: {locations[0]}: only the command line says where files are")
        if chosen := [key for key in CHOICES if key in settings]:
            raise InputError(f"suite {suite.name}: {where}: {chosen[0]}: only the command line and sweeps choose it")
    return suite


def suite_settings(suite: Suite) -> dict[str, Mapping[str, Any]]:
    """The settings in a suite file: those for every run, and those for the runs of each method. Raises InputError for an unknown method."""
    common = {key: value for key, value in suite.config.items() if key != METHODS_KEY}
    of_methods = suite.config.get(METHODS_KEY, {})
    if not isinstance(of_methods, dict) or not all(isinstance(settings, dict) for settings in of_methods.values()):
        raise InputError(
            f"suite {suite.name}: config.{METHODS_KEY}: must hold settings for methods, as in {{svm: {{floor: {{min_count: 1}}}}}}"
        )
    for method, settings in of_methods.items():
        if method not in METHODS:
            raise InputError(
                f"suite {suite.name}: config.{METHODS_KEY}.{method}: unknown method; known: {', '.join(METHODS)}"
            )
        if unread := [key for key in flatten(settings) if not METHODS[method].reads_key(key)]:
            raise InputError(
                f"suite {suite.name}: config.{METHODS_KEY}.{method}: {unread[0]}: the method does not read it"
            )
    return {"config": common, **{f"config.{METHODS_KEY}.{method}": of for method, of in of_methods.items()}}
