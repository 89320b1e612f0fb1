"""The file of flows: what it says becomes flows, and what it may not say is refused with its
place.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.flows.file import read_flows
from podpath.flows.flow import Expectation
from podpath.net.errors import PodpathError
from tests.flows.samples import FLOWS


def test_a_flow_is_read_with_its_lines() -> None:
    """A flow knows its name, its probe, what is expected, and where it stands."""
    first, second = read_flows(FLOWS.text, "flows.toml")

    assert ("web reaches the API", "tcp pod/shop/web > pod/shop/api:80") == (
        first.name,
        first.probe,
    )
    assert (Expectation.CONNECTS, Expectation.FAILS) == (first.expect, second.expect)
    assert first.span is not None
    assert (2, 7) == (first.span.line, first.span.last_line)


def test_lists_make_every_combination() -> None:
    """Two sources and two ports are four flows, each with a name of its own."""
    text = (
        '[[flow]]\nname = "n"\nfrom = ["host", "10.0.0.1"]\nto = "fe80::1"\n'
        'port = [80, 443]\nexpect = "fails"'
    )
    flows = read_flows(text, "f")

    assert ["tcp host > [fe80::1]:80", "tcp host > [fe80::1]:443"] == [
        flow.probe for flow in flows[:2]
    ]
    assert len({flow.name for flow in flows}) == 4


@pytest.mark.parametrize(
    ("lines", "place"),
    [
        (("frm = 1",), "f:4:1: expected one of"),
        (('expect = "conects"',), "f:4:1: expected connects or fails"),
        (("port = 70000",), "f:4:1: expected a port from 1 to 65535"),
        (('protocol = "sctp"',), "f:4:1: expected one of tcp"),
        (('by = "x"', 'expect = "connects"'), 'expected `by` only with expect = "fails"'),
        (('protocol = "icmp"', "port = 8", 'expect = "fails"'), "expected no port of icmp"),
        (('port = "http"', 'expect = "fails"'), "expected a port's number for 10.0.0.1"),
        (("from = []",), "f:4:1: expected pod/NS/NAME"),
    ],
)
def test_what_no_flow_can_be_is_refused(lines: tuple[str, ...], place: str) -> None:
    """Each fault is one line with file, line and column."""
    ends = [] if any(line.startswith("from") for line in lines) else ['from = "host"']
    text = "\n".join(["[[flow]]", *(ends or ["name = 'x'"]), 'to = "10.0.0.1"', *lines])

    with pytest.raises(PodpathError) as refused:
        read_flows(text, "f")

    assert place in str(refused.value)


def test_two_flows_of_one_name_are_refused() -> None:
    """Reports go by names."""
    one = '[[flow]]\nfrom = "host"\nto = "svc/a/b"\nexpect = "connects"\n'

    with pytest.raises(PodpathError, match="name of its own"):
        read_flows(one + one, "f")


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    """Whatever stands in the file, there is an answer with the file's name in it."""
    said = "f:"
    try:
        read_flows(text, "f")
    except PodpathError as error:
        said = str(error)

    assert said.startswith("f:")
