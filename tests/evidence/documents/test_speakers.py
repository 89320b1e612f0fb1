"""Time and name are taken off the lines of a chat, and off nothing else."""

from __future__ import annotations

import pytest

from podpath.evidence.documents.regions import DocumentLine
from podpath.evidence.documents.speakers import strip_speakers

SAID = ["hi", "$ ip route", "default via 10.0.0.1 dev ens3", "    inet 10.0.0.2/24"]


@pytest.mark.parametrize(
    "prefix",
    [
        "[10:02:11] <maria> ",
        "<@maria> ",
        "10:02 <maria_> ",
        "[03.05.24, 10:02:11] Maria K.: ",
        "[2024-05-03 10:02] Tom: ",
    ],
)
def test_chat(prefix: str) -> None:
    """What was said and pasted is left, its own indentation included."""
    lines = [DocumentLine(number, prefix + text) for number, text in enumerate(SAID, 1)]
    assert SAID == [line.text for line in strip_speakers(lines)]


@pytest.mark.parametrize(
    "text",
    [
        "10:02:11.000000 IP 10.0.0.1.80 > 10.0.0.2.90: Flags [S], length 0",
        "[10:02:11] eth0: link up, 1000 Mbps",
        "<none> <none>",
        "1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536",
        "[  12.345678] br0: port 1(veth0) entered forwarding state",
    ],
)
def test_single_lines_of_outputs(text: str) -> None:
    """A line of an output that begins like a chat's stays among others that do not."""
    lines = [
        DocumentLine(1, text),
        DocumentLine(2, "$ ip route"),
        DocumentLine(3, "default via 10.0.0.1 dev ens3"),
    ]
    assert lines == list(strip_speakers(lines))


@pytest.mark.parametrize(
    "text",
    ["10:02:11.000000 IP 10.0.0.1.80 > 10.0.0.2.90: Flags [S], length 0", (
        "1: lo: <LOOPBACK,UP,LOWER_UP> mtu "
        "65536"
    ),
     "[  12.345678] br0: port 1(veth0) entered forwarding state", "< HTTP/1.1 200 OK"],
)  # fmt: skip
def test_whole_outputs(text: str) -> None:
    """Captures, links, kernel logs and responses are no chat, however many lines they have."""
    lines = [DocumentLine(number, text) for number in range(9)]
    assert lines == list(strip_speakers(lines))
