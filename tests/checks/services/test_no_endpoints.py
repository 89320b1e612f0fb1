"""A service without endpoints, as its Endpoints or slices alone show it."""

from __future__ import annotations

import pytest

from podpath.checks.services.no_endpoints import check
from tests.checks.pasted import ticket_of

_FAILS = "Clients cannot reach the service shop: connection refused."
_YAML = """\
$ kubectl get endpoints shop -o yaml
apiVersion: v1
kind: Endpoints
metadata:
  name: shop
  namespace: default
"""
_SLICES = """\
$ kubectl get endpointslices -l kubernetes.io/service-name=shop -o yaml
apiVersion: v1
items:
- addressType: IPv4
  apiVersion: discovery.k8s.io/v1
  {held}
  kind: EndpointSlice
  metadata:
    labels:
      kubernetes.io/service-name: shop
    name: shop-x8m2k
    namespace: default
kind: List
"""
_DESCRIBED = """\
$ kubectl describe endpoints shop
Name:         shop
Namespace:    default
Labels:       app=shop
Annotations:  <none>
Subsets:
{held}Events:  <none>
"""
_SLICE = """\
$ kubectl describe endpointslice shop-x8m2k
Name:         shop-x8m2k
Namespace:    default
Labels:       endpointslice.kubernetes.io/managed-by=endpointslice-controller.k8s.io
              kubernetes.io/service-name=shop
Annotations:  <none>
AddressType:  IPv4
Ports:        <unset>
Endpoints:    {held}
Events:       <none>
"""
_ROWS = """\
$ kubectl get endpointslices
NAME         ADDRESSTYPE   PORTS     ENDPOINTS   AGE
shop-x8m2k   IPv4          80        {held}   3d
db-77xm2     IPv4          5432      10.1.2.4    3d
"""


def _found(*outputs: str, prose: str = _FAILS) -> list[tuple[float, str]]:
    """Return how sure the check is of a ticket, with the words that it quotes first."""
    text = "\n".join(outputs)
    ticket = f"{prose}\n\n```\n{text}```\n"
    return [(one.certainty, one.evidence[0].text.strip()) for one in check(ticket_of(ticket))]


@pytest.mark.parametrize(
    ("output", "quoted"),
    [
        (f"{_YAML}subsets: []\n", "subsets: []"),
        (f"{_YAML}subsets: null\n", "subsets: null"),
        (_SLICES.format(held="endpoints: null"), "endpoints: null"),
        (_SLICES.format(held="endpoints: []"), "endpoints: []"),
        (_DESCRIBED.format(held=""), "Subsets:"),
        (
            "$ kubectl get ep shop\nNAME   ENDPOINTS   AGE\nshop   <none>      3d\n",
            "shop   <none>      3d",
        ),
    ],
)
def test_what_somebody_asked_for_is_empty(output: str, quoted: str) -> None:
    """No output shows the service itself."""
    assert [(1.0, quoted)] == _found(output)


@pytest.mark.parametrize(
    "output", [_SLICE.format(held="<none>"), _ROWS.format(held="<unset>"), _YAML]
)
def test_a_slice_may_be_one_of_several(output: str) -> None:
    """Another one may hold what is missing, and so may a field that is not printed."""
    assert [0.6] == [sure for sure, _ in _found(output)]


@pytest.mark.parametrize(
    "output",
    [
        f"{_YAML}subsets:\n- addresses:\n  - ip: 10.1.2.3\n  ports:\n  - port: 80\n",
        _SLICES.format(held="endpoints: [{addresses: [10.1.2.3]}]"),
        _DESCRIBED.format(held="  Addresses:          10.1.2.3\n  NotReadyAddresses:  <none>\n"),
        _SLICE.format(held="\n  - Addresses:  10.1.2.3\n    Conditions:\n      Ready:    true"),
        _ROWS.format(held="10.1.2.3"),
    ],
)
def test_an_address_is_an_endpoint(output: str) -> None:
    """The same outputs, with one."""
    assert [] == _found(output)


def test_pods_that_are_not_ready_are_none() -> None:
    """They are known, and get nothing."""
    held = "  Addresses:          <none>\n  NotReadyAddresses:  10.1.2.3\n"

    assert [1.0] == [sure for sure, _ in _found(_DESCRIBED.format(held=held))]


def test_an_empty_slice_of_another_family_is_none() -> None:
    """The service has another slice, with an address."""
    rows = f"{_ROWS.format(held='10.1.2.3')}shop-q9v7d   IPv6          80        <unset>   3d\n"

    assert [] == _found(rows)


@pytest.mark.parametrize(
    "output",
    [
        f"{_YAML}subsets: []\n".replace(
            "metadata:",
            "metadata:\n  annotations:\n"
            '    control-plane.alpha.kubernetes.io/leader: \'{"holderIdentity":"m1"}\'',
        ),
        "$ kubectl get ep kube-scheduler\nNAME   ENDPOINTS   AGE\nkube-scheduler   <none>   3d\n",
        "$ kubectl get ep\nNAME   ENDPOINTS   AGE\nold    <none>      3d\nshop   10.1.2.3:80 3d\n",
    ],
)
def test_what_nobody_misses_is_innocent(output: str) -> None:
    """Locks of elections have no addresses, and others in a list are none that people name."""
    assert [] == _found(output)
