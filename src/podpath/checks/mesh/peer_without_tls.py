"""peer-without-tls: one end speaks TLS and the other does not.

What it is
    `WRONG_VERSION_NUMBER`, `server gave HTTP response to HTTPS client`, `first record does not look like a TLS
    handshake`.

Why it breaks
    The packets arrive, but a client that starts TLS meets plain text or the reverse: a mesh's mutual TLS towards a
    workload without a sidecar, TLS twice (HTTPS inside an HTTPS upstream), or the wrong port of a server that has
    both.

How to confirm
    openssl s_client -connect HOST:PORT; curl -v http://HOST:PORT; istioctl x describe pod POD

How to fix
    Make both ends agree: a DestinationRule with tls mode DISABLE or ISTIO_MUTUAL, PeerAuthentication, the right port
    or scheme.

References
    Envoy, Transport socket TLS; Istio, TLS Configuration
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (
    Category.MESH_POLICY,
    Category.NAME_OR_CERTIFICATE,
    Category.WRONG_PORT,
)
NAME = "peer-without-tls"
KINDS = (MessageKind.PEER_SPEAKS_NO_TLS,)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    error = get_value(said, "error")
    error = f" ({error})" if error else ""
    meaning = Meaning(
        claim=f"One end speaks TLS and the other does not{error}.",
        breaks="that connection, always",
        cure="make both ends speak TLS, or neither; or take the other port",
    )
    yield tell(NAME, said, meaning)
