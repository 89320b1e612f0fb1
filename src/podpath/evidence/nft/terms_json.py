"""Expressions and statements of `nft -j` (libnftables-json(5)) to the terms of `net.nft`. What is
not known stays as its JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from podpath.net import nft

JsonMapping = Mapping[str, object]
VERDICTS = frozenset({"accept", "drop", "continue", "return", "jump", "goto"})
_BITS = frozenset(nft.BitOperator)


def parse_statement(value: object) -> nft.Statement:
    """Read one statement; one that is not known is kept as it is spelled."""
    if isinstance(value, str) and value in VERDICTS:
        return nft.NftVerdict(value)
    if isinstance(value, dict) and len(value) == 1:
        ((name, body),) = value.items()
        if name in VERDICTS:
            return _verdict(name, body)
        parser = _STATEMENTS.get(name)
        if parser is not None and _is_understood(name, body):
            try:
                return parser(body)
            except (LookupError, TypeError, ValueError, AttributeError):
                return nft.OpaqueStatement(_spell(value))
        if name == "xt" and isinstance(body, dict):
            return nft.OpaqueStatement(f"xt {body.get('type', '')} {body.get('name', '')}".strip())
    return nft.OpaqueStatement(_spell(value))


def _is_understood(name: str, body: object) -> bool:
    """Tell whether a statement has no member beside those that are read: one more could make it do
    something else.
    """
    known = _MEMBERS.get(name)
    return known is None or not isinstance(body, dict) or body.keys() <= known


def parse_expression(value: object) -> nft.Expression:
    """Read one expression; one that is not known is kept as it is spelled."""
    if isinstance(value, bool):
        return nft.Literal("exists" if value else "missing")
    if isinstance(value, int):
        return nft.Literal(str(value))
    if isinstance(value, str):
        return nft.SetRef(value[1:]) if value.startswith("@") else nft.Literal(value)
    if isinstance(value, list):
        return nft.Flags(tuple(nft.Literal(str(item)) for item in value))
    if isinstance(value, dict) and len(value) == 1:
        ((name, body),) = value.items()
        if name in VERDICTS:
            return _verdict(name, body)
        parser = _EXPRESSIONS.get(name)
        try:
            if name in _BITS:
                return _binary(nft.BitOperator(name), body)
            if parser is not None:
                return parser(body)
        except (LookupError, TypeError, ValueError, AttributeError):
            return nft.OpaqueExpression(_spell(value))
    return nft.OpaqueExpression(_spell(value))


def parse_element(value: object, *, is_map: bool) -> nft.Element:
    """Read one element of a set, or of a map."""
    if is_map and isinstance(value, list) and len(value) == 2:
        return parse_element(value[0], is_map=False)._replace(data=parse_expression(value[1]))
    if isinstance(value, dict) and isinstance(body := value.get("elem"), dict):
        timeout = f"{body['timeout']}s" if "timeout" in body else ""
        return nft.Element(
            parse_expression(body.get("val")), None, timeout, str(body.get("comment", ""))
        )
    return nft.Element(parse_expression(value))


def _spell(value: object) -> str:
    """Spell what is not known: as nft would, where it is a name with plain words, else as its
    JSON.
    """
    if isinstance(value, dict) and len(value) == 1:
        ((name, body),) = value.items()
        if body is None:
            return str(name)
        if isinstance(body, dict) and all(isinstance(word, str | int) for word in body.values()):
            words = [
                "over" if key == "inv" else str(word)
                for key, word in sorted(body.items())
                if word is not False
            ]
            return " ".join((str(name), *words))
    return json.dumps(value, separators=(", ", ": "))


def _verdict(name: str, body: object) -> nft.NftVerdict:
    return nft.NftVerdict(name, str(body.get("target", "")) if isinstance(body, dict) else "")


def _binary(op: nft.BitOperator, body: Sequence[object]) -> nft.Expression:
    result = parse_expression(body[0])
    for operand in body[1:]:
        result = nft.Binary(op, result, parse_expression(operand))
    return result


def _payload(body: JsonMapping) -> nft.Expression:
    if "protocol" in body:
        return nft.Payload(str(body["protocol"]), str(body["field"]))
    return nft.OpaqueExpression(f"@{body['base']},{body['offset']},{body['len']}")


def _fib(body: JsonMapping) -> nft.Expression:
    flags = body["flags"]
    asked = tuple(map(str, flags)) if isinstance(flags, list) else (str(flags),)
    return nft.Fib(asked, nft.NftFibResult(str(body["result"])))


def _number(body: JsonMapping, key: str) -> int:
    found = body.get(key, 0)
    return found if isinstance(found, int) else int(str(found))


def _hash(kind: nft.HashKind) -> Callable[[JsonMapping], nft.Expression]:
    def parse(body: JsonMapping) -> nft.Expression:
        seed = _number(body, "seed") if "seed" in body else None
        key = parse_expression(body["expr"]) if "expr" in body else None
        return nft.Hash(kind, _number(body, "mod"), _number(body, "offset"), seed, key)

    return parse


def _map(body: JsonMapping) -> nft.MapOf:
    return nft.MapOf(parse_expression(body["key"]), _data(body["data"]))


def _data(value: object) -> nft.SetRef | nft.SetOf:
    if isinstance(value, str):
        return nft.SetRef(value.removeprefix("@"))
    if isinstance(value, dict):
        return nft.SetOf(tuple(parse_element(item, is_map=True) for item in _items(value["set"])))
    raise ValueError("expected a map")


def _items(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _interval(body: Sequence[object]) -> nft.Interval:
    return nft.Interval(nft.Literal(str(body[0])), nft.Literal(str(body[1])))


_EXPRESSIONS: Mapping[str, Callable[..., nft.Expression]] = {
    "payload": _payload,
    "meta": lambda body: nft.Meta(str(body["key"])),
    "ct": lambda body: nft.Ct(str(body["key"]), nft.CtDirection(str(body.get("dir", "")))),
    "fib": _fib,
    "tcp option": lambda body: nft.TcpOption(str(body["name"]), str(body.get("field", ""))),
    "rt": lambda body: nft.Rt(f"{body.get('family', '')} {body['key']}".lstrip()),
    "numgen": lambda body: nft.Numgen(
        nft.NumgenMode(str(body["mode"])), _number(body, "mod"), _number(body, "offset")
    ),
    "jhash": _hash(nft.HashKind.JHASH),
    "symhash": _hash(nft.HashKind.SYMHASH),
    "concat": lambda body: nft.Concat(tuple(map(parse_expression, body))),
    "set": lambda body: nft.SetOf(
        tuple(parse_element(item, is_map=False) for item in _items(body))
    ),
    "map": _map,
    "prefix": lambda body: nft.PrefixLiteral(str(body["addr"]), _number(body, "len")),
    "range": _interval,
    "elem": lambda body: parse_expression(body["val"]),
}


def _match(body: JsonMapping) -> nft.Statement:
    comparison = nft.Comparison(str(body["op"]))
    return nft.NftMatch(comparison, parse_expression(body["left"]), parse_expression(body["right"]))


def _nat(kind: str) -> Callable[[JsonMapping | None], nft.Statement]:
    def parse(body: JsonMapping | None) -> nft.Statement:
        given = body or {}
        return nft.Nat(
            kind,
            parse_expression(given["addr"]) if "addr" in given else None,
            parse_expression(given["port"]) if "port" in given else None,
            tuple(map(str, _items(given["flags"]))) if "flags" in given else (),
            nft.NftFamily(str(given["family"])) if "family" in given else None,
        )

    return parse


def _reject(body: JsonMapping | None) -> nft.Statement:
    given = body or {}
    kind = nft.RejectKind(str(given.get("type", "")))
    return nft.NftReject(kind, str(given.get("expr", "")))


def _counter(body: JsonMapping | str | None) -> nft.Statement:
    if isinstance(body, str):
        return nft.Counter(name=body)
    given = body or {}
    return (
        nft.Counter(_number(given, "packets"), _number(given, "bytes")) if given else nft.Counter()
    )


def _limit(body: JsonMapping) -> nft.Statement:
    over = bool(body.get("inv", False))
    unit = str(body.get("rate_unit", "packets"))
    size = "" if unit == "packets" else f" {unit}"
    burst = (
        f" burst {body['burst']} {body.get('burst_unit', 'packets')}" if body.get("burst") else ""
    )
    rate = f"{body['rate']}{size}/{body.get('per', 'second')}"
    return nft.Limit(f"rate {'over ' if over else ''}{rate}{burst}", over)


def _log(body: JsonMapping | None) -> nft.Statement:
    words = []
    for key, value in (body or {}).items():
        words.append(
            f'{key} "{value}"' if key == "prefix" else f"{key} {','.join(map(str, _items(value)))}"
        )
    return nft.Log(" ".join(words))


def _queue(body: JsonMapping | None) -> nft.Statement:
    given = body or {}
    words = [f"num {given['num']}"] if "num" in given else []
    return nft.Queue(" ".join([*words, *map(str, _items(given.get("flags", [])))]))


def _set_update(body: JsonMapping) -> nft.Statement:
    element = body["elem"]
    inner = element.get("elem") if isinstance(element, dict) else None
    words = []
    if isinstance(inner, dict):
        words = [f"timeout {inner['timeout']}s"] if "timeout" in inner else []
    rest = body.get("stmt")
    text = " ".join([*words, *([_spell(rest)] if rest else [])])
    operation = nft.SetOperation(str(body["op"]))
    name = str(body["set"]).removeprefix("@")
    return nft.SetUpdate(operation, parse_expression(element), name, text)


_STATEMENTS: Mapping[str, Callable[..., nft.Statement]] = {
    "match": _match,
    "vmap": lambda body: nft.Vmap(parse_expression(body["key"]), _data(body["data"])),
    "mangle": lambda body: nft.Mangle(
        parse_expression(body["key"]), parse_expression(body["value"])
    ),
    "counter": _counter,
    "snat": _nat("snat"),
    "dnat": _nat("dnat"),
    "masquerade": _nat("masquerade"),
    "redirect": _nat("redirect"),
    "reject": _reject,
    "limit": _limit,
    "log": _log,
    "queue": _queue,
    "notrack": lambda _: nft.Notrack(),
    "fwd": lambda body: nft.Forward(parse_expression(body["dev"])),
    "dup": lambda body: nft.Duplicate(str(body.get("dev", body.get("addr", "")))),
    "set": _set_update,
    "flow": lambda body: nft.FlowOffload(str(body["flowtable"]).removeprefix("@")),
}
_MEMBERS: Mapping[str, frozenset[str]] = {
    "match": frozenset({"op", "left", "right"}),
    "vmap": frozenset({"key", "data"}),
    "mangle": frozenset({"key", "value"}),
    "snat": frozenset({"addr", "port", "flags", "family", "type_flags"}),
    "dnat": frozenset({"addr", "port", "flags", "family", "type_flags"}),
    "masquerade": frozenset({"port", "flags", "type_flags"}),
    "redirect": frozenset({"port", "flags", "type_flags"}),
    "reject": frozenset({"type", "expr"}),
    "limit": frozenset({"rate", "rate_unit", "per", "burst", "burst_unit", "inv"}),
    "fwd": frozenset({"dev"}),
    "set": frozenset({"op", "elem", "set", "stmt"}),
}
"""What is read of a statement's members."""
