"""ipv6-refused: the kernel refuses an IPv6 address or route on a device whose IPv6 is switched off.

What it is
    `ip -6 addr add` or `ip -6 route add` is answered with `RTNETLINK answers: Permission denied`,
    and the device's disable_ipv6 is 1.

Why it breaks
    The kernel sets no IPv6 address on such a device and no route through it, and answers EACCES,
    even to root. Newer kernels and tools say why (`IPv6 is disabled on this device`), older ones
    say `Permission denied`, which looks like a missing right. Somebody without rights gets
    `Operation not permitted`.

How to confirm
    sysctl net.ipv6.conf.DEVICE.disable_ipv6

How to fix
    sysctl -w net.ipv6.conf.DEVICE.disable_ipv6=0, and in a file in /etc/sysctl.d; for devices that
    are made later, net.ipv6.conf.default.disable_ipv6=0. A network manager or a container engine
    may have set it: change it there.

References
    addrconf_add_dev and ipv6_add_addr (net/ipv6/addrconf.c v6.12), fib6_nh_init (net/ipv6/route.c
    v6.12): EACCES
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.said import find_command, find_said
from podpath.checks.topology import device_key, known_sysctl
from podpath.net.addresses import IfName
from podpath.net.messages import Message, MessageKind
from podpath.net.provenance import list_spans
from podpath.node.case import Case

CATEGORIES = (Category.IPV6, Category.SYSCTL, Category.NO_ROUTE)
NAME = "ipv6-refused"
OF_ALL = "net.ipv6.conf.all.disable_ipv6"
"""What is written to it is written to every device, and to those that are made later."""
UNSTATED = 0.7
"""The certainty where no line states the device's own switch: a policy of SELinux refuses so,
too.
"""
_SETS = re.compile(
    r"\bip\s+(?:-\S+\s+)*(?P<sort>a|r)\w*\s+(?:a|rep|ch)\w*\s(?=.*(?:[0-9A-Fa-f]*:){2}|.*\s-6\s)"
    r".*?\bdev\s+(?P<device>[^\s;|&]+)"
)
_FAMILY = re.compile(r"\bip\s+(?:-\S+\s+)*-6\s|(?:\b[0-9A-Fa-f]{1,4})?(?::[0-9A-Fa-f]{0,4}){2,}")
_SORTS = {"a": "address", "r": "route"}


def check(case: Case) -> Iterator[Finding]:
    """Report the first address or route of each device that the kernel refuses so."""
    told: set[str] = set()
    for message in find_said(case, MessageKind.RTNETLINK_ANSWER):
        command = find_command(message.span) or ""
        asked = _SETS.search(command)
        denied = message.values["error"] == "Permission denied"
        if not denied or asked is None or _FAMILY.search(command) is None:
            continue
        if asked["device"] not in told:
            told.add(asked["device"])
            yield from _report(case, message, asked)


def _report(case: Case, message: Message, asked: re.Match[str]) -> Iterator[Finding]:
    device, sort = asked["device"], _SORTS[asked["sort"]]
    netns = case.node.namespaces.get(message.netns, case.node.host)
    own = device_key(6, IfName(device), "disable_ipv6")
    switch = known_sysctl(netns, own)
    if switch is not None and switch.value != "1":
        return
    every = known_sysctl(netns, OF_ALL)
    sure = switch is not None or (every is not None and every.value == "1")
    stated = [one for one in (switch or every,) if one is not None and sure]
    yield Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The kernel refuses an IPv6 {sort} on {device}: its IPv6 is switched off"
            f"{'' if sure else ', or a policy of the host denies it'}."
        ),
        evidence=(*list_spans(stated), message.span),
        reasoning=("EACCES is what it answers where the device's disable_ipv6 is 1.",),
        breaks=(f"IPv6 by {device}",),
        repairs=(Repair(title=f"switch IPv6 on for {device}", commands=(f"sysctl -w {own}=0",)),),
        prevention="Set the value in a file in /etc/sysctl.d.",
        certainty=1.0 if sure else UNSTATED,
        asks=() if sure else (_ask(own),),
        marks=("Permission denied", "disable_ipv6"),
    )


def _ask(key: str) -> FollowUp:
    decides = "1: this is the cause; 0: look for denials of SELinux (ausearch -m avc)"
    return FollowUp(f"whether {key} is 1", f"sysctl {key}", decides)
