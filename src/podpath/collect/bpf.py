"""Maps, programs and links of BPF, by bpf(2) alone: everything here is gone when its descriptor is
closed, so also when the process is killed.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import struct
import sys
from collections.abc import Iterator

from podpath.net.errors import PodpathError

ARRAY, HASH, PERCPU_ARRAY, ARRAY_OF_MAPS, RINGBUF = 2, 1, 6, 12, 27
RAW_TRACEPOINT = 17
_MAP_CREATE, _LOOKUP, _UPDATE, _PROG_LOAD, _INFO, _TRACEPOINT_OPEN, _TAKE_BATCH = (
    0,
    1,
    2,
    5,
    15,
    17,
    25,
)
_CALLS = {"x86_64": 321, "aarch64": 280, "riscv64": 280, "loongarch64": 280, "ppc64le": 361}
"""The number of bpf(2) on the machines that are little-endian, as the programs are."""
_BATCH = struct.Struct("=QQQQIIQQ")
_MISSES = 208
"""Where bpf_prog_info says how often the program did not run since it was running already."""
_RUN_TIME = 192
_INFO_SIZE = 232
_ENOENT, _ENOSPC = 2, 28
_BUSY, _DISCARDED = 1 << 31, 1 << 30
_PAGE = mmap.PAGESIZE
_libc = ctypes.CDLL(None, use_errno=True)


class BpfError(PodpathError):
    """The kernel refuses BPF, or is one whose call for it is not known. The message says why."""

    def __init__(self, what: str, number: int) -> None:
        """Keep the error's number beside its words."""
        super().__init__(f"expected to {what}, the kernel said: {os.strerror(number)}")
        self.number = number


def _bpf(command: int, attributes: bytes, what: str) -> int:
    """Call bpf(2); `BpfError` with the kernel's words where it refuses."""
    number = _CALLS.get(platform.machine())
    if number is None or sys.byteorder != "little":
        raise BpfError(what, 38)  # ENOSYS
    buffer = ctypes.create_string_buffer(attributes, max(len(attributes), 128))
    answer: int = _libc.syscall(number, command, buffer, len(buffer))
    if answer < 0:
        raise BpfError(what, ctypes.get_errno())
    return answer


def create_map(kind: int, key: int, value: int, entries: int, inner: int = 0) -> int:
    """Make a map and return its descriptor; `inner` is an example of the maps that it will hold."""
    attributes = struct.pack("=IIIIIII16s", kind, key, value, entries, 0, inner, 0, b"podpath")
    return _bpf(_MAP_CREATE, attributes, "make a BPF map")


def update(descriptor: int, key: bytes, value: bytes) -> None:
    """Set an entry of a map. Of a map of maps, this returns when no program uses the old one."""
    held_key, held_value = ctypes.create_string_buffer(key), ctypes.create_string_buffer(value)
    attributes = struct.pack(
        "=IIQQQ", descriptor, 0, ctypes.addressof(held_key), ctypes.addressof(held_value), 0
    )
    _bpf(_UPDATE, attributes, "write to a BPF map")


def look_up(descriptor: int, key: bytes, size: int) -> bytes:
    """Return an entry of a map."""
    held_key, value = ctypes.create_string_buffer(key), ctypes.create_string_buffer(size)
    attributes = struct.pack(
        "=IIQQQ", descriptor, 0, ctypes.addressof(held_key), ctypes.addressof(value), 0
    )
    _bpf(_LOOKUP, attributes, "read a BPF map")
    return value.raw


class BatchTaker:
    """Takes the entries out of hash maps of one shape, many with each call."""

    def __init__(self, key: int, value: int, entries: int) -> None:
        """Make room for `entries` entries at a time."""
        self._entries = entries
        self._keys = ctypes.create_string_buffer(key * entries)
        self._values = ctypes.create_string_buffer(value * entries)
        self._sizes = key, value
        self._places = ctypes.create_string_buffer(8), ctypes.create_string_buffer(8)

    def take(self, descriptor: int) -> Iterator[tuple[bytes, bytes]]:
        """Take everything out of a map: yield keys and values of each batch, in a row."""
        before, after = self._places
        first = True
        while True:
            attributes = bytearray(
                _BATCH.pack(
                    0 if first else ctypes.addressof(before),
                    ctypes.addressof(after),
                    ctypes.addressof(self._keys),
                    ctypes.addressof(self._values),
                    self._entries,
                    descriptor,
                    0,
                    0,
                )
            )
            count, more = _take_batch(attributes)
            key, value = self._sizes
            if count:
                yield self._keys.raw[: count * key], self._values.raw[: count * value]
            if not more:
                return
            ctypes.memmove(before, after, 8)
            first = False


