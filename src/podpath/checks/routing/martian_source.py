"""martian-source: the kernel dropped packets whose source address is not allowed on the device that
they came in on.

What it is
    `martian source A from B, on dev DEV`: a packet from B to A came in on DEV, and the route back
    to B uses another device (rp_filter), or B is an address of the host itself, a loopback address
    or a multicast address.

Why it breaks
    The packet is dropped after PREROUTING, before INPUT or FORWARD sees it. The usual reasons are
    two interfaces in one network, policy routing without rules for replies, a VPN, a tunnel device
    with rp_filter=1, or an address on kube-ipvs0 that is also somebody's source.

How to confirm
    sysctl net.ipv4.conf.all.rp_filter net.ipv4.conf.DEV.rp_filter; ip route get B; ip addr | grep B
    nstat -az TcpExtIPReversePathFilter

How to fix
    sysctl -w net.ipv4.conf.all.rp_filter=2 net.ipv4.conf.DEV.rp_filter=2 (0 for loose on an
    unnumbered device), or fix the routes so that the route back uses that device.

References
    ip_handle_martian_source, fib_validate_source (net/ipv4/route.c, net/ipv4/fib_frontend.c); RFC
    3704
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.ground import Ground
from podpath.checks.routing.own_source_received import is_own
from podpath.checks.said import Meaning, find_said, tell
from podpath.checks.told import LOSSES, list_failing_addresses
from podpath.checks.topology import device_key, known_sysctl
from podpath.net.addresses import IfName, read_address
from podpath.net.messages import Message, MessageKind
from podpath.net.provenance import Span
from podpath.node.case import Case

CATEGORIES = (
    Category.REVERSE_PATH_FILTER,
    Category.ASYMMETRIC_PATH,
    Category.POLICY_ROUTING,
    Category.WRONG_ROUTE,
    Category.IPVS,
)
NAME = "martian-source"
NOISE = ("0.", "127.", "169.254.", "255.")
"""How addresses begin that strays of other hosts have: such a packet is nobody's connection."""
STATED = 0.9
"""The certainty where the switch that makes it is stated, too."""
ECHOED = 0.4
"""The certainty where the host's own frames are said to come back to it."""
ASK = FollowUp(
    "whether the packet belongs to the connection that fails",
    "sysctl -a | grep rp_filter; ip route get SOURCE; ip addr",
    "the route back uses another device and rp_filter is not 0: the reply is dropped there",
)


def check(case: Case) -> Iterator[Finding]:
    """Report packets that the kernel said to be martians."""
    said = [
        message
        for message in find_said(case, MessageKind.MARTIAN_SOURCE)
        if not _is_stray(message) and not is_own(case, message)
    ]
    if not said:
        return
    values = said[0].values
    device = values["device"]
    found = tell(
        NAME,
        said,
        Meaning(
            claim=f"The kernel drops packets from {values['src']} to {values['dst']} as martians:"
            f" they come in on {device}, and {_explain(case, values['src'])}.",
            breaks=f"packets from {values['src']} that come in on {device}",
            cure="loosen rp_filter, or fix the route back",
            commands=(
                f"sysctl -w net.ipv4.conf.all.rp_filter=2 net.ipv4.conf.{device}.rp_filter=2",
            ),
            certainty=0.7,
            ask=ASK,
        ),
    )
    echoes = find_said(case, MessageKind.OWN_ADDRESS_RECEIVED)
    if echoes or _is_implied(case, values["src"]):
        yield replace(found, severity=Severity.RISK, certainty=ECHOED)
        return
    failing = {str(address) for address in list_failing_addresses(case)}
    shares = bool(failing & {values["src"], values["dst"]})
    switch = _list_strict(case, device)
    if switch and (shares or not failing):
        found = replace(
            found,
            evidence=(*found.evidence, *switch),
            reasoning=(*found.reasoning, Ground.SAME_MECHANISM),
            certainty=STATED,
        )
    proven = shares or (switch and not failing)
    yield replace(found, proves=LOSSES) if proven else found


def _is_implied(case: Case, source: str) -> bool:
    """Tell whether the source is an address of the host's that no output lists, but implies."""
    address = read_address(source)
    return any(item.address == address for item in case.node.host.addresses.items)


def _explain(case: Case, source: str) -> str:
    """Say why the kernel does not take the source: as far as routes and addresses are shown."""
    if _is_implied(case, source):
        return "the source seems to be an address of the host itself"
    if case.node.host.addresses.complete:
        return "the route back uses another device"
    return "the route back uses another device, or the source is the host's own"


def _list_strict(case: Case, device: str) -> tuple[Span, ...]:
    """Return the lines that state strict filtering for a device: its own switch or that of all."""
    keys = ("net.ipv4.conf.all.rp_filter", device_key(4, IfName(device), "rp_filter"))
    facts = (known_sysctl(case.node.host, key) for key in keys)
    return tuple(
        fact.span
        for fact in facts
        if fact is not None and fact.span is not None and fact.value == "1"
    )


def _is_stray(message: Message) -> bool:
    return message.values["src"].startswith(NOISE) or message.values["dst"].startswith(NOISE[3])
