"""A run that is to be made: its configuration, suite, tasks and folders, from the settings and the files that they name."""

import logging
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from pathlib import Path
from typing import Any

import yaml

from mtl.base.errors import InputError
from mtl.base.memory import check_fits
from mtl.base.names import ABSENT, advice, meant, one_spelling
from mtl.base.progress import Remark, show
from mtl.base.settings.layers import (
    differences,
    find_suite,
    find_yaml,
    flatten,
    flatten_config,
    matches,
    merge,
    shipped,
)
from mtl.base.settings.schema import (
    BY_TASK,
    CHOICES,
    INDIFFERENT,
    LOCATIONS,
    PAPER,
    Config,
    EmbedderOptions,
    config_of,
    names_code,
)
from mtl.base.typed import UnknownKey, check_known, declared_keys
from mtl.base.untrusted_yaml import read_yaml
from mtl.base.wings import lazy
from mtl.data.sample import SAMPLES
from mtl.data.splits import choose_scored, has_files
from mtl.embedders import EMBEDDERS, embedder_kind, read_embeddings
from mtl.jobs.values import PredictedValues
from mtl.methods import METHODS, method_name
from mtl.runs.folder import RunFolder
from mtl.submissions import submission_problem
from mtl.tasks.suite import Suite, load_suite
from mtl.tasks.task import Task

SETTINGS_KINDS = ("architecture", "preset")  # kinds of files that change any settings
METHODS_KEY = "methods"  # in a suite file's `config`: settings for runs of single methods
# The settings that choose a file of settings, with their defaults. A method's file may name another variant as its default.
FILES = {"method": "lstm", "embeddings": "random", "variant": "frozen", "architecture": PAPER, "preset": PAPER}
WITHOUT_GPU = "strong"  # the preset of a run on a CPU whose settings name no size
SECTIONS = {key.partition(".")[0] for key, _ in declared_keys(Config) if "." in key}
SIZES = ("preset", "architecture", "encoder.hidden_size")
# Settings beside INDIFFERENT that make no other model: what is run, on which data, on which machine, and what is written of it.
NO_MODEL = ("embeddings.name", "tasks", "seeds", "held_out", "choosing_share", "trainer.", "submission.")
MOST_SEEDS = 10_000
DEFAULTS, COMMAND_LINE, CHOSEN = "configs/baseline.yaml", "command line", "chosen by mtl"  # where a value comes from

device_of = lazy("mtl.base.device:device_of")


def read_named(kind: str, name: str, folder: Path) -> dict[str, Any]:
    """The content of the file with this name or path, which holds its own name under the key `kind`, as in `variant: frozen`."""
    path = find_yaml(kind, name, folder)
    content = read_yaml(path)
    named = one_spelling(str(content.get(kind, "")))
    if not re.fullmatch(r"\w[\w.+-]*", named):
        raise InputError(f"{kind}: must be its name, of letters, digits and _ . + -", path=path)
    return {**content, kind: named}


def read_settings(kind: str, name: str, folder: Path, embeddings: str) -> dict[str, Any]:
    """The settings of the architecture or preset, as `kind` says, with this name or path. Its section `embeddings` has a section for each kind of
    embeddings; only that of `embeddings` applies."""
    content, origin = read_named(kind, name, folder), f"{kind}={name}"
    # Runs are told apart by these names, and both kinds stand in the same place of a run's name.
    file = f"{content[kind]}.yaml"
    taken = [shipped_kind for shipped_kind in SETTINGS_KINDS if (folder.parent / shipped_kind / file).is_file()]
    if taken and find_yaml(kind, name, folder).resolve() != (folder / file).resolve():
        raise InputError(f"{origin}: {content[kind]} is the name of a shipped {taken[0]}; choose another name")
    sections = content.pop("embeddings", {})
    if not isinstance(sections, dict) or not all(isinstance(section, dict) for section in sections.values()):
        message = "must hold a section for each kind of embeddings, as in {fasttext: {dropout: 0.1}}"
        raise InputError(message, path=origin, key="embeddings")
    try:
        check_known(sections, EMBEDDERS, "embeddings.")
        for kind_of, section in sections.items():
            if "name" in section:
                raise InputError("only the command line and sweeps choose it", key=f"embeddings.{kind_of}.name")
            check_known(section, EMBEDDERS[kind_of].options.__dataclass_fields__, f"embeddings.{kind_of}.")
    except InputError as error:
        raise error.located(path=origin) from None
    settings = {**content, "embeddings": sections.get(embeddings, {})}
    _check_layer(origin, settings, kind)
    return settings


