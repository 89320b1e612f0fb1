"""`kubectl cluster-info dump --output-directory`: objects of the cluster, a folder for each
namespace, and logs of pods.
"""

from __future__ import annotations

from podpath.evidence.layouts.layout import BundleLayout, LayoutRow, ReadAs

LAYOUT = BundleLayout(
    name="kubectl cluster-info dump",
    marks=(
        r"nodes\.(?:json|yaml)",
        r"kube-system/pods\.(?:json|yaml)",
        r"kube-system/services\.(?:json|yaml)",
    ),
    needed=2,
    rows=(
        LayoutRow(r"nodes\.(?P<form>json|yaml)", "kubectl get nodes -o {form}"),
        LayoutRow(
            r"(?P<space>[^/]+)/(?P<kind>pods|services)\.(?P<form>json|yaml)",
            "kubectl -n {space} get {kind} -o {form}",
        ),
        LayoutRow(r"[^/]+/events\.(?:json|yaml)", how=ReadAs.LOG),
        LayoutRow(
            r"[^/]+/(?:replication-controllers|daemonsets|deployments|replicasets)\.(?:json|yaml)",
            how=ReadAs.ASIDE,
        ),
        LayoutRow(r"[^/]+/[^/]+/logs\.txt", how=ReadAs.LOG),
    ),
)
