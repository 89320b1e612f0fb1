"""DNS messages as tcpdump prints them: a query with its question, an answer with its code and the
number of its records, which are left out.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

from podpath_capture.decoding.transport_layer import DNS_HEADER

_TYPES = {
    1: "A", 2: "NS", 5: "CNAME", 6: "SOA", 10: "NULL", 12: "PTR", 15: "MX", 16: "TXT", 28: "AAAA",
    33: "SRV", 35: "NAPTR", 43: "DS", 44: "SSHFP", 46: "RRSIG", 48: "DNSKEY", 64: "SVCB",
    65: "HTTPS", 252: "AXFR", 255: "ANY",
}  # fmt: skip
_CODES = (
    "", " FormErr", " ServFail", " NXDomain", " NotImp", " Refused", " YXDomain", " YXRRSet",
    " NXRRSet", " NotAuth", " NotZone",
)  # fmt: skip
_OPERATIONS = {0: "", 1: " inv_q", 2: " stat", 4: " notify", 5: " update"}
_ANSWER, _AUTHORITY, _TRUNCATED, _ASKS_ON = 0x8000, 0x0400, 0x0200, 0x0100
_SERVES_ON, _CHECKED, _UNCHECKED = 0x0080, 0x0020, 0x0010
_NAME = re.compile(r"[\x21-\x7e]+")


def render_message(message: bytes, size: int) -> str:
    """Write what a datagram of so many bytes says, as far as `message` has it; the first 12 bytes
    are there.
    """
    number, flags, questions, *counts = struct.unpack(">6H", message[:DNS_HEADER])
    kind = flags >> 11 & 15
    words = f"{number}{_OPERATIONS.get(kind, f' op{kind}')}"
    if flags & _ANSWER:
        code = flags & 15
        words += _CODES[code] if code < len(_CODES) else f" Resp{code}"
        words += "*" * bool(flags & _AUTHORITY) + "-" * (not flags & _SERVES_ON)
        words += "|" * bool(flags & _TRUNCATED) + "$" * bool(flags & _CHECKED)
        return f"{words} {'/'.join(map(str, counts))} ({size})"
    words += "+" * bool(flags & _ASKS_ON) + "%" * bool(flags & _UNCHECKED)
    words += f" [{counts[2]}au]" * bool(counts[2])
    return f"{words}{_spell_question(message) if questions == 1 else f' [{questions}q]'} ({size})"


def _spell_question(message: bytes) -> str:
    """Spell what is asked for; nothing where the name is not whole, or has what no name has."""
    labels = list(_read_labels(message))
    at = DNS_HEADER + sum(len(label) + 1 for label in labels) + 1
    name = b".".join(labels).decode("latin-1")
    whole = at + 4 <= len(message) and message[at - 1] == 0
    if not whole or (name and not _NAME.fullmatch(name)):
        return ""
    kind = int.from_bytes(message[at : at + 2], "big")
    return f" {_TYPES.get(kind, f'Type{kind}')}? {name}."


def _read_labels(message: bytes) -> Iterator[bytes]:
    at = DNS_HEADER
    while at < len(message) and 0 < message[at] < 64:
        yield message[at + 1 : at + 1 + message[at]]
        at += message[at] + 1
