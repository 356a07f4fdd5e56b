"""What a run asks of the machine that makes it: arithmetic, precision, threads. A method that computes nothing does without torch."""

from contextlib import AbstractContextManager, nullcontext

from mtl.base.settings.schema import Config
from mtl.base.wings import lazy
from mtl.methods import METHODS

NO_MACHINE = "none, since nothing was computed"
NO_PRECISION = "32-true"  # as where the default of `trainer.precision` applies

# Each is imported, with torch or Lightning, when it is first called.
device_of = lazy("mtl.base.device:device_of")
exact_arithmetic = lazy("mtl.base.device:exact_arithmetic")
describe_device = lazy("mtl.base.device:describe_device")
use_device = lazy("mtl.base.device:use_device")
check_attached = lazy("mtl.training.attached:check_attached")
check_precision = lazy("mtl.training.precision:check_precision")
training_precision = lazy("mtl.training.precision:training_precision")


def run_arithmetic(config: Config) -> AbstractContextManager[None]:
    """Within the block, the run computes as `mtl.base.device.exact_arithmetic` says."""
    return exact_arithmetic() if _computes(config) else nullcontext()


def check_trainer_settings(config: Config) -> None:
    """Log and raise what `mtl.training.precision.check_precision` does, and raise what `check_loggers_and_callbacks` does."""
    if _computes(config):
        check_precision(config.trainer)
    check_loggers_and_callbacks(config)


def check_loggers_and_callbacks(config: Config) -> None:
    """Raise InputError for loggers and callbacks that cannot be used."""
    if (config.trainer.logger, config.trainer.callbacks) != ("auto", None):
        check_attached(config.trainer)


def run_precision(config: Config) -> str:
    """The precision that the run is made in."""
    return str(training_precision(config.trainer)) if _computes(config) else NO_PRECISION


def use_run_device(config: Config) -> None:
    """Let this process compute on the run's device with the run's threads (`mtl.base.device.use_device`). Raises InputError for no such device."""
    if _computes(config):
        use_device(device_of(config.trainer.accelerator), config.trainer.threads)


def describe_run_device(config: Config) -> str:
    """What computes the run, as scores.json has it."""
    return str(describe_device(device_of(config.trainer.accelerator))) if _computes(config) else NO_MACHINE


def _computes(config: Config) -> bool:
    return METHODS[config.method].computes
