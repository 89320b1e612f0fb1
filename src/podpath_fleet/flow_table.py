"""Tables of connections: read from CSV, JSON lines or Parquet, and written with what becomes of
each.

A row is either a probe's text in a column `probe`, or has columns for its parts: `protocol`, `src`,
`dst`, `dport`, and if wanted `sport`, `from` (the namespace that sends), `in` (the device it comes
in on) and `options` (`size 1400 uid 1337`). Ends may be names, as in a probe: `pod/shop/web-0`.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import IO, Any, NamedTuple

from podpath.collect.texts import read_text
from podpath.library.given import Asked
from podpath.net import protocols
from podpath.net.errors import MissingExtra, UsageError
from podpath.net.probe import EPHEMERAL, Probe
from podpath.report.escape import escape
from podpath_fleet.flow_answers import COLUMNS, FlowAnswer

PARTS = ("protocol", "src", "sport", "dst", "dport", "from", "in", "options")
"""The columns of a flow's parts, as they are written."""
OTHER_NAMES = {
    "proto": "protocol", "source": "src", "src_ip": "src", "saddr": "src", "src_port": "sport",
    "destination": "dst", "dst_ip": "dst", "daddr": "dst", "dst_port": "dport", "netns": "from",
    "device": "in",
}  # fmt: skip
"""How tables of other programs call them."""
NEEDED = ("protocol", "src", "dst")
_NUMBERS = {"1": "icmp", "6": "tcp", "17": "udp", "58": "icmp"}


class FlowRow(NamedTuple):
    """A connection as it is spelled."""

    protocol: str
    src: str
    sport: str
    """Empty for any: the port that `podpath trace` takes."""
    dst: str
    dport: str
    """Empty where `dst` has it, or there is none."""
    place: str
    """`from NETNS`, `in DEVICE`, or empty."""
    options: str

    def spell(self) -> str:
        """Spell it as a probe without its source port."""
        source, target = self.src, self.dst
        if self.dport:
            if target.count(":") > 1:
                target = f"[{target}]:{self.dport}"
            else:
                target = f"{target}:{self.dport}"
        name = _NUMBERS.get(self.protocol, self.protocol)
        return f"{name} {source} > {target} {self.place} {self.options}".rstrip()


def spell_probe(asked: Asked) -> FlowRow:
    """Return a probe as a row; text that is none becomes a row that cannot be read."""
    if isinstance(asked, str):
        try:
            return spell_probe(Probe.parse(asked))
        except UsageError:
            protocol, _, rest = asked.strip().partition(" ")
            source, _, target = rest.partition(">")
            return FlowRow(protocol, source.strip(), "", target.strip(), "", "", "")
    place = f"from {asked.netns}" if asked.netns else ""
    if asked.in_dev:
        place = f"in {asked.in_dev}"
    ported = asked.protocol not in (protocols.ICMP, protocols.ICMPV6)
    return FlowRow(
        protocols.protocol_name(asked.protocol) if ported else "icmp",
        str(asked.src),
        "" if asked.sport == EPHEMERAL else str(asked.sport),
        str(asked.dst),
        str(asked.dport) if ported else "",
        place,
        str(asked.sending),
    )


def read_flow_table(path: str) -> list[FlowRow]:
    """Read a table of flows; `UsageError` says what is missing in it. `-` is CSV on standard
    input.
    """
    if path.endswith(".parquet"):
        return _read_columns(_load_parquet(path), path)
    text = read_text(path)
    if path.endswith((".jsonl", ".ndjson", ".json")) or text.lstrip()[:1] == "{":
        return [_read_object(line, path, number) for number, line in _list_lines(text)]
    names, *records = [record for record in csv.reader(StringIO(text)) if record] or [[]]
    columns = _turn(records, len(names))
    keys = [name.strip().lower() for name in names]
    return _read_columns(dict(zip(keys, columns, strict=True)), path)


def _turn(records: list[list[str]], width: int) -> list[Sequence[str]]:
    """Return the columns of records; what is missing at a record's end is empty."""
    if any(len(record) != width for record in records):
        records = [(record + [""] * width)[:width] for record in records]
    return list(zip(*records, strict=True)) or [()] * width


