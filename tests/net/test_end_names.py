"""Ends of connections, taken apart."""

from __future__ import annotations

import pytest

from podpath.net.end_names import EndName, NameKind, parse_end
from podpath.net.errors import UsageError


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("pod/shop/web-0", EndName(NameKind.POD, "web-0", "shop")),
        ("po/web-0:8080", EndName(NameKind.POD, "web-0", port="8080")),
        ("services/shop/api:http", EndName(NameKind.SERVICE, "api", "shop", "http")),
        ("nodes/node1:30080", EndName(NameKind.NODE, "node1", port="30080")),
        ("node2:30080", EndName(NameKind.BARE, "node2", port="30080")),
        ("shop/api", EndName(NameKind.BARE, "api", "shop")),
        ("co/istio-proxy", EndName(NameKind.CONTAINER, "istio-proxy")),
        ("outside", EndName(NameKind.OUTSIDE, "outside")),
        ("/var/run/netns/blue:80", EndName(NameKind.NETNS, "blue", port="80")),
        ("netns/node2/blue", EndName(NameKind.NETNS, "node2/blue")),
        ("10.0.0.1:80", EndName(NameKind.ADDRESS, "10.0.0.1", port="80")),
        ("fd00::1", EndName(NameKind.ADDRESS, "fd00::1")),
        ("[fd00::1]:80", EndName(NameKind.ADDRESS, "fd00::1", port="80")),
    ],
)
def test_an_end_has_a_kind_a_name_and_a_port(text: str, end: EndName) -> None:
    """Every spelling that kubectl takes is read; a bare name has no kind yet."""
    assert end == parse_end(text)


@pytest.mark.parametrize("text", ["", "shop/", "Shop/API", "pod/a/b/c", "api:"])
def test_what_is_spelled_like_no_end_is_refused(text: str) -> None:
    """The message shows how ends are spelled."""
    with pytest.raises(UsageError, match="expected pod/shop/web-0, svc/shop/api:http"):
        parse_end(text)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("api", {NameKind.POD, NameKind.SERVICE}),
        ("shop/api", {NameKind.POD, NameKind.SERVICE}),
        ("svc/api", {NameKind.SERVICE}),
        ("other/api", set()),
        ("shop/web", set()),
    ],
)
def test_what_an_end_may_name(text: str, meant: set[NameKind]) -> None:
    """A bare name may be of any kind, and one without a namespace in any."""
    kinds = (NameKind.POD, NameKind.SERVICE)
    assert meant == {kind for kind in kinds if parse_end(text).may_name(kind, "shop", "api")}
