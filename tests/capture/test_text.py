"""Printed lines that are read as columns give what the reader of every shape gives for each of
them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podpath.evidence.records import PacketRecord
from podpath.evidence.tcpdump.output import read_tcpdump
from podpath.net.provenance import Source
from podpath_capture.files.index import Bytes
from podpath_capture.printed.packets import PrintedPacket, row_of
from podpath_capture.text import read as text_read
from podpath_capture.text.read import PrintedRows, read_rows
from tests.capture.printed_lines import any_lines, packet_lines

SHARED = Path(__file__).resolve().parents[3] / "shared" / "captures" / "tcpdump-tests"
USUAL = (
    "22:13:20.000030 IP 10.0.0.1.20000 > 10.96.0.1.80: Flags [S], seq 2812799846, win 64000, "
    "options [mss 1460,sackOK,TS val 5000000 ecr 0,nop,wscale 7], length 0"
)


def as_array(text: str) -> Bytes:
    """Return a text's bytes."""
    return np.frombuffer(text.encode(), np.uint8)


def given_by_lines(text: str) -> dict[int, list[PacketRecord]]:
    """Return the packets that the reader of every shape reads, by the line that each begins on."""
    lines = text.replace("\r\n", "\n").split("\n")
    found: dict[int, list[PacketRecord]] = {}
    for record in read_tcpdump(Source(name="printed", lines=tuple(lines))).records:
        if isinstance(record, PacketRecord):
            found.setdefault(record.span.line - 1, []).append(record)
    return found


def differences(text: str, rows: PrintedRows) -> list[tuple[int, str, object, object]]:
    """Return each field of each row that the reader of every shape tells otherwise."""
    records = given_by_lines(text)
    found: list[tuple[int, str, object, object]] = []
    for place, line in enumerate(rows.line.tolist()):
        mine = records.get(line, [])
        if (
            len(mine) != 1
            or mine[0].span.last_line != rows.last[place] + 1
            or mine[0].packet is None
        ):
            found.append((line, "packets", len(mine), 1))
            continue
        (record,) = mine
        numbered: dict[int, int] = {}
        assert record.packet is not None
        shown = PrintedPacket(
            lines=(line, line),
            time=record.time or 0.0,
            link=record.link,
            direction=record.direction,
            tunnel=record.tunnel,
            text=record.span.text,
            packet=record.packet,
        )
        expected: dict[str, object] = dict(row_of(shown, numbered))
        read: dict[str, object] = {name: int(column[place]) for name, column in rows.arrays.items()}
        link = rows.arrays["ifindex"][place]
        expected["ifindex"], read["ifindex"] = record.link, rows.links[link - 1] if link else None
        if record.packet.family == 6:
            for end in ("src", "dst"):
                read[end], expected[end] = (
                    rows.addresses[rows.arrays[end][place]],
                    getattr(record.packet, end).value,
                )
        names = {*expected, *read}
        found += [
            (line, name, expected.get(name, 0), read.get(name, 0))
            for name in names
            if expected.get(name, 0) != read.get(name, 0)
        ]
    return found


@settings(max_examples=300)
@given(st.lists(packet_lines(), min_size=1, max_size=12))
def test_lines_are_read_as_one_by_one(lines: list[str]) -> None:
    """Whatever is read as columns, the reader of every shape reads likewise, field by field."""
    text = "\n".join(lines)

    assert [] == differences(text, read_rows(as_array(text)))


@settings(max_examples=300)
@given(
    st.lists(any_lines(), min_size=1, max_size=12),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "end"]),
)
def test_what_stands_between_packets_changes_none(lines: list[str], ending: str, last: str) -> None:
    """Lines that go on with a packet, notes and empty lines are left; each line that is not empty
    is a row or is left.
    """
    text = "\n".join(lines).replace("\n", ending) + ending + last
    rows = read_rows(as_array(text))
    read = [
        number
        for first, last in zip(rows.line.tolist(), rows.last.tolist(), strict=True)
        for number in range(first, last + 1)
    ]
    there = [number for number, line in enumerate(text.replace("\r\n", "\n").split("\n")) if line]

    assert [] == differences(text, rows)
    assert there == sorted([*read, *rows.left.tolist()])


