"""The time of day."""

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
