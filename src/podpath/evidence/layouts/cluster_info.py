"""`kubectl cluster-info dump --output-directory`: objects of the cluster, a folder for each
namespace, and logs of pods.
"""

from __future__ import annotations

from podpath.evidence.layouts.layout import How, Layout, Row

LAYOUT = Layout(
    name="kubectl cluster-info dump",
    marks=(
        r"nodes\.(?:json|yaml)",
        r"kube-system/pods\.(?:json|yaml)",
        r"kube-system/services\.(?:json|yaml)",
    ),
    needed=2,
    rows=(
        Row(r"nodes\.(?P<form>json|yaml)", "kubectl get nodes -o {form}"),
        Row(
            r"(?P<space>[^/]+)/(?P<kind>pods|services)\.(?P<form>json|yaml)",
            "kubectl -n {space} get {kind} -o {form}",
        ),
        Row(r"[^/]+/events\.(?:json|yaml)", how=How.LOG),
        Row(
            r"[^/]+/(?:replication-controllers|daemonsets|deployments|replicasets)\.(?:json|yaml)",
            how=How.ASIDE,
        ),
        Row(r"[^/]+/[^/]+/logs\.txt", how=How.LOG),
    ),
)
