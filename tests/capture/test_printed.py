"""Printed packets as columns: the same as those of the capture that was printed, as far as the text
tells.
"""

from __future__ import annotations

from dataclasses import replace

from podpath.net.addresses import Address
from podpath_capture.printed.packets import pack_frames
from tests.checks.made_captures import CLIENT, SERVER, case_of, exchange, handshake, tcp


def test_numbers_are_as_on_the_wire() -> None:
    """Numbers that are printed relative to the SYN count from it again; a bare ACK has the number
    behind the SYN.
    """
    packed = pack_frames(case_of(*handshake(), *exchange(0.1)).sightings)
    assert packed is not None
    columns = packed.capture.packets.columns

    assert [1000, 77_000, 1001, 1001, 77_001, 77_001, 1001] == columns.seq.tolist()
    assert [0, 1001, 77_001, 77_001, 1081, 1081, 77_401] == columns.ack.tolist()
    assert [0, 0, 0, 80, 0, 400, 0] == columns.payload.tolist()


def test_ends_times_and_devices() -> None:
    """Addresses and ports are those of the text, times nanoseconds, devices numbered where there
    are several.
    """
    lines = (
        tcp(0, f"{CLIENT} > {SERVER}", "S", 7, where="veth7 In "),
        tcp(0.25, f"{CLIENT} > {SERVER}", "S", 7, where="eth0  Out"),
    )
    packed = pack_frames(case_of(*lines, command="tcpdump -nni any").sightings)
    assert packed is not None
    columns = packed.capture.packets.columns

    assert Address.parse("10.7.0.5").value == int(columns.src[0])
    assert (41000, 443, 250_000_000) == (
        int(columns.sport[0]),
        int(columns.dport[0]),
        int(columns.time[1] - columns.time[0]),
    )
    assert ({1: "veth7", 2: "eth0"}, [1, 2], [1, 5]) == (
        packed.devices,
        columns.ifindex.tolist(),
        columns.direction.tolist(),
    )


def test_six_is_numbered() -> None:
    """IPv6 addresses are numbered as in captures."""
    packed = pack_frames(
        case_of(
            "10:00:00.1 IP6 fd00::1.1000 > fd00::2.443: Flags [S], seq 7, win 5, length 0"
        ).sightings
    )
    assert packed is not None

    assert (
        Address.parse("fd00::1").value,
        Address.parse("fd00::2").value,
    ) == packed.capture.packets.addresses
    assert [6] == packed.capture.packets.columns.version.tolist()


def test_without_times_nothing_is_packed() -> None:
    """Points are put in order by time, so a capture without is left out."""
    frames = [replace(seen, time=None) for seen in case_of(*handshake()).sightings]

    assert pack_frames(frames) is None
    assert pack_frames([]) is None
