"""client-not-admitted: a resolver's access list does not include its client's network.

What it is
    `access-control` in unbound.conf allows some networks, but not that of the clients whose lookups
    fail, and a query is answered with REFUSED.

Why it breaks
    unbound refuses queries from every address that no `allow` covers; without any such line, it
    answers only its own host. Clients of a VPN, of a container's bridge or of a new subnet come
    from other addresses than those that it was configured for.

How to confirm
    grep -rn access-control /etc/unbound
    dig @RESOLVER example.com      # from a client: status: REFUSED

How to fix
    access-control: NETWORK allow; unbound-control reload

References
    unbound.conf(5), access-control
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.files import files_of
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.objects import read_prefix
from podpath.checks.told import list_failing
from podpath.net.addresses import Prefix
from podpath.net.complaints import Complaint
from podpath.net.failures import FailureKind
from podpath.net.provenance import Span
from podpath.net.settings import Setting
from podpath.node.case import Case

CATEGORIES = (Category.DNS_CONFIGURATION, Category.DNS_SERVER)
NAME = "client-not-admitted"
LIKELY = 0.8
_REFUSES = frozenset({"refuse", "deny", "refuse_non_local", "deny_non_local"})


def check(case: Case) -> Iterator[Finding]:
    """Report the first network that gets no names and that no line allows."""
    rules = [
        (setting, prefix)
        for file in files_of(case, "unbound")
        for setting in file.all("access-control")
        if (prefix := read_prefix(next(iter(setting.words), ""))) is not None
    ]
    allowed = [prefix for setting, prefix in rules if setting.words[-1] not in _REFUSES]
    refused = _find_refused(case)
    if not allowed:
        return
    for complaint in list_failing(case):
        outside = [one for one in complaint.prefixes if not _is_within(one, allowed)]
        inside = [one for one in complaint.prefixes if _is_within(one, allowed)]
        if outside and (refused is not None or complaint.failure in _NAMES):
            sure = refused is not None and "REFUSED" in refused.text and bool(inside)
            yield _report(outside[0], rules[-1][0], (refused, complaint), sure=sure)
            return


_NAMES = frozenset({FailureKind.NAME_NOT_RESOLVED, FailureKind.NAME_SERVER_FAILS})


def _is_within(prefix: Prefix, allowed: list[Prefix]) -> bool:
    return any(one.overlaps(prefix) for one in allowed)


def _find_refused(case: Case) -> Span | None:
    """Return a try that a name server answered with an error."""
    tried = (one.span for one in case.attempts if one.result is FailureKind.NAME_SERVER_FAILS)
    return next(tried, None)


def _report(
    network: Prefix, last: Setting, told: tuple[Span | None, Complaint], *, sure: bool
) -> Finding:
    refused, complaint = told
    spans = (last.span, refused, complaint.span)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"The resolver's access list allows other networks, but not {network}.",
        evidence=tuple(span for span in spans if span is not None),
        reasoning=("unbound refuses queries from any address that no line allows.",),
        breaks=(f"names for clients in {network}",),
        repairs=(
            Repair(
                title="allow the network and reload",
                commands=(f"# unbound.conf: access-control: {network} allow",),
            ),
        ),
        prevention="Add a VPN's or a new subnet's range where the resolver's clients are listed.",
        certainty=1.0 if sure else LIKELY,
        asks=()
        if sure
        else (
            FollowUp(
                "which address the resolver sees, and how it answers",
                "dig @RESOLVER example.com; tcpdump -ni any port 53 (on the resolver)",
                "REFUSED, to an address that no line allows: add it",
            ),
        ),
        marks=("access-control",),
    )
