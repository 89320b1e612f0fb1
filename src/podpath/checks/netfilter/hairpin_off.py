"""hairpin-off: a pod or container calls its own service, and the ports of its bridge do not send
frames back.

What it is
    The `hairpin_mode` files of a bridge's ports contain 0, and the ticket says that a workload
    cannot reach itself through its own service or published address; or that it can while a capture
    is running on the bridge, which the kernel logs as promiscuous mode. Or somebody typed a rule
    that maps an address to the workload.

Why it breaks
    The packet leaves the pod, is translated to the pod's own address, and has to go back out of the
    port that it came in on. A bridge does not send a frame back out of its port unless hairpin mode
    is on there, or the bridge itself is promiscuous.

How to confirm
    cat /sys/class/net/BRIDGE/brif/*/hairpin_mode; ip -d link show BRIDGE | grep promiscuity
    bridge -d link show | grep -o 'hairpin [a-z]*'

How to fix
    ip link set VETH type bridge_slave hairpin on. To make it permanent: hairpinMode: true in the
    bridge plugin's configuration, kubelet's old --hairpin-mode=hairpin-veth, Docker's
    --userland-proxy.

References
    should_deliver (net/bridge/br_forward.c v6.12); kubernetes, "Debug Services": a pod fails to
    reach itself
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.said import find_said, get_value
from podpath.checks.stated import is_inner_bridge, statements_of
from podpath.checks.told import LOSSES, SERVICES, WORKLOADS, find_told, list_failing
from podpath.net.complaints import Circumstance, Complaint, EndKind
from podpath.net.failures import FailureKind
from podpath.net.firewall import RuleEdit, TypedRule
from podpath.net.messages import MessageKind
from podpath.net.provenance import Span
from podpath.net.statements import PortSwitch
from podpath.node.case import Case
from podpath.xtables.legality import SOURCE_NAT

CATEGORIES = (Category.HAIRPIN, Category.BRIDGE_CONFIGURATION)
NAME = "hairpin-off"
MAPPED = 0.8
"""The certainty where a rule is stated and no output shows the bridge's ports."""
ASK = FollowUp(
    "whether the ports of the workload's bridge are in hairpin mode",
    "bridge -d link show | grep -o 'hairpin [a-z]*'; cat /sys/class/net/BRIDGE/brif/*/hairpin_mode",
    "off, or 0: its packets to itself end at the bridge; on: look at source NAT",
)
_NO_ANSWER = frozenset({FailureKind.TIMEOUT, FailureKind.HANGS, FailureKind.UNREACHABLE, None})


def check(case: Case) -> Iterator[Finding]:
    """Report bridges whose listed ports all have hairpin mode off, where a workload calls
    itself.
    """
    own = next((one for one in list_failing(case) if _is_to_itself(one)), None)
    if own is None:
        return
    yield from _find_promiscuous(case, own)
    ports: dict[str, list[tuple[bool, Span]]] = {}
    for switch, stated in statements_of(case, PortSwitch):
        if switch.switch == "hairpin_mode":
            ports.setdefault(switch.bridge, []).append((switch.on, stated.span))
    for bridge, found in ports.items():
        promiscuous = _is_promiscuous(case, bridge)
        if not any(on for on, _ in found) and promiscuous is not True:
            whose = bool(bridge) or len(found) > 1
            sure = promiscuous is False or (whose and _is_reached_by_others(case))
            yield _report(bridge, found[0][1], own, sure=sure)
    if not ports:
        yield from _find_mapped(case, own)


def _find_mapped(case: Case, own: Complaint) -> Iterator[Finding]:
    """Report a rule that somebody wrote to lead an address to a workload, which leads the
    workload's own packets back to it.
    """
    typed = list(statements_of(case, TypedRule))
    hidden = any(rule.target in SOURCE_NAT for rule, _ in typed)
    others = any(one.works and one.source in WORKLOADS for one in case.complaints)
    for rule, stated in typed:
        written = rule.action in {RuleEdit.APPEND, RuleEdit.INSERT}
        if written and (rule.chain, rule.target) == ("PREROUTING", "DNAT"):
            yield Finding(
                check=NAME,
                severity=Severity.FAULT,
                claim=(
                    "What a workload sends to its own mapped address is sent back to it, and a "
                    "bridge does not send a frame back out of the port it came in on unless "
                    "hairpin mode is on."
                ),
                evidence=(stated.span, own.span),
                reasoning=("A bridge sends no frame back by the port that it came from.",),
                breaks=("connections of a workload to its own mapped address",),
                prevention=(
                    "Set hairpin mode where ports are created: in the plugin's configuration."
                ),
                certainty=MAPPED,
                asks=(ASK,),
                proves=LOSSES if hidden and others else frozenset(),
                marks=("DNAT",),
            )
            return


def _find_promiscuous(case: Case, own: Complaint) -> Iterator[Finding]:
    """Report a workload that reaches itself only while a capture makes its bridge promiscuous."""
    works = find_told(case, Circumstance.DURING_CAPTURE)
    for said in find_said(case, MessageKind.DEVICE_PROMISCUOUS):
        bridge = get_value((said,), "device", "named").rstrip(":")
        if works is not None and is_inner_bridge(bridge):
            yield _report(bridge, said.span, own, sure=True)
            return


def _is_reached_by_others(case: Case) -> bool:
    """Tell whether people say that the same service works for others: then it is reached, and its
    own pod's packet alone has to go back by the port that it came from.
    """
    served = SERVICES | {EndKind.NODE_PORT, EndKind.LOAD_BALANCER}
    works = [one for one in case.complaints if one.works]
    served_others = any({one.source, one.target} & served for one in works)
    return served_others or any(
        one.source in WORKLOADS and Circumstance.TO_ITSELF in one.circumstances for one in works
    )


def _is_to_itself(complaint: Complaint) -> bool:
    workload = bool({complaint.source, complaint.target} & WORKLOADS)
    itself = Circumstance.TO_ITSELF in complaint.circumstances
    return workload and itself and complaint.failure in _NO_ANSWER


def _is_promiscuous(case: Case, bridge: str) -> bool | None:
    """Tell whether a listing shows the bridge to take every frame for its own; None where none
    does.
    """
    links = [link for link in case.node.host.links.items if link.span is not None]
    if bridge:
        return next((link.promisc for link in links if link.name == bridge), None)
    shown = [link.promisc for link in links if link.kind == "bridge" or is_inner_bridge(link.name)]
    return True if True in shown else None


def _report(bridge: str, span: Span, own: Complaint, *, sure: bool) -> Finding:
    name = bridge or "the pods' bridge"
    word = bridge or "BRIDGE"
    ask = FollowUp(
        f"whether {name} is promiscuous",
        f"ip -d link show {word}; cat /sys/class/net/{word}/brif/*/hairpin_mode",
        "promiscuity 0: what is missing is hairpin mode",
    )
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"Hairpin mode is off on the ports of {name}: no pod on it can reach itself "
            "through a service."
        ),
        evidence=(span, own.span),
        reasoning=("A bridge sends no frame back by the port that it came from.",),
        breaks=("connections of a pod to its own service",),
        prevention="Set hairpin mode where ports are created: in the plugin's configuration.",
        certainty=1.0 if sure else 0.9,
        asks=() if sure else (ask,),
        marks=("0",),
    )
