"""What the configuration says of the reflector, and the addresses that it comes to."""

from __future__ import annotations

import ipaddress
import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from podpath_protect.reflect.messages import PORT
from podpath_protect.validate.sockets import SocketEnd, parse_end

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
POD = "pod"
_EXPECTED = "ADDRESS:PORT with one address of this host or `pod:PORT`, or a list of those"


def parse_listen(value: object) -> tuple[SocketEnd, ...]:
    """Read `pod:15105`, `10.0.0.1:15105`, `[fd00::1]:15105` or a list of them; never a wildcard."""
    words = value if isinstance(value, list) else [value]
    if not words or not all(isinstance(word, str) for word in words):
        raise ValueError(_EXPECTED)
    return tuple(map(_parse_one, words))


def _parse_one(text: str) -> SocketEnd:
    host, _, port = text.rpartition(":")
    if host == POD and port.isascii() and port.isdigit() and int(port) < 1 << 16:
        return SocketEnd(POD, int(port))
    try:
        end = parse_end(text)
    except ValueError:
        raise ValueError(f"{_EXPECTED}, saw {text!r}") from None
    address = ipaddress.ip_address(end.address)
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    if (mapped or address).is_unspecified:
        raise ValueError(f"{_EXPECTED}, saw {text!r}")
    return end


def parse_networks(value: object) -> tuple[Network, ...]:
    """Read a list of networks; `ValueError` names the one that is none."""
    if not isinstance(value, list):
        raise ValueError("a list of networks such as `10.244.0.0/16`")  # noqa: TRY004  # what a parser of fields says
    found: list[Network] = []
    for word in value:
        try:
            found.append(ipaddress.ip_network(word if isinstance(word, str) else "", strict=False))
        except ValueError:
            raise ValueError(f"a network such as `10.244.0.0/16`, saw {word!r}") from None
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectOptions:
    """The section [reflect] of the agent's configuration."""

    listen: tuple[SocketEnd, ...] = field(
        default=(SocketEnd(POD, PORT),), metadata={"parse": parse_listen}
    )
    """Where it is asked; `pod` stands for every address of $POD_IPS, or $POD_IP, which on the
    host's network are the node's.
    """
    allow: tuple[Network, ...] = field(default=(), metadata={"parse": parse_networks})
    """Whom it serves; none means the pods of this node: whoever does not come by a device of a
    default route.
    """
    per_second: float = 50.0
    """Connections a second, to all pods together."""

    def __post_init__(self) -> None:
        """Refuse a budget that would never let a request through."""
        if not 1 <= self.per_second < math.inf:
            raise ValueError("a per_second of 1 or more")


def resolve(listen: tuple[SocketEnd, ...], environment: Mapping[str, str]) -> tuple[SocketEnd, ...]:
    """Put the pod's own addresses where they are meant; none where the environment does not tell
    them.
    """
    told = environment.get("POD_IPS") or environment.get("POD_IP") or ""
    own = [word.strip() for word in told.split(",") if word.strip()]
    found: list[SocketEnd] = []
    for end in listen:
        found += [SocketEnd(address, end.port) for address in own] if end.address == POD else [end]
    return tuple(dict.fromkeys(found))
