"""`arping` of both makers."""

from __future__ import annotations

from podpath.evidence.records import StatementRecord
from podpath.net.statements import ArpAnswer
from tests.evidence.consoles import block, read


def answers(text: str) -> list[ArpAnswer]:
    """Return the answers of a block."""
    records = [one for one in read(block(text)).records if isinstance(one, StatementRecord)]
    return [one.statement for one in records if isinstance(one.statement, ArpAnswer)]


def test_two_macs_for_one_address_are_both_kept() -> None:
    """Each MAC counts once."""
    (found,) = answers("""
ARPING 10.0.0.5 from 10.0.0.1 eth0
Unicast reply from 10.0.0.5 [00:11:22:33:44:55]  0.7ms
Unicast reply from 10.0.0.5 [00:11:22:33:44:66]  0.9ms
Unicast reply from 10.0.0.5 [00:11:22:33:44:55]  0.7ms
Sent 2 probes (1 broadcast(s))
Received 3 response(s)
""")
    assert ("10.0.0.5", "eth0") == (str(found.target), found.link)
    assert ("00:11:22:33:44:55", "00:11:22:33:44:66") == found.macs


def test_no_answer_is_an_answer() -> None:
    """The other maker's form, with nobody there."""
    (found,) = answers("""
ARPING 10.0.0.9
Timeout
Timeout
""")
    assert not found.macs


def test_what_is_no_address_is_a_gap() -> None:
    """Four numbers with dots may be none."""
    reading = read(block("\nARPING 192.999.1.240 from 192.168.1.5 eth0\n"))

    assert ["expected an address, saw '192.999.1.240'"] == [gap.why for gap in reading.gaps]
