"""What checks of single facts ask of a case."""

from __future__ import annotations

import pytest

from podpath.checks.stated import (
    has_inner_bridge,
    is_inner_bridge,
    is_tunnel,
    is_typed_on,
    may_be_of_one_host,
    read_host,
    spans_of,
    statements_of,
    uplinks,
)
from podpath.net.provenance import Source, Span
from podpath.net.statements import ArpAnswer, RouteAnswer
from tests.assembly.evidence_text import case_of_document

TICKET = """\
```
$ ip route
default via 192.168.1.1 dev eth0
$ ip route get 10.0.0.1
RTNETLINK answers: Network is unreachable
```
"""


def test_a_case_is_asked_by_type() -> None:
    """Each comes with its line; what is not there is empty."""
    case = case_of_document(TICKET)
    ((answer, stated),) = statements_of(case, RouteAnswer)

    assert answer.error == "Network is unreachable"
    assert spans_of((stated, stated)) == (stated.span,)
    assert not list(statements_of(case, ArpAnswer))


def test_uplinks_are_the_devices_of_default_routes() -> None:
    """Only what outputs list counts."""
    assert uplinks(case_of_document(TICKET).node.host) == {"eth0"}


@pytest.mark.parametrize(("name", "bridge", "tunnel"), [
    ("docker0", True, False), ("br-0123456789ab", True, False), ("br0", False, False), ("cni0", True, False),  # noqa: E501
    ("br-81c0", True, False), ("br-1001", False, False),
    ("flannel.1", False, True), ("wg0", False, True), ("eth0", False, False),
])  # fmt: skip
def test_names_tell_what_a_device_is_for(name: str, bridge: bool, tunnel: bool) -> None:  # noqa: FBT001  # a case
    """A bridge that leads to the LAN has any name."""
    case = case_of_document(
        f"```\n$ ip -br link\n{name} UP 02:00:00:00:00:01 <BROADCAST,UP>\n```\n"
    )

    assert bridge is has_inner_bridge(case.node.host)
    assert (bridge, tunnel) == (is_inner_bridge(name), is_tunnel(name))


def typed_at(prompt: str | None) -> Span:
    """Return a line of an output that was typed at a prompt."""
    return Span(Source(name="ticket.md", lines=("",), prompt=prompt), 1, 1)


@pytest.mark.parametrize(
    ("prompt", "host"),
    [
        ("root@elm-1:~#", "elm-1"),
        ("[root@elm-1 ~]#", "elm-1"),
        ("elm@ash.example.org:~$", "ash"),
        ("pi@10.0.0.5:~$", "10.0.0.5"),
        ("elm-1#", ""),
        (None, ""),
    ],
)
def test_a_prompt_with_a_user_names_its_host(prompt: str | None, host: str) -> None:
    """Without its domain; what else a prompt says is no host for sure."""
    assert host == read_host(typed_at(prompt))


def test_outputs_of_two_names_are_of_two_hosts() -> None:
    """One without a name may be of either."""
    one, other, nameless = map(typed_at, ("root@elm:~#", "root@ash:~#", "#"))

    assert may_be_of_one_host((one, nameless, None))
    assert not may_be_of_one_host((one, nameless, other))


@pytest.mark.parametrize(
    ("prompt", "typed"),
    [
        ("root@elm:~#", True),
        ("root@elm.example.org:~#", True),
        ("elm$", True),
        ("elm@ash:~$", False),
        ("root@elm-2:~#", False),
        ("#", False),
    ],
)
def test_a_host_is_meant_by_its_prompt_and_no_user(prompt: str, *, typed: bool) -> None:
    """A user that has a host's name is none."""
    assert typed is is_typed_on(case_of_document(TICKET), typed_at(prompt), "elm")
