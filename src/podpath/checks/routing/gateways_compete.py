"""gateways-compete: configuration files give several devices a default gateway of equal rank.

What it is
    Two devices each have a gateway (or a default route) in their configuration, with the same
    metric or none, and no table of their own.

Why it breaks
    The host has one default route at a time, or two, and the kernel uses the first: which that is
    depends on the order in which devices come up. Whatever should leave by the other device,
    answers to its clients included, leaves by the wrong one.

How to confirm
    ip route show default; ip route get 1.1.1.1

How to fix
    Give a gateway to one device only. For the other networks, add routes, or give the other device
    its own table, with policy rules for answers from its address.

References
    netplan(5), routes; interfaces(5), gateway; systemd.network(5), RouteMetric=; nmcli,
    ipv4.never-default; ip-route(8)
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.said import find_said
from podpath.checks.told import list_failing
from podpath.checks.wanted import WantedDevice, wanted_devices
from podpath.net.messages import Message, MessageKind
from podpath.net.provenance import Span, list_spans
from podpath.node.case import Case

CATEGORIES = (Category.WRONG_ROUTE, Category.NETWORK_MANAGER, Category.ASYMMETRIC_PATH)
NAME = "gateways-compete"
POSSIBLE = 0.6
ASK = FollowUp(
    "which default route the host has, and whether what fails has to leave through the other "
    "device",
    "ip route show default; ip route get ADDRESS; ip rule",
    "it leaves through the wrong device: remove the gateway from that device's configuration",
)


def check(case: Case) -> Iterator[Finding]:
    """Report the first two devices whose gateways compete, where anything fails, and what netplan
    says of it.
    """
    if not any(True for _ in list_failing(case)) and not case.unplaced:
        return
    refused = find_said(case, MessageKind.ROUTES_CONFLICT)
    for one, other in combinations(wanted_devices(case), 2):
        if _compete(one, other):
            said = [message for message in refused if _is_of(message, one, other)]
            spans = (*list_spans(said[:1]), *_spans(one), *_spans(other))
            yield _report(one.device, other.device, spans, sure=bool(said))
            return
    if refused:
        values = refused[0].values
        names = values.get("device", "one device"), values.get("other", "another")
        yield _report(*names, tuple(list_spans(refused[:1])), sure=True)


def _is_of(message: Message, one: WantedDevice, other: WantedDevice) -> bool:
    """Tell whether netplan says it of these two devices."""
    return set(message.values.values()) == {one.device, other.device}


def _compete(one: WantedDevice, other: WantedDevice) -> bool:
    """Tell whether two devices have gateways of one family and rank; a sight of the same file may
    stand twice in the evidence.
    """
    lone = not all(device.gateways and device.default for device in (one, other))
    if lone or one.device == other.device:
        return False
    apart = one.gateways[0].value != other.gateways[0].value
    family = ":" in one.gateways[0].value, ":" in other.gateways[0].value
    return apart and family[0] == family[1] and one.metric == other.metric


def _spans(wanted: WantedDevice) -> tuple[Span, ...]:
    return tuple(setting.span for setting in wanted.gateways[:1])


def _report(one: str, other: str, spans: tuple[Span, ...], *, sure: bool) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"Both {one} and {other} are given a default gateway, with the same metric.",
        evidence=spans,
        reasoning=("Of two default routes with the same metric, the kernel uses the first.",),
        breaks=("what has to leave through the other device, answers to its clients included",),
        prevention="Configure a gateway on one device only, or tables and rules for the others.",
        certainty=1.0 if sure else POSSIBLE,
        asks=() if sure else (ASK,),
    )
