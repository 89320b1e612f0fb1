"""docker-network-option: a Docker network is set up to cut its containers off.

What it is
    A Docker network with `internal: true` has no route out and publishes no ports; `enable_icc:
    false` drops traffic between its containers; `enable_ip_masquerade: false` lets packets leave
    with addresses that nobody outside has a route to.

Why it breaks
    What the option forbids is dropped or never answered; the container sees no error.

How to confirm
    docker network inspect NETWORK

How to fix
    Recreate the network without the option, or attach the container to another network as well.

References
    Docker's page on the bridge driver's options
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.objects import ObjectSightings, see
from podpath.net.trees import Tree
from podpath.node.case import Case

CATEGORIES = (
    Category.BRIDGE_CONFIGURATION,
    Category.MASQUERADE_MISSING,
)
NAME = "docker-network-option"
OPTIONS = {
    "com.docker.network.bridge.enable_icc": (
        "its containers do not reach each other",
        "connections between containers of the network",
    ),
    "com.docker.network.bridge.enable_ip_masquerade": (
        "its containers leave with their own addresses",
        "connections from the network to the outside world",
    ),
}


def check(case: Case) -> Iterator[Finding]:
    """Report the options of networks that take something away."""
    for network in see(case, "Network"):
        internal = network.at("Internal")
        if internal is not None and internal.text == "true":
            yield _report(
                network,
                internal,
                "is internal: it has no route out and publishes no ports",
                "connections of its containers beyond the network",
            )
        for name, (meaning, breaks) in OPTIONS.items():
            option = network.at("Options", name)
            if option is not None and option.text == "false":
                yield _report(network, option, f"has {name} false: {meaning}", breaks)


def _report(network: ObjectSightings, option: Tree, what: str, breaks: str) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.CAUSE,
        claim=f"The Docker network {network.title} {what}.",
        evidence=(option.line,),
        reasoning=("That is what the option is for; if it is not intended, it is the cause.",),
        breaks=(breaks,),
        prevention="Record why a network has an option next to where it is set.",
        certainty=0.6,
        marks=(option.text,),
    )
