"""What proxies say: Envoy's access logs and response flags, Istio, linkerd; and what TLS says of a
peer.
"""

from __future__ import annotations

from podpath.evidence.messages.row import MessagePattern, make_row
from podpath.net.messages import MessageKind

_ACCESS = r"\s(?P<status>[0-9]{1,3}) (?P<flags>(?:[A-Z]{2,5},)*%s(?:,[A-Z]{2,5})*)\s"
"""Status and response flags as Envoy's default format prints them one after the other."""

ROWS: tuple[MessagePattern, ...] = (
    make_row(MessageKind.SECRET_NOT_SUPPLIED, "Secret is not supplied by SDS"),
    make_row(
        MessageKind.PEER_SPEAKS_NO_TLS,
        "WRONG_VERSION_NUMBER",
        r"TLS error: \S*?(?P<error>WRONG_VERSION_NUMBER)|(?P<other>WRONG_VERSION_NUMBER)",
    ),
    make_row(
        MessageKind.PEER_SPEAKS_NO_TLS, "wrong version number", r"(?P<error>wrong version number)"
    ),
    make_row(
        MessageKind.PEER_SPEAKS_NO_TLS,
        "gave HTTP response to HTTPS client",
        r"server (?P<error>gave HTTP response to HTTPS client)",
    ),
    make_row(
        MessageKind.PEER_SPEAKS_NO_TLS,
        "does not look like a TLS handshake",
        r"(?P<error>first record does not look like a TLS handshake)",
    ),
    make_row(
        MessageKind.PEER_SPEAKS_NO_TLS,
        "HTTP request was sent to HTTPS port",
        r"(?P<error>plain HTTP request was sent to HTTPS port)",
    ),
    make_row(
        MessageKind.CERTIFICATE_REFUSED,
        "x509: ",
        r"x509: (?P<error>certificate signed by unknown authority|certificate has expired or is "
        r"not yet valid|certificate is (?:valid for|not valid for|not authorized)[^\"\\]*|"
        r"cannot validate certificate for [^\"\\]*|certificate relies on legacy Common Name field)",
    ),
    make_row(
        MessageKind.CERTIFICATE_REFUSED,
        "CERTIFICATE_VERIFY_FAILED",
        r"(?P<error>CERTIFICATE_VERIFY_FAILED)",
    ),
    make_row(
        MessageKind.CERTIFICATE_REFUSED,
        "certificate verify failed",
        r"(?P<error>certificate verify failed)",
    ),
    make_row(
        MessageKind.CERTIFICATE_REFUSED,
        "invalid peer certificate",
        r"(?P<error>invalid peer certificate(?: contents)?(?:: \w+)?)",
    ),
    make_row(
        MessageKind.CERTIFICATE_REFUSED,
        "SSL certificate problem",
        r"SSL certificate problem: (?P<error>[\w ,'-]+)",
    ),
    make_row(
        MessageKind.PROTOCOL_ERROR,
        "{protocol_error}",
        r"(?P<error>upstream_reset_before_response_started\{protocol_error\})",
    ),
    make_row(MessageKind.PROTOCOL_ERROR, "PE", _ACCESS % "(?:UPE|DPE)"),
    make_row(MessageKind.UPSTREAM_OVERFLOW, "UO", _ACCESS % "UO"),
    make_row(MessageKind.UPSTREAM_OVERFLOW, "reset reason: overflow", "reset reason: overflow"),
    make_row(
        MessageKind.UPSTREAM_FAILED,
        "UF",
        _ACCESS % "UF" + r"(?:.*?\"(?P<upstream>[0-9a-fA-F.:\[\]]+:\d+)\")?",
    ),
    make_row(MessageKind.NO_HEALTHY_UPSTREAM, "UH", _ACCESS % "UH"),
    make_row(MessageKind.NO_HEALTHY_UPSTREAM, "no healthy upstream", "no healthy upstream"),
    make_row(MessageKind.NO_HEALTHY_UPSTREAM, "no_healthy_upstream", "no_healthy_upstream"),
    make_row(MessageKind.ROUTE_UNKNOWN, "N", _ACCESS % "(?:NR|NC)"),
    make_row(
        MessageKind.MESH_DENIED,
        "rbac_access_denied",
        r"rbac_access_denied_matched_policy\[(?P<policy>[^\]]*)\]",
    ),
    make_row(MessageKind.MESH_DENIED, "RBAC: access denied"),
    make_row(MessageKind.MESH_DENIED, "UAEX", _ACCESS % "UAEX"),
    make_row(
        MessageKind.MESH_DENIED,
        "unauthorized connection on",
        r"unauthorized connection on (?P<policy>[\w/.-]+)",
    ),
    make_row(MessageKind.BLACK_HOLE_CLUSTER, "BlackHoleCluster"),
)
"""A flag alone says how Envoy failed, not why; what TLS says names the reason."""
