"""bridge-calls-disabled: the runtime says that bridged packets bypass iptables.

What it is
    `WARNING: bridge-nf-call-iptables is disabled` of docker info, kubeadm's preflight check, or
    /proc/sys/net/bridge that does not exist: br_netfilter is not loaded, or its switch is off.

Why it breaks
    A reply between two containers or pods on one bridge bypasses NAT, so it comes from the pod's
    own address and the client refuses it. Routed packets are not affected. Docker 27.3 and later no
    longer load the module by themselves.

How to confirm
    lsmod | grep br_netfilter; sysctl net.bridge.bridge-nf-call-iptables

How to fix
    modprobe br_netfilter; sysctl -w net.bridge.bridge-nf-call-iptables=1; keep both in
    /etc/modules-load.d and /etc/sysctl.d.

References
    Documentation/networking/ip-sysctl.rst, bridge-nf-call-iptables; Kubernetes, Container Runtimes
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.ground import Ground
from podpath.checks.said import Meaning, find_said, tell
from podpath.checks.told import (
    LOSSES,
    UNBRIDGED,
    WORKLOADS,
    find_told,
    is_bridged,
    is_by_service,
    list_failing,
)
from podpath.checks.topology import BRIDGE_CALLS, known_sysctl
from podpath.net.complaints import Circumstance, Complaint, EndKind
from podpath.net.messages import Message, MessageKind
from podpath.net.provenance import Span, list_spans
from podpath.net.technologies import Technology
from podpath.node.case import Case

CATEGORIES = (Category.BRIDGE_NETFILTER, Category.KERNEL_MODULE, Category.HAIRPIN)
NAME = "bridge-calls-disabled"
ASK = FollowUp(
    "whether the two ends are on one bridge, and whether br_netfilter is loaded",
    f"lsmod | grep br_netfilter; sysctl {BRIDGE_CALLS}; ip -br link show type veth",
    "both on one bridge and the switch off: the reply bypasses NAT",
)
MEANING = Meaning(
    claim="Bridged packets bypass iptables (br_netfilter is not loaded, or its switch is off), so "
    "NAT between two containers on one bridge is not undone.",
    breaks="connections through a service's or published address between two containers on one "
    "bridge",
    cure="load br_netfilter and turn bridge-nf-call-iptables on",
    commands=("modprobe br_netfilter", f"sysctl -w {BRIDGE_CALLS}=1"),
    certainty=0.5,
    ask=ASK,
)


def check(case: Case) -> Iterator[Finding]:
    """Report that it was said, where no sysctl says otherwise, or that it is off while what it
    breaks is said to fail.
    """
    said = _list_said(case)
    switch = known_sysctl(case.node.host, BRIDGE_CALLS)
    if said and (switch is None or switch.value != "1"):
        back = next((one for one in list_failing(case) if _comes_back(case, one)), None)
        found = tell(NAME, said, MEANING)
        untranslated = find_said(case, MessageKind.ANSWER_FROM_ELSEWHERE)
        if back is not None:
            yield _settle(found, back.span, Ground.SYMPTOM)
        elif untranslated and not case.mentions & UNBRIDGED:
            yield _settle(found, untranslated[0].span, Ground.SAME_MECHANISM)
        else:
            yield found
        return
    if switch is None or switch.value != "0" or switch.span is None or case.mentions & UNBRIDGED:
        return
    failing = list(list_failing(case))
    cut = [
        complaint
        for complaint in failing
        if is_bridged(complaint) or _is_published(case, complaint) or _is_by_host(case, complaint)
    ]
    if cut or any(is_by_service(complaint) for complaint in failing):
        yield Finding(
            check=NAME,
            severity=Severity.FAULT,
            claim=MEANING.claim,
            evidence=(switch.span, *list_spans(cut[:1])),
            reasoning=(
                (
                    "What the bridge switches itself meets no rule while the switch is 0, so its "
                    "reply is not translated back."
                ),
            ),
            breaks=(MEANING.breaks,),
            repairs=(Repair(title=MEANING.cure, commands=MEANING.commands),),
            prevention="Keep br_netfilter in /etc/modules-load.d and the switch in /etc/sysctl.d.",
            certainty=1.0 if cut and _has_bridge(case) else 0.5,
            asks=() if cut and _has_bridge(case) else (ASK,),
            marks=("bridge-nf-call-iptables", "0"),
        )


def _list_said(case: Case) -> tuple[Message, ...]:
    """Return what was said of the switches: of that of IPv6 alone, where people speak of IPv6."""
    said = find_said(case, MessageKind.BRIDGE_CALLS_DISABLED)
    families = {address.family for one in list_failing(case) for address in one.addresses}
    spoken = any(Technology.IPV6 in one.mentions for one in list_failing(case))
    of_six = spoken or 6 in families
    return tuple(one for one in said if of_six or "call-ip6tables" not in one.span.text)


def _is_published(case: Case, complaint: Complaint) -> bool:
    """Tell whether workloads of one bridge do not reach each other by a port that the host
    publishes.
    """
    told = (Circumstance.PUBLISHES, Circumstance.ON_ONE_BRIDGE)
    joined = all(find_told(case, one) is not None for one in told)
    by_address = complaint.target is None and bool(complaint.addresses)
    of_host = complaint.target in {EndKind.NODE, EndKind.NODE_PORT} or by_address
    ends = complaint.source in WORKLOADS and of_host
    return joined and ends and complaint.failure in {None, *LOSSES}


def _is_by_host(case: Case, complaint: Complaint) -> bool:
    """Tell whether Docker's containers do not reach each other by a port that their host publishes,
    while who comes from elsewhere does.
    """
    published = find_told(case, Circumstance.PUBLISHES) is not None
    inside = WORKLOADS | {EndKind.NODE, EndKind.NODE_PORT}
    ends = complaint.source in WORKLOADS and complaint.target in inside
    outside = any(one.works and one.source is EndKind.OUTSIDE for one in case.complaints)
    docker = Technology.DOCKER in case.mentions and complaint.same_node is not False
    return published and ends and outside and docker and complaint.failure in {None, *LOSSES}


def _comes_back(case: Case, complaint: Complaint) -> bool:
    """Tell whether a workload does not reach a port that its own host publishes for another one,
    while who comes from elsewhere does.
    """
    published = find_told(case, Circumstance.PUBLISHES) is not None
    ends = complaint.source in WORKLOADS and complaint.target not in WORKLOADS
    near = complaint.same_node is True and complaint.failure in {None, *LOSSES}
    outside = any(one.works and one.source is EndKind.OUTSIDE for one in case.complaints)
    return published and ends and near and outside


def _settle(found: Finding, span: Span, ground: Ground) -> Finding:
    """Return the finding, certain by what people say of both ways to the published port, or by an
    answer that came back untranslated.
    """
    return replace(
        found,
        certainty=1.0,
        asks=(),
        evidence=(*found.evidence, span),
        reasoning=(*found.reasoning, ground),
    )


def _has_bridge(case: Case) -> bool:
    """Tell whether the ticket shows a bridge, or speaks of a network that is one."""
    shown = any(link.kind == "bridge" for link in case.node.host.links.items)
    return shown or bool(case.mentions & {Technology.BRIDGE, Technology.FLANNEL, Technology.DOCKER})
