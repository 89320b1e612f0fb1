"""`ip xfrm policy`."""

from __future__ import annotations

from podpath.evidence.node_records import XfrmPolicyRecord
from podpath.evidence.records import Reading
from tests.evidence.consoles import block, read

LISTING = """
src 0.0.0.0/0 dst 192.0.2.2/32 
	dir out priority 0 ptype main 
	tmpl src 0.0.0.0 dst 0.0.0.0
		proto esp reqid 0 mode transport
src 10.9.0.2/32 dst 0.0.0.0/0 
	dir fwd action block priority 0 ptype main 
src ::/0 dst ::/0 
	socket in priority 0 ptype main 
"""  # noqa: W291  # as ip prints it


def policies(reading: Reading) -> list[tuple[str, str, str, str, bool]]:
    """Return what each policy says."""
    return [
        (str(record.src), str(record.dst), record.direction, record.action, record.of_socket)
        for record in reading.records
        if isinstance(record, XfrmPolicyRecord)
    ]


def test_selector_direction_and_action_are_read() -> None:
    """One that blocks says so, and one of a single socket too; templates are part of the entry."""
    reading = read(block(LISTING))

    assert policies(reading) == [
        ("default", "192.0.2.2", "out", "allow", False),
        ("10.9.0.2", "default", "fwd", "block", False),
        ("default", "default", "in", "allow", True),
    ]
    assert reading.gaps == ()
    assert reading.records[1].span.text.split()[-2:] == ["ptype", "main"]


def test_a_selector_that_is_none_is_a_gap() -> None:
    """What stands there is said; the other entries are read."""
    reading = read(block(LISTING.replace("10.9.0.2/32", "x.9.0.2/32"), "ip xfrm policy"))

    assert len(policies(reading)) == 2
    assert [gap.span.line for gap in reading.gaps] == [6]
