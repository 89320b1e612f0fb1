"""accept-elsewhere: a packet is accepted in one base chain and dropped by the policy of another at
the same hook.

What it is
    Two base chains are attached to one hook: iptables' FORWARD (filled by Docker, kube-proxy, an
    admin) and one of nftables, in a table of LXD, libvirt, Podman, firewalld or an admin. One of
    them drops by default, the other accepts.

Why it breaks
    In nftables, `accept` ends only the base chain that it is in: the packet goes on to the next
    base chain of the hook, in order of priority. Every one of them has to let it pass; a drop in
    any is final. So one program's accepting rules cannot save its packets from another's policy.

How to confirm
    nft list ruleset | grep -A1 'hook forward'     # every base chain of the hook, with its policy
    iptables -nvL FORWARD | head -1

How to fix
    Accept the device in the chain that drops, too, in DOCKER-USER if Docker set the policy:
        iptables -I DOCKER-USER -i lxdbr0 -j ACCEPT
        iptables -I DOCKER-USER -o lxdbr0 -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
    or set its policy to accept again: iptables -P FORWARD ACCEPT.

References
    nft(8), "VERDICT STATEMENTS"; nft_do_chain (net/netfilter/nf_tables_core.c), nf_hook_slow
    (net/netfilter/core.c)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Repair, Severity
from podpath.checks.firewall import chains_named, lets_new_in
from podpath.net import nft
from podpath.net.messages import MessageKind
from podpath.net.provenance import Span, list_spans
from podpath.node.case import Case
from podpath.node.nftables import NftChain

CATEGORIES = (Category.FORWARD_POLICY, Category.HOST_FIREWALL)
NAME = "accept-elsewhere"


class _Base(NamedTuple):
    """A base chain of a hook."""

    name: str
    drops: bool
    """True where its policy drops and nothing in it lets new connections in."""
    span: Span


def check(case: Case) -> Iterator[Finding]:
    """Report a hook at which one base chain accepts and another one drops all."""
    for hook in ("forward", "input"):
        chains = [
            *_list_iptables(case, hook),
            *_list_native(case, hook),
            *_list_fragments(case, hook),
        ]
        dropping = [chain for chain in chains if chain.drops]
        accepting = [chain for chain in chains if not chain.drops]
        if dropping and accepting:
            yield _report(hook, dropping[0], dropping[1:], accepting[0])


def _list_iptables(case: Case, hook: str) -> Iterator[_Base]:
    for _, chain in chains_named(case.node.host, "filter", hook.upper()):
        if (
            chain.span is not None
            and chain.policy == "DROP"
            and not any(map(lets_new_in, chain.rules))
        ):
            yield _Base(f"iptables' {chain.name}", drops=True, span=chain.span)


def _list_native(case: Case, hook: str) -> Iterator[_Base]:
    for table in case.node.host.nftables.items:
        for chain in table.chains.values():
            if chain.hook == hook and chain.type == "filter" and chain.span is not None:
                accepts = any(_accepts(chain))
                if (chain.policy == "drop" and not chain.rules) or accepts:
                    yield _Base(
                        f"{table.family} {table.name} {chain.name}",
                        drops=not accepts,
                        span=chain.span,
                    )


def _accepts(chain: NftChain) -> Iterator[bool]:
    for rule in chain.rules:
        yield any(
            isinstance(one, nft.NftVerdict) and one.kind == "accept" for one in rule.statements
        )


def _list_fragments(case: Case, hook: str) -> Iterator[_Base]:
    """List the base chains that stand in the evidence without their tables."""
    if case.node.host.nftables.items:
        return
    for message in case.messages:
        if message.kind is MessageKind.BASE_CHAIN and message.values.get("hook") == hook:
            yield _Base(
                f"a chain at the hook {hook}",
                drops=message.values.get("policy") == "drop",
                span=message.span,
            )


def _report(hook: str, dropping: _Base, others: list[_Base], accepting: _Base) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"At the hook {hook} the policy of {dropping.name} drops what {accepting.name} "
        "accepts: an accept ends one base chain only.",
        evidence=(dropping.span, *list_spans(others), accepting.span),
        reasoning=(
            (
                "Every base chain of a hook has to let the packet pass; a drop in any of them is "
                "final."
            ),
        ),
        breaks=(
            (
                "what the accepting chain is for: packets of its guests or containers to the "
                "outside and back"
            ),
        ),
        repairs=(
            Repair(
                title="accept the device in the chain that drops, too",
                commands=(
                    "iptables -I FORWARD -i BRIDGE -j ACCEPT",
                    "iptables -I FORWARD -o BRIDGE -j ACCEPT",
                ),
            ),
        ),
        prevention=(
            "Let one program own the forward hook, or let each accept for the others' devices."
        ),
        marks=("DROP", "drop"),
    )
