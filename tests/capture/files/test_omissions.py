"""What a pcapng file says of packets that it lacks: by its header, its filters, its statistics."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from podpath_capture.reading.read import read_capture
from tests.capture import frames

SYN = frames.ethernet(0x0800, frames.ipv4(6, frames.tcp()))
DUMPCAP, EDITCAP = "Dumpcap (Wireshark) 4.0.17", "Editcap (Wireshark) 4.0.17"


def written_by(program: str, order: str = "<") -> bytes:
    """Make the header of a section that a program wrote."""
    head = struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1)
    named = frames.option(4, program.encode(), order) if program else b""
    return frames.block(0x0A0D0D0A, head + named + frames.option(0, b"", order), order)


def statistics(received: int, order: str = "<", number: int = 0) -> bytes:
    """Make an interface statistics block."""
    counted = struct.pack(f"{order}3I", number, 0, 0)
    counted += frames.option(4, struct.pack(f"{order}Q", received), order)
    return frames.block(5, counted, order)


def filtered(words: str) -> bytes:
    """Make the options of an interface that was captured with a filter."""
    return frames.option(2, b"eth0") + frames.option(11, b"\0" + words.encode())


def told(*blocks: bytes) -> list[str]:
    """Return what a file tells, without the bytes at which it does."""
    return [each.why for each in read_capture(b"".join(blocks)).omissions]


@pytest.mark.parametrize("order", ["<", ">"])
def test_file_that_dumpcap_took_and_counted_is_whole(order: str) -> None:
    """As many packets as it took are there."""
    device = frames.interface(order=order)
    packets = frames.packet(SYN, order=order) * 2

    assert [] == told(written_by(DUMPCAP, order), device, packets, statistics(2, order))


def test_file_without_a_writer_tells_nothing() -> None:
    """Neither does a pcap file, nor one that another capturing program wrote."""
    tcpdump = "tcpdump (libpcap version 1.10.1)"

    assert [] == told(frames.pcap([SYN]))
    assert [] == told(frames.section(), frames.interface(), frames.packet(SYN))
    assert [] == told(written_by(tcpdump), frames.interface(), frames.packet(SYN))


def test_program_that_writes_other_files_again_is_named_with_its_byte() -> None:
    """Each section has its own writer; one without packets lacks none."""
    whole = written_by(DUMPCAP) + frames.interface() + frames.packet(SYN) + statistics(1)
    data = whole + written_by(EDITCAP) + frames.interface() + frames.packet(SYN)
    data += written_by(EDITCAP) + frames.interface()
    (found,) = read_capture(data).omissions

    assert len(whole) == found.offset
    assert found.why.startswith("Editcap wrote this file from another one")


def test_count_that_dumpcap_writes_last_is_missed() -> None:
    """editcap keeps Dumpcap's name and leaves its statistics out."""
    (why,) = told(written_by(DUMPCAP), frames.interface(), frames.packet(SYN))

    assert why.startswith("Dumpcap took these packets, but its count of them is missing")


def test_more_packets_were_taken_than_are_there() -> None:
    """It is told of the interface that lacks some; 2 ** 64 - 1 stands for no count."""
    named = frames.interface(options=frames.option(2, b"eth0"))
    packets = frames.packet(SYN) * 2 + frames.packet(SYN, 1)
    data = written_by(DUMPCAP) + named + frames.interface() + packets
    data += statistics(563) + statistics((1 << 64) - 1, number=1)

    assert ["563 packets of eth0 were taken, and the file has 2"] == told(data)


@pytest.mark.parametrize("words", ["src host 10.0.0.1", "tcp[13] & 2 != 0", "less 100"])
def test_filter_that_parts_connections_is_told(words: str) -> None:
    """One direction, or some packets, are left out of what it lets through."""
    data = (written_by(DUMPCAP), frames.interface(options=filtered(words)), frames.packet(SYN))

    assert [f"the filter of eth0 ({words}) leaves out parts of connections"] == told(
        *data, statistics(1)
    )


@pytest.mark.parametrize("words", ["tcp port 80", "host 10.0.0.1 and not port 22"])
def test_filter_that_takes_whole_connections_is_not(words: str) -> None:
    """What is in the file is whole."""
    data = (written_by(DUMPCAP), frames.interface(options=filtered(words)), frames.packet(SYN))

    assert [] == told(*data, statistics(1))


def test_filter_that_is_bytecode_may_part_connections() -> None:
    """What it lets through is not read."""
    options = frames.option(2, b"eth0") + frames.option(11, b"\1" + bytes(8))
    device = frames.interface(options=options)

    assert ["the filter of eth0 is no text, and may leave out parts of connections"] == told(
        written_by(DUMPCAP), device, frames.packet(SYN), statistics(1)
    )


@pytest.mark.skipif(shutil.which("editcap") is None, reason="editcap is not installed")
def test_editcap_s_own_files_are_told(tmp_path: Path) -> None:
    """What it makes of a pcap file has its name."""
    source, target = tmp_path / "whole.pcap", tmp_path / "part.pcapng"
    source.write_bytes(frames.pcap([SYN] * 3))
    subprocess.run(["editcap", "-F", "pcapng", "-r", source, target, "1-2"], check=True)
    (why,) = told(target.read_bytes())

    assert why.startswith("Editcap wrote this file from another one")
