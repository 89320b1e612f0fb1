"""address-tentative: a program cannot listen on an IPv6 address that the kernel does not use yet.

What it is
    `bind: Cannot assign requested address` for an address that `ip addr` shows as `tentative` or
    `dadfailed`.

Why it breaks
    The kernel lets nobody bind an IPv6 address before duplicate address detection has passed. That
    takes a second or two after the device is up, and servers that start at boot are faster. It
    never ends on a device without a carrier. If another host answers for the address, it fails
    (`dadfailed`), and the address is not used until it is set again.

How to confirm
    ip -6 addr show tentative; ip -6 addr show dadfailed; ip -br link
    dmesg | grep -i duplicate

How to fix
    Start the server after the network is up (After=network-online.target with a wait-online that
    waits for IPv6), let it bind before (FreeBind=true in its socket unit,
    net.ipv6.ip_nonlocal_bind=1), or set the address with nodad. After a failure, take the address
    from whoever else has it, and set it again.

References
    inet6_bind and ipv6_chk_addr (net/ipv6/af_inet6.c v6.12), addrconf_dad_work
    (net/ipv6/addrconf.c v6.12); RFC 4862, section 5.4
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.said import QUOTED, find_said, is_of_container
from podpath.net.addresses import Address, read_address
from podpath.net.failures import FailureKind
from podpath.net.messages import Message, MessageKind
from podpath.net.provenance import list_spans
from podpath.node.case import Case
from podpath.node.links import InterfaceAddress

CATEGORIES = (Category.IPV6, Category.APPLICATION, Category.DUPLICATE_ADDRESS, Category.DNS_SERVER)
NAME = "address-tentative"
OPEN = 0.7
"""The certainty where the program may have addresses of its own, or it may have been another moment
at which it failed.
"""
UNSERVED = frozenset({FailureKind.NOT_STARTED, FailureKind.REFUSED})
"""What people say of a server that does not listen."""
_ABSENT = ("cannot assign requested address", "address not available")
_BINDS = (MessageKind.BIND_ADDRESS_ABSENT, MessageKind.NAME_SERVER_NOT_BOUND)
ASK = FollowUp(
    "whether the address is tentative where and when the program starts",
    "ip -6 addr show tentative (where the program runs, right before it); systemctl restart UNIT",
    "it is listed, and later the program starts: it has to wait for the address",
)


def check(case: Case) -> Iterator[Finding]:
    """Report each address that a program cannot bind and a listing shows as tentative."""
    said = [one for one in find_said(case, *_BINDS) if _is_absent(one)]
    for netns in case.node.namespaces.values():
        for item in netns.addresses.items:
            mine = [one for one in said if netns.name == one.netns and _names(one, item.address)]
            if item.tentative and item.span is not None and mine:
                yield _report(item, mine)


def _is_absent(message: Message) -> bool:
    return (
        message.kind is MessageKind.BIND_ADDRESS_ABSENT
        or message.values.get("error", "").casefold().strip() in _ABSENT
    )


def _names(message: Message, address: Address) -> bool:
    return read_address(message.values.get("address", "").strip("[]")) == address


def _report(item: InterfaceAddress, said: list[Message]) -> Finding:
    failed = item.dad_failed
    sure = failed and not all(is_of_container(one.span) for one in said)
    state = "found that another host uses it" if failed else "has not passed yet"
    cure = (
        f"remove the address from the other host, and set it again on {item.link}"
        if failed
        else "let the program start after the address is usable, or bind before it is"
    )
    commands = (
        f"ip -6 addr del {item.address}/{item.length} dev {item.link}",
        f"ip -6 addr add {item.address}/{item.length} dev {item.link}",
    )
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"Nobody can listen on {item.address} yet: duplicate address detection on {item.link} "
            f"{state}."
        ),
        evidence=tuple(dict.fromkeys(list_spans((item, *said[:QUOTED])))),
        reasoning=("The kernel lets a program bind only an address that it uses.",),
        breaks=(f"the program that should listen on {item.address}",),
        repairs=(Repair(title=cure, commands=commands if failed else ()),),
        prevention="Start servers after network-online.target, or let them bind early (FreeBind).",
        certainty=1.0 if sure else OPEN,
        proves=UNSERVED,
        asks=() if sure else (ASK,),
        marks=("dadfailed",) if failed else ("tentative",),
    )
