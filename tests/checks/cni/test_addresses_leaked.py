"""Addresses that host-local holds, against the pods that there are."""

from __future__ import annotations

import pytest

from podpath.checks.cni.addresses_leaked import check
from tests.checks.pasted import ticket_of

TICKET = """\
{said}

```
$ ls /var/lib/cni/networks/podnet | {filter}
{held}
$ grep -h subnet /etc/cni/net.d/*
{subnets}
$ {runtime} | wc -l
{running}
```
"""
ALL = {
    "said": "No pod starts on node cedar-9 any more.",
    "filter": "grep -c '^10'",
    "held": "62",
    "subnets": '      "subnet": "10.64.9.0/26",',
    "runtime": "crictl pods -q",
    "running": "5",
}
SECOND = '      "subnet": "10.70.0.0/24",'


@pytest.mark.parametrize(
    ("change", "certainties"),
    [
        ({}, [1.0]),
        ({"filter": "wc -l", "held": "65"}, [1.0]),
        ({"subnets": f"{ALL['subnets']}\n{SECOND}"}, [0.8]),
        ({"running": "60"}, []),
        ({"held": "14"}, []),
        ({"subnets": SECOND}, []),
        ({"said": "Pods of node cedar-9 cannot reach 10.2.0.7."}, [1.0]),
        ({"said": "Pods of node cedar-9 get no answer from 10.2.0.7."}, []),
        ({"runtime": "crictl pods -q | grep web"}, []),
        ({"runtime": "crictl images"}, []),
        ({"runtime": "crictl pods -q --namespace shop"}, []),
        ({"runtime": "crictl pods -q --state notready"}, []),
        ({"runtime": "kubectl get pods -o wide"}, []),
        ({"runtime": "kubectl get pods -A --no-headers"}, [1.0]),
        ({"subnets": f"{ALL['subnets']}\n      \"name\": \"other\","}, [0.8]),
    ],
    ids=["leaked", "all-files", "two-ranges", "used", "few", "other-range", "unsaid-how",
         "other-failure", "part", "images", "of-one-namespace", "ended", "of-the-default-namespace",
         "of-all-nodes", "of-another-network"],
)  # fmt: skip
def test_a_full_range_of_few_pods_has_leaked(
    change: dict[str, str], certainties: list[float]
) -> None:
    """Where the range, its files and its pods are counted, and pods do not start."""
    case = ticket_of(TICKET.format(**{**ALL, **change}))

    assert certainties == [one.certainty for one in check(case)]


def test_a_list_of_the_files_counts_as_well() -> None:
    """Names that are addresses alone."""
    names = "\n".join(f"10.64.9.{number}" for number in range(1, 15))
    text = f"""\
No pod starts.

```
# ls /var/lib/cni/networks/podnet
{names}
last_reserved_ip.0
lock
# cat /etc/cni/net.d/10-a.conflist
{{
  "cniVersion": "0.4.0",
  "name": "podnet",
  "plugins": [
    {{"type": "bridge", "ipam": {{"type": "host-local", "subnet": "10.64.9.0/28"}}}}
  ]
}}
# crictl pods -q | wc -l
2
```
"""
    (found,) = check(ticket_of(text))

    assert (1.0, ("14",)) == (found.certainty, found.marks)
