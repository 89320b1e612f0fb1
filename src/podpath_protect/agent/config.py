"""The agent's configuration: one TOML file, a section for each part, and a part runs if its section
is there.

TOML, since Python reads it without a library, it has comments, and its types (a port is a number,
`no` is not false) leave nothing to guess. Whatever is unknown, of the wrong kind or meaningless is
refused with its line, all at once.
"""

from __future__ import annotations

import ipaddress
import os
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from podpath.net.tables import TableError, parse_duration, parse_tables
from podpath_protect.chain.options import ChainOptions
from podpath_protect.cluster.limits import ClusterLimits
from podpath_protect.drops.options import DropOptions
from podpath_protect.order.options import OrderOptions
from podpath_protect.reflect.options import ReflectOptions
from podpath_protect.reflect.options import parse_listen as parse_ends
from podpath_protect.repair.policy import Policy
from podpath_protect.snapshot.options import SnapshotOptions
from podpath_protect.sysctl.options import SysctlOptions
from podpath_protect.validate.sockets import SocketEnd

LONGEST_FILE = 1 << 20
KEEPERS = ("sysctl", "order", "chain", "repair", "reflect", "snapshot", "drops")
PARTS = (*KEEPERS, "metrics")
POD = "pod"
METRICS_PORT = 9811
LONGEST_KEY = 253 + 1 + 63
_TAINT = re.compile(
    r"(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?", re.ASCII
)
"""A qualified name (apimachinery, `validation.IsQualifiedName`)."""


class Listen(NamedTuple):
    """Where the health endpoints listen."""

    host: str
    """An address, `pod` for the pod's own ($POD_IP), or empty for none at all."""
    port: int


def parse_listen(value: object) -> Listen:
    """Read `127.0.0.1:9809`, `[::1]:9809`, `pod:9809` or `off`; never a wildcard, since the
    endpoints are not for the world.
    """
    if value == "off":
        return Listen("", 0)
    text = value if isinstance(value, str) else ""
    host, sign, port = text.rpartition(":")
    address = host.removeprefix("[").removesuffix("]") if host.startswith("[") else host
    if (
        sign
        and port.isascii()
        and port.isdigit()
        and int(port) < 1 << 16
        and (address == POD or _is_single(address))
    ):
        return Listen(address, int(port))
    raise ValueError("ADDRESS:PORT with one address of this host, `pod:PORT`, or `off`")


def is_wildcard(text: str) -> bool:
    """Tell whether an address stands for all, also as `::ffff:0.0.0.0`; `ValueError` where it is
    none.
    """
    address = ipaddress.ip_address(text)
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_unspecified


