"""The usual lines of tcpdump as one expression over their shapes: a line's shape is the line with
`0` for each run of digits.

TCP, datagrams, names asked for and echoes, over IPv4 and IPv6: with the device of `-i any`, the
Ethernet header of `-e`, the number of `--number`, and IPv4's header of `-v`, behind which the
packet stands on a line of its own. Lines of any other shape are left to `evidence.tcpdump`, which
knows them all; what this matches, that would read alike.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from podpath.net.protocols import ICMP, ICMPV6, TCP, UDP, read_letters
from podpath_capture.columns import SACK_OK, TCPDUMP_DIRECTIONS, TIMESTAMPS

JOINT = "\u2028"
"""Stands where the end of a line was whose next one goes on with its packet; bytes that are decoded
one by one never give it.
"""
DIGITS = {
    "counter": (1, 7), "year": (4, 4), "month": (2, 2), "day": (2, 2), "hour": (2, 2),
    "minute": (2, 2), "second": (2, 2), "epoch": (10, 10), "part": (6, 6), "label": (1, 1),
    "kind": (1, 1), "frame": (1, 6), "ttl": (1, 3), "ident": (1, 5), "offset": (1, 1),
    "stated": (1, 3), "length": (1, 6), "a": (1, 3), "b": (1, 3), "c": (1, 3), "d": (1, 3),
    "sport": (1, 5), "e": (1, 3), "f": (1, 3), "g": (1, 3), "h": (1, 3), "dport": (1, 5),
    "seq": (1, 10), "end": (1, 10), "ack": (1, 10), "window": (1, 6), "mss": (1, 5),
    "scale": (1, 3), "tsval": (1, 10), "tsecr": (1, 10), "segment": (1, 7), "datagram": (1, 7),
    "query": (1, 10), "size": (1, 10), "six": (1, 1), "identifier": (1, 5), "number": (1, 7),
    "message": (1, 7),
}  # fmt: skip
"""Fields that are numbers: how many digits they have, at least and at most."""
TEXTS = ("link", "smac", "dmac", "source", "target")
"""Fields that are text, with digits or without; `source` and `target` are IPv6 addresses."""

_START = (
    r"[ ]*(?:(?P<counter>0)[ ]{2,3})?"
    r"(?:(?:(?P<year>0)-(?P<month>0)-(?P<day>0)[ ])?(?P<hour>0):(?P<minute>0):(?P<second>0)|"
    r"(?P<epoch>0))\.(?P<part>0)[ ]"
)
_DEVICE = r"(?P<link>[A-Za-z0_.@:-]+)[ ]+(?P<direction>In|Out|B|M|P)[ ]+"
_MAC = r"[0a-f]{1,2}(?::[0a-f]{1,2}){5}"
_ETHERNET = (
    rf"(?P<smac>{_MAC})[ ]>[ ](?P<dmac>{_MAC}),[ ]ethertype[ ]IPv(?P<kind>0)[ "
    rf"]\(0x0(?:dd)?\),[ ]length[ ](?P<frame>0):[ ]"
)
_HEADER = (
    r"\(tos[ ]0x[^ ,]*,[ ]ttl[ ](?P<ttl>0),[ ]id[ ](?P<ident>0),[ ]offset[ ]"
    r"(?P<offset>0),[ ]flags[ ]\[(?:none|DF)\],[ ]proto[ ][^ ]*[ ]\((?P<stated>0)\),[ ]length[ ]"
    rf"(?P<length>0)(?:,[ ]bad[ ]cksum[ ][^ ]*[ ]\(->[^)]*\)!)?\){JOINT}[ ]{{4}}"
)
_SIX = "[0a-f:]*:[0a-f:]*[0a-f]"
_ENDS = (
    rf"(?:(?P<a>0)\.(?P<b>0)\.(?P<c>0)\.(?P<d>0)|(?P<source>{_SIX}))(?:\.(?P<sport>0))?[ ]>[ ]"
    rf"(?:(?P<e>0)\.(?P<f>0)\.(?P<g>0)\.(?P<h>0)|(?P<target>{_SIX}))(?:\.(?P<dport>0))?:[ ]"
)
_OPTIONS = (
    r"[ ]options[ ]\[(?:mss[ ](?P<mss>0))?(?P<sack>,?sackOK)?(?:,?nop)*"
    r"(?:,?TS[ ]val[ ](?P<tsval>0)[ ]ecr[ ](?P<tsecr>0))?"
    rf"(?:,?nop|,wscale[ ](?P<scale>0)|,?sack[ ][^]{JOINT}]*)*\],"
)
_TCP = (
    r"Flags[ ]\[(?P<flags>[SFRPUEW.]+|none)\],(?:[ ]cksum[ ]0x[0a-f]+[ ]\((?:correct|"
    r"incorrect[ ]->[ ]0x[0a-f]+)\),)?(?:[ ]seq[ ](?P<seq>0)(?::(?P<end>0))?,)?"
    r"(?:[ ]ack[ ](?P<ack>0),)?[ ]win[ ](?P<window>0),"
    rf"(?:{_OPTIONS})?[ ]length[ ](?P<segment>0)(?:[ :][^{JOINT}]*)?"
)
_DATAGRAM = (
    r"(?:\[udp[ ]sum[ ]ok\][ ]|\[bad[ ]udp[ ]cksum[ ]0x[0a-f]+[ ]->[ ]0x[0a-f]+!\][ ])?"
    rf"(?:UDP,[ ]length[ ](?P<datagram>0)[^{JOINT}]*|"
    rf"(?P<words>(?P<query>0)(?:(?!length)[^{JOINT}])*?"
    r"(?:\((?P<size>0)\)|(?<![ ]))))"
)
_ECHO = (
    r"ICMP(?:(?P<six>0),)?[ ]echo[ ](?P<echo>request|reply),[ ]id[ ](?P<identifier>0),[ ]seq[ ]"
    rf"(?P<number>0),[ ]length[ ](?P<message>0)[^{JOINT}]*"
)
_PACKET = re.compile(
    (
        rf"{_START}(?:{_DEVICE})?(?:IP(?P<label>0)?[ ]|{_ETHERNET})(?:{_HEADER})?{_ENDS}(?:{_TCP}|"
        rf"{_DATAGRAM}|{_ECHO})"
    ),
    re.VERBOSE,
)
_GOES_ON = re.compile(rf"\n(?=[ \t])(?!{_START})", re.VERBOSE)


class LineShape(NamedTuple):
    """What all lines of one shape have in common."""

    text: str
    packet: bool
    """True where they are packets, as far as the shape tells."""
    numbers: tuple[int, ...] = (-1,) * len(DIGITS)
    """For each of `DIGITS` which number of the line it is; -1 where the lines have no such
    field.
    """
    texts: tuple[tuple[int, int, int, int], ...] = ((-1, 0, -1, 0),) * len(TEXTS)
    """For each of `TEXTS` the character of the shape at which it begins, how many numbers stand
    before that, and the same of its end; -1 where the lines have no such field.
    """
    protocol: int = 0
    flags: int = 0
    direction: int = 0
    icmp_type: int = 0
    options: int = 0


def join_lines(shapes: str) -> str:
    """Put `JOINT` before each line that goes on with the one above it: all that do are indented,
    and have no time.
    """
    if "\n " in shapes or "\n\t" in shapes:
        return _GOES_ON.sub(JOINT, shapes)
    return shapes


@lru_cache(maxsize=1 << 14)  # the same shapes come on every page
def read_shape(text: str) -> LineShape:
    """Say what the lines of a shape show, and where."""
    found = _PACKET.fullmatch(text)
    if found is None:
        return LineShape(text, packet=False)
    stamped, permitted = found["tsval"] is not None, found["sack"] is not None
    return LineShape(
        text,
        packet=True,
        numbers=tuple(_find_number(text, found.start(name)) for name in DIGITS),
        texts=tuple(_find_text(text, *found.span(name)) for name in TEXTS),
        protocol=_find_protocol(found),
        flags=read_letters(found["flags"] or ""),
        direction=TCPDUMP_DIRECTIONS.get(found["direction"], 0),
        icmp_type=_find_type(found),
        options=TIMESTAMPS * stamped + SACK_OK * permitted,
    )


def _find_number(text: str, begin: int) -> int:
    return text.count("0", 0, begin) if begin >= 0 else -1


def _find_text(text: str, begin: int, end: int) -> tuple[int, int, int, int]:
    if begin >= 0:
        return (begin, text.count("0", 0, begin), end, text.count("0", 0, end))
    return (-1, 0, -1, 0)


def _find_protocol(found: re.Match[str]) -> int:
    if found["flags"] is not None:
        return TCP
    if found["echo"] is None:
        return UDP
    return ICMP if found["six"] is None else ICMPV6


def _find_type(found: re.Match[str]) -> int:
    """Return the ICMP type of an echo or of its reply."""
    if found["echo"] is None:
        return 0
    request, reply = (8, 0) if found["six"] is None else (128, 129)
    return request if found["echo"] == "request" else reply
