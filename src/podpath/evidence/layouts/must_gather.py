"""OpenShift's must-gather (openshift/must-gather, and `oc adm inspect`, which writes its objects).

Objects stand by namespace and group. Nodes have outputs under `network_logs` (`NODE_POD_ip_addr`,
of pods in the host's namespace). Under `nodes/NODE`, `ethtool` was run in the namespace of the pod
that collected it: that says nothing of the node. The operator of SR-IOV prints devices of the host,
and addresses of every namespace in one file.
"""

from __future__ import annotations

from podpath.evidence.layouts.layout import BundleLayout, LayoutRow, ReadAs

_ON = r"network_logs/(?P<host>[^/]+?)_(?:(?:ovnkube-node|sdn|ovs)-[a-z0-9]+_)?"
_SRIOV = r"namespaces/[^/]+/pods/(?P<host>sriov-network-config-daemon-[^/]+)/"

LAYOUT = BundleLayout(
    name="must-gather",
    marks=(
        r"namespaces/[^/]+/core/(?:pods|services|endpoints|events|configmaps)\.yaml",
        r"cluster-scoped-resources/core/nodes/[^/]+\.yaml",
        r"cluster-scoped-resources/[^/]+/[^/]+(?:/[^/]+)?\.yaml",
        r"host_service_logs/(?:masters|workers)/[^/]+\.log",
    ),
    rows=(
        LayoutRow(rf"{_ON}iptables", "iptables-save -c"),
        LayoutRow(rf"{_ON}ip_addr", "ip addr"),
        LayoutRow(rf"{_ON}ip_route", "ip route"),
        LayoutRow(rf"{_ON}ip_6_route", "ip -6 route"),
        LayoutRow(rf"{_ON}ip_-s_-d_link", "ip -s -d link"),
        LayoutRow(rf"{_ON}ovs_dump", "ovs-vsctl show"),
        LayoutRow(r"network_logs/(?P<host>[^/]+)_ethtool_offload", "ethtool -k"),
        LayoutRow(r"network_logs/(?P<host>[^/]+)_ethtool_driver", how=ReadAs.ASIDE),
        LayoutRow(r"network_logs/(?:net_attach_def|multi_networkpolicy)",
                  "kubectl get network-attachment-definitions -A -o yaml"),
        LayoutRow(r"network_logs/(?:[^/]+\.log|ipsec/.*)", how=ReadAs.LOG),
        LayoutRow(r"network_logs/.*", how=ReadAs.ASIDE),
        LayoutRow(
            r"nodes/(?P<host>[^/]+)/sysinfo/(?:.*/)?(?P<file>proc/sys/net/.+)", "cat /{file}",
        ),
        LayoutRow(
            r"nodes/(?P<host>[^/]+)/sysinfo/(?:.*/)?(?P<file>proc/net/(?:route|dev|arp))",
            "cat /{file}",
        ),
        LayoutRow(r"nodes/(?P<host>[^/]+)/sysinfo/(?:.*/)?(?:iptables[^/]*|ip_[^/]*|ip-[^/]*|"
                  r"nft[^/]*|sysctl[^/]*)",
                  how=ReadAs.SNIFFED),
        LayoutRow(r"nodes/(?P<host>[^/]+)/(?:dmesg|.*\.log|.*_logs_.*)", how=ReadAs.LOG),
        LayoutRow(r"nodes/.*", how=ReadAs.ASIDE),
        LayoutRow(rf"{_SRIOV}ip_link", "ip link"),
        LayoutRow(
            rf"{_SRIOV}netns_ip_a", heading=r"> (?P<command>ip netns exec (?P<netns>\S+) ip a)$",
        ),
        LayoutRow(rf"{_SRIOV}ethtool", heading=r"> (?P<command>ethtool -i \S+)$"),
        LayoutRow(
            r"namespaces/[^/]+/pods/.*/logs/.*|host_service_logs/.*|audit_logs/.*", how=ReadAs.LOG,
        ),
        LayoutRow(r"namespaces/(?P<space>[^/]+)/core/(?P<kind>pods|services|endpoints|"
                  r"configmaps)\.yaml",
            "kubectl -n {space} get {kind} -o yaml"),
        LayoutRow(r"namespaces/(?P<space>[^/]+)/(?P<group>networking\.k8s\.io|discovery\.k8s\.io|"
                  r"k8s\.cni\.cncf\.io|k8s\.ovn\.org)/(?P<kind>[^/]+?)(?:/[^/]+)?\.yaml",
                  "kubectl -n {space} get {kind}.{group} -o yaml"),
        LayoutRow(
            r"namespaces/(?P<space>[^/]+)/pods/(?P<pod>[^/]+)/(?P=pod)\.yaml",
            "kubectl -n {space} get pod {pod} -o yaml",
        ),
        LayoutRow(
            r"namespaces/[^/]+/core/events\.yaml|event-filter\.html|.*/events\.yaml",
            how=ReadAs.LOG,
        ),
        LayoutRow(r"namespaces/.*", how=ReadAs.ASIDE),
        LayoutRow(r"cluster-scoped-resources/core/nodes/[^/]+\.yaml", "kubectl get nodes -o yaml"),
        LayoutRow(r"cluster-scoped-resources/(?P<group>config\.openshift\.io|"
                  r"operator\.openshift\.io|network\.openshift\.io|k8s\.ovn\.org|"
            r"policy\.networking\.k8s\.io)/(?P<kind>networks?|hostsubnets|netnamespaces|egressips|"
            r"adminnetworkpolicies)(?:/[^/]+)?\.yaml",
            "kubectl get {kind}.{group} -o yaml"),
        LayoutRow(r"(?:cluster-scoped-resources|etcd_info|ingress_controllers|insights-data|"
                  r"monitoring|static-pods|internal|metallb|pod_network_connectivity_check|"
                  r"image-registry|apirequestcounts|webhooks)/.*", how=ReadAs.ASIDE),
        LayoutRow(r"version|timestamp|must-gather\.log|must-gather\.logs", how=ReadAs.ASIDE),
    ),
)  # fmt: skip
