"""chain-order: kube-proxy's rule that drops INVALID packets comes before the CNI plugin's rule that
accepts them.

What it is
    In the FORWARD chain of table filter, the jump to KUBE-FORWARD, whose first rule drops what
    conntrack marks INVALID, comes before the jump to the CNI plugin's chain (such as
    CILIUM_FORWARD), which accepts everything from and to pods. Whichever of the two daemons starts
    last inserts its jump first, so restarting kube-proxy reverses the order.

Why it breaks
    If the plugin translates addresses in BPF (Cilium with enable-bpf-masquerade), the reply to a
    pod's SYN is translated and handed to the pod before netfilter sees it. Conntrack knows only the
    SYN, under another tuple or without its reply, so it marks the pod's next packet, the ACK of the
    handshake, INVALID. KUBE-FORWARD drops it. The pod believes that the connection is up and sends
    its request again and again; the server sends its SYN-ACK again.

How to confirm
    iptables -t filter -nvL FORWARD --line-numbers     # the order of the two jumps
    iptables -t filter -nvL KUBE-FORWARD               # the counter of the INVALID rule grows
    conntrack -L | grep SERVER  # SYN_SENT [UNREPLIED] although the pod saw the SYN-ACK

How to fix
    Put the plugin's jump first again:
        iptables -t filter -D FORWARD -j CILIUM_FORWARD ...
        iptables -t filter -I FORWARD 1 -j CILIUM_FORWARD ...
    or restart the plugin's agent, which does the same. To make it permanent: let the plugin prepend
    its rules at every start (Cilium: prepend-iptables-chains), run without kube-proxy (kube-proxy
    replacement), or net.netfilter.nf_conntrack_tcp_be_liberal=1.

References
    nf_conntrack_in, tcp_new and tcp_in_window (net/netfilter/nf_conntrack_core.c,
    nf_conntrack_proto_tcp.c) kubernetes pkg/proxy/iptables/proxier.go (writing of KUBE-FORWARD)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Repair, Severity
from podpath.checks.topology import chain_states, find_tables, option_values
from podpath.net.provenance import Known, Span
from podpath.node.case import Case
from podpath.node.change import DeleteRule, InsertRule
from podpath.node.netfilter import Chain, Rule, Table
from podpath.node.netfilter_text import emit_rule
from podpath.node.node import HOST, Cilium, Node

CATEGORIES = (Category.RULE_ORDER, Category.CONNTRACK_INVALID)
NAME = "chain-order"
BYPASSES = ("enable-bpf-masquerade", "bpf-masquerade", "bpf.masquerade")
"""Options of Cilium by which replies reach a pod past conntrack."""
PREVENTION = (
    "Let the CNI plugin put its jump first at every start, or run without kube-proxy: restarting "
    "kube-proxy alone reverses the order."
)


def check(case: Case) -> Iterator[Finding]:
    """Report a drop of INVALID packets that stands before a plugin's accept, where replies bypass
    conntrack.

    Where outputs disagree about FORWARD, one of them showing that order is enough.
    """
    bypass = find_bypass(case.node)
    if bypass is None:
        return
    for table in find_tables(case.node.host, "filter"):
        inversions = (find_inversion(table, forward) for forward in chain_states(table, "FORWARD"))
        found = next((inversion for inversion in inversions if inversion is not None), None)
        if found is not None:
            yield _report(table, found, bypass)


def find_bypass(node: Node) -> Span | None:
    """Return the line that says that BPF translates replies past conntrack; None where none does,
    or without a line.
    """
    cilium: Cilium | None = node.cilium
    if cilium is None:
        return None
    for key in BYPASSES:
        fact = cilium.options.get(key)
        if isinstance(fact, Known) and fact.value.lower() in ("true", "1", "yes"):
            return fact.span or cilium.span
    return None


def find_inversion(table: Table, forward: Chain) -> tuple[Rule, Rule, Rule] | None:
    """Return (jump to the drop, the drop, the jump to the plugin's accept behind it), where they
    stand in that order.
    """
    dropping: tuple[Rule, Rule] | None = None
    for rule in forward.rules:
        target = (
            next(iter(chain_states(table, rule.target.name)), None)
            if rule.target is not None
            else None
        )
        if target is None:
            continue
        if dropping is None:
            drop = find_invalid_drop(target) if is_unconditional(rule) else None
            dropping = (rule, drop) if drop is not None else None
        elif is_unconditional(rule) and accepts_by_interface(target):
            return (*dropping, rule)
    return None


def find_invalid_drop(chain: Chain) -> Rule | None:
    """Return the chain's rule that drops every packet that conntrack calls INVALID."""
    for rule in chain.rules:
        plain = (
            rule.src is None and rule.dst is None and rule.in_link is None and rule.out_link is None
        )
        if plain and rule.target is not None and rule.target.name == "DROP":
            states = option_values(rule, "conntrack", "ctstate") or option_values(
                rule, "state", "state"
            )
            if "INVALID" in states:
                return rule
    return None


def accepts_by_interface(chain: Chain) -> bool:
    """Tell whether a chain accepts everything from some devices, whatever conntrack says: a
    plugin's chain for its pods.
    """
    return any(_accepts_device(rule) for rule in chain.rules)


def _accepts_device(rule: Rule) -> bool:
    if rule.target is None or rule.target.name != "ACCEPT":
        return False
    if rule.in_link is None or rule.in_link.negated:
        return False
    return all(match.name == "comment" for match in rule.matches)


def is_unconditional(rule: Rule) -> bool:
    """Tell whether every packet takes the rule."""
    selectors = (rule.src, rule.dst, rule.protocol, rule.in_link, rule.out_link, rule.fragment)
    return all(selector is None for selector in selectors) and all(
        match.name == "comment" for match in rule.matches
    )


def move_first(table: Table, rule: Rule) -> Repair:
    """Return the repair that takes a rule out of its chain and puts it in first."""
    moved = rule._replace(position=1)
    return Repair(
        title=(
            f"put the jump to {rule.target.name if rule.target is not None else 'the chain'} first "
            f"in {rule.chain}"
        ),
        commands=(
            f"iptables -t {rule.table} {emit_rule(rule, '-D')}",
            f"iptables -t {rule.table} {emit_rule(rule, '-I', position=1)}",
        ),
        changes=(
            DeleteRule(netns=HOST, family=table.family, flavour=table.flavour, rule=rule),
            InsertRule(netns=HOST, family=table.family, flavour=table.flavour, rule=moved),
        ),
    )


def _report(table: Table, found: tuple[Rule, Rule, Rule], bypass: Span) -> Finding:
    jump, drop, accept = found
    plugin = accept.target.name if accept.target is not None else ""
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"{jump.chain} goes to {drop.chain}, which drops INVALID packets, before {plugin}, "
            "which accepts packets from pods."
        ),
        evidence=(drop.span, jump.span, accept.span, bypass),
        reasoning=(
            (
                "Replies to pods are translated in BPF past conntrack, so conntrack marks what "
                "pods send next, first an ACK, INVALID."
            ),
            (
                f"Rule {drop.position} of {drop.chain} drops those; {plugin} would have accepted "
                "them, but comes later."
            ),
        ),
        breaks=(
            "connections from pods to the outside: the third packet of the handshake is dropped",
        ),
        repairs=(move_first(table, accept),),
        prevention=PREVENTION,
        marks=("INVALID", "DROP", plugin),
    )
