"""Ends of probes that nothing in the evidence speaks of while it shows one that is spelled nearly
the same: most likely a slip of the finger, whose walk would blame a node for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches

from podpath.library.case import Case
from podpath.library.given import Asked
from podpath.net.addresses import Address
from podpath.net.errors import UsageError
from podpath.net.probe import Probe
from podpath.node.node import Node
from podpath.node.probe_names import resolve_probe

_ALIKE = 0.8
"""How much of an address has to be spelled alike: about one digit in eight may differ."""
_NEAR = 3


def doubt_ends(cases: Iterable[Case], probes: Sequence[Asked]) -> tuple[str, ...]:
    """Return a sentence for each end that is probably mistyped."""
    read = tuple(cases)
    known: dict[str, str] = {}
    for case in read:
        for one in case.nodes:
            known |= dict(_list_known(one.facts.node))
    ends = dict.fromkeys(str(end) for probe in probes for end in _list_ends(read, probe))
    doubtful = (end for end in ends if end not in known and not _is_spoken_of(end, read))
    return tuple(sentence for end in doubtful for sentence in _suggest(end, known))


def _list_ends(cases: Sequence[Case], probe: Asked) -> Iterator[Address]:
    """Yield a probe's ends, none of one that cannot be read: others say why."""
    try:
        read = probe if isinstance(probe, Probe) else resolve_probe(probe, cases[0].node)
    except UsageError:
        return
    yield from (read.src, read.dst)


def _list_known(node: Node) -> Iterator[tuple[str, str]]:
    """Yield the addresses that a node's evidence shows somebody to have, each with whom."""
    for service in node.services:
        name = f"svc/{service.namespace}/{service.name}"
        yield from ((str(address), name) for address in service.addresses)
        yield from (
            (str(address), f"an endpoint of {name}")
            for port in service.ports
            for address, _ in port.endpoints
        )
    pods = {pod.netns: f"pod/{pod.namespace}/{pod.name}" for pod in node.pods}
    for name, netns in node.namespaces.items():
        for item in netns.addresses.items:
            if item.scope == "global" and not item.address.is_loopback:
                yield str(item.address), pods.get(name, name)
    for pod in node.pods:
        if pod.address is not None:
            yield str(pod.address), f"pod/{pod.namespace}/{pod.name}"


def _is_spoken_of(end: str, cases: Sequence[Case]) -> bool:
    """Tell whether a line of the evidence has this address."""
    whole = re.compile(rf"(?<![\w.:]){re.escape(end)}(?!\w)")
    for case in cases:
        for source in case.sources:
            if any(end in line and whole.search(line) for line in source.lines):
                return True
    return False


def _suggest(end: str, known: Mapping[str, str]) -> Iterator[str]:
    near = get_close_matches(end, known, n=_NEAR, cutoff=_ALIKE)
    if near:
        shown = " or ".join(f"{address} ({known[address]})" for address in near)
        yield f"nothing in the evidence speaks of {end}; did you mean {shown}?"
