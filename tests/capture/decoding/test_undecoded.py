"""A capture in which no packet could be judged is no all-clear: the answer names what it holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from podpath.library.captures import captures
from tests.capture import frames


@pytest.mark.parametrize(
    ("frame", "link_type", "says"),
    [
        (frames.ethernet(0x88CC, bytes(40)), 1, "Ethernet with LLDP"),
        (frames.ethernet(0x22EB, bytes(40)), 1, "Ethernet with EtherType 0x22eb"),
        (frames.ethernet(38, bytes.fromhex("424203") + bytes(35)), 1, "Ethernet with LLC"),
        (bytes(64), 105, "802.11"),
        (bytes(64), 147, "link type 147"),
    ],
)
def test_what_cannot_be_judged_is_undecided(
    tmp_path: Path, frame: bytes, link_type: int, says: str
) -> None:
    """It is undecided, with the link type's name."""
    file = tmp_path / "one.pcap"
    file.write_bytes(frames.pcap([frame, frame], link_type=link_type))
    result = captures([str(file)])

    assert ("undecided", 3) == (result.verdict, result.exit_code)
    assert f"none of 2 packets was decoded as IP: {says}" in " ".join(result.text().split())


def test_a_capture_of_arp_alone_is_judged(tmp_path: Path) -> None:
    """ARP is read, so it is no capture of nothing."""
    body = bytes.fromhex("0001080006040001") + bytes(6) + bytes(4) + bytes(6) + bytes(4)
    file = tmp_path / "arp.pcap"
    file.write_bytes(frames.pcap([frames.ethernet(0x0806, body)]))

    assert "decoded as IP" not in captures([str(file)]).text()
