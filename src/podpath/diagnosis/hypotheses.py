"""Worlds beyond what the evidence leaves open: facts that it states, and that may have been otherwise when things failed.

A ticket mixes outputs of different times. Sysctls and modules change without a trace, so where nothing explains what a capture
shows, each stated switch on the way is turned in turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from podpath.diagnosis.worlds import Supposition, World
from podpath.net.provenance import Known
from podpath.node.alteration import apply_change
from podpath.node.case import Case, Deed
from podpath.node.change import SetSysctl
from podpath.node.node import Netns


class Switch(NamedTuple):
    """A family of sysctls that things hang on and that change without a trace."""

    ending: str
    """How its keys end."""
    turned: Mapping[str, str]
    """What each value is turned to."""
    meaning: str
    """What the turned value means; `{0}` is the key."""
    maker: str = ""
    """The module without which the key does not exist."""


SWITCHES: tuple[Switch, ...] = (
    Switch("bridge-nf-call-iptables", {"1": "0"}, "0: bridged packets skip iptables", "br_netfilter"),
    Switch(".rp_filter", {"0": "1", "2": "1"}, "1: the way back to a source must lead over the device it came in on"),
    Switch("ip_forward", {"1": "0"}, "0: the host does not forward"),
    Switch(".forwarding", {"1": "0"}, "0: what comes in on the device is not forwarded"),
)
"""The commonest first."""


def turn_stated_facts(case: Case) -> Iterator[World]:
    """Give a world for each stated switch, turned; its supposition names the line that cannot have held then."""
    for switch in SWITCHES:
        for namespace in case.node.namespaces.values():
            yield from _turn(case, namespace, switch)


def _turn(case: Case, namespace: Netns, switch: Switch) -> Iterator[World]:
    for key, fact in namespace.sysctls.items():
        if not key.endswith(switch.ending) or not isinstance(fact, Known) or fact.value not in switch.turned:
            continue
        value = switch.turned[fact.value]
        deed = _find_deed(case.deeds, key, switch.maker)
        supposition = Supposition(
            fact=f"{key} in netns {namespace.name}",
            meaning=f"{switch.meaning}, before `{deed.command}`" if deed is not None else switch.meaning,
            instead_of=fact.value,
            ask=f"sysctl {key}",
            span=deed.span if deed is not None else None,
            contradicts=fact.span,
            value=value,
            other=fact.value,
        )
        yield World(apply_change(case.node, SetSysctl(netns=namespace.name, key=key, value=value)), (supposition,))


def _find_deed(deeds: tuple[Deed, ...], key: str, module: str) -> Deed | None:
    """Give the command in the evidence that set the key, or loaded its module: before it the value was another."""
    names = [key, key.replace(".", "/"), *((module,) if module else ())]
    return next((deed for deed in deeds if any(name in deed.command for name in names)), None)