def _take_batch(attributes: bytearray) -> tuple[int, bool]:
    """Take one batch: how many entries it has, and whether more may follow."""
    buffer = (ctypes.c_char * len(attributes)).from_buffer(attributes)
    number = _CALLS[platform.machine()]
    answer = _libc.syscall(number, _TAKE_BATCH, buffer, len(attributes))
    error = ctypes.get_errno() if answer < 0 else 0
    if error not in (0, _ENOENT):
        raise BpfError("take entries out of a BPF map", error)
    (count,) = struct.unpack_from("=I", attributes, 32)
    return count, error == 0


def load_program(kind: int, instructions: bytes) -> int:
    """Load a program and return its descriptor; `BpfError` has the end of the verifier's log."""
    code, licence = ctypes.create_string_buffer(instructions), ctypes.create_string_buffer(b"GPL")
    count = len(instructions) // 8

    def attributes(level: int, size: int, log: int) -> bytes:
        return struct.pack(
            "=IIQQIIQII16s",
            kind,
            count,
            ctypes.addressof(code),
            ctypes.addressof(licence),
            level,
            size,
            log,
            0,
            0,
            b"podpath_watch",
        )

    try:
        return _bpf(_PROG_LOAD, attributes(0, 0, 0), "load a BPF program")
    except BpfError as error:
        log = ctypes.create_string_buffer(1 << 20)
        try:
            return _bpf(_PROG_LOAD, attributes(1, len(log), ctypes.addressof(log)), "load it")
        except BpfError:
            last = log.value.decode("ascii", "replace").strip().splitlines()[-3:]
            error.args = (f"{error}: {'; '.join(last)}" if last else str(error),)
            raise error from None


def attach(program: int, tracepoint: str) -> int:
    """Attach a program to a tracepoint until the descriptor that is returned is closed."""
    name = ctypes.create_string_buffer(tracepoint.encode())
    attributes = struct.pack("=QI", ctypes.addressof(name), program)
    return _bpf(_TRACEPOINT_OPEN, attributes, f"attach to {tracepoint}")


def count_misses(program: int) -> int:
    """Return how often a program did not run, since it ran already on that processor."""
    return _read_info(program, _MISSES)


def read_run_time(program: int) -> int:
    """Return the nanoseconds that a program ran, where the kernel is told to count them."""
    return _read_info(program, _RUN_TIME)


def _read_info(program: int, place: int) -> int:
    info = ctypes.create_string_buffer(_INFO_SIZE)
    attributes = struct.pack("=IIQ", program, len(info), ctypes.addressof(info))
    _bpf(_INFO, attributes, "ask about a BPF program")
    found: int = struct.unpack_from("=Q", info.raw, place)[0]
    return found


class RingReader:
    """The reader's end of a ring buffer (ringbuf.rst)."""

    def __init__(self, descriptor: int, size: int) -> None:
        """Map the ring of `size` bytes, which is a power of two."""
        self._mask = size - 1
        self._consumer = mmap.mmap(descriptor, _PAGE)
        self._producer = mmap.mmap(
            descriptor, _PAGE + 2 * size, mmap.MAP_SHARED, mmap.PROT_READ, offset=_PAGE
        )

    def read(self) -> list[bytes]:
        """Return the records that are there, oldest first, and make room."""
        (consumed,) = struct.unpack_from("=Q", self._consumer)
        (produced,) = struct.unpack_from("=Q", self._producer)
        records: list[bytes] = []
        while consumed < produced:
            place = _PAGE + (consumed & self._mask)
            (length,) = struct.unpack_from("=I", self._producer, place)
            if length & _BUSY:
                break
            size = length & ~_DISCARDED
            if not length & _DISCARDED:
                records.append(self._producer[place + 8 : place + 8 + size])
            consumed += (size + 8 + 7) & ~7
        struct.pack_into("=Q", self._consumer, 0, consumed)
        return records

    def close(self) -> None:
        """Unmap the ring."""
        self._consumer.close()
        self._producer.close()
