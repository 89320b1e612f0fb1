"""Names of routing tables."""

from __future__ import annotations

import pytest

from podpath.assembly.case import assemble_case
from podpath.evidence.iproute.rt_tables import FORMAT
from podpath.evidence.recognition import read, recognise
from podpath.net.provenance import Source

FILE = (
    "#\n# reserved values\n#\n255\tlocal\n254\tmain\n253\tdefault\n0\tunspec\n#\n# local\n#\n"
    "100\tuplink  # ours\n"
)


def test_names_come_to_the_routes_that_they_name() -> None:
    """A rule by number and a route by name mean one table."""
    texts = {
        "rt_tables": (FILE, "cat /etc/iproute2/rt_tables"),
        "rules": ("100:\tfrom 10.9.0.0/24 lookup 100", "ip rule"),
        "routes": ("default via 10.9.0.1 dev eth0 table uplink", "ip route show table all"),
    }
    sources = [
        Source(name=name, lines=tuple(text.splitlines()), command=command)
        for name, (text, command) in texts.items()
    ]
    readings = [(source, reading) for source in sources if (reading := read(source)) is not None]
    assert [gap for _, reading in readings for gap in reading.gaps] == []
    host = assemble_case(readings).node.host
    assert {route.table for route in host.routes.items if route.prefix.length == 0} == {100}
    assert 100 in {rule.table for rule in host.rules.items}


@pytest.mark.parametrize(
    ("text", "name", "known"),
    [
        (FILE, "pasted", True),
        ("200 vpn", "etc/iproute2/rt_tables.d/vpn.conf", True),
        ("200 vpn", "pasted", False),
        ("1 2", "rt_tables", False),
    ],
)
def test_the_file_is_known_by_its_name_or_its_own_rows(text: str, name: str, known: bool) -> None:  # noqa: FBT001 - a parameter
    """Two words alone may be anything."""
    assert (recognise(Source(name=name, lines=tuple(text.splitlines()))) is FORMAT) is known
