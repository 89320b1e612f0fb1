"""Instructions are assembled to the bytes that the kernel's manual has for them."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.drops.instructions import (
    SIZE,
    Alu,
    Instruction,
    JumpTest,
    Label,
    Line,
    Register,
    add_atomically,
    assemble,
    call,
    compute,
    jump,
    leave,
    load,
    load_map,
    move,
    store,
    store_value,
)

R0, R1, FP = Register.R0, Register.R1, Register.FP


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (move(R1, FP), "bfa1000000000000"),
        (move(R0, 7), "b700000007000000"),
        (compute(Alu.ADD, R1, -8), "07010000f8ffffff"),
        (compute(Alu.SUBTRACT, R1, R0), "1f01000000000000"),
        (load(8, R1, FP, -16), "79a1f0ff00000000"),
        (load(2, R0, R1, 4), "6910040000000000"),
        (store(4, FP, -4, R1), "631afcff00000000"),
        (store_value(1, FP, -1, 9), "720affff09000000"),
        (add_atomically(R1, 8, R0), "db01080000000000"),
        (call(5), "8500000005000000"),
        (leave(), "9500000000000000"),
    ],
)
def test_each_kind_has_its_code(line: Instruction, expected: str) -> None:
    """The codes are those of instruction-set.rst, as llvm-objdump shows them."""
    assert bytes.fromhex(expected) == assemble([line])


def test_a_map_takes_two_instructions() -> None:
    """The descriptor stands in the first, marked as one of a map."""
    assert bytes.fromhex("1811000009000000" + "00" * 8) == assemble(load_map(R1, 9))


@given(st.integers(0, 40), st.integers(0, 40))
def test_a_jump_counts_the_instructions_between(before: int, between: int) -> None:
    """The offset is counted from behind the jump to what the label stands before, either way."""
    filler = [move(R0, 0)]
    lines: list[Line] = [*filler * before, jump("there", JumpTest.EQUAL, R1, 5), *filler * between]
    lines += [Label("there"), leave()]
    code = assemble(lines)
    jumped = code[before * SIZE : (before + 1) * SIZE]

    assert struct.pack("<BBhi", 0x15, 1, between, 5) == jumped
    assert len(code) == SIZE * (before + between + 2)


def test_a_jump_goes_back() -> None:
    """A label before the jump is reached with a negative offset."""
    code = assemble([Label("top"), move(R0, 0), jump("top")])

    assert struct.pack("<BBhi", 0x05, 0, -2, 0) == code[SIZE:]


def test_labels_are_unique_and_there() -> None:
    """A label that stands twice, or nowhere, is a bug of the program's."""
    with pytest.raises(AssertionError, match="stands twice"):
        assemble([Label("a"), Label("a"), leave()])
    with pytest.raises(KeyError):
        assemble([jump("nowhere"), leave()])
