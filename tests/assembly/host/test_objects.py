"""Objects come into the case from whatever showed them."""

from __future__ import annotations

from tests.assembly.evidence_text import case_of_document

TICKET = """
```
$ kubectl get svc web -o wide
NAME   TYPE        CLUSTER-IP   EXTERNAL-IP   PORT(S)   AGE   SELECTOR
web    ClusterIP   10.96.0.20   <none>        80/TCP    5d    app=web
$ kubectl exec web-0 -- cat /etc/resolv.conf
nameserver 10.96.0.10
$ kubectl get pods -o wide | grep web
web-0   1/1     Running   0          5d    10.244.1.5   node1   <none>   <none>
```
"""


def test_every_sight_is_an_object() -> None:
    """Each says whose namespace it shows, and whether lines were left out."""
    found = {one.kind: one for one in case_of_document(TICKET).objects}

    assert {"Service", "ResolvConf", "Pod"} <= found.keys()
    assert "host" != found["ResolvConf"].netns
    assert (False, True) == (found["Service"].partial, found["Pod"].partial)
