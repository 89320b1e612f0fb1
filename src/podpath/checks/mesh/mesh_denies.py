"""mesh-denies: a mesh's policy denies the request.

What it is
    Envoy's RBAC filter, an external authorizer or linkerd's policy refused it; or the mesh lets nothing out that it
    does not know (BlackHoleCluster under REGISTRY_ONLY).

Why it breaks
    The packets arrive at the proxy, which answers 403 or resets. A policy that allows something denies all else.

How to confirm
    kubectl get authorizationpolicy,peerauthentication,serviceentry -A; istioctl x authz check POD

How to fix
    Allow the source in the policy, or register the outside host with a ServiceEntry.

References
    Istio, Authorization Policy; Istio, Accessing External Services
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (Category.MESH_POLICY,)
NAME = "mesh-denies"
KINDS = (
    MessageKind.MESH_DENIED,
    MessageKind.BLACK_HOLE_CLUSTER,
)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    policy = get_value(said, "policy")
    policy = f" ({policy})" if policy else ""
    meaning = Meaning(
        claim=f"The mesh's policy{policy} denies the request.",
        breaks="requests that the policy does not allow",
        cure="allow the source, or register the destination",
    )
    yield tell(NAME, said, meaning)
