"""A flow spells itself as a probe."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.flows.flow import Expectation, Flow, spell_target


@pytest.mark.parametrize(
    ("target", "port", "spelled"),
    [("10.0.0.1", "80", "10.0.0.1:80"), ("fe80::1", "80", "[fe80::1]:80"),
     ("svc/a/b", "http", "svc/a/b:http"), ("svc/a/b", "", "svc/a/b")],
)  # fmt: skip
def test_a_target_takes_its_port(target: str, port: str, spelled: str) -> None:
    """Only an IPv6 address needs brackets."""
    assert spelled == spell_target(target, port)


def test_a_device_stands_behind_the_ends() -> None:
    """A flow that arrives from outside names the device."""
    flow = Flow(
        name="n", source="192.0.2.9", target="192.0.2.2:22", device="eth0", expect=Expectation.FAILS
    )

    assert "tcp 192.0.2.9 > 192.0.2.2:22 in eth0" == flow.probe


def test_a_set_names_its_sources_with_their_device() -> None:
    """All pods are no source by name."""
    outside = Flow(
        name="n",
        source="192.0.2.0/24",
        target="10.0.0.0/8",
        device="eth0",
        ports="80",
        expect=Expectation.FAILS,
    )
    pods = replace(outside, source="pods", device="")

    assert (("192.0.2.0/24 in eth0",), ()) == (outside.as_set.sources, pods.as_set.sources)
    assert outside.is_set
