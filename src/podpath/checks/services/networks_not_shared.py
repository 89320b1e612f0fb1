"""networks-not-shared: a container looks up another one that shares no network with it.

What it is
    `docker inspect` or a Compose file shows the networks of both containers, and they have none in
    common, not even the default one. Or both are on Docker's default bridge (`network_mode:
    bridge`), where Docker gives no names.

Why it breaks
    Docker's own DNS server (127.0.0.11) knows only the names of containers that share a network
    with the one that asks. The other container cannot be reached by its address either, since the
    engine drops traffic from one of its bridges to another.

How to confirm
    docker inspect CONTAINER --format '{{json .NetworkSettings.Networks}}'
    docker network inspect NETWORK --format '{{range .Containers}}{{.Name}} {{end}}'

How to fix
    docker network connect NETWORK CONTAINER; in a Compose file, name a common network under
    `networks:` of both services.

References
    docs.docker.com, Bridge network driver (user-defined bridges); moby, libnetwork/resolver.go
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.objects import ObjectSightings, see
from podpath.checks.said import find_said
from podpath.net.messages import MessageKind
from podpath.net.provenance import Span
from podpath.net.trees import Tree
from podpath.node.case import Case

CATEGORIES = (Category.DNS_CONFIGURATION, Category.OTHER)
NAME = "networks-not-shared"
LIKELY = 0.9
"""The output of a command does not name the container that it ran in."""
ASK = FollowUp(
    "which container asked, and in which networks both are",
    "docker inspect CONTAINER --format '{{json .NetworkSettings.Networks}}'",
    "they have none in common: connect one of them to a network of the other",
)


def check(case: Case) -> Iterator[Finding]:
    """Report the first container whose name is unknown to one that shares no network with it."""
    known = {one.name: one for one in see(case, "Container")}
    for said in find_said(case, MessageKind.NAME_FAILS):
        asked = known.get(said.values.get("name", ""))
        mode = None if _is_linked(known, asked) else _find_bridge_mode(asked)
        if asked is not None and mode is not None:
            yield _report_default(asked.name, mode, said.span)
            return
        asking = _find_asking(known, asked, said.span.source.netns or "")
        if asking is None or asked is None or asking is asked:
            continue
        mine, theirs = _find_networks(asking), _find_networks(asked)
        if mine is not None and theirs is not None and not set(_names(mine)) & set(_names(theirs)):
            yield _report((asking, mine), (asked, theirs), said.span)
            return


def _find_asking(
    known: Mapping[str, ObjectSightings], asked: ObjectSightings | None, netns: str
) -> ObjectSightings | None:
    """Return the container that a command ran in: by its name, else the only other one."""
    others = [one for one in known.values() if one is not asked]
    named = known.get(netns.rpartition("/")[2])
    return others[0] if named is None and netns and len(others) == 1 else named


def _find_bridge_mode(container: ObjectSightings | None) -> Tree | None:
    """Return what puts a service of a Compose file on the default bridge; None where nothing
    does.
    """
    mode = container.at("network_mode") if container is not None else None
    return mode if mode is not None and mode.text == "bridge" else None


def _is_linked(known: Mapping[str, ObjectSightings], asked: ObjectSightings | None) -> bool:
    """Tell whether another service names it as a link, which writes its name into a file."""
    linked = [link.text for one in known.values() for link in one.items_at("links")]
    return asked is not None and any(link.partition(":")[0] == asked.name for link in linked)


def _report_default(name: str, mode: Tree, said: Span) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"{name} is on Docker's default bridge, where containers have no names.",
        evidence=(mode.line, said),
        reasoning=("Docker's DNS server serves networks that somebody defined, and no other.",),
        breaks=(f"connections to {name} by its name",),
        prevention="Leave network_mode out of Compose files: a project has a network of its own.",
        certainty=1.0,
        marks=("network_mode",),
    )


def _find_networks(container: ObjectSightings) -> Tree | None:
    """Return the networks that are shown of a container, with what it is called there."""
    return container.at("NetworkSettings", "Networks") or container.at("networks")


def _names(networks: Tree) -> tuple[str, ...]:
    return tuple(networks.fields) or tuple(item.text for item in networks.items)


def _report(
    asking: tuple[ObjectSightings, Tree], asked: tuple[ObjectSightings, Tree], said: Span
) -> Finding:
    (one, mine), (other, theirs) = asking, asked
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"{one.name} is in the network {', '.join(_names(mine))} and {other.name} in "
            f"{', '.join(_names(theirs))}: they share none."
        ),
        evidence=(mine.line, theirs.line, said),
        reasoning=("Docker's DNS server knows only the containers in the networks of who asks.",),
        breaks=(f"connections from {one.name} to {other.name}, by name and by address",),
        prevention="Put what belongs together into one network of the Compose file.",
        certainty=LIKELY,
        asks=(ASK,),
        marks=(*_names(mine), *_names(theirs)),
    )
