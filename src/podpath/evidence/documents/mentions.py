"""Which software, devices and clouds a text speaks of, prose and outputs alike: one table of words.

A mention is no evidence of anything; it tells which commands are worth asking for.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from podpath.net.technologies import Technology

LOOKED_AT = 1 << 16
"""Characters of a text that are looked at: what a ticket is about stands near its beginning."""


class _Row(NamedTuple):
    """A technology and the words for it."""

    technology: Technology
    pattern: re.Pattern[str]


def _row(technology: Technology, words: str) -> _Row:
    return _Row(technology, re.compile(rf"(?<![a-z0-9])(?:{words})(?![a-z0-9])", re.IGNORECASE))


_T = Technology
MENTIONS: tuple[_Row, ...] = (
    _row(_T.FLANNEL, r"flannel(?:d|\.\d+)?|kube-flannel"),
    _row(_T.CALICO, r"calico(?:-node|ctl)?|felix|vxlan\.calico|cali[0-9a-f]{11}|canal|tigera|bird6?"),
    _row(_T.CILIUM, r"cilium\w*|hubble|lxc[0-9a-f]{12}"),
    _row(_T.WEAVE, r"weave(?:-?net|works)?"),
    _row(_T.KUBE_ROUTER, r"kube-router"),
    _row(_T.KUBE_OVN, r"kube-?ovn(?:-\w+)?"),
    _row(_T.OVN_KUBERNETES, r"ovn-?k(?:8s|ubernetes)?|ovnkube(?:-\w+)?|ovn-(?:sb|nb)ctl"),
    _row(_T.OPENSHIFT_SDN, r"openshift-?sdn"),
    _row(_T.ANTREA, r"antrea(?:-\w+)?"),
    _row(_T.AWS_CNI, r"aws-node|aws-?(?:vpc-)?cni|vpc[- ]cni|ipamd|aws-k8s-agent"),
    _row(_T.MULTUS, r"multus|network-?attachment-?definitions?|net-attach-def|whereabouts"),
    _row(_T.CNI, r"cni\d*|networkplugin(?:notready)?|network plugin|/etc/cni/net\.d"),
    _row(_T.DOCKER, r"docker\w*|libnetwork|moby"),
    _row(_T.SWARM, r"(?:docker )?swarm|docker_gwbridge|docker (?:stack|service) \w+"),
    _row(_T.PODMAN, r"podman\d*|netavark|aardvark(?:-dns)?|cni-podman\d*"),
    _row(_T.LXC, r"lxc|lxd(?:br\d+)?|lxcbr\d+|incus(?:br\d+)?"),
    _row(_T.KUBERNETES, r"kubernetes|k8s|kubectl|kubeadm|kube-system|pods?"),
    _row(_T.KUBELET, r"kubelets?"),
    _row(_T.K3S, r"k3s|rke2?|k3d"),
    _row(_T.TALOS, r"talos(?:ctl)?"),
    _row(_T.OPENSTACK, r"openstack|neutron|nova|octavia|packstack"),
    _row(_T.FIREWALLD, r"firewalld|firewall-cmd|(?:IN|FWD[OI]?|FWD)_public\w*"),
    _row(_T.UFW, r"ufw(?:6?-[\w-]+)?"),
    _row(_T.IPTABLES, r"iptables(?:-\w+)?|ip6tables|xtables"),
    _row(_T.NFTABLES, r"nft|nftables?|nf_tables"),
    _row(_T.NETWORK_POLICY, r"(?:global)?network ?polic(?:y|ies)|netpol(?:s)?|ciliumnetworkpolic(?:y|ies)|cnp|ccnp"),
    _row(_T.CONNTRACK, r"(?:nf_)?conntrack\w*|\[UNREPLIED\]|\[ASSURED\]"),
    _row(_T.KUBE_PROXY, r"kube-?prox(?:y|ies)"),
    _row(_T.IPVS, r"ipvs|ipvsadm|kube-ipvs0|ip_vs\w*|lvs|keepalived lvs"),
    _row(_T.COREDNS, r"core-?dns|kube-?dns|corefile"),
    _row(_T.NODE_LOCAL_DNS, r"node-?local-?dns\w*|169\.254\.20\.10|169\.254\.25\.10"),
    _row(_T.DNS, r"dns|names?(?: server)?s?|resolv\w*|nslookup|dig|nxdomain|servfail|lookups?|host ?names?"),
    _row(_T.METALLB, r"metallb|speakers?|l2advertisements?|kube-vip"),
    _row(_T.INGRESS, r"ingress(?:-nginx)?|traefik|nginx"),
    _row(_T.ISTIO, r"istio\w*|istiod|pilot-agent|ztunnel|bookinfo|destination ?rules?|virtual "
    r"?services?|peerauthentications?"),
    _row(_T.LINKERD, r"linkerd\w*"),
    _row(_T.ENVOY, r"envoy|sidecars?|upstream_reset\w*|response_flags|(?:no healthy upstream)"),
    _row(_T.KEEPALIVED, r"keepalived\w*|vrrp\w*|vrid|virtual_router_id"),
    _row(_T.HAPROXY, r"haproxy|f5|big-?ip|traffic director"),
    _row(_T.NODE_PORT, r"node ?ports?|host ?ports?|publish(?:ed|es)?|port mappings?"),
    _row(_T.WEBHOOK, r"webhooks?|admission"),
    _row(_T.VXLAN, r"vxlan\w*|4789|8472|overlay|vtep|vni"),
    _row(_T.GENEVE, r"geneve\w*|genev_sys\w*|6081"),
    _row(_T.IPIP, r"ipip\w*|tunl0|ip-in-ip|ipencap"),
    _row(_T.WIREGUARD, r"wireguard|wg\d*|wg-quick|nordlynx|tailscale\d*"),
    _row(_T.IPSEC, r"ipsec|xfrm\w*|strongswan|libreswan"),
    _row(_T.OPENVPN, r"openvpn|tun\d+|vpn(?:s)?"),
    _row(_T.GRE, r"gre|gretap\d*|gue|gwlb|gwi-\S*"),
    _row(_T.VLAN, r"vlans?(?: ?\d+)?|802\.1q|vlan-id|trunk(?:s|ed)?"),
    _row(_T.BOND, r"bond(?:s|ing)?\d*|lacp|802\.3ad|team\d+"),
    _row(_T.BRIDGE, r"bridges?|br\d+|cni0|docker0|cbr0|vmbr\d+|brctl|virbr\d+|br-\w+"),
    _row(_T.OPEN_VSWITCH, r"open ?v(?:irtual )?switch|ovs(?:-\w+)?|br-int|br-tun|br-ex"),
    _row(_T.MACVLAN, r"macvlan\d*|macvtap\d*|mvlan\d*"),
    _row(_T.IPVLAN, r"ipvlan\d*"),
    _row(_T.SRIOV, r"sr-?iov|virtual functions?|vfs?|switchdev|dpdk"),
    _row(_T.VRF, r"vrfs?"),
    _row(_T.BGP, r"bgp|frr|peers?"),
    _row(_T.DHCP, r"dhcp(?:v?[46]|d|client|discover|offer|ack)?|leases?|dhclient|udhcpc"),
    _row(_T.ARP, r"arp\w*|who-has|neighbou?rs?"),
    _row(_T.IPV6, r"ipv6|ip -6|inet6|ip6tables|dual-?stack|icmp6|AAAA"),
    _row(_T.MULTICAST, r"multicast|mdns|igmp|broadcasts?"),
    _row(_T.TLS, r"tls|ssl|https|client hello|handshakes?"),
    _row(_T.UDP, r"udp|datagrams?|syslog|statsd|sip"),
    _row(_T.QUIC, r"quic|http/?3|cloudflared"),
    _row(_T.BPF, r"e?bpf\w*|xdp|bpftool|sockmap|socketlb|socket-?lb"),
    _row(_T.ESXI, r"esxi?|vmware|vsphere|vmxnet3|vcenter|nsx(?:-t)?"),
    _row(_T.PROXMOX, r"proxmox|pve\w*|vmbr\d+"),
    _row(_T.HYPER_V, r"hyper-?v|hv_netvsc"),
    _row(_T.VIRTUALBOX, r"virtualbox|vbox\w*|vagrant|10\.0\.2\.15"),
    _row(_T.KVM, r"kvm|qemu|libvirt\w*|virbr\d+|virtio\w*|multipass"),
    _row(_T.AWS, r"aws|ec2|eks|amazon|vpc|elb|nlb|gwlb|ip-\d+-\d+-\d+-\d+|compute\.internal"),
    _row(_T.AZURE, r"azure|aks|nsg"),
    _row(_T.GCP, r"gcp|gke|google cloud|gcloud|gce"),
    _row(_T.ALIBABA, r"alibaba|aliyun|ack cluster|terway"),
    _row(_T.TENCENT, r"tencent|tke"),
    _row(_T.ORACLE_CLOUD, r"oracle cloud|oci|oke"),
    _row(_T.HETZNER, r"hetzner\w*"),
    _row(_T.DIGITAL_OCEAN, r"digital ?ocean|droplets?"),
    _row(_T.CLONE, r"clon(?:e|es|ed|ing)|same (?:\S+ ){0,3}(?:image|template)|from a template|machine-id|duid"),
    _row(_T.NETWORK_MANAGER, r"networkmanager|nmcli|networkd|networkctl|wicked|ifupdown|udev"),
    _row(_T.NETPLAN, r"netplan|/etc/network/interfaces|cloud-init"),
    _row(_T.RESTART, r"(?:re)?boot(?:s|ed)?|restart(?:s|ed|ing)?|after some (?:time|hours|days)|recreated?"),
    _row(_T.UPGRADE, r"upgrad(?:e|es|ed|ing)|updat(?:e|es|ed|ing)|since version|downgraded?"),
    _row(_T.LOAD, r"(?:high|heavy|under|great) (?:load|traffic)|per second|concurren\w+|busy|many "
    r"connections|masscan|benchmark\w*|"
                  r"peak(?:s)?|waves?|backlog|ephemeral|cannot assign requested address|address already in use"),
    _row(_T.LARGE, r"large(?:r)?|big(?:ger)? (?:answers?|packets?|files?|responses?)|mtu|mss|fragment\w*|bytes "
    r"or more|"
                   r"downloads?|docker pull|uploads?|client hello"),
    _row(_T.HTTP_ERROR, r"50[0234]|bad gateway|service unavailable|gateway timeout|upstream"),
    _row(_T.SECOND_INTERFACE, r"(?:two|second|several|multiple|both|other|additional) (?:network "
    r")?(?:nics?|interfaces?|cards?|"
                              r"network cards?|network interfaces?)|eth1|ens\d+f1|multi-?homed|secondary "
                              r"(?:nic|interface|eni)"),
    _row(_T.MAC_ADDRESS, r"mac(?: address(?:es)?|s)|promisc\w*|port security|spoof\w*|forged"),
    _row(_T.CHECKSUM, r"checksums?|cksum|tx-checksum\S*|offload\w*"),
    _row(_T.OWN_SERVICE, r"its own (?:service|public|external)\b.*|itself|hairpin\w*|own (?:public|external) "
    r"(?:address|ip|url)"),
    _row(_T.LOCALHOST, r"localhost|127\.0\.0\.1|::1|loopback"),
    _row(_T.EXTERNAL_NAME, r"external (?:names?|domains?|dns|hosts?)|(?:public|outside) names?|names "
    r"outside|upstream dns"),
    _row(_T.STORAGE, r"iscsi\w*|nfs|longhorn|ceph|portworx|rook"),
    _row(_T.CERTIFICATE, r"certificates?|x509|mtls|secret(?:s)? discovery|sds|tls mode"),
    _row(_T.CRASH_LOOP, r"crash-?loop\w*|keeps? (?:restarting|crashing)|exits?(?: code)?|oomkilled|does not "
    r"(?:start|come) up"),
    _row(_T.IPAM, r"ipam|host-local|no ip addresses|range (?:is )?full|address "
    r"pool\w*|ippools?|podcidrs?|pod-?cidr|pod range"),
    _row(_T.TRAFFIC_POLICY_LOCAL, r"(?:external|internal)trafficpolicy\W{0,4}local|traffic ?policy"),
    _row(_T.HARDWARE, r"e1000e?|igb|ixgbe|i40e|r8169|tg3|bnxt\w*|mlx[45]\w*|realtek|hardware unit "
    r"hang|firmware|nic|network cards?"),
    _row(_T.THROUGHPUT, r"throughput|[mgk]b(?:it)?/s|bandwidth|slow(?:er|ly)?|latency|iperf3?"),
)  # fmt: skip
"""In the order of `Technology`."""


def find_mentions(text: str) -> frozenset[Technology]:
    """Return what a text speaks of. Never raises."""
    head = text[:LOOKED_AT]
    return frozenset(row.technology for row in MENTIONS if row.pattern.search(head) is not None)
