"""retries-stick: a client retries from the same port, so conntrack sends every query to the same
silent endpoint.

What it is
    Several listings of the connection table show one UDP entry for a service, without a reply,
    whose timeout rises again: each retry refreshes it.

Why it breaks
    Rules choose an endpoint only for an entry's first packet. A resolver retries from the same
    socket, so all its retries go to the endpoint that does not answer, although another one would.
    It ends when the client gives up, or when kube-proxy deletes the entry.

How to confirm
    while sleep 1; do conntrack -L -p udp -d SERVICE; done     # the timeout falls, then rises again
    kubectl get endpointslices -l kubernetes.io/service-name=SERVICE

How to fix
    conntrack -D -p udp --orig-dst SERVICE; drain nodes before you remove them, so their endpoints
    go first; or use NodeLocal DNSCache, which asks upstream over TCP.

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
    "one does: only the entry keeps the client away from it; none does: look at the path to them",
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
            f"{client} asks {service} again and again, and every time the query goes to "
            f"{entry.reply.src}, which does not answer."
        ),
        evidence=tuple(spans),
        reasoning=(
            "A retry from the same port refreshes the entry, and no other endpoint is chosen.",
        ),
        breaks=(f"udp from {client} to {service}, until the client uses another port",),
        repairs=(forget_entries(entry),),
        prevention="Drain a node before you remove it, so its endpoints go first.",
        certainty=CERTAINTY,
        asks=(ASK,),
        marks=("UNREPLIED", str(entry.reply.src)),
    )
