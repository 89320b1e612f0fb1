"""host-prohibits: a host that is up answers a connection with `No route to host`: its firewall
rejects it.

What it is
    A program gets EHOSTUNREACH (`No route to host`, `host unreachable`) from an address that
    answers a ping or another port at the same time, or a container does from the address of its own
    bridge, which is the host itself. It is certain if both hold, or if the ticket mentions
    firewalld and the address is the bridge's: a port that is translated to an address that is gone
    gives the same answer.

Why it breaks
    A host that is down or a missing route stops everything. An address that answers one connection
    and reports itself unreachable to another has a rule for that: REJECT with icmp-host-prohibited
    or icmp-admin-prohibited, the last rule of firewalld's zones and of many distributions' INPUT
    and FORWARD. ping and traceroute show it as `!X` or `Host Prohibited`.

How to confirm
    tcpdump -ni any 'icmp[0] = 3'               # host ADDRESS unreachable - admin prohibited
    firewall-cmd --list-all-zones; iptables -S | grep -n REJECT; nft list ruleset | grep reject

How to fix
    Open the port in the firewall's own configuration, or put the bridge into a zone that allows it:
    firewall-cmd --permanent --zone=trusted --add-interface=BRIDGE; firewall-cmd --reload.

References
    icmp_err_convert (net/ipv4/icmp.c v6.12): codes 9, 10 and 13; firewalld.zone(5)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.firewall import tables_named
from podpath.checks.objects import FailedConnection, failures
from podpath.checks.stated import is_inner_bridge
from podpath.checks.told import WORKLOADS, list_failing
from podpath.checks.topology import dnat_destinations
from podpath.net.addresses import Address, Prefix
from podpath.net.failures import Ending, FailureKind
from podpath.net.provenance import Span
from podpath.net.technologies import Technology
from podpath.node.case import Case
from podpath.node.node import HOST

CATEGORIES = (Category.HOST_FIREWALL, Category.RULE_ORDER)
NAME = "host-prohibits"
_FIREWALLS = frozenset({Technology.FIREWALLD, Technology.UFW})
_ENGINES = tuple(
    Prefix.parse(text) for text in ("10.88.0.0/16", "10.89.0.0/16", "172.17.0.0/16", "10.85.0.0/16")
)
"""What engines give to containers where nobody says otherwise."""
_BRIDGED = frozenset({Technology.PODMAN, Technology.DOCKER, Technology.LXC, Technology.KVM})


def check(case: Case) -> Iterator[Finding]:
    """Report the first address that answers and prohibits."""
    for refused in failures(case):
        if refused.result is not FailureKind.NO_ROUTE_TO_HOST or not refused.dport:
            continue
        answered = _find_answered(case, refused)
        bridge = _is_own_bridge(case, refused.dst)
        if answered is not None or bridge:
            spoken = answered is not None or bool(case.mentions & _FIREWALLS)
            sure = bridge and spoken and not _is_translated(case, refused)
            yield _report(refused, answered, sure=sure)
            return


def _find_answered(case: Case, refused: FailedConnection) -> Span | None:
    """Return what shows that the same address answers something else."""
    for other in case.attempts:
        same = other.probe.dst == refused.dst and other.who != "log"
        differs = other.probe.dport != refused.dport
        if same and differs and other.result is Ending.OK and not other.good:
            return other.span
    return None


def _is_translated(case: Case, refused: FailedConnection) -> bool:
    """Tell whether a rule translates that port: whoever it leads to may be gone."""
    port = str(refused.dport)
    for table in tables_named(case.node.host, "nat"):
        for rule, *_ in dnat_destinations(table):
            if port in rule.span.text.split():
                return True
    return False


def _is_own_bridge(case: Case, address: Address) -> bool:
    """Tell whether a workload's address on the other side is its own host's, on the bridge."""
    namespace = case.node.namespaces[HOST]
    held = {item.address for item in namespace.addresses.items if is_inner_bridge(item.link)}
    if address in held:
        return True
    gateway = address.family == 4 and address.value & 0xFF == 1
    ranged = any(one.covers(address) for one in _ENGINES)
    workload = any({one.source, one.target} & WORKLOADS for one in list_failing(case))
    return gateway and ranged and workload and bool(case.mentions & _BRIDGED)


def _report(refused: FailedConnection, answered: Span | None, *, sure: bool) -> Finding:
    where = f"{refused.dst} port {refused.dport}"
    ask = FollowUp(
        f"whether a rule rejects packets to {where}",
        "tcpdump -ni any 'icmp[0] = 3'; firewall-cmd --list-all; iptables -S | grep REJECT",
        "`admin prohibited`, or a REJECT with no matching ACCEPT before it: the firewall does it",
    )
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"A firewall rejects packets to {where}: the host is there and answers `prohibited`.",
        evidence=tuple(span for span in (refused.span, answered) if span is not None),
        reasoning=(
            (
                "`No route to host` from an address that is reachable is ICMP host prohibited: a "
                "REJECT rule."
            ),
        ),
        breaks=(f"connections to {where}",),
        prevention="Open ports in the firewall's own configuration when you set up a service.",
        certainty=1.0 if sure else 0.6,
        asks=() if sure else (ask,),
        marks=(str(refused.dst),),
    )
