"""BPF instructions as values, and their assembly to the bytes that bpf(2) takes
(instruction-set.rst).

A jump names its label, so that nothing is counted by hand.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

_CODE = struct.Struct("<BBhi")
SIZE = _CODE.size
_LOAD, _STORE_IMMEDIATE, _STORE, _JUMP, _ALU64 = 0x61, 0x62, 0x63, 0x05, 0x07
_MODE_ATOMIC = 0xC0
_WIDE, _REGISTER = 0x18, 0x08
_MAP = 1
"""BPF_PSEUDO_MAP_FD: the constant is the descriptor of a map."""
_ACCESS = {4: 0x00, 2: 0x08, 1: 0x10, 8: 0x18}


class Register(IntEnum):
    """The machine's registers; 1 to 5 hold arguments and are lost in a call, 6 to 9 are kept."""

    R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, FP = range(11)


class Alu(IntEnum):
    """What arithmetic does to a register."""

    ADD, SUBTRACT, AND, LEFT, RIGHT, MOVE = 0x00, 0x10, 0x50, 0x60, 0x70, 0xB0


class JumpTest(IntEnum):
    """When a jump is taken."""

    ALWAYS, EQUAL, NOT_EQUAL, AT_MOST_SIGNED = 0x00, 0x10, 0x50, 0xD0


class Instruction(NamedTuple):
    """One instruction; `offset` names a label where it jumps."""

    code: int
    target: int = 0
    source: int = 0
    offset: int | str = 0
    value: int = 0


class Label(NamedTuple):
    """The place in a program that jumps name."""

    name: str


Line = Instruction | Label


def compute(operation: Alu, target: Register, operand: Register | int) -> Instruction:
    """Do 64-bit arithmetic on a register."""
    if isinstance(operand, Register):
        return Instruction(_ALU64 | operation | _REGISTER, target, operand)
    return Instruction(_ALU64 | operation, target, value=operand)


def move(target: Register, operand: Register | int) -> Instruction:
    """Copy a register or a constant to a register."""
    return compute(Alu.MOVE, target, operand)


def load(size: int, target: Register, base: Register, offset: int) -> Instruction:
    """Load bytes of memory."""
    return Instruction(_LOAD | _ACCESS[size], target, base, offset)


def store(size: int, base: Register, offset: int, source: Register) -> Instruction:
    """Store a register to memory."""
    return Instruction(_STORE | _ACCESS[size], base, source, offset)


def store_value(size: int, base: Register, offset: int, value: int) -> Instruction:
    """Store a constant to memory."""
    return Instruction(_STORE_IMMEDIATE | _ACCESS[size], base, 0, offset, value)


def add_atomically(base: Register, offset: int, source: Register) -> Instruction:
    """Add a register to 8 bytes of memory that others may add to at the same time."""
    return Instruction((_STORE & 0x07) | _MODE_ATOMIC | _ACCESS[8], base, source, offset)


def jump(
    label: str, test: JumpTest = JumpTest.ALWAYS, left: Register = Register.R0, right: int = 0
) -> Instruction:
    """Jump to a label where a register compares so to a constant."""
    return Instruction(_JUMP | test, 0 if test is JumpTest.ALWAYS else left, 0, label, right)


def call(helper: int) -> Instruction:
    """Call a helper of the kernel by its number (bpf-helpers(7)); its answer is in R0."""
    return Instruction(0x85, value=helper)


def leave() -> Instruction:
    """End the program with the answer in R0."""
    return Instruction(0x95)


def load_map(target: Register, descriptor: int) -> tuple[Instruction, Instruction]:
    """Load the address of a map, which takes two instructions."""
    return Instruction(_WIDE, target, _MAP, value=descriptor), Instruction(0)


def assemble(lines: Sequence[Line]) -> bytes:
    """Return a program's bytes; a label that is missing or stands twice is a bug."""
    places: dict[str, int] = {}
    count = 0
    for line in lines:
        if isinstance(line, Label):
            if line.name in places:
                raise AssertionError(f"the label {line.name} stands twice")
            places[line.name] = count
        else:
            count += 1
    instructions = [line for line in lines if isinstance(line, Instruction)]
    return b"".join(_emit(line, number, places) for number, line in enumerate(instructions))


def _emit(line: Instruction, number: int, places: Mapping[str, int]) -> bytes:
    offset = line.offset if isinstance(line.offset, int) else places[line.offset] - number - 1
    return _CODE.pack(line.code, line.source << 4 | line.target, offset, line.value)