def chosen_suite(settings: Mapping[str, Any], baseline: Mapping[str, Any]) -> str:
    """The name or path of the suite in the settings of a run, or else in baseline.yaml; for auto, klej if its data is there, else the embedded
    sample. Raises InputError for a data folder without KLEJ's data, and no suite."""
    name, data_dir = str(settings.get("suite", baseline.get("suite"))), settings.get("data_dir")
    if name != "auto":
        return name
    folders = [task.folder for task in load_suite(find_suite("klej")).tasks.values()]
    if any((Path(str(data_dir or "data/klej")) / folder).is_dir() for folder in folders):
        return "klej"
    if data_dir:
        message = f"holds none of KLEJ's folders ({folders[0]}, …); name its suite with suite=, or drop data_dir"
        raise InputError(message, key="data_dir", value=Path(str(data_dir)))
    return "klej-sample"


def load_checked_suite(name: str) -> Suite:
    """The suite with this name or path. Raises InputError, also for settings in its file that a suite must not have."""
    suite = load_suite(find_suite(name))
    if suite.generated and suite.name not in SAMPLES:
        raise InputError(f"suite {suite.name}: generated: only the data of {', '.join(SAMPLES)} is; drop this key")
    if problem := submission_problem(suite):
        raise InputError(f"suite {suite.name}: submission.{problem}")
    for where, settings in suite_settings(suite).items():
        _check_layer(f"suite {suite.name}: {where}", settings)
    return suite


def _check_layer(origin: str, settings: Mapping[str, Any], named: str = "") -> None:
    """Raise InputError for a key that no file of settings sets; `named` is the key under which the file has its name."""
    for key in flatten(settings):
        if key in LOCATIONS:
            raise InputError("only the command line says where files are", path=origin, key=key)
        if key in (*CHOICES, "embeddings.name") and key != named:
            raise InputError("only the command line and sweeps choose it", path=origin, key=key)


def suite_settings(suite: Suite) -> dict[str, Mapping[str, Any]]:
    """The settings in a suite file: those for every run, and those for the runs of each method. Raises InputError for an unknown method."""
    of_methods, origin = suite.config.get(METHODS_KEY, {}), f"suite {suite.name}: config.{METHODS_KEY}"
    if not isinstance(of_methods, dict) or not all(isinstance(settings, dict) for settings in of_methods.values()):
        raise InputError(f"{origin}: must hold settings for methods, as in {{svm: {{floor: {{min_count: 1}}}}}}")
    for method, settings in of_methods.items():
        if method not in METHODS:
            raise InputError(f"{origin}.{method}: unknown method; {advice(method, METHODS, 'methods')}")
        if unread := [key for key in flatten(settings) if not METHODS[method].reads_key(key)]:
            raise InputError(f"{origin}.{method}: {unread[0]}: the method does not read it")
    common = {key: value for key, value in suite.config.items() if key != METHODS_KEY}
    return {"config": common, **{f"config.{METHODS_KEY}.{name}": section for name, section in of_methods.items()}}


