"""link-mode-poor: a card has no link, or negotiated much less than it supports.

What it is
    `ethtool DEVICE`, mii-tool or lshw says that no link is detected, that the link is half duplex,
    or that its speed is a tenth or less of what the card supports.

Why it breaks
    Without a link nothing leaves. In a duplex mismatch, the half-duplex side treats the full-duplex
    side's frames as collisions: small packets pass, and throughput collapses. A speed far below the
    card's maximum points to a cable with only two working pairs, a damaged port, or a partner that
    does not negotiate.

How to confirm
    ethtool DEVICE; ethtool -S DEVICE | grep -i -e err -e coll; ip -s link show DEVICE
    the switch port's own speed, duplex and counters; another cable, another port

How to fix
    Let both ends negotiate (ethtool -s DEVICE autoneg on), or configure both the same way; replace
    the cable.

References
    IEEE 802.3 clause 28; ethtool(8); Documentation/networking/ethtool-netlink.rst v6.12
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.stated import statements_of
from podpath.net.statements import LinkMode
from podpath.node.case import Case

CATEGORIES = (Category.LINK_DOWN, Category.NIC_DRIVER, Category.OUTSIDE_NODE)
NAME = "link-mode-poor"
TENTH = 10
"""A speed of a tenth of what a card can is no choice of anybody's."""
_VIRTUAL = (
    "veth",
    "cali",
    "lxc",
    "docker",
    "br-",
    "virbr",
    "tap",
    "vnet",
    "cni",
    "flannel",
    "dummy",
)
"""How names of devices begin that have no cable."""


def check(case: Case) -> Iterator[Finding]:
    """Report cards whose link is missing or poor."""
    for mode, stated in statements_of(case, LinkMode):
        trouble = None if mode.link.startswith(_VIRTUAL) else _name_trouble(mode)
        if trouble is None:
            continue
        yield Finding(
            check=NAME,
            severity=Severity.FAULT,
            claim=f"{mode.link} {trouble}.",
            evidence=(stated.span,),
            reasoning=(
                (
                    "The card and its partner agreed on less than the card supports: check cable, "
                    "port and negotiation."
                ),
            ),
            breaks=(f"traffic through {mode.link}",),
            prevention="Monitor speed, duplex and carrier of the uplinks.",
            certainty=0.6,
            marks=("Link detected: no", "Half", "Speed:", "no link"),
            asks=(
                FollowUp(
                    fact=f"whether the failing connection leaves through {mode.link}",
                    command=f"ip route get DESTINATION; ip -s link show {mode.link}",
                    decides="it does, and errors or collisions grow: the link is at fault",
                ),
            ),
        )


def _name_trouble(mode: LinkMode) -> str | None:
    """Say what is wrong with a link; None where nothing is."""
    if mode.detected is False:
        return "has no link: the card detects nothing at the other end of its cable"
    if mode.half and mode.detected:
        return "runs at half duplex, while any current switch runs at full duplex"
    if mode.speed and mode.most and mode.speed * TENTH <= mode.most:
        return f"runs at {mode.speed} Mbit/s although the card supports {mode.most}"
    return None
