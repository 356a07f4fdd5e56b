"""The suite of a run: which one the settings choose, and the settings that stand in its file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.base.names import advice
from mtl.base.settings.layers import check_file_may_set, find_suite, flatten
from mtl.data.sample import SAMPLES
from mtl.methods import METHODS
from mtl.submissions import submission_problem
from mtl.tasks.suite import Suite, load_suite

METHODS_KEY = "methods"  # in a suite file's `config`: settings for runs of single methods


def chosen_suite(settings: Mapping[str, Any], baseline: Mapping[str, Any]) -> str:
    """The name or path of the suite in the settings of a run, or else in baseline.yaml. `auto` stands for klej if its data is there, else for the
    embedded sample. Raises InputError for `auto` with a data folder that has no data of KLEJ."""
    name = str(settings.get("suite", baseline.get("suite")))
    if name != "auto":
        return name
    data_dir = settings.get("data_dir")
    klej_dir = Path(str(data_dir or "data/klej"))
    folders = [task.folder for task in load_suite(find_suite("klej")).tasks.values()]
    if any((klej_dir / folder).is_dir() for folder in folders):
        return "klej"
    if not data_dir:
        return "klej-sample"
    message = f"holds none of KLEJ's folders ({folders[0]}, …); name its suite with suite=, or drop data_dir"
    raise InputError(message, key="data_dir", value=klej_dir)


def load_checked_suite(name: str) -> Suite:
    """The suite with this name or path. Raises InputError, also for settings in its file that a suite must not have."""
    suite = load_suite(find_suite(name))
    if suite.generated and suite.name not in SAMPLES:
        raise InputError(f"suite {suite.name}: generated: only the data of {', '.join(SAMPLES)} is; drop this key")
    if problem := submission_problem(suite):
        raise InputError(f"suite {suite.name}: submission.{problem}")
    for section, settings in suite_settings(suite).items():
        check_file_may_set(f"suite {suite.name}: {section}", settings)
    return suite


def suite_settings(suite: Suite) -> dict[str, Mapping[str, Any]]:
    """The sections of settings in a suite file: `config`, for all methods, and `config.methods.NAME`. Raises InputError for a bad section."""
    place = f"suite {suite.name}: config.{METHODS_KEY}"
    by_method = suite.config.get(METHODS_KEY, {})
    if not isinstance(by_method, dict) or not all(isinstance(settings, dict) for settings in by_method.values()):
        raise InputError(f"{place}: must hold settings for methods, as in {{svm: {{floor: {{min_count: 1}}}}}}")
    sections: dict[str, Mapping[str, Any]] = {
        "config": {key: value for key, value in suite.config.items() if key != METHODS_KEY}
    }
    for method, settings in by_method.items():
        if method not in METHODS:
            raise InputError(f"{place}.{method}: unknown method; {advice(method, METHODS, 'methods')}")
        for key in flatten(settings):
            if not METHODS[method].reads_key(key):
                raise InputError(f"{place}.{method}: {key}: the method does not read it")
        sections[f"config.{METHODS_KEY}.{method}"] = settings
    return sections
