"""published-loopback: a container's port is published only on the host's 127.0.0.1.

What it is
    `-p 127.0.0.1:8080:80` (or Docker's `ip`, or `host_ip` of Compose) publishes a port on the
    host's loopback address.

Why it breaks
    Only the host itself can reach it. The host refuses connections from the network, or its kernel
    drops them as martian.

How to confirm
    docker ps; docker port CONTAINER; ss -ltn

How to fix
    Publish on the address that clients use, or on all: `-p 8080:80`; and keep a firewall in front
    of it.

References
    Docker's documentation on port publishing; dockerd --ip
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.objects import ObjectSightings, failures, see
from podpath.net.addresses import read_address
from podpath.net.trees import Tree
from podpath.node.case import Case

CATEGORIES = (Category.NO_LISTENER,)
NAME = "published-loopback"


def check(case: Case) -> Iterator[Finding]:
    """Report ports that a container publishes on the loopback and on no other address."""
    failed = [failure for failure in failures(case) if not failure.dst.is_loopback]
    for container in see(case, "Container"):
        ports = container.items_at("ports")
        for port in ports:
            host = read_address(port.text_at("hostIp"))
            number = port.text_at("hostPort")
            if (
                host is None
                or not host.is_loopback
                or not number.isdigit()
                or _is_open_too(ports, number)
            ):
                continue
            tried = [
                failure
                for failure in failed
                if failure.dport == int(number) and failure.result in {"refused", "timeout"}
            ]
            if tried:
                ours = any(case.node.host.holds(failure.dst) for failure in tried)
                yield _report(container, port, str(tried[0].dst), sure=ours)


def _is_open_too(ports: tuple[Tree, ...], number: str) -> bool:
    """Tell whether the same port is published on another address as well."""
    hosts = [
        read_address(port.text_at("hostIp")) for port in ports if port.text_at("hostPort") == number
    ]
    return any(host is None or not host.is_loopback for host in hosts)


def _report(container: ObjectSightings, port: Tree, asked: str, *, sure: bool) -> Finding:
    host, number = port.text_at("hostIp"), port.text_at("hostPort")
    return Finding(
        check=NAME,
        severity=Severity.FAULT if sure else Severity.CAUSE,
        claim=(
            f"The container {container.title} publishes port {number} only on {host}, but clients "
            f"connect to {asked}."
        ),
        evidence=(port.line,),
        reasoning=("Only the host itself can reach a port published on a loopback address.",),
        breaks=(f"connections to port {number} from outside the host",),
        prevention="Publish without an address what others should reach.",
        certainty=1.0 if sure else 0.7,
        marks=(f"{host}:{number}",),
    )
