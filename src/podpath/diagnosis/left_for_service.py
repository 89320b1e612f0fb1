"""Packets for a service's address that leave the nodes as they are: whoever is behind the uplink
may know that address (a load balancer, a router that it is announced to), or nobody does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from podpath.datapath.tracing.trace import Conversation, Transmitted
from podpath.diagnosis.unread import NotModelled
from podpath.net.addresses import Address
from podpath.net.provenance import Span
from podpath.net.watched import is_watched
from podpath.node.case import Case


def forbid_left_for_services(
    case: Case, conversations: Iterable[Conversation]
) -> Iterator[NotModelled]:
    """Yield each connection that is taken to work because its packets leave for a service's
    address, which no rule of the nodes translated.
    """
    named = _list_addresses(case)
    for conversation in conversations:
        for branch in conversation.branches:
            first = branch.traces[0] if branch.traces else None
            outcome = first.outcome if first is not None else None
            if not branch.works or not isinstance(outcome, Transmitted):
                continue
            held = _find(named, outcome.packet.dst)
            if held is None:
                continue
            title, span = held
            yield NotModelled(
                what=(
                    f"what the network behind {outcome.link} does with {outcome.packet.dst}, the "
                    f"address of {title}, which no rule of the nodes translated"
                ),
                ask=f"iptables-save -c -t nat | grep -F {outcome.packet.dst}; nft list ruleset",
                spans=(span,) if span is not None else (),
            )
            break


def _find(
    named: Mapping[Address, tuple[str, Span | None]], address: Address
) -> tuple[str, Span | None] | None:
    value: Any = address.value
    if is_watched(value):
        family = address.family
        known = sorted(own.value for own in named if own.family == family)
        if not value.is_one_of(known):
            return None
    return named.get(address)


def _list_addresses(case: Case) -> Mapping[Address, tuple[str, Span | None]]:
    """Return the addresses of services, also those that a load balancer is asked for, each with
    whose it is.
    """
    found: dict[Address, tuple[str, Span | None]] = {}
    for one in case.objects:
        asked = one.tree.at("spec", "loadBalancerIP") if one.kind == "Service" else None
        if asked is None:
            continue
        try:
            address = Address.parse(asked.text)
        except ValueError:
            continue
        found[address] = (f"svc/{one.namespace}/{one.name}", asked.line)
    for service in case.node.services:
        title = f"svc/{service.namespace}/{service.name}"
        found |= dict.fromkeys(service.addresses, (title, service.span))
    return found
