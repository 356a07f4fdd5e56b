"""What a run asks of the machine that makes it: arithmetic, precision, threads. A method that computes nothing does without torch."""

from contextlib import AbstractContextManager, nullcontext

from mtl.base.settings.schema import Config
from mtl.base.wings import lazy
from mtl.methods import METHODS

NO_MACHINE = "none, since nothing was computed"
NO_PRECISION = "32-true"  # as where the default of `trainer.precision` applies

device_of = lazy("mtl.base.device:device_of")
exact_arithmetic = lazy("mtl.base.device:exact_arithmetic")
describe_device = lazy("mtl.base.device:describe_device")
use_device = lazy("mtl.base.device:use_device")
check_attached = lazy("mtl.training.attached:check_attached")
check_training_precision = lazy("mtl.training.precision:check_precision")
training_precision = lazy("mtl.training.precision:training_precision")


def exact(config: Config) -> AbstractContextManager[None]:
    """Within the block, the run computes as `mtl.base.device.exact_arithmetic` says."""
    return exact_arithmetic() if METHODS[config.method].computes else nullcontext()


def check_precision(config: Config) -> None:
    """Log and raise what `mtl.training.precision.check_precision` does, and raise what `check_trainer` does."""
    if METHODS[config.method].computes:
        check_training_precision(config.trainer)
    check_trainer(config)


def check_trainer(config: Config) -> None:
    """Raise InputError for loggers and callbacks that cannot be used."""
    if (config.trainer.logger, config.trainer.callbacks) != ("auto", None):
        check_attached(config.trainer)  # imports Lightning


def precision(config: Config) -> str:
    """The precision that the run is made in."""
    return str(training_precision(config.trainer)) if METHODS[config.method].computes else NO_PRECISION


def prepare_machine(config: Config) -> None:
    """Set the threads that the run computes with, and let this process keep its memory. Raises InputError if there is no such device."""
    if METHODS[config.method].computes:
        use_device(device_of(config.trainer.accelerator), config.trainer.threads)


def machine(config: Config) -> str:
    """What computes the run, as scores.json has it."""
    if not METHODS[config.method].computes:
        return NO_MACHINE
    return str(describe_device(device_of(config.trainer.accelerator)))
