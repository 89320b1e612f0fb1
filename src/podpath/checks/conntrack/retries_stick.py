"""retries-stick: a client asks again by the same port, so conntrack sends each question to the same
silent endpoint.

What it is
    A table of connections that was listed several times shows one UDP entry of a service, without
    a reply, whose time to live rises again: each retry renews it.

Why it breaks
    Rules choose an endpoint for the first packet of an entry only. A resolver asks again by the
    socket that it has, so all its retries go to the endpoint that does not answer, though another
    one would. It ends when the client gives up, or when kube-proxy deletes the entry.

How to confirm
    while sleep 1; do conntrack -L -p udp -d SERVICE; done     # the time falls, and rises again
    kubectl get endpointslices -l kubernetes.io/service-name=SERVICE

How to fix
    conntrack -D -p udp --orig-dst SERVICE; drain nodes before they are taken out, so that
    their endpoints go first; NodeLocal DNSCache, which asks upstream by TCP.

References
    nf_ct_refresh_acct, nf_nat_inet_fn (net/netfilter/nf_conntrack_core.c, nf_nat_core.c);
    resolver(3)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from podpath.checks.category import Category
from podpath.checks.conntrack.stale_conntrack import forget_entries
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.net import protocols
from podpath.net.packet import endpoint
from podpath.net.provenance import Span
from podpath.node.case import Case
from podpath.node.netfilter import ConntrackEntry

CATEGORIES = (Category.CONNTRACK_STALE,)
NAME = "retries-stick"
CERTAINTY = 0.9
ASK = FollowUp(
    "whether another endpoint of the service answers",
    "kubectl get endpointslices -A; dig @ENDPOINT kubernetes.default.svc.cluster.local +time=1",
    "it does: only the entry keeps the client away from it; none does: look at the way to them",
)
_ROW = re.compile(r".*?\budp\s+17\s+(?P<left>\d+)\s+(?P<rest>src=.*)")


def check(case: Case) -> Iterator[Finding]:
    """Report the first entry that is renewed without an answer, unless other endpoints are silent,
    too.
    """
    entries = case.node.host.conntrack.items
    silent = [one for one in entries if _is_silent(one)]
    for entry in silent:
        spans = _list_renewals(entry)
        others = {one.reply.src for one in silent if one.original.dst == entry.original.dst}
        if spans and others == {entry.reply.src}:
            yield _report(entry, spans)
            return


def _is_silent(entry: ConntrackEntry) -> bool:
    translated = entry.reply.src != entry.original.dst
    return entry.original.protocol == protocols.UDP and translated and not entry.replied


def _list_renewals(entry: ConntrackEntry) -> Sequence[Span]:
    """Return the lines between which an entry's time rises."""
    if entry.span is None:
        return ()
    source = entry.span.source
    own = _ROW.fullmatch(entry.span.text.strip())
    shown = [
        (int(found["left"]), number)
        for number, line in enumerate(source.lines, source.first_line)
        if (found := _ROW.fullmatch(line.strip())) is not None
        and own is not None
        and found["rest"] == own["rest"]
    ]
    for (left, first), (again, second) in pairwise(shown):
        if again > left:
            return Span(source, first, first), Span(source, second, second)
    return ()


def _report(entry: ConntrackEntry, spans: Sequence[Span]) -> Finding:
    service = endpoint(entry.original.dst, entry.original.dport)
    client = endpoint(entry.original.src, entry.original.sport)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"{client} asks {service} again and again, and each time {entry.reply.src} gets it, "
            "which does not answer."
        ),
        evidence=tuple(spans),
        reasoning=("A retry by the same port renews the entry, and no other endpoint is chosen.",),
        breaks=(f"udp from {client} to {service}, until the client takes another port",),
        repairs=(forget_entries(entry),),
        prevention="Drain a node before it goes, so that its endpoints go first.",
        certainty=CERTAINTY,
        asks=(ASK,),
        marks=("UNREPLIED", str(entry.reply.src)),
    )