@dataclass(frozen=True)
class Job:
    """One run: its configuration and its suite.

    Args:
        predictions: for each seed of a run of the method `imported` the values that Python code gave; empty: it names files of them.
        name: that of a run among several, as those of a sweep.
        origins: by key of the configuration, where its value comes from.
        preset_settings: by key of the configuration, the value that it has without the settings of the command line.
    """

    config: Config
    suite: Suite
    predictions: Sequence[PredictedValues] = ()
    name: str = ""
    origins: Mapping[str, str] = field(default_factory=dict, compare=False)
    preset_settings: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @cached_property
    def tasks(self) -> list[Task]:
        """The chosen tasks, in the suite's order. Raises InputError for an unknown id."""
        return self.suite.choose(self.config.tasks)

    @cached_property
    def run_tasks(self) -> list[Task]:
        """The tasks of a run: the chosen ones without those that are left out (`unanswered`, `absent`). Raises InputError if `tasks` names one that
        the method does not answer, or one without the task whose head answers it, and if the method answers no task of the suite."""
        ids = {task.id for task in self.tasks}
        for task in self.tasks:
            if task.answered_by is not None and task.answered_by not in ids:
                message = f"task {task.id} is answered by {task.answered_by}'s head; name that task too"
                raise InputError(message, key="tasks")
        method, unanswered = self.config.method, self.unanswered
        if unanswered and self.config.tasks is not None:
            message = f"method {method} does not support {', '.join(unanswered)}; do not name such tasks"
            raise InputError(message, key="tasks")
        if len(unanswered) == len(self.tasks):
            message = f"supports no task of suite {self.suite.name}; set another method="
            raise InputError(message, key="method", value=method)
        return [task for task in self.tasks if task.id not in {*unanswered, *self.absent}]

    @cached_property
    def unanswered(self) -> list[str]:
        """The ids of the chosen tasks that the method does not answer."""
        unanswered = METHODS[self.config.method].unanswered(self.suite)
        return [task.id for task in self.tasks if task.id in unanswered]

    @cached_property
    def absent(self) -> list[str]:
        """The ids of the tasks that a run leaves out because none of their files is there, or because another such task answers them. Only a suite
        that says so (`allow_missing`) has such tasks, and only if `tasks` does not name them. If no task is there, none is left out: all data is
        missing."""
        if not self.suite.allow_missing or self.config.tasks is not None:
            return []
        answered = [task for task in self.tasks if task.id not in self.unanswered]
        present = {task.id for task in answered if has_files(task, self.data_dir)}
        absent = [task.id for task in answered if not {task.id, task.answered_by or task.id} <= present]
        return absent if len(absent) < len(answered) else []

    @property
    def title(self) -> str:
        """The title of the run's rows; it says so where settings differ from those of the preset."""
        return ", ".join([METHODS[self.config.method].title(self.config), *(["changed"] if self.changed else [])])

    @property
    def changed(self) -> dict[str, Any]:
        """The settings of the command line that make another model than the preset's, by key, but for those that the method's title names."""
        method = METHODS[self.config.method]
        if not method.reads_key("preset"):
            return {}
        named = method.title(self.config).split(", ")
        return {
            key: value
            for key, value in flatten_config(self.config).items()
            if self.origins.get(key) == COMMAND_LINE
            and value != self.preset_settings.get(key)
            and not matches(key, (*CHOICES, *INDIFFERENT, *NO_MODEL))
            and not {key.rpartition(".")[2], value if isinstance(value, str) else None} & {*named}
        }

    def check_folder(self) -> None:
        """Raise InputError, which names the keys, if its folder belongs to another configuration. Methods that train take further seeds, and some
        seeds of a finished run."""
        self.folder.check(self.config, takes_seeds=METHODS[self.config.method].builds is not None)

    def check_memory(self) -> None:
        """Raise InputError for an unfinished run whose seeds need more memory than this machine has, if they run on it. An engine checks the same,
        but only after imports that take seconds."""
        config, needed = self.config, self.config.resources.memory_bytes
        if needed and config.engine == "processes" and config.runs_apart and not self.is_finished:
            check_fits(needed, "a seed", "set a smaller one", key="resources.memory")

    @property
    def is_finished(self) -> bool:
        """Whether all of its seeds are those of a finished run. Raises InputError for a damaged summary."""
        return set(self.config.seeds) <= self.folder.finished_seeds()

    @property
    def data_dir(self) -> Path:
        """Where the suite's data is."""
        return Path(self.config.data_dir or self.suite.data_dir)

    @property
    def folder(self) -> RunFolder:
        """The folder of the results: `run_dir`, or else {runs_dir}/{suite}/{the method's folder name}."""
        name = METHODS[self.config.method].folder(self.config)
        return RunFolder(Path(self.config.run_dir or f"{self.config.runs_dir}/{self.suite.name}/{name}"))


def load_run(settings: Mapping[str, Any], placed: Callable[[Job], Job] = lambda job: job) -> Job:
    """The run that `mtl baseline` makes with these settings: `load_job`, with defaults for this machine where they leave it open. Without a GPU, the
    preset is WITHOUT_GPU unless one of SIZES is set, by a file too. A method that gives the same result with every seed has one seed. A run that has
    begun otherwise, in the folder that `placed` gives its job, continues as it began. Raises InputError as `load_job`."""
    job = load_job(settings)
    config, kind, folder = job.config, METHODS[job.config.method], placed(job).folder.config
    begun = read_yaml(folder) if folder.exists() else {}
    chosen: dict[str, Any] = {}
    if kind.reads_key("preset") and all(job.origins[key] == DEFAULTS for key in SIZES):
        changed = differences(folder, config) if begun else []
        if begun.get("preset") == WITHOUT_GPU:
            chosen["preset"] = WITHOUT_GPU
        elif begun and all(difference.startswith("seeds:") for difference in changed):
            chosen["preset"] = PAPER
        elif config.engine == "processes" and device_of(config.trainer.accelerator).type == "cpu":
            chosen["preset"] = WITHOUT_GPU
            paper = f"preset={PAPER} is the paper's model, with {config.encoder.hidden_size:,} units"
            show(Remark(f"preset={WITHOUT_GPU}, since there is no GPU; {paper}", logging.WARNING))
    if kind.is_deterministic and job.origins["seeds"] == DEFAULTS:
        chosen["seeds"] = begun.get("seeds", config.seeds[:1])
        if not begun:
            show(Remark(f"one seed, since method {config.method} gives the same result with every seed"))
    if job.suite.generated and job.origins["suite"] == DEFAULTS and not begun:
        show(Remark(f"no suite= is set: this is {job.suite.name}, the embedded sample of KLEJ", logging.WARNING))
    if not chosen:
        return job
    job = load_job({**settings, **chosen})
    return replace(job, origins={**job.origins, **dict.fromkeys(chosen, CHOSEN)})


