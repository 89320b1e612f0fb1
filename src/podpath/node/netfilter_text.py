"""Rules of the model back to the text that iptables takes: for repair commands, and for
`iptables-restore`.

The spelling is that of `iptables-save`, but values are quoted so that a shell reads the same words
too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from podpath.net import protocols
from podpath.node.netfilter import InterfaceMatch, MatchOption, PrefixMatch, Rule

_PLAIN = re.compile(r"[A-Za-z0-9_.,:/+=@%^][A-Za-z0-9_.,:/+=@%^-]*")
_ESCAPED = re.compile(r'(["\\$`])')


def emit_rule(rule: Rule, command: str = "-A", *, position: int | None = None) -> str:
    """Spell a rule as `-A CHAIN ...`; with `-D` or `-I` (and a position) it is what undoes or
    inserts it.

    Of a rule that was not fully read (`rule.unread`) this is only the part that was.
    """
    words = [command, quote_word(rule.chain)]
    if position is not None:
        words.append(str(position))
    words += _emit_selectors(rule)
    for match in rule.matches:
        words += ["-m", quote_word(match.name)]
        words += _emit_options(match.options)
    if rule.target is not None:
        words += ["-g" if rule.target.goto else "-j", quote_word(rule.target.name)]
        words += _emit_options(rule.target.options)
    return " ".join(words)


def quote_word(text: str) -> str:
    """Put a word in quotes where a shell or iptables-restore would otherwise read another one."""
    if _PLAIN.fullmatch(text):
        return text
    return '"' + _ESCAPED.sub(r"\\\1", text) + '"'


def _emit_selectors(rule: Rule) -> Iterator[str]:
    """Spell the fields of `struct ipt_ip` in the order that iptables-save prints them."""
    for letter, prefix in (("-s", rule.src), ("-d", rule.dst)):
        if prefix is not None:
            yield from (*_negation(prefix.negated), letter, _emit_prefix(prefix))
    for letter, link in (("-i", rule.in_link), ("-o", rule.out_link)):
        if link is not None:
            yield from (*_negation(link.negated), letter, quote_word(_emit_interface(link)))
    if rule.protocol is not None:
        yield from (
            *_negation(rule.protocol.negated),
            "-p",
            protocols.protocol_name(rule.protocol.number),
        )
    if rule.fragment is not None:
        yield from (*_negation(not rule.fragment), "-f")


def _emit_prefix(match: PrefixMatch) -> str:
    if match.mask is None:
        return f"{match.prefix.address}/{match.prefix.length}"
    return f"{match.prefix.address}/{type(match.prefix.address)(match.prefix.family, match.mask)}"


def _emit_interface(match: InterfaceMatch) -> str:
    return match.name + "+" if match.wildcard else match.name


def _emit_options(options: tuple[MatchOption, ...]) -> Iterator[str]:
    for option in options:
        yield from (*_negation(option.negated), "--" + option.name, *map(quote_word, option.values))


def _negation(negated: bool) -> tuple[str, ...]:  # noqa: FBT001  # one flag, one word
    return ("!",) if negated else ()
