"""missing-masquerade: packets leave the node with a source address that replies cannot come back
to.

What it is
    No rule translates the source of packets that pods send outside the cluster, so they leave with
    an address that nobody outside can reply to. Or kube-proxy marks a connection to a service for
    masquerading (KUBE-MARK-MASQ), sends it to a pod on another node, and no rule in POSTROUTING
    masquerades it: something flushed KUBE-POSTROUTING, or kube-proxy is stopped.

Why it breaks
    The packets arrive, but the replies go nowhere (or to another node's pod with the same address).
    Connections to the outside time out, while pods reach each other. A packet that conntrack marks
    INVALID or UNTRACKED is not translated either, whatever the rules say. If the network routes the
    pods' range (BGP, cloud routes), nothing needs to be translated, and this is not a fault. A
    client outside the cluster gets the service's answer straight from the pod's node, not through
    the node that it asked and that would have translated the answer back, so it resets the
    connection.

How to confirm
    iptables -t nat -nvL POSTROUTING
    tcpdump -ni UPLINK net POD_CIDR and not dst net CLUSTER     # private sources on the wire

How to fix
    iptables -t nat -A POSTROUTING -s POD_CIDR ! -d POD_CIDR -j MASQUERADE, or turn on the plugin's
    own option: ipMasq (bridge, ptp), --ip-masq (flannel), natOutgoing (Calico),
    enable-bpf-masquerade or enable-ipv4-masquerade (Cilium). If kube-proxy's chain is empty,
    restart kube-proxy.

References
    nf_nat_masquerade_ipv4 (net/netfilter/nf_nat_masquerade.c); the ip-masq-agent of Kubernetes
"""

from __future__ import annotations

from itertools import dropwhile, takewhile
from typing import NamedTuple

from podpath.checks.category import Category
from podpath.datapath.reasons.translation import DestinationRewritten, SourceRewritten
from podpath.datapath.tracing.trace import Branch, Delivered, Step, Trace
from podpath.datapath.vocabulary import ConversationFailure, Hook
from podpath.net.provenance import list_spans
from podpath.node.netfilter import Rule
from podpath.node.nftables import NftRule
from podpath.node.node import NetnsRole, Node

CATEGORIES = (Category.MASQUERADE_MISSING,)
NAME = "missing-masquerade"
"""Seen by walks alone: there is nothing to look for without a packet."""
MARKING = "KUBE-MARK-MASQ"
MASQUERADING = "KUBE-POSTROUTING"
"""The chains in which kube-proxy marks what is to be masqueraded, and does it."""
_PAST = frozenset({ConversationFailure.UNTRANSLATED, ConversationFailure.STRAY})
"""How a connection fails whose answers go past the node that translated it."""


class MarkedConnection(NamedTuple):
    """A connection that rules mark for masquerading, and none masquerades."""

    step: Step
    """Where its destination was rewritten, with the lines of the marking and of POSTROUTING."""
    mark: str
    """With its mask, as a rule matches it."""


def find_marked(node: Node, branch: Branch) -> MarkedConnection | None:
    """Return the connection that a host sent to a pod of another node with the client's own
    address, against its own mark; None where that is not why the answer is not translated back.
    """
    if branch.kind not in _PAST:
        return None
    first = branch.traces[0]
    sent = next((step for step in first.steps if _is_sent_by_host(node, step)), None)
    if sent is None or not _arrives_elsewhere(node, first, sent.netns):
        return None
    hits = [hit for hit in first.matched if hit.netns == sent.netns]
    later = list(dropwhile(lambda hit: not _marks(hit.rule), hits))
    if not later or _is_source_rewritten(first, sent):
        return None
    after = dropwhile(lambda hit: hit.hook != Hook.POSTROUTING, later)
    passed = [hit.rule for hit in takewhile(lambda hit: hit.hook == Hook.POSTROUTING, after)]
    quoted = [rule for rule in passed if _leads_to_masquerading(rule)] or passed[-1:]
    marking = later[0].rule
    spans = tuple(dict.fromkeys((*list_spans((*quoted, marking)), *sent.spans)))
    return MarkedConnection(sent._replace(spans=spans), _mark_of(marking))


def _is_sent_by_host(node: Node, step: Step) -> bool:
    return (
        isinstance(step.reason, DestinationRewritten)
        and node.namespaces[step.netns].role == NetnsRole.HOST
    )


def _arrives_elsewhere(node: Node, trace: Trace, netns: str) -> bool:
    """Tell whether a packet ends on another node than that of a namespace."""
    outcome = trace.outcome
    if not isinstance(outcome, Delivered):
        return False
    return node.namespaces[outcome.netns].node != node.namespaces[netns].node


def _is_source_rewritten(trace: Trace, sent: Step) -> bool:
    """Tell whether the packet itself is masqueraded, not one of a tunnel around it."""
    return any(
        isinstance(step.reason, SourceRewritten) and step.before.src == sent.after.src
        for step in trace.steps
    )


def _leads_to_masquerading(rule: Rule | NftRule) -> bool:
    target = rule.target if isinstance(rule, Rule) else None
    return target is not None and target.name == MASQUERADING


def _marks(rule: Rule | NftRule) -> bool:
    return isinstance(rule, Rule) and rule.chain == MARKING and bool(_mark_of(rule))


def _mark_of(rule: Rule | NftRule) -> str:
    """Return the mark that a rule of iptables sets, with its mask; empty where it sets none."""
    target = rule.target if isinstance(rule, Rule) else None
    for option in target.options if target is not None and target.name == "MARK" else ():
        if option.name == "set-xmark":
            return option.values[0]
    return ""