@pytest.mark.parametrize("size", [1, 64, 300, 1000])
def test_pages_change_nothing(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text that is read a few bytes at a time gives the same rows, also where a page ends between
    a packet's lines.
    """
    lines = [
        USUAL,
        f"{USUAL[:-1]}1",
        "    10.0.0.1.5 > 10.0.0.2.80: Flags [S]",
        USUAL.replace("10.0.0.1", "10.0.0.9"),
        "",
        USUAL,
    ]
    text = "\n".join(lines * 5)
    whole = read_rows(as_array(text))
    monkeypatch.setattr(text_read, "PAGE", size)
    parts = read_rows(as_array(text))

    assert (whole.line.tolist(), whole.left.tolist()) == (parts.line.tolist(), parts.left.tolist())
    assert whole.ends.tolist() == parts.ends.tolist()
    assert all((whole.arrays[name] == parts.arrays[name]).all() for name in whole.arrays)


def test_the_lines_of_a_verbose_packet() -> None:
    """With `-v` a packet stands on two lines, of which the first has its TTL and identification."""
    head = "22:13:20.000030 IP (tos 0x0, ttl 62, id 77, offset 0, flags [DF], proto {}, length 78)"
    lines = [
        head.format("TCP (6)"),
        ("    10.0.0.1.5 > 10.0.0.2.80: Flags [S], cksum 0x16f0 (incorrect -> 0xa254), seq 5, win "
        "5, length 0"),
        head.format("UDP (17)"), ("    10.0.0.1.5 > 10.0.0.2.53: [udp sum ok] 4660+ A? a.b. "
                                 "[|domain]"),
        head.format("UDP (17)"), ("    10.0.0.1.5 > 10.0.0.2.53: [bad udp cksum 0x58ad -> 0x2ab4!] "
                                 "UDP, length 9"),
    ]  # fmt: skip
    rows = read_rows(as_array("\n".join(lines)))

    assert [] == differences("\n".join(lines), rows)
    assert ([0, 2, 4], [1, 3, 5], []) == (
        rows.line.tolist(),
        rows.last.tolist(),
        rows.left.tolist(),
    )
    assert [[62] * 3, [77] * 3, [0, 50, 9]] == [
        rows.arrays[name].tolist() for name in ("ttl", "ident", "payload")
    ]


def test_every_usual_line_is_read() -> None:
    """TCP with and without options, datagrams, names that are asked for and echoes, of both
    families, are all read.
    """
    ends = ("IP 10.0.0.1.5 > 10.0.0.2.80: ", "eth0  In  IP6 fd00::1.5 > fd00::2.80: ")
    texts = (
        "Flags [.], ack 5, win 5, length 0", "Flags [P.], seq 1:19, ack 1, win 5, length 18: HTTP",
        "UDP, length 5", "4660+ A? a.b. (47)",
    )  # fmt: skip
    echoes = (
        "IP 10.0.0.1 > 10.0.0.2: ICMP echo request, id 7, seq 1, length 64",
        "IP6 ::1 > ::2: ICMP6, echo reply, id 7, seq 1, length 64",
    )
    lines = [
        f"2023-11-14 22:13:20.000030 {text}"
        for text in (*(end + text for end in ends for text in texts), *echoes)
    ]
    rows = read_rows(as_array("\n".join(lines)))

    assert list(range(len(lines))) == rows.line.tolist()
    assert ([1_700_000_000_000_030_000] * len(lines), ("eth0",)) == (
        rows.arrays["time"].tolist(),
        rows.links,
    )


def test_the_tcpdump_projects_texts_are_read_alike() -> None:
    """Over the expected texts of tcpdump's own tests, each line that is read as a column is read
    alike by both.
    """
    if not SHARED.is_dir():
        pytest.skip("the tcpdump project's test captures are not here")
    read = 0
    for path in sorted(SHARED.glob("*.out")):
        text = path.read_text(encoding="utf-8", errors="replace")
        rows = read_rows(as_array(text))
        read += len(rows.line)
        assert [] == differences(text, rows), path.name

    assert read > 900


def test_a_text_says_whether_it_is_plain() -> None:
    """Colors and other alphabets are left to whom looks at each line."""
    assert [True, False, False] == [
        read_rows(as_array(f"{USUAL}{end}")).plain for end in ("", "\x1b[0m", "ä")
    ]


def test_a_day_that_no_calendar_has() -> None:
    """Months that there are not are left; the 31st of a short month is the next month's first, as
    in other readers.
    """
    days = ("2023-13-01", "2023-02-31", "2023-11-14", "1969-01-01")
    rows = read_rows(as_array("\n".join(f"{day} {USUAL}" for day in days)))

    assert [1, 2] == rows.line.tolist()
    assert [1_677_801_600, 1_699_920_000] == [
        time // 1_000_000_000 - 80_000 for time in rows.arrays["time"].tolist()
    ]


@given(st.lists(st.integers(0, 99_999_999_999), min_size=1))
def test_numbers_of_ten_digits_are_read(values: list[int]) -> None:
    """Longer ones are no sequence numbers, and their lines are left."""
    rows = read_rows(
        as_array("\n".join(USUAL.replace("2812799846", str(value)) for value in values))
    )

    assert [place for place, value in enumerate(values) if value < 10**10] == rows.line.tolist()
    assert [value & 0xFFFFFFFF for value in values if value < 10**10] == rows.arrays["seq"].tolist()


def test_devices_are_numbered_as_they_appear() -> None:
    """A device has the number of its first line."""
    lines = [USUAL.replace(" IP ", f" {name} In  IP ") for name in ("b", "a", "b", "c")]
    rows = read_rows(as_array("\n".join(lines)))

    assert (("b", "a", "c"), [1, 2, 1, 3]) == (rows.links, rows.arrays["ifindex"].tolist())
