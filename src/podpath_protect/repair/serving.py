"""What a pod's own proxy serves: of which address families it takes connections.

Rules that lead a family to a proxy that does not listen for it end every connection of that family,
so a pod is judged and mended in the families that its proxy serves, and in no other. What comes in
are the listening sockets of the pod's namespace (/proc/net/tcp and tcp6, which the kernel writes)
and what the proxy's container was told to listen on; what goes out is a `ProxyService`. Sockets
count before words, since they are what a redirected packet meets; words count while the proxy has
not begun, as in a pod whose validator holds it up. Where neither speaks, only the first of the
pod's addresses, which every mesh serves, is taken to be served.
"""

from __future__ import annotations

import ipaddress
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

_ROW: Final = re.compile(
    r"\s*[0-9]+: (?P<host>[0-9A-F]{8,32}):(?P<port>[0-9A-F]{4}) [0-9A-F]+:[0-9A-F]{4} 0A "
)
"""A row of /proc/net/tcp whose state is TCP_LISTEN (net/ipv4/tcp_ipv4.c:get_tcp4_sock v6.12)."""
_WORDS: Final = {4: 8, 6: 32}
_EITHER: Final = "::"
_ORDER: Final = sys.byteorder
LONGEST_VARIABLE: Final = 1024
"""A variable that says where to listen is not read further: whoever writes pods can write it."""


class ListeningSocket(NamedTuple):
    """A socket that takes TCP connections."""

    address: str
    port: int

    def takes(self, family: int) -> bool:
        """Tell whether a connection of a family can come to it; `::` takes IPv4 too, as the kernel
        has it unless a program asks otherwise.
        """
        version = ipaddress.ip_address(self.address).version
        return version == family or self.address == _EITHER


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyService:
    """Which families of a pod its proxy serves."""

    families: tuple[int, ...]
    left: tuple[int, ...] = ()
    """Families of the pod's addresses that are neither judged nor mended."""
    why: str = ""
    """How it is known; empty where nothing is left out."""


def find_served(
    addresses: Sequence[str],
    ports: tuple[int, int],
    listening: Iterable[ListeningSocket],
    declared: Sequence[ListeningSocket],
) -> ProxyService:
    """Return the families that a proxy serves; `ports` are those for outbound and inbound."""
    own = tuple(dict.fromkeys(ipaddress.ip_address(address).version for address in addresses))
    sockets = [socket for socket in listening if socket.port in ports]
    if {socket.port for socket in sockets} == set(ports):
        return _serve(own, ports, sockets, "as its sockets listen")
    if {socket.port for socket in declared} >= set(ports):
        return _serve(own, ports, declared, "as its container is told to listen")
    return _split(own, own[:1], "it does not listen yet, and nothing says of what it will")


def _serve(
    own: tuple[int, ...], ports: tuple[int, int], sockets: Sequence[ListeningSocket], how: str
) -> ProxyService:
    served = [family for family in own if _is_served(family, ports, sockets)]
    return _split(own, served, how)


def _is_served(family: int, ports: Sequence[int], sockets: Sequence[ListeningSocket]) -> bool:
    return all(_is_taken(family, port, sockets) for port in ports)


def _is_taken(family: int, port: int, sockets: Sequence[ListeningSocket]) -> bool:
    return any(socket.port == port and socket.takes(family) for socket in sockets)


def _split(own: tuple[int, ...], served: Sequence[int], how: str) -> ProxyService:
    left = tuple(sorted(family for family in own if family not in served))
    spelled = " and ".join(f"IPv{family}" for family in left)
    why = f"{spelled} is left alone, since its proxy does not serve it ({how})" if left else ""
    return ProxyService(families=tuple(sorted(served)), left=left, why=why)


def parse_listening(text: str) -> tuple[ListeningSocket, ...]:
    """Read the listening sockets from /proc/net/tcp and tcp6, one behind the other; lines of any
    other shape are passed over.
    """
    return tuple(_listening(text.splitlines()))


def _listening(lines: Iterable[str]) -> Iterator[ListeningSocket]:
    for line in lines:
        found = _ROW.match(line)
        if found is not None and len(found["host"]) in _WORDS.values():
            yield ListeningSocket(_address(found["host"]), int(found["port"], 16))


def _address(words: str) -> str:
    """Read an address in words of 32 bits of the machine's order, as the kernel prints it."""
    packed = b"".join(
        int(words[place : place + 8], 16).to_bytes(4, _ORDER) for place in range(0, len(words), 8)
    )
    return str(ipaddress.ip_address(packed))


def parse_declared(text: str) -> tuple[ListeningSocket, ...]:
    """Read `ADDRESS:PORT` of a proxy's variable, one or several behind commas; what is none is
    passed over.
    """
    found = []
    for word in text[:LONGEST_VARIABLE].split(","):
        host, _, port = word.strip().rpartition(":")
        try:
            address = ipaddress.ip_address(host.removeprefix("[").removesuffix("]"))
        except ValueError:
            continue
        if port.isascii() and port.isdecimal() and len(port) <= 5 and 0 < int(port) < 65536:
            found.append(ListeningSocket(str(address), int(port)))
    return tuple(found)
