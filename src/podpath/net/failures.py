"""How a connection fails, as its user meets it: each way is a fact of its own, which some causes can make and others cannot."""

from __future__ import annotations

from enum import StrEnum


class FailureKind(StrEnum):
    """What the one who connects sees. The values of the first four are those of the published JSON."""

    TIMEOUT = "timeout"
    """No answer at all (ETIMEDOUT), or none within somebody's patience."""
    REFUSED = "refused"
    """ECONNREFUSED: a TCP reset to the SYN, or an ICMP port unreachable."""
    RESET = "reset"
    """ECONNRESET: a TCP reset in an established connection."""
    UNREACHABLE = "unreachable"
    """Some error of routing or ICMP, where the text does not say which."""
    NO_ROUTE_TO_HOST = "no route to host"
    """EHOSTUNREACH: a neighbour that does not answer, or an ICMP host error."""
    NETWORK_UNREACHABLE = "network unreachable"
    """ENETUNREACH: no route, or an ICMP network error."""
    NOT_PERMITTED = "operation not permitted"
    """EPERM: the host's own filter dropped what it sent, or BPF refused the connection."""
    HANGS = "hangs"
    """The connection opens, and large answers or a TLS handshake never come to an end."""
    NAME_NOT_RESOLVED = "name not resolved"
    """The name has no address, or its server does not answer."""
    SOMETIMES = "sometimes"
    """It works at times: a share of the tries fails, or takes seconds."""
    SLOW = "slow"
    """It works, and slower than it should."""
    ERROR_ANSWER = "error answer"
    """The connection stands and somebody answers with an error: HTTP 502, a certificate that is refused."""
    WRONG_PEER = "wrong peer"
    """Somebody else answers, or the server sees another source address than the client's."""
    NO_ADDRESS = "no address"
    """A machine, container or pod gets no address: no DHCP lease, none left to give."""
    NOT_STARTED = "not started"
    """A pod, node, agent or container does not get ready, or ends: its network is not made."""
