"""ruleset-not-written: a component cannot write its rules.

What it is
    iptables, iptables-restore, nft or ipset answered with an error, or waits for the lock of xtables.

Why it breaks
    A restore is all or nothing: with one line that fails none is written, and services keep old backends or have
    none. Mixed versions or backends (legacy and nft), a set that a rule still uses, a missing extension or a held
    lock are behind it.

How to confirm
    iptables --version; iptables-save | grep -c .; ls -l /run/xtables.lock; fuser -v /run/xtables.lock

How to fix
    Use one backend and one version on the host and in containers; remove what holds the lock or floods the tables.

References
    iptables-restore(8); kube-proxy, syncProxyRules
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Ask, Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (Category.RULESET_FAILURE,)
NAME = "ruleset-not-written"
KINDS = (
    MessageKind.IPTABLES_FAILED,
    MessageKind.RESTORE_FAILED,
    MessageKind.SET_FAILED,
    MessageKind.NFT_FAILED,
    MessageKind.XTABLES_LOCKED,
)
ASK = Ask(
    "which component fails to write its rules, and whether it still does",
    (
        "iptables --version; iptables-save | head; journalctl -u docker -u kubelet; kubectl logs -n "
        "kube-system -l k8s-app=kube-proxy --tail=50"
    ),
    "the same error at each sync: it is the cause; once: it is over",
)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    error = get_value(said, "error")
    error = f" ({error})" if error else ""
    meaning = Meaning(
        claim=f"A component cannot write its rules{error}.",
        breaks="what the rules were for",
        cure="see which line fails, and use one backend of iptables everywhere",
        certainty=0.6,
        ask=ASK,
    )
    yield tell(NAME, said, meaning)
