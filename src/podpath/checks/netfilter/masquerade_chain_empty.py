"""masquerade-chain-empty: the chain in which a plugin masquerades has no rule that does so.

What it is
    flannel, the bridge plugin, Weave and the ip-masq-agent each masquerade traffic from pods to
    outside the cluster in a chain of their own. The chain and the jump to it exist, but no rule in
    it masquerades, and no rule in another chain does so for pods.

Why it breaks
    Packets of pods leave the node with the pod's own address. Unless the network routes that range,
    nobody outside answers.

How to confirm
    iptables -t nat -S CHAIN
    tcpdump -ni UPLINK net POD_CIDR and not dst net CLUSTER     # private sources on the wire

How to fix
    Restart the plugin's agent, which rewrites its rules, and find out what flushed them (a restart
    of a firewall, or iptables-restore with an old file).

References
    flannel pkg/trafficmngr/iptables; the plugin library's pkg/ip/ipmasq; ip-masq-agent
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.topology import find_chain, find_tables
from podpath.net.provenance import list_spans
from podpath.node.case import Case
from podpath.node.netfilter import Chain, Rule, Table
from podpath.xtables.legality import SOURCE_NAT

CATEGORIES = (Category.MASQUERADE_MISSING,)
NAME = "masquerade-chain-empty"
_OWN = re.compile(r"FLANNEL-POSTRTG|WEAVE|IP-MASQ(?:-AGENT)?|CNI-[0-9a-f]{24}")


def check(case: Case) -> Iterator[Finding]:
    """Report each such chain that POSTROUTING jumps to and that translates nothing, where nothing
    else does.
    """
    if case.node.cilium is not None:
        return
    for table in find_tables(case.node.host, "nat"):
        base = find_chain(table, "POSTROUTING")
        for jump in base.rules if base is not None else ():
            chain = find_chain(table, jump.target.name) if jump.target is not None else None
            if (
                chain is not None
                and _OWN.fullmatch(chain.name)
                and _translates_nothing(table, chain)
            ):
                yield _report(chain, jump)


def _translates_nothing(table: Table, chain: Chain) -> bool:
    """Tell whether neither the chain nor a rule of POSTROUTING itself, or of another chain than
    kube-proxy's, translates.
    """
    chains = [found for name in table.chains if (found := find_chain(table, name)) is not None]
    own = [
        rule
        for rule in chain.rules
        if rule.target is None or rule.target.name in {*SOURCE_NAT, *table.chains}
    ]
    others = [
        rule
        for other in chains
        if not other.name.startswith("KUBE-")
        for rule in other.rules
        if rule.target is not None and rule.target.name in SOURCE_NAT
    ]
    shown = chain.complete and all(
        other.complete for other in chains if not other.name.startswith("KUBE-")
    )
    unread = any(rule.unread for rule in chain.rules)
    return shown and not own and not others and not unread


def _report(chain: Chain, jump: Rule) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"No rule masquerades traffic that leaves the cluster from pods: {chain.name} of "
            "table nat translates nothing."
        ),
        evidence=list_spans((chain, jump)),
        reasoning=(
            (
                f"POSTROUTING jumps to {chain.name}, whose rules should translate the pods' "
                "addresses, but it has none."
            ),
        ),
        breaks=(
            "connections from pods to the outside world, unless the network routes the pods' range",
        ),
        prevention="Let nothing but the plugin write the nat table; alert if its chain is empty.",
        certainty=0.9,
        marks=(chain.name,),
    )
