"""What systemd says of units on which the network rests: that they failed, by the sort of thing
they do.

That a unit is merely stopped is not an error, and no row says so.
"""

from __future__ import annotations

from podpath.evidence.messages.row import MessagePattern, make_row
from podpath.net.messages import MessageKind

_SORTS: dict[MessageKind, str] = {
    MessageKind.FIREWALL_UNIT_FAILED: (
        r"firewalld|ip6?tables|nftables|netfilter-persistent|ufw|shorewall6?|ferm|"
        r"ipset"
    ),
    MessageKind.NETWORK_UNIT_FAILED: r"systemd-networkd|NetworkManager|networking|network|wickedd?|"
    r"connman|dhcpcd|dhclient|ifup@[\w@.-]+|"
    r"netplan\S*|network-online|systemd-udevd|openvswitch(?:-switch)?|ovs-vswitchd|ovsdb-server",
    MessageKind.ROUTING_UNIT_FAILED: r"frr|bird6?|quagga|bgpd|zebra|keepalived|gobgpd",
    MessageKind.TUNNEL_UNIT_FAILED: r"wg-quick@[\w.-]+|openvpn(?:-client|-server)?(?:@[\w.-]+)?|"
    r"strongswan(?:-starter)?|ipsec|libreswan|tailscaled|"
    r"zerotier-one|nebula",
    MessageKind.NAME_UNIT_FAILED: (
        r"systemd-resolved|dnsmasq|named|bind9|unbound|pdns(?:-recursor)?|"
        r"coredns"
    ),
    MessageKind.CLUSTER_UNIT_FAILED: r"kubelet|kube-proxy|kube-apiserver|containerd|docker|crio|"
    r"cri-o|etcd|flanneld?|calico-node|cilium|k3s|"
    r"k3s-agent|rke2-\w+|podman|lxd|incus|libvirtd",
    MessageKind.SERVER_UNIT_FAILED: r"nginx|apache2|httpd|haproxy|mysqld?|mariadb|"
    r"postgresql(?:@[\w.-]+)?|redis(?:-server)?|mongod|squid|"
    r"sshd?|vsftpd|tomcat\d*|caddy|traefik|rabbitmq-server|kafka|isc-dhcp-server\d?|"
    r"isc-dhcp-server|dhcpd|kea-dhcp4-server",
}

_FAILED = (
    r"\b(?P<unit>(?:{units})\.service): (?P<error>(?:Failed with result|Main process exited, "
    r"code=(?:exited|dumped|killed), status=(?!0\b)|"
    r"Start request repeated too quickly|Control process exited, code=exited,? status=(?!0\b)|"
    r"Failed to run|Unit entered failed state)[^\n]*)"
)
_NOT_STARTED = (
    r"(?:Job for (?P<unit>(?:{units})\.service) failed|Unit "
    r"(?P<other>(?:{units})\.service) (?:entered failed state|has failed))"
)

ROWS: tuple[MessagePattern, ...] = tuple(
    row
    for kind, units in _SORTS.items()
    for row in (
        make_row(kind, ".service: ", _FAILED.replace("{units}", units)),
        make_row(kind, ".service", _NOT_STARTED.replace("{units}", units)),
    )
)
