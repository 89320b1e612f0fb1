"""Maps, rings and programs of the running kernel, and what it says where it refuses."""

from __future__ import annotations

import os
import platform
import struct

import pytest

from podpath.collect import bpf
from podpath.drops.instructions import Register, assemble, leave, load, move

NOTHING = assemble([move(Register.R0, 0), leave()])


@pytest.mark.kernel
def test_a_map_keeps_what_is_written() -> None:
    """An entry of an array comes back as it was written."""
    made = bpf.create_map(bpf.ARRAY, 4, 8, 2)
    try:
        bpf.update(made, struct.pack("=I", 1), b"podpath!")
        assert bpf.look_up(made, struct.pack("=I", 1), 8) == b"podpath!"
        assert bpf.look_up(made, struct.pack("=I", 0), 8) == bytes(8)
        with pytest.raises(bpf.BpfError):
            bpf.look_up(made, struct.pack("=I", 2), 8)
    finally:
        os.close(made)


@pytest.mark.kernel
@pytest.mark.parametrize("count", [0, 1, 9, 100])
def test_everything_is_taken_out_of_a_map(count: int) -> None:
    """Whatever the number of entries and of those of a batch, each comes once, and none stays."""
    made = bpf.create_map(bpf.HASH, 4, 8, 128)
    try:
        for number in range(count):
            bpf.update(made, struct.pack("=I", number), struct.pack("=Q", number * 3))
        taker = bpf.BatchTaker(4, 8, 64)
        taken = list(taker.take(made))
        keys = [key for keys, _ in taken for (key,) in struct.iter_unpack("=I", keys)]
        values = [value for _, values in taken for (value,) in struct.iter_unpack("=Q", values)]

        assert {number: number * 3 for number in range(count)} == dict(
            zip(keys, values, strict=True)
        )
        assert len(keys) == count
        assert list(taker.take(made)) == []
    finally:
        os.close(made)


@pytest.mark.kernel
def test_a_program_runs_at_its_tracepoint_until_it_is_closed() -> None:
    """What is attached has a descriptor of its own; a program that never ran has missed nothing."""
    program = bpf.load_program(bpf.RAW_TRACEPOINT, NOTHING)
    try:
        os.close(bpf.attach(program, "kfree_skb"))
        assert bpf.count_misses(program) == 0
        assert bpf.read_run_time(program) >= 0
        with pytest.raises(bpf.BpfError, match="attach to no_such_tracepoint"):
            bpf.attach(program, "no_such_tracepoint")
    finally:
        os.close(program)


@pytest.mark.kernel
def test_the_verifier_is_quoted() -> None:
    """A program that the kernel refuses brings the end of its log along."""
    bad = assemble([load(8, Register.R0, Register.R3, 0), leave()])
    with pytest.raises(bpf.BpfError, match=r"R3 !read_ok"):
        bpf.load_program(bpf.RAW_TRACEPOINT, bad)


def test_an_unknown_machine_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the number of the call is not known, nothing is called."""
    monkeypatch.setattr(platform, "machine", lambda: "vax")
    with pytest.raises(bpf.BpfError, match="make a BPF map"):
        bpf.create_map(bpf.ARRAY, 4, 8, 1)
