"""What programs and the kernel say in one line, by kind: the words in which logs and errors become
evidence.

A message is not a fact of the node: it says what a program met at some time. Its kind tells which;
its values are the words of the line that matter (addresses, devices, names), spelled as they stand
there.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from podpath.net.provenance import Span


class MessageKind(StrEnum):
    """What a line says."""

    # The kernel's log
    CONNTRACK_TABLE_FULL = "conntrack table full"
    INVALID_PACKET_LOGGED = "invalid packet logged"
    NEIGHBOUR_TABLE_FULL = "neighbour table full"
    MARTIAN_SOURCE = "martian source"
    OWN_ADDRESS_RECEIVED = "own address received"
    DUPLICATE_ADDRESS = "duplicate address"
    ADDRESS_GIVEN_UP = "address given up"
    NETFILTER_LOG = "netfilter log"
    TRACED_TO_DROP = "packet traced to its drop"
    PACKET_FREED = "packet freed"
    TRANSMIT_TIMEOUT = "transmit timeout"
    LINK_DOWN = "link down"
    BRIDGE_NETFILTER_GONE = "bridge netfilter gone"
    SYN_FLOOD = "syn flood"
    DEVICE_HELD = "device held"
    DEVICE_RESET = "device reset"
    CHECKSUM_FAILED = "checksum failed"
    BOND_WITHOUT_LINK = "bond without link"
    BOND_WITHOUT_PARTNER = "bond without partner"
    DATAPATH_ACTION_REFUSED = "datapath action refused"
    HELPER_NOT_ASSIGNED = "helper not assigned"
    SCHEDULER_MISSING = "scheduler missing"
    VIRTUAL_SERVER_REFUSED = "virtual server refused"
    SOCKET_MEMORY_FULL = "socket memory full"
    PROCESS_KILLED = "process killed"
    ACCESS_DENIED = "access denied by SELinux"
    DENIED_BY_APPARMOR = "access denied by apparmor"
    PEER_SOURCE_NOT_ALLOWED = "peer source not allowed"
    PEER_ADDRESS_UNEXPECTED = "peer address unexpected"
    MTU_TOO_LARGE = "mtu too large"
    FRAME_TOO_LARGE = "frame too large"

    # What commands answer
    RTNETLINK_ANSWER = "rtnetlink answer"
    SEND_FAILED = "send failed"
    SEND_INVALID = "send invalid"
    TIME_STAMPS_REFUSED = "time stamps refused"
    IPTABLES_FAILED = "iptables failed"
    XTABLES_LOCKED = "xtables locked"
    EXTENSION_MISSING = "extension missing"
    TABLE_MISSING = "table missing"
    RIGHTS_MISSING = "rights missing"
    MODULE_NOT_FOUND = "module not found"
    KERNEL_CHECK_FAILED = "kernel check failed"
    DEVICE_TYPE_UNSUPPORTED = "device type unsupported"
    DEVICE_MISSING = "device missing"
    SET_FAILED = "set failed"
    NFT_FAILED = "nft failed"
    RULESET_FILE_REFUSED = "ruleset file refused"
    TABLE_INCOMPATIBLE = "table incompatible"
    ADDRESS_FAMILY_UNSUPPORTED = "address family unsupported"

    # What tells of the host's own network
    LEASE_GIVEN = "lease given"
    REVERSE_PATH_LOG = "reverse path log"
    ROUTE_WANTED = "route wanted"
    ROUTE_REFUSED = "route refused"
    ROUTE_TABLE_EMPTY = "route table empty"
    NAT_ADDRESS_USED = "nat address used"
    RANGE_WANTED = "range wanted"
    CHILD_NETWORK = "child network"

    # Firewalls
    BASE_CHAIN = "base chain"
    DOCKER_MASQUERADES = "docker masquerades"

    # CNI and container runtimes
    # Container runtimes, kubelet and CNI plugins
    BRIDGE_ADDRESS_DIFFERS = "bridge address differs"
    ADDRESSES_EXHAUSTED = "addresses exhausted"
    ADDRESS_ALLOCATED_TWICE = "address allocated twice"
    ADDRESS_OUTSIDE_RANGE = "address outside range"
    PLUGIN_NOT_FOUND = "plugin not found"
    PLUGIN_NOT_READY = "plugin not ready"
    PLUGIN_CONFIGURATION_INVALID = "plugin configuration invalid"
    PLUGIN_FILE_NOT_WRITTEN = "plugin file not written"
    MASTER_DEVICE_MISSING = "master device missing"
    PARENT_DEVICE_BUSY = "parent device busy"
    CONTAINER_DEVICE_EXISTS = "container device exists"
    POOLS_OVERLAP = "pools overlap"
    FORWARDING_DISABLED = "forwarding disabled"
    BRIDGE_CALLS_DISABLED = "bridge calls disabled"
    PORT_TAKEN = "port taken"
    PORT_PRIVILEGED = "port privileged"
    BIND_ADDRESS_ABSENT = "bind address absent"
    SOURCE_PORTS_EXHAUSTED = "source ports exhausted"
    FILES_EXHAUSTED = "files exhausted"
    CHAIN_OF_DOCKER_MISSING = "chain of docker missing"
    ZONE_CONFLICT = "zone conflict"
    FIREWALL_WARNED_OF = "firewall warned of"
    TUNNEL_DEVICE_FAILED = "tunnel device failed"
    NAME_TAKEN = "name taken"
    KUBELET_REFUSES = "kubelet refuses to start"
    NODE_JOIN_REFUSED = "node join refused"
    RESOLV_CONF_LIMIT = "resolv.conf limit"
    RESOLV_CONF_MISSING = "resolv.conf missing"
    PEER_LOST = "peer lost"

    # Agents of networks
    SUBNET_FILE_MISSING = "subnet file missing"
    AGENT_SOCKET_MISSING = "agent socket missing"
    TUN_DEVICE_MISSING = "tun device missing"
    POD_RANGE_MISSING = "pod range missing"
    POD_RANGE_DIFFERS = "pod range differs"
    AGENT_CONFIGURATION_INVALID = "agent configuration invalid"
    AGENT_PART_DOWN = "agent part down"
    AGENT_NODE_UNKNOWN = "agent node unknown"
    NODES_UNREACHABLE = "nodes unreachable"
    ROUTE_OF_OTHER_DEVICE = "route of another device"
    SWITCH_PORT_NOT_BOUND = "switch port not bound"
    INTERFACE_NOT_FOUND = "interface not found"
    ROUTE_CONFLICT = "route conflict"
    BGP_NOT_ESTABLISHED = "bgp not established"
    AGENT_FORBIDDEN = "agent forbidden"
    NAME_SERVER_FORBIDDEN = "name server forbidden"
    PROXY_FORBIDDEN = "proxy forbidden"
    BALANCER_FORBIDDEN = "balancer forbidden"
    AGENT_UNAUTHORIZED = "agent unauthorized"
    FLOW_REJECTED = "flow rejected"
    CLOUD_CALL_DENIED = "cloud call denied"
    REVERSE_PATH_LOOSE = "reverse path loose"
    NODE_ADDRESS_CONFLICT = "node address conflict"
    BPF_DROP = "bpf drop"
    BPF_BACKEND_MISSING = "bpf backend missing"
    DROPPED_BY_POLICY = "dropped by policy"
    BPF_LOAD_FAILED = "bpf load failed"
    BPF_MAP_FULL = "bpf map full"
    KERNEL_TOO_OLD = "kernel too old"
    API_SERVER_UNREACHABLE = "api server unreachable"
    METADATA_UNREACHABLE = "metadata unreachable"
    ROUTES_NOT_ACCEPTED = "routes not accepted"
    GATEWAY_UNREACHABLE = "gateway unreachable"
    PEERS_INCONSISTENT = "peers inconsistent"
    POD_NOT_ANNOTATED = "pod not annotated"
    INNER_ADDRESS_CHOSEN = "inner address chosen"

    # Services and their proxies
    PROXY_SYSCTL_DENIED = "proxy sysctl denied"
    PROXY_MODULES_MISSING = "proxy modules missing"
    PROXY_CONFIGURATION_INVALID = "proxy configuration invalid"
    RESTORE_FAILED = "restore failed"
    BALANCER_WITHOUT_ADDRESS = "balancer without address"
    BALANCER_FAILED = "balancer failed"
    VRRP_CONFLICT = "vrrp conflict"
    VRRP_DIFFERS = "vrrp differs"
    ROUTER_DEVICE_MISSING = "router device missing"
    PROXY_NODE_UNKNOWN = "proxy node unknown"
    ENDPOINTS_NOT_UPDATED = "endpoints not updated"
    ROUTE_NOT_CREATED = "route not created"
    LOCAL_RANGE_UNKNOWN = "local range unknown"
    NODE_PORT_ADDRESSES_UNMET = "node port addresses unmet"
    WEBHOOK_UNREACHABLE = "webhook unreachable"
    KUBELET_UNREACHABLE = "kubelet unreachable"
    PROXY_PART_DOWN = "proxy part down"
    EGRESS_ADDRESS_UNASSIGNED = "egress address unassigned"
    PORT_BINDING_FAILED = "port binding failed"

    # Names
    FORWARDING_LOOP = "forwarding loop"
    UPSTREAM_SILENT = "upstream silent"
    UPSTREAM_REFUSES = "upstream refuses"
    RESOLVER_IS_LOOPBACK = "resolver is loopback"
    NAME_SERVER_NOT_BOUND = "name server not bound"
    NAME_FAILS = "name fails"
    ANSWER_FROM_ELSEWHERE = "answer from elsewhere"
    SECOND_ANSWER_LOST = "second answer lost"
    LEASE_NOT_SERVED = "lease not served"
    CGROUP_DRIVERS_DIFFER = "cgroup drivers differ"
    BGP_SWITCHED_OFF = "bgp switched off"
    ANSWERED_BY_CLUSTER = "answered by cluster"

    # Meshes and TLS
    SECRET_NOT_SUPPLIED = "secret not supplied"  # noqa: S105 - a kind of message
    PEER_SPEAKS_NO_TLS = "peer speaks no tls"
    CERTIFICATE_REFUSED = "certificate refused"
    CERTIFICATE_MISSING = "certificate missing"
    TLS_NOT_AGREED = "tls not agreed"
    PROTOCOL_ERROR = "protocol error"
    UPSTREAM_FAILED = "upstream failed"
    UPSTREAM_OVERFLOW = "upstream overflow"
    NO_HEALTHY_UPSTREAM = "no healthy upstream"
    ROUTE_UNKNOWN = "route unknown"
    MESH_DENIED = "mesh denied"
    BLACK_HOLE_CLUSTER = "black hole cluster"
    PROXY_STALE = "proxy stale"
    MESH_CONFIGURATION_INVALID = "mesh configuration invalid"
    PROXY_CONFIGURATION_REJECTED = "proxy configuration rejected"
    MESH_REDIRECT_MISSING = "mesh redirect missing"
    PROTOCOL_NOT_DETECTED = "protocol not detected"
    CONTROL_PLANE_SILENT = "control plane silent"
    WORKLOAD_NOT_AUTHENTICATED = "workload not authenticated"

    # Hosts and their networks
    ADDRESS_DECLINED = "address declined"
    LEASE_NOT_OFFERED = "lease not offered"
    LEASE_REFUSED = "lease refused"
    KEYS_NOT_AGREED = "keys not agreed"
    HANDSHAKE_UNANSWERED = "handshake unanswered"
    TUNNEL_CONFIGURATION_INVALID = "tunnel configuration invalid"
    TUNNEL_SOURCE_REFUSED = "tunnel source refused"
    IPSEC_STATE_REFUSED = "ipsec state refused"

    # Limits and errno, whoever prints them
    BUFFERS_EXHAUSTED = "buffers exhausted"
    MEMORY_EXHAUSTED = "memory exhausted"
    WATCHES_EXHAUSTED = "watches exhausted"
    TASKS_EXHAUSTED = "tasks exhausted"
    DISK_FULL = "disk full"
    ROUTE_CACHE_FULL = "route cache full"
    TIME_WAIT_FULL = "time wait table full"
    PACKET_QUEUE_FULL = "packet queue full"
    SET_FULL = "set full"
    CONNECTIONS_EXHAUSTED = "connections exhausted"
    BRIDGE_PORTS_EXHAUSTED = "bridge ports exhausted"
    BRIDGE_PORT_REFUSED = "bridge port refused"
    PACKET_TOO_LONG = "packet too long"
    SOCKET_DENIED = "socket denied"
    RAW_SOCKET_DENIED = "raw socket denied"
    PROTOCOL_UNSUPPORTED = "protocol unsupported"
    SYSCTL_DENIED = "sysctl denied"
    NETWORK_DOWN = "network down"
    UNKNOWN_ERROR = "unknown error"

    # Daemons of the host that configure devices
    DEVICE_TAKEN = "device taken"
    DEVICE_SEEN = "device seen"
    DEVICE_NAME_FAILED = "device name failed"
    DEVICE_NOT_CONFIGURED = "device not configured"
    LEASE_LOST = "lease lost"

    # Drivers and devices
    FIRMWARE_FAILED = "firmware failed"
    FIRMWARE_MISSING = "firmware missing"
    OFFLOAD_FAULT = "offload fault"
    OFFLOAD_DOUBT = "offload doubt"
    MAC_REFUSED = "mac refused"
    TRANSMIT_LOOP = "transmit loop"
    PREFIX_LENGTH_WRONG = "prefix length wrong"
    KERNEL_FAULT = "kernel fault"
    BOND_SLAVE_DOWN = "bond slave down"

    FUNCTION_WITHOUT_PARENT = "function without parent"
    CARD_NOT_PROBED = "card not probed"
    TRANSCEIVER_REFUSED = "transceiver refused"

    # Engines and their plugins
    NETWORK_FOUND = "network found"
    DEFAULT_NETWORK_CHOSEN = "default network chosen"
    PLUGIN_FAILED = "plugin failed"
    PLUGIN_CRASHED = "plugin crashed"
    PROGRAM_MISSING = "program missing"
    FAMILY_DISABLED = "family disabled"
    LEASE_DAEMON_MISSING = "lease daemon missing"
    NAMESPACE_GONE = "namespace gone"
    BRIDGE_GONE = "bridge gone"
    RULE_GONE = "rule gone"
    GATEWAY_OUTSIDE = "gateway outside"
    ENDPOINT_LEFT = "endpoint left"

    # Switches, routers and balancers
    VLAN_REFUSED = "vlan refused"
    VLAN_UNSUPPORTED = "vlan unsupported"
    MAC_FLAPS = "mac flaps"
    SWITCH_PORT_DISABLED = "switch port disabled"
    PEER_NAMED = "peer named"
    TUNNEL_PORT_UNKNOWN = "tunnel port unknown"
    TUNNEL_ENDPOINT_TAKEN = "tunnel endpoint taken"
    UPCALLS_LOST = "upcalls lost"
    NEIGHBOUR_SILENT = "neighbour silent"
    ROUTE_NOT_INSTALLED = "route not installed"
    NEXT_HOP_NOT_ON_LINK = "next hop not on link"
    ROUTING_CONFIGURATION_INVALID = "routing configuration invalid"
    ROUTING_MTU_MISMATCH = "routing mtu mismatch"
    PREFIX_LIMIT = "prefix limit"
    BGP_UPDATE_REFUSED = "bgp update refused"
    BGP_SESSION_CLOSED = "bgp session closed"
    TCP_SIGNATURE_DIFFERS = "tcp signature differs"
    OSPF_DIFFERS = "ospf differs"
    NO_DESTINATION = "no destination"
    ROUTER_IN_FAULT = "router in fault"

    # Name servers
    NAMES_REFUSED = "names refused"
    NAMES_NOT_VALIDATED = "names not validated"
    REBIND_REFUSED = "rebind refused"
    NAME_SERVER_CONFIGURATION_INVALID = "name server configuration invalid"
    NAME_QUERIES_EXHAUSTED = "name queries exhausted"
    UPSTREAM_NAME_UNKNOWN = "upstream name unknown"
    RESOLVER_WITHOUT_UPSTREAM = "resolver without upstream"
    CLUSTER_NAMES_NOT_GIVEN = "cluster names not given"
    DEFAULT_NAME_SERVERS_USED = "default name servers used"
    NAME_SERVER_WAITS = "name server waits"

    # Programs that answer, and refuse
    PROXY_ANSWERED = "proxy answered"
    NODE_NOT_UPDATED = "node not updated"
    CLIENT_REFUSED = "client refused"
    MESSAGE_TOO_LARGE = "message too large"
    PINGS_REFUSED = "pings refused"
    METHOD_UNKNOWN = "method unknown"
    PEER_SPEAKS_TLS = "peer speaks tls"
    NO_ENDPOINTS = "no endpoints"
    SERVICE_PORT_UNKNOWN = "service port unknown"

    # What captures print of neighbors and leases
    ENTRY_UNTRANSLATED = "entry untranslated"
    HOP_PROHIBITS = "hop prohibits"
    ECHO_REJECTED = "echo rejected"
    HOP_WITHOUT_ROUTE = "hop without route"
    HOP_TOO_SMALL = "hop too small"
    HOP_LOOPS = "hop loops"
    NEIGHBOUR_ASKED = "neighbour asked"
    NEIGHBOUR_ANSWERED = "neighbour answered"
    LEASE_ASKED = "lease asked"
    LEASE_ANSWERED = "lease answered"

    # What became of who said something
    PLUGIN_CONFIGURATION_REWRITTEN = "plugin configuration rewritten"
    PLUGIN_RESULT_DAMAGED = "plugin result damaged"
    BRIDGE_NAME_TAKEN = "bridge name taken"
    BRIDGE_CALLS_REQUIRED = "bridge calls required"
    PLUGIN_CREDENTIALS_REFUSED = "plugin credentials refused"
    DEVICE_PROMISCUOUS = "device promiscuous"
    PROGRAM_FATAL = "program fatal"
    CONTAINER_CRASHES = "container crashes"
    PROGRAM_ENDED = "program ended"
    PROGRAM_STARTED = "program started"
    CALL_FAILED = "call failed"

    # Units of systemd
    FIREWALL_UNIT_FAILED = "firewall unit failed"
    NETWORK_UNIT_FAILED = "network unit failed"
    ROUTING_UNIT_FAILED = "routing unit failed"
    TUNNEL_UNIT_FAILED = "tunnel unit failed"
    NAME_UNIT_FAILED = "name unit failed"
    CLUSTER_UNIT_FAILED = "cluster unit failed"
    SERVER_UNIT_FAILED = "server unit failed"


class Message(NamedTuple):
    """One kind of message with its values, and how often a source says it."""

    kind: MessageKind
    values: Mapping[str, str]
    """The named words of the line: `device`, `src`, `dst`, `error`, ...; without those that the
    line does not have.
    """
    span: Span
    """The first line that says it."""
    times: int = 1
    """How many lines of the source say it with the same values."""
    netns: str = "host"
    """The namespace that the source shows."""
    speaker: str = ""
    """Who printed the line, by its name and number: `nginx[812]`; empty where it does not say."""


TRAFFIC = frozenset({
    MessageKind.NEIGHBOUR_ASKED, MessageKind.NEIGHBOUR_ANSWERED, MessageKind.LEASE_ASKED,
    MessageKind.LEASE_ANSWERED,
})  # fmt: skip
"""What a capture prints of any host's daily life: no fault by itself."""
