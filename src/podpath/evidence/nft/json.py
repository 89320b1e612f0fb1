"""`nft -j list ruleset`: tables, chains, sets and rules of native nftables, one object each."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from podpath.evidence.formats import CERTAIN, NO, Format
from podpath.evidence.json_objects import (
    JsonObject,
    head_of,
    number_of,
    object_of,
    scan_objects,
    text_of,
    words_of,
)
from podpath.evidence.nft.listing import scope_of
from podpath.evidence.nft.records import (
    FAMILIES,
    HOOKS,
    TYPES,
    NftChainRecord,
    NftListingRecord,
    NftRuleRecord,
    NftSetRecord,
    NftTableRecord,
)
from podpath.evidence.nft.terms_json import JsonMapping, parse_element, parse_statement
from podpath.evidence.records import Reading, Record
from podpath.evidence.text.ledger import Ledger
from podpath.net import nft
from podpath.net.provenance import Source, Span

_START = re.compile(r'\{\s*"nftables"\s*:\s*\[')
_CLOSING = re.compile(r"[\s,\[\]{}]*")
_NO_RULES = frozenset({"metainfo", "element"})
_OBJECTS = frozenset(
    {
        "counter",
        "quota",
        "ct helper",
        "limit",
        "flowtable",
        "ct timeout",
        "ct expectation",
        "synproxy",
        "secmark",
    }
)


def recognise(source: Source) -> int:
    """Recognize the one object that all of nft's JSON is in."""
    return CERTAIN if _START.match(head_of(source).lstrip(" \t\n\ufeff")) else NO


def read(source: Source) -> Reading:
    """Read every object of the listing."""
    ledger = Ledger(source)
    text = "\n".join(source.lines)
    found = _START.search(text)
    start = found.end() if found is not None else 0
    damaged: int | None = None
    for item in scan_objects(source, start):
        if isinstance(item, JsonObject):
            why = _add(ledger, item)
        elif _CLOSING.fullmatch(item.text):
            continue  # the end of the whole: `]}` behind the last object
        else:
            why = item.why
        if why is not None:
            damaged = len(ledger.records) if damaged is None else damaged
            ledger.gap(item.first, why, item.last)
    for index, line in enumerate(source.lines):
        if (
            line
            and not ledger.is_claimed(index)
            and not line.isspace()
            and (_CLOSING.fullmatch(line) or index == 0)
        ):
            ledger.head(index)
    if damaged is None and not text.rstrip().endswith("}"):
        damaged = len(ledger.records)
    whole = damaged is None and not ledger.gaps
    if damaged is not None:
        _mark_cut(ledger.records, damaged)
    span = ledger.span(0, len(source.lines) - 1)
    ledger.add(
        NftListingRecord(span=span, scope=scope_of(source.command) or "ruleset", whole=whole)
    )
    return ledger.close("an object of nft's")


def _mark_cut(records: list[Record], damaged: int) -> None:
    """Mark every chain as one that may lack rules from the damaged place on: JSON lists all chains
    before the rules.
    """
    lines = Counter(
        (record.family, record.table, record.chain)
        for record in records[:damaged]
        if isinstance(record, NftRuleRecord)
    )
    records[:] = [
        replace(record, whole=False, in_line=lines[record.family, record.table, record.name])
        if isinstance(record, NftChainRecord)
        else record
        for record in records
    ]


def _add(ledger: Ledger, item: JsonObject) -> str | None:
    """Add one object's records; give the reason where it cannot be read."""
    if len(item.value) != 1:
        return "expected one object of nft's"
    ((kind, given),) = item.value.items()
    if not isinstance(given, dict):
        return f"expected an object of nft's, saw {kind} without its members"
    body = object_of(item.value, kind)
    span = ledger.span(item.first, item.last)
    if kind == "metainfo":
        ledger.head(item.first, item.last)
        return None
    try:
        record = _build(kind, body, span)
    except ValueError as error:
        return str(error)
    if record is None:
        return f"an object of nft that is not known: {kind}" if kind not in _NO_RULES else None
    ledger.add(record)
    return None


