"""Native nftables back to the text that `nft -f` reads, in the spelling of `nft list ruleset`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import assert_never

from podpath.net import nft
from podpath.node.nftables import NftChain, NftRule, NftSet, NftTable

_BARE_META = frozenset({"iif", "oif", "iifname", "oifname", "iifgroup", "oifgroup"})
_PLAIN = re.compile(r"[A-Za-z_][\w.-]*|[0-9a-fA-F.:x/]+|\*")
_DEVICE_KEYS = frozenset({"iif", "oif", "iifname", "oifname"})


def emit_table(table: NftTable) -> str:
    """Spell a whole table with its sets and chains."""
    lines = [f"table {table.family} {table.name} {{"]
    if table.dormant:
        lines.append("\tflags dormant")
    lines += [f"\t{text}" for text in table.objects]
    lines += [line for each in table.sets.values() for line in _emit_set(each)]
    lines += [line for chain in table.chains.values() for line in _emit_chain(chain)]
    return "\n".join([*lines, "}", ""])


def emit_rule(rule: NftRule) -> str:
    """Spell a rule as it stands in its chain; of one that was not fully read, the part that was."""
    words = [emit_statement(statement) for statement in rule.statements]
    if rule.comment:
        words.append(f"comment {_quote(rule.comment)}")
    return " ".join(words)


def _emit_chain(chain: NftChain) -> Iterator[str]:
    yield f"\tchain {chain.name} {{"
    if chain.is_base:
        device = ""
        if chain.devices:
            names = ", ".join(map(_quote, chain.devices))
            device = f" device {names}" if len(chain.devices) == 1 else f" devices = {{ {names} }}"
        yield (
            f"\t\ttype {chain.type} hook {chain.hook}{device} priority {chain.priority}; "
            f"policy {chain.policy};"
        )
    for rule in chain.rules:
        yield f"\t\t{emit_rule(rule)}"
    yield "\t}"


def _emit_set(each: NftSet) -> Iterator[str]:
    yield f"\t{'map' if each.data else 'set'} {each.name} {{"
    kind = "typeof" if each.typeof else "type"
    data = f" : {each.data}" if each.data else ""
    yield f"\t\t{kind} {' . '.join(each.types)}{data}"
    if each.flags:
        yield f"\t\tflags {','.join(each.flags)}"
    for option in each.options:
        yield f"\t\t{option}"
    if each.elements:
        yield f"\t\telements = {{ {', '.join(map(_emit_element, each.elements))} }}"
    yield "\t}"


def _emit_element(element: nft.Element) -> str:
    words = [emit_expression(element.key)]
    if element.timeout:
        words.append(f"timeout {element.timeout}")
    if element.comment:
        words.append(f"comment {_quote(element.comment)}")
    if element.data is not None:
        words += [":", emit_expression(element.data)]
    return " ".join(words)


def emit_statement(statement: nft.Statement) -> str:  # noqa: C901, PLR0911, PLR0912  # one arm for each kind of statement
    """Spell one statement."""
    match statement:
        case nft.NftMatch(op, left, right):
            is_plain = op is nft.Comparison.EQUAL and not _needs_sign(left)
            sign = "" if op is nft.Comparison.ANY_BIT or is_plain else f" {op}"
            return f"{emit_expression(left)}{sign} {_emit_constant(left, right)}"
        case nft.Vmap(key, data):
            return f"{emit_expression(key)} vmap {emit_expression(data)}"
        case nft.NftVerdict(kind, chain):
            return f"{kind} {chain}".rstrip()
        case nft.Mangle(field, value):
            name = f"meta {field.key}" if isinstance(field, nft.Meta) else emit_expression(field)
            return f"{name} set {_emit_constant(field, value)}"
        case nft.Nat():
            return _emit_nat(statement)
        case nft.NftReject(kind, code):
            return " ".join(word for word in ("reject", "with" if kind else "", kind, code) if word)
        case nft.Counter(packets, octets, name):
            if name:
                return f"counter name {_quote(name)}"
            if packets is None:
                return "counter"
            return f"counter packets {packets} bytes {octets or 0}"
        case nft.Limit(text):
            return f"limit {text}"
        case nft.Log(text):
            return f"log {text}".rstrip()
        case nft.Queue(text):
            return f"queue {text}".rstrip()
        case nft.Notrack():
            return "notrack"
        case nft.Forward(device):
            return f"fwd to {emit_expression(device)}"
        case nft.Duplicate(text):
            return f"dup to {text}"
        case nft.SetUpdate(op, key, name, text):
            return f"{op} @{name} {{ {f'{emit_expression(key)} {text}'.rstrip()} }}"
        case nft.FlowOffload(name):
            return f"flow add @{name}"
        case nft.OpaqueStatement(text):
            return text
        case _:
            assert_never(statement)


def _needs_sign(left: nft.Expression) -> bool:
    """Tell whether leaving out `==` would say something else: of bit fields it would ask for one
    common bit.
    """
    is_field = isinstance(left, nft.Ct) and left.key in {"state", "status"}
    return isinstance(left, nft.Binary) or is_field or left == nft.Payload("tcp", "flags")


def _emit_nat(statement: nft.Nat) -> str:
    words = [statement.kind]
    if statement.family:
        words.append(statement.family)
    if statement.address is not None or statement.port is not None:
        address = "" if statement.address is None else emit_expression(statement.address)
        if statement.port is not None and ":" in address and not address.startswith("["):
            address = f"[{address}]"
        port = "" if statement.port is None else f":{emit_expression(statement.port)}"
        words += ["to", f"{address}{port}"]
    if statement.flags:
        words.append(",".join(statement.flags))
    return " ".join(words)


def _emit_constant(left: nft.Expression, right: nft.Expression) -> str:
    """Spell what a field is compared with or set to: device names stand in quotes."""
    if isinstance(left, nft.Meta) and left.key in _DEVICE_KEYS and isinstance(right, nft.Literal):
        if right.text.isdigit():
            return right.text
        return _quote(right.text)
    return emit_expression(right)


def emit_expression(expression: nft.Expression) -> str:  # noqa: C901, PLR0911, PLR0912  # one arm for each kind of expression
    """Spell one expression."""
    match expression:
        case nft.Literal(text):
            return text if _PLAIN.fullmatch(text) else _quote(text)
        case nft.PrefixLiteral(address, length):
            return f"{address}/{length}"
        case nft.Interval(first, last):
            return f"{first.text}-{last.text}"
        case nft.Flags(items):
            return ",".join(item.text for item in items)
        case nft.Payload(protocol, field):
            return f"{protocol} {field}"
        case nft.Meta(key):
            return key if key in _BARE_META else f"meta {key}"
        case nft.Ct(key, direction):
            return " ".join(word for word in ("ct", direction, key) if word)
        case nft.Fib(flags, result):
            return f"fib {' . '.join(flags)} {result}"
        case nft.TcpOption(option, field):
            return f"tcp option {option} {field}".rstrip()
        case nft.Rt(key):
            return f"rt {key}"
        case nft.Numgen(mode, mod, offset):
            return f"numgen {mode} mod {mod}" + (f" offset {offset}" if offset else "")
        case nft.Hash():
            return _emit_hash(expression)
        case nft.Binary(op, left, right):
            return f"{_emit_operand(left)} {op} {_emit_operand(right)}"
        case nft.Concat(parts):
            return " . ".join(emit_expression(part) for part in parts)
        case nft.SetRef(name):
            return f"@{name}"
        case nft.SetOf(elements):
            return f"{{ {', '.join(map(_emit_element, elements))} }}"
        case nft.MapOf(key, data):
            return f"{emit_expression(key)} map {emit_expression(data)}"
        case nft.NftVerdict(kind, chain):
            return f"{kind} {chain}".rstrip()
        case nft.OpaqueExpression(text):
            return text
        case _:
            assert_never(expression)


def _emit_operand(expression: nft.Expression) -> str:
    if isinstance(expression, nft.Binary):
        return f"({emit_expression(expression)})"
    if isinstance(expression, nft.Flags):
        return f"({' | '.join(item.text for item in expression.items)})"
    return emit_expression(expression)


def _emit_hash(expression: nft.Hash) -> str:
    words: list[str] = [expression.kind]
    if expression.key is not None:
        words.append(emit_expression(expression.key))
    words.append(f"mod {expression.mod}")
    if expression.seed is not None:
        words.append(f"seed {expression.seed:#x}")
    if expression.offset:
        words.append(f"offset {expression.offset}")
    return " ".join(words)


def _quote(text: str) -> str:
    return f'"{text}"'
