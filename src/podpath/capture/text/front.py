"""What stands before the packet on a printed line: number, time, device and direction, Ethernet addresses.

The shapes are the usual ones of those that `evidence.tcpdump.frame` reads; a line of any other shape is left to it.
"""

from __future__ import annotations

import numpy as np

from podpath.capture.columns import BROADCAST, MULTICAST, OTHER_HOST, OUTGOING, SENT_HERE
from podpath.capture.files.index import Offsets
from podpath.capture.text.cursor import Cursor
from podpath.capture.text.digits import Mask, Words, add_up, match_digits
from podpath.capture.text.lookup import look_up
from podpath.capture.text.page import Page

_DIRECTIONS = ((b"In ", SENT_HERE), (b"Out ", OUTGOING), (b"B ", BROADCAST), (b"M ", MULTICAST), (b"P ", OTHER_HOST))
_BYTE, _SECOND, _MICROSECOND = np.uint64(255), np.uint64(1_000_000_000), np.uint64(1000)
_SPACE = np.uint64(ord(" "))


def read_front(page: Page) -> Cursor:
    """Read all lines up to the addresses of their packets, whose IP version is written to the page then."""
    cursor = page.cursor()
    _skip_number(cursor)
    _read_time(page, cursor)
    page.timed[cursor.rows[cursor.good]] = True
    word = cursor.word()
    plain = _read_version(page, cursor, word)
    if not plain.all():
        marked = cursor.pick(~plain & (word >> np.uint64(16) & np.uint64(255) == np.uint64(ord(":"))))
        _read_ethernet(page, marked)
        cursor.join(marked)
        placed = cursor.pick(~plain & (word >> np.uint64(16) & np.uint64(255) != np.uint64(ord(":"))))
        _read_device(page, placed)
        cursor.join(placed)
    headed = cursor.pick(cursor.stands(b"(tos 0x"))
    if len(headed):
        _read_header(page, headed)
        cursor.join(headed)
    return cursor


def _read_header(page: Page, cursor: Cursor) -> None:
    """Read `(tos 0x0, ttl 62, id 0, offset 0, flags [DF], proto TCP (6), length 60)`, and go on on the line below."""
    cursor.until(b"(tos 0x", ord(","))
    page.put(cursor, "ttl", cursor.number(b", ttl ", 3, b","))
    page.put(cursor, "ident", cursor.number(b" id ", 5, b",") & np.uint64(0xFFFF))
    cursor.take(b" offset 0, flags [")
    free, bound = cursor.skip(b"none"), cursor.skip(b"DF")
    cursor.good &= free | bound
    cursor.take(b"], ")
    cursor.until(b"proto ", ord(" "))
    stated = cursor.number(b" (", 3, b"),")
    page.put(cursor, "length", cursor.number(b" length ", 6))
    damaged = cursor.pick(cursor.stands(b", bad ck"))
    if len(damaged):
        damaged.take(b", bad cksum ")
        damaged.until(b"", ord(" "))
        damaged.until(b" (->", ord(")"))
        damaged.take(b")!")
        cursor.join(damaged)
    cursor.take(b")")
    below = np.minimum(cursor.rows + 1, page.count - 1)
    cursor.good &= (cursor.at == cursor.end) & (below > cursor.rows) & (stated > 0) & (stated < np.uint64(256))
    cursor.good &= page.arrays["version"][cursor.rows] == 4
    page.stated[cursor.rows] = stated
    cursor.at, cursor.end = page.starts[below], page.ends[below]
    cursor.take(b"    ")


def _read_version(page: Page, cursor: Cursor, word: Words) -> Mask:
    """Read `IP ` or `IP6 ` where it stands; tell where it did."""
    four, six = cursor.skip(b"IP ", word), cursor.skip(b"IP6 ", word)
    page.put(cursor, "version", four * np.uint8(4) + six * np.uint8(6))
    return four | six


def _skip_number(cursor: Cursor) -> None:
    """Move past spaces, and the number of `--number`, which ends at two spaces."""
    word = cursor.word()
    leading = word & _BYTE == _SPACE
    if leading.any():
        indented = cursor.pick(leading)
        indented.spaces()
        cursor.join(indented)
        word = cursor.word()
    clock = word >> np.uint64(16) & _BYTE == np.uint64(ord(":"))
    if clock.all():
        return
    numbered = cursor.pick(~clock & cursor.is_number(word, b" "))
    if len(numbered):
        numbered.number(b"", 7, b" ")
        numbered.take(b" ")
        numbered.skip(b" ")
        cursor.join(numbered)


