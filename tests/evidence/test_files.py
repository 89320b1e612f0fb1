"""A file is one output, or a document; bytes that are no text are refused."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.evidence.files import decode_text, has_console_marks, parse_file, split_lines
from podpath.evidence.gathered import BundlePlace
from podpath.net.errors import EvidenceError

RULES = "*filter\n:FORWARD ACCEPT [0:0]\n-A FORWARD -i cni0 -j ACCEPT\nCOMMIT\n"


def test_an_output_as_a_whole() -> None:
    """A file of one output is one source with all its lines, whatever it is called."""
    (source,) = parse_file("notes.md", RULES.encode()).sources
    assert (4, 1, None) == (len(source.lines), source.first_line, source.command)


def test_a_document() -> None:
    """A file with prompts or fences is a document."""
    found = parse_file(
        "rules.txt",
        f"```\n$ iptables-save\n{RULES}```\nand\n```\n$ lsmod | grep br\n```\n".encode(),
    )
    assert [("iptables-save", 4), ("lsmod | grep br", 0)] == [
        (one.command, len(one.lines)) for one in found.sources
    ]


def test_two_outputs_without_prompts() -> None:
    """Two outputs one below the other are two sources."""
    text = (
        "default via 10.0.0.1 dev eth0\n10.0.0.0/24 dev eth0 scope link\n\n"
        "net.ipv4.ip_forward = 1\n"
    )
    assert [2, 1] == [len(one.lines) for one in parse_file("x", text.encode()).sources]


@pytest.mark.parametrize("heading", ["**ip r**", "### ip r", "`ip route`", "**ip r:**"])
def test_a_command_as_a_heading(heading: str) -> None:
    """What stands below it is what it printed, though a log's line stands above."""
    text = (
        "Error from server: Get https://172.20.1.40:10250/logs: dial tcp 172.20.1.40:10250: "
        f"connect: no route to host\n\n{heading}\ndefault via 172.20.2.1 dev ens5\n"
        "unreachable 172.20.1.0/24 proto bird\n"
    )
    found = parse_file("ticket.md", text.encode()).sources

    assert "ip" == (found[-1].command or "").partition(" ")[0]
    assert "default via 172.20.2.1 dev ens5" == found[-1].lines[0]


def test_captures_under_notes() -> None:
    """Captures at two points, each under a note that names it, are two sources."""
    packet = "10:00:00.1 IP 10.0.0.1.5 > 10.0.0.2.80: Flags [S], seq 1, win 5, length 0\n"
    found = parse_file("x", f"On the pod:\n{packet}{packet}\nOn the host:\n{packet}".encode())
    assert [("On the pod:", 2), ("On the host:", 1)] == [
        (one.label, len(one.lines)) for one in found.sources
    ]


def test_prose_holds_no_evidence() -> None:
    """A file of prose gives no source, and a gap that says so."""
    found = parse_file("x.md", b"Everything is fine on this node, and we do not know why.\n")
    assert not found.sources
    assert 1 == len(found.gaps)


def test_a_place_is_kept() -> None:
    """What a bundle says of a file stands in its sources, also where the file is empty."""
    place = BundlePlace("pod-a", "conntrack -L", 5.0)
    (source,) = parse_file("b/conntrack.txt", b"", place).sources
    assert ("pod-a", "conntrack -L", 5.0, ()) == (
        source.netns,
        source.command,
        source.taken_at,
        source.lines,
    )


ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_encodings(encoding: str) -> None:
    """Marks of byte order are read and taken off; UTF-16 is known without them."""
    text, gaps = decode_text("x", "größer, by default\n".encode(encoding))
    assert ("größer, by default\n", ()) == (text, gaps)


def test_other_encodings_leave_a_gap() -> None:
    """Bytes that are no UTF-8 are read as Latin-1 beside those that are, and the first is named
    with its line.
    """
    text, gaps = decode_text(
        "x", b"fine\ngr\xf6\xdfer\n" + "größer, and more text that is fine\n".encode() * 5
    )
    assert text.startswith("fine\ngrößer\ngrößer, and")
    assert [(2, "gr\ufffd\ufffder")] == [(gap.span.line, gap.span.text) for gap in gaps]


@pytest.mark.parametrize("place", [0, 3, 40])
def test_a_stray_zero_makes_no_text_binary(place: int) -> None:
    """It is left out, and its line is named."""
    whole = b"default via 10.0.0.1 dev eth0\n10.0.0.0/24 dev eth0 scope link\n"
    found = parse_file("routes", whole[:place] + b"\0" + whole[place:])
    assert [tuple(whole.decode().splitlines())] == [source.lines for source in found.sources]
    assert [1 + whole[:place].count(b"\n")] == [gap.span.line for gap in found.gaps]


JUNK = [
    b"\0\0\0\0",
    b"\x7fELF\x02",
    bytes(range(256)) * 4,
    b"\xd4\xc3\xb2\xa1\x02\0",
    b"PK\x03\x04rest",
    b"\x89PNG\r\n",
]


@pytest.mark.parametrize("data", JUNK)
def test_junk_is_refused(data: bytes) -> None:
    """Programs, pictures, captures and noise are an error that names the file."""
    with pytest.raises(EvidenceError, match="junk"):
        parse_file("junk", data)


def test_colors_are_taken_off() -> None:
    """`ip -c` colors its output; other control characters stay in the values that hold them."""
    text, _ = decode_text("x", b"\x1b[36meth0: \x1b[0m\x07")
    assert "eth0: \x07" == text


def test_lines() -> None:
    """Lines are those of editors, whatever ends them."""
    assert ["a", "b", "", "c\x0cd"] == split_lines("a\r\nb\n\nc\x0cd\n")


MARKED = [
    "```\nx\n```",
    "root@n1:~# ip a",
    "a\n$ ip a",
    "[a@b ~]$ ls",
    "/ # ip r",
    "{code}\nx\n{code}",
]


@pytest.mark.parametrize("text", MARKED)
def test_marks_of_a_document(text: str) -> None:
    """Fences and prompts make a document."""
    assert has_console_marks(text)


@pytest.mark.parametrize(
    "text",
    [RULES, "# Generated by iptables-save v1.8.9 on Sat\n*nat", "net.a = 1", "> GET / HTTP/1.1"],
)
def test_outputs_have_no_marks(text: str) -> None:
    """Comments and request lines of outputs are no prompts."""
    assert not has_console_marks(text)


@given(st.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    """Any bytes give sources and gaps, or an error on purpose."""
    with contextlib.suppress(EvidenceError):
        parse_file("x", data)
