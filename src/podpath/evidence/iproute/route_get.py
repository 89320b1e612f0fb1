"""`ip route get`: the route that the kernel picks for one destination, or its error (`RTNETLINK
answers: ...`).

An answer is a decision and no route: it holds for that destination (source, mark, device) alone,
with every rule and table counted.
"""

from __future__ import annotations

import re
from dataclasses import replace

from podpath.evidence.commands.command import Command, asked_object, parse_command
from podpath.evidence.formats import CERTAIN, NO, Format, sample
from podpath.evidence.iproute.route_fields import TYPES
from podpath.evidence.records import Reading, StatementRecord
from podpath.evidence.text.ledger import Ledger
from podpath.evidence.text.scalars import parse_address
from podpath.evidence.text.tokenizer import Cursor, plain_lines
from podpath.net.addresses import Address, IfName
from podpath.net.provenance import Source
from podpath.net.statements import RouteAnswer

_TYPE = "|".join(sorted(TYPES))
_ADDRESS = r"[0-9A-Fa-fxX*]*[.:][0-9A-Fa-fxX*.:]+"
_ANSWER = re.compile(
    rf"\s*(?:(?P<type>{_TYPE})\s+)?(?P<dst>{_ADDRESS})(?:/\d+)?(?P<rest>\s+(?:from|via|dev|src|iif|"
    r"table|uid)\s.*)$"
)
_ERROR = re.compile(
    r"\s*(?:RTNETLINK answers: (?P<error>\w[\w -]*\w)|Error: (?P<extack>[^.]+)\.?)\s*$"
)
_CACHE = re.compile(r"\s*cache\b(?:.*\bmtu (?P<lock>lock )?(?P<mtu>\d{1,9})\b)?")
_SIGN = re.compile(r"\s(?:uid \d+|iif \S+)\s*$|\scache\b")
_ALONE = frozenset({"onlink", "linkdown", "dead", "offload", "cache", "\\"})
_EXPECTED = "an answer of `ip route get`"


def recognise(source: Source) -> int:
    """Recognize answers by the command, or by `uid` and `cache`, which no listing of routes has."""
    lines = sample(source)
    asked = _asks(parse_command(source.command))
    fitting = [
        line for line in lines if _ANSWER.match(line) or _ERROR.match(line) or _CACHE.match(line)
    ]
    if not fitting or len(fitting) * 2 < len(lines):
        return NO
    if asked:
        return CERTAIN
    answers = [line for line in lines if _ANSWER.match(line)]
    marked = any(_SIGN.search(line) for line in answers) or any(
        _CACHE.match(line) for line in lines
    )
    return CERTAIN if answers and marked else NO


def _asks(command: Command) -> bool:
    asked = asked_object(command)
    return asked is not None and asked[0] == "route" and bool({"get", "g"} & set(asked[1][:2]))


def read(source: Source) -> Reading:
    """Read answers."""
    ledger = Ledger(source)
    last: int | None = None
    for index, line in plain_lines(source):
        if (found := _ANSWER.match(line)) is not None:
            last = index if _add(ledger, index, found) else None
        elif (cached := _CACHE.match(line)) is not None and last is not None:
            ledger.replace_span(ledger.span(last, index))
            _add_cached(ledger, cached)
        elif (error := _ERROR.match(line)) is not None:
            answer = _make_error(parse_command(source.command), error["error"] or error["extack"])
            ledger.add(StatementRecord(span=ledger.span(index), statement=answer))
    return ledger.close(_EXPECTED)


def _add_cached(ledger: Ledger, found: re.Match[str]) -> None:
    """Add to the last answer the MTU that its second line tells."""
    record = ledger.records[-1]
    if not isinstance(record, StatementRecord) or not isinstance(record.statement, RouteAnswer):
        return
    if found["mtu"] is not None:
        locked = found["lock"] is not None
        answer = record.statement._replace(mtu=int(found["mtu"]), mtu_locked=locked)
        ledger.records[-1] = replace(record, statement=answer)


def _add(ledger: Ledger, index: int, found: re.Match[str]) -> bool:
    try:
        answer = _parse_answer(found)
    except ValueError as error:
        ledger.gap(index, str(error))
        return False
    ledger.add(StatementRecord(span=ledger.span(index), statement=answer))
    return True


def _parse_answer(found: re.Match[str]) -> RouteAnswer:
    words: dict[str, str] = {}
    cursor = Cursor(found["rest"])
    for word in cursor:
        if word not in _ALONE and not cursor.done:
            value = cursor.take()
            words[word] = cursor.take() if value in {"inet", "inet6"} else value
    return RouteAnswer(
        dst=parse_address(found["dst"]),
        type=found["type"] or "unicast",
        link=IfName(words["dev"]) if "dev" in words else None,
        gateway=_address(words, "via"),
        prefsrc=_address(words, "src"),
        src=_address(words, "from"),
        iif=words.get("iif"),
        table=words.get("table"),
    )


def _make_error(command: Command, error: str) -> RouteAnswer:
    asked = asked_object(command)
    words = dict.fromkeys(("iif", "from", "table"), "")
    dst: Address | None = None
    rest = list(asked[1]) if asked is not None else []
    while rest:
        word = rest.pop(0)
        if word in words and rest:
            words[word] = rest.pop(0)
        elif dst is None:
            dst = _read(word.partition("/")[0])
    return RouteAnswer(
        dst=dst, type="error", src=_read(words["from"]), iif=words["iif"] or None, error=error
    )


def _address(words: dict[str, str], name: str) -> Address | None:
    return parse_address(words[name]) if name in words else None


def _read(text: str) -> Address | None:
    try:
        return parse_address(text)
    except ValueError:
        return None


FORMAT = Format("ip route get", recognise, read)
