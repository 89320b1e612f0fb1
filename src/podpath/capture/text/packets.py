"""What tcpdump prints of a packet on one line, read of many lines at once: ends, TCP, UDP, names asked for, echoes.

The shapes are the usual ones of those that `evidence.tcpdump.packet` reads; a line of any other shape is left to it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from podpath.capture.columns import SACK_OK, TIMESTAMPS
from podpath.capture.text.cursor import Cursor
from podpath.capture.text.digits import Mask, last_sign
from podpath.capture.text.lookup import look_up
from podpath.capture.text.page import Page
from podpath.net.protocols import ICMP, ICMPV6, TCP, UDP

MOST_WORDS = 16
"""Words of eight bytes that are looked through for the end of TCP's options, of which there are at most 40 bytes."""
_HEADERS = 28
"""Bytes of the headers of IPv4 and UDP."""
_BYTE, _8, _WORD = np.uint64(255), np.uint64(8), np.uint64(0xFFFFFFFF)


def read_packets(page: Page, cursor: Cursor) -> None:
    """Read the packets of lines from their addresses on."""
    version = page.arrays["version"][cursor.rows]
    ported = np.zeros(len(cursor), np.bool_)
    for wanted, read_ends in ((4, _read_four), (6, _read_six)):
        some = cursor.pick(version == wanted)
        if len(some):
            ported[some.places] = read_ends(page, some)
            cursor.join(some)
    both = cursor.pick(ported)
    if len(both):
        _read_ported(page, both)


def _read_four(page: Page, cursor: Cursor) -> Mask:
    """Read IPv4 addresses and what follows ends without ports; tell which have ports."""
    source, ported = cursor.octets()
    page.put(cursor, "src", source)
    some = cursor.pick(ported)
    if len(some):
        page.put(some, "sport", _port(some, some.number(b"", 5, b" > ")))
        target, ported_too = some.octets()
        some.good &= ported_too
        page.put(some, "dst", target)
        page.put(some, "dport", _port(some, some.number(b"", 5, b": ")))
        cursor.join(some)
    if len(some) < len(cursor):
        bare = cursor.pick(~ported)
        bare.take(b" > ")
        target, ported_too = bare.octets()
        bare.good &= ~ported_too
        page.put(bare, "dst", target)
        bare.take(b": ICMP echo re")
        _read_echo(page, bare, ICMP, (8, 0))
    return ported


def _read_six(page: Page, cursor: Cursor) -> Mask:
    """Read IPv6 addresses and what follows ends without ports; tell which have ports."""
    page.put(cursor, "src", _known(cursor, look_up(cursor.six(), page.names.address)))
    ported = cursor.stands(b".")
    some = cursor.pick(ported)
    if len(some):
        page.put(some, "sport", _port(some, some.number(b".", 5, b" > ")))
        page.put(some, "dst", _known(some, look_up(some.six(), page.names.address)))
        page.put(some, "dport", _port(some, some.number(b".", 5, b": ")))
        cursor.join(some)
    if len(some) < len(cursor):
        bare = cursor.pick(~ported)
        bare.take(b" > ")
        page.put(bare, "dst", _known(bare, look_up(bare.six(), page.names.target)))
        bare.take(b" ICMP6, echo re")
        _read_echo(page, bare, ICMPV6, (128, 129))
    return ported


def _port(cursor: Cursor, port: NDArray[np.uint64]) -> NDArray[np.uint64]:
    cursor.good &= port < np.uint64(1 << 16)
    return port


def _known(cursor: Cursor, found: NDArray[np.int64]) -> NDArray[np.int64]:
    cursor.good &= found >= 0
    return np.maximum(found, 0)


def _read_ported(page: Page, cursor: Cursor) -> None:
    """Read what has ports: TCP, a bare datagram, or what a name's server and its clients say."""
    word = cursor.word()
    if cursor.stands(b"[", word).any():
        _skip_sums(cursor)
        word = cursor.word()
    tcp = cursor.pick(cursor.stands(b"Flags [", word))
    if len(tcp):
        _read_tcp(page, tcp)
    if len(tcp) == len(cursor):
        return
    udp = cursor.pick(cursor.stands(b"UDP, len", word))
    if len(udp):
        udp.take(b"UDP, ")
        page.put(udp, "payload", udp.number(b"length ", 7))
        page.close(udp, UDP)
    names = cursor.pick((word & _BYTE) - np.uint64(ord("0")) < np.uint64(10))
    if len(names):
        _read_names(page, names)


def _read_echo(page: Page, cursor: Cursor, protocol: int, kinds: tuple[int, int]) -> None:
    """Read `quest, id 7, seq 1, length 64` or `ply, ...`."""
    request, reply = cursor.skip(b"quest"), cursor.skip(b"ply")
    cursor.good &= request | reply
    page.put(cursor, "icmp_type", np.where(request, *kinds))
    identifier = cursor.number(b", id ", 5)
    page.put(cursor, "seq", cursor.number(b", seq ", 7))
    page.put(cursor, "payload", cursor.number(b", length ", 7))
    page.put(cursor, "sport", identifier & np.uint64(0xFFFF))
    page.put(cursor, "dport", identifier & np.uint64(0xFFFF))
    page.close(cursor, protocol)


