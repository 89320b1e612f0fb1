"""Tables become Parquet with the types of their columns."""

from __future__ import annotations

import io

import pytest

from podpath_fleet.parquet_table import Column, render_parquet

parquet = pytest.importorskip("pyarrow.parquet")


def test_columns_keep_their_types_whatever_they_hold() -> None:
    """A column without a value that is known, or without a row, has its type all the same."""
    columns: dict[str, Column] = {
        "name": (str, ["a", None]), "count": (int, [1, 2]), "time": (float, [None, None]),
    }  # fmt: skip
    none: dict[str, Column] = {name: (kind, []) for name, (kind, _) in columns.items()}
    full, empty = (parquet.read_table(io.BytesIO(render_parquet(one))) for one in (columns, none))

    assert {"name": ["a", None], "count": [1, 2], "time": [None, None]} == full.to_pydict()
    assert ["string", "int64", "double"] == [str(one.type) for one in full.schema]
    assert full.schema.equals(empty.schema)
