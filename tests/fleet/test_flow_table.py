"""Tables of flows: what is read is what was written, whatever the format."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from podpath.net.errors import MissingExtra, UsageError
from podpath.net.probe import Probe
from podpath_fleet import flow_table
from podpath_fleet.flow_answers import FlowAnswer
from podpath_fleet.flow_table import (
    WRITTEN,
    FlowRow,
    make_arrow,
    read_flow_table,
    spell_probe,
    write_flow_table,
)

ROWS = [
    FlowRow("tcp", "10.0.0.1", "40001", "10.96.0.1", "443", "from pod-a", ""),
    FlowRow("udp", "10.0.0.2", "", "10.96.0.10", "53", "in eth0", ""),
    FlowRow("icmp", "fd00::1", "", "fd00::2", "", "", "size 1400"),
]
ANSWER = FlowAnswer(
    "NEVER", text='-A FORWARD -m comment --comment "a, b" -j DROP', line=7, branches=2
)


@pytest.mark.parametrize("name", ["flows.csv", "flows.jsonl", "flows.parquet"])
def test_what_is_written_is_read_again(tmp_path: Path, name: str) -> None:
    """The table with answers is a table of flows, too, in each format."""
    path = str(tmp_path / name)
    write_flow_table(path, [(row, ANSWER, "10.0.0.1:1 > 10.0.0.3:2") for row in ROWS])

    assert read_flow_table(path) == ROWS


def test_answers_stand_beside_the_flows(tmp_path: Path) -> None:
    """Each row has the verdict, the line and its own arrival, as text and as columns of Arrow."""
    path = tmp_path / "out.csv"
    rows = [(ROWS[0], ANSWER, "10.0.0.1:40001 > 10.244.0.9:8443")]
    write_flow_table(str(path), rows)
    (written,) = csv.DictReader(path.read_text(encoding="utf-8").splitlines())

    assert tuple(written) == WRITTEN
    assert (written["from"], written["in"], written["line"]) == ("pod-a", "", "7")
    assert (written["text"], written["arrives_as"]) == (ANSWER.text, rows[0][2])
    assert make_arrow(rows).to_pylist()[0]["branches"] == 2
    assert make_arrow([]).column_names == list(WRITTEN)


def test_columns_may_be_called_otherwise(tmp_path: Path) -> None:
    """Tables of other programs name them as they do; a number names a protocol."""
    path = tmp_path / "flows.csv"
    path.write_text("Proto,src_ip,src_port,dst_ip,dst_port\n6, 10.0.0.1 ,1,10.0.0.2,80\n\n17,a\n")
    first, second = read_flow_table(str(path))

    assert first.spell() == "tcp 10.0.0.1 > 10.0.0.2:80"
    assert second == FlowRow("17", "a", "", "", "", "", "")


def test_a_column_of_probes_is_a_table(tmp_path: Path) -> None:
    """Whole probes are rows as well; one that is none stays as it is, to be told of."""
    texts = ["tcp 10.0.0.1:5 > 10.0.0.2:80 in eth0", "icmp fd00::1 > fd00::2", "nonsense"]
    path = tmp_path / "flows.jsonl"
    path.write_text("".join(json.dumps({"probe": text}) + "\n" for text in texts))
    rows = read_flow_table(str(path))

    assert [rows[0].sport, rows[0].place, rows[1].protocol] == ["5", "in eth0", "icmp"]
    with pytest.raises(UsageError):
        Probe.parse(rows[2].spell())


def test_a_probe_and_its_row_are_one() -> None:
    """A row spells the probe that it was made of, but for the source port."""
    for text in ("tcp 10.0.0.1 > 10.0.0.2:80 from a uid 7", "udp [fd00::1]:9 > [fd00::2]:53"):
        probe = Probe.parse(text)
        row = spell_probe(probe)
        again = Probe.parse(row.spell())
        assert again._replace(sport=int(row.sport or again.sport)) == probe
    assert spell_probe("tcp pod/a/b > svc/c/d:http").dst == "svc/c/d:http"


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("a.csv", "src,dst\n1,2\n", "protocol is missing"),
        ("a.csv", "", "missing among none"),
        ("a.jsonl", "{]\n", "a.jsonl:1: expected a JSON object"),
        ("a.jsonl", "[1]\n", "a.jsonl:1: expected a JSON object"),
        ("a.parquet", "no", "expected a Parquet file"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path: Path, name: str, text: str, why: str) -> None:
    """The error names the file, and what is missing."""
    path = tmp_path / name
    path.write_text(text)

    with pytest.raises(UsageError, match=why):
        read_flow_table(str(path))


def test_where_it_cannot_be_written_is_said(tmp_path: Path) -> None:
    """A folder that is not there is an error of the caller's."""
    with pytest.raises(UsageError, match="no such file"):
        write_flow_table(str(tmp_path / "none" / "out.csv"), [])


def test_without_arrow_an_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has no Arrow is told what to install."""

    def refuse(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(flow_table, "import_module", refuse)
    with pytest.raises(MissingExtra, match=r"podpath\[fleet\]"):
        make_arrow([])
