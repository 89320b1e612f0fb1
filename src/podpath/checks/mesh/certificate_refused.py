"""certificate-refused: a certificate is not accepted.

What it is
    The TLS handshake ends since the peer's certificate is expired, signed by somebody unknown, or is for another name
    or address.

Why it breaks
    The packets arrive; it is no fault of the network. After a cluster was made anew, an address changed or a year
    went by, kubeconfigs, webhooks and proxies keep old authorities or names.

How to confirm
    openssl s_client -connect HOST:PORT </dev/null | openssl x509 -noout -dates -subject -issuer -ext subjectAltName;
      kubeadm certs check-expiration

How to fix
    Renew the certificate (kubeadm certs renew all), add the name or address to it, or give the client the right
    authority; check clocks.

References
    RFC 5280 section 6; RFC 6125
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (Category.NAME_OR_CERTIFICATE,)
NAME = "certificate-refused"
KINDS = (MessageKind.CERTIFICATE_REFUSED,)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    error = get_value(said, "error", default="it fails to verify")
    meaning = Meaning(
        claim=f"The certificate is not accepted: {error}.",
        breaks="connections to that server, always",
        cure="renew the certificate, or give the client the authority and name that fit",
    )
    yield tell(NAME, said, meaning)
