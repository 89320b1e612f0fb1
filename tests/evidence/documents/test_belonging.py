"""What goes on with an output, and what ends it."""

from __future__ import annotations

import pytest

from podpath.evidence.documents.belonging import Context, is_annotation, is_place_note
from podpath.evidence.documents.document import split_document
from podpath.evidence.documents.regions import DocumentLine

PACKET = "10:00:00.1 IP 10.0.0.1.5 > 10.0.0.2.80: Flags [S], seq 1, win 5, length 0"


def _context(text: str, below: str = PACKET, *, fenced: bool = False) -> Context:
    return Context((DocumentLine(1, text), DocumentLine(2, below)), 0, fenced, False)


@pytest.mark.parametrize(
    "note",
    [
        "TCP SYN:",
        "TCP SYN (2nd time):",
        "Level 2:",
        "SYN of the client:",
        "# lost?",
        "RST from the pod:",
    ],
)
def test_notes_between_packets(note: str) -> None:
    """Short notes right above a packet belong to the capture."""
    assert is_annotation(_context(note))


@pytest.mark.parametrize(
    "note",
    [
        "On the host:",
        "and on a good node:",
        "In the pod:",
        "node2:",
        "# eth1",
        "After the restart:",
    ],
)
def test_notes_that_name_a_place(note: str) -> None:
    """A note that says where or when starts another capture."""
    assert is_place_note(_context(note))
    assert not is_annotation(_context(note))


def _split(text: str) -> list[tuple[str | None, int]]:
    return [(source.label, len(source.lines)) for source in split_document("a", text.split("\n"))]


def test_places_part_captures() -> None:
    """Two captures under notes of their own are two sources with these labels."""
    text = f"```\nOn the pod:\n{PACKET}\n{PACKET}\nOn the host:\n{PACKET}\n```"
    assert [("On the pod:", 2), ("On the host:", 1)] == _split(text)


def test_blank_lines_end_most_outputs() -> None:
    """Below a command, a blank line ends an output that has none itself; `iptables -L` goes on."""
    chain = (
        "Chain A (1 references)\n"
        " pkts bytes target     prot opt in     out     source               destination"
    )
    text = f"$ iptables -S X\n-A X -j Y\n\n-A X -j Y\n\n$ iptables -nvL\n{chain}\n\n{chain}"
    assert [1, 1, 5] == [count for _, count in _split(text)]


def test_another_output_starts_another_source() -> None:
    """Lines of another tool are another output, without a prompt between them."""
    text = (
        "root@n:~# ip route\ndefault via 10.0.0.1 dev eth0\n\n-A X -j Y\n-A X -j Z\n\n"
        "net.ipv4.ip_forward = 1"
    )
    assert [1, 2, 1] == [count for _, count in _split(text)]


def test_a_sentence_ends_an_output() -> None:
    """Prose right below an output is not of it."""
    text = (
        "root@n:~# ip route\ndefault via 10.0.0.1 dev eth0\n"
        "This is the gateway that we have on all of the nodes."
    )
    assert [1] == [count for _, count in _split(text)]


def test_chat() -> None:
    """Who wrote when is not console."""
    text = (
        "alice  10:32\n[root@w3 ~]# ping -c 1 10.0.0.9\n"
        "PING 10.0.0.9 (10.0.0.9) 56(84) bytes of data.\n\nbob  10:35\nhm"
    )
    assert [1] == [count for _, count in _split(text)]
