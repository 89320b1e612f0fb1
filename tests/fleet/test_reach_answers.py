"""What becomes of a class of flows: where it ends, and nothing of one flow alone."""

from __future__ import annotations

from podpath.library.reading import read
from podpath.library.trace import trace
from podpath.net.probe import Probe
from podpath_fleet.flow_classes import FlowHeader
from podpath_fleet.reach_answers import ReachWalker
from tests.library.samples import NO_FORWARDING, PROBE


def test_it_is_what_trace_says() -> None:
    """The verdict and the deciding line, of a header that is watched and of one that is not."""
    walker = ReachWalker(read(NO_FORWARDING))
    watched = walker.walk(FlowHeader(Probe.parse(PROBE)))
    single = trace(NO_FORWARDING, PROBE)
    own = ReachWalker(read(NO_FORWARDING), watched=False).walk_alone(Probe.parse(PROBE))

    assert watched == own
    assert watched.row.verdict == str(single.verdict)
    assert watched.row.text == single.branches[0].last.deciding.spans[0].text
    assert watched.ends == ()


def test_what_cannot_be_walked_names_no_address() -> None:
    """A flow that starts nowhere is like the next one that does."""
    walker = ReachWalker(read(NO_FORWARDING), watched=False)
    texts = ("tcp 10.9.9.9 > 10.1.1.1:80 from nowhere", "tcp 10.9.9.8 > 10.1.1.1:81 from nowhere")
    first, second = (walker.walk_alone(Probe.parse(text)) for text in texts)

    assert first == second
    assert first.row.verdict == "UNREADABLE"
