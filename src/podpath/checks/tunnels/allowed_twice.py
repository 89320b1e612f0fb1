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

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.files import files_of
from podpath.checks.finding import Finding, Severity
from podpath.checks.objects import read_prefix
from podpath.net.addresses import Prefix
from podpath.net.settings import Setting
from podpath.node.case import Case

CATEGORIES = (Category.TUNNEL_CONFIGURATION, Category.WRONG_ROUTE)
NAME = "allowed-twice"


def check(case: Case) -> Iterator[Finding]:
    """Report each range that two peers of one file have."""
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
