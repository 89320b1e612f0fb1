"""Steps spell their reason only when somebody reads it; traces and branches know their last."""

from __future__ import annotations

from podpath.datapath.trace import Branch, Delivered, Step, Trace
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet

PACKET = Packet(Address.parse("10.0.0.1"), Address.parse("10.0.0.2"), protocols.TCP, 1, 2)


def step(template: str, *arguments: object) -> Step:
    """Make a step with a reason."""
    return Step(
        "route input", "host", "net/ipv4/route.c:ip_route_input_slow v6.12", PACKET, PACKET, "forward", template, arguments
    )


def trace(*steps: Step) -> Trace:
    """Make a trace that was delivered."""
    outcome = Delivered(netns="host", packet=PACKET)
    return Trace(name="SYN", direction="original", start="host", packet=PACKET, steps=steps, outcome=outcome)


def test_a_reason_is_its_template_filled() -> None:
    """Arguments stand where the template has places for them."""
    assert step("{0} goes on over {1}", PACKET.dst, "eth0").why == "10.0.0.2 goes on over eth0"


def test_a_reason_without_arguments_is_taken_as_it_stands() -> None:
    """Braces in a rule's text are no places."""
    assert step("string --algo bm {x}").why == "string --algo bm {x}"


def test_the_last_step_and_trace_decide() -> None:
    """What ended the packet is the last step; what ended the connection the last trace."""
    first, second = step("first"), step("second")
    traces = (trace(first), trace(first, second))
    branch = Branch(assumptions=(), traces=traces, works=True)

    assert (second, traces[1]) == (branch.last.deciding, branch.last)
