"""Several processes that train one network together, each on its part of every batch (`trainer.devices`).

Each process is a rank, as in torch.distributed: this process is rank 0, which alone writes files and shows progress. All ranks have equal
weights: they begin with the same ones, and each step adds the gradients of all ranks before the weights change.
"""

import copy
import logging
import os
import signal
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any

import torch
from pytorch_lightning.plugins.environments import LightningEnvironment
from pytorch_lightning.strategies import DDPStrategy
from torch import Tensor, distributed, multiprocessing, nn

from mtl.base.device import device_of, exact_arithmetic, threads_of_torch
from mtl.base.errors import InputError, exit_with_parent
from mtl.base.progress import set_display
from mtl.base.settings.schema import TrainerConfig

KEY = "trainer.devices"
LONGEST_WAIT = timedelta(hours=2)  # for the other ranks: rank 0 may validate or write meanwhile
LAST_WORDS = 5.0  # seconds to wait for the message of a rank that has ended


def rank() -> int:
    """The rank of this process, from 0; 0 where no others train with it."""
    return int(distributed.get_rank()) if distributed.is_initialized() else 0


def ranks() -> int:
    """How many processes train together."""
    return int(distributed.get_world_size()) if distributed.is_initialized() else 1


def strategy() -> Any:
    """Lightning's strategy for this process: its own default where it trains alone."""
    return Together(cluster_environment=Ranks()) if ranks() > 1 else "auto"


class Ranks(LightningEnvironment):
    """The processes of `train_together`, which exist before Lightning's Trainer does."""

    @property
    def creates_processes_externally(self) -> bool:
        return True

    def local_rank(self) -> int:
        return rank()


class Together(DDPStrategy):
    """Lightning's strategy for several processes, without the wrapper that adds gradients in each backward pass: a step may have several
    (`transformer.accumulate`), and has gradients of one task's head alone. `add_gradients` adds them instead."""

    def configure_ddp(self) -> None:
        """Leave the module as it is."""


def add_gradients(parameters: Iterable[nn.Parameter]) -> None:
    """Replace each gradient by the sum of all ranks' gradients. On every rank, the same parameters have one."""
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    if ranks() == 1 or not gradients:
        return
    total = add(torch.cat([gradient.flatten() for gradient in gradients]))
    for gradient, summed in zip(gradients, total.split([gradient.numel() for gradient in gradients]), strict=True):
        gradient.copy_(summed.view_as(gradient))


def add(numbers: Tensor) -> Tensor:
    """The sum of all ranks' numbers, in place."""
    if ranks() > 1:
        distributed.all_reduce(numbers)
    return numbers


def gather(items: Sequence[Any]) -> list[Any]:
    """The items of all ranks, rank by rank."""
    if ranks() == 1:
        return list(items)
    gathered: list[Any] = [None] * ranks()
    distributed.all_gather_object(gathered, list(items))
    return [item for part in gathered for item in part]


def check_devices(config: TrainerConfig) -> None:
    """Raise InputError if the machine has fewer GPUs than a training is to use."""
    device = device_of(config.accelerator)
    present = torch.cuda.device_count() if device.type == "cuda" else 1
    if config.devices > 1 and device.type != "cpu" and config.devices > present:
        raise InputError(f"torch finds {present}; set at most as many", key=KEY, value=config.devices)


@contextmanager
def joined(device: str, store: str, count: int, threads: int, number: int) -> Iterator[None]:
    """Within the block, this process is the rank with this number, of `count` ranks with so many CPU threads each. `store` is the file in which they
    tell each other their addresses."""
    if device == "cuda":
        torch.cuda.set_device(number)
    among: Any = {"world_size": count, "rank": number, "store": distributed.FileStore(store, count)}
    with threads_of_torch(threads), exact_arithmetic():
        distributed.init_process_group("nccl" if device == "cuda" else "gloo", timeout=LONGEST_WAIT, **among)
        try:
            yield
        finally:
            distributed.destroy_process_group()


def train_together(config: TrainerConfig, train: Callable[..., None], network: nn.Module, *arguments: Any) -> None:
    """Call `train` with the network and the arguments, in `trainer.devices` processes at once. Each has an equal share of this process's CPU
    threads, or a GPU of its own.

    Raises:
        InputError: if another rank ends first.
    """
    if config.devices == 1:
        train(network, *arguments)
        return
    context = multiprocessing.get_context("spawn")
    threads = max(1, torch.get_num_threads() // config.devices)
    others: dict[Any, Any] = {}  # processes, by the end of the pipe to each
    with tempfile.TemporaryDirectory() as folder:
        group = device_of(config.accelerator).type, f"{folder}/ranks", config.devices, threads
        try:
            for number in range(1, config.devices):
                pipe, its_end = context.Pipe()
                process = context.Process(target=_join, args=(group, number, its_end))
                process.start()
                its_end.close()  # so that the pipe ends with the process
                others[pipe] = process
                with suppress(BrokenPipeError):  # `_check` says why it has ended
                    pipe.send((train, network, arguments))
            for pipe, process in others.items():
                _check(pipe, process)
            with joined(*group, 0):
                try:
                    train(network, *arguments)
                except RuntimeError:  # as of a connection that another rank has closed
                    for pipe, process in others.items():
                        if pipe.poll(LAST_WORDS):
                            _check(pipe, process)
                    raise
        finally:
            for process in others.values():
                process.kill()  # it has written nothing
                process.join()


def _check(pipe: Any, process: Any) -> None:
    """Wait for a rank's report. Raise InputError unless it is ready."""
    try:
        problem = pipe.recv()
    except EOFError:
        process.join()
        problem = f"it ended with status {process.exitcode}"
    if problem:
        remedy = "run the same command again to continue, or set trainer.devices=1"
        raise InputError(f"one of the processes that train together has failed ({problem}); {remedy}", key=KEY)


def _join(group: tuple[str, str, int, int], number: int, pipe: Any) -> None:
    """The main function of every rank but 0, with its work from the pipe. It reports an empty text when ready, and later why it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends Ctrl-C to every process; rank 0 ends the others
    threading.Thread(target=exit_with_parent, daemon=True).start()
    set_display(lambda event: None)
    logging.getLogger("mtl").addHandler(logging.NullHandler())
    warnings.simplefilter("ignore")
    try:
        train, network, arguments = pipe.recv()
        network = copy.deepcopy(network)  # its tensors lie in memory that all ranks share
        pipe.send("")
        with joined(*group, number):
            train(network, *arguments)
    except BaseException as error:
        with suppress(OSError):
            pipe.send(f"{type(error).__name__}: {' '.join(str(error).split())[:200]}")
        os._exit(1)
    os._exit(0)