def _flags(table: JsonMapping) -> tuple[str, ...]:
    """Return a table's flags: nft prints a single one outside of an array."""
    single = text_of(table, "flags")
    return words_of(table, "flags") if single is None else (single,)


def _build(kind: str, body: JsonMapping, span: Span) -> Record | None:
    if kind == "chain":
        return _build_chain(body, span)
    if kind in {"set", "map"}:
        return _build_set(kind, body, span)
    if kind == "rule":
        return _build_rule(body, span)
    name = text_of(body, "name") or ""
    if kind == "table":
        return NftTableRecord(span=span, family=_family(body), name=name, flags=_flags(body))
    if kind in _OBJECTS:
        table = text_of(body, "table") or ""
        held = (_spell_object(kind, name),)
        return NftTableRecord(span=span, family=_family(body), name=table, objects=held)
    return None


def _family(body: JsonMapping) -> nft.NftFamily:
    """Return the family that an object names; `ValueError` where it is none of nft's."""
    family = text_of(body, "family") or ""
    if family not in FAMILIES:
        raise ValueError(f"expected a family of nft's, saw {family!r}")
    return nft.NftFamily(family)


def _build_chain(body: JsonMapping, span: Span) -> NftChainRecord:
    devices = words_of(body, "dev") or tuple(text for text in (text_of(body, "dev"),) if text)
    priority = body.get("prio", 0)
    hook = text_of(body, "hook") or ""
    policy = text_of(body, "policy") or "accept"
    if not isinstance(priority, int) or hook not in HOOKS or policy not in {"accept", "drop"}:
        raise ValueError(
            f"expected a chain of nft's, saw hook {hook!r}, priority {priority!r} and policy "
            f"{policy!r}"
        )
    kind = text_of(body, "type") or ""
    if kind not in TYPES:
        raise ValueError(f"expected a chain of nft's, saw type {kind!r}")
    return NftChainRecord(
        span=span,
        family=_family(body),
        table=text_of(body, "table") or "",
        name=text_of(body, "name") or "",
        type=nft.NftChainType(kind),
        hook=nft.NftHook(hook),
        priority=priority,
        policy=nft.NftPolicy(policy),
        devices=devices,
        handle=number_of(body, "handle"),
    )


def _build_rule(body: JsonMapping, span: Span) -> NftRuleRecord:
    expressions = body.get("expr")
    if not isinstance(expressions, list):
        why = "expected a rule of nft's, saw one without its statements"
        raise ValueError(why)  # noqa: TRY004  # the object's fault, which becomes a gap
    return NftRuleRecord(
        span=span,
        family=_family(body),
        table=text_of(body, "table") or "",
        chain=text_of(body, "chain") or "",
        statements=tuple(map(parse_statement, expressions)),
        handle=number_of(body, "handle"),
        comment=text_of(body, "comment") or "",
    )


def _spell_object(kind: str, name: str) -> str:
    return f"{kind} {name} {{ }}"


def _build_set(kind: str, body: JsonMapping, span: Span) -> NftSetRecord:
    types = words_of(body, "type") or tuple(text for text in (text_of(body, "type"),) if text)
    elements = body.get("elem")
    if not isinstance(elements, list):
        elements = [] if elements is None else [elements]
    options = tuple(
        f"{key} {value}" for key, value in (("size", body.get("size")),) if value is not None
    )
    timeout = number_of(body, "timeout")
    if timeout is not None:
        options = (*options, f"timeout {timeout}s")
    mapped = body.get("map")
    data = str(mapped) if kind == "map" and mapped else ""
    if isinstance(mapped, list):
        data = " . ".join(map(str, mapped))
    return NftSetRecord(
        span=span,
        family=_family(body),
        table=text_of(body, "table") or "",
        name=text_of(body, "name") or "",
        types=types,
        data=data,
        flags=words_of(body, "flags"),
        options=options,
        elements=tuple(parse_element(item, is_map=kind == "map") for item in elements),
    )


FORMAT = Format("nft -j list ruleset", recognise, read)
