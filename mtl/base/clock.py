"""The time of day, and how durations are worded."""

import os
from datetime import UTC, datetime

from mtl.base.errors import InputError


def now() -> datetime:
    """The time in UTC: that of SOURCE_DATE_EPOCH, in seconds, where it is set, as programs do whose output is to be repeated."""
    fixed = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        return datetime.now(UTC) if fixed is None else datetime.fromtimestamp(int(fixed), UTC)
    except (ValueError, OverflowError, OSError):
        raise InputError(f"SOURCE_DATE_EPOCH={fixed}: must be a number of seconds since 1970") from None


def format_duration(seconds: float) -> str:
    """Seconds with units: 42 s, 3 min 05 s, 2 h 10 min."""
    rounded = round(seconds)
    if rounded < 60:
        return f"{rounded} s"
    if rounded < 3600:
        return f"{rounded // 60} min {rounded % 60:02d} s"
    return f"{rounded // 3600} h {rounded % 3600 // 60:02d} min"
