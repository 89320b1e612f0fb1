"""A pool that does not translate."""

from __future__ import annotations

from podpath.checks.netfilter.pool_without_nat import check
from tests.assembly.evidence_text import case_of_document

NO_TRANSLATION_MAY_BE_THE_CAUSE = """
```
$ calicoctl get ippool -o yaml
apiVersion: projectcalico.org/v3
kind: IPPool
metadata:
  name: default-ipv4-ippool
spec:
  cidr: 10.244.0.0/16
  ipipMode: Always
  natOutgoing: false

```
"""
TRANSLATION_IS_RIGHT = """
```
$ calicoctl get ippool -o yaml
apiVersion: projectcalico.org/v3
kind: IPPool
metadata:
  name: default-ipv4-ippool
spec:
  cidr: 10.244.0.0/16
  ipipMode: Always
  natOutgoing: true

```
"""
A_POOL_OUT_OF_USE = """
```
$ calicoctl get ippool -o yaml
apiVersion: projectcalico.org/v3
kind: IPPool
metadata:
  name: default-ipv4-ippool
spec:
  cidr: 10.244.0.0/16
  ipipMode: Always
  natOutgoing: false
  disabled: true
```
"""


def test_no_translation_may_be_the_cause() -> None:
    """natOutgoing false."""
    (found,) = check(case_of_document(NO_TRANSLATION_MAY_BE_THE_CAUSE))

    assert 0.7 == found.certainty
    assert "natOutgoing: false" in found.evidence[0].text


def test_translation_is_right() -> None:
    """natOutgoing true."""
    assert not list(check(case_of_document(TRANSLATION_IS_RIGHT)))


def test_a_pool_out_of_use() -> None:
    """A pool that is disabled gives no addresses."""
    assert not list(check(case_of_document(A_POOL_OUT_OF_USE)))
