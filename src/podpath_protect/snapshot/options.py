"""What the configuration says of the snapshot endpoint."""

from __future__ import annotations

from dataclasses import dataclass, field

from podpath.net.tables import parse_duration
from podpath_protect.reflect.options import POD, parse_listen
from podpath_protect.validate.sockets import SocketEnd

PORT = 9810


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotOptions:
    """The section [snapshot] of the agent's configuration; without it no snapshot is served."""

    listen: tuple[SocketEnd, ...] = field(
        default=(SocketEnd(POD, PORT),), metadata={"parse": parse_listen}
    )
    """Where it is asked, which the API server must reach; `pod` stands for every address of
    $POD_IPS, or $POD_IP.
    """
    certificate: str = "/run/podpath-tls/tls.crt"
    """Its certificate, in PEM; read again when it changes."""
    key: str = "/run/podpath-tls/tls.key"
    cache: float = field(default=10.0, metadata={"parse": parse_duration})
    """How long a snapshot is handed out again before another is taken."""
    limit: float = field(default=60.0, metadata={"parse": parse_duration})
    """How long taking one may last."""
    megabytes: int = 128
    """How large a packed one may be."""
    memory: int = 1024
    """MB of address space that each process which takes one may have."""
    node_netns: str = ""
    """The node's own network namespace, where it is not that of process 1: a name, a process or a
    file.
    """

    def __post_init__(self) -> None:
        """Refuse what could never be served."""
        if self.megabytes < 1 or self.memory < 128:
            raise ValueError("megabytes of 1 or more and memory of 128 or more")
        if self.limit < 1:
            raise ValueError("a limit of 1s or more")