def _list_lines(text: str) -> Iterator[tuple[int, str]]:
    return ((number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip())


def _read_object(line: str, path: str, number: int) -> FlowRow:
    try:
        found = json.loads(line)
    except ValueError as error:
        raise UsageError(f"{path}:{number}: expected a JSON object, saw {line[:60]!r}") from error
    if not isinstance(found, dict):
        raise UsageError(f"{path}:{number}: expected a JSON object, saw {line[:60]!r}")
    columns = {str(name).lower(): [value] for name, value in found.items()}
    return _read_columns(columns, f"{path}:{number}")[0]


def _read_columns(columns: Mapping[str, Sequence[Any]], path: str) -> list[FlowRow]:
    named = {OTHER_NAMES.get(name, name): values for name, values in columns.items()}
    named |= columns  # a column's own name weighs more than one that is called otherwise elsewhere
    if "probe" in named:
        return [spell_probe(_spell(value)) for value in named["probe"]]
    missing = [name for name in NEEDED if name not in named]
    if missing:
        raise UsageError(
            f"{path}: expected a column `probe`, or {', '.join(NEEDED)} and dport; "
            f"{', '.join(missing)} is missing among {', '.join(columns) or 'none'}"
        )
    count = len(named["src"])
    parts = [_list_spelled(named.get(name), count) for name in PARTS]
    protocol, src, sport, dst, dport, start, device, options = parts
    places = [""] * count if not any(start) and not any(device) else _list_places(start, device)
    rows = zip(map(str.lower, protocol), src, sport, dst, dport, places, options, strict=True)
    return list(map(FlowRow._make, rows))


def _list_spelled(values: Sequence[Any] | None, count: int) -> list[str]:
    if values is None:
        return [""] * count
    if all(type(value) is str for value in values):
        return list(map(str.strip, values))
    return list(map(_spell, values))


def _spell(value: object) -> str:
    if type(value) is str:
        return value.strip()
    return "" if value is None else str(value)


def _list_places(start: Sequence[str], device: Sequence[str]) -> list[str]:
    """Return where flows start, as probes spell it; there are few such places, and many flows."""
    spelled = {pair: _spell_place(*pair) for pair in set(zip(start, device, strict=True))}
    return [spelled[pair] for pair in zip(start, device, strict=True)]


def _spell_place(start: str, device: str) -> str:
    if device:
        return f"in {device}"
    return f"from {start}" if start else ""


def _load_parquet(path: str) -> dict[str, Sequence[Any]]:
    parquet = load_arrow("pyarrow.parquet")
    try:
        table = parquet.read_table(path)
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: expected a Parquet file: {error}") from error
    return {name.lower(): table.column(name).to_pylist() for name in table.column_names}


def load_arrow(module: str = "pyarrow") -> Any:  # noqa: ANN401 - a module that may be missing
    """Import Arrow; `MissingExtra` where it is not installed."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(
            "Arrow and Parquet need an extra: pip install 'podpath[fleet]'"
        ) from error


Row = tuple[FlowRow, FlowAnswer, str]
"""A flow, the answer of its class, and how its own first packet arrived."""
WRITTEN = (*PARTS, *COLUMNS)
"""The columns of what is written."""


def write_flow_table(path: str, rows: Iterable[Row]) -> None:
    """Write flows with their answers: Parquet or JSON lines by the file's name, else CSV."""
    if path.endswith(".parquet"):
        load_arrow("pyarrow.parquet").write_table(make_arrow(rows), path)
        return
    write = write_json_lines if path.endswith((".jsonl", ".ndjson", ".json")) else write_csv
    try:
        with Path(path).open("w", encoding="utf-8", newline="") as file:
            write(file, rows)
    except OSError as error:
        raise UsageError(f"{path}: {str(error.strerror).lower()}") from error


def write_csv(file: IO[str], rows: Iterable[Row]) -> None:
    """Write a table as CSV, with the names of its columns."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(WRITTEN)
    writer.writerows(map(_list_values, rows))


def write_json_lines(file: IO[str], rows: Iterable[Row]) -> None:
    """Write a table as one JSON object for each flow."""
    encode: Callable[[object], str] = json.JSONEncoder(ensure_ascii=False).encode
    for row in rows:
        file.write(encode(dict(zip(WRITTEN, _list_values(row), strict=True))) + "\n")


def make_arrow(rows: Iterable[Row]) -> Any:  # noqa: ANN401 - pyarrow.Table, where it is installed
    """Return a table of Arrow; what many flows share is held once."""
    arrow = load_arrow()
    columns = list(zip(*map(_list_values, rows), strict=True)) or [()] * len(WRITTEN)
    whole = {"line": arrow.int64(), "branches": arrow.int32()}
    arrays = {}
    for name, values in zip(WRITTEN, columns, strict=True):
        array = arrow.array(values, type=whole.get(name, arrow.string()))
        arrays[name] = array if name in whole else array.dictionary_encode()
    return arrow.table(arrays)


def _list_values(row: Row) -> tuple[object, ...]:
    flow, answer, arrival = row
    protocol, src, sport, dst, dport, place, options = flow
    start, device = _split_place(place)
    ends: tuple[str, ...] = (protocol, src, sport, dst, dport, start, device, options)
    if not "".join(ends).isprintable():
        ends = tuple(map(escape, ends))
    return (*ends, *answer[:-1], arrival)


def _split_place(place: str) -> tuple[str, str]:
    """Return the namespace that sends, and the device that a flow comes in on."""
    word, _, name = place.partition(" ")
    return (name, "") if word == "from" else ("", name)
