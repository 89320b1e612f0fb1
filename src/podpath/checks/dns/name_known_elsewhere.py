"""name-known-elsewhere: one name server says that a name does not exist, but another knows it.

What it is
    Two lookups of one name: the cluster's DNS server (or another one) answers NXDOMAIN, while the
    node's own resolver, or the router's, returns an address.

Why it breaks
    Public name servers do not know a zone that exists only on an internal server. The server that
    answers NXDOMAIN forwards to public ones because the resolv.conf that its pod was given names
    them, often because the kubelet or its runtime could not use the node's file (a loopback stub,
    no server at all).

How to confirm
    dig @SERVER NAME (for each server); kubectl -n kube-system get cm coredns -o yaml
    crictl inspect COREDNS | grep resolv.conf; cat that file; cat /etc/resolv.conf on the node

How to fix
    Forward the zone to the server that knows it: in the Corefile `ZONE:53 { forward . SERVER }`, or
    give the kubelet a resolv.conf (--resolv-conf) that names it.

References
    CoreDNS, plugin/forward; the documentation's page "Customizing DNS Service"
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.objects import see
from podpath.checks.said import find_said
from podpath.net.addresses import read_address
from podpath.net.failures import Ending, FailureKind
from podpath.net.messages import MessageKind
from podpath.net.provenance import Span
from podpath.net.trees import Tree
from podpath.node.case import Case

CATEGORIES = (Category.DNS_UPSTREAM, Category.DNS_CONFIGURATION)
NAME = "name-known-elsewhere"
UNKNOWN = "NXDOMAIN"
UNRESOLVED = frozenset({FailureKind.NAME_NOT_RESOLVED, FailureKind.NAME_UNKNOWN})
INNER = (".cluster.local", ".svc")
"""How names end that only the cluster's own server has to know."""
CERTAINTY = 0.85
DNS_PORT = 53
ASK = FollowUp(
    "where the server that does not know the name forwards to, and whether that one knows it",
    "kubectl -n kube-system get cm coredns -o yaml; dig @UPSTREAM NAME; cat /etc/resolv.conf",
    "its upstream also says NXDOMAIN: forward this zone to the server that knows it",
)
_SERVER = re.compile(r"\s*(?:;; SERVER:|Server:)\s*(?P<server>[0-9a-fA-F.:]+)")


def check(case: Case) -> Iterator[Finding]:
    """Report the first name that one server does not have and another has."""
    knowing = {
        _find_server(one.span)
        for one in case.attempts
        if one.result == Ending.OK and one.probe.dport == DNS_PORT
    }
    for failed in find_said(case, MessageKind.NAME_FAILS):
        name = failed.values.get("name", "").lower()
        if UNKNOWN not in failed.span.text or name.endswith(INNER) or "." not in name:
            continue
        for one in case.attempts:
            known = one.result == Ending.OK and one.probe.dport == DNS_PORT
            asked = _find_server(failed.span)
            if known and asked not in {"", _find_server(one.span)}:
                shown = _find_name(one.span, name)
                if shown is not None:
                    yield _report(case, name, (asked, *knowing), failed.span, shown)
                    return


def _find_server(span: Span) -> str:
    """Return whom a lookup asked; empty where its output does not say."""
    found = (_SERVER.match(line) for line in span.source.lines)
    return next((one["server"] for one in found if one is not None), "")


def _is_upstream(server: Tree, servers: tuple[str, ...]) -> bool:
    """Tell whether a name server of a resolv.conf is another than those that were asked for the
    name: neither the one that does not know it, nor one that does, nor a stub.
    """
    address = read_address(server.text)
    return address is not None and not address.is_loopback and server.text not in servers


def _find_name(span: Span, name: str) -> Span | None:
    """Return the line of an answer that has the name."""
    for number, line in enumerate(span.source.lines, span.source.first_line):
        words = line.lower().replace("name:", " ").split()
        if words[:1] == [name] and (line.lower().startswith("name:") or "in" in words):
            return Span(span.source, number, number)
    return None


def _report(case: Case, name: str, servers: tuple[str, ...], failed: Span, shown: Span) -> Finding:
    asked = servers[0]
    others = [
        server
        for seen in see(case, "ResolvConf")
        for server in seen.items_at("nameservers")
        if server.text != asked
    ]
    forwards = any(True for _ in see(case, "Corefile"))
    ignorant = forwards and bool(others) and all(_is_upstream(one, servers) for one in others)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"{asked} does not know {name}, but another name server does.",
        evidence=(failed, shown, *(server.line for server in others[:2])),
        reasoning=(
            "The server that answers NXDOMAIN asks an upstream that does not have this zone.",
        ),
        breaks=("names in that zone, for every client of that server",),
        prevention="Forward each internal zone to the server that has it.",
        certainty=CERTAINTY,
        asks=(ASK,),
        proves=UNRESOLVED if ignorant else frozenset(),
        marks=(name,),
    )
