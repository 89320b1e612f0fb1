"""Servers that see the node where they should see the pod."""

from __future__ import annotations

import pytest

from podpath.checks.finding import Finding
from podpath.checks.netfilter.cilium_masquerades import check
from tests.checks.pasted import ticket_of

SEEN = "Access is denied to pods, because the server sees the address of the node."
CONFIG = (
    "enable-ipv4-masquerade: '{on}'\nipv4-native-routing-cidr: 10.0.0.0/8\nenable-hubble: 'true'"
)


def find(said: str = SEEN, config: str = CONFIG, on: str = "true") -> list[Finding]:
    """Return what is found in a ticket with a part of Cilium's configuration."""
    return list(check(ticket_of(f"{said}\n\n```yaml\n{config.format(on=on)}\n```\n")))


@pytest.mark.parametrize(
    "config", [CONFIG, CONFIG.replace("enable-ipv4-", "").replace("ipv4-", "")]
)
def test_cilium_masquerades_what_leaves(config: str) -> None:
    """The option and the exempt range are quoted; whose address leaves is asked."""
    (finding,) = find(config=config)

    assert [line.text.split(":")[1].strip() for line in finding.evidence[:2]] == [
        "'true'",
        "10.0.0.0/8",
    ]
    assert finding.certainty < 1
    assert finding.asks


def test_another_complaint_or_an_option_that_is_off() -> None:
    """Masquerading is the default, and no fault by itself."""
    assert not find("Pods cannot reach the database.")
    assert not find("The request times out. The SYN leaves by eth0 with the node's address.")
    assert not find(on="false")
    assert not find(config="enable-hubble: 'true'\nenable-ipv6: 'false'")


@pytest.mark.parametrize(
    ("said", "proven"),
    [
        (SEEN, True),
        (SEEN.replace("the server", "the server 192.0.2.9"), True),
        (SEEN.replace("the server", "the server 10.7.0.9"), False),
    ],
)
def test_a_server_within_the_exempt_range(said: str, proven: bool) -> None:  # noqa: FBT001 # a row
    """Whoever sees the node's address there sees it for another reason."""
    (finding,) = find(said)

    assert proven is bool(finding.proves)