def _read_names(page: Page, cursor: Cursor) -> None:
    """Read a datagram whose decoder prints a number first, and its length in parentheses last or not at all."""
    cursor.good &= ~_says_length(page, cursor)
    word = cursor.text.word(np.maximum(cursor.end - 8, cursor.at))
    last = word >> np.uint64(56)
    cursor.good &= (last > np.uint64(32)) & (last < np.uint64(127)) & (cursor.end - cursor.at >= 8)
    word = word << _8
    place, size = last_sign(word)
    closed = last == np.uint64(ord(")"))
    cursor.good &= ~closed | (place > 7)  # a longer number than any length
    opened = word >> (np.maximum(place, 7) - 7).view(np.uint64) & _BYTE == np.uint64(ord("("))
    sized = closed & opened & (place < 63)
    stated = page.stated[cursor.rows] > 0
    whole = page.arrays["length"][cursor.rows].astype(np.int64)
    told = np.where(stated & (size == 0), np.maximum(whole - _HEADERS, 0).astype(np.uint64), np.uint64(0))
    page.put(cursor, "payload", np.where(sized & (size > 0), size, told))
    page.close(cursor, UDP)


def _says_length(page: Page, cursor: Cursor) -> Mask:
    """Tell which lines have the word `length` further on."""
    data = page.text.bytes.tobytes()
    ends = zip(cursor.at.tolist(), cursor.end.tolist(), strict=True)
    return np.array([data.find(b"length", at, end) >= 0 for at, end in ends], np.bool_)


def _read_tcp(page: Page, cursor: Cursor) -> None:
    """Read `Flags [P.], seq 1:19, ack 1, win 502, options [...], length 18`."""
    page.put(cursor, "flags", _known(cursor, look_up([cursor.until(b"Flags [", ord("]"))], page.names.flags)))
    cursor.take(b"],")
    word = cursor.word()
    summed = cursor.pick(cursor.stands(b" cksum 0", word))
    if len(summed):
        _skip_sum(summed, b" cksum 0x", b" (")
        summed.skip(b"correct)")
        wrong = summed.pick(summed.stands(b"incorrec"))
        _skip_sum(wrong, b"incorrect -> 0x", b")")
        summed.join(wrong)
        summed.take(b",")
        cursor.join(summed)
        word = cursor.word()
    numbered = cursor.pick(cursor.stands(b" seq ", word))
    if len(numbered):
        page.put(numbered, "seq", numbered.long_number(b" seq ") & _WORD)
        ranged = numbered.pick(numbered.stands(b":"))
        ranged.long_number(b":")
        numbered.join(ranged)
        numbered.take(b",")
        cursor.join(numbered)
        word = cursor.word()
    answering = cursor.pick(cursor.stands(b" ack ", word))
    if len(answering):
        page.put(answering, "ack", answering.long_number(b" ack ", b",") & _WORD)
        cursor.join(answering)
    page.put(cursor, "window", np.minimum(cursor.number(b" win ", 6, b","), np.uint64(0xFFFF)))
    with_options = cursor.pick(cursor.stands(b" options"))
    if len(with_options):
        _read_options(page, with_options)
        cursor.join(with_options)
    page.put(cursor, "payload", cursor.number(b" length ", 7))
    sign = page.text.bytes[cursor.at]
    cursor.good &= (cursor.at == cursor.end) | (sign == ord(":")) | (sign == ord(" "))
    page.close(cursor, TCP)


def _skip_sums(cursor: Cursor) -> None:
    """Move past what `-v` prints of a datagram's checksum."""
    right = cursor.pick(cursor.stands(b"[udp sum"))
    right.take(b"[udp sum ok] ")
    cursor.join(right)
    wrong = cursor.pick(cursor.stands(b"[bad udp"))
    _skip_sum(wrong, b"[bad udp cksum 0x", b" -> 0x")
    _skip_sum(wrong, b"", b"!] ")
    cursor.join(wrong)


def _skip_sum(cursor: Cursor, before: bytes, then: bytes) -> None:
    """Move past a text, a checksum of four digits and what stands behind it."""
    cursor.take(before)
    cursor.at = cursor.at + 4
    cursor.take(then)


def _read_options(page: Page, cursor: Cursor) -> None:
    """Read ` options [...],`: of what is in it, the largest segment and the timestamps."""
    cursor.take(b" options [")
    options = np.zeros(len(cursor), np.uint8)
    word = cursor.word()
    first = cursor.pick(cursor.stands(b"mss ", word))
    if len(first):
        page.put(first, "mss", np.minimum(first.number(b"mss ", 5), np.uint64(0xFFFF)))
        first.skip(b",")
        cursor.join(first)
        word = cursor.word()
        options += cursor.skip(b"sackOK,", word) * np.uint8(SACK_OK)
        word = cursor.word()
    cursor.skip(b"nop,nop,", word)
    stamped = cursor.stands(b"TS val ")
    options += stamped * np.uint8(TIMESTAMPS)
    some = cursor.pick(stamped)
    if len(some):
        some.at = some.at + 7
        page.put(some, "tsval", some.long_number(b"") & _WORD)
        page.put(some, "tsecr", some.long_number(b" ecr ") & _WORD)
        cursor.join(some)
    page.put(cursor, "options", options)
    rest = cursor.pick(~cursor.stands(b"]"))
    if len(rest):
        _skip_options(rest)
        cursor.join(rest)
    cursor.take(b"],")


def _skip_options(cursor: Cursor) -> None:
    """Move past the options of which nothing is kept, where they stand last: the scale, and what came selectively."""
    for _ in range(3):
        cursor.skip(b",nop")
    scaled = cursor.pick(cursor.stands(b",wscale "))
    if len(scaled):
        scaled.number(b",wscale ", 3)
        cursor.join(scaled)
    cursor.skip(b",")
    selective = cursor.pick(cursor.stands(b"sack "))
    if len(selective):
        selective.seek(ord("]"), MOST_WORDS)
        cursor.join(selective)