def load_job(settings: Mapping[str, Any]) -> Job:
    """The run that settings (by dotted keys) describe. Values come from baseline.yaml, embeddings/NAME.yaml, method/NAME.yaml, variant/NAME.yaml, the
    suite file's `config`, its section `methods` for the method, architecture/NAME.yaml, preset/NAME.yaml and the settings, in this order; later
    values replace earlier ones. Raises InputError for an unknown key, a bad value or a missing file."""
    configs = shipped("configs")
    rest = dict(settings)
    # embeddings=NAME chooses a file, embeddings.KEY=VALUE sets a key of it.
    names = {key: str(rest.pop(key)) for key in FILES if key in rest}
    name, folder = names.get("method", FILES["method"]), configs / "method"
    method: dict[str, Any] = {"method": name}  # a method without a file has no settings
    if name not in METHODS or (folder / f"{name}.yaml").is_file():
        method = read_yaml(find_yaml("method", name, folder))
        method["method"] = method_name(str(method.get("method")))
    files = {**FILES, "variant": method.pop("variant", FILES["variant"]), **names}
    read = METHODS[method["method"]].reads_key
    for key in settings:
        if key != "method" and not read(key) and any(kind.reads_key(key) for kind in METHODS.values()):
            raise InputError(f"method {method['method']} does not read it; set method=, or drop it", key=key)
    embeddings = read_embeddings(files["embeddings"])
    training = embeddings.pop("config", None) or {}  # an embedding's file may set keys of the training too
    variant = read_named("variant", files["variant"], configs / "variant")
    baseline = read_yaml(configs / "baseline.yaml")
    if "variant" in names:
        defaults = flatten(baseline)
        if unread := [key for key, value in flatten(variant).items() if defaults.get(key) != value and not read(key)]:
            message = f"sets {unread[0]}, which method {method['method']} does not read"
            raise InputError(message, key="variant", value=variant["variant"])
    suite_name = chosen_suite(rest, baseline)
    suite = load_checked_suite(suite_name)
    own, chosen = suite_settings(suite), ["config"]
    # The settings of a generated suite for a method are for the model that the run trains by itself.
    if not suite.generated or rest.get(f"{method['method']}.path") is None:
        chosen.append(f"config.{METHODS_KEY}.{method['method']}")
    layers = {
        DEFAULTS: baseline,
        f"embeddings={files['embeddings']}": {"embeddings": embeddings},
        f"embeddings={files['embeddings']}: config": training,
        f"method={files['method']}": method,
        f"variant={files['variant']}": variant,
        **{f"suite {suite.name}: {where}": own[where] for where in chosen if where in own},
        **{
            f"{kind}={files[kind]}": read_settings(kind, files[kind], configs / kind, embeddings["name"])
            for kind in SETTINGS_KINDS
        },
    }
    options = embedder_kind(embeddings["name"]).options
    config, origins = _merged(layers, {**rest, "suite": suite_name}, options)
    chosen_here = {"embeddings.name" if key == "embeddings" else key: key in settings for key in (*FILES, "suite")}
    origins |= {key: COMMAND_LINE if here else DEFAULTS for key, here in chosen_here.items()}
    preset: dict[str, Any] = {}
    for layer in layers.values():
        merge(preset, layer)
    job = Job(config, suite, origins=origins, preset_settings=flatten(preset))
    _check_variant(job.config, rest, flatten(variant))
    return replace(job, suite=choose_scored(suite, job.data_dir))


