"""The methods that train nothing: ensembles of finished runs, and predictions that another system made (`mtl import`)."""

from pathlib import Path

from mtl.base.errors import InputError
from mtl.base.settings.schema import Config
from mtl.methods.method_kind import MethodKind
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task


class EnsembleKind(MethodKind):
    """The averaged outputs of finished runs."""

    family = "ensemble"
    reads = ("ensemble.", "trainer.accelerator")

    def title(self, config: Config) -> str:
        names = ", ".join(_run_names(config))
        return f"ensemble of {names}" if names else "ensemble"

    def folder(self, config: Config) -> str:
        ending = ["by-seed"] if config.ensemble.by_seed else []
        return "-".join(["ensemble", *_run_names(config), *ending])

    def is_one_system(self, config: Config) -> bool:
        return not config.ensemble.by_seed

    def check(self, config: Config, suite: Suite) -> None:
        """Raise InputError unless the members are different finished runs, and an ensemble of all seeds has one seed."""
        runs = config.ensemble.runs
        if not runs:
            message = "names no run; set it to the folders of finished runs, as in [runs/a,runs/b]"
            raise InputError(message, key="ensemble.runs")
        if len({Path(run).resolve() for run in runs}) < len(runs):
            raise InputError("names a run twice", key="ensemble.runs", value=runs)
        if config.ensemble.by_seed and len(runs) < 2:
            message = "averages the models of several runs; name at least two"
            raise InputError(message, key="ensemble.by_seed", value="true")
        if len(config.seeds) != 1 and not config.ensemble.by_seed:
            message = "an ensemble of all seeds is one system, with one seed, as in [1]; for several, set ensemble.by_seed=true"
            raise InputError(message, key="seeds", value=config.seeds)

    def sources(self, config: Config) -> list[Path]:
        return [Path(run) / "summary.json" for run in config.ensemble.runs]


class ImportedKind(MethodKind):
    """Predictions in files."""

    family = "imported"
    reads = ("imported.",)
    computes = False

    def title(self, config: Config) -> str:
        return f"{config.imported.title or 'another system'}, imported"

    def folder(self, config: Config) -> str:
        return "imported"

    def family_of(self, config: Config) -> str:
        return config.imported.family or self.family

    def answers(self, task: Task) -> bool:
        return True

    def is_one_system(self, config: Config) -> bool:
        return True

    def check(self, config: Config, suite: Suite) -> None:
        """Raise InputError unless all paths with predictions exist."""
        if missing := [path for path in config.imported.predictions if not Path(path).exists()]:
            raise InputError("no such file or folder", path=missing[0])

    def sources(self, config: Config) -> list[Path]:
        """The paths with predictions, and the folders in them."""
        paths = [Path(path) for path in config.imported.predictions]
        return [*paths, *(inner for path in paths for inner in path.rglob("*") if inner.is_dir())]


def _run_names(config: Config) -> list[str]:
    return [Path(run).resolve().name for run in config.ensemble.runs]
