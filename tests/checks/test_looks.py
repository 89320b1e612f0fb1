"""The checks of captures alone: those of the manual, in its order."""

from __future__ import annotations

from dataclasses import replace

from podpath.checks.looks import LOOKS, POSSIBLE, PRESENT, look_at_captures
from podpath.checks.registry import CHECKS
from podpath.net.protocols import ACK, RST, SYN
from podpath.net.provenance import Gap, GapKind, Source, Span
from podpath.node.case import Case, LostPacket
from tests.capture.made_frames import SOURCE, frame
from tests.checks.nodes import netns, node

NODE = node(netns())


def test_table_is_the_manuals() -> None:
    """Whatever check looks at captures does so here too, and none else."""
    assert [check.look for check in CHECKS if check.look is not None] == list(LOOKS)
    assert PRESENT < set(LOOKS)


def test_what_rests_on_missing_packets_is_doubted_where_some_were_left_out() -> None:
    """A filter, a sample or the kernel's own count of drops makes it possible, and says so with its
    line; what rests on packets that are there stays certain.
    """
    syns = [frame(time, SYN, 1) for time in (0.0, 1.0, 3.0)]
    refused = [frame(0.5, SYN, 9, port=5000), frame(0.6, RST | ACK, 0, 10, port=5000, back=True)]
    case = Case(node=NODE, sightings=(*syns, *refused))
    telling = Span(Source(name=SOURCE.name, lines=("the line",), first_line=7), 7, 7)

    def certain(*gaps: Gap) -> dict[str, float]:
        found = look_at_captures(replace(case, gaps=gaps), alone=True)
        return {one.check: one.certainty for one in found}

    assert {"handshake-repeated": 1.0, "connections-refused": 1.0} == certain()
    for kind in (GapKind.SELECTED, GapKind.DROPPED):
        gap = Gap(telling, "packet 7 tells of another", kind=kind)
        (doubted, sure) = look_at_captures(replace(case, gaps=(gap,)), alone=True)

        assert (POSSIBLE, telling) == (doubted.certainty, doubted.evidence[-1])
        assert gap.why in str(doubted.reasoning[-1])
        assert (1.0, ()) == (sure.certainty, sure.asks)
        assert doubted.asks
    other = Gap(Span(Source(name="other.pcap", lines=()), 1, 1), "none", kind=GapKind.SELECTED)
    aside = Gap(telling, "none", kind=GapKind.ASIDE)
    assert certain() == certain(other) == certain(aside)


def test_losses_reckon_with_what_the_kernel_dropped() -> None:
    """Where fewer were dropped than are missing, a loss is one; a selection may lack any."""
    point = Span(SOURCE, 1, 1)
    loss = LostPacket(
        connection="tcp 10.1.0.1:4000 > 10.1.0.2:80", forward=True, what="SYN",
        seen=(("one", point),), missing_at="two", before=point, after=point,
        basis="same direction", repeated=False,
    )  # fmt: skip
    case = Case(node=NODE, lost=(loss,))

    def certain(kind: GapKind) -> list[float]:
        gap = Gap(point, "some are missing", kind=kind)
        return [one.certainty for one in look_at_captures(replace(case, gaps=(gap,)))]

    assert certain(GapKind.DROPPED) == [1.0]
    assert certain(GapKind.SELECTED) == [POSSIBLE]
