"""`ip rule`: policy rules, from text and from JSON.

A selector that is not known stays as it is spelled: whether the rule counts for what meets all
others is for the walk to ask.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from podpath.evidence.commands.command import parse_command, parse_family
from podpath.evidence.formats import CERTAIN, NO, Format, sample, share
from podpath.evidence.json_objects import JsonObject, head_of, lists_nothing, read_objects, text_of
from podpath.evidence.node_records import PolicyRuleRecord
from podpath.evidence.records import Reading
from podpath.evidence.text.ledger import Ledger
from podpath.evidence.text.scalars import (
    parse_mark,
    parse_number,
    parse_prefix,
    parse_protocol,
    parse_range,
    parse_tos,
)
from podpath.evidence.text.tokenizer import Cursor, plain_lines
from podpath.net.addresses import Family, Prefix
from podpath.net.provenance import Source, Span

_LINE = re.compile(
    r"\s*(?P<priority>\d{1,10}):\s+(?P<rest>(?:not\s+)?from\s.*|(?:not\s+)?(?:to|fwmark|iif|oif|"
    r"lookup)\s.*)"
)
_SHAPE = re.compile(
    r"\s*\d{1,10}:\s+(?:not\s+)?from\s+\S+\s+(?:.*\s)?(?:lookup\s+\S+|table\s+\S+|goto\s+\d+|"
    r"prohibit|unreachable|blackhole|nop)(?:\s.*)?$"
)
_JSON = re.compile(r'"priority"\s*:\s*\d+')
_JSON_SOURCE = re.compile(r'"src"\s*:\s*"')
_EXPECTED = "a policy rule"

_VALUES: Mapping[str, str] = {
    "from": "src", "to": "dst", "fwmark": "fwmark", "iif": "iif", "oif": "oif", "uidrange": "uids",
    "ipproto": "ipproto", "sport": "sport", "dport": "dport", "tos": "tos", "dsfield": "tos",
    "lookup": "table", "table": "table", "goto": "goto",
    "suppress_prefixlength": "suppress_prefixlen", "proto": "protocol", "protocol": "protocol",
    "realms": "flow", "realm": "flow",
}  # fmt: skip
"""Words that one value follows, by the key that stands for them here."""
_SWITCHES: Mapping[str, str] = {
    "not": "not", "prohibit": "action", "unreachable": "action", "blackhole": "action",
    "nop": "nop", "[detached]": "", "[unresolved]": "", "l3mdev": "l3mdev",
}  # fmt: skip
_MEMBERS = frozenset(
    {
        "priority", "src", "srclen", "dst", "dstlen", "fwmark", "fwmask", "iif", "iif_detached",
        "oif", "oif_detached", "uid_start", "uid_end", "ipproto", "sport", "sport_start",
        "sport_end", "dport", "dport_start", "dport_end", "tos", "table", "goto", "unresolved",
        "suppress_prefixlen", "protocol", "flow_from", "flow_to", "not", "action", "nop", "l3mdev",
        "uids",
    }
)  # fmt: skip
"""Members of a rule in JSON that are understood."""


def recognise(source: Source) -> int:
    """Recognize `PRIORITY: from ... ACTION`."""
    return CERTAIN if share(sample(source), _SHAPE) >= 0.5 else NO


def read(source: Source) -> Reading:
    """Read rules from text."""
    ledger = Ledger(source)
    family = _listed_family(source)
    for index, line in plain_lines(source):
        found = _LINE.match(line)
        if found is None:
            continue
        try:
            words = _gather(_parse_words(Cursor(found["rest"])))
            ledger.add(
                _assemble(words | {"priority": found["priority"]}, ledger.span(index), family)
            )
        except ValueError as error:
            ledger.gap(index, str(error))
    return ledger.close(_EXPECTED)


def recognise_json(source: Source) -> int:
    """Recognize objects with `priority` and `src`."""
    head = head_of(source)
    shown = _JSON.search(head) and _JSON_SOURCE.search(head)
    return CERTAIN if shown or lists_nothing(source, "ip", "rule") else NO


def read_json(source: Source) -> Reading:
    """Read rules from JSON."""
    family = _listed_family(source)

    def build(ledger: Ledger, item: JsonObject) -> str | None:
        try:
            ledger.add(
                _assemble(_parse_members(item.value), ledger.span(item.first, item.last), family)
            )
        except ValueError as error:
            return str(error)
        return None

    return read_objects(source, build, _EXPECTED)


def _listed_family(source: Source) -> Family | None:
    """Say the family of a listing; without `-6` in the command a rule shows it by its prefixes
    only.
    """
    family = parse_family(source)
    return 4 if family is None and parse_command(source.command).program == "ip" else family


def parse_rule_words(
    text: str, priority: str, span: Span, family: Family | None, *, bare: bool
) -> PolicyRuleRecord:
    """Read the words of a command that changes a rule; a `bare` one need not say what it does.

    `ValueError` says what cannot be read. A rule without a priority has none.
    """
    words = _gather(_parse_words(Cursor(text)))
    if bare and not {"table", "action", "goto", "nop", "l3mdev"} & set(words):
        words["action"] = "any"
    record = _assemble({**words, "priority": priority or "0"}, span, family)
    return record if priority else replace(record, priority=None)


def _gather(pairs: Iterator[tuple[str, str]]) -> dict[str, str]:
    """Return words by their keys; of selectors that are not known all that there are."""
    words: dict[str, str] = {}
    for key, value in pairs:
        words[key] = f"{words[key]} {value}" if key == "unread" and key in words else value
    return words


def _parse_words(cursor: Cursor) -> Iterator[tuple[str, str]]:
    for word in cursor:
        if word in _VALUES:
            value = cursor.take()
            if not value:
                raise ValueError(f"the line ends after {word!r}")
            yield ("l3mdev", "") if value == "[l3mdev-table]" else (_VALUES[word], value)
        elif word in _SWITCHES:
            yield _SWITCHES[word], word
        else:
            yield "unread", _take_unread(word, cursor)


def _take_unread(word: str, cursor: Cursor) -> str:
    """Take a selector that is not known, with its values, up to the next word that is."""
    words = [word]
    while not cursor.done and cursor.peek not in _VALUES and cursor.peek not in _SWITCHES:
        words.append(cursor.take())
    return " ".join(words)


def _parse_members(value: Mapping[str, object]) -> dict[str, str]:
    """Return the members of a JSON rule under the same keys and in the same spelling as the words
    of the text.
    """
    words = {key: text_of(value, key) or "" for key in value}
    if "priority" not in words or "src" not in words:
        raise ValueError("expected a policy rule, saw an object without priority and src")
    strange = [key for key in value if key not in _MEMBERS]
    if strange:
        words["unread"] = " ".join(f"{key} {words[key]}".rstrip() for key in strange)
    for key, width in (("src", "srclen"), ("dst", "dstlen"), ("fwmark", "fwmask")):
        if width in words:
            if key not in words:
                raise ValueError(f"expected {key} beside {width}, saw none")
            words[key] += f"/{words[width]}"
    for key, first, last in (
        ("uids", "uid_start", "uid_end"),
        ("sport", "sport_start", "sport_end"),
        ("dport", "dport_start", "dport_end"),
    ):
        if first in words and last in words:
            words[key] = f"{words[first]}-{words[last]}"
    return words


def _assemble(words: Mapping[str, str], span: Span, listed: Family | None) -> PolicyRuleRecord:
    src, dst = (_prefix(words.get(key), listed) for key in ("src", "dst"))
    named = (action for action in ("nop", "goto") if action in words)
    action = words.get("action") or next(named, "lookup")
    if action == "lookup" and "table" not in words and "l3mdev" not in words:
        raise ValueError(
            "expected what the policy rule does (lookup TABLE, goto, unreachable, ...), saw the end"
        )
    suppress = words.get("suppress_prefixlen")
    return PolicyRuleRecord(
        span=span,
        family=next((prefix.family for prefix in (src, dst) if prefix is not None), listed or 4),
        priority=parse_number(words["priority"]),
        negated="not" in words,
        src=src,
        dst=dst,
        iif=words.get("iif"),
        oif=words.get("oif"),
        mark=parse_mark(words["fwmark"]) if "fwmark" in words else None,
        tos=parse_tos(words["tos"]) if "tos" in words else None,
        protocol=parse_protocol(words["ipproto"]) if "ipproto" in words else None,
        sport=parse_range(words["sport"]) if "sport" in words else None,
        dport=parse_range(words["dport"]) if "dport" in words else None,
        uids=parse_range(words["uids"], 0xFFFFFFFF) if "uids" in words else None,
        l3mdev="l3mdev" in words,
        action=action,
        table=words.get("table"),
        goto=parse_number(words["goto"]) if "goto" in words else None,
        suppress_prefixlength=parse_number(suppress) if suppress is not None else None,
        unread=words.get("unread", ""),
    )


def _prefix(text: str | None, family: Family | None) -> Prefix | None:
    """Read a selector's prefix; None for `all`, which selects nothing."""
    return (
        None if text in {None, "all", "any", "default", "0/0"} else parse_prefix(text or "", family)
    )


FORMATS = (Format("ip rule", recognise, read), Format("ip -j rule", recognise_json, read_json))
