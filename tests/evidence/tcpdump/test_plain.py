"""Plain lines are read as the readers of all lines read them, and nothing else is taken for one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.evidence.records import PacketRecord
from podpath.evidence.tcpdump.output import read_tcpdump
from podpath.evidence.tcpdump.plain import parse_plain
from podpath.net.provenance import Source

OPTIONS = ", options [nop,nop,TS val 1116305200 ecr 3718914024]"
START = st.sampled_from(["", "2023-11-14 ", "2023-13-40 "])
PLACE = st.sampled_from(["", "veth0a1b2c In  ", "eth0  Out "])
LAYER = st.sampled_from(["IP ", ("02:00:00:00:00:0a > ff:ff:ff:ff:ff:ff, ethertype IPv4 (0x0800), "
                                "length 74: "),
                        ("02:00:00:00:00:0a > 02:00:00:00:00:0b, ethertype IPv4 (0x0800), length "
                        "9: ")])  # fmt: skip
NUMBER = st.sampled_from(["", "7  ", "123456   "])
NUMBERS = st.sampled_from(["", " seq 1:19,", " seq 4294967295,"])
COMMANDS = st.sampled_from([None, "tcpdump -nn -S -i eth1", "tcpdump -nn -i any"])


def read(line: str, command: str | None) -> list[PacketRecord]:
    """Return the packets of a line."""
    records = read_tcpdump(Source(name="printed", lines=(line,), command=command)).records
    return [record for record in records if isinstance(record, PacketRecord)]


@given(st.data())
def test_plain_lines_are_read_as_all_others(data: st.DataObject) -> None:
    """A space before a line leaves it to the readers of every shape; both give the same record."""
    draw = data.draw
    octet, port = draw(st.integers(0, 299)), draw(st.sampled_from([0, 80, 65535, 65536, 99999]))
    flags = draw(st.sampled_from(["S", "S.", ".", "P.", "F.", "R", "FPU", "SEW"]))
    ack = draw(st.sampled_from(["", " ack 1,", " ack 4000000000,"]))
    tail = draw(st.sampled_from(["", ": HTTP: GET / HTTP/1.1", ": BGP, length: 5", ": , "]))
    ends = f"10.0.0.{octet}.{port} > 10.96.0.100.80"
    line = (
        f"{draw(NUMBER)}{draw(START)}22:13:20.123456 {draw(PLACE)}{draw(LAYER)}{ends}: Flags "
        f"[{flags}],{draw(NUMBERS)}{ack} win 502{draw(st.sampled_from(['', OPTIONS]))}, length "
        f"{draw(st.integers(0, 70_000))}{tail}"
    )
    command = draw(COMMANDS)
    plain, usual = read(line, command), read(f" {line}", command)

    assert [replace(each, span=usual[0].span) for each in plain] == usual
    assert parse_plain(f" {line}") is None


@pytest.mark.parametrize(
    "line",
    [
        "22:13:20.123456 IP 10.0.0.1.5 > 10.0.0.2.80: Flags [S], seq 1, win 5, options [mss 1460",
        "22:13:20.123456 IP 10.0.0.1.5 > 10.0.0.2.http: Flags [S], seq 1, win 5, length 0",
        "22:13:20.xxxxxx IP 10.0.0.1.5 > 10.0.0.2.80: Flags [S], seq 1, win 5, length 0",
        "22:13:20.123456 IP6 fd00::1.5 > fd00::2.80: Flags [S], seq 1, win 5, length 0",
    ],
)
def test_anything_else_is_left_alone(line: str) -> None:
    """Cut lines, names, elided digits and IPv6 are other readers'."""
    assert parse_plain(line) is None


def test_a_plain_line_with_more_below_it_is_no_plain_line() -> None:
    """Hex below a packet belongs to it, as with every other line."""
    line = "22:13:20.123456 IP 10.0.0.1.5 > 10.0.0.2.80: Flags [.], ack 1, win 502, length 0"
    reading = read_tcpdump(Source(name="printed", lines=(line, "\t0x0000:  4500 0034", line)))

    assert [(1, 2), (3, 3)] == [
        (record.span.line, record.span.last_line) for record in reading.records
    ]


def test_the_size_that_a_syn_offers() -> None:
    """It stands first among its options, where it stands there."""
    line = "22:13:20.123456 IP 10.0.0.1.5 > 10.0.0.2.80: Flags [S], seq 1, win 5,{} length 0"
    offered = parse_plain(line.format(" options [mss 1460,nop,wscale 7],"))
    none = parse_plain(line.format(" options [nop,nop,TS val 1 ecr 0],"))

    assert (1460, 0) == (offered and offered.packet.mss, none and none.packet.mss)
