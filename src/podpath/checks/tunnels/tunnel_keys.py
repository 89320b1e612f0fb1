"""tunnel-keys: the ends of an encrypted tunnel do not agree.

What it is
    WireGuard dropped a source that AllowedIPs does not name, has no peer or endpoint for a destination; or IKE found
    no common proposal, identity or secret.

Why it breaks
    Encryption needs the same on both ends: what does not fit is dropped, and the kernel or the daemon says so.

How to confirm
    wg show; ip route get ADDRESS; swanctl --log; ipsec statusall

How to fix
    Add the range to the peer's AllowedIPs (each range to one peer), an endpoint; make proposals, identities and keys
    the same.

References
    wg(8), allowed-ips; RFC 7296 section 1.3
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (Category.TUNNEL_CONFIGURATION,)
NAME = "tunnel-keys"
KINDS = (
    MessageKind.PEER_SOURCE_NOT_ALLOWED,
    MessageKind.KEYS_NOT_AGREED,
)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    error = get_value(said, "error", "src")
    error = f" ({error})" if error else ""
    meaning = Meaning(
        claim=f"The ends of the encrypted tunnel do not agree{error}.",
        breaks="what should go through the tunnel",
        cure="make keys, ranges and proposals fit on both ends",
        commands=("wg show",),
    )
    yield tell(NAME, said, meaning)
