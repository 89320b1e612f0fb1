"""bond-broken: a bond has no working link, or no partner.

What it is
    `running without any active interface` or `No 802.3ad response from the link partner`.

Why it breaks
    Without an active slave nothing is sent; in mode 802.3ad the switch has no LACP on these ports, so that it drops
    or floods frames.

How to confirm
    cat /proc/net/bonding/BOND; ip -d link show BOND

How to fix
    Set up LACP on the switch's ports, or another mode of the bond; mend cables and ports.

References
    Documentation/networking/bonding.rst; drivers/net/bonding/bond_3ad.c
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (
    Category.BONDING,
    Category.LINK_DOWN,
)
NAME = "bond-broken"
KINDS = (
    MessageKind.BOND_WITHOUT_LINK,
    MessageKind.BOND_WITHOUT_PARTNER,
)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    bond = get_value(said, "bond")
    meaning = Meaning(
        claim=f"The bond {bond} has no active link or no LACP partner.",
        breaks="everything that goes over the bond",
        cure="set up LACP on the switch, or mend the links",
        commands=(f"cat /proc/net/bonding/{bond}",),
    )
    yield tell(NAME, said, meaning)
