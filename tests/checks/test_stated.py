"""What checks of single facts ask of a case."""

from __future__ import annotations

import pytest

from podpath.checks.stated import is_inner_bridge, is_tunnel, spans_of, statements_of, uplinks
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
    ("flannel.1", False, True), ("wg0", False, True), ("eth0", False, False),
])  # fmt: skip
def test_names_tell_what_a_device_is_for(name: str, bridge: bool, tunnel: bool) -> None:  # noqa: FBT001  # a case
    """A bridge that leads to the LAN has any name."""
    assert (bridge, tunnel) == (is_inner_bridge(name), is_tunnel(name))
