"""port-not-accepted: the host's own rules drop or reject the port that fails, and nothing above
accepts it.

What it is
    INPUT accepts a few ports (often only SSH) and ends with a REJECT or DROP of everything, or has
    the policy DROP; the port that is reported unreachable is not among those accepted.

Why it breaks
    A new connection to the port matches none of the accepting rules and reaches the last one.
    Images of cloud providers come with such rules, whatever the provider's own firewall lets
    through.

How to confirm
    iptables -L INPUT -n -v --line-numbers

How to fix
    Accept the port above the rule: iptables -I INPUT NUMBER -p tcp --dport PORT -j ACCEPT, and add
    it to the configuration that the rules come from (iptables-save, firewalld, ufw).

References
    iptables(8), iptables-extensions(8): REJECT
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum, auto
from typing import NamedTuple

from podpath.checks.asked_ports import (
    HOST_PORTS,
    AskedPort,
    holds_port,
    is_translated,
    list_asked_ports,
)
from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.firewall import chains_named, ends, is_plain, lets_new_in, port_of
from podpath.checks.nft_input import PortWalk, find_refusal, find_refusal_at
from podpath.checks.said import find_said
from podpath.checks.stated import is_inner_bridge
from podpath.checks.told import find_told, list_failing
from podpath.checks.topology import option_values
from podpath.net import nft, protocols
from podpath.net.addresses import Address, read_address
from podpath.net.complaints import Circumstance, Complaint, EndKind
from podpath.net.failures import FailureKind
from podpath.net.messages import MessageKind
from podpath.net.provenance import Known, Span
from podpath.node.case import Case
from podpath.node.netfilter import Chain, Rule, Table
from podpath.node.nftables import NftTable

CATEGORIES = (Category.HOST_FIREWALL, Category.RULE_ORDER)
NAME = "port-not-accepted"
QUOTED = 3
KUBELET = 10250
_INCOMING = nft.Meta("iifname")
POSSIBLE = 0.7
DEEPEST = 16
_OLD = frozenset({"ESTABLISHED", "RELATED", "INVALID", "UNTRACKED"})
_FELT: Mapping[str, frozenset[FailureKind]] = {
    "icmp-host-prohibited": frozenset({FailureKind.NO_ROUTE_TO_HOST, FailureKind.UNREACHABLE}),
    "icmp-admin-prohibited": frozenset({FailureKind.NO_ROUTE_TO_HOST, FailureKind.UNREACHABLE}),
    "icmp-host-unreachable": frozenset({FailureKind.NO_ROUTE_TO_HOST, FailureKind.UNREACHABLE}),
    "icmp-net-unreachable": frozenset({FailureKind.NETWORK_UNREACHABLE, FailureKind.UNREACHABLE}),
    "tcp-reset": frozenset({FailureKind.REFUSED}),
    "icmp-port-unreachable": frozenset({FailureKind.REFUSED, FailureKind.UNREACHABLE}),
}
"""What a client sees of each way to reject."""
NATIVE_ANSWERS = {
    "port": "icmp-port-unreachable", "port-unreachable": "icmp-port-unreachable",
    "admin-prohibited": "icmp-admin-prohibited", "host-prohibited": "icmp-host-prohibited",
    "host-unreachable": "icmp-host-unreachable", "no-route": "icmp-net-unreachable",
    "net-unreachable": "icmp-net-unreachable", "tcp reset": "tcp-reset",
}  # fmt: skip
"""How nftables spells what iptables calls by another name."""
_LOST = frozenset({FailureKind.TIMEOUT, FailureKind.UNREACHABLE, FailureKind.HANGS})
DOUBTED = 0.5
_HOSTS = frozenset({
    None, EndKind.NODE, EndKind.NODE_PORT, EndKind.POD, EndKind.SERVICE, EndKind.LOAD_BALANCER,
    EndKind.API_SERVER,
})  # fmt: skip
_OTHERS = frozenset({
    FailureKind.ERROR_ANSWER, FailureKind.SLOW, FailureKind.WRONG_PEER, FailureKind.RESET,
    FailureKind.NAME_UNKNOWN,
})  # fmt: skip
"""Failures that no closed port makes."""
_DEVICES = "without -v does not show devices"
"""What is unread of a rule in columns that leave out its devices."""
ASK = FollowUp(
    "which devices the accepting rules are for, and which rules count packets",
    "iptables -L INPUT -n -v --line-numbers",
    "the last rule counts the failing packets: accept the port above it",
)


class Fate(Enum):
    """What a chain does with a new connection to a port."""

    ACCEPTED = auto()
    """It may be accepted."""
    PASSED = auto()
    """It comes to the end of the chain."""


class PortRefusal(NamedTuple):
    """A new connection is dropped or rejected."""

    span: Span
    target: str
    how: str
    """How REJECT answers; empty for DROP."""
    accepting: tuple[Rule, ...] = ()
    """Rules above that accept something else."""
    doubts: tuple[Rule, ...] = ()
    """Rules above that may accept it: a listing leaves out for which device they are."""
    rule: Rule | None = None
    """The rule that takes it; None where the policy does."""


def check(case: Case) -> Iterator[Finding]:
    """Report the first port that people say fails and that INPUT takes before it is accepted."""
    kubelet = next(_find_kubelet(case), None)
    if kubelet is not None:
        yield kubelet
        return
    for asked in list_asked_ports(case):
        found = find_input_refusal(case, asked.protocol, asked.port, asked.sources)
        if found is not None and _may_be_felt(found, asked):
            yield _report(case, asked, found)
            return
    yield from _find_strict(case)


def _find_kubelet(case: Case) -> Iterator[Finding]:
    """Yield what drops what the API server opens to this node's kubelet, where the node is named or
    has the address: it comes in by a card, from another host.
    """
    names = {word for one in list_failing(case) for word in one.words | one.spoken}
    for said in find_said(case, MessageKind.KUBELET_UNREACHABLE):
        address = read_address(said.values.get("node", ""))
        here = address is not None and case.node.host.holds(address)
        lost = "time" in said.values.get("error", "")
        native = find_refusal_at(case.node.host, "input", _make_walk)
        if find_told(case, Circumstance.ONE_NODE) is not None:  # the API server is on it, too
            return
        if native is not None and native.target == "drop" and lost:
            asked = AskedPort(
                KUBELET,
                protocols.TCP,
                FailureKind.TIMEOUT,
                said.span,
                here or case.node.name in names,
            )
            yield _report(case, asked, PortRefusal(native.span, "DROP", ""))


class _FromAnother(PortWalk):
    """A connection that another host opens: it comes in by no bridge for what runs here."""

    def match_device(self, left: nft.Expression, name: str) -> bool | None:
        found = super().match_device(left, name)
        return False if left == _INCOMING and is_inner_bridge(name) else found


def _make_walk(table: NftTable) -> PortWalk:
    return _FromAnother(table, protocols.TCP, KUBELET)


def _find_strict(case: Case) -> Iterator[Finding]:
    """Report an INPUT that accepts few ports, where what fails comes to the host, and nobody says
    by which port.
    """
    inbound = [one for one in list_failing(case) if _is_inbound(one)]
    for _, chain in chains_named(case.node.host, "filter", "INPUT"):
        last = next((rule for rule in chain.rules if is_plain(rule) and ends(rule)), None)
        above = [rule for rule in chain.rules if last is None or rule.position < last.position]
        accepting = [rule for rule in above if lets_new_in(rule)]
        listed = bool(accepting) and all(port_of(rule) for rule in accepting)
        span = last.span if last is not None else chain.span
        closed = last is not None or (chain.policy == "DROP" and chain.complete)
        if inbound and closed and listed and span is not None:
            yield _report_strict(inbound[0], span, last, accepting)
            return


def _is_inbound(complaint: Complaint) -> bool:
    """Tell whether what fails comes to this host from elsewhere by a port that nobody names."""
    from_elsewhere = complaint.source is EndKind.OUTSIDE or complaint.same_node is False
    to_host = complaint.target in _HOSTS and complaint.failure not in _OTHERS
    outgoing = Circumstance.OUTGOING in complaint.circumstances
    return from_elsewhere and to_host and not complaint.ports and not outgoing


def _report_strict(
    complaint: Complaint, span: Span, last: Rule | None, accepting: Sequence[Rule]
) -> Finding:
    target = last.target.name if last is not None and last.target is not None else "DROP"
    ports = ", ".join(dict.fromkeys(port_of(rule) for rule in accepting))
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"INPUT accepts new connections only to {ports}; everything else reaches {target}.",
        evidence=(span, *(rule.span for rule in accepting[:QUOTED]), complaint.span),
        reasoning=("What fails comes to this host from outside.",),
        breaks=("new connections to all other ports of this host, including those of tunnels",),
        prevention=(
            "Accept the port in the configuration of the rules, above the rule that takes "
            "everything."
        ),
        certainty=DOUBTED,
        asks=(ASK,),
        marks=(target,),
    )


def find_input_refusal(
    case: Case, protocol: int, port: int, sources: Sequence[Address] = ()
) -> PortRefusal | None:
    """Return what takes a new connection to a port of the host before INPUT accepts it; port 0 is
    that of protocols without ports. None where it may be accepted, or the rules are not shown.
    Where it is known who connects, a rule for others accepts nothing.
    """
    for table, chain in chains_named(case.node.host, "filter", "INPUT"):
        walk = _InputWalk(table, protocol, port, tuple(sources))
        fate = walk.judge(chain, DEEPEST)
        if isinstance(fate, PortRefusal):
            return fate
        if fate is Fate.PASSED and chain.policy == "DROP" and chain.complete and chain.span:
            rules = [rule for rule in chain.rules if port_of(rule)]
            rules += [rule for rule in walk.accepting if rule not in rules]
            return PortRefusal(chain.span, "DROP", "", tuple(rules))
    native = find_refusal(case.node.host, protocol, port)
    if native is None:
        return None
    how = NATIVE_ANSWERS.get(native.how, native.how)
    return PortRefusal(native.span, native.target.upper(), how)


class _InputWalk:
    """Follows a new connection to a port through the chains of a table. Local to one call."""

    def __init__(
        self, table: Table, protocol: int, port: int, sources: tuple[Address, ...]
    ) -> None:
        self.sources = sources
        self.table = table
        self.protocol = protocol
        self.port = port
        self.accepting: list[Rule] = []
        self.doubts: list[Rule] = []

    def judge(self, chain: Chain, depth: int) -> PortRefusal | Fate:
        """Say what becomes of it in a chain."""
        if not chain.complete or depth == 0:
            return Fate.ACCEPTED
        for rule in chain.rules:
            fate = self._try(rule, depth)
            if fate is not Fate.PASSED:
                return fate
        return Fate.PASSED

    def _try(self, rule: Rule, depth: int) -> PortRefusal | Fate:
        """Say what becomes of it at a rule: passed where the rule is none of its."""
        target = rule.target.name if rule.target is not None else ""
        if not target or self._misses(rule):
            limited = bool(self.sources) and rule.src is not None
            entered = limited and target in self.table.chains
            if entered or (target == "ACCEPT" and (port_of(rule) or limited)):
                self.accepting.append(rule)
            return Fate.PASSED
        if ends(rule):
            return self._end(rule)
        inner = self.table.chains.get(target)
        if inner is not None:
            return self._enter(inner.value if isinstance(inner, Known) else None, depth)
        if target != "ACCEPT":
            return Fate.PASSED if target in {"LOG", "NFLOG", "RETURN"} else Fate.ACCEPTED
        if port_of(rule) or not _may_be_of_one_device(rule):
            return Fate.ACCEPTED
        self.doubts.append(rule)
        return Fate.PASSED

    def _end(self, rule: Rule) -> PortRefusal | Fate:
        """Say whether a rule that drops or rejects takes every such connection."""
        if not _is_for_all(rule):
            return Fate.PASSED
        how = next(iter(_reject_with(rule)), "icmp-port-unreachable")
        name = rule.target.name if rule.target is not None else ""
        return PortRefusal(
            rule.span,
            name,
            how if name == "REJECT" else "",
            tuple(self.accepting),
            tuple(self.doubts),
            rule,
        )

    def _enter(self, chain: Chain | None, depth: int) -> PortRefusal | Fate:
        return Fate.ACCEPTED if chain is None else self.judge(chain, depth - 1)

    def _misses(self, rule: Rule) -> bool:
        """Tell whether a new connection to the port cannot match the rule."""
        wanted = rule.protocol
        if wanted is not None and (wanted.number == self.protocol) is wanted.negated:
            return True
        link = rule.in_link
        if link is not None and link.name == "lo" and not link.negated:
            return True
        if self.sources and not any(_may_match(rule, source) for source in self.sources):
            return True
        states = {
            *option_values(rule, "conntrack", "ctstate"),
            *option_values(rule, "state", "state"),
        }
        if states and states <= _OLD:
            return True
        ports = port_of(rule)
        return bool(ports) and not holds_port(ports, self.port)


def _may_match(rule: Rule, source: Address) -> bool:
    """Tell whether a rule takes what an address sends."""
    return rule.src is None or rule.src.prefix.covers(source) is not rule.src.negated


def _may_be_of_one_device(rule: Rule) -> bool:
    """Tell whether an accepting rule without a port may be for loopback alone: a listing without
    devices shows `-i lo` as for everything, and images have it above their last rule.
    """
    selected = rule.src is not None or rule.dst is not None or bool(rule.matches)
    return rule.unread.endswith(_DEVICES) and not selected


def _is_for_all(rule: Rule) -> bool:
    """Tell whether a rule takes every new connection, as far as is shown."""
    selectors = (rule.src, rule.dst, rule.in_link, rule.out_link, rule.fragment)
    shown = not rule.unread or rule.unread.endswith(_DEVICES)
    plain = all(match.name in {"comment", "tcp", "udp"} for match in rule.matches)
    return shown and plain and all(selector is None for selector in selectors)


def _reject_with(rule: Rule) -> Iterator[str]:
    for option in rule.target.options if rule.target is not None else ():
        if option.name == "reject-with":
            yield from option.values


def _may_be_felt(found: PortRefusal, asked: AskedPort) -> bool:
    return asked.failure is None or asked.failure in _list_felt(found, asked)


def _list_felt(found: PortRefusal, asked: AskedPort) -> frozenset[FailureKind]:
    """Return what whoever connects sees; pods behind an overlay see no answer to its packets."""
    if asked.needed_by is not None:
        return _LOST
    return _LOST if found.target == "DROP" else _FELT.get(found.how, frozenset())


def _report(case: Case, asked: AskedPort, found: PortRefusal) -> Finding:
    """Report it, certain where nothing shown above may accept the port, and the host's own INPUT is
    what the port comes to.
    """
    overlay, felt = asked.needed_by, _list_felt(found, asked)
    exact = overlay is None and asked.failure is FailureKind.NO_ROUTE_TO_HOST
    exact = exact and asked.failure in felt
    likely = exact and asked.port in HOST_PORTS
    own = (asked.own or likely) and not is_translated(case, asked.port)
    others = [rule for rule in found.accepting if holds_port(port_of(rule), asked.port)]
    sure = own and (not found.doubts or exact) and not others
    told = asked.failure in felt
    name = protocols.protocol_name(asked.protocol).upper()
    shown = (overlay.span,) if overlay is not None else ()
    evidence = (found.span, *(rule.span for rule in found.accepting[:QUOTED]), *shown)
    for_whom = " for who connects" if others else ""
    whose = f" from {', '.join(map(str, asked.sources))}" if others else ""
    use = f", by which packets come to {overlay.device}" if overlay is not None else ""
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"INPUT accepts no new connection to {name} port {asked.port}{whose}{use}: it reaches "
            f"{found.target}."
        ),
        evidence=(*evidence, asked.span),
        reasoning=(f"Rules are tried in order, and none shown above accepts the port{for_whom}.",),
        breaks=(f"new connections to port {asked.port} of this host",),
        repairs=_list_cures(found, name.casefold(), asked.port),
        prevention=(
            "Accept the port in the configuration of the rules, above the rule that takes "
            "everything."
        ),
        certainty=1.0 if sure else POSSIBLE,
        asks=() if sure else (ASK,),
        marks=(found.target,),
        explains=felt,
        proves=felt if told and own and not others else frozenset(),
    )


def _list_cures(found: PortRefusal, protocol: str, port: int) -> tuple[Repair, ...]:
    return (_accept(found.rule, protocol, port),) if found.rule is not None else ()


def _accept(rule: Rule, protocol: str, port: int) -> Repair:
    place = f"{rule.chain} {rule.position}"
    return Repair(
        title=f"accept the port above rule {rule.position} of {rule.chain}",
        commands=(f"iptables -I {place} -p {protocol} --dport {port} -j ACCEPT",),
    )
