"""Any table of typed columns as the bytes of a Parquet file: what podpath measures by the thousand,
for DuckDB, pandas and Spark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from podpath_fleet.flow_table import load_arrow

Column = tuple[type, Sequence[str | float | None]]
"""`str`, `int` or `float`, and a value for each row; None stands for what is not known."""
_TYPES = {str: "string", int: "int64", float: "float64"}


def render_parquet(columns: Mapping[str, Column]) -> bytes:
    """Render a table; its types do not depend on what its rows happen to have."""
    arrow, parquet = load_arrow(), load_arrow("pyarrow.parquet")
    made = {
        name: arrow.array(values, getattr(arrow, _TYPES[kind])())
        for name, (kind, values) in columns.items()
    }
    out = arrow.BufferOutputStream()
    parquet.write_table(arrow.table(made), out)
    return bytes(out.getvalue())
