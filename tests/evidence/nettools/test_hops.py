"""traceroute, tracepath and mtr."""

from __future__ import annotations

from podpath.evidence.records import StatementRecord
from podpath.net.statements import Hop
from tests.evidence.consoles import block, read


def hops(text: str, command: str | None = None) -> list[Hop]:
    """Return the hops of a block."""
    records = [
        one for one in read(block(text, command)).records if isinstance(one, StatementRecord)
    ]
    return [one.statement for one in records if isinstance(one.statement, Hop)]


def test_traceroute_tells_where_it_ends() -> None:
    """A mark says what the router said."""
    found = hops("""
traceroute to 8.8.8.8 (8.8.8.8), 30 hops max, 60 byte packets
 1  10.0.0.1 (10.0.0.1)  1.0 ms  1.0 ms  1.0 ms
 2  * * *
 3  10.0.0.1 (10.0.0.1)  3000 ms !H  3000 ms !H
""")
    assert [(1, 1, ""), (2, 0, ""), (3, 1, "!H")] == [
        (one.number, len(one.addresses), one.mark) for one in found
    ]
    assert str(found[0].dst) == "8.8.8.8"


def test_tracepath_tells_the_mtu() -> None:
    """`pmtu` is what fits from there on."""
    found = hops(
        """
 1?: [LOCALHOST]                      pmtu 1500
 1:  10.0.0.1                                              0.5ms
 2:  10.9.0.1                                              1.5ms pmtu 1400
""",
        "tracepath -n 10.9.0.5",
    )
    assert [1500, None, 1400] == [one.mtu for one in found]
