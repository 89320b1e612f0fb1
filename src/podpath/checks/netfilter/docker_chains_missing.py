"""docker-chains-missing: Docker's chains are gone from iptables.

What it is
    Docker writes a rule into a chain of its own (DOCKER, DOCKER-ISOLATION-...) that does not exist any more.

Why it breaks
    Something flushed iptables after dockerd had started: firewalld's reload or restart, an admin's script,
    iptables-restore, a switch between legacy and nft. Docker creates its chains only at its start, so publishing
    ports and creating networks fail until then.

How to confirm
    iptables -t nat -S | grep DOCKER; journalctl -u docker -u firewalld -u iptables

How to fix
    systemctl restart docker; let whatever flushes the rules run before Docker, or leave Docker's chains alone.

References
    libnetwork/iptables; Docker, Packet filtering and firewalls
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (
    Category.RULESET_FAILURE,
    Category.SERVICE_RULES_MISSING,
)
NAME = "docker-chains-missing"
KINDS = (MessageKind.CHAIN_OF_DOCKER_MISSING,)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    chain = get_value(said, "chain", default="DOCKER")
    meaning = Meaning(
        claim=f"Docker's chain {chain} does not exist any more: something flushed iptables after Docker had started.",
        breaks="published ports and new networks",
        cure="restart Docker, and keep others from flushing its rules",
        commands=("systemctl restart docker",),
    )
    yield tell(NAME, said, meaning)
