"""Software, devices and clouds that a ticket speaks of: they decide nothing about a node, only what
is worth asking for.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple

_WORD = re.compile(r"[a-z][a-z0-9_-]{2,}")


class Technology(StrEnum):
    """What a text mentions."""

    # Network plugins
    FLANNEL = "flannel"
    CALICO = "calico"
    CILIUM = "cilium"
    WEAVE = "weave"
    KUBE_ROUTER = "kube-router"
    KUBE_OVN = "kube-ovn"
    OVN_KUBERNETES = "ovn-kubernetes"
    OPENSHIFT_SDN = "openshift-sdn"
    ANTREA = "antrea"
    AWS_CNI = "aws-cni"
    MULTUS = "multus"
    CNI = "cni"

    # What makes and joins containers
    DOCKER = "docker"
    SWARM = "docker swarm"
    PODMAN = "podman"
    LXC = "lxc"
    KUBERNETES = "kubernetes"
    KUBELET = "kubelet"
    K3S = "k3s"
    TALOS = "talos"
    OPENSTACK = "openstack"

    # Firewalls and rules
    FIREWALLD = "firewalld"
    UFW = "ufw"
    IPTABLES = "iptables"
    NFTABLES = "nftables"
    NETWORK_POLICY = "network policy"
    CONNTRACK = "conntrack"

    # Services, names and meshes
    KUBE_PROXY = "kube-proxy"
    IPVS = "ipvs"
    COREDNS = "coredns"
    NODE_LOCAL_DNS = "node-local dns"
    DNS = "dns"
    MUSL = "musl"
    METALLB = "metallb"
    INGRESS = "ingress"
    ISTIO = "istio"
    LINKERD = "linkerd"
    ENVOY = "envoy"
    KEEPALIVED = "keepalived"
    HAPROXY = "haproxy"
    NODE_PORT = "node port"
    WEBHOOK = "webhook"

    # Links and tunnels
    VXLAN = "vxlan"
    GENEVE = "geneve"
    IPIP = "ipip"
    WIREGUARD = "wireguard"
    IPSEC = "ipsec"
    OPENVPN = "openvpn"
    GRE = "gre"
    VLAN = "vlan"
    BOND = "bond"
    BRIDGE = "bridge"
    OPEN_VSWITCH = "open vswitch"
    MACVLAN = "macvlan"
    IPVLAN = "ipvlan"
    SRIOV = "sr-iov"
    VRF = "vrf"
    BGP = "bgp"
    DHCP = "dhcp"
    ARP = "arp"
    IPV6 = "ipv6"
    MULTICAST = "multicast"
    TLS = "tls"
    UDP = "udp"
    QUIC = "quic"
    BPF = "bpf"

    # Hypervisors and clouds
    ESXI = "esxi"
    PROXMOX = "proxmox"
    HYPER_V = "hyper-v"
    VIRTUALBOX = "virtualbox"
    KVM = "kvm"
    AWS = "aws"
    AZURE = "azure"
    GCP = "gcp"
    ALIBABA = "alibaba cloud"
    TENCENT = "tencent cloud"
    ORACLE_CLOUD = "oracle cloud"
    HETZNER = "hetzner"
    DIGITAL_OCEAN = "digitalocean"

    # What the text tells of the circumstances
    CLONE = "cloned machine"
    NETWORK_MANAGER = "network manager"
    NETPLAN = "netplan"
    RESTART = "restart"
    UPGRADE = "upgrade"
    LOAD = "high load"
    LARGE = "large packets"
    HTTP_ERROR = "http error"
    SECOND_INTERFACE = "second interface"
    MAC_ADDRESS = "mac address"
    CHECKSUM = "checksum"
    OWN_SERVICE = "own service"
    LOCALHOST = "localhost"
    EXTERNAL_NAME = "external name"
    STORAGE = "network storage"
    CERTIFICATE = "certificate"
    CRASH_LOOP = "crash loop"
    IPAM = "address management"
    TRAFFIC_POLICY_LOCAL = "traffic policy local"
    HARDWARE = "network card"
    THROUGHPUT = "throughput"
    VANISHES = "what was set vanishes"
    RENAMED = "device renamed"
    LIMIT = "limit reached"
    DUPLICATE = "duplicate address"
    SOURCE_LOST = "client's address lost"
    ACROSS = "across zones or subnets"
    HEALTH_CHECK = "health check of a balancer"
    MODULE = "kernel module"
    CABLE = "cable"
    SCRIPT = "script"
    FILTERED = "filtering"
    AFTER_DEPLOY = "after a deployment"
    NODE_RUNTIME = "kubelet and runtime"


class Emphasis(NamedTuple):
    """What a text makes most of."""

    opening: frozenset[Technology]
    """What its beginning speaks of."""
    words: frozenset[str]
    """Its words, as `list_words` has them."""


def list_words(text: str) -> frozenset[str]:
    """Return the words of a text, in small letters."""
    return frozenset(_WORD.findall(text.lower()))
