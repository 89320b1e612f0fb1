"""Questions about devices, neighbors, tunnels, sizes and checksums."""

from __future__ import annotations

from podpath.diagnosis.clues import Contrast, TrafficKind
from podpath.diagnosis.holdings import AnsweringOutput
from podpath.diagnosis.plays.play import Play
from podpath.net.failures import FailureKind as Kind
from podpath.net.technologies import Technology as Tech

PLAYS: tuple[Play, ...] = (
    Play(
        fact=(
            "where the packet is last seen: the client's device, tunnel port on both nodes, "
            "server's device, with MAC addresses and VLAN tags"
        ),
        ask="tcpdump -nn -e -vv -i any 'host {address} or udp port 4789 or udp port 8472'",
        decides=(
            "it leaves one node but does not arrive at the next: something in between drops it",
            (
                "it arrives with a bad checksum, a wrong MAC or an untranslated source: that is "
                "why nothing answers"
            ),
            "the answer leaves but is not accepted: look at the receiver's rp_filter and rules",
        ),
        signs={
            Kind.TIMEOUT: 2,
            TrafficKind.OTHER_NODE: 2,
            TrafficKind.POD_TO_POD: 1,
            Tech.VXLAN: 2,
            Kind.UNREACHABLE: 1,
            Kind.WRONG_PEER: 2,
            Tech.VLAN: 2,
            Tech.ARP: 1,
            Tech.DHCP: 1,
            TrafficKind.FROM_WORLD: 1,
            Tech.KEEPALIVED: 2,
            Tech.UDP: 1,
            Tech.WIREGUARD: 1,
            Tech.SECOND_INTERFACE: 1,
        },
        held=frozenset({AnsweringOutput.CAPTURE}),
        base=2,
    ),
    Play(
        fact=(
            "checksum offload of the tunnel device and the NIC: tx-checksum-ip-generic, "
            "tx-udp_tnl-csum-segmentation"
        ),
        ask=(
            "ethtool -k flannel.1 | grep checksum; ethtool -k vxlan.calico | grep checksum; "
            "ethtool -k {device} | grep -e tnl -e checksum; ethtool -i {device}; uname -r"
        ),
        decides=(
            (
                "on, and tcpdump -vv at the receiver says `bad udp cksum` or `incorrect`: ethtool "
                "-K ... tx-checksum-ip-generic off fixes it"
            ),
            "off: look at the tunnel's port and MTU",
        ),
        signs={
            TrafficKind.OTHER_NODE: 2,
            Tech.VXLAN: 4,
            Tech.CHECKSUM: 5,
            Contrast.PING_WORKS: 4,
            Tech.ESXI: 3,
            Tech.FLANNEL: 2,
            Tech.CALICO: 1,
            Tech.GENEVE: 2,
            Tech.KVM: 1,
            Tech.SWARM: 3,
            Tech.NODE_LOCAL_DNS: 3,
            Tech.PROXMOX: 1,
            Kind.TIMEOUT: 1,
            Tech.HARDWARE: 2,
        },
        needs=frozenset(
            {
                Tech.VXLAN,
                Tech.CHECKSUM,
                Contrast.PING_WORKS,
                Tech.FLANNEL,
                Tech.CALICO,
                Tech.SWARM,
                Tech.GENEVE,
                Tech.NODE_LOCAL_DNS,
            }
        ),
        held=frozenset({AnsweringOutput.OFFLOADS}),
    ),
    Play(
        fact=(
            "whether UDP answers from a program on the same host carry a checksum at all (offload, "
            "CHECKSUM --checksum-fill)"
        ),
        ask=(
            "ethtool -k {device} | grep tx-checksum; tcpdump -nn -vv -i {device} port 67 or port "
            "68; iptables -t mangle -S | grep CHECKSUM"
        ),
        decides=(
            "`bad udp cksum`: the client discards the answer; turn tx checksum offload off",
            "fine: compare MAC addresses and tags",
        ),
        signs={
            Tech.DHCP: 3,
            Kind.NO_ADDRESS: 3,
            Tech.MACVLAN: 2,
            Tech.CHECKSUM: 2,
            Tech.LXC: 1,
            Tech.DOCKER: 1,
        },
        needs=frozenset({Tech.DHCP, Kind.NO_ADDRESS}),
        held=frozenset({AnsweringOutput.OFFLOADS}),
    ),
    Play(
        fact=(
            "the MTU along the path: devices, Docker network, tunnel, and the largest packet that "
            "passes"
        ),
        ask=(
            "ip link | grep mtu; ping -M do -s 1472 {address}; tracepath -n {address}; "
            "docker network inspect bridge | grep -i mtu"
        ),
        decides=(
            (
                "large ones do not pass and no `frag needed` comes back: lower the MTU, or clamp "
                "the MSS"
            ),
            "they pass: size is not the problem",
        ),
        signs={
            Kind.HANGS: 5,
            Tech.LARGE: 3,
            Contrast.PING_WORKS: 1,
            Tech.TLS: 2,
            Tech.WIREGUARD: 1,
            Tech.PROXMOX: 1,
            Tech.DOCKER: 1,
            Tech.GRE: 2,
            Kind.SLOW: 2,
            Tech.OPENVPN: 1,
            Tech.IPSEC: 3,
            Tech.OPENSTACK: 1,
        },
        needs=frozenset({Kind.HANGS, Tech.LARGE, Tech.TLS, Kind.SLOW, Tech.GRE, Tech.IPSEC}),
    ),
    Play(
        fact=(
            "whether the network between the nodes lets the tunnel's port pass: security group, "
            "host firewall, udp 4789/8472/8475/6081, IP protocol 4"
        ),
        ask=(
            "tcpdump -nni {device} 'udp port 8472 or udp port 4789 or udp port 6081 or ip proto 4' "
            "on both nodes; nc -vzu NODE 8472; iptables -S INPUT -v; the cloud's security group of "
            "both nodes"
        ),
        decides=(
            "sent on one node but not seen on the other: a firewall or security group between them",
            "seen, and not decapsulated: INPUT, VNI or VTEP data",
        ),
        signs={
            TrafficKind.OTHER_NODE: 5,
            Tech.VXLAN: 2,
            Tech.FLANNEL: 1,
            Tech.CALICO: 1,
            Tech.SECOND_INTERFACE: 1,
            Tech.AWS: 1,
            Tech.AZURE: 1,
            Tech.SWARM: 2,
            Tech.IPIP: 3,
            Tech.GENEVE: 1,
            Tech.OPENSTACK: 1,
            Tech.WIREGUARD: 1,
        },
        needs=frozenset({TrafficKind.OTHER_NODE, Tech.VXLAN, Tech.IPIP, Tech.GENEVE, Tech.SWARM}),
    ),
    Play(
        fact=(
            "which addresses and MACs the overlay has for the other nodes: VTEPs, FDB, neighbors, "
            "the interface that it uses"
        ),
        ask=(
            "ip -d link show type vxlan; bridge fdb show | grep dst; ip neigh show nud permanent; "
            "ip -d addr; kubectl get nodes -o yaml | grep -e public-ip -e backend-data -e podCIDR"
        ),
        decides=(
            "an address of the wrong interface, or one MAC for two nodes: its packets go astray",
            "correct: capture the tunnel port",
        ),
        signs={
            TrafficKind.OTHER_NODE: 3,
            Tech.VXLAN: 2,
            Tech.SECOND_INTERFACE: 3,
            Tech.FLANNEL: 2,
            Tech.VIRTUALBOX: 4,
            Tech.CLONE: 2,
        },
        needs=frozenset({TrafficKind.OTHER_NODE, Tech.VXLAN, Tech.FLANNEL, Tech.VIRTUALBOX}),
    ),
    Play(
        fact=(
            "what answers for the address: ARP entries, duplicate MAC or IP addresses, incomplete "
            "neighbors, proxy_arp"
        ),
        ask=(
            "ip neigh; arping -c 3 -I {device} {address}; ip -s neigh show {address}; "
            "sysctl -a 2>/dev/null | grep proxy_arp"
        ),
        decides=(
            "two MACs answer: the address is used twice",
            "INCOMPLETE or FAILED: nothing answers ARP",
            "one, the right one: look above the link layer",
        ),
        signs={
            Kind.WRONG_PEER: 4,
            Tech.ARP: 3,
            Kind.NO_ROUTE_TO_HOST: 3,
            Tech.CLONE: 2,
            Tech.KEEPALIVED: 1,
            Kind.UNREACHABLE: 2,
            Kind.SOMETIMES: 1,
            Tech.METALLB: 2,
            Tech.MAC_ADDRESS: 1,
            Tech.DUPLICATE: 5,
        },
        needs=frozenset(
            {
                Kind.WRONG_PEER,
                Tech.ARP,
                Kind.NO_ROUTE_TO_HOST,
                Tech.CLONE,
                Kind.UNREACHABLE,
                Tech.METALLB,
                Tech.DUPLICATE,
            }
        ),
    ),
    Play(
        fact=(
            "whether the neighbour table overflows: gc_thresh1-3, the number of entries, "
            "`neighbour table overflow` in dmesg"
        ),
        ask=(
            "sysctl net.ipv4.neigh.default.gc_thresh1 net.ipv4.neigh.default.gc_thresh2 "
            "net.ipv4.neigh.default.gc_thresh3; ip neigh | wc -l; dmesg | grep -i neighbo"
        ),
        decides=(
            "as many entries as gc_thresh3: new neighbors get no entry (ping: Invalid argument)",
            "far fewer: it is something else",
        ),
        signs={
            Kind.SOMETIMES: 2,
            Tech.ARP: 3,
            Tech.LOAD: 1,
            Tech.OPENSTACK: 2,
            Kind.NOT_PERMITTED: 1,
        },
        needs=frozenset({Tech.ARP}),
    ),
    Play(
        fact="whether cloned machines share machine-id, DUID or DHCP client-id, or MAC addresses",
        ask=(
            "cat /etc/machine-id; ip link; networkctl status; journalctl -u systemd-networkd | "
            "grep -i dhcp (on both machines)"
        ),
        decides=(
            "the same machine-id: the DHCP server takes both machines for one client",
            "the same MAC: switches send to one of them",
        ),
        signs={
            Tech.CLONE: 6,
            Tech.DHCP: 1,
            Kind.NO_ADDRESS: 1,
            Kind.WRONG_PEER: 3,
            Tech.MAC_ADDRESS: 1,
            Tech.DUPLICATE: 2,
        },
        needs=frozenset({Tech.CLONE, Kind.WRONG_PEER, Tech.DUPLICATE}),
    ),
    Play(
        fact=(
            "what the hypervisor lets pass: promiscuous mode, forged transmits, MAC address "
            "changes, MAC spoofing of the virtual switch"
        ),
        ask=(
            "the virtual switch's or port group's security settings (promiscuous mode, forged "
            "transmits, MAC changes); tcpdump -e -ni {device}"
        ),
        decides=(
            "rejected: frames with MAC addresses of pods are dropped by the virtual switch",
            "accepted: capture on the physical NIC",
        ),
        signs={
            Tech.ESXI: 5,
            Tech.HYPER_V: 5,
            Tech.VIRTUALBOX: 2,
            Tech.MACVLAN: 2,
            Tech.MAC_ADDRESS: 2,
            Tech.BRIDGE: 1,
            Tech.DHCP: 2,
            Tech.MULTUS: 1,
            Tech.PROXMOX: 1,
            Tech.KVM: 1,
            Kind.NO_ADDRESS: 2,
        },
        needs=frozenset({Tech.ESXI, Tech.HYPER_V, Tech.VIRTUALBOX, Tech.PROXMOX, Tech.KVM}),
    ),
    Play(
        fact=(
            "the parent of the macvlan or ipvlan, and whether another machine than its own host "
            "reaches the container"
        ),
        ask=(
            "ip -d link show type macvlan; ip -d link show type ipvlan; ping {address} from "
            "another machine; ip route get {address}"
        ),
        decides=(
            "others reach it, its own host does not: that is macvlan; give the host a macvlan shim",
            "nothing does: look at the parent and the switch",
        ),
        signs={
            Tech.MACVLAN: 6,
            Tech.IPVLAN: 6,
            TrafficKind.POD_TO_HOST: 1,
            TrafficKind.SAME_NODE: 1,
        },
        needs=frozenset({Tech.MACVLAN, Tech.IPVLAN}),
    ),
    Play(
        fact=(
            "the bridge's ports and state: which devices are in it, STP, VLAN filtering, its own "
            "address and MAC"
        ),
        ask=(
            "bridge link; brctl show; ip -d link show type bridge; ip link; dmesg | grep -i -e "
            "renamed -e 'entered .* state'"
        ),
        decides=(
            (
                "the physical device is missing, down or has another interface name now: the "
                "bridge leads nowhere"
            ),
            "all forwarding: look at FDB and VLANs",
        ),
        signs={
            Tech.BRIDGE: 3,
            Tech.PROXMOX: 3,
            Tech.NETPLAN: 2,
            Tech.HARDWARE: 1,
            TrafficKind.TO_WORLD: 1,
            Kind.NO_ROUTE_TO_HOST: 1,
            Tech.RESTART: 1,
            Tech.RENAMED: 2,
        },
        needs=frozenset({Tech.BRIDGE, Tech.PROXMOX, Tech.OPEN_VSWITCH}),
    ),
    Play(
        fact=(
            "VLANs: the tag on the wire (802.1Q), bridge and switch port, trunk of the virtual "
            "function, rxvlan and txvlan offload"
        ),
        ask=(
            "tcpdump -e -nn -i {device} vlan or arp; bridge vlan show; ip -d link; "
            "ethtool -k {device} | grep vlan; ip link show DEVICE (vf, trunk)"
        ),
        decides=(
            "the frame carries no tag or the wrong one: it is dropped at the next port",
            "tagged as it should be: the port does not admit that VLAN",
        ),
        signs={Tech.VLAN: 5, Tech.SRIOV: 4, Tech.OPEN_VSWITCH: 1, Tech.BOND: 1, Kind.TIMEOUT: 1},
        needs=frozenset({Tech.VLAN, Tech.SRIOV}),
    ),
    Play(
        fact="the FDB of the virtual switch, its mac-aging-time, and whether frames are flooded",
        ask=(
            "ovs-vsctl show; ovs-appctl fdb/show BRIDGE; ovs-vsctl list bridge | grep mac; "
            "ovs-ofctl dump-flows BRIDGE; tcpdump -e -ni {device} arp"
        ),
        decides=(
            "no entry for the MAC: frames go to every port",
            "entries exist, but a flow drops it: that flow",
            "a port or its iface-id is missing: the agent did not wire it",
        ),
        signs={
            Tech.OPEN_VSWITCH: 5,
            Tech.OPENSHIFT_SDN: 5,
            Tech.KUBE_OVN: 4,
            Tech.OVN_KUBERNETES: 4,
            Tech.OPENSTACK: 2,
            Tech.ANTREA: 3,
        },
        needs=frozenset(
            {Tech.OPEN_VSWITCH, Tech.OPENSHIFT_SDN, Tech.KUBE_OVN, Tech.OVN_KUBERNETES, Tech.ANTREA}
        ),
    ),
    Play(
        fact="the bond: its mode, slaves, their MAC addresses and link failures",
        ask="cat /proc/net/bonding/bond0; ip -d link show type bond; ip -d addr",
        decides=(
            (
                "LACP without a partner, or a mode that the switch does not know: frames take the "
                "wrong port"
            ),
            "healthy: look at routes on slaves",
        ),
        signs={Tech.BOND: 5, Kind.SOMETIMES: 1},
        needs=frozenset({Tech.BOND}),
    ),
    Play(
        fact="driver, firmware and error counters of the NIC, and what the kernel says about it",
        ask=(
            "ethtool -i {device}; ethtool -S {device} | grep -i -e err -e drop; "
            "ethtool -k {device} | grep -e tso -e gso; journalctl -k | grep -i {device}; uname -r"
        ),
        decides=(
            "`Hardware Unit Hang`, resets or growing errors: driver or card; turn tso/gso off",
            "clean: the fault is above the NIC",
        ),
        signs={
            Tech.HARDWARE: 4,
            Tech.PROXMOX: 1,
            Kind.SLOW: 2,
            Tech.THROUGHPUT: 1,
            Kind.SOMETIMES: 1,
            Kind.UNREACHABLE: 1,
            Tech.CABLE: 1,
            Tech.LOAD: 1,
        },
        needs=frozenset({Tech.HARDWARE, Kind.SLOW}),
    ),
    Play(
        fact="where the kernel drops it, function by function, and which kernel that is",
        ask=(
            "uname -r; pwru --filter-dst-ip {address} or: perf trace -e skb:kfree_skb "
            "(skb_drop_reason); dropwatch -l kas; nstat -az | grep -i drop"
        ),
        decides=(
            "the function or reason names the cause",
            "no drop: it is not lost on this host",
        ),
        signs={
            Tech.IPVS: 2,
            Kind.SLOW: 2,
            Tech.LARGE: 2,
            Tech.GRE: 3,
            Tech.BPF: 2,
            Tech.UPGRADE: 1,
        },
        needs=frozenset({Tech.IPVS, Kind.SLOW, Tech.GRE, Tech.BPF}),
    ),
    Play(
        fact=(
            "multicast on the bridge and the switch: mcast_snooping, querier, IGMP, broadcasts "
            "that arrive"
        ),
        ask=(
            "bridge -d link | grep mcast; cat /sys/class/net/*/bridge/multicast_snooping; "
            "tcpdump -ni {device} multicast or igmp"
        ),
        decides=(
            "snooping without a querier: groups expire after minutes",
            "packets arrive: look at the receiver",
        ),
        signs={Tech.MULTICAST: 3},
        needs=frozenset({Tech.MULTICAST}),
    ),
)
