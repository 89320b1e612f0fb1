"""Faults of devices and neighbors that a message of a program or the kernel tells by itself."""

from __future__ import annotations

from podpath.checks.category import Category
from podpath.checks.finding import FollowUp
from podpath.checks.message_check import ASIDE, MessageCheck, Value
from podpath.net.messages import MessageKind as Kind

ROWS: tuple[MessageCheck, ...] = (
    MessageCheck(
        name="neighbour-table-full",
        title="the kernel's neighbor table is full, so that new neighbors cannot be resolved.",
        kinds=(Kind.NEIGHBOUR_TABLE_FULL,),
        categories=(Category.NEIGHBOUR_TABLE_FULL,),
        claim=(
            "The kernel's neighbor table is full: packets to neighbors without an entry are "
            "dropped."
        ),
        breaks="connections to whatever has no neighbor entry yet, at random",
        cure="let the table grow",
        commands=("sysctl -w net.ipv4.neigh.default.gc_thresh3=8192",),
        prevention=(
            "Set gc_thresh1 to 3 in /etc/sysctl.d by the number of pods and nodes on one link, and "
            "alert on its fill."
        ),
        what="Each address that a host speaks to on its own links takes an entry of the neighbor "
        "table. Above gc_thresh3 entries (1024 by default, for all namespaces of the kernel "
        "together) the kernel makes no more.",
        why="A packet to an address without an entry is dropped before it reaches the wire: "
        "connects fail "
        'with "No buffer space available" or "Invalid argument", or time out, at random and more '
        "often "
        "as the cluster grows. Flat networks, large host-gw or cloud subnets, and many pods on one "
        "node fill the table.",
        confirm="dmesg | grep -i 'neighbo.*overflow'\n"
        "ip neigh show | wc -l; sysctl net.ipv4.neigh.default.gc_thresh3\n"
        "nstat -az | grep -i neigh; lnstat -f arp_cache -c 1     # table_fulls grows",
        fix="sysctl -w net.ipv4.neigh.default.gc_thresh3=8192 (and gc_thresh2=4096, "
        "gc_thresh1=2048; net.ipv6.neigh likewise)\nKeep it in /etc/sysctl.d.",
        references=(
            "neigh_alloc (net/core/neighbour.c); Documentation/networking/ip-sysctl.rst, "
            "neigh/default/gc_thresh3; arp(7)"
        ),
    ),
    MessageCheck(
        name="bridge-address-stale",
        title=(
            "a bridge of pods keeps an address of an older pod range, so the CNI plugin refuses to "
            "use it."
        ),
        kinds=(Kind.BRIDGE_ADDRESS_DIFFERS,),
        categories=(Category.BRIDGE_CONFIGURATION, Category.POD_CIDR),
        claim=(
            "The bridge {bridge} keeps an address of an older pod range; the CNI plugin wants "
            "{address} and starts no pod."
        ),
        values=(Value("bridge", default="cni0"), Value("address", default="another address")),
        breaks="every new pod of the node: it stays in ContainerCreating",
        cure="delete the stale bridge; the plugin recreates it",
        commands=("ip link delete {bridge}",),
        what="The CNI plugin `bridge` found its bridge (cni0) with an address that is not the "
        "gateway of the pod range it was given.",
        why="The plugin never changes an address that is there: every new pod of the node fails to "
        "start with `already has an IP address different from`. It happens after a cluster was "
        "reset, the network plugin or the pod range changed, or a node got another podCIDR, and "
        "the old bridge was left behind.",
        confirm=(
            "ip addr show cni0; cat /run/flannel/subnet.env\n"
            "kubectl get node NODE -o jsonpath='{.spec.podCIDR}'"
        ),
        fix="ip link delete cni0     # the plugin recreates it with the next pod\n"
        "Where flannel is used delete flannel.1 as well, and restart what still runs in the old "
        "range.",
        references="ensureAddr in plugins/main/bridge/bridge.go of containernetworking/plugins",
    ),
    MessageCheck(
        name="device-hangs",
        title="the kernel reports that a network card's transmit queue hangs.",
        kinds=(Kind.DEVICE_RESET, Kind.TRANSMIT_TIMEOUT),
        categories=(Category.NIC_DRIVER,),
        claim=(
            "The network card {device} hangs: its driver{driver} reports that packets are not sent "
            "and resets it."
        ),
        values=(Value("device", default="DEV"), Value("driver", frame=ASIDE)),
        breaks="everything that goes through the card, for the time of each hang",
        cure="switch segmentation offload off, and update driver and firmware",
        commands=("ethtool -K {device} tso off gso off gro off",),
        what="`Detected Hardware Unit Hang`, `NETDEV WATCHDOG ... transmit queue timed out` or `TX "
        "timeout`: the card accepted packets and never reported them as sent.",
        why="The driver resets the card, over and over: the host loses its network for seconds or "
        "altogether. Known with e1000e and segmentation offload, r8169, some virtual cards, power "
        "saving (ASPM) and old firmware.",
        confirm=(
            "dmesg -T | grep -iE 'hang|watchdog|timed out|reset adapter'; ethtool -i DEV; "
            "ethtool -k DEV; ethtool -S DEV"
        ),
        fix="ethtool -K DEV tso off gso off gro off; update driver and firmware; boot with "
        "pcie_aspm=off\n"
        "Keep the setting in the device's configuration (post-up, a .link file, NetworkManager's "
        "ethtool.*).",
        references=(
            "drivers/net/ethernet/intel/e1000e/netdev.c, e1000_print_hw_hang; "
            "net/sched/sch_generic.c, dev_watchdog"
        ),
    ),
    MessageCheck(
        name="vrrp-conflict",
        title="another router in the same network uses the same VRRP id.",
        kinds=(Kind.VRRP_CONFLICT,),
        categories=(Category.DUPLICATE_ADDRESS, Category.LOAD_BALANCER, Category.OTHER),
        claim=(
            "Another VRRP router uses this virtual router ID{address}, so keepalived does not hold "
            "its address."
        ),
        values=(Value("address", frame=ASIDE),),
        breaks="the virtual address",
        cure="take a virtual_router_id that is free in the network",
        what=(
            "Keepalived receives advertisements of its own virtual router id that name other "
            "addresses or another password."
        ),
        why="Two groups with one virtual_router_id in one network take each other for peers: the "
        "one with the lower priority gives its address up, or both answer, so the virtual address "
        "is not reachable or moves.",
        confirm=(
            "tcpdump -nn -i DEV vrrp     # who sends which vrid\n"
            "grep -r virtual_router_id /etc/keepalived"
        ),
        fix="Choose a virtual_router_id that nobody else has in the network, the same on all nodes "
        "of the group, and restart keepalived.",
        references="RFC 5798 section 5.2.3; keepalived.conf(5), virtual_router_id",
    ),
    MessageCheck(
        name="parent-device",
        title="the parent device of a macvlan, ipvlan, VLAN or bridge network is missing or taken.",
        kinds=(Kind.MASTER_DEVICE_MISSING, Kind.PARENT_DEVICE_BUSY),
        categories=(
            Category.MACVLAN_PARENT,
            Category.CNI_CONFIGURATION,
            Category.LINK_DOWN,
            Category.BRIDGE_CONFIGURATION,
        ),
        claim="The network's parent device {device} is missing or in use by another network.",
        values=(Value("device", names=("device", "sort")),),
        breaks="pods and containers of that network",
        cure="name a device that is there and free",
        commands=("ip -br link",),
        what="The configuration names a master that does not exist on this node, or one that "
        "another network or bridge has already.",
        why="The plugin cannot make the pod's device. Names of cards differ from node to node and "
        "change with kernels and slots; a device is port of a bridge or parent of macvlan or of "
        "ipvlan, not of two of these.",
        confirm=(
            "ip -br link; ip -d link show DEV; docker network ls; kubectl get net-attach-def -A -o "
            "yaml | grep master"
        ),
        fix=(
            "Name a device that each node has; give the second network a VLAN device or another "
            "mode."
        ),
        references=(
            "plugins/main/macvlan of containernetworking/plugins; Docker, Macvlan network driver"
        ),
    ),
    MessageCheck(
        name="checksum-fails",
        title="the kernel sees packets with wrong checksums.",
        kinds=(Kind.CHECKSUM_FAILED,),
        categories=(Category.TUNNEL_CHECKSUM, Category.NIC_DRIVER),
        claim="Packets arrive with wrong checksums{device}: an offload computes them wrongly.",
        values=(Value("device", names=("device", "src"), frame=ASIDE),),
        breaks="packets of that path: they are dropped by their receiver",
        cure="switch the checksum offload of the tunnel or card off",
        commands=("ethtool -K DEV tx-checksum-ip-generic off",),
        what=(
            "`hw csum failure` or `UDP: bad checksum`: the card's or the packet's own sum does not "
            "fit."
        ),
        why=(
            "An offload that the driver, the tunnel or the virtual card gets wrong: such packets "
            "are dropped by their receiver."
        ),
        confirm="ethtool -k DEV | grep -E 'checksum|offload'; nstat -az UdpInCsumErrors "
        "TcpInCsumErrors; tcpdump -vv | grep 'bad .*cksum'",
        fix="ethtool -K DEV tx-checksum-ip-generic off (flannel.1, vxlan.calico), or rx off on the "
        "card; update driver and kernel.",
        references="net/core/dev.c, netdev_rx_csum_fault; net/ipv4/udp.c, __udp4_lib_rcv",
    ),
    MessageCheck(
        name="bond-broken",
        title="a bond has no working link, or no partner.",
        kinds=(Kind.BOND_WITHOUT_LINK, Kind.BOND_WITHOUT_PARTNER),
        categories=(Category.BONDING, Category.LINK_DOWN),
        claim="The bond {bond} has no active link or no LACP partner.",
        values=(Value("bond"),),
        breaks="everything that goes over the bond",
        cure="set up LACP on the switch, or fix the links",
        commands=("cat /proc/net/bonding/{bond}",),
        what=(
            "`running without any active interface` or `No 802.3ad response from the link partner`."
        ),
        why="Without an active slave nothing is sent; in mode 802.3ad the switch has no LACP on "
        "these ports, so that it drops or floods frames.",
        confirm="cat /proc/net/bonding/BOND; ip -d link show BOND",
        fix="Set up LACP on the switch's ports, or another mode of the bond; fix cables and ports.",
        references="Documentation/networking/bonding.rst; drivers/net/bonding/bond_3ad.c",
    ),
    MessageCheck(
        name="device-held",
        title="the kernel waits for a device to become free.",
        kinds=(Kind.DEVICE_HELD,),
        categories=(Category.KERNEL_BUG,),
        claim=(
            "The kernel waits forever for the device {device} to become free: a bug that blocks "
            "all network namespaces."
        ),
        values=(Value("device"),),
        breaks="start and end of every pod on the node",
        cure="reboot, into a kernel with the fix",
        commands=("uname -r",),
        what="`unregister_netdevice: waiting for lo to become free. Usage count = 1`: a reference "
        "to a device of a namespace that is gone was not given back.",
        why=(
            "Until it is, no network namespace can be made or removed: pods and containers hang at "
            "start and end."
        ),
        confirm="dmesg -T | grep 'become free'; uname -r; ps -eo stat,wchan:30,cmd | grep ' D'",
        fix="Reboot, and run a kernel with the fix (the causes are bugs of one version each: IPv6 "
        "routes, TCP metrics, SCTP, hairpin bridges).",
        references="net/core/dev.c, netdev_wait_allrefs_any",
    ),
    MessageCheck(
        name="container-device",
        title="a container's or tunnel's device cannot be made.",
        kinds=(Kind.TUNNEL_DEVICE_FAILED, Kind.CONTAINER_DEVICE_EXISTS),
        categories=(Category.TUNNEL_CONFIGURATION, Category.KERNEL_MODULE, Category.OTHER),
        claim="A device for the network cannot be made{error}.",
        values=(Value("error", names=("error", "device", "other"), frame=ASIDE),),
        breaks="containers of that network on this host",
        cure="delete the stale device",
        commands=("ip -d link show type vxlan",),
        what="The device exists already (`file exists`): a stale VXLAN interface of an overlay, a "
        "veth that was left behind; or the kernel has no such kind.",
        why="The sandbox fails. A swarm's stale VXLAN device stays in the host or in a namespace "
        "that is gone, or another network has the same VNI.",
        confirm="ip -d link show type vxlan; ls /var/run/docker/netns; for n in "
        "/var/run/docker/netns/*; do nsenter --net=$n ip -d link; done",
        fix=(
            "Delete the stale device (ip link delete NAME) or unmount the namespace, or give the "
            "network another VNI."
        ),
        references="libnetwork, drivers/overlay",
    ),
    MessageCheck(
        name="lease-not-offered",
        title="a DHCP client gets no lease.",
        kinds=(Kind.LEASE_NOT_OFFERED, Kind.LEASE_REFUSED),
        categories=(
            Category.MAC_NOT_ALLOWED,
            Category.VLAN,
            Category.OUTSIDE_NODE,
            Category.TUNNEL_BLOCKED,
            Category.HOST_FIREWALL,
            Category.IPAM,
        ),
        claim="A DHCP client gets no lease: no server answers it, or it refuses the address.",
        breaks="the host or pod that has no address",
        cure="find the hop at which request or answer is lost",
        certainty=0.2,
        ask=FollowUp(
            fact="where the DHCP request or its answer is lost",
            command=(
                "tcpdump -nn -e -i DEV port 67 or port 68   # on the bridge, the uplink and the "
                "server"
            ),
            decides="the last place that shows the request or the answer is before the fault",
        ),
        what="No DHCPOFFER came, or the server answered with DHCPNAK.",
        why="Broadcasts do not reach a server, or its answer does not come back: a VLAN, a switch "
        "that drops MACs it does not know, a firewall of the bridge, wrong checksums; a NAK means "
        "that the address does not fit the network where the client is now.",
        confirm="tcpdump -nn -e -i DEV port 67 or port 68     # on each hop",
        fix="Fix the hop at which the request or the answer is seen last.",
        references="RFC 2131",
    ),
    MessageCheck(
        name="bridge-port-missing",
        title="a bridge should have a port that the host does not have.",
        kinds=(Kind.DEVICE_MISSING,),
        needs=("bridge", ""),
        categories=(Category.BRIDGE_CONFIGURATION, Category.LINK_DOWN),
        claim="The bridge {bridge} should have the port {device}, which the host does not have.",
        values=(Value("bridge"), Value("device")),
        breaks="what should come or go through that port",
        cure="name the device as it is called now, in the configuration of the bridge",
        commands=(
            "ip -br link",
            "grep -rn {device} /etc/network/interfaces /etc/network/interfaces.d",
        ),
        certainty=0.7,
        ask=FollowUp(
            fact="whether the device is there by now, and a port of the bridge",
            command="ip -br link; bridge link",
            decides=(
                "no such device: it is the cause; a port of the bridge: it came later and all is "
                "well"
            ),
        ),
        what="`bridge port eno1 does not exist`: ifupdown set the bridge up without its port.",
        why="The card has another name since a new card, slot or kernel changed the order of the "
        "bus, or it comes up later than its bridge. The bridge is up, has its address, and "
        "leads nowhere.",
        confirm="ip -br link; bridge link; grep -n bridge /etc/network/interfaces",
        fix="Write the card's name of today to bridge-ports (bridge_ports), or give the card a "
        "fixed name by its MAC in a .link file; then ifreload -a.",
        references="bridge-utils-interfaces(5); systemd.link(5)",
    ),
    MessageCheck(
        name="device-not-named",
        title="a device does not have the name under which the host configures it.",
        kinds=(Kind.DEVICE_NAME_FAILED,),
        categories=(Category.NETWORK_MANAGER, Category.LINK_DOWN),
        claim=(
            "The device {device} does not have, or does not get, the name under which the host "
            "configures it{name}."
        ),
        values=(Value("device", default="of the network"), Value("name", frame=ASIDE)),
        breaks="the network of the device: its configuration waits for a name that is not there",
        cure="configure the name that the device has, or bind the name to its MAC",
        what=(
            "udev cannot rename a device, or the host configures a name that no device has, or one "
            "with another MAC."
        ),
        why=(
            "Names follow the order of detection, the slot or a rule of udev. A new card, a new "
            "kernel, a cloned disk or two rules for one name, and the configuration meets no "
            "device, or the wrong one."
        ),
        confirm=(
            "ip link; udevadm info /sys/class/net/DEV; cat "
            "/etc/udev/rules.d/70-persistent-net.rules /etc/systemd/network/*.link"
        ),
        fix=(
            "Write the MAC of the card into the rule or .link file, remove stale lines, or use the "
            "name that ip link shows in the configuration."
        ),
        references="systemd.link(5); systemd-udevd(8); udev(7)",
    ),
    MessageCheck(
        name="device-not-configured",
        title="the service that sets up the host's devices gave up on one.",
        kinds=(Kind.DEVICE_NOT_CONFIGURED,),
        categories=(Category.NETWORK_MANAGER, Category.LINK_DOWN),
        claim="The service that sets up the host's devices gave up on {device}{error}.",
        values=(Value("device", default="one"), Value("error", frame=ASIDE)),
        breaks="the network of that device",
        cure="fix its configuration, and set it up again",
        certainty=0.7,
        ask=FollowUp(
            fact="why the device was given up",
            command="journalctl -b -u NetworkManager -u networking -u systemd-networkd; ip addr",
            decides="the lines before it name the cause",
        ),
        what="NetworkManager, ifup or netplan ends with a failure for a device.",
        why=(
            "No lease, a device that is missing, a configuration with an error: the device has no "
            "address or no route."
        ),
        confirm=(
            "journalctl -b -u NetworkManager -u networking -u systemd-networkd; nmcli device; "
            "ip addr"
        ),
        fix="Fix what the log names before that line, then set the device up again.",
        references="NetworkManager(8); interfaces(5); netplan(5)",
    ),
    MessageCheck(
        name="lease-lost",
        title="a host lost its lease, and its address with it.",
        kinds=(Kind.LEASE_LOST,),
        categories=(Category.NETWORK_MANAGER, Category.OUTSIDE_NODE),
        claim="The device {device} lost its DHCP lease, and its address and routes with it.",
        values=(Value("device", default="of the host"),),
        breaks="everything through that device, until there is a new lease",
        cure="keep the address (KeepConfiguration), and find out why no server answers",
        certainty=0.7,
        ask=FollowUp(
            fact="why the lease was not renewed",
            command='journalctl -b | grep -i -E "dhcp|carrier"; tcpdump -ni DEV port 67 or port 68',
            decides="no answer: the server or a firewall; a change of the device: who made it",
        ),
        what="The DHCP client says that the lease is lost or expired.",
        why=(
            "The client takes the address and the routes off the device; tunnels, nodes and pods "
            "that use it are cut off. The server does not answer, a firewall drops DHCP, or the "
            "client was told to begin again."
        ),
        confirm="journalctl -b | grep -i dhcp; networkctl status DEV; ip addr",
        fix="KeepConfiguration=dhcp-on-stop or a static address; let DHCP pass; ask the server.",
        references="systemd.network(5), KeepConfiguration; dhclient(8)",
    ),
    MessageCheck(
        name="network-down",
        title="a program sends through a device that is down.",
        kinds=(Kind.NETWORK_DOWN,),
        categories=(Category.LINK_DOWN, Category.NETWORK_MANAGER),
        claim="The kernel refuses to send: the device is down (ENETDOWN).",
        breaks="everything by that device",
        cure="set the device up, and find out what set it down",
        certainty=0.7,
        ask=FollowUp(
            fact="which device is down, and what set it down",
            command='ip link; journalctl -b | grep -i -E "carrier|link"',
            decides="a device without UP: it is the cause",
        ),
        what="`Network is down` from a program that sends or binds.",
        why="The device exists and is not up: nobody set it up, or somebody set it down.",
        confirm='ip link; journalctl -b | grep -i -E "link|carrier|down"',
        fix="ip link set DEV up, and the same in the configuration.",
        references="errno(3), ENETDOWN",
    ),
    MessageCheck(
        name="firmware-failed",
        title="a network card's firmware crashed or does not answer.",
        kinds=(Kind.FIRMWARE_FAILED,),
        categories=(Category.NIC_DRIVER,),
        claim="The firmware of the network card{driver} crashed or does not answer its driver.",
        values=(Value("driver", frame=ASIDE),),
        breaks="everything through the card, until it is reset",
        cure="update firmware and driver, and reset the card",
        what=(
            "The driver reports an assertion, a fatal error or a command without an answer of the "
            "firmware."
        ),
        why="The card is reset, or is gone until the host boots.",
        confirm='dmesg -T | grep -i -E "firmware|health|assert"; ethtool -i DEV; devlink health',
        fix="Update firmware and driver together; reset the card (devlink dev reload), or boot.",
        references="Documentation/networking/devlink/devlink-health.rst",
    ),
    MessageCheck(
        name="firmware-missing",
        title="a driver does not find the firmware of its card.",
        kinds=(Kind.FIRMWARE_MISSING,),
        categories=(Category.NIC_DRIVER, Category.KERNEL_MODULE),
        claim="The driver{driver} does not find the firmware of its card{file}.",
        values=(Value("driver", frame=ASIDE), Value("file", frame=ASIDE)),
        breaks="offloads or the whole card, by driver",
        cure="install the package of the firmware",
        certainty=0.5,
        ask=FollowUp(
            fact="whether the card works without it",
            command="ip -s link; ethtool DEV",
            decides="no device or no link: it is the cause",
        ),
        what="`Direct firmware load for ... failed`.",
        why="Some drivers go on without it, some do not bring the card up.",
        confirm="ip link; dmesg | grep -i firmware; ls /lib/firmware",
        fix="Install linux-firmware or firmware-*, then load the driver again.",
        references="Documentation/driver-api/firmware",
    ),
    MessageCheck(
        name="offload-fault",
        title="an offload of a network card makes packets that cannot be passed on.",
        kinds=(Kind.OFFLOAD_FAULT,),
        categories=(Category.NIC_DRIVER, Category.TUNNEL_CHECKSUM, Category.KERNEL_BUG),
        claim="An offload of {device} makes packets that the stack cannot pass on{what}.",
        values=(Value("device", default="a device"), Value("what", frame=ASIDE)),
        breaks="forwarded packets above one segment, mostly TCP",
        cure="switch that offload off",
        commands=("ethtool -K {device} lro off gro off",),
        what=(
            "The kernel says so itself: LRO with forwarding, a bad GSO packet, a packet with too "
            "many parts for Xen, a bad partial checksum."
        ),
        why=(
            "Packets that were put together, or that wait to be cut, are forwarded to a device "
            "that cannot take them, and are dropped."
        ),
        confirm='ethtool -k DEV; dmesg -T | grep -E "LRO|gso|rocket|csum"; nstat -az',
        fix=(
            "ethtool -K DEV lro off gro off (or gso, tso, sg, tx), and keep it in the "
            "configuration."
        ),
        references="Documentation/networking/segmentation-offloads.rst",
    ),
    MessageCheck(
        name="offload-doubt",
        title="the kernel doubts what an offload of a card does.",
        kinds=(Kind.OFFLOAD_DOUBT,),
        categories=(Category.NIC_DRIVER,),
        claim="The kernel doubts the offloads of {device}{what}.",
        values=(Value("device", default="a device"), Value("what", frame=ASIDE)),
        breaks="speed of TCP, and packets that are forwarded",
        cure="switch offloads off one by one",
        certainty=0.5,
        ask=FollowUp(
            fact="whether it works without offloads",
            command="ethtool -K DEV gro off lro off tso off gso off",
            decides="it works then: it is the cause",
        ),
        what="`Driver has suspect GRO implementation`, `skb_warn_bad_offload`.",
        why=(
            "What the driver put together does not fit the size of segments, or a packet asks for "
            "an offload that the device lacks."
        ),
        confirm="ethtool -k DEV; ethtool -S DEV",
        fix="ethtool -K DEV gro off lro off tso off; update the driver.",
        references="Documentation/networking/segmentation-offloads.rst",
    ),
    MessageCheck(
        name="mac-refused",
        title="a card or its driver refuses frames of a MAC that is not its own.",
        kinds=(Kind.MAC_REFUSED,),
        categories=(Category.MAC_NOT_ALLOWED,),
        claim="The card{device} refuses frames of a MAC that it was not given.",
        values=(Value("device", frame=ASIDE),),
        breaks="pods or virtual machines with MACs of their own behind that function",
        cure="trust the virtual function, or switch its check for spoofing off",
        what="`Spoofed packets detected`, `override administratively set MAC`.",
        why=(
            "A virtual function may send with the MAC that the host gave it alone; "
            "a bridge, macvlan or a bond above it sends with others."
        ),
        confirm="ip link show PF (spoof checking, trust)",
        fix="ip link set PF vf N trust on spoofchk off",
        references="ip-link(8), vf",
    ),
    MessageCheck(
        name="bond-link-lost",
        title="a bond lost one of its links.",
        kinds=(Kind.BOND_SLAVE_DOWN,),
        categories=(Category.BONDING, Category.LINK_DOWN),
        claim="The bond {bond} lost the link of {device}.",
        values=(
            Value("bond", default="of the host"),
            Value("device", names=("device", "slave"), default="one device"),
        ),
        breaks="what only that link carries",
        cure="fix the link, or the mode of the bond",
        certainty=0.5,
        ask=FollowUp(
            fact="which links of the bond are up, here and at the switch",
            command="cat /proc/net/bonding/BOND; ethtool DEV",
            decides="the switch still uses a lost link: it is the cause",
        ),
        what="`link status definitely down`.",
        why="The bond goes on with the others, unless the switch keeps sending to the lost one.",
        confirm="cat /proc/net/bonding/BOND; ip -d link",
        fix="Fix cable, card or port; use LACP on both sides.",
        references="Documentation/networking/bonding.rst",
    ),
    MessageCheck(
        name="prefix-length-wrong",
        title="a router announces a prefix that is not 64 bits long.",
        kinds=(Kind.PREFIX_LENGTH_WRONG,),
        categories=(Category.IPV6,),
        claim=(
            "A router announces a prefix of {length} bits: hosts make no address of one that is "
            "not 64 bits long."
        ),
        values=(Value("length", default="another number of"),),
        breaks="IPv6 addresses of all hosts that wait for that router",
        cure="announce a /64",
        what="`prefix with wrong length`.",
        why=(
            "SLAAC joins a prefix with an interface identifier of 64 bits; any other length is "
            "ignored."
        ),
        confirm="rdisc6 DEV; tcpdump -vni DEV icmp6",
        fix="Announce a /64 (radvd, dnsmasq), or use DHCPv6.",
        references="RFC 4862, 5.5.3; net/ipv6/addrconf.c",
    ),
    MessageCheck(
        name="neighbour-silent",
        title="a switch or agent gets no answer to its question for a MAC.",
        kinds=(Kind.NEIGHBOUR_SILENT,),
        categories=(Category.NEIGHBOUR_UNRESOLVED,),
        claim="A component gets no MAC for its neighbor{address}.",
        values=(Value("address", names=("address", "asked", "silent"), frame=ASIDE),),
        breaks="everything that goes by that neighbor",
        cure="find out why the neighbor does not answer: VLAN, port, address",
        what=(
            "A virtual switch, tunnel or agent says that ARP or neighbor discovery for the next "
            "hop has no answer."
        ),
        why=(
            "Without the MAC of the next hop nothing can be sent: the neighbor is not in that "
            "segment, is filtered, or does not exist."
        ),
        confirm="arping -I DEV ADDRESS; ip neigh show ADDRESS; tcpdump -eni DEV arp",
        fix=(
            "Put both into the same segment (VLAN, bridge mapping, port), or correct the address "
            "of the gateway."
        ),
        references="ovs-vswitchd(8); ofproto/ofproto-dpif-xlate.c",
    ),
    MessageCheck(
        name="vlan-refused",
        title="a virtual switch drops frames for their VLAN tag.",
        kinds=(Kind.VLAN_REFUSED,),
        categories=(Category.VLAN,),
        claim=(
            "The virtual switch drops frames of VLAN {tag} at the port {device}, which is not of "
            "that VLAN."
        ),
        values=(
            Value("tag", names=("tag", "vid"), default="another number"),
            Value("device", names=("device", "port"), default="in question"),
        ),
        breaks="that VLAN at that port",
        cure="give the port the tag or trunk that the frames have",
        commands=("ovs-vsctl list port {device}",),
        what="`dropping VLAN ... packet received on port`.",
        why="An access port takes untagged frames, a trunk those of its list.",
        confirm="ovs-vsctl list port DEV (tag, trunks, vlan_mode)",
        fix="ovs-vsctl set port DEV tag=... or trunks=...",
        references="ovs-vswitchd.conf.db(5), Port",
    ),
    MessageCheck(
        name="upcalls-lost",
        title="Open vSwitch loses packets between kernel and daemon.",
        kinds=(Kind.UPCALLS_LOST,),
        categories=(Category.RESOURCE_LIMIT, Category.BPF),
        claim="Open vSwitch loses first packets of flows: its daemon is slower than they come.",
        breaks="new connections",
        cure="give the daemon more CPU, and find what makes so many flows",
        certainty=0.6,
        ask=FollowUp(
            fact="whether the counter of lost packets grows",
            command="ovs-dpctl show",
            decides="it grows: it is the cause",
        ),
        what="`lost packet on handler`.",
        why="The first packet of each flow goes to ovs-vswitchd; its socket is full.",
        confirm="ovs-appctl upcall/show; ovs-dpctl show (lost)",
        fix="More handler threads or CPU; fewer exact flows.",
        references="ovs-vswitchd(8), upcall",
    ),
    MessageCheck(
        name="bridge-gone",
        title="the bridge that a container engine uses no longer exists.",
        kinds=(Kind.BRIDGE_GONE,),
        categories=(Category.LINK_DOWN, Category.BRIDGE_CONFIGURATION, Category.NETWORK_MANAGER),
        claim="The bridge {bridge} that the engine uses is gone.",
        values=(Value("bridge", default="of the engine"),),
        breaks="new containers of that network, and those that lost their bridge",
        cure="restart the engine, and keep others from deleting its bridge",
        commands=("ip link show {bridge}", "systemctl restart docker"),
        what="The engine cannot add a device to its bridge: no such network interface.",
        why=(
            "Somebody deleted the bridge (a network manager, a script, `ip link delete`), or it "
            "was never made."
        ),
        confirm="ip link show type bridge; journalctl -b -u NetworkManager -u systemd-networkd",
        fix="systemctl restart docker; keep managers away from the bridge (unmanaged-devices).",
        references="libnetwork, drivers/bridge",
    ),
    MessageCheck(
        name="bridge-ports-exhausted",
        title="a bridge has as many ports as it can have.",
        kinds=(Kind.BRIDGE_PORTS_EXHAUSTED,),
        categories=(Category.RESOURCE_LIMIT, Category.BRIDGE_CONFIGURATION),
        claim="The bridge{bridge} has 1023 ports, and accepts no more.",
        values=(Value("bridge", frame=ASIDE),),
        breaks="every further container of that bridge",
        cure="spread the containers over several networks",
        what="`exchange full` (EXFULL) when a device is added to a bridge.",
        why="A bridge of Linux has at most 1023 ports.",
        confirm="ip link show master BRIDGE | grep -c mtu",
        fix="Use several networks, or remove containers that are not needed.",
        references="net/bridge/br_if.c, find_portno",
    ),
    MessageCheck(
        name="lease-not-served",
        title="a DHCP server does not serve a device of its own.",
        kinds=(Kind.LEASE_NOT_SERVED,),
        categories=(Category.NO_LISTENER, Category.NETWORK_MANAGER, Category.IPAM),
        claim=(
            "The DHCP server does not serve {device}{address}: no subnet of its file is that "
            "device's network."
        ),
        values=(Value("device", default="any device"), Value("address", frame=ASIDE)),
        breaks="leases for the clients on that device",
        cure=(
            "give the device an address of the subnet that it is to serve, before the server starts"
        ),
        commands=("ip -br addr; dhcpd -t",),
        what="`No subnet declaration for eth1 (169.254.1.175)` and `Not configured to "
        "listen on any interfaces!` are dhcpd's; `DHCP packet received on eth1 which has no "
        "address` is dnsmasq's.",
        why="A DHCP server finds the subnet to serve by the address of the device that a request "
        "comes in by. The device has none, or one of another network, since nothing configures "
        "it or the server starts before it.",
        confirm=(
            "ip -br addr; grep -A3 subnet /etc/dhcp/dhcpd.conf; grep -rn INTERFACES /etc/default "
            "/etc/sysconfig"
        ),
        fix="Configure the device's address (interfaces, netplan, NetworkManager), start the "
        "server after it, or declare the subnet that the device is in.",
        references="dhcpd.conf(5), dnsmasq(8)",
    ),
)
