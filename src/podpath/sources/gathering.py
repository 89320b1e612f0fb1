"""All that a question of a cluster needs: the API's objects, the nodes that its ends are on, and a
snapshot of each, all at once.

A node without a snapshot is no error where others have theirs: what is in the way is said, with
what to do, and the answer knows that the node is missing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

from podpath.kube.client import Client, KubeError
from podpath.kube.snapshots import NAMESPACE
from podpath.sources.agents import AgentAccess, ServingAgent, find_agents, read_snapshot
from podpath.sources.collector import CollectorOptions, collect_node
from podpath.sources.kinds import ENDPOINTS, SLICES
from podpath.sources.location import find_nodes, is_read, list_namespaces, list_unplaced
from podpath.sources.objects import (
    ApiObjects,
    SourceError,
    Told,
    read_again,
    read_objects,
    read_pods,
)

MOST_AT_ONCE = 8
MOST_NODES = 128
"""Nodes of one question that snapshots are taken of: a hundred small ones take 250 MB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GatheringOptions:
    """How the evidence is got."""

    namespaces: Sequence[str] = ()
    """Whose objects are read, besides those that the ends name; all where there are none."""
    near: Collection[str] = ()
    """In which a name is looked for first that has no namespace."""
    agents: str = NAMESPACE
    """The namespace that the agents are in."""
    asker: AgentAccess = AgentAccess()
    collector: CollectorOptions | None = None
    """What pods are made of where a node has no agent; None where nobody asked for that."""
    known: Collection[str] = ()
    """Nodes whose evidence is given already."""
    every_pod: bool = False
    """Whether a workload stands for all of its pods, and not for the one to ask about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterEvidence:
    """What was got."""

    objects: ApiObjects
    bundles: Mapping[str, bytes]
    """Packed bundles by their nodes, those of the source first."""
    lacking: tuple[str, ...]
    """A sentence for each thing that is missing, with what to do."""
    absent: tuple[str, ...] = ()
    """The nodes that the ends are on and of which there is no snapshot."""
    unplaced: tuple[str, ...] = ()
    """The pods that ends name and that have no address: no snapshot would show them."""


def gather_cluster(
    client: Client,
    ends: Sequence[str],
    options: GatheringOptions,
    told: Told = lambda doing, share: None,  # noqa: ARG005  # nobody listens
) -> ClusterEvidence:
    """Read the API, and take snapshots of the nodes that the ends are on."""
    named = (*options.namespaces, *list_namespaces(ends)) if options.namespaces else ()
    spaces = tuple(dict.fromkeys(named))
    objects = read_objects(client, namespaces=spaces, told=told)
    concerned = _list_concerned(objects, ends, options)
    wanted = [name for name in concerned if name not in options.known]
    unread = [end for end in ends if spaces and not is_read(objects, end)]
    lacking = [*objects.missing, *(_say_unread(end, spaces) for end in unread)]
    listed = not spaces or options.agents in spaces or not wanted
    agents, unlisted = _find_agents(client, objects, options, listed=listed)
    if len(wanted) > MOST_NODES:
        lacking.append(
            f"{len(wanted) - MOST_NODES} of {len(wanted)} nodes: a question takes snapshots of "
            f"{MOST_NODES}; ask for one pod of the service"
        )
        del wanted[MOST_NODES:]
    bundles, failed = _take_all(client, wanted, agents, options, told)
    if unlisted and failed:  # where nothing is missing nobody misses the agents
        lacking.append(unlisted)
    if bundles:  # endpoints of a moment before the snapshots say nothing for certain of their rules
        kinds = [kind for kind in (ENDPOINTS, SLICES) if kind.resource in objects.items]
        objects = read_again(client, objects, kinds, namespaces=spaces)
    missing = (name for name in concerned if name not in bundles and name not in options.known)
    return ClusterEvidence(
        objects=objects,
        bundles=bundles,
        lacking=(*lacking, *failed),
        absent=(*missing, *(f"of {end}" for end in unread)),
        unplaced=tuple(list_unplaced(objects, ends, options.near)),
    )


def _list_concerned(
    objects: ApiObjects, ends: Sequence[str], options: GatheringOptions
) -> tuple[str, ...]:
    """Name the nodes that the ends are on, each once."""
    names: dict[str, None] = {}
    for end in ends:
        found = find_nodes(objects, end, options.near, every_pod=options.every_pod)
        names |= dict.fromkeys(found)
    return tuple(names)


def _find_agents(
    client: Client, objects: ApiObjects, options: GatheringOptions, *, listed: bool
) -> tuple[Mapping[str, ServingAgent], str]:
    """Return the agents by their nodes, and why they could not be listed; unless they are `listed`
    among the objects, their own namespace is read.
    """
    if not listed:
        try:
            return find_agents(read_pods(client, options.agents), options.agents), ""
        except SourceError as error:
            return find_agents(objects, options.agents), f"agents: {error}"
    return find_agents(objects, options.agents), ""


def _say_unread(end: str, spaces: Sequence[str]) -> str:
    return (
        f"{end}: no object of the namespaces that were read ({', '.join(spaces)}) has this "
        "address; without --namespace those of all are read"
    )


def _take_all(
    client: Client,
    wanted: Sequence[str],
    agents: Mapping[str, ServingAgent],
    options: GatheringOptions,
    told: Told,
) -> tuple[Mapping[str, bytes], tuple[str, ...]]:
    """Take snapshots at once; return those that came, and why others did not."""
    taken: dict[str, bytes] = {}
    failed: dict[str, str] = {}
    told("taking snapshots", 0.0)
    try:
        with ThreadPoolExecutor(MOST_AT_ONCE, "take-snapshot") as pool:
            asked = {pool.submit(_take, client, name, agents, options): name for name in wanted}
            for done, future in enumerate(as_completed(asked), 1):
                name = asked[future]
                try:
                    taken[name] = future.result()
                except (SourceError, KubeError) as error:
                    failed[name] = str(error)
                told("taking snapshots", done / (len(asked) + 1))
    finally:
        told("taking snapshots", 1.0)
    ordered = {name: taken[name] for name in wanted if name in taken}
    return ordered, tuple(failed[name] for name in wanted if name in failed)


def _take(
    client: Client, node: str, agents: Mapping[str, ServingAgent], options: GatheringOptions
) -> bytes:
    agent = agents.get(node)
    if agent is not None:
        return read_snapshot(client, agent, options.asker)
    if options.collector is not None:
        return collect_node(client, node, options.collector)
    raise SourceError(say_how(node))


def say_how(node: str) -> str:
    """Say how a node without an agent gives a snapshot."""
    return (
        f"{node}: no agent serves snapshots there (deploy/snapshot); --collect takes one by a pod "
        f"that lives for it, or run `podpath snapshot -o {node}.tar.gz` on it and give "
        f"--live --node {node}={node}.tar.gz"
    )
