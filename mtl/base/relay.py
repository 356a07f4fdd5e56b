"""Events from a process that trains a seed to the one that started it, which alone draws: through the pipe that is the standard error of
the first one. What libraries or a crash write there goes the same way, and appears above what is drawn."""

import os
import sys
import threading
from contextlib import suppress
from typing import BinaryIO

import msgspec

from mtl.base.events import Advanced, Detail, Ended, Event, Scored
from mtl.base.progress import show

MARK = b"\x1e"  # before an event in the pipe; what mtl prints has no such character
DRAIN = 5.0  # seconds to wait for the rest of a pipe; a process that a seed left behind may hold it open


def send(prefix: str, event: Event) -> None:
    """The display of a process that trains a seed: send an event to the process that reads this one's standard error.

    The prefix stands before titles and details, as in "random-frozen · "; it is empty if there is only one run.
    """
    line = MARK + msgspec.json.encode(_prefixed(prefix, event)) + b"\n"
    with suppress(OSError):
        os.write(2, line)


def _prefixed(prefix: str, event: Event) -> Event:
    match event:
        case Advanced(title=title):
            return msgspec.structs.replace(event, title=f"{prefix}{title}")
        case Ended(last=last):
            return msgspec.structs.replace(event, last=_prefixed(prefix, last))
        case Detail(text=text):
            return Detail(f"{prefix}{text}")
        case Scored():
            return msgspec.structs.replace(event, run=prefix.removesuffix(" · "))
    return event


def relay(stream: BinaryIO) -> threading.Thread:
    """Start a thread that shows the events that `send` writes into a pipe, and prints what else is in it, to the pipe's end."""
    thread = threading.Thread(target=_show_all, args=(stream,), daemon=True)
    thread.start()
    return thread


def _show_all(stream: BinaryIO) -> None:
    operations: dict[int, Advanced] = {}
    with stream:
        for line in stream:
            text, mark, content = line.partition(MARK)
            if text:
                sys.stderr.write(text.decode(errors="replace"))
            if mark:
                try:
                    event = msgspec.json.decode(content, type=Event)
                except msgspec.DecodeError:  # the process was killed while it wrote
                    continue
                if isinstance(event, Advanced):
                    operations[event.key] = event
                elif isinstance(event, Ended):
                    operations.pop(event.last.key, None)
                show(event)
    for operation in operations.values():  # of a process that was killed
        show(Ended(operation, failed=True))
