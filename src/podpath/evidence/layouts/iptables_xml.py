"""The XML of `iptables-xml` to the lines of `iptables-save` that it was made of.

The chains of a table are printed where their first rule stands, and again where a later one does:
here each is declared once, before all rules. Rules of one chain keep their order; that of rules of
different chains means nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape

_TOKEN = re.compile(
    r"<(?P<closes>/?)(?P<name>[^\s<>/!?]+)(?P<attributes>[^<>]*?)(?P<alone>/?)>|(?P<text>[^<>]+)|"
    r"<[^<>]*>"
)
_ATTRIBUTE = re.compile(r'(?P<name>[\w-]+)="(?P<value>[^"]*)"')
_OWN = frozenset({"match", "call", "goto"})
"""Elements that are no extension: what iptables itself matches, and jumps to chains."""


@dataclass(slots=True)
class _Table:
    """A table while it is read."""

    name: str
    chains: dict[str, str] = field(default_factory=dict)
    rules: list[str] = field(default_factory=list)


def looks_like_xml(text: str) -> bool:
    """Tell whether a text is rules as `iptables-xml` prints them."""
    return text.lstrip().startswith("<iptables-rules")


def spell_rules(text: str) -> Iterator[str]:
    """Yield the lines of `iptables-save`; nothing for what is no such XML."""
    table = _Table("")
    path: list[str] = []
    chain, words = "", [""]
    for token in _TOKEN.finditer(text):
        name = token["name"]
        if name is None:
            value = unescape(token["text"] or "").strip()
            words += [value] if value and len(path) > 5 else []
            continue
        attributes = dict(_ATTRIBUTE.findall(token["attributes"]))
        if not token["closes"]:
            path.append(name)
            if name == "table" and len(path) == 2:
                table = _Table(attributes.get("name", ""))
            elif name == "chain" and len(path) == 3:
                chain = unescape(attributes.get("name", ""))
                table.chains.setdefault(chain, _declare(chain, attributes))
            elif name == "rule" and len(path) == 4:
                words = [f"-A {chain}"]
            elif len(path) > 5:
                words += _spell(path, attributes)
        if (token["closes"] or token["alone"]) and path:
            path.pop()
            if name == "rule" and len(path) == 3:
                table.rules.append(" ".join(words))
            elif name == "table" and len(path) == 1:
                yield from (f"*{table.name}", *table.chains.values(), *table.rules, "COMMIT")


def _declare(chain: str, attributes: dict[str, str]) -> str:
    counts = f"{attributes.get('packet-count', '0')}:{attributes.get('byte-count', '0')}"
    return f":{chain} {attributes.get('policy', '-')} [{counts}]"


def _spell(path: list[str], attributes: dict[str, str]) -> list[str]:
    """Return the words that an element stands for: an extension, one of its options, or a chain."""
    name, above = unescape(path[-1]), path[-2]
    if len(path) == 6:
        if name in _OWN:
            return []
        return ["-m" if above == "conditions" else "-j", name]
    if above in {"call", "goto"}:
        return ["-j" if above == "call" else "-g", name]
    inverted = ["!"] if attributes.get("invert") == "1" else []
    return [*inverted, f"-{name}" if len(name) == 1 else f"--{name}"]
