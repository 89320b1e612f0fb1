"""Questions about the host: its routes, what configures them, its limits, its hypervisor and its
cloud.
"""

from __future__ import annotations

from podpath.diagnosis.clues import Contrast, ShownPart, TrafficKind
from podpath.diagnosis.holdings import AnsweringOutput
from podpath.diagnosis.plays.play import Play
from podpath.net.failures import FailureKind as Kind
from podpath.net.technologies import Technology as Tech

PLAYS: tuple[Play, ...] = (
    Play(
        fact="which route and rule the packet takes, in both directions",
        ask="ip route get {address}; ip route show table all; ip rule; ip addr",
        decides=(
            "no route, or one through a VPN, a stale bridge or a second gateway: it goes elsewhere",
            "out through one device, back through another: rp_filter or a firewall objects",
            "correct: look at neighbors and rules",
        ),
        signs={
            Kind.NETWORK_UNREACHABLE: 5,
            Kind.UNREACHABLE: 3,
            Kind.NO_ROUTE_TO_HOST: 3,
            Kind.TIMEOUT: 1,
            Tech.OPENVPN: 3,
            Tech.WIREGUARD: 2,
            Tech.SECOND_INTERFACE: 2,
            TrafficKind.HOST_TO_HOST: 2,
            Tech.VRF: 3,
            TrafficKind.TO_API_SERVER: 2,
            Tech.CILIUM: 0,
            Tech.BGP: 2,
            Tech.ACROSS: 2,
            ShownPart.POLICY_RULES: 2,
            ShownPart.DISAGREEMENT: 1,
        },
        held=frozenset({AnsweringOutput.ROUTES}),
        base=2,
    ),
    Play(
        fact=(
            "policy routing for the second interface or tunnel: its own table, the rule from its "
            "address, the gateway for answers"
        ),
        ask=(
            "ip rule; ip route show table all; ip route get 8.8.8.8 from {address}; "
            "tcpdump -ni any host {address}; sysctl -a 2>/dev/null | grep '\\.rp_filter'"
        ),
        decides=(
            (
                "answers from its address leave through the other gateway: it needs a rule and a "
                "table of its own (reply-to)"
            ),
            "correct: look at rules",
        ),
        signs={
            Tech.SECOND_INTERFACE: 6,
            Kind.TIMEOUT: 1,
            Tech.NODE_PORT: 1,
            Tech.WIREGUARD: 4,
            Tech.OPENVPN: 3,
            Tech.AWS_CNI: 3,
            Tech.VRF: 2,
            TrafficKind.FROM_WORLD: 1,
            Tech.GRE: 2,
            ShownPart.POLICY_RULES: 4,
        },
        needs=frozenset(
            {
                Tech.SECOND_INTERFACE,
                Tech.WIREGUARD,
                Tech.OPENVPN,
                Tech.AWS_CNI,
                Tech.VRF,
                Tech.GRE,
                ShownPart.POLICY_RULES,
            }
        ),
    ),
    Play(
        fact=(
            "the routes and rules in the VPN container, and the LAN that it should answer "
            "(LOCAL_NETWORK, SUBNET, kill switch)"
        ),
        ask=(
            "docker exec NAME ip route; docker exec NAME ip rule; docker exec NAME iptables-save; "
            "docker inspect NAME"
        ),
        decides=(
            "no route to the LAN except through the tunnel: answers go into the VPN",
            (
                "an address with host bits set for its prefix (/16 instead of /24): the route is "
                "refused"
            ),
        ),
        signs={Tech.OPENVPN: 4, Tech.WIREGUARD: 2, Tech.DOCKER: 2, Tech.NODE_PORT: 1},
        needs=frozenset({Tech.OPENVPN, Tech.WIREGUARD}),
    ),
    Play(
        fact="routes between VRFs: leaked routes, their device (dev lo), the tables of each VRF",
        ask=(
            "ip vrf show; ip route show table all; ip route get {address} vrf VRF; "
            "vtysh -c 'show bgp vrf all'"
        ),
        decides=(
            ("a leaked route by lo or another VRF's own: packets loop until the TTL runs out"),
            "correct: look at rules",
        ),
        signs={Tech.VRF: 6, Tech.BGP: 2},
        needs=frozenset({Tech.VRF}),
    ),
    Play(
        fact=(
            "whether ranges overlap: Docker's pools and bridges, pods, services, the VPN and the "
            "office"
        ),
        ask=(
            "ip route; docker network inspect $(docker network ls -q) | grep Subnet; "
            "grep -e bip -e default-address-pools /etc/docker/daemon.json; kubectl cluster-info "
            "dump | grep -m1 -e cluster-cidr -e service-cluster-ip-range"
        ),
        decides=(
            (
                "two overlap: the more specific route catches the other's packets; "
                "choose another subnet"
            ),
            "none: it is something else",
        ),
        signs={
            Tech.DOCKER: 2,
            Tech.OPENVPN: 3,
            TrafficKind.TO_WORLD: 1,
            Kind.NETWORK_UNREACHABLE: 1,
            Tech.IPAM: 2,
            Kind.NOT_STARTED: 1,
        },
        needs=frozenset({Tech.OPENVPN, TrafficKind.TO_WORLD, Tech.IPAM, Tech.DOCKER}),
    ),
    Play(
        fact=(
            "what configures devices and addresses, and by which interface name: netplan, "
            "NetworkManager, networkd, wicked, dhclient, udev, cloud-init"
        ),
        ask=(
            "ip addr; networkctl status -a; nmcli device; ps aux | grep -i dhc; "
            "cat /etc/netplan/*.yaml /etc/network/interfaces "
            "/etc/sysconfig/network-scripts/ifcfg-* /etc/udev/rules.d/*net*; "
            "journalctl -b -u systemd-networkd -u NetworkManager -u systemd-udevd"
        ),
        decides=(
            "the file names a device that does not exist (any longer): the device gets no address",
            "a manager that takes over the plugin's devices: keep it off them",
        ),
        signs={
            Tech.NETPLAN: 4,
            Tech.NETWORK_MANAGER: 4,
            Tech.VANISHES: 4,
            Tech.RENAMED: 5,
            Kind.NO_ADDRESS: 3,
            Tech.UPGRADE: 1,
            Tech.RESTART: 2,
            Tech.PROXMOX: 1,
            Tech.DHCP: 2,
        },
        needs=frozenset(
            {
                Tech.NETPLAN,
                Tech.NETWORK_MANAGER,
                Kind.NO_ADDRESS,
                Tech.DHCP,
                Tech.VANISHES,
                Tech.RENAMED,
            }
        ),
    ),
    Play(
        fact=(
            "where a DHCP request gets lost, and what its server saw: DISCOVER, OFFER, client-id, "
            "MAC"
        ),
        ask=(
            "tcpdump -nn -e -vv -i {device} port 67 or port 68 (client, host and server); "
            "the DHCP server's log"
        ),
        decides=(
            "DISCOVER leaves but does not arrive: something in between drops its MAC or VLAN",
            "an OFFER comes back but is not accepted: checksum or client-id",
        ),
        signs={Tech.DHCP: 5, Kind.NO_ADDRESS: 4},
        needs=frozenset({Tech.DHCP, Kind.NO_ADDRESS}),
        held=frozenset({AnsweringOutput.CAPTURE}),
    ),
    Play(
        fact=(
            "sockets and limits: ephemeral ports (ip_local_port_range), TIME_WAIT, file "
            "descriptors, memory"
        ),
        ask=(
            "ss -s; ulimit -n; cat /proc/PID/limits; ls /proc/PID/fd | wc -l; "
            "systemctl show UNIT -p LimitNOFILE; sysctl net.ipv4.ip_local_port_range "
            "net.ipv4.tcp_tw_reuse net.ipv4.tcp_mem fs.file-nr fs.inotify; "
            "ss -tan state time-wait | wc -l; free -m; df -h /var"
        ),
        decides=(
            (
                "nearly all ports toward one destination in use: `Cannot assign requested "
                "address`, `Address already in use`"
            ),
            "few: it is something else",
        ),
        signs={
            Tech.LOAD: 4,
            Tech.LIMIT: 5,
            Kind.SOMETIMES: 1,
            Kind.NOT_PERMITTED: 1,
            Tech.HAPROXY: 1,
            Kind.NOT_STARTED: 1,
        },
        needs=frozenset({Tech.LOAD, Tech.LIMIT}),
    ),
    Play(
        fact=(
            "whether the listen queue overflows: somaxconn, backlog, and what keeps the program "
            "from accepting (iowait, NFS)"
        ),
        ask=(
            "ss -lnt; nstat -az TcpExtListenOverflows TcpExtListenDrops; sysctl net.core.somaxconn "
            "net.ipv4.tcp_max_syn_backlog; top -b -n1 | head -5"
        ),
        decides=(
            "Recv-Q at Send-Q, or the counters grow: SYNs are dropped there",
            "empty: the SYN is dropped earlier",
        ),
        signs={
            Kind.SOMETIMES: 2,
            Tech.LOAD: 2,
            Tech.LIMIT: 2,
            Tech.INGRESS: 2,
            Tech.STORAGE: 3,
            Kind.TIMEOUT: 1,
            Tech.HTTP_ERROR: 1,
        },
        needs=frozenset({Kind.SOMETIMES, Tech.LOAD, Tech.STORAGE, Tech.LIMIT}),
    ),
    Play(
        fact=(
            "why the kernel does not answer a SYN: tcp_tw_recycle, tcp_timestamps, PAWS and listen "
            "counters of netstat -s"
        ),
        ask=(
            "sysctl net.ipv4.tcp_tw_recycle net.ipv4.tcp_timestamps; netstat -s | grep -i -e "
            "listen -e timestamp -e reject; uname -r"
        ),
        decides=(
            (
                "tw_recycle=1 and clients behind one NAT address: SYNs with an older timestamp are "
                "dropped"
            ),
            "listen drops grow: the queue is full",
        ),
        signs={
            Tech.HAPROXY: 4,
            Kind.SOMETIMES: 1,
            Tech.LOAD: 1,
            Kind.TIMEOUT: 1,
            TrafficKind.FROM_WORLD: 1,
        },
        needs=frozenset({Tech.HAPROXY, Tech.LOAD, Kind.SOMETIMES}),
    ),
    Play(
        fact=(
            "what the kernel said at that time: drops, martian sources, table full, link flaps, "
            "hangs, OOM"
        ),
        ask="dmesg -T | tail -200; journalctl -k --since '1 hour ago'",
        decides=(
            "a line at the time of the failure names it",
            "none: the kernel reports nothing",
        ),
        signs={
            Kind.SOMETIMES: 2,
            Tech.HARDWARE: 2,
            Tech.LOAD: 1,
            Kind.SLOW: 1,
            Tech.STORAGE: 1,
            Kind.NOT_PERMITTED: 1,
            Tech.LIMIT: 2,
            Tech.MODULE: 1,
            Tech.CABLE: 2,
        },
        held=frozenset({AnsweringOutput.KERNEL_LOG}),
        base=1,
    ),
    Play(
        fact="which files set sysctls, and what resets them: sysctl.d, tuned, udev, a package",
        ask=(
            "sysctl --system | grep -e '^\\*' -e rp_filter -e forward; grep -rs . /etc/sysctl.d "
            "/run/sysctl.d /usr/lib/sysctl.d /etc/sysctl.conf; systemctl status systemd-sysctl "
            "tuned"
        ),
        decides=(
            (
                "a file overrides what the plugin needs: the next boot, device or `sysctl "
                "--system` breaks it again"
            ),
            "none: it was done by hand",
        ),
        signs={
            Tech.RESTART: 2,
            Tech.UPGRADE: 2,
            Kind.SOMETIMES: 1,
            Tech.GRE: 2,
            Tech.SWARM: 1,
            ShownPart.SYSCTLS: 3,
        },
        needs=frozenset({Tech.RESTART, Tech.UPGRADE, Tech.GRE, ShownPart.SYSCTLS}),
    ),
    Play(
        fact=(
            "the cloud's own filter: security group, NSG of the subnet, inbound rule for the port, "
            "source/destination check, route table, the balancer's health check"
        ),
        ask=(
            "aws ec2 describe-security-groups; az network nsg rule list; gcloud compute "
            "firewall-rules list; source-dest check and route table of the instances"
        ),
        decides=(
            "no inbound rule for that port, protocol or range: the cloud drops it",
            "open: tcpdump on the node shows whether it arrives",
        ),
        signs={
            Tech.AWS: 4,
            Tech.AZURE: 4,
            Tech.GCP: 4,
            Tech.ALIBABA: 4,
            Tech.ORACLE_CLOUD: 5,
            Tech.HETZNER: 3,
            Tech.DIGITAL_OCEAN: 3,
            Tech.TENCENT: 2,
            TrafficKind.FROM_WORLD: 2,
            TrafficKind.OTHER_NODE: 2,
            Kind.TIMEOUT: 1,
            Tech.OPENSTACK: 3,
            Tech.ACROSS: 3,
            Tech.HEALTH_CHECK: 4,
        },
        needs=frozenset(
            {
                Tech.AWS,
                Tech.AZURE,
                Tech.GCP,
                Tech.ALIBABA,
                Tech.ORACLE_CLOUD,
                Tech.HETZNER,
                Tech.DIGITAL_OCEAN,
                Tech.TENCENT,
                Tech.OPENSTACK,
                Tech.ACROSS,
                Tech.HEALTH_CHECK,
            }
        ),
    ),
    Play(
        fact=(
            "the firewall, router or NAT in between: whether the packet leaves the host, and "
            "whether an answer comes back"
        ),
        ask=(
            "tcpdump -nni {device} host {address}; traceroute -n -T -p {port} {address}; "
            "the log of the router or firewall outside"
        ),
        decides=(
            (
                "it leaves and nothing comes back: something outside drops it (protocol and port "
                "count: UDP 443 or 7844 for QUIC)"
            ),
            "it does not leave: look on this host",
        ),
        signs={
            Tech.QUIC: 5,
            TrafficKind.TO_WORLD: 1,
            Kind.TIMEOUT: 1,
            Tech.UDP: 1,
            Tech.HETZNER: 1,
            Contrast.SOME_WORK: 1,
        },
        needs=frozenset({Tech.QUIC, TrafficKind.TO_WORLD, TrafficKind.HOST_TO_HOST, Tech.UDP}),
    ),
    Play(
        fact=(
            "VRRP: the virtual_router_id (VRID), adverts of other groups on the segment, "
            "unicast peers, which node holds the address"
        ),
        ask=(
            "tcpdump -nni {device} vrrp; cat /etc/keepalived/keepalived.conf; ip addr; "
            "arping -c 3 -I {device} {address}"
        ),
        decides=(
            "another group uses the same VRID, or two masters: the address flaps",
            "no adverts arrive: multicast or a firewall drops them",
        ),
        signs={Tech.KEEPALIVED: 7},
        needs=frozenset({Tech.KEEPALIVED}),
    ),
    Play(
        fact=(
            "by which address and interface the storage client connects: iface of iscsiadm, source "
            "address, route to the pod"
        ),
        ask=(
            "iscsiadm -m iface; ip route get {address}; ip neigh show {address}; "
            "arping -c 2 {address}; iptables-save | grep {address}"
        ),
        decides=(
            "it is bound to another interface or source: the kernel has no route from there",
            "ARP or a rule refuses it: look there",
        ),
        signs={Tech.STORAGE: 5, Kind.NO_ROUTE_TO_HOST: 2, TrafficKind.NODE_TO_POD: 1},
        needs=frozenset({Tech.STORAGE}),
    ),
    Play(
        fact="modules of the running kernel: whether they belong to it and are loaded",
        ask=(
            "uname -r; lsmod; modinfo openvswitch vxlan ip_vs br_netfilter wireguard 2>&1 | grep "
            "-e version -e filename -e ERROR; dmesg | grep -i -e module -e symbol"
        ),
        decides=(
            (
                "missing or from another kernel: reboot into the installed kernel, or install its "
                "modules package"
            ),
            "present: it is something else",
        ),
        signs={
            Tech.UPGRADE: 2,
            Tech.KUBE_OVN: 2,
            Tech.OPEN_VSWITCH: 1,
            Tech.WIREGUARD: 1,
            Tech.IPVS: 1,
            Tech.MODULE: 5,
        },
        needs=frozenset(
            {Tech.UPGRADE, Tech.KUBE_OVN, Tech.OPEN_VSWITCH, Tech.WIREGUARD, Tech.IPVS, Tech.MODULE}
        ),
    ),
    Play(
        fact="IPv6: forwarding, accept_ra, disable_ipv6, DAD, routes and the pods' second family",
        ask=(
            "ip -6 addr; ip -6 route; sysctl net.ipv6.conf.all.forwarding "
            "net.ipv6.conf.all.disable_ipv6; sysctl -a 2>/dev/null | grep accept_ra; ip -6 neigh"
        ),
        decides=(
            "forwarding=1 and accept_ra=1: the default route of the router expires",
            "dadfailed or tentative: the address is not used",
            "disabled: programs that prefer IPv6 wait",
        ),
        signs={Tech.IPV6: 4, ShownPart.IPV6: 1},
        needs=frozenset({Tech.IPV6}),
    ),
)
