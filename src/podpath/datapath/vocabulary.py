"""The closed sets of the datapath: hooks, stages, decisions, and what a packet is to host and
conntrack.

Each member is spelled as reports and JSON carry it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Self


class Hook(StrEnum):
    """The netfilter hooks of IP, and those of a device."""

    PREROUTING = "PREROUTING"
    INPUT = "INPUT"
    FORWARD = "FORWARD"
    OUTPUT = "OUTPUT"
    POSTROUTING = "POSTROUTING"
    INGRESS = "INGRESS"
    EGRESS = "EGRESS"


def hook_named(name: str) -> Hook | None:
    """Return the hook that a chain of nftables names; None for a regular chain, or an unknown
    name.
    """
    return _HOOKS_BY_NAME.get(name.lower())


_HOOKS_BY_NAME = {hook.lower(): hook for hook in Hook}


class StageName(StrEnum):
    """Where a decision falls, but for what runs at a netfilter hook (`HookStage`)."""

    DEVICE_RECEIVE = "device receive"
    TC_INGRESS = "tc ingress"
    IP_RECEIVE = "ip receive"
    RP_FILTER = "rp_filter"
    ROUTE_INPUT = "route input"
    SOCKET = "socket"
    SERVICE = "service"
    FORWARD = "forward"
    ROUTE_OUTPUT = "route output"
    REROUTE = "reroute"
    FRAGMENTATION = "fragmentation"
    NEIGHBOUR = "neighbour"
    TC = "tc"
    TC_EGRESS = "tc egress"
    DEVICE_TRANSMIT = "device transmit"
    BRIDGE = "bridge"
    BRIDGE_PREROUTING = "bridge PREROUTING"
    OPEN_VSWITCH = "Open vSwitch"
    TUNNEL = "tunnel"


CONNTRACK = "conntrack"
"""What conntrack itself runs as, at the hooks where it sees a packet first."""


class HookStage(str):
    """What runs at a netfilter hook: one table, native chain, conntrack or NAT. Equal to how it is
    printed.
    """

    __slots__ = ("hook", "runs")

    hook: Hook
    runs: str
    """A table's name, conntrack, or the family, table and name of a native chain."""

    def __new__(cls, hook: Hook, runs: str) -> Self:
        """Spell it as `FORWARD filter`."""
        made = super().__new__(cls, f"{hook} {runs}")
        made.hook, made.runs = hook, runs
        return made

    def __reduce__(self) -> tuple[type[HookStage], tuple[Hook, str]]:
        """Return what a copy in another process is made of."""
        return HookStage, (self.hook, self.runs)


class StepDecision(StrEnum):
    """What one step of a trace decided."""

    RECEIVE = "receive"
    HAND_ON = "hand on"
    PASS = "pass"  # noqa: S105  # no password: the packet passes
    BRIDGE = "bridge"
    SWITCH = "switch"
    BYPASS = "bypass"
    NEW = "new"
    ESTABLISHED = "established"
    RELATED = "related"
    INVALID = "invalid"
    UNTRACKED = "untracked"
    ACCEPT = "accept"
    DROP = "drop"
    REJECT = "reject"
    UNDECIDED = "undecided"
    ZONE = "zone"
    MARK = "mark"
    REWRITE = "rewrite"
    TTL = "ttl"
    TOS = "tos"
    TPROXY = "tproxy"
    SNAT = "snat"
    DNAT = "dnat"
    LOCAL = "local"
    FORWARD = "forward"
    ROUTE = "route"
    HOP = "hop"
    REDIRECT = "redirect"
    RESOLVE = "resolve"
    LOOP = "loop"
    BOND = "bond"
    ENCAPSULATE = "encapsulate"
    DECAPSULATE = "decapsulate"
    TRANSMIT = "transmit"
    DELIVER = "deliver"


class PacketType(StrEnum):
    """Whom the destination MAC names (`skb->pkt_type`)."""

    HOST = "host"
    OTHERHOST = "otherhost"
    BROADCAST = "broadcast"
    MULTICAST = "multicast"


class CtInfo(StrEnum):
    """What conntrack says a packet is to its connection."""

    NOT_SEEN = ""
    """Conntrack has not seen it."""
    NEW = "NEW"
    ESTABLISHED = "ESTABLISHED"
    RELATED = "RELATED"
    INVALID = "INVALID"
    UNTRACKED = "UNTRACKED"


class Direction(StrEnum):
    """The direction of a connection that a packet goes in."""

    ORIGINAL = "original"
    REPLY = "reply"


