"""Parquet files, read with pyarrow where it is installed."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mtl.data.columns import LIST, listed
from mtl.errors import InputError

BATCH = 256
"""How many rows are decoded at a time."""
DECODED_LIMIT = 2**31
"""The most bytes that the columns asked for may hold when decoded: a small file can unpack to a huge one."""
ROW_COST = 64
"""Bytes that each row counts beside its values."""


def parquet_names(path: Path) -> list[str]:
    """The names of a parquet file's columns that hold texts, numbers or lists of texts. Raises InputError."""
    with _opened(path) as file:
        return list(_names(file.schema_arrow))


def parquet_rows(path: Path, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The rows of a parquet file as nested objects with these columns, in the file's order.

    Raises InputError for a missing column, a damaged file, one that decodes to more than DECODED_LIMIT bytes, and
    where pyarrow is not installed.
    """
    with _opened(path) as file:
        known = list(_names(file.schema_arrow))
        for column in columns:
            if column not in known:
                raise InputError(
                    f"{path}: no column {column!r} with texts or numbers ({LIST} at its end: lists of texts);"
                    f" it has {listed(known)}"
                )
        leaves = [column.removesuffix(LIST) for column in columns]
        decoded = 0
        for batch in file.iter_batches(batch_size=BATCH, columns=leaves):
            decoded += batch.nbytes + ROW_COST * batch.num_rows
            if decoded > DECODED_LIMIT:
                raise InputError(f"{path}: decodes to more than {DECODED_LIMIT} bytes; split the file")
            yield from batch.to_pylist()


def _names(fields: Any, prefix: str = "") -> Iterator[str]:
    from pyarrow import types

    for field in fields:
        kind = field.type.value_type if types.is_dictionary(field.type) else field.type
        if "." in field.name or field.name.endswith(LIST):
            continue  # no column name reaches this field
        if types.is_struct(kind):
            yield from _names(kind, f"{prefix}{field.name}.")
        elif _is_list(kind) and _is_text(kind.value_type):
            yield f"{prefix}{field.name}{LIST}"
        elif _is_text(kind) or types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
            yield f"{prefix}{field.name}"


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    return types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)


def _is_list(kind: Any) -> bool:
    from pyarrow import types

    return types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """A parquet file, whose every failure is an InputError."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise InputError(
            f"{path}: parquet files need pyarrow; install it: pip install 'mtl-baselines[parquet]'"
        ) from None
    try:
        with parquet.ParquetFile(path) as file:
            yield file
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(f"{path}: cannot be read: {reason}; check that it is a whole parquet file") from None
