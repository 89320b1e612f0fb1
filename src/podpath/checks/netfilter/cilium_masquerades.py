"""cilium-masquerades: Cilium replaces the source of packets that pods send outside its native
routing range with the node's address.

What it is
    Cilium's configuration masquerades (`enable-ipv4-masquerade`, in older versions `masquerade`),
    and the ticket says that servers see a source address other than the pod's.

Why it breaks
    A server or firewall that admits the pods' range refuses the node. Only destinations within
    ipv4-native-routing-cidr keep the pod's address; routes to pods from outside, through BGP for
    instance, do not change that. After an upgrade, Cilium may obey an option that it ignored
    before.

How to confirm
    cilium status | grep -i masquerading; cilium config view | grep -e masquerade -e native-routing
    tcpdump -nni UPLINK host SERVER            # whose address is the source?

How to fix
    Name the destinations in ipv4-native-routing-cidr or in the ip-masq-agent's list, or turn
    enable-ipv4-masquerade off if every destination has a route to the pods.

References
    Cilium, Masquerading
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.objects import read_prefix
from podpath.checks.told import list_failing, list_failing_addresses
from podpath.net.failures import FailureKind
from podpath.net.provenance import Known, Span
from podpath.node.case import Case

CATEGORIES = (Category.MASQUERADE_UNWANTED, Category.BPF)
NAME = "cilium-masquerades"
OPTIONS = ("enable-ipv4-masquerade", "masquerade")
RANGES = ("ipv4-native-routing-cidr", "native-routing-cidr")
CERTAINTY = 0.9
ASK = FollowUp(
    "which source address the packets have when they leave the node, and which range is exempt",
    "cilium status | grep -i masquerading; tcpdump -nni UPLINK host SERVER; "
    "cilium config view | grep -e masquerade -e native-routing",
    "the node's, and the server is not in the range: Cilium masquerades it",
)


def check(case: Case) -> Iterator[Finding]:
    """Report that Cilium masquerades where people say that servers see another source."""
    options = case.node.cilium.options if case.node.cilium is not None else {}
    facts = {name: fact for name, fact in options.items() if isinstance(fact, Known)}
    said = _find_said(case)
    on = next((name for name in OPTIONS if name in facts and facts[name].value == "true"), None)
    if on is None or said is None:
        return
    ranges = [facts[name] for name in RANGES if name in facts]
    spans = [fact.span for fact in (facts[on], *ranges) if fact.span is not None]
    yield Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"Cilium masquerades ({on}): servers outside its native routing range see the node's "
            "address, not the pod's."
        ),
        evidence=(*spans, said),
        reasoning=("Only packets to the native routing range keep the pod's address.",),
        breaks=("connections to whatever admits only the pods' range",),
        prevention=(
            "Set ipv4-native-routing-cidr to cover all networks that have routes to the pods."
        ),
        certainty=CERTAINTY,
        asks=(ASK,),
        marks=(on,),
        proves=frozenset() if _is_exempt(case, ranges) else frozenset({FailureKind.WRONG_PEER}),
    )


def _is_exempt(case: Case, ranges: Sequence[Known[str]]) -> bool:
    """Tell whether something that fails lies in a range whose destinations see the pod's own
    address, or may, as the range is not read.
    """
    exempt = [read_prefix(fact.value) for fact in ranges]
    return any(
        prefix is None or prefix.covers(address)
        for prefix in exempt
        for address in list_failing_addresses(case)
    )


def _find_said(case: Case) -> Span | None:
    """Return the sentence that says that it fails by another source address than the pod's; that a
    packet has the node's is as it should be elsewhere.
    """
    wrong = (one.span for one in list_failing(case) if one.failure is FailureKind.WRONG_PEER)
    return next(wrong, None)
