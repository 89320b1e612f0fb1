"""`networkctl status DEVICE`."""

from __future__ import annotations

import pytest

from podpath.evidence.formats import NO
from podpath.evidence.nettools import networkctl
from podpath.evidence.records import StatementRecord
from podpath.net.statements import ManagedDevice
from tests.evidence.consoles import block, read

SHOWN = """\
● 41: {device}
                     Link File: /usr/lib/systemd/network/99-default.link
                  Network File: {file}
                         State: {state}
                  Online state: online
                          Type: ether
              Hardware Address: 02:00:00:00:00:01
                           MTU: 1500 (min: 68, max: 65535)
                       Address: 10.0.0.9
                                fe80::1
Aug 17 09:40:02 node-1 systemd-networkd[311]: {device}: Link UP"""


@pytest.mark.parametrize(
    ("file", "state", "expected"),
    [
        (
            "/etc/systemd/network/05-all.network",
            "degraded (configuring)",
            ("cali1", "configuring", "degraded", "/etc/systemd/network/05-all.network"),
        ),
        ("n/a", "carrier (unmanaged)", ("cali1", "unmanaged", "carrier", "")),
    ],
)
def test_a_device_is_read_with_its_file(
    file: str, state: str, expected: tuple[str, str, str, str]
) -> None:
    """Its setup state stands in brackets; `n/a` is no file."""
    reading = read(block(SHOWN.format(device="cali1", file=file, state=state)))
    found = [one for one in reading.records if isinstance(one, StatementRecord)]

    assert () == reading.gaps
    assert [expected] == [
        (one.statement.link, one.statement.state, one.statement.profile, one.statement.file)
        for one in found
        if isinstance(one.statement, ManagedDevice)
    ]
    assert "State: " in found[0].span.text


def test_an_overview_of_the_host_names_no_device() -> None:
    """`networkctl status` alone."""
    source = block(
        "●        State: routable\n       Address: 10.0.0.9 on eth0", "networkctl status"
    )

    assert networkctl.recognise(source) == NO
