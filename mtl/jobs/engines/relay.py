"""What a process of an engine shows, through the pipe that is its standard error: it sends events, and only the parent process draws them."""

import os
import sys
import threading
from contextlib import suppress
from typing import BinaryIO

import msgspec

from mtl.base.display import show
from mtl.base.events import Advanced, Detail, Ended, Event, Scored

MARK = b"\x1e"  # before an event in the pipe; what mtl prints has no such character


def send(prefix: str, event: Event) -> None:
    """Send an event to the parent process, as the display of a unit's process. Titles and details begin with the prefix, as "frozen · "."""
    line = MARK + msgspec.json.encode(_prefixed(prefix, event)) + b"\n"
    with suppress(OSError):
        os.write(2, line)


def _prefixed(prefix: str, event: Event) -> Event:
    """The event with the prefix before its title or its text, or with the run that the prefix names."""
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
    """Show the events in a pipe, print what else is in it, and end the operations of a process that was killed."""
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
    for operation in operations.values():
        show(Ended(operation, failed=True))
