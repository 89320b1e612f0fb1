"""Which chains of nftables stand at a hook."""

from __future__ import annotations

from podpath.datapath.conversations.conversation import converse
from podpath.testing.nodes import probe
from tests.diagnosis.test_causes import with_tables

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
