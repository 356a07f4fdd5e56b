"""Lightning without its messages on hardware and loaders, for trainings whose progress mtl shows itself."""

import logging
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SILENT: dict[str, Any] = {"enable_model_summary": False, "enable_progress_bar": False}  # options of a Trainer
LOGGERS = ("pytorch_lightning", "lightning_fabric", "lightning.pytorch")
MODULES = "pytorch_lightning|lightning_fabric|torch.utils.data|torchmetrics"  # whose warnings are ignored
INTENDED = (
    ".*(num_workers|logging interval|Checkpoint directory|LeafSpec|lr_scheduler.step).*"  # warnings of what is meant so
)


@contextmanager
def quiet() -> Iterator[None]:
    """Within the block, silence Lightning's messages and warnings. Nothing is printed for a thread that an OSError ends, either: TensorBoard writes
    in a thread of its own, and raises the error in this one later."""
    levels = {name: logging.getLogger(name).level for name in LOGGERS}
    for name in LOGGERS:
        logging.getLogger(name).setLevel(logging.ERROR)
    hook = threading.excepthook
    threading.excepthook = lambda failure: None if isinstance(failure.exc_value, OSError) else hook(failure)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module=MODULES)
            warnings.filterwarnings("ignore", message=INTENDED)
            yield
    finally:
        threading.excepthook = hook
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
