"""address-banned: a rule drops everything from the very address that cannot connect.

What it is
    A rule drops or rejects what comes from a single address, in a chain of fail2ban (f2b-...), of
    an intrusion detection or of an admin, and it is the address of the client that fails.

Why it breaks
    Nothing that the client sends gets in, while everybody else is served. Programs that ban
    addresses treat many failed logins, or many requests by one proxy, NAT gateway or balancer, as
    an attack.

How to confirm
    iptables -L -n -v --line-numbers | grep ADDRESS; fail2ban-client status; ipset test SET ADDRESS

How to fix
    fail2ban-client unban ADDRESS, and add the address to ignoreip; or delete the rule.

References
    jail.conf(5), ignoreip; iptables(8)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.firewall import chains_of, ends, port_of
from podpath.checks.told import list_failing
from podpath.net.addresses import WIDTH
from podpath.net.complaints import Complaint, EndKind
from podpath.node.case import Case
from podpath.node.netfilter import Chain, Rule

CATEGORIES = (Category.HOST_FIREWALL,)
NAME = "address-banned"
_BANS = ("f2b-", "fail2ban-", "sshguard", "crowdsec", "DENYIN", "blacklist", "banned")
"""How chains begin into which programs put addresses that they ban."""
_SENDERS = frozenset({None, EndKind.OUTSIDE, EndKind.NODE, EndKind.POD, EndKind.CONTAINER})


def check(case: Case) -> Iterator[Finding]:
    """Report the first rule for an address that people say fails."""
    chains = [chain for _, chain in chains_of(case.node.host, "filter")]
    for chain in chains:
        for rule in chain.rules:
            said = _find_said(case, rule) if _is_ban(rule) else None
            if said is not None:
                yield _report(chain, rule, said, sure=_is_met(chains, chain, said))
                return


def _is_ban(rule: Rule) -> bool:
    """Tell whether a rule drops all that comes from one address."""
    source = rule.src
    if source is None or source.negated or source.prefix.length != WIDTH[source.prefix.family]:
        return False
    others = (rule.dst, rule.in_link, rule.out_link, rule.fragment)
    return ends(rule) and not any(others) and not port_of(rule)


def _is_met(chains: Sequence[Chain], chain: Chain, said: Complaint) -> bool:
    """Tell whether a chain of bans takes what fails: it is entered by every port, or by the one
    that people name.
    """
    if not chain.name.startswith(_BANS):
        return False
    entries = [
        port_of(rule)
        for other in chains
        for rule in other.rules
        if rule.target is not None and rule.target.name == chain.name
    ]
    named = {str(port) for port in said.ports}
    return any(not ports or named & set(ports.split(",")) for ports in entries)


def _find_said(case: Case, rule: Rule) -> Complaint | None:
    """Return what people say of the rule's address: it fails."""
    source = rule.src.prefix.address if rule.src is not None else None
    for complaint in list_failing(case):
        if source in complaint.addresses[:1] and complaint.source in _SENDERS:
            return complaint
    return None


def _report(chain: Chain, rule: Rule, said: Complaint, *, sure: bool) -> Finding:
    address = rule.src.prefix.address if rule.src is not None else "the address"
    place = f"{chain.name} {rule.position}"
    ask = FollowUp(
        f"whether packets from {address} reach this rule",
        f"iptables -L {chain.name} -n -v --line-numbers",
        "its counter grows with each attempt: it drops them",
    )
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"Rule {rule.position} of {chain.name} drops or rejects all that comes from {address}."
        ),
        evidence=(rule.span, said.span),
        reasoning=("It is the address that fails; the rule names no other.",),
        breaks=(f"all that {address} sends to this host",),
        repairs=(Repair(title="delete the rule", commands=(f"iptables -D {place}",)),),
        prevention="Name addresses of your own proxies and networks where bans are configured.",
        certainty=1.0 if sure else 0.8,
        marks=(str(address),),
        asks=() if sure else (ask,),
    )
