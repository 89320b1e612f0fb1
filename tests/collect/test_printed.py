"""Long printed captures: all packets as columns, and the lines that tell of a failure as they would
be in a short text.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from podpath.collect.captures import Kept
from podpath.collect.limits import Limits
from podpath.collect.matched import MatchedCaptures
from podpath.collect.printed import is_printed
from podpath.collect.read import read_evidence
from podpath.evidence.files import MANY_LINES, parse_file
from podpath.evidence.recognition import read
from podpath.evidence.records import HeadingRecord, PacketRecord, Record
from podpath.net.provenance import Source

COUNT = 700
"""Connections of nine lines each: more lines than a document has."""
NOTES = {
    100: "Here the other side was restarted, as far as anybody can remember it now, at about the "
         "time of the second alert.",
    101: "listening on eth7, link-type EN10MB (Ethernet), snapshot length 262144 bytes", 2000: "^C",
    2001: "22:13:21.000001 ARP, Request who-has 10.0.0.3 tell 10.0.0.2, length 28",
    2002: "22:13:21.000002 ARP, Reply 10.0.0.3 is-at 02:00:00:00:00:03, length 28",
    3000: "22:13:22.000001 IP 10.9.9.1 > 10.0.0.5: ICMP host 10.96.0.1 unreachable, length 68",
    3001: "22:13:22.000002 IP (tos 0x0, ttl 62, id 7, offset 0, flags [DF], proto UDP (17), length "
          "60)",
    3002: "    10.0.0.5.5353 > 10.96.0.10.53: [udp sum ok] 4660+ A? a.b. (32)",
}  # fmt: skip


def make_lines(*, broken: int = 3, start: str = "2023-11-14 ") -> list[str]:
    """Print connections that are opened, used and closed; the first `broken` of them are never
    answered.
    """
    lines = []
    for number in range(COUNT):
        client, server = f"IP 10.0.{number >> 8}.{number & 255}.{30000 + number}", "10.96.0.1.80"
        there, back = f"{client} > {server}: Flags", f"IP {server} > {client[3:]}: Flags"
        texts = [
            (
                f"{there} [S], seq {5000 + number}, win 64240, options [mss 1460,sackOK,TS val 5 "
                "ecr 0,nop,wscale 7], length 0"
            )
        ]
        if number < broken:
            texts *= 9
        else:
            texts += [
                (
                    f"{back} [S.], seq 900, ack {5001 + number}, win 65160, options [mss "
                    "1460,sackOK,TS val 9 ecr 5], length 0"
                ),
                f"{there} [.], ack 1, win 502, options [nop,nop,TS val 6 ecr 9], length 0",
                (
                    f"{there} [P.], seq 1:19, ack 1, win 502, options [nop,nop,TS val 6 ecr 9], "
                    "length 18: HTTP: GET / HTTP/1.1"
                ),
                f"{back} [.], ack 19, win 509, options [nop,nop,TS val 9 ecr 6], length 0",
                (
                    f"{back} [P.], seq 1:101, ack 19, win 509, options [nop,nop,TS val 9 ecr 6], "
                    "length 100: HTTP: HTTP/1.1 200 OK"
                ),
                (
                    f"{there} [F.], seq 19, ack 101, win 501, options [nop,nop,TS val 7 ecr 9], "
                    "length 0"
                ),
                (
                    f"{back} [F.], seq 101, ack 20, win 509, options [nop,nop,TS val 9 ecr 7], "
                    "length 0"
                ),
                f"{there} [.], ack 102, win 501, options [nop,nop,TS val 8 ecr 9], length 0",
            ]
        lines += [
            f"{start}22:{number // 60:02}:{number % 60:02}.{place * 100_000 + number:06} {text}"
            for place, text in enumerate(texts)
        ]
    return lines


def noted() -> list[str]:
    """Return the lines with notes, ARP, an ICMP error and a packet of two lines among them."""
    lines = make_lines()
    for place, note in NOTES.items():
        lines.insert(place, note)
    return lines


def shown(path: Path) -> tuple[Source, list[Kept], list[str]]:
    """Return what is shown of a file, the captures that are kept, and what is said besides."""
    kept: list[Kept] = []
    evidence = read_evidence([str(path)], keep=kept.append)
    (source,) = evidence.sources
    return source, kept, [gap.why for gap in evidence.gaps]


def written(folder: Path, lines: list[str], ending: str = "\n") -> Path:
    """Write a text."""
    path = folder / "eth0.txt"
    path.write_bytes((ending.join(lines) + ending).encode())
    return path


def told(record: Record) -> object:
    """Return all that a record says but its source."""
    rest = {
        name: getattr(record, name) for name in type(record).__dataclass_fields__ if name != "span"
    }
    return record.span.line, record.span.last_line, record.span.text, rest


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_what_is_shown_is_what_a_short_text_gives(tmp_path: Path, ending: str) -> None:
    """Each line that is shown gives the record that it gives among all lines, under its own number;
    so does what is no packet.
    """
    lines = noted()
    path = written(tmp_path, lines, ending)
    source, kept, _ = shown(path)
    some, every = read(source), read(*parse_file(path.name, path.read_bytes()).sources)
    assert some is not None
    assert every is not None
    all_records = [told(record) for record in every.records]
    notes = [record.span.text for record in some.records if isinstance(record, HeadingRecord)]

    assert len(source.lines) == len(lines) > MANY_LINES
    assert all(told(record) in all_records for record in some.records)
    assert [(gap.span.line, gap.why) for gap in every.gaps] == [
        (gap.span.line, gap.why) for gap in some.gaps
    ]
    assert ([NOTES[101], NOTES[2000]], 1) == (notes, len(kept))


def test_what_tells_of_a_failure_is_shown(tmp_path: Path) -> None:
    """Connections and lookups without an answer, ARP, ICMP errors and the last packet are shown;
    connections that work are only counted.
    """
    source, kept, why = shown(written(tmp_path, noted()))
    reading = read(source)
    assert reading is not None
    packets = [record for record in reading.records if isinstance(record, PacketRecord)]
    count = 9 * COUNT + len(NOTES) - 4

    assert count == len(kept[0].capture.packets)
    assert [
        (
            f"of {count} packets only ARP, ICMP errors and connections that may have failed are "
            f"shown: {3 * 9 + 3 + 1 + 1}"
        )
    ] == why
    assert 3 * 9 == sum(
        record.packet is not None and record.packet.flags == 2 for record in packets
    )
    assert {"SF": COUNT - 3, "S0": 3} == MatchedCaptures(kept).count_states()


def test_numbers_are_those_of_the_wire(tmp_path: Path) -> None:
    """A connection's relative numbers become those that its SYN begins with, and a packet is quoted
    by its line.
    """
    _, (kept,), _ = shown(written(tmp_path, noted()))
    columns = kept.capture.packets.columns
    data = (columns.payload == 18).nonzero()[0]
    row = int(data[0])
    assert kept.printed is not None
    span = kept.printed.quote(row)

    assert [5001 + number for number in range(3, COUNT)] == columns.seq[data].tolist()
    assert (noted()[span.line - 1], span.line) == (span.text, span.last_line)


def test_a_connection_that_is_asked_about(tmp_path: Path) -> None:
    """Between two ends everything is shown, also where it works."""
    path = written(tmp_path, noted())
    done = subprocess.run(
        [sys.executable, "-m", "podpath", "capture", str(path), "--port", "30009"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert "tcp 10.0.0.9:30009 > 10.96.0.1:80  SF" in done.stdout


def test_what_is_no_plain_long_text_is_read_line_by_line(tmp_path: Path) -> None:
    """Short texts, other alphabets, colors and documents with prompts in them give every line."""
    lines = make_lines()
    prompts = [*lines[:200], "root@node1:~# tcpdump -nni eth1", *lines[200:]]
    for text in (
        lines[: MANY_LINES // 2],
        ["ä note", *lines],
        ["\x1b[1mnote\x1b[0m", *lines],
        prompts,
    ):
        kept: list[Kept] = []
        evidence = read_evidence([str(written(tmp_path, text))], keep=kept.append)
        assert [] == kept
        assert (
            len(text) - 2
            <= sum(bool(line) for source in evidence.sources for line in source.lines)
            <= len(text)
        )


def test_without_numpy_every_line_is_read(tmp_path: Path) -> None:
    """A long printed capture needs no NumPy: its lines are read one by one then."""
    path = written(tmp_path, make_lines(broken=1))
    program = "import sys; sys.modules['numpy'] = None; from podpath.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "capture", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (1, "") == (done.returncode, done.stderr)
    assert "699 SF" in done.stdout


@pytest.mark.parametrize("at_an_end", [False, True])
def test_a_text_past_the_limit_is_cut_at_a_line(tmp_path: Path, *, at_an_end: bool) -> None:
    """Of a text that is longer than columns are made of the first lines are read, and that is
    said.
    """
    path = written(tmp_path, make_lines())
    limit = path.stat().st_size - 1000
    limit = path.read_bytes().rfind(b"\n", 0, limit) + 1 if at_an_end else limit
    kept: list[Kept] = []
    evidence = read_evidence([str(path)], Limits(printed_bytes=limit), keep=kept.append)

    assert "only the first" in evidence.gaps[-1].why
    assert path.read_bytes()[:limit].count(b"\n") == len(kept[0].capture.packets)


def test_other_texts_are_no_printed_captures() -> None:
    """Rules, logs and bytes are not taken for captures."""
    heads = (
        b"-A POSTROUTING -j MASQUERADE\n" * 9,
        b"\0\1\2\n" * 9,
        b"\xef\xbb\xbf" + make_lines()[0].encode() * 9,
        b"",
        b"\n",
    )

    assert [False] * len(heads) == [is_printed(head) for head in heads]
    assert is_printed("\n".join(make_lines()[:50]).encode())