def _is_single(text: str) -> bool:
    try:
        return not is_wildcard(text)
    except ValueError:
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthOptions:
    """Section [health]: /livez, /readyz and /metrics."""

    listen: Listen = field(default=Listen("127.0.0.1", 9809), metadata={"parse": parse_listen})
    metrics: bool = True
    """Serve /metrics there too, to whoever reaches the address; [metrics] asks who it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsOptions:
    """Section [metrics]: /metrics over TLS, for those whom the API server lets have them."""

    listen: tuple[SocketEnd, ...] = field(
        default=(SocketEnd(POD, METRICS_PORT),), metadata={"parse": parse_ends}
    )
    """Where it is scraped; `pod` stands for every address of $POD_IPS, or $POD_IP."""
    certificate: str = "/run/podpath-tls/tls.crt"
    """Its certificate, in PEM; read again when it changes."""
    key: str = "/run/podpath-tls/tls.key"
    audience: str = ""
    """Whom a scraper's token is made for; empty is the API server, as mounted tokens are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions:
    """Section [log]."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    format: Literal["json", "text"] = "json"


@dataclass(frozen=True, slots=True, kw_only=True)
class KubernetesOptions:
    """Section [kubernetes]: the node's taint and events; without it the agent speaks to no API
    server.
    """

    kubeconfig: str = ""
    """Empty takes the pod's service account."""
    context: str = ""
    taint: bool = True
    """Own a taint on the node, from the start until every part is ready, and again when one is
    not.
    """
    taint_key: str = "podpath.dev/not-ready"
    taint_effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] = "NoSchedule"
    """NoExecute also ends pods that are bound already, so it is never the default."""
    grace: float = field(default=10.0, metadata={"parse": parse_duration})
    """How long a part must be unready before the taint comes back: a drift that is put right in a
    moment is no regression.
    """
    events: bool = True
    condition: bool = False
    """Write the node's condition PodpathReady. It needs `patch` of nodes/status, by which a stolen
    token could write any condition, so it is granted only beside the policy (deploy/policy).
    """
    budget: ClusterLimits | None = None
    """What all agents together may do; None leaves each node to its own budgets."""

    def __post_init__(self) -> None:
        """Refuse a taint that no server takes."""
        if _TAINT.fullmatch(self.taint_key) is None or len(self.taint_key) > LONGEST_KEY:
            raise ValueError(
                f"a taint_key such as podpath.dev/not-ready, saw {self.taint_key[:80]!r}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentConfig:
    """The whole file."""

    node: str = ""
    """The node's name; empty takes $NODE_NAME, then the host's name."""
    dry_run: bool = False
    """Look and tell, and change nothing."""
    state: str = ""
    """A folder for what must outlive the process (the repair budget); empty keeps it in memory."""
    health: HealthOptions = field(default_factory=HealthOptions)
    log: LogOptions = field(default_factory=LogOptions)
    kubernetes: KubernetesOptions | None = None
    sysctl: SysctlOptions | None = None
    order: OrderOptions | None = None
    chain: ChainOptions | None = None
    repair: Policy | None = None
    reflect: ReflectOptions | None = None
    snapshot: SnapshotOptions | None = None
    drops: DropOptions | None = None
    metrics: MetricsOptions | None = None

    def __post_init__(self) -> None:
        """Refuse a file by which nothing would run, and what asks an API server without one."""
        if not set(KEEPERS) & set(self.parts()):
            raise ValueError(
                f"at least one of the sections {', '.join(f'[{name}]' for name in KEEPERS)}"
            )
        asking = [name for name in ("repair", "snapshot", "metrics") if name in self.parts()]
        if asking and self.kubernetes is None:
            raise ValueError(
                f"a section [kubernetes] beside [{asking[0]}], which speaks to the API server"
            )

        if self.chain is not None and self.chain.config_map and self.kubernetes is None:
            raise ValueError("a section [kubernetes] beside [chain] with a config_map")
        if self.drops is not None and self.drops.watchers and self.snapshot is None:
            raise ValueError("a section [snapshot] beside [drops] with watchers, whom it serves")

    def parts(self) -> tuple[str, ...]:
        """Return the names of the parts that run."""
        return tuple(name for name in PARTS if getattr(self, name) is not None)


def load_config(path: Path) -> tuple[AgentConfig, str]:
    """Read the file; give it with its text. `TableError` says what is wrong with it, line by
    line.
    """
    try:
        with path.open("rb") as file:
            data = file.read(LONGEST_FILE + 1)
        text = data.decode("utf-8")
    except OSError as error:
        raise TableError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise TableError(f"{path}: expected UTF-8, saw byte {error.start} that is none") from error
    if len(data) > LONGEST_FILE:
        raise TableError(f"{path}: expected at most {LONGEST_FILE >> 20} MB, saw more")
    return parse_tables(text, str(path), AgentConfig), text


def node_name(config: AgentConfig, environment: Mapping[str, str]) -> str:
    """Return the node's name."""
    return config.node or environment.get("NODE_NAME") or socket.gethostname()


def listen_address(listen: Listen, environment: Mapping[str, str]) -> tuple[str, int] | None:
    """Return where to listen; None for nowhere. `TableError` where the pod's address is asked for
    and not known.
    """
    if not listen.host:
        return None
    if listen.host != POD:
        return listen.host, listen.port
    address = environment.get("POD_IP", "")
    if not _is_single(address):
        raise TableError(
            f"expected the pod's address in POD_IP (downward API, status.podIP), saw {address!r}"
        )
    return address, listen.port


def default_environment() -> Mapping[str, str]:
    """Return the process's environment."""
    return os.environ
