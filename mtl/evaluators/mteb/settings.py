"""The settings of `mtl mteb`: its own keys, checked, apart from those of the encoder."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from typing import Any

from mtl.config.settings import UnknownKey, typed_settings
from mtl.errors import InputError
from mtl.untrusted import is_web_address


@dataclass
class ModelFacts:
    """What mteb's model metadata asks for and no encoder knows; the keys `model.…`. None: not said.

    name: as in "organization/name"; None: mtl/{the encoder's name}, with a run's seed. release_date: of the weights, as in 2026-11-22.
    """

    name: str | None = None
    release_date: str | None = None
    license: str | None = None
    reference: str | None = None
    open_weights: bool | None = None
    public_training_code: str | None = None
    public_training_data: str | None = None

    def check(self) -> None:
        """Raise InputError for a value that makes no sense."""
        if self.name is not None and not (self.name.count("/") == 1 and all(self.name.split("/"))):
            raise InputError(f"model.name={self.name}: must be organization/name")
        if self.release_date is not None:
            try:
                date.fromisoformat(self.release_date)
            except ValueError:
                raise InputError(f"model.release_date={self.release_date}: must be a date, as in 2026-11-22") from None
        if self.open_weights and self.license is None:
            raise InputError("model.open_weights=true: needs a licence; set model.license=")
        if self.reference is not None and not is_web_address(self.reference):
            raise InputError(f"model.reference={self.reference}: must begin with https:// or http://")


@dataclass
class MtebSettings:
    """The keys of `mtl mteb` itself. data_dir: the folder with a folder for each task; None: data/{benchmark}, if it is there."""

    benchmark: str = "pl-mteb"
    tasks: list[str] | None = None
    data_dir: str | None = None
    runs_dir: str = "runs"
    model: ModelFacts = field(default_factory=ModelFacts)


MODEL = "model."
RENAMED = {"suite_data_dir": "data_dir"}  # what the encoder calls by the name of a key of the command


def read_settings(given: Mapping[str, Any]) -> tuple[MtebSettings, dict[str, Any]]:
    """The settings of the command, and the others, which are the encoder's. Raises InputError for a bad value."""
    own = _own_keys()
    facts = {key.removeprefix(MODEL): value for key, value in given.items() if key.startswith(MODEL)}
    # A date is the only value that YAML reads as something else than these keys have.
    dated = {key: value.isoformat() if isinstance(value, date) else value for key, value in facts.items()}
    tasks = given.get("tasks")
    if tasks is not None and not isinstance(tasks, list):
        raise InputError(f"tasks={tasks}: must be a list, as in [PpcPC,SICK-R-PL]")
    settings = typed_settings(MtebSettings, {key: value for key, value in given.items() if key in own})
    settings.model = typed_settings(ModelFacts, dated, MODEL)
    settings.model.check()
    others = {key: value for key, value in given.items() if key not in own and not key.startswith(MODEL)}
    return settings, {RENAMED.get(key, key): value for key, value in others.items()}


def _own_keys() -> set[str]:
    """The keys of the command itself, without those of the model's metadata."""
    return {key.name for key in fields(MtebSettings)} - {"model"}


def unknown_key(error: UnknownKey) -> UnknownKey:
    """An encoder's error of an unknown key, with the keys that the command takes, under the names that it takes."""
    if error.section:
        return error
    names = {name: key for key, name in RENAMED.items()}
    own = _own_keys() | {MODEL + key.name for key in fields(ModelFacts)}
    return UnknownKey(names.get(error.key, error.key), own | {names.get(key, key) for key in error.known})
