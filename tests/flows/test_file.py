"""The file of flows: what it says becomes flows, and what it may not say is refused with its
place.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.flows.file import read_flows
from podpath.flows.flow import Expectation, FlowSet
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


def test_networks_ranges_and_pods_make_sets() -> None:
    """Each pair of ends is one set with all ports of the list; without a port, with every one."""
    text = (
        '[[flow]]\nfrom = ["pods", "10.0.0.1"]\nto = "10.96.0.0/12"\nport = [80, "8000-8999"]\n'
        'expect = "connects"\n[[flow]]\nname = "n"\nfrom = "0.0.0.0/0"\ndevice = "eth0"\n'
        'to = "svc/a/b:80"\nprotocol = "udp"\nexpect = "fails"\n'
    )
    flows = read_flows(text, "f")

    assert [flow.is_set for flow in flows] == [True] * 3
    assert [flow.as_set for flow in flows] == [
        FlowSet((), ("10.96.0.0/12",), ("tcp",), "80,8000-8999"),
        FlowSet(("10.0.0.1",), ("10.96.0.0/12",), ("tcp",), "80,8000-8999"),
        FlowSet(("0.0.0.0/0 in eth0",), ("svc/a/b:80",), ("udp",), "1-65535"),
    ]
    assert flows[0].name == "pods > 10.96.0.0/12 ports 80,8000-8999"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (("from = '10.0.0.0/8'", "to = '10.0.0.1'"), "the device that packets of 10.0.0.0/8"),
        (("from = 'pods'", "device = 'e'", "to = '10.0.0.1'"), "networks and addresses in `from`"),
        (("from = 'host'", "to = '10.0.0.0/8'"), "another address for each target"),
        (("from = 'pods'", "to = 'svc/a/b:80'", "port = 'http'"), "the port once"),
        (("from = 'pods'", "to = 'svc/a/b'", "port = 'http'"), "the numbers of ports in a set"),
        (("from = 'pods'", "to = 'svc/a/b'"), "a port's number for svc/a/b"),
        (("from = 'pods'", "to = '10.0.0.1:80'"), "the port of 10.0.0.1:80 in `port`"),
        (("from = 'pods'", "to = '10.0.0.1'", "port = '90-80'"), "a range of them"),
    ],
)
def test_what_no_set_can_be_is_refused(lines: tuple[str, ...], said: str) -> None:
    """Each fault names what was expected."""
    with pytest.raises(PodpathError) as refused:
        read_flows("\n".join(["[[flow]]", *lines, "expect = 'fails'"]), "f")

    assert said in str(refused.value)


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
        (('from = "pod/UPPER"',), "f:4:1: expected pod/shop/web-0, svc/shop/api:http"),
        (('from = "api.shop.svc"', "port = 8", 'expect = "fails"'), "services open no connections"),
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
