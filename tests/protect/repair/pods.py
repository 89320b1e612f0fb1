"""Pods as the API server shows them, read into what protect keeps, for the tests of repair."""

from __future__ import annotations

from typing import Any

import msgspec

from podpath_protect.cluster.objects import KubePod
from tests import kube_objects as kube

LINKERD, ISTIO = "linkerd-network-validator", "istio-validation"


def read(sent: dict[str, Any]) -> KubePod:
    """Read an object as a server would send it."""
    return msgspec.json.decode(msgspec.json.encode(sent), type=KubePod)


def pod(
    state: kube.Object | None = None,
    last: kube.Object | None = None,
    *,
    name: str = "web-1",
    validator: str = LINKERD,
    uid: str = "",
    **more: Any,  # noqa: ANN401  # fields of the manifest and the status
) -> KubePod:
    """Make a pod whose validator is in a state; without one where no state is given."""
    status = more.pop("status", {})
    phase, ips = more.pop("phase", "Pending"), more.pop("ips", ())
    more.setdefault("owners", [kube.owner()])
    sent = kube.pod(name, namespace="shop", init=(validator,) if state is not None else (), **more)
    sent["metadata"] |= {"uid": uid or f"uid-{name}", "resourceVersion": "7"}
    sent["status"] = {"phase": phase} | status
    if state is not None:
        sent["status"] = kube.status(validator, state, last, phase=phase, ips=ips)
    return read(sent)
