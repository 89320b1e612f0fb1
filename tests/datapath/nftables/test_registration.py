"""Which chains of nftables stand at a hook."""

from __future__ import annotations

import pytest

from podpath.datapath.conversations.conversation import converse
from podpath.datapath.nftables.registration import needs_tracking
from podpath.testing.nodes import probe
from tests.diagnosis.test_causes import with_tables
from tests.nftables import native_tables

TABLE = """table inet firewall {
  chain helper {
    tcp dport 80 drop
  }
  chain forward {
    type filter hook forward priority 0; policy accept;
    jump helper
  }
}
"""


def test_a_chain_that_stands_at_no_hook_hides_no_other() -> None:
    """nft lists regular chains and base chains in the order in which they were made."""
    host = with_tables(TABLE)
    web, ssh = (f"tcp 10.0.0.5 > 192.0.2.9:{port} in lan" for port in (80, 22))

    assert ["NEVER", "ALWAYS"] == [converse(host, probe(asked)).verdict for asked in (web, ssh)]


def test_a_chain_at_a_device_hides_none_at_a_hook_of_the_stack() -> None:
    """A table of inet may hold both."""
    early = (
        "  chain early {\n    type filter hook ingress device lan priority 0; policy accept;\n  }\n"
    )
    host = with_tables(TABLE.replace("  chain helper", f"{early}  chain helper"))

    assert "NEVER" == converse(host, probe("tcp 10.0.0.5 > 192.0.2.9:80 in lan")).verdict


@pytest.mark.parametrize(
    ("statement", "needed"),
    [
        ("meta mark set jhash ct mark mod 2 seed 0x1", True),
        ("meta mark set jhash ip saddr mod 2 seed 0x1", False),
        ("meta mark set symhash mod 2", False),
    ],
)
def test_a_rule_that_asks_for_the_connection_switches_conntrack_on(
    statement: str, *, needed: bool
) -> None:
    """Also where it but hashes what it is told."""
    (table,) = native_tables(TABLE.replace("jump helper", statement))

    assert needed is needs_tracking(table)