def parse_settings(words: Sequence[str]) -> dict[str, Any]:
    """Settings from words `key=value`; values are read as YAML, a section as a mapping. Raises InputError for a word of another form."""
    settings: dict[str, Any] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise InputError(f"{word!r} is not key=value, as in encoder.hidden_size=64")
        try:
            parsed = yaml.safe_load(value)
        except (yaml.YAMLError, ValueError, IndexError, RecursionError):  # PyYAML raises all of these
            raise InputError(f"{word!r}: the value is not YAML") from None
        key = key.strip()
        settings |= flatten({key: parsed}) if key in SECTIONS and isinstance(parsed, dict) else {key: parsed}
    return settings


def _check_variant(config: Config, keys: Collection[str], variant: Mapping[str, Any]) -> None:
    """Raise InputError for a setting that contradicts the variant, by whose name results are compared, or that it does not read."""
    name, settings = config.variant, flatten_config(config)
    for key, value in variant.items():
        if settings[key] != value:
            message = f"variant {name} has {key}={value}; choose another with variant="
            raise InputError(message, key=key, value=settings[key])
    unread = METHODS[config.method].unread(config)
    if ignored := [key for key in keys if key not in variant and matches(key, unread)]:
        raise InputError(f"variant {name} does not read it; choose another with variant=, or drop it", key=ignored[0])


def _merged(
    layers: Mapping[str, Any], settings: Mapping[str, Any], options: type[EmbedderOptions]
) -> tuple[Config, dict[str, str]]:
    """The configuration from layers of settings by where they come from, in the order of their precedence, and from those of the command line; and
    for each key the layer of its value. Raises InputError for a key that does not exist, and a value that is missing or makes no sense; it names the
    layer, if it is neither the first, which has the defaults, nor the command line."""
    merged: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for origin, layer in layers.items():
        if not isinstance(layer, dict):
            raise InputError("must hold keys and values", path=origin)
        if named := [key for key, value in flatten(layer).items() if names_code(key, value)]:
            raise InputError("only the command line and Python name code that runs", path=origin, key=named[0])
        merge(merged, layer)
        origins |= dict.fromkeys(flatten(layer), origin)
    known = {key for key, _ in declared_keys(Config)} | {key for key, _ in declared_keys(options, "embeddings.")}
    for key, value in settings.items():
        if key not in known.union(flatten(merged)) and key.rpartition(".")[0] not in BY_TASK:
            raise _unknown_key(key, known, str(merged["embeddings"]["name"]), str(merged["method"]))
        merge(merged, reduce(lambda inner, name: {name: inner}, reversed(key.split(".")), value))
        origins[key] = COMMAND_LINE
    merged["seeds"] = _listed_seeds(merged.get("seeds"))
    try:
        return config_of(merged, options), origins
    except InputError as error:
        wrong = f"{error.section}{error.unknown}" if isinstance(error, UnknownKey) else str(error.key)
        near = [key for key in origins if f"{key}.".startswith(f"{wrong}.") or wrong.startswith(f"{key}.")][-1:]
        # What has no value is missing in the file that begins its section.
        near = near or [key for key in origins if key.rpartition(".")[0] == wrong.rpartition(".")[0]][:1]
        path = origins[near[0]] if near else DEFAULTS
        raise error if path in (DEFAULTS, COMMAND_LINE) else error.located(path=path) from None


def _listed_seeds(seeds: Any) -> Any:
    """The seeds as a list: a number N stands for 1 to N. Raises InputError for a number that is none of seeds."""
    if not isinstance(seeds, int) or isinstance(seeds, bool):
        return seeds
    if not 1 <= seeds <= MOST_SEEDS:
        raise InputError(f"must be a number of seeds, 1 to {MOST_SEEDS}, or a list", key="seeds", value=seeds)
    return list(range(1, seeds + 1))


def _unknown_key(key: str, known: Collection[str], embeddings: str, method: str) -> InputError:
    section, _, name = key.partition(".")
    kinds = [kind for kind in EMBEDDERS if name in EMBEDDERS[kind].options.__dataclass_fields__]
    if section == "embeddings" and kinds:
        return InputError(f"{embeddings} embeddings have no {name}; set embeddings={' or '.join(kinds)}", key=key)
    if says := [ABSENT[part] for part in key.split(".") if part in ABSENT]:
        return InputError(f"unknown key {key!r}; {says[-1]}")
    known = [*known, "embeddings"]
    read = [name for name in known if METHODS[method].reads_key(name)]
    return UnknownKey(key, read if meant(key, read) else known)
