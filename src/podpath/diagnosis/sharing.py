"""Whether a finding is about the connection in question: it quotes a line with one of its ends.

The ends are those that people name, in prose and by what they tried: addresses, names of pods and
services, ports. A line with a range that holds one of the addresses speaks of it, too; a name and
its address are one end. A line of the host's uplink is about every connection that leaves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from podpath.checks.finding import Finding
from podpath.checks.objects import see
from podpath.diagnosis.flows import uplinks
from podpath.net.addresses import Address, Prefix
from podpath.net.complaints import EndKind
from podpath.net.probe import Probe
from podpath.net.provenance import Span
from podpath.node.case import Case
from podpath.node.node import Node

SHORTEST_PREFIX = 8
"""Bits of a range that says anything about an address: everybody has a default route."""
LONGEST_LINE = 2000
_ADDRESSES = re.compile(
    r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?:/\d{1,2})?(?![\w.]\d)|(?<![\w:])[0-9a-fA-F]{0,4}"
    r"(?::[0-9a-fA-F]{0,4}){2,7}(?:/\d{1,3})?"
)
_SERVED = frozenset({EndKind.SERVICE, EndKind.NODE_PORT, EndKind.LOAD_BALANCER})
_VERBS = frozenset({
    "do", "does", "did", "is", "are", "was", "has", "have", "had", "can", "cannot", "could", "not",
    "never", "no", "will", "would", "gets", "get", "goes", "works", "work", "fails", "fail",
    "times", "timed", "hangs", "answers", "refuses", "refused", "returns", "stops", "with", "by",
    "from", "in", "on", "to", "at", "and", "or", "of", "only", "sometimes", "address",
    "addresses", "name", "port", "ports", "ip", "ips",
})  # fmt: skip
"""Words behind `service` that name none."""
_NAMES = re.compile(r"[A-Za-z0-9](?:[\w-]*[A-Za-z0-9])?")


class ComplainedEnds(NamedTuple):
    """What people name of the connections that fail."""

    addresses: frozenset[Address]
    names: frozenset[str]
    ports: frozenset[int]
    devices: frozenset[str] = frozenset()
    """The devices of the host's default routes: a line of one is about every connection that
    leaves.
    """

    spoken: frozenset[str] = frozenset()
    """The words of the sentences that say so, each without the domain behind it."""
    complained: bool = False
    """True where a sentence says that something fails."""

    @property
    def is_known(self) -> bool:
        """Tell whether any end is named: a port alone is none."""
        return bool(self.addresses or self.names)


def list_ends(case: Case, probes: Iterable[Probe] = ()) -> ComplainedEnds:
    """Return the ends of what fails, or is asked about."""
    failing = [complaint for complaint in case.complaints if not complaint.works]
    tried = [*probes, *(attempt.probe for attempt in case.attempts if attempt.is_bad)]
    addresses = {end for probe in tried for end in (probe.src, probe.dst)}
    addresses.update(one.dst for one in case.unplaced if one.dst is not None)
    ports = {probe.dport for probe in tried} | {one.dport or 0 for one in case.unplaced}
    names: set[str] = set()
    spoken: set[str] = set()
    for complaint in failing:
        addresses.update(complaint.addresses)
        ports.update(complaint.ports)
        names.update(_first_label(name).casefold() for name in complaint.names)
        spoken.update(map(_first_label, complaint.spoken | complaint.words))
    served = [one for one in failing if {one.source, one.target} & _SERVED]
    if served and not names and not any(one.words - _VERBS for one in served):
        spoken |= _find_only_service(case)
    ends = ComplainedEnds(
        frozenset(addresses),
        frozenset(names),
        frozenset(ports - {0}),
        frozenset(str(name) for name in uplinks(case.node) if name is not None),
        frozenset(spoken),
        bool(failing),
    )
    known = _with_partners(case.node, ends)
    local = {one for one in known.addresses if one.is_loopback or one.is_unspecified}
    return known._replace(addresses=known.addresses - local)


def _find_only_service(case: Case) -> frozenset[str]:
    """Return the name of the service of which people speak without a name, where the evidence shows
    one alone.
    """
    shown = {one.name for one in case.node.services}
    shown |= {one.name for one in see(case, "Service", "Endpoints")}
    shown -= {"", "kubernetes", "kube-dns"}
    return frozenset(shown) if len(shown) == 1 else frozenset()


def _first_label(name: str) -> str:
    return name.partition(".")[0]


def _with_partners(node: Node, ends: ComplainedEnds) -> ComplainedEnds:
    """Add the names of named addresses, and the addresses of named pods and services."""
    owners = [(service.name, set(service.addresses)) for service in node.services]
    owners += [(pod.name, {pod.address}) for pod in node.pods if pod.address is not None]
    owners += [(pod.name, set()) for pod in node.pods if pod.address is None]
    addresses, names = set(ends.addresses), set(ends.names)
    for name, held in owners:
        if held & ends.addresses or name.casefold() in ends.names:
            addresses |= held
            names.add(name.casefold())
    return ends._replace(addresses=frozenset(addresses), names=frozenset(names))


def is_of_another_service(finding: Finding, ends: ComplainedEnds) -> bool:
    """Tell whether a finding breaks one service alone, and people complain without naming it, or a
    pod of its name.
    """
    if not finding.about or not ends.complained or shares_ends(finding, ends):
        return False
    told = {*ends.spoken, *ends.names, *map(str, ends.addresses)}
    return not any(_is_of(one, other) for one in finding.about for other in told)


def _is_of(one: str, other: str) -> bool:
    """Tell whether two names are one, or one is the other with a suffix, as a pod's is."""
    return one == other or one.startswith(f"{other}-") or other.startswith(f"{one}-")


def shares_ends(finding: Finding, ends: ComplainedEnds) -> bool:
    """Tell whether a finding is about one of the ends: a walk's is about the connection that was
    walked.
    """
    if finding.shown_by is not None:
        return True
    return any(_speaks_of(span, ends) for span in finding.evidence)


def _speaks_of(span: Span, ends: ComplainedEnds) -> bool:
    text = span.text[:LONGEST_LINE]
    if any(_holds(prefix, address) for prefix in _prefixes(text) for address in ends.addresses):
        return True
    words = {found.group() for found in _NAMES.finditer(text)}
    return bool(ends.devices & words) or not ends.names.isdisjoint(
        word.casefold() for word in words
    )


def _holds(prefix: Prefix, address: Address) -> bool:
    return (
        prefix.family == address.family
        and prefix.length >= SHORTEST_PREFIX
        and prefix.covers(address)
    )


def _prefixes(text: str) -> Iterator[Prefix]:
    for found in _ADDRESSES.finditer(text):
        try:
            yield Prefix.parse(found.group())
        except ValueError:
            continue
