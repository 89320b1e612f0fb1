"""upstream-protocol-error: the application's answer breaks HTTP's rules, and the proxy resets it.

What it is
    Envoy's flag UPE (or DPE): the upstream (or the client) sent what HTTP does not allow.

Why it breaks
    Two Transfer-Encoding headers, Content-Length with chunked, illegal names of headers, HTTP/1 where HTTP/2 is
    spoken: without a proxy many clients take it, Envoy answers 502.

How to confirm
    curl -v --raw http://POD:PORT/PATH past the proxy; kubectl logs POD -c istio-proxy with debug of http

How to fix
    Mend the application's answer, or name the port's protocol rightly (http, http2, grpc, tcp).

References
    Envoy, Access logging, response flags; RFC 9112
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.said import Meaning, find_said, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (Category.APPLICATION,)
NAME = "upstream-protocol-error"
KINDS = (MessageKind.PROTOCOL_ERROR,)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    meaning = Meaning(
        claim="The other end's HTTP breaks the protocol, so Envoy resets the connection.",
        breaks="those requests, always",
        cure="mend the application's answer, or the name of the port's protocol",
        commands=("curl -v --raw http://POD:PORT/PATH",),
    )
    yield tell(NAME, said, meaning)
