"""Section [reflect]: one address of this host, the pod's own, or several; networks; a budget."""

from __future__ import annotations

import ipaddress

import pytest

from podpath.net.tables import TableError, parse_tables
from podpath_protect.reflect.options import ReflectOptions, parse_listen, parse_networks, resolve
from podpath_protect.validate.sockets import SocketEnd


@pytest.mark.parametrize(
    ("value", "ends"),
    [
        ("pod:15105", (SocketEnd("pod", 15105),)),
        ("[fd00::1]:9", (SocketEnd("fd00::1", 9),)),
        (["10.0.0.1:9", "pod:8"], (SocketEnd("10.0.0.1", 9), SocketEnd("pod", 8))),
    ],
)
def test_where_to_listen(value: object, ends: tuple[SocketEnd, ...]) -> None:
    """A text or a list of them."""
    assert ends == parse_listen(value)


@pytest.mark.parametrize(
    "value",
    ["0.0.0.0:9", "[::]:9", "fd00::1:9", "node:9", "pod", "pod:70000", 9, [], ["10.0.0.1:9", 8]],
)
def test_a_wildcard_is_no_place_to_listen(value: object) -> None:
    """Nor a name, an address without a port, a number."""
    with pytest.raises(ValueError, match="ADDRESS:PORT"):
        parse_listen(value)


def test_networks_are_read() -> None:
    """Of both families; what is none is named."""
    assert (
        ipaddress.ip_network("10.244.0.0/16"),
        ipaddress.ip_network("fd00::/8"),
    ) == parse_networks(["10.244.3.1/16", "fd00::/8"])
    for value in ("10.0.0.0/8", ["10.0.0.0/40"], [True], [1]):
        with pytest.raises(ValueError, match=r"10\.244\.0\.0/16"):
            parse_networks(value)


def test_the_pods_addresses_stand_in_its_environment() -> None:
    """All of them, or the one; none where the downward API gives none."""
    listen = (SocketEnd("pod", 1), SocketEnd("10.0.0.9", 2))

    assert (SocketEnd("10.0.0.1", 1), SocketEnd("fd00::1", 1), SocketEnd("10.0.0.9", 2)) == resolve(
        listen, {"POD_IPS": "10.0.0.1,fd00::1", "POD_IP": "10.0.0.1"}
    )
    assert (SocketEnd("fd00::1", 1), SocketEnd("10.0.0.9", 2)) == resolve(
        listen, {"POD_IP": "fd00::1"}
    )
    assert (SocketEnd("10.0.0.9", 2),) == resolve(listen, {})


def test_faults_are_told_with_their_lines() -> None:
    """As those of every other section are."""
    with pytest.raises(
        TableError, match=r"c\.toml:1: expected a network such as `10.244.0.0/16`, saw 'x'"
    ):
        parse_tables("allow = ['x']", "c.toml", ReflectOptions)
    with pytest.raises(TableError, match="expected a per_second of 1 or more"):
        parse_tables("per_second = 0", "c.toml", ReflectOptions)
