"""bond-slave-down: a bond has a slave without a link, or no LACP partner.

What it is
    /proc/net/bonding/BOND shows a slave's MII status as down, or (802.3ad) an all-zero partner MAC.

Why it breaks
    In balance-rr or balance-xor mode without a channel on the switch, the switch treats the links
    as separate ports: frames are lost or duplicated. In 802.3ad mode without LACP on the switch,
    the bond uses only one of its links and drops what arrives on the others. With a slave down,
    some connections fail if the switch still uses that link.

How to confirm
    cat /proc/net/bonding/BOND
    ethtool SLAVE | grep -i 'link detected'

How to fix
    Configure the switch ports as one channel (LACP active for 802.3ad), or use active-backup, which
    needs nothing from the switch.

References
    Documentation/networking/bonding.rst; bond_3ad_state_machine_handler
    (drivers/net/bonding/bond_3ad.c v6.12)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.stated import statements_of
from podpath.checks.told import LOSSES, list_failing
from podpath.net.failures import FailureKind
from podpath.net.provenance import Span
from podpath.net.statements import BondState
from podpath.node.case import Case

CATEGORIES = (
    Category.BONDING,
    Category.LINK_DOWN,
)
NAME = "bond-slave-down"


ZEROS = "00:00:00:00:00:00"
_LOSSES = LOSSES | {FailureKind.SOMETIMES}
"""What people say of a bond whose links are not one to the switch."""


def check(case: Case) -> Iterator[Finding]:
    """Report slaves that are down, a partner that never answered, and slaves that are not in one
    aggregator.
    """
    yield from _check_aggregators(case)
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
            breaks=("some of the frames sent over the bond",),
            prevention="Monitor the MII status of slaves and the aggregator's partner.",
            certainty=certainty,
            proves=_LOSSES if state.partner == ZEROS and _is_meant(case, state) else frozenset(),
            marks=tuple(word for word in ("down", state.slave, state.partner) if word),
        )


def _check_aggregators(case: Case) -> Iterator[Finding]:
    placed: dict[str, dict[str, Span]] = {}
    for state, stated in statements_of(case, BondState):
        if state.aggregator and state.slave:
            slaves = placed.setdefault(str(state.bond), {})
            slaves.setdefault(state.aggregator, stated.span)
    for bond, spans in placed.items():
        if len(spans) > 1:
            yield Finding(
                check=NAME,
                severity=Severity.FAULT,
                claim=(
                    f"The slaves of {bond} are in {len(spans)} aggregators: only one of them "
                    "carries traffic, and the switch may send through the other."
                ),
                evidence=tuple(spans.values()),
                reasoning=("Links to one partner with one key are one aggregator (802.3ad).",),
                breaks=("some of the frames sent over the bond",),
                prevention="Give all ports of the bond one LACP group on the switch.",
                certainty=0.9,
                proves=_LOSSES,
                marks=("Aggregator ID", *spans),
            )


def _is_meant(case: Case, state: BondState) -> bool:
    """Tell whether what fails may go by the bond: no sentence names another one alone."""
    spoken = {word for one in list_failing(case) for word in (*one.words, *one.spoken)}
    named = {word for word in spoken if _BOND.fullmatch(word)}
    return not named or str(state.bond) in named


_BOND = re.compile(r"bond\d+|team\d+")
