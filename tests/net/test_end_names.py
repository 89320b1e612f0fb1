"""Ends of connections, taken apart."""

from __future__ import annotations

import pytest

from podpath.net.end_names import (
    EndName,
    NameKind,
    OwnedPod,
    choose,
    list_owned,
    name_workloads,
    parse_end,
    read_ends,
)
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
        ("deploy/shop/api:http", EndName(NameKind.DEPLOYMENT, "api", "shop", "http")),
        ("statefulset/db", EndName(NameKind.STATEFUL_SET, "db")),
        ("daemonsets/kube-system/proxy", EndName(NameKind.DAEMON_SET, "proxy", "kube-system")),
        ("api.shop.svc.cluster.local:80", EndName(NameKind.SERVICE, "api", "shop", "80")),
        ("api.shop.svc.example.org.:http", EndName(NameKind.SERVICE, "api", "shop", "http")),
        ("api.shop.svc", EndName(NameKind.SERVICE, "api", "shop")),
        ("db-0.db.shop.svc:5432", EndName(NameKind.POD, "db-0", "shop", "5432")),
        ("10-244-1-5.shop.pod.cluster.local", EndName(NameKind.ADDRESS, "10.244.1.5", "shop")),
        ("fd00--5.shop.pod:80", EndName(NameKind.ADDRESS, "fd00::5", "shop", "80")),
        ("jobs/shop/import", EndName(NameKind.JOB, "import", "shop")),
        ("http://api.shop.svc/health?full", EndName(NameKind.SERVICE, "api", "shop", "80")),
        ("https://10.96.0.1", EndName(NameKind.ADDRESS, "10.96.0.1", port="443")),
        ("https://[fd00::1]:8443/", EndName(NameKind.ADDRESS, "fd00::1", port="8443")),
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


@pytest.mark.parametrize("text", ["ingress/shop/web", "ing/shop/web", "gateways/shop/main"])
def test_what_only_routes_to_services_has_no_address(text: str) -> None:
    """The message says what to ask about instead."""
    with pytest.raises(UsageError, match="the service of its controller"):
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


def test_what_is_no_end_is_passed_over_where_others_are_read() -> None:
    """Whoever asks about it is told elsewhere."""
    assert [end.name for end in read_ends(("shop/web-0", "no end", "10.0.0.1"))] == [
        "web-0",
        "10.0.0.1",
    ]


SERVED = EndName(NameKind.SERVICE, "api", "shop")
KNOWN = (
    EndName(NameKind.POD, "web-0", "shop"),
    EndName(NameKind.POD, "web-0", "other"),
    EndName(NameKind.POD, "web-1", "other"),
    EndName(NameKind.NODE, "node2"),
    SERVED,
)


@pytest.mark.parametrize(
    ("text", "near", "found"),
    [
        ("web-0", ("shop",), ["pod/shop/web-0"]),
        ("web-0", (), ["pod/shop/web-0", "pod/other/web-0"]),
        ("web-0", ("shop", "other"), ["pod/shop/web-0", "pod/other/web-0"]),
        ("web-1", ("shop",), ["pod/other/web-1"]),
        ("other/web-0", ("shop",), ["pod/other/web-0"]),
        ("node2:30080", ("shop",), ["node/node2"]),
        ("api.shop:80", ("other",), ["svc/shop/api"]),
        ("api.other", (), []),
        ("svc/api.shop", (), []),
    ],
)
def test_what_is_near_comes_before_all_else(
    text: str, near: tuple[str, ...], found: list[str]
) -> None:
    """A name without a namespace is of a near one where that has it; nodes are near to all."""
    assert found == [str(one) for one in choose(parse_end(text), KNOWN, near)]


@pytest.mark.parametrize(
    ("text", "foreign"),
    [("www.example.com:443", True), ("db.internal", True), ("web-0", False), ("a/b.com", False)],
)
def test_a_name_of_dns_is_told_from_others(text: str, foreign: bool) -> None:  # noqa: FBT001
    """It has labels, and no namespace before it."""
    assert parse_end(text).is_foreign is foreign


def owned(name: str, kind: str, owner: str, **more: object) -> OwnedPod:
    """Make a pod of a controller."""
    stated = {"namespace": "shop", "template": "", "ready": True, "has_address": True} | more
    return OwnedPod(name=name, owner_kind=kind, owner=owner, **stated)  # type: ignore[arg-type]  # of the right types


OWNED = (
    owned("api-7d9f-x", "ReplicaSet", "api-7d9f", template="7d9f", ready=False, has_address=False),
    owned("api-7d9f-y", "ReplicaSet", "api-7d9f", template="7d9f", ready=False),
    owned("api-7d9f-z", "ReplicaSet", "api-7d9f", template="7d9f"),
    owned("api-gw-5c-a", "ReplicaSet", "api-gw-5c", template="5c"),
    owned("db-0", "StatefulSet", "db"),
    owned("log-q", "DaemonSet", "log"),
    owned("log-r", "DaemonSet", "log", namespace="other"),
)


@pytest.mark.parametrize(
    ("text", "near", "names"),
    [
        ("deploy/shop/api", (), ["api-7d9f-z", "api-7d9f-y", "api-7d9f-x"]),
        ("deploy/api", (), ["api-7d9f-z", "api-7d9f-y", "api-7d9f-x"]),
        ("sts/db", (), ["db-0"]),
        ("ds/log", ("other",), ["log-r"]),
        ("ds/shop/log", ("other",), ["log-q"]),
        ("deploy/db", (), []),
        ("sts/other/db", (), []),
    ],
)
def test_a_workload_stands_for_its_pods(text: str, near: tuple[str, ...], names: list[str]) -> None:
    """Those that are ready come first; a Deployment owns through the ReplicaSet of its template."""
    assert names == [one.name for one in list_owned(parse_end(text), OWNED, near)]


def test_a_workload_of_two_namespaces_is_asked_about() -> None:
    """Nobody says which is meant."""
    with pytest.raises(UsageError, match="may be ds/other/log or ds/shop/log: write which"):
        list_owned(parse_end("ds/log"), OWNED)


def test_workloads_are_named_by_their_pods() -> None:
    """A Deployment without the hash of its template."""
    names = list(dict.fromkeys(name_workloads(NameKind.DEPLOYMENT, OWNED)))
    assert names == ["deploy/shop/api", "deploy/shop/api-gw"]
    assert list(name_workloads(NameKind.STATEFUL_SET, OWNED)) == ["sts/shop/db"]
