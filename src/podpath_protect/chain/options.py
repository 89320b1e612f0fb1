"""What the chain's keeper is told: which plugin, into which folder, for which runtime."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from podpath.net.tables import parse_duration
from podpath_protect.chain.editing import EditingError, parse_entry

SHORTEST_POLL = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class KubeconfigOptions:
    """A kubeconfig for the plugin, from the agent's own service account."""

    path: str
    account_dir: str = "/var/run/secrets/kubernetes.io/serviceaccount"
    server: str = ""
    """The API server's URL; empty takes KUBERNETES_SERVICE_HOST and _PORT."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainOptions:
    """The keeper's part of the agent's configuration."""

    entry: str = ""
    """The plugin's entry as JSON, or the path of a file that has it: for a node on which no
    installer has chained one yet. What an installer chained counts before it.
    """
    type: str = ""
    """The plugin's type, where there is no entry: its installer's own is kept, and nothing else."""
    remember: str = ""
    """A file in which the installer's last entry outlives the process; empty keeps it in memory."""
    config_map: str = ""
    """NAMESPACE/NAME of the ConfigMap that the mesh's chart creates: where a node has neither entry
    nor program, it says whether there is a mesh at all. Empty takes it that there is one.
    """
    config_key: str = "cni_network_config"
    """Under which key the ConfigMap has the plugin's entry."""
    gone_after: float = field(default=2.0, metadata={"parse": parse_duration})
    """How long the plugin's program must be gone before its entries are taken out."""
    conf_dir: str = "/etc/cni/net.d"
    bin_dirs: tuple[str, ...] = ("/opt/cni/bin",)
    runtime: Literal["auto", "containerd", "cri-o"] = "auto"
    """Whose choice of file counts; `auto` is the one that runs, in the agent, which sees the node's
    processes, and otherwise what either would load.
    """
    scope: Literal["loaded", "every"] = "loaded"
    """`every` chains into every file that a runtime could load, as linkerd's installer does."""
    conf_name: str = ""
    """Chain into this file, or its twin with the other extension, instead: what a meta plugin as
    Multus delegates to.
    """
    drop_in: bool = False
    """Put the entry into the network's drop-in directory instead of the file: only for runtimes
    with libcni 1.3.0 or newer.
    """
    binaries: tuple[str, ...] = ()
    """Programs to copy into the first of `bin_dirs` before anything is chained."""
    kubeconfig: KubeconfigOptions | None = None
    poll: float = field(default=10.0, metadata={"parse": parse_duration})
    """How often the folder is looked at although nothing was heard."""
    fight_rounds: int = 5
    """Reverted so often in a minute, the keeper slows down and names the rival."""
    longest_pause: float = field(default=60.0, metadata={"parse": parse_duration})
    remove_on_stop: bool = False
    """Take the entry out when told to stop. Off, so that pods wait for the plugin over a restart
    instead of passing it by.
    """

    def __post_init__(self) -> None:
        """Refuse options that name no plugin."""
        if not self.entry and not self.type:
            raise ValueError("an entry, or a type whose installer's entry is kept")
        if "/" in self.type:
            raise ValueError(f"a type that is the name of a program, saw {self.type!r}")
        if self.entry.lstrip().startswith("{"):
            _check_entry(self.entry, self.type)
        if self.poll < SHORTEST_POLL:
            raise ValueError(f"a poll of {SHORTEST_POLL:g}s or more")
        parts = self.config_map.split("/")
        if self.config_map and (len(parts) != 2 or not all(parts)):  # namespace and name
            raise ValueError("a config_map as NAMESPACE/NAME")


def _check_entry(text: str, wanted: str) -> None:
    """Refuse an entry that is none, or is another plugin's."""
    try:
        kind = parse_entry(text).type
    except EditingError as error:
        raise ValueError(f"an entry that can be chained: {error}") from error
    if "/" in kind or wanted not in {"", kind}:
        raise ValueError(f"an entry of {wanted or 'a program by its name'}, saw one of {kind!r}")
