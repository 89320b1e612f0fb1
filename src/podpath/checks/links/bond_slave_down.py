"""bond-slave-down: a bond has a slave without link, or no partner that speaks LACP.

What it is
    /proc/net/bonding/BOND shows a slave's MII status as down, or (802.3ad) a partner MAC of zeros.

Why it breaks
    A bond by balance-rr or balance-xor without a channel on the switch, or by 802.3ad without LACP
    there, sends and receives on links that the switch treats as two: frames are lost or duplicated.
    With a slave down a part of the connections fails where the switch still uses it.

How to confirm
    cat /proc/net/bonding/bond0
    ethtool SLAVE | grep -i 'link detected'

How to fix
    Configure the switch's ports as one channel (LACP active for 802.3ad), or use active-backup,
    which needs nothing of the switch.

References
    Documentation/networking/bonding.rst; bond_3ad_state_machine_handler
    (drivers/net/bonding/bond_3ad.c v6.12)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.stated import statements_of
from podpath.net.statements import BondState
from podpath.node.case import Case

CATEGORIES = (
    Category.BONDING,
    Category.LINK_DOWN,
)
NAME = "bond-slave-down"


ZEROS = "00:00:00:00:00:00"


def check(case: Case) -> Iterator[Finding]:
    """Report slaves that are down, and a partner that never answered."""
    for state, stated in statements_of(case, BondState):
        if state.up is False:
            who = state.slave or str(state.bond)
            claim, certainty = f"{who} of the bond {state.bond} has no link.", 0.7
        elif state.up is None and state.partner == ZEROS:
            claim, certainty = (
                f"Nothing answers LACP on the bond {state.bond}: its partner's MAC is {ZEROS}.",
                0.9,
            )
        else:
            continue
        yield Finding(
            check=NAME,
            severity=Severity.FAULT,
            claim=claim,
            evidence=(stated.span,),
            reasoning=(f"The bond's mode is {state.mode}.",) if state.mode else (),
            breaks=("some of the frames over the bond",),
            prevention="Watch the MII status of slaves and the aggregator's partner.",
            certainty=certainty,
            marks=tuple(word for word in ("down", state.slave, state.partner) if word),
        )
