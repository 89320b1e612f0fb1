"""How `iptables -L` words a match or target, as data.

`-L` prints every extension by its own words (`print()` of iptables' libxt_*.c, 1.4 to 1.8):
`ctstate NEW` is `-m conntrack --ctstate NEW`, `MARK or 0x4000` is `-j MARK --set-xmark
0x4000/0x4000`. A form is one such wording as a regex. A named group is an option: `ctstate` gives
`--ctstate VALUE`, underscores stand for dashes, a group `no_X` negates X, and `flag_X` gives `--X`
without a value. Options come in the order of the groups, which is that of `iptables-save`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from podpath.xtables.rule import MatchOption

Groups = Mapping[str, str | None]
ListedReader = Callable[[Groups], tuple[MatchOption, ...]]
"""Makes options of what the groups of a form found."""
QUOTED = r'"(?P<{}>(?:[^"\\]|\\.)*+)"'
"""A text in quotes, its group still to be named."""
NAT_FLAGS = (
    r"?(?P<flag_random>random)",
    r"?(?P<flag_random_fully>random-fully)",
    r"?(?P<flag_persistent>persistent)",
)
"""Flags that targets of NAT share."""


class Form(NamedTuple):
    """One wording of a match or target."""

    extension: str
    text: str
    """The regex; it is compiled when it is first tried, since few outputs need any."""
    unread: str = ""
    """What the wording leaves out; empty where it says all."""


def make_form(extension: str, *parts: str, unread: str = "") -> Form:
    """Make a form; a blank in a part stands for any white space, and a part that starts with `?`
    may be missing.
    """
    pieces = []
    for place, part in enumerate(parts):
        blank = r"\s+" if place else ""
        body = part.removeprefix("?").replace(" ", r"\s+")
        pieces.append(f"(?:{blank}{body})?" if part.startswith("?") else f"{blank}{body}")
    return Form(extension, "".join(pieces) + r"(?!\S)", unread)


def option_form(word: str, option: str) -> str:
    """Word an option that is printed as `[! ]word value`."""
    group = option.replace("-", "_")
    return rf"(?:(?P<no_{group}>!) )?{word} (?P<{group}>\S+)"


def port_form(extension: str, *more: str) -> Form:
    """Word a match whose ports stand behind its name."""
    return make_form(
        extension,
        extension,
        r"?spts?:(?P<no_sport>!)?(?P<sport>\S+)",
        r"?dpts?:(?P<no_dport>!)?(?P<dport>\S+)",
        *more,
    )


def list_ports(groups: Groups) -> tuple[MatchOption, ...]:
    """Make the options of `port_form`."""
    ports = ((name, groups[name]) for name in ("sport", "dport"))
    return tuple(
        MatchOption(name, (value,), groups[f"no_{name}"] is not None)
        for name, value in ports
        if value is not None
    )


def split_words(groups: Groups, name: str) -> tuple[str, ...]:
    """Return the words of a group."""
    return tuple(re.findall(r"\S+", groups[name] or ""))


def read_bits(text: str) -> int:
    """Read a hexadecimal number; `ValueError` where the text is none."""
    if not re.fullmatch(r"(?:0x)?[0-9a-fA-F]{1,16}", text):
        raise ValueError(f"expected a hexadecimal number, saw {text!r}")
    return int(text, 16)


def list_change(prefix: str) -> ListedReader:
    """Read `TTL increment by 1`."""

    def read(groups: Groups) -> tuple[MatchOption, ...]:
        name = {"s": "set", "i": "inc", "d": "dec"}[(groups["action"] or "s")[0]]
        return (MatchOption(f"{prefix}-{name}", (groups["count"] or "",)),)

    return read


def unescape(value: str) -> str:
    """Take the backslashes out of a text."""
    return re.sub(r"\\(.)", r"\1", value)
