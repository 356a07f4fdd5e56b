"""The registry entry of ensembles: the averaged outputs of the models of finished runs."""

from pathlib import Path

from mtl.base.errors import InputError
from mtl.methods.method import MethodKind
from mtl.settings.schema import Config
from mtl.tasks.suite import Suite


class EnsembleKind(MethodKind):
    """The averaged outputs of finished runs."""

    family = "ensemble"
    reads = ("ensemble.", "trainer.accelerator")

    def title(self, config: Config) -> str:
        return " of ".join(filter(None, ["ensemble", ", ".join(_names(config))]))

    def folder(self, config: Config) -> str:
        return "-".join(["ensemble", *_names(config), *(["by-seed"] if config.ensemble.by_seed else [])])

    def is_one_system(self, config: Config) -> bool:
        return not config.ensemble.by_seed

    def check(self, config: Config, suite: Suite) -> None:
        """Raise InputError unless the members are different finished runs, and an ensemble of all seeds has one seed."""
        runs = config.ensemble.runs
        if not runs:
            raise InputError(
                "names no run; set it to the folders of finished runs, as in [runs/a,runs/b]", key="ensemble.runs"
            )
        if len({Path(run).resolve() for run in runs}) < len(runs):
            raise InputError("names a run twice", key="ensemble.runs", value=runs)
        if config.ensemble.by_seed and len(runs) < 2:
            raise InputError(
                "averages the models of several runs; name at least two", key="ensemble.by_seed", value="true"
            )
        if len(config.seeds) != 1 and not config.ensemble.by_seed:
            message = "an ensemble of all seeds is one system, with one seed, as in [1]; for several, set ensemble.by_seed=true"
            raise InputError(message, key="seeds", value=config.seeds)

    def sources(self, config: Config) -> list[Path]:
        return [Path(run) / "summary.json" for run in config.ensemble.runs]


def _names(config: Config) -> list[str]:
    return [Path(run).resolve().name for run in config.ensemble.runs]


ENSEMBLE = EnsembleKind()
