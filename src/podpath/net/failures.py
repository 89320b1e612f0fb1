"""How a connection ends, as its user meets it: each way to fail is a fact of its own that some
causes make and others cannot.
"""

from __future__ import annotations

from enum import StrEnum


class FailureKind(StrEnum):
    """What the one who connects sees. The values of the first four are those of the published
    JSON.
    """

    TIMEOUT = "timeout"
    """No answer at all (ETIMEDOUT), or none within somebody's patience."""
    REFUSED = "refused"
    """ECONNREFUSED: a TCP reset to the SYN, or an ICMP port unreachable."""
    RESET = "reset"
    """ECONNRESET: a TCP reset in an established connection."""
    UNREACHABLE = "unreachable"
    """Some error of routing or ICMP, where the text does not say which."""
    NO_ROUTE_TO_HOST = "no route to host"
    """EHOSTUNREACH: a neighbor that does not answer, or an ICMP host error."""
    NETWORK_UNREACHABLE = "network unreachable"
    """ENETUNREACH: no route, or an ICMP network error."""
    NOT_PERMITTED = "operation not permitted"
    """EPERM: the host's own filter dropped what it sent, or BPF refused the connection."""
    ACCESS_DENIED = "permission denied"
    """EACCES: a prohibit route or policy rule, a broadcast address, or a security module."""
    INVALID_ARGUMENT = "invalid argument"
    """EINVAL: a blackhole route, or a source address that is none of the sender's."""
    HANGS = "hangs"
    """The connection opens, and large answers or a TLS handshake never come to an end."""
    NAME_NOT_RESOLVED = "name not resolved"
    """The name has no address, or its server does not answer; the text does not say which."""
    NAME_UNKNOWN = "name unknown"
    """NXDOMAIN: a name server answers that there is no such name."""
    NAME_SERVER_FAILS = "name server fails"
    """SERVFAIL or REFUSED: a name server answers that it cannot or will not say."""
    NAME_SERVER_SILENT = "name server silent"
    """No name server was reached, or none answered in time."""
    SOMETIMES = "sometimes"
    """It works at times: a share of the tries fails, or takes seconds."""
    SLOW = "slow"
    """It works, and slower than it should."""
    ERROR_ANSWER = "error answer"
    """The connection stands and somebody answers with an error: HTTP 502, a certificate that is
    refused.
    """
    WRONG_PEER = "wrong peer"
    """Somebody else answers, or the server sees another source address than the client's."""
    NO_ADDRESS = "no address"
    """A machine, container or pod gets no address: no DHCP lease, none left to give."""
    NOT_STARTED = "not started"
    """A pod, node, agent or container does not get ready, or ends: its network is not made."""


class Ending(StrEnum):
    """How a try ends that did not fail."""

    OK = "ok"
    INTERRUPTED = "interrupted"
    """Its person stopped it before it came to an end: neither success nor failure."""


Result = FailureKind | Ending
"""What came of a try."""

NAMES = frozenset(
    {FailureKind.NAME_UNKNOWN, FailureKind.NAME_SERVER_FAILS, FailureKind.NAME_SERVER_SILENT}
)
"""The ways in which a name is not resolved."""
ANSWERED = frozenset({
    FailureKind.NAME_UNKNOWN, FailureKind.NAME_SERVER_FAILS, FailureKind.ERROR_ANSWER,
    FailureKind.SLOW, FailureKind.WRONG_PEER,
})  # fmt: skip
"""Failures behind which packets went both ways: what they break is no path."""
VAGUE = frozenset({FailureKind.UNREACHABLE, FailureKind.NAME_NOT_RESOLVED, FailureKind.SOMETIMES})
"""Words that do not say what the kernel said: they fit more than one error."""


def is_failure(result: Result) -> bool:
    """Tell whether a try failed, in any way."""
    return isinstance(result, FailureKind)


def breaks_path(result: Result) -> bool:
    """Tell whether a try failed on the way: its packets, or the answers to them, did not arrive as
    they should.
    """
    return isinstance(result, FailureKind) and result not in ANSWERED
