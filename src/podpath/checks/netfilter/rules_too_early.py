"""rules-too-early: a file of rules is loaded before what it names exists.

What it is
    nft, iptables-restore or a firewall's service is refused at boot with `No such file or
    directory` or `No such device`, and the same step works by hand later: a device, a set, a module
    or another table that the file names was not there yet.

Why it breaks
    A file is one transaction, so none of its rules is loaded, and nothing tries again. flowtables
    and rules with `iif` take devices by their number, which has to exist when they are loaded.

How to confirm
    systemctl list-dependencies --after nftables; systemd-analyze critical-chain nftables.service
    journalctl -b -u nftables -u systemd-networkd

How to fix
    Order the unit behind what makes the device (After=, Wants=network-online.target), or name
    devices by `iifname`, which need not exist; add flowtables when the device comes up.

References
    nft(8), FLOWTABLES; systemd.unit(5); nft_flowtable_parse_hook (net/netfilter/nf_tables_api.c)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.ground import Ground
from podpath.checks.said import find_said
from podpath.checks.told import find_told
from podpath.net.complaints import Circumstance
from podpath.net.messages import Message, MessageKind
from podpath.node.case import Case

CATEGORIES = (Category.RULESET_FAILURE, Category.HOST_FIREWALL, Category.NETWORK_MANAGER)
NAME = "rules-too-early"
_KINDS = (
    MessageKind.RULESET_FILE_REFUSED,
    MessageKind.NFT_FAILED,
    MessageKind.IPTABLES_FAILED,
    MessageKind.RESTORE_FAILED,
)
_MISSING = re.compile(
    r"\bno such (?:file|device|set|table|chain|object)\b|\bdoes not exist\b", re.IGNORECASE
)
"""What may come to exist; what a program calls unknown it does not know later either, unless it is
another program that works by hand.
"""


def check(case: Case) -> Iterator[Finding]:
    """Report the first refusal for something that is missing, where people say that the same works
    later.
    """
    told = find_told(case, Circumstance.BY_HAND)
    missing = [one for one in find_said(case, *_KINDS) if _is_missing(one)]
    if told is None or not missing:
        return
    said = max(missing, key=lambda one: "file" in one.values)
    file = said.values.get("file") or said.values.get("other") or "The set of rules"
    yield Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"{file} is loaded before something that it names exists; loaded later, it works.",
        evidence=(said.span, told),
        reasoning=(Ground.BY_HAND,),
        breaks=("everything that the rules are for, until somebody loads them again",),
        prevention="Order the service behind the network, or name devices by iifname.",
        marks=tuple(filter(None, (said.values.get("file"),))),
    )


def _is_missing(message: Message) -> bool:
    return _MISSING.search(message.span.text) is not None
