"""Services that ask for address pools."""

from __future__ import annotations

import pytest

from podpath.checks.services.pool_unknown import check
from tests.checks.pasted import ticket_of

SERVICE = """\
apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: shop
  annotations:
    {key}: {pool}
spec:
  type: LoadBalancer
  clusterIP: 10.96.1.1
  ports:
  - port: 80
"""
OBJECT = """\
apiVersion: metallb.io/v1beta1
kind: IPAddressPool
metadata:
  name: rack-7
  namespace: metallb-system
spec:
  addresses:
  - 192.0.2.10-192.0.2.20
"""
CONFIG = """\
apiVersion: v1
kind: ConfigMap
metadata:
  namespace: metallb-system
  name: config
data:
  config: |
    address-pools:
    - name: rack-7
      protocol: layer2
      addresses:
      - 192.0.2.10-192.0.2.20
"""
KEYS = ("metallb.universe.tf/address-pool", "metallb.io/address-pool")


def lines(key: str, pool: str, *others: str) -> list[str]:
    """Return the first line of each finding of a ticket with a service and pools."""
    blocks = (SERVICE.format(key=key, pool=pool), *others)
    text = "The service gets no address.\n\n" + "\n".join(f"```\n{one}```\n" for one in blocks)
    return [one.evidence[0].text.strip() for one in check(ticket_of(text))]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("pools", [OBJECT, CONFIG], ids=["object", "configuration"])
def test_a_pool_that_nobody_configured(key: str, pools: str) -> None:
    """Both spellings of the annotation, and both places of pools."""
    assert [f"{key}: public"] == lines(key, "public", pools)


def test_a_pool_that_is_there_or_not_shown() -> None:
    """Where no pool is shown nobody knows which there are."""
    assert not lines(KEYS[0], "rack-7", OBJECT)
    assert not lines(KEYS[0], "rack-7", CONFIG)
    assert not lines(KEYS[0], "public")
    assert not lines("example.org/address-pool", "public", OBJECT)
