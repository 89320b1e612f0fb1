"""The program in the running kernel: every drop is heard, counted by its flow, and sent up once."""

from __future__ import annotations

import os
import select
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from podpath.collect import drop_program
from podpath.collect.drop_program import DropProgram, count_processors
from podpath.collect.netns import inside
from podpath.drops.btf import TypeTable
from podpath.drops.events import HeardDrop, decode_event, decode_key, name_reasons

BTF = Path("/sys/kernel/btf/vmlinux")
NAME = f"pd{os.getpid()}"
PORT = 9


@pytest.fixture(scope="module")
def types() -> TypeTable:
    """Provide the running kernel's types."""
    return TypeTable(BTF.read_bytes())


@pytest.fixture
def inode() -> Iterator[int]:
    """Provide a namespace with a loopback device that is up, by its inode."""
    subprocess.run(("ip", "netns", "add", NAME), check=True)
    subprocess.run(("ip", "-n", NAME, "link", "set", "lo", "up"), check=True)
    yield Path(f"/run/netns/{NAME}").stat().st_ino
    subprocess.run(("ip", "netns", "del", NAME), check=True)


def send(count: int, sources: int = 1) -> None:
    """Send datagrams to a port that nobody has, from so many ports."""
    with inside(f"/run/netns/{NAME}"):
        for number in range(sources):
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
                sender.bind(("127.0.0.1", 20000 + number))
                for _ in range(count):
                    sender.sendto(b"x" * 20, ("127.0.0.1", PORT))


@pytest.mark.kernel
def test_a_drop_is_told_with_its_packet(types: TypeTable, inode: int) -> None:
    """Reason, namespace, device and headers are those of the datagram that nobody wanted."""
    reasons = name_reasons(types.list_values("skb_drop_reason"))
    program = DropProgram(types, 100)
    try:
        send(3)
        assert select.select([program], [], [], 2)[0]
        heard = [decode_event(event, reasons) for event in program.read_events()]
        flows = [(decode_key(key, reasons), packets) for key, packets, _, _ in program.take_flows()]
    finally:
        program.close()
    (mine,) = (drop for drop in heard if drop.key.inode == inode)
    counted = {key: packets for key, packets in flows if key.inode == inode}

    assert isinstance(mine, HeardDrop)
    assert (mine.key.reason, mine.key.ifindex, str(mine.packet)) == (
        "NO_SOCKET",
        1,
        f"udp 127.0.0.1:20000 > 127.0.0.1:{PORT}",
    )
    assert counted == {mine.key: 3}


@pytest.mark.kernel
def test_nothing_is_lost_uncounted(
    types: TypeTable, inode: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every drop of many flows is in exactly one turn; what the budget keeps back is counted."""
    monkeypatch.setattr(drop_program, "BURST", 20)
    program = DropProgram(types, 10)
    total = 0
    try:
        for _ in range(3):
            send(20, 50)
            total += sum(
                packets
                for key, packets, _, _ in program.take_flows()
                if decode_key(key, {}).inode == inode
            )
        events = len(program.read_events())
        losses = program.count_losses()
    finally:
        program.close()

    assert total == 3 * 20 * 50
    assert losses.seen >= total
    assert (losses.uncounted, losses.missed) == (0, 0)
    assert events <= 20 + 10 + 10
    assert losses.unsent >= 30 + 40 + 40


@pytest.mark.kernel
def test_many_flows_that_begin_at_once_are_sent_up(types: TypeTable, inode: int) -> None:
    """What earlier turns left of their budget is there for them, and is gone then."""
    program = DropProgram(types, 10)
    sent = []
    try:
        for _ in range(4):
            send(1, 900)
            keys = [decode_event(event, {}).key for event in program.read_events()]
            sent.append(sum(key.inode == inode for key in keys))
            list(program.take_flows())
    finally:
        program.close()

    assert sent[:2] == [900, 900]
    assert sent[3] <= 10


@pytest.mark.kernel
def test_closing_detaches(types: TypeTable) -> None:
    """After closing, no program of ours is in the kernel and no descriptor is left open."""
    before = len(list(Path("/proc/self/fd").iterdir()))
    DropProgram(types, 1).close()

    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_processors_are_counted_to_the_highest() -> None:
    """A per-processor map has a value for each that could be there."""
    assert [count_processors(text) for text in ("0\n", "0-3\n", "0,2-7\n")] == [1, 4, 8]
