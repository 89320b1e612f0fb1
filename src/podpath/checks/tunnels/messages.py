"""Faults of tunnels that a message of a program or the kernel tells by itself."""

from __future__ import annotations

from podpath.checks.category import Category
from podpath.checks.finding import FollowUp
from podpath.checks.message_check import ASIDE, SPACED, MessageCheck, Value
from podpath.net.messages import MessageKind as Kind

ROWS: tuple[MessageCheck, ...] = (
    MessageCheck(
        name="tun-device-missing",
        title="a program that needs /dev/net/tun does not get it.",
        kinds=(Kind.TUN_DEVICE_MISSING,),
        categories=(Category.KERNEL_MODULE, Category.TUNNEL_CONFIGURATION, Category.CNI_AGENT),
        claim="The tunnel cannot be made: {file} cannot be opened ({error}).",
        values=(Value("file", default="/dev/net/tun"), Value("error", default="missing")),
        breaks="the tunnel, and everything that goes through it",
        cure="load the module tun, and give the container the device",
        commands=("modprobe tun",),
        what=(
            "A VPN, flannel's udp backend, slirp4netns or another user of TUN devices cannot open "
            "/dev/net/tun."
        ),
        why="The module tun is not loaded, or a container lacks the device or the right "
        "(NET_ADMIN, privileged). Without the device there is no tunnel, and the program exits.",
        confirm=(
            "ls -l /dev/net/tun; lsmod | grep '^tun'\n"
            "kubectl get ds -n kube-flannel -o yaml | grep -A3 securityContext"
        ),
        fix="modprobe tun; in a container: --device /dev/net/tun --cap-add NET_ADMIN, or "
        "privileged: true\n"
        "For flannel take the vxlan backend, which needs no TUN device. In LXC allow the device in "
        "the container's configuration.",
        references="Documentation/networking/tuntap.rst; flannel, Documentation/backends.md (udp)",
    ),
    MessageCheck(
        name="tunnel-keys",
        title="the ends of an encrypted tunnel do not agree.",
        kinds=(Kind.PEER_SOURCE_NOT_ALLOWED, Kind.KEYS_NOT_AGREED),
        categories=(Category.TUNNEL_CONFIGURATION,),
        claim="The ends of the encrypted tunnel do not agree{error}.",
        values=(Value("error", names=("error", "src"), frame=ASIDE),),
        breaks="what should go through the tunnel",
        cure="make keys, ranges and proposals fit on both ends",
        commands=("wg show",),
        what="WireGuard dropped a source that AllowedIPs does not name, has no peer or endpoint "
        "for a destination; or IKE found no common proposal, identity or secret.",
        why=(
            "Encryption needs the same on both ends: what does not fit is dropped, and the kernel "
            "or the daemon says so."
        ),
        confirm="wg show; ip route get ADDRESS; swanctl --log; ipsec statusall",
        fix="Add the range to the peer's AllowedIPs (each range to one peer), an endpoint; make "
        "proposals, identities and keys the same.",
        references="wg(8), allowed-ips; RFC 7296 section 1.3",
    ),
    MessageCheck(
        name="handshake-unanswered",
        title="the other end of a tunnel or cluster does not answer.",
        kinds=(Kind.HANDSHAKE_UNANSWERED, Kind.PEER_LOST),
        categories=(Category.TUNNEL_BLOCKED, Category.OUTSIDE_NODE),
        claim="The peer {peer} does not answer the handshake.",
        values=(Value("peer"),),
        breaks="what should go to that peer",
        cure="open the tunnel's port between the two, or set the endpoint right",
        certainty=0.5,
        ask=FollowUp(
            fact="whether the handshake's packets leave and arrive",
            command="tcpdump -nn udp port PORT   # on both ends; wg show",
            decides=(
                "they leave and do not arrive: the way drops them; they do not leave: a firewall "
                "or route on this host"
            ),
        ),
        what=(
            "WireGuard's handshake with a peer does not complete, or a member of a swarm sends no "
            "acknowledgements."
        ),
        why=(
            "UDP between the two is dropped, the endpoint's address or port is wrong, or the peer "
            "does not run."
        ),
        confirm="wg show (latest handshake, transfer); tcpdump -nn udp port PORT on both ends",
        fix=(
            "Open the port (UDP 51820; for swarm 7946 TCP and UDP, 4789 UDP) between the hosts, or "
            "set the endpoint right."
        ),
        references="wg(8); Docker, Swarm mode ports",
    ),
    MessageCheck(
        name="mtu-refused",
        title="a device refuses the MTU that somebody wants to give it.",
        kinds=(Kind.MTU_TOO_LARGE,),
        categories=(Category.MTU,),
        claim=(
            "A device{device} cannot have the MTU{size} that it was to have, and keeps the one it "
            "has."
        ),
        values=(Value("device", frame=ASIDE), Value("size", frame=SPACED)),
        breaks="packets larger than the MTU that the device has",
        cure="give the device, and whatever it stands on, sizes that fit together",
        commands=("ip -d link show {device}",),
        certainty=0.5,
        ask=FollowUp(
            fact="which MTU the device has, and which the others on the path have",
            command="ip -d link show (mtu, minmtu, maxmtu)",
            decides="it has less than its neighbors send: it is the cause; all fit: it is not",
        ),
        what="`mtu greater than device maximum`, `mtu less than device minimum` or `Invalid MTU "
        "9000 requested`: the kernel or the driver says no, and the device keeps its size.",
        why="A tunnel's device cannot be larger than its kind allows, a card not larger than its "
        "driver does. Who believes that the size was set sends packets that do not fit.",
        confirm="ip -d link show DEV; dmesg -T | grep -i mtu",
        fix="Set the underlying device first, and an MTU within minmtu and maxmtu; "
        "set the same size on all nodes and in the network plugin's configuration.",
        references="net/core/dev.c, dev_validate_mtu",
    ),
    MessageCheck(
        name="tunnel-port-unknown",
        title="a tunnel of Open vSwitch does not fit its other end.",
        kinds=(Kind.TUNNEL_PORT_UNKNOWN,),
        categories=(Category.TUNNEL_CONFIGURATION, Category.TUNNEL_ENDPOINT),
        claim=(
            "Open vSwitch has no tunnel port for packets that come in: key, addresses or kind "
            "differ at the two ends."
        ),
        breaks="everything by that tunnel",
        cure="give both ends the same key and each other's address",
        what="`receive tunnel port not found`, `attempting to add tunnel port with same config`.",
        why=(
            "A tunnel port takes packets with its key and the address of its far end, and no "
            "others."
        ),
        confirm="ovs-vsctl show; ovs-appctl ofproto/list-tunnels",
        fix="Set options:key, remote_ip and local_ip alike, or remove the second port.",
        references="ovs-vswitchd.conf.db(5), Interface",
    ),
    MessageCheck(
        name="over-mtu-dropped",
        title="a device drops packets that are larger than its MTU.",
        kinds=(Kind.PACKET_TOO_LONG,),
        categories=(Category.MTU,),
        claim="The device {device} drops packets of {size} bytes: its MTU is {mtu}.",
        values=(
            Value("device", default="in question"),
            Value("size", default="too many"),
            Value("mtu", default="smaller"),
        ),
        needs=("size", ""),
        breaks="large packets by that device",
        cure="give both ends of the device the same MTU",
        what="`dropped over-mtu packet`.",
        why="A bridge or switch without routing cannot cut packets nor tell their sender.",
        confirm="ip -d link",
        fix="ip link set DEV mtu N, the same on all ports of the bridge.",
        references="net/core/dev.c, is_skb_forwardable; net/openvswitch/vport.c",
    ),
    MessageCheck(
        name="packet-too-long",
        title="a packet is larger than the path allows.",
        kinds=(Kind.PACKET_TOO_LONG,),
        categories=(Category.MTU,),
        claim="A packet is too large for its device or path (EMSGSIZE).",
        breaks="large packets: what is small gets through",
        cure="make the MTU of the inner device smaller, or clamp the MSS",
        certainty=0.6,
        ask=FollowUp(
            fact="the MTU of each device of the path",
            command="ip -d link; tracepath -n ADDRESS",
            decides="an inner device with the MTU of the outer one: it is the cause",
        ),
        what="`Message too long` (EMSGSIZE).",
        why=(
            "The packet may not be cut (DF), and the device or the path that the kernel knows "
            "takes less."
        ),
        confirm="ping -M do -s 1472 ADDRESS; tracepath ADDRESS; ip -d link; ip route get ADDRESS",
        fix="Set the MTU of pods and tunnels to that of the uplink less the overhead.",
        references="ip(7), IP_MTU_DISCOVER",
    ),
)
