"""`ufw status`, plain, verbose and numbered."""

from __future__ import annotations

from podpath.evidence.records import StatementRecord
from podpath.net.addresses import Prefix
from podpath.net.firewall import (
    AllowedSource,
    FirewallProgram,
    HostFirewall,
    UfwAction,
    UfwDirection,
)
from tests.evidence.consoles import block, read


def stated(text: str, command: str | None = None) -> list[object]:
    """Return what a block states; nothing of it is left over."""
    reading = read(block(text, command))
    assert not reading.gaps
    return [record.statement for record in reading.records if isinstance(record, StatementRecord)]


def test_rules_and_defaults() -> None:
    """A source that is no address is anywhere; what is forwarded has a default of its own."""
    text = """
Status: active
Logging: on (low)
Default: deny (incoming), allow (outgoing), deny (routed)
New profiles: skip

To                         Action      From
--                         ------      ----
22/tcp                     ALLOW IN    Anywhere
[ 2] 5432                  ALLOW FWD   172.16.0.0/16
"""
    assert stated(text) == [
        HostFirewall(FirewallProgram.UFW, active=True),
        HostFirewall(FirewallProgram.UFW, active=True, routed="deny", incoming="deny"),
        AllowedSource("22/tcp", UfwAction.ALLOW, UfwDirection.IN, None),
        AllowedSource("5432", UfwAction.ALLOW, UfwDirection.FWD, Prefix.parse("172.16.0.0/16")),
    ]
