"""hairpin: a pod that calls its own service does not get its packets back.

What it is
    A connection to a service is sent to the same pod that opened it. The packet has to leave
    through the port it came in on. Or a container asks for an address of the host that DNAT leads
    to another container of its own network, and the rule that translates sources leaves that
    network out.

Why it breaks
    A bridge does not send a frame back out of its port unless the port is in hairpin mode or the
    bridge is promiscuous. And the source must be translated, too: otherwise the pod gets a packet
    from its own address, which it drops as a martian. The other container answers the first one
    directly, from an address that was never asked.

How to confirm
    bridge -d link show | grep -o 'hairpin [a-z]*'; ip -d link show BRIDGE | grep promiscuity
    iptables -t nat -nvL KUBE-POSTROUTING

How to fix
    ip link set VETH type bridge_slave hairpin on. To make it permanent: hairpinMode: true in the
    bridge plugin's configuration (flannel: delegate.hairpinMode), kubelet's old --hairpin-mode.

References
    should_deliver (net/bridge/br_forward.c); kubernetes, "Debug Services": a pod fails to reach
    itself
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.coverage import chains_in, list_paths, roots
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.firewall import port_of, tables_named
from podpath.checks.told import WORKLOADS, list_lost
from podpath.checks.topology import dnat_destinations
from podpath.net.addresses import Address
from podpath.net.complaints import Complaint
from podpath.node.case import Case
from podpath.node.netfilter import Rule, Table
from podpath.xtables.legality import SOURCE_NAT

CATEGORIES = (Category.HAIRPIN, Category.MASQUERADE_MISSING)
NAME = "hairpin"
LIKELY = 0.8
"""With br_netfilter, the answer of a neighbor on the bridge is translated back after all."""


def check(case: Case) -> Iterator[Finding]:
    """Report a DNAT rule to a container whose network no rule translates toward itself, where a
    container gets no answer from the address of the rule; else it is seen by walks.
    """
    for one in list_lost(case):
        asked = [address for address in one.addresses if address not in one.sources]
        if one.source not in WORKLOADS or len(asked) != 1:
            continue
        for table in tables_named(case.node.host, "nat"):
            for rule, destination, _ in dnat_destinations(table):
                kept = _find_kept(table, destination)
                if kept is not None and _is_asked(rule, asked[0], one):
                    yield _report(rule, kept, destination, one)
                    return


def _is_asked(rule: Rule, asked: Address, complaint: Complaint) -> bool:
    """Tell whether a rule is for the one address and port that a sentence names."""
    single = rule.dst is not None and rule.dst.prefix.length == 32 and not rule.dst.negated
    spelled = [str(port) for port in complaint.ports]
    port = not spelled or port_of(rule) in spelled
    return single and port and rule.dst is not None and rule.dst.prefix.covers(asked)


def _find_kept(table: Table, destination: Address) -> Rule | None:
    """Return the rule that translates what a destination's own network sends, but for what it sends
    to itself; None where another one may translate that.
    """
    chains = chains_in(table)
    base = [chain for chain in roots(chains) if chain.name == "POSTROUTING"]
    paths = [path for chain in base for path in list_paths(chains, chain)]
    rules = [path.rule for path in paths if _translates(path.rule)]
    own = [rule for rule in rules if rule.src is None or rule.src.prefix.covers(destination)]
    return own[0] if own and all(_leaves_out(rule, destination) for rule in own) else None


def _translates(rule: Rule) -> bool:
    return rule.target is not None and rule.target.name in SOURCE_NAT


def _leaves_out(rule: Rule, destination: Address) -> bool:
    """Tell whether a rule takes a network's own sources and not what goes to it."""
    whole = rule.src is not None and rule.dst is not None and rule.dst.negated
    return whole and rule.dst is not None and rule.dst.prefix.covers(destination)


def _report(rule: Rule, kept: Rule, destination: Address, complaint: Complaint) -> Finding:
    network = str(kept.src.prefix) if kept.src is not None else "its network"
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"{destination} answers who asks from {network} directly: no rule translates what goes "
            "from that network to itself."
        ),
        evidence=(rule.span, kept.span, complaint.span),
        reasoning=("The answer comes from another address than the one that was asked.",),
        breaks=(f"connections from {network} to the address that is led to {destination}",),
        prevention="Let names lead to the container's own address inside the network.",
        certainty=LIKELY,
        asks=(
            FollowUp(
                f"from which address the answer of {destination} reaches the client",
                f"tcpdump -ni any host {destination}; sysctl net.bridge.bridge-nf-call-iptables",
                f"from {destination} itself: masquerade {network} to {destination}, too",
            ),
        ),
        marks=(str(destination),),
    )
