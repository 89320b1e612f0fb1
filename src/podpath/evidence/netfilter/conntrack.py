"""Reads `conntrack -L` and /proc/net/nf_conntrack: tracked connections, both directions of each."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from podpath.evidence.formats import CERTAIN, LIKELY, NO, Format, sample, share
from podpath.evidence.records import ConntrackRecord, ConnTupleRecord, Reading
from podpath.evidence.text.ledger import Ledger
from podpath.net.addresses import Address, Family
from podpath.net.provenance import Source, Span

_ENTRY = re.compile(
    r"\s*(?:[<>+-]\s+)?(?:ipv(?P<family>[46])\s+\d+\s+)?(?P<name>[a-z][\w-]*)\s+"
    r"(?P<protocol>\d{1,3})\s+(?:(?P<timeout>\d{1,9})\s+)?"
    r"(?:(?P<state>[A-Z][A-Z_0-9]*)\s+)?(?P<rest>(?:\w++=\S++\s++)*?src=.*)"
)
_TUPLE = r"src=([\d.]+) dst=([\d.]+) sport=(0|[1-9]\d{0,4}) dport=(0|[1-9]\d{0,4}) "
_USUAL = re.compile(
    r"(?:ipv4 +2 )?[a-z][\w-]* +(\d{1,3}) (\d{1,9}) (?:([A-Z][A-Z_0-9]*) )?"
    rf"{_TUPLE}(\[UNREPLIED\] )?{_TUPLE}(\[ASSURED\] )?"
    r"mark=(0|[1-9]\d{0,9}) use=\d+(?: id=(0|[1-9]\d{0,9}))?\s*"
)
"""An entry as nearly all are, of a snapshot or of `conntrack -L`: a full table has 262,144."""
_EVENT = re.compile(r"\s*(?:\[\d+\.\d+\s*\]\s*)?\[(?:NEW|UPDATE|DESTROY)\]\s")
_TRAILER = re.compile(r"(?:# )?conntrack v\S+ \(conntrack-tools\): .*|nfct_labelmap_new: .*")
_REST = re.compile(r"\s*(?:\[[A-Z_]+\]|[a-z][a-z-]*=\S+)(?:\s.*)?")
_TOKEN = re.compile(r"\[(?P<flag>[A-Z_]+)\]|(?<![\w-])(?P<key>[a-z][a-z-]*+)=(?P<value>[^\s,]+)")
_WRAP_LINES = 3
_FAMILIES = ("ipv4 ", "ipv6 ")
"""What a line begins with that no entry above goes on with."""
_NUMBER = re.compile(r"(?:0x[0-9a-fA-F]{1,8}|\d{1,10})")


def recognise_conntrack(source: Source) -> int:
    """Be certain where most lines are entries; an output that says it shows none is one too."""
    lines = sample(source)
    entries = share(lines, _ENTRY)
    if entries:
        return (
            CERTAIN if entries > 0.3 else LIKELY
        )  # entries are long: wrapped ones are half the lines
    return CERTAIN if lines and share(lines, _TRAILER) == 1 else NO


def read_conntrack(source: Source) -> Reading:
    """Read all entries of a source."""
    ledger = Ledger(source)
    places = iter(range(len(source.lines)))
    for place in places:
        line = source.lines[place]
        usual = _USUAL.fullmatch(line)
        if usual is None and _TRAILER.fullmatch(line):
            ledger.head(place)
        elif usual is not None or _ENTRY.match(line):
            last = _find_end(source, place)
            span = ledger.span(place, last)
            try:
                if usual is not None and last == place:
                    ledger.add(_make_usual(usual, span))
                else:
                    ledger.add(parse_entry(" ".join(source.lines[place : last + 1]), span))
            except ValueError as error:
                ledger.gap(place, str(error), last)
            for _ in range(last - place):
                next(places, None)
        elif _EVENT.match(line):
            ledger.gap(
                place, "an event of conntrack -E says what happened once, not what the table holds"
            )
    return ledger.close("an entry of conntrack -L")


FORMATS = (Format("conntrack", recognise_conntrack, read_conntrack),)


def parse_entry(text: str, span: Span) -> ConntrackRecord:
    """Read one entry; `ValueError` says which part is none."""
    head = _ENTRY.match(text)
    if head is None:
        raise ValueError(f"expected an entry of conntrack -L, saw {text[:60]!r}")
    draft = _scan(head["rest"])
    if not draft.tuples:
        raise ValueError("expected src=ADDRESS, saw none")
    tuples = [_make_tuple(fields) for fields in draft.tuples]
    family: Family = tuples[0].src.family
    if head["family"] is not None and int(head["family"]) != family:
        raise ValueError(f"expected IPv{head['family']} addresses, saw {tuples[0].src}")
    return ConntrackRecord(
        span=span,
        family=family,
        protocol=int(head["protocol"]) & 0xFF,
        state=head["state"],
        timeout=int(head["timeout"]) if head["timeout"] else None,
        original=tuples[0],
        reply=tuples[1] if len(tuples) > 1 else None,
        unreplied="UNREPLIED" in draft.flags,
        assured="ASSURED" in draft.flags,
        offloaded=bool(draft.flags & {"OFFLOAD", "HW_OFFLOAD"}),
        mark=_number(draft.fields.get("mark")),
        zone=_number(draft.fields.get("zone")),
        zone_original=_number(draft.fields.get("zone-orig")),
        zone_reply=_number(draft.fields.get("zone-reply")),
        id=_number(draft.fields.get("id")),
    )


def _make_usual(found: re.Match[str], span: Span) -> ConntrackRecord:
    """Read an entry by the pattern of usual ones, to the same as `parse_entry`."""
    parts = found.groups()
    protocol, timeout, state = parts[:3]
    unreplied, (assured, mark, number) = parts[7], parts[12:]
    return ConntrackRecord(
        span=span,
        family=4,
        protocol=int(protocol) & 0xFF,
        state=state,
        timeout=int(timeout),
        original=_usual_tuple(*parts[3:7]),
        reply=_usual_tuple(*parts[8:12]),
        unreplied=unreplied is not None,
        assured=assured is not None,
        mark=int(mark),
        id=None if number is None else int(number),
    )


def _usual_tuple(src: str, dst: str, sport: str, dport: str) -> ConnTupleRecord:
    return ConnTupleRecord(_parse_address(src), _parse_address(dst), int(sport), int(dport))


class _Scanned(NamedTuple):
    tuples: list[dict[str, str]]
    fields: dict[str, str]
    flags: set[str]


def _scan(text: str) -> _Scanned:
    """Put each `key=value` to the direction that it is of, or to the entry as a whole."""
    scanned = _Scanned([], {}, set())
    for found in _TOKEN.finditer(text):
        key, value = found["key"], found["value"]
        if found["flag"] is not None:
            scanned.flags.add(found["flag"])
        elif key == "src" and len(scanned.tuples) < 2:  # a connection has two directions
            scanned.tuples.append({"src": value})
        elif scanned.tuples and _is_of_tuple(key, scanned.tuples[-1]):
            scanned.tuples[-1][key] = value
        else:
            scanned.fields[key] = value
    return scanned


def _is_of_tuple(key: str, fields: dict[str, str]) -> bool:
    """Tell whether a key is of the direction under way: `id` is the echo's behind `type`, else the
    entry's.
    """
    if key == "id":
        return "type" in fields and "id" not in fields
    return (
        key in {"dst", "sport", "dport", "type", "code", "srckey", "dstkey"} and key not in fields
    )


def _make_tuple(fields: dict[str, str]) -> ConnTupleRecord:
    if "dst" not in fields:
        raise ValueError(f"expected dst=ADDRESS behind src={fields['src']}, saw none")
    src, dst = (_parse_address(fields[name]) for name in ("src", "dst"))
    if src.family != dst.family:
        raise ValueError(f"expected addresses of one family, saw {src} and {dst}")
    return ConnTupleRecord(
        src=src,
        dst=dst,
        sport=_number(fields.get("sport", fields.get("srckey"))),
        dport=_number(fields.get("dport", fields.get("dstkey"))),
        icmp_type=_number(fields.get("type")),
        icmp_id=_number(fields.get("id")),
    )


_parse_address = lru_cache(maxsize=1 << 16)(Address.parse)


def _number(text: str | None) -> int | None:
    """Read a number; None where there is none, or its digits were elided."""
    return (
        int(text, 0)
        if text is not None and _NUMBER.fullmatch(text) and not re.fullmatch(r"0\d+", text)
        else None
    )


def _find_end(source: Source, place: int) -> int:
    """Return the last line of an entry that was wrapped."""
    last = place
    for following in range(place + 1, min(place + 1 + _WRAP_LINES, len(source.lines))):
        line = source.lines[following]
        if line.startswith(_FAMILIES) or _ENTRY.match(line) or not _REST.fullmatch(line):
            break
        last = following
    return last