class ConversationFailure(StrEnum):
    """How a conversation fails."""

    NONE = ""
    """It does not: the connection works."""
    DROPPED = "dropped"
    """A packet was dropped."""
    REJECTED = "rejected"
    """A packet was refused, and its sender told."""
    REFUSED = "refused"
    """Nobody listens where the connection arrives."""
    UNTRANSLATED = "reply not translated"
    """The answer reached the client with another source than it connected to."""
    STRAY = "stray"
    """A later packet reached the server as part of no connection it knows."""
    MISDELIVERED = "misdelivered"
    """A packet reached another host than the one it was for."""
    LEFT_UNTRANSLATED = "left untranslated"
    """The request leaves the node with a source that nobody outside can answer."""
    LEFT_NODE = "left the node"
    """The server is on the node, and the packets go elsewhere."""
    UNDECIDED = "undecided"
    """The model cannot tell."""


class Reachability(StrEnum):
    """Whether a connection works, over all branches."""

    ALWAYS = "ALWAYS"
    SOMETIMES = "SOMETIMES"
    NEVER = "NEVER"
    UNDECIDED = "UNDECIDED"


class BoundaryName(StrEnum):
    """What the model leaves out; `walk.not_modelled` says of each why, and what would tell."""

    VRF = "VRF"
    MULTICAST_DELIVERY = "multicast delivery"
    LINK_LOCAL = "IPv6 link-local scope"
    MACVLAN = "macvlan"
    INNER_VLAN = "VLAN over an inner device"
    TUNNEL = "tunnel"
    DUMMY = "dummy"
    CIRCLE = "circle"
    CILIUM_NODEPORT = "Cilium NodePort"
    CILIUM_ENDPOINT = "Cilium endpoint"
    UNSEEN_NAMESPACE = "unseen namespace"
    IPVS = "IPVS"
    XDP = "XDP"
    TC = "tc"
    XFRM = "XFRM"
    FLOWTABLE = "flowtable"
    EBTABLES = "ebtables"
    ARPTABLES = "arptables"
    OPENFLOW = "OpenFlow"
    FLOW_TABLES = "flow tables"
    EARLY_DEMUX = "early demux"
    BPF_POLICY = "network policy of BPF"
    MULTICAST_SNOOPING = "multicast snooping"
    REPLY_MARK = "mark of replies"
    TCP_WINDOWS = "TCP windows"
    CONNTRACK_TIMEOUTS = "conntrack timeouts"
    CONNTRACK_HELPERS = "conntrack helpers"
    SCTP_DCCP = "SCTP and DCCP states"
    SET_TARGETS = "set targets"
    TEE = "TEE"
    OTHER_NODE = "another node's data path"
    FRAGMENTS = "fragments"
    MIDWAY = "translated midway"
    PRIVATE_TUNNEL = "tunnel of a program or of keys"
    TUNNEL_TO_SELF = "tunnel to itself"
    BRIDGE_DETOUR = "first frame to a next hop"


class GivenSocket(StrEnum):
    """What kind of socket a rule gave a packet to (`skb->sk`)."""

    LISTENER = "listener"
    CONNECTED = "connected"
    """That of the packet's own connection."""


class DropCause(StrEnum):
    """Why routing and devices end a packet; `routing.reasons` has each kernel's name for it."""

    REVERSE_PATH = "reverse path"
    LOCAL_SOURCE = "local source"
    INVALID_SOURCE = "invalid source"
    INVALID_DESTINATION = "invalid destination"
    LOCALNET = "localnet"
    FORWARDING_OFF = "forwarding off"
    NO_ROUTE = "no route"
    BLACKHOLE = "blackhole"
    OUTPUT_NO_ROUTE = "output no route"
    NOT_FOR_ONE_HOST = "not for one host"
    GIVEN_TO_SOCKET = "given to a socket"
    OTHER_HOST = "other host"
    BAD_HEADER = "bad header"
    TTL = "ttl"
    TOO_BIG = "too big"
    NEIGHBOUR_FAILED = "neighbour failed"
    NEIGHBOUR_PURGED = "neighbour purged"
    NO_SOCKET = "no socket"
    UDP_CHECKSUM = "udp checksum"
    DEVICE_DOWN = "device down"
    FRAME_TOO_LONG = "frame too long"
    NO_CARRIER = "no carrier"
    BRIDGE_PORT_STATE = "bridge port state"
    BRIDGE_HELD = "bridge held"
    """By the port that has the MAC."""
    BRIDGE_FLOODED = "bridge flooded"
    """By every port: none of them is known to have the MAC."""
    VLAN = "vlan"
    VXLAN_NO_REMOTE = "vxlan no remote"
    VXLAN_RECURSION = "vxlan recursion"
    VXLAN_VNI = "vxlan vni"
    VXLAN_LOOP = "vxlan loop"
    TUNNEL_END = "no such end of a tunnel"
    REROUTE = "reroute"
    NO_OUTPUT = "no output"
    """Flows of Open vSwitch send the packet nowhere."""


StepStage = StageName | HookStage | BoundaryName
"""Where a decision falls: the last where the model ends."""
