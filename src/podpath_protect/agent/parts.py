"""The parts that a configuration asks for, made into keepers; what a part does not need is not
imported.

Each part is made from its own section alone, so that a change of the configuration restarts the
parts that it is about alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from podpath.net.errors import MissingExtra
from podpath_protect.agent.config import AgentConfig, node_name
from podpath_protect.agent.keeper import Body, Keeper, KeeperContext, KeeperStatus, ThreadKeeper
from podpath_protect.apply import Applier
from podpath_protect.capabilities import describe_missing
from podpath_protect.drops.feed import DropBoard

T = TypeVar("T")

NODE = "node"
"""The name of the part that speaks to the API server of the node itself."""
NEEDED: Mapping[str, Mapping[str, str]] = {
    "sysctl": {"CAP_NET_ADMIN": "writing sysctls of the network"},
    "order": {
        "CAP_NET_ADMIN": "listing and moving rules",
        "CAP_NET_RAW": "legacy iptables, which asks through a raw socket",
    },
    "chain": {},
    "repair": {
        "CAP_SYS_ADMIN": "entering pods' namespaces",
        "CAP_SYS_PTRACE": "finding pods' processes",
        "CAP_NET_ADMIN": "mending rules",
    },
    "reflect": {},
    "snapshot": {
        "CAP_SYS_ADMIN": "entering pods' namespaces",
        "CAP_SYS_PTRACE": "finding pods' processes",
        "CAP_NET_ADMIN": "listing rules",
        "CAP_NET_RAW": "legacy iptables, which asks through a raw socket",
    },
    "drops": {
        "CAP_SYS_ADMIN": "entering pods' namespaces, and BPF",
        "CAP_SYS_PTRACE": "finding pods' processes",
        "CAP_SYSLOG": "the names of the kernel's functions",
        "CAP_NET_ADMIN": "listing rules",
        "CAP_NET_RAW": "legacy iptables, which asks through a raw socket",
    },
}
"""What each part can need; a part without it says so where it fails."""
_EXTRA = "speaking to an API server needs more packages: pip install 'podpath[k8s]'"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentContext:
    """What parts know of each other and of where they run."""

    environment: Mapping[str, str]
    statuses: Callable[[], Mapping[str, KeeperStatus]]
    """How all parts stand now."""
    drops: DropBoard
    """Where `drops` says what it hears, for `snapshot` to serve."""
    metrics: Callable[[], str] = lambda: ""
    """Writes all that is measured, for `metrics` to serve."""


Recipe = tuple[object, ...]
"""What a part is made from: where it stays the same, the part may go on."""


def list_recipes(config: AgentConfig, environment: Mapping[str, str]) -> dict[str, Recipe]:
    """Return the parts that shall run, each with what it is made from."""
    node = node_name(config, environment)
    recipes: dict[str, Recipe] = {}
    if config.kubernetes is not None:
        recipes[NODE] = (config.kubernetes, node, config.dry_run)
    for name in config.parts():
        recipes[name] = (getattr(config, name), config.dry_run)
    if config.chain is not None and config.chain.config_map:
        recipes["chain"] = (config.chain, config.dry_run, config.kubernetes)
    if config.repair is not None:
        recipes["repair"] = (config.repair, config.dry_run, config.kubernetes, node, config.state)
    if config.snapshot is not None:
        recipes["snapshot"] = (config.snapshot, config.kubernetes, node)
    if config.metrics is not None:
        recipes["metrics"] = (config.metrics, config.kubernetes, node)
    return recipes


def make_keeper(name: str, config: AgentConfig, surroundings: AgentContext) -> Keeper:
    """Make one part; nothing runs yet."""
    return ThreadKeeper(name, _MAKERS[name](config, surroundings))


def _sysctl(config: AgentConfig, surroundings: AgentContext) -> Body:  # noqa: ARG001  # one signature for all
    from podpath_protect.sysctl.keeper import keep_sysctls  # noqa: PLC0415  # only where it runs

    options, applier = _required(config.sysctl), Applier(dry_run=config.dry_run)
    return lambda context: keep_sysctls(context, options, applier)


def _order(config: AgentConfig, surroundings: AgentContext) -> Body:  # noqa: ARG001  # as above
    from podpath_protect.order.keeper import keep_order  # noqa: PLC0415  # as above

    options, applier = _required(config.order), Applier(dry_run=config.dry_run)
    return lambda context: keep_order(context, options, applier)


def _chain(config: AgentConfig, surroundings: AgentContext) -> Body:  # noqa: ARG001  # as above
    from podpath_protect.chain.keeper import keep_chain  # noqa: PLC0415  # as above
    from podpath_protect.chain.running import RunningRuntimes  # noqa: PLC0415  # as above

    options, applier = _required(config.chain), Applier(dry_run=config.dry_run)
    if config.state and not options.remember:
        options = replace(options, remember=str(Path(config.state) / "chain-entry.json"))
    running = RunningRuntimes(time.monotonic)
    if not options.config_map:
        return lambda context: keep_chain(context, options, applier, running=running.look)
    try:
        from podpath.kube.client import Client  # noqa: PLC0415  # needs an extra
        from podpath_protect.agent.node import find_access  # noqa: PLC0415  # as above
        from podpath_protect.chain.mesh import MeshConfigMap  # noqa: PLC0415  # as above
    except ImportError as error:
        raise MissingExtra(_EXTRA) from error
    kubernetes = _required(config.kubernetes)

    def body(context: KeeperContext) -> None:
        with Client(find_access(kubernetes)) as client:
            mesh = MeshConfigMap(client, options, time.monotonic)
            keep_chain(context, options, applier, mesh.look, running.look)

    return body


def _repair(config: AgentConfig, surroundings: AgentContext) -> Body:
    try:
        from podpath_protect.agent.node import find_access  # noqa: PLC0415  # needs an extra
        from podpath_protect.repair.keeper import RepairScope, make_body  # noqa: PLC0415  # as above
    except ImportError as error:
        raise MissingExtra(_EXTRA) from error
    environment, kubernetes, policy = (
        surroundings.environment,
        _required(config.kubernetes),
        _required(config.repair),
    )
    names = environment.get("POD_NAMESPACE", ""), environment.get("POD_NAME", "")

    def body(context: KeeperContext) -> None:
        assignment = RepairScope(
            node=node_name(config, environment),
            policy=replace(policy, dry_run=policy.dry_run or config.dry_run),
            access=find_access(kubernetes),
            own_pod="/".join(names) if all(names) else "",
            chain=lambda: unhealthy_chain(surroundings.statuses()),
            state=Path(config.state) / "repair.json" if config.state else None,
            cluster=kubernetes.budget,
        )
        make_body(assignment)(context)

    return body


def _reflect(config: AgentConfig, surroundings: AgentContext) -> Body:
    from podpath_protect.reflect.keeper import make_body  # noqa: PLC0415  # only where it runs

    return make_body(_required(config.reflect), surroundings.environment)


def _snapshot(config: AgentConfig, surroundings: AgentContext) -> Body:
    try:
        from podpath_protect.agent.node import find_access  # noqa: PLC0415  # needs an extra
        from podpath_protect.snapshot.keeper import SnapshotScope, make_body  # noqa: PLC0415  # as above
    except ImportError as error:
        raise MissingExtra(_EXTRA) from error
    options, kubernetes = _required(config.snapshot), _required(config.kubernetes)

    def body(context: KeeperContext) -> None:
        scope = SnapshotScope(
            node=node_name(config, surroundings.environment),
            options=options,
            access=find_access(kubernetes),
            environment=surroundings.environment,
            drops=surroundings.drops,
        )
        make_body(scope)(context)

    return body


def _drops(config: AgentConfig, surroundings: AgentContext) -> Body:
    from podpath_protect.drops.keeper import make_body  # noqa: PLC0415  # only where it runs

    return make_body(_required(config.drops), surroundings.drops)


def _metrics(config: AgentConfig, surroundings: AgentContext) -> Body:
    try:
        from podpath_protect.agent.node import find_access  # noqa: PLC0415  # needs an extra
        from podpath_protect.agent.scraping import ScrapeScope, make_body  # noqa: PLC0415  # as above
    except ImportError as error:
        raise MissingExtra(_EXTRA) from error
    options, kubernetes = _required(config.metrics), _required(config.kubernetes)

    def body(context: KeeperContext) -> None:
        scope = ScrapeScope(
            node=node_name(config, surroundings.environment),
            options=options,
            access=find_access(kubernetes),
            environment=surroundings.environment,
            render=surroundings.metrics,
        )
        make_body(scope)(context)

    return body


def _node(config: AgentConfig, surroundings: AgentContext) -> Body:
    try:
        from podpath_protect.agent.node import NodeReporting, speak_of_node  # noqa: PLC0415  # needs an extra
    except ImportError as error:
        raise MissingExtra(_EXTRA) from error
    options = _required(config.kubernetes)
    reporting = NodeReporting(
        node=node_name(config, surroundings.environment), options=options, dry_run=config.dry_run
    )

    def standings() -> Mapping[str, KeeperStatus]:
        return {name: status for name, status in surroundings.statuses().items() if name != NODE}

    return lambda context: speak_of_node(context, reporting, standings)


_MAKERS: dict[str, Callable[[AgentConfig, AgentContext], Body]] = {
    "sysctl": _sysctl, "order": _order, "chain": _chain, "repair": _repair, "reflect": _reflect,
    "snapshot": _snapshot, "drops": _drops, "metrics": _metrics, NODE: _node,
}  # fmt: skip


def unhealthy_chain(statuses: Mapping[str, KeeperStatus]) -> str:
    """Say why the node's own chain is unhealthy; empty where it is well, or is not kept here."""
    status = statuses.get("chain")
    if status is None or status.ready:
        return ""
    return status.why or "the chain is not ready"


def describe_lacks(parts: tuple[str, ...], held: frozenset[str]) -> dict[str, tuple[str, ...]]:
    """Say of each part which capabilities it lacks; parts that lack none are left out."""
    found = {name: describe_missing(NEEDED.get(name, {}), held) for name in parts}
    return {name: lacks for name, lacks in found.items() if lacks}


def _required(value: T | None) -> T:
    if value is None:
        raise AssertionError("a part is only made where its section is there")
    return value