def _read_time(page: Page, cursor: Cursor) -> None:
    """Read `22:13:20.000030`, with a date before it or without, or seconds since the epoch."""
    low, high = cursor.text.pair(cursor.at)
    dated = low >> np.uint64(32) & np.uint64(255) == np.uint64(ord("-"))
    start = np.zeros(len(cursor), np.int64)
    if dated.any():
        day = look_up(
            [np.where(dated, low, np.uint64(0)), np.where(dated, high & np.uint64(0xFFFF), np.uint64(0))], page.names.day
        )
        start = np.where(dated, day, 0)
        cursor.good &= (start >= 0) & (~dated | (high >> np.uint64(16) & np.uint64(255) == _SPACE))
        cursor.at = cursor.at + dated * np.int64(11)
        low, high = cursor.text.pair(cursor.at)
    bits, clock = match_digits(low, b"00:00:00")
    parts, fraction = match_digits(high, b".000000 ")
    pairs = bits * np.uint64(10) + (bits >> np.uint64(8))
    hours, minutes = pairs & _BYTE, pairs >> np.uint64(24) & _BYTE
    seconds = hours * np.uint64(3600) + minutes * np.uint64(60) + (pairs >> np.uint64(48) & _BYTE) + start.view(np.uint64)
    part = add_up(parts << np.uint64(8))
    timed = clock & fraction
    cursor.at = cursor.at + timed * np.int64(16)
    if not timed.all():
        whole, fifth = match_digits(low, b"00000000")
        tail, sixth = match_digits(high, b"00.00000")
        epoch = fifth & sixth & ~dated
        last = cursor.word(16)
        digit = last & np.uint64(15)
        epoch &= (last & np.uint64(0xF0) == np.uint64(0x30)) & (digit <= np.uint64(9)) & (last >> np.uint64(8) & _BYTE == _SPACE)
        first = (tail & _BYTE) * np.uint64(10) + (tail >> np.uint64(8) & _BYTE)
        seconds = np.where(epoch, add_up(whole) * np.uint64(100) + first, seconds)
        part = np.where(epoch, add_up(tail & ~np.uint64(0xFFFFFF)) * np.uint64(10) + digit, part)
        cursor.at = cursor.at + epoch * np.int64(18)
        timed |= epoch
    cursor.good &= timed
    page.put(cursor, "time", (seconds * _SECOND + part * _MICROSECOND).view(np.int64))


def _read_device(page: Page, cursor: Cursor) -> None:
    """Read `veth0a1b2c3 In  ` and the IP version behind it."""
    if not len(cursor):
        return
    page.put(cursor, "ifindex", _number(cursor, look_up(cursor.name(), page.names.link)))
    cursor.spaces()
    word = cursor.word()
    direction = np.zeros(len(cursor), np.uint8)
    for text, value in _DIRECTIONS:
        direction += cursor.skip(text, word) * np.uint8(value)
    cursor.good &= direction > 0
    page.put(cursor, "direction", direction)
    cursor.spaces()
    cursor.good &= _read_version(page, cursor, cursor.word())


def _number(cursor: Cursor, found: Offsets) -> Offsets:
    cursor.good &= found >= 0
    return np.maximum(found, 0)


def _read_ethernet(page: Page, cursor: Cursor) -> None:
    """Read `SOURCE > TARGET, ethertype IPv4 (0x0800), length 74: `."""
    if not len(cursor):
        return
    page.put(cursor, "smac", _number(cursor, look_up(cursor.seventeen(), page.names.mac)))
    cursor.take(b" > ")
    page.put(cursor, "dmac", _number(cursor, look_up(cursor.seventeen(), page.names.mac)))
    cursor.take(b", ethertype IPv")
    six = cursor.stands(b"6")
    page.put(cursor, "version", np.where(six, 6, 4))
    four = cursor.pick(~six)
    four.take(b"4 (0x0800)")
    cursor.join(four)
    other = cursor.pick(six)
    other.take(b"6 (0x86dd)")
    cursor.join(other)
    length = cursor.number(b", length ", 6, b": ")
    page.put(cursor, "length", np.where(length > np.uint64(14), length - np.uint64(14), np.uint64(0)))
