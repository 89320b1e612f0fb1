"""What a run leaves in its folder: a journal of rows that survives `kill -9`, and tables of Parquet
that are made of it when the run has ended.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from podpath.net.errors import UsageError
from podpath_fleet.bundle_row import BundleRow
from podpath_fleet.flow_table import load_arrow

JOURNAL = "journal.jsonl"
BUNDLES, FINDINGS, FACTS = "bundles.parquet", "findings.parquet", "facts.parquet"
_BATCH = 512
"""Rows that are held at once."""
_COLUMNS = {
    BUNDLES: (
        "path", "state", "why", "node", "pool", "taken", "verdict", "gaps", "seconds", "megabytes",
    ),
    FINDINGS: ("node", "pool", "taken", "path", "check", "severity", "certain", "claim", "evidence",
    "text", "history"), FACTS: ("node", "pool", "path", "fact", "value"),
}  # fmt: skip
_TYPES = {"gaps": "int64", "seconds": "float64", "megabytes": "int64", "certain": "bool_"}


class Journal:
    """The rows of a run so far."""

    def __init__(self, folder: str) -> None:
        """Open the journal of a folder, which is made if it is not there."""
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._file = (self.folder / JOURNAL).open("a+b")
        except OSError as error:
            raise UsageError(f"{folder}: {str(error.strerror).lower()}") from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.close()
            raise UsageError(f"{folder}: another run is writing here") from error
        self.done = frozenset(self._recover())
        """The identities of the bundles that have a row."""

    def _recover(self) -> Iterator[str]:
        """Yield what was done, and cut off a line that was not written to its end."""
        self._file.seek(0)
        end = 0
        for line in self._file:
            if not line.endswith(b"\n"):
                break
            try:
                identity = json.loads(line)["identity"]
            except (ValueError, KeyError, TypeError):
                break
            end += len(line)
            yield str(identity)
        self._file.truncate(end)

    def write(self, row: BundleRow) -> None:
        """Write a row to the disk: once this returns, its bundle is not done again."""
        self._file.write(json.dumps(row.plain(), ensure_ascii=False).encode() + b"\n")
        self._file.flush()
        os.fdatasync(self._file.fileno())

    def close(self) -> None:
        """Let others write."""
        self._file.close()


@contextmanager
def open_journal(folder: str) -> Iterator[Journal]:
    """Open a folder's journal for one run."""
    journal = Journal(folder)
    try:
        yield journal
    finally:
        journal.close()


def read_journal(folder: str) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a run; the last one of a bundle that changed between two runs alone."""
    path = Path(folder) / JOURNAL
    if not path.exists():
        raise UsageError(f"{folder}: expected the folder of a run of `podpath fleet`")
    last: dict[str, int] = {}
    with path.open("rb") as file:
        for number, line in enumerate(file):
            last[str(json.loads(line)["path"])] = number
    kept = frozenset(last.values())
    with path.open("rb") as file:
        for number, line in enumerate(file):
            if number in kept:
                yield json.loads(line)


def write_tables(folder: str) -> None:
    """Make the tables of a run of its journal, a batch of rows at a time."""
    arrow, parquet = load_arrow(), load_arrow("pyarrow.parquet")
    schemas = {name: _make_schema(columns) for name, columns in _COLUMNS.items()}
    writers = {
        name: parquet.ParquetWriter(str(Path(folder) / f"{name}.new"), schema)
        for name, schema in schemas.items()
    }
    rows = read_journal(folder)
    while batch := list(islice(rows, _BATCH)):
        for name, lines in _split(batch).items():
            writers[name].write_table(arrow.Table.from_pylist(lines, schema=schemas[name]))
    for name, writer in writers.items():
        writer.close()
        (Path(folder) / f"{name}.new").replace(Path(folder) / name)


def _make_schema(columns: Iterable[str]) -> Any:  # noqa: ANN401 - pyarrow.Schema
    arrow = load_arrow()
    return arrow.schema([(name, getattr(arrow, _TYPES.get(name, "string"))()) for name in columns])


def _split(rows: list[Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return rows of a journal as rows of each table."""
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in _COLUMNS}
    for row in rows:
        whose = {name: row[name] for name in ("node", "pool", "path", "taken")}
        found[BUNDLES].append({name: row[name] for name in _COLUMNS[BUNDLES]})
        found[FINDINGS] += [{**whose, **finding} for finding in row["findings"]]
        del whose["taken"]
        found[FACTS] += [
            {**whose, "fact": name, "value": value} for name, value in row["facts"].items()
        ]
    return found
