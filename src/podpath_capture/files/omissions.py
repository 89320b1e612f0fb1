"""What a pcapng file says of itself that tells of packets it does not have: who wrote it, with what
filter, how many packets were taken.

Programs that write the packets of another file (editcap, tshark, mergecap, Wireshark's export) keep
the section header, or name themselves in one of their own, and leave out the interface statistics,
which Dumpcap writes last (draft-ietf-opsawg-pcapng, 4.1, 4.6; dumpcap.c:capture_loop_start v4.0).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from podpath_capture.files.index import CaptureDamage, Contents, FileSection, Interface

REWRITERS = frozenset({"editcap", "mergecap", "reordercap", "tshark", "wireshark"})
"""Programs that name themselves in files which they write from other files; what they capture
Dumpcap writes, under its own name.
"""
DUMPCAP = "dumpcap"
_PART = re.compile(r"\b(?:src|dst|inbound|outbound|less|greater|len)\b|\[", re.IGNORECASE)
"""Words of filters (pcap-filter(7)) that take a part of a connection."""


def find_omissions(contents: Contents, counts: Sequence[int]) -> list[CaptureDamage]:
    """Say what a file's blocks tell of packets that it lacks, each at its byte; `counts` are how
    many packets it has of each interface.
    """
    found = [CaptureDamage(*told) for told in contents.notes.list_told()]
    starts = [section.first for section in contents.sections]
    for section, end in zip(
        contents.sections, [*starts[1:], len(contents.interfaces)], strict=True
    ):
        mine = range(section.first, end)
        interfaces = [contents.interfaces[number] for number in mine]
        packets = [counts[number] if number < len(counts) else 0 for number in mine]
        if sum(packets):
            found += _look_at_writer(section, interfaces)
        for interface, count in zip(interfaces, packets, strict=True):
            found += _look_at_interface(interface, count)
    return sorted(found)


def _look_at_writer(
    section: FileSection, interfaces: Sequence[Interface]
) -> Iterator[CaptureDamage]:
    program = section.application.partition(" ")[0]
    if program.lower() in REWRITERS:
        why = f"{program} wrote this file from another one, and may have left packets out"
        yield CaptureDamage(section.offset, why)
    elif program.lower() == DUMPCAP and not any(each.counted for each in interfaces):
        why = (
            f"{program} took these packets, but its count of them is missing: another program "
            "wrote the file again and may have left packets out, or it was cut off"
        )
        yield CaptureDamage(section.offset, why)


def _look_at_interface(interface: Interface, count: int) -> Iterator[CaptureDamage]:
    name = interface.name or "an interface"
    if _PART.search(interface.filter):
        why = f"the filter of {name} ({interface.filter}) leaves out parts of connections"
        yield CaptureDamage(interface.offset, why)
    elif interface.filter_unread:
        why = f"the filter of {name} is no text, and may leave out parts of connections"
        yield CaptureDamage(interface.offset, why)
    if interface.received is not None and count < interface.received < 1 << 63:
        why = f"{interface.received} packets of {name} were taken, and the file has {count}"
        yield CaptureDamage(interface.offset, why)
