"""secret-not-supplied: Envoy has no certificate for its TLS connections.

What it is
    `Secret is not supplied by SDS`: the secret discovery service never sent the certificate that a cluster or
    listener needs.

Why it breaks
    Every connection that needs it fails with UF or URX. The secret does not exist in the proxy's namespace, the
    service account may not read it, or the proxy missed it at its start.

How to confirm
    istioctl proxy-config secret POD; kubectl get secret -n NAMESPACE; kubectl logs -n istio-system deploy/istiod

How to fix
    Create the secret that credentialName names in the gateway's namespace, mend its rights, then restart the proxy.

References
    Envoy, Secret discovery service; Istio, Gateway TLS
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.said import Meaning, find_said, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (
    Category.NAME_OR_CERTIFICATE,
    Category.MESH_POLICY,
)
NAME = "secret-not-supplied"
KINDS = (MessageKind.SECRET_NOT_SUPPLIED,)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    meaning = Meaning(
        claim="Envoy never got the certificate that its TLS connection needs from the secret discovery service.",
        breaks="connections that need that certificate",
        cure="supply the secret, and restart the proxy",
        commands=("istioctl proxy-config secret POD",),
    )
    yield tell(NAME, said, meaning)
