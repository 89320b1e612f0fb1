"""allowed-twice: two peers of one WireGuard device have the same allowed range.

What it is
    Two `[Peer]` sections of one configuration have the same network in AllowedIPs, often 0.0.0.0/0
    or a copied line.

Why it breaks
    Within a device, a range belongs to one peer only: the last one configured takes it from the
    other, whose packets are then dropped because their source is not allowed, and which no longer
    gets any packets.

How to confirm
    wg show DEVICE allowed-ips: one of the peers has `(none)`, or lacks it

How to fix
    Give each peer the addresses that are behind it, a /32 for a single machine.

References
    wg(8); WireGuard, Cryptokey Routing
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.files import files_of
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.objects import read_prefix
from podpath.checks.said import find_said
from podpath.checks.stated import statements_of
from podpath.checks.told import LOSSES, list_failing
from podpath.net.addresses import Prefix
from podpath.net.messages import MessageKind
from podpath.net.provenance import Span
from podpath.net.settings import Setting
from podpath.net.statements import WireguardPeer
from podpath.net.technologies import Technology
from podpath.node.case import Case

CATEGORIES = (Category.TUNNEL_CONFIGURATION, Category.WRONG_ROUTE)
NAME = "allowed-twice"
POSSIBLE = 0.7
ASK = FollowUp(
    "whether what fails goes to that peer",
    "ip route get ADDRESS; wg show all allowed-ips",
    "it is routed into the device, and is of a network behind that peer: this is the cause",
)
_TUNNELS = frozenset({Technology.WIREGUARD, Technology.OPENVPN})
"""How people call it."""


def check(case: Case) -> Iterator[Finding]:
    """Report each range that two peers of one file have, and a peer that is left without any."""
    yield from _list_without(case)
    for file in files_of(case, "wireguard"):
        owners: dict[Prefix, Setting] = {}
        for setting in file.all("AllowedIPs"):
            for prefix in filter(None, map(read_prefix, setting.words)):
                first = owners.setdefault(prefix, setting)
                if first is setting:
                    continue
                yield Finding(
                    check=NAME,
                    severity=Severity.FAULT,
                    claim=(
                        f"Two peers of one WireGuard device have {prefix} in their allowed IPs: "
                        "the second takes it from the first."
                    ),
                    evidence=(first.span, setting.span),
                    reasoning=("Within a device, a range belongs to one peer only.",),
                    breaks=("traffic of the first peer",),
                    prevention="Give each peer only the ranges that are behind it.",
                    certainty=1.0,
                    marks=(str(prefix),),
                )


def _list_without(case: Case) -> Iterator[Finding]:
    """Report the first peer that no range belongs to, beside one that has some, where people say
    that something is lost; possible only where they name a service and no tunnel. Nothing refuses
    for such a peer.
    """
    peers = list(statements_of(case, WireguardPeer))
    having = {peer.link for peer, _ in peers if peer.allowed}
    lost = [one for one in list_failing(case) if one.failure in {None, *LOSSES}]
    sure = any(_TUNNELS & one.mentions or not (one.ports or one.names) for one in lost)
    for peer, stated in peers:
        if lost and peer.link in having and _NONE.search(stated.span.text):
            yield Finding(
                check=NAME,
                severity=Severity.FAULT,
                claim=(
                    f"A peer of {peer.link} has no allowed IPs: another peer has taken its range, "
                    "or none was given."
                ),
                evidence=(stated.span,),
                reasoning=("Nothing is sent to such a peer, and whatever it sends is dropped.",),
                breaks=("traffic to and from that peer",),
                prevention="Give each peer only the ranges that are behind it.",
                certainty=1.0 if sure else POSSIBLE,
                asks=() if sure else (ASK,),
                marks=("(none)",),
            )
            return
    alone = find_said(case, MessageKind.PEER_WITHOUT_RANGES) if lost and not peers else ()
    yield from (_report_alone(one.span, sure=sure) for one in alone[:1])


def _report_alone(span: Span, *, sure: bool) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim="A peer has no allowed IPs: another peer has taken its range, or none was given.",
        evidence=(span,),
        reasoning=("Nothing is sent to such a peer, and whatever it sends is dropped.",),
        breaks=("traffic to and from that peer",),
        prevention="Give each peer only the ranges that are behind it.",
        certainty=1.0 if sure else POSSIBLE,
        asks=() if sure else (ASK,),
        marks=("(none)",),
    )


_NONE = re.compile(r"allowed ips: \(none\)")
