"""How `iptables -L` words a match or target, as data.

`-L` prints every extension by its own words (`print()` of iptables' libxt_*.c, 1.4 to 1.8):
`ctstate NEW` is `-m conntrack --ctstate NEW`, `MARK or 0x4000` is `-j MARK --set-xmark
0x4000/0x4000`. A form is one such wording as a regex. A named group is an option: `ctstate` gives
`--ctstate VALUE`, underscores stand for dashes, a group `no_X` negates X, and `flag_X` gives `--X`
without a value. Options come in the order of the groups, which is that of `iptables-save`.
"""

from __future__ import annotations

from typing import NamedTuple


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
