"""Parquet files: the names of their columns, their labels, and their rows as nested objects (`mtl.data.columns`). They need pyarrow."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.base.extras import check_installed
from mtl.base.files import WRITE_ERRORS
from mtl.base.untrusted import open_regular
from mtl.data.columns import LIST, printable_names

BATCH = 256  # rows of a parquet file that are decoded at a time
DECODED_LIMIT = 2**31  # the most bytes that decoded columns may hold: a small file can unpack to a huge one
ROW_COST = 64  # bytes that a row counts beside its values


def parquet_names(path: Path) -> list[str]:
    """The names of a parquet file's columns that hold texts, numbers or lists of texts. Raises InputError."""
    with opened_parquet(path) as file:
        return list(_names(file.schema_arrow))


def parquet_rows(path: Path, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The rows of a parquet file, in order, as nested objects with these columns. Raises InputError for a missing column, and bad or huge files."""
    with opened_parquet(path) as file:
        names = list(_names(file.schema_arrow))
        for column in columns:
            if column not in names:
                wanted = f"no column {column!r} with texts or numbers ({LIST} at its end: lists of texts)"
                raise InputError(f"{wanted}; it has {printable_names(names)}", path=path)
        # What a list is made of cannot be named: the whole key above it is decoded.
        leaves = [column.removesuffix(LIST).split(".")[0] if column.endswith(LIST) else column for column in columns]
        decoded = 0
        for batch in file.iter_batches(batch_size=BATCH, columns=leaves):
            decoded += batch.nbytes + ROW_COST * batch.num_rows
            if decoded > DECODED_LIMIT:
                raise InputError(f"decodes to more than {DECODED_LIMIT} bytes; split the file", path=path)
            yield from batch.to_pylist()


def parquet_features(path: Path) -> Any:
    """What a file's metadata says about its columns, if the library datasets wrote it; it is not trusted. Raises InputError as `opened_parquet`."""
    with opened_parquet(path) as file:
        metadata = file.schema_arrow.metadata or {}
    try:
        return json.loads(metadata[b"huggingface"])["info"]["features"]
    except (LookupError, TypeError, ValueError, RecursionError):
        return {}


def labels_of(features: Any, column: str) -> list[str]:
    """The labels that a column's integers are indices of, by the file's metadata; or none."""
    try:
        feature = features[column.removesuffix(LIST)]
        if column.endswith(LIST):
            feature = feature[0] if isinstance(feature, list) else feature["feature"]
        labels = feature["names"]
    except (LookupError, TypeError):
        return []
    return labels if isinstance(labels, list) and all(isinstance(label, str) for label in labels) else []


def _names(fields: Any, prefix: str = "") -> Iterator[str]:
    from pyarrow import types

    def is_text(kind: Any) -> bool:
        return types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)

    for field in fields:
        kind = field.type.value_type if types.is_dictionary(field.type) else field.type
        if "." in field.name or field.name.endswith(LIST):
            continue  # no column name reaches this field
        if types.is_struct(kind):
            yield from _names(kind, f"{prefix}{field.name}.")
        elif types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
            if is_text(kind.value_type) or types.is_integer(kind.value_type):
                yield f"{prefix}{field.name}{LIST}"
            elif types.is_struct(kind.value_type):
                inner = _names(kind.value_type, f"{prefix}{field.name}.")
                yield from (f"{name}{LIST}" for name in inner if not name.endswith(LIST))
        elif is_text(kind) or types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
            yield f"{prefix}{field.name}"


@contextmanager
def opened_parquet(path: Path) -> Iterator[Any]:
    """A parquet file; an error of pyarrow, of the file or of a value while it is open becomes an InputError."""
    with (
        parquet_errors(path, "cannot be read", "check that it is a whole parquet file") as (_, parquet),
        open_regular(path) as content,
        parquet.ParquetFile(content) as file,
    ):
        yield file


@contextmanager
def parquet_errors(path: Path, what: str, remedy: str) -> Iterator[tuple[Any, Any]]:
    """The modules pyarrow and pyarrow.parquet. An error in them, or that they are not installed, becomes an InputError."""
    check_installed("parquet", path=path)
    import pyarrow
    from pyarrow import parquet

    try:
        yield pyarrow, parquet
    except FileNotFoundError:
        raise InputError("no such file", path=path) from None
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno in WRITE_ERRORS:  # its remedy is another one
            raise
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(f"{what}: {reason}; {remedy}", path=path) from None
