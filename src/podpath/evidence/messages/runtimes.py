"""What container runtimes, kubelet and CNI plugins say, wherever it is passed on: daemons' logs,
commands, events.
"""

from __future__ import annotations

from podpath.evidence.messages.row import MessagePattern, make_row
from podpath.net.messages import MessageKind

ROWS: tuple[MessagePattern, ...] = (
    make_row(
        MessageKind.BRIDGE_ADDRESS_DIFFERS,
        "already has an IP address different from",
        (
            r"\\*\"?(?P<bridge>[\w.-]+)\\*\"? already has an IP address different from "
            r"(?P<address>[0-9a-fA-F:./]+)"
        ),
    ),
    make_row(
        MessageKind.ADDRESSES_EXHAUSTED,
        "no IP addresses available in",
        r"no IP addresses available in (?:network|range set): ?(?P<range>[\w.:/ -]+)",
    ),
    make_row(
        MessageKind.PLUGIN_NOT_FOUND,
        "failed to find plugin",
        r"failed to find plugin \\*\"(?P<plugin>[\w.-]+)\\*\" in path \[(?P<path>[^\]]*)\]",
    ),
    make_row(MessageKind.PLUGIN_NOT_READY, "cni config uninitialized"),
    make_row(MessageKind.PLUGIN_NOT_READY, "cni plugin not initialized"),
    make_row(MessageKind.PLUGIN_NOT_READY, "No networks found in "),
    make_row(
        MessageKind.PLUGIN_NOT_READY,
        "no network config found in",
        r"no network config found in (?P<folder>\S+)",
    ),
    make_row(
        MessageKind.PLUGIN_NOT_READY,
        "no networks found in ",
        r"no networks found in (?P<folder>\S+)",
    ),
    make_row(
        MessageKind.PLUGIN_NOT_READY,
        "o valid networks found in",
        r"[Nn]o valid networks found in (?P<folder>\S+)",
    ),
    make_row(MessageKind.PLUGIN_NOT_READY, "NetworkPluginNotReady", r"NetworkPluginNotReady"),
    make_row(
        MessageKind.PLUGIN_CONFIGURATION_INVALID,
        "error parsing configuration",
        r"error parsing configuration(?: list)?: (?P<error>[^\"\\]+)",
    ),
    make_row(
        MessageKind.PLUGIN_CONFIGURATION_INVALID,
        "CNI",
        r"[Ee]rror loading CNI (?:config(?:uration)?(?: list)?|conf) (?:file )?"
        r"(?P<file>/\S+?)[:\s]|(?P<error>unsupported CNI (?:result )?version|incompatible CNI "
        r"versions)",
    ),
    make_row(
        MessageKind.PLUGIN_CONFIGURATION_INVALID,
        "incompatible CNI versions",
        r"(?P<error>incompatible CNI versions[^\"\\]*)",
    ),
    make_row(
        MessageKind.PLUGIN_CONFIGURATION_INVALID,
        "does not support config version",
        r"plugin (?P<plugin>\S+) does not support config version [\\\"]*(?P<version>[\d.]*)",
    ),
    make_row(
        MessageKind.PLUGIN_CONFIGURATION_INVALID,
        "missing 'type'",
        r"(?P<error>error parsing configuration: missing 'type'|missing 'type')",
    ),
    make_row(
        MessageKind.PLUGIN_CONFIGURATION_INVALID,
        "failed to load netconf",
        r"failed to load netconf: (?P<error>[^\"\\]+)",
    ),
    make_row(
        MessageKind.PLUGIN_CONFIGURATION_INVALID,
        "annot find a network-attachment-definition",
        r"[Cc]annot find a network-attachment-definition \(?(?P<name>[\w./-]+)",
    ),
    make_row(
        MessageKind.ADDRESS_ALLOCATED_TWICE,
        "duplicate allocation is not allowed",
        (
            r"(?:(?P<address>[0-9a-fA-F:.]+) )?has been allocated to (?P<owner>[\w:/.-]+), "
            r"duplicate allocation is not allowed"
        ),
    ),
    make_row(
        MessageKind.ADDRESS_ALLOCATED_TWICE,
        "equested IP address",
        r"requested IP address (?P<address>[0-9a-fA-F:.]+) is not available",
    ),
    make_row(
        MessageKind.ADDRESS_ALLOCATED_TWICE, "Error response from daemon: Address already in use"
    ),
    make_row(
        MessageKind.MASTER_DEVICE_MISSING,
        "failed to lookup master",
        (
            r"failed to lookup (?:new )?(?:master|parent)(?: interface)? \\*\""
            r"(?P<device>[\w.@-]+)\\*\": (?P<error>[\w ]+)"
        ),
    ),
    make_row(
        MessageKind.MASTER_DEVICE_MISSING,
        "failed to find parent interface",
        r"failed to find parent interface (?P<device>[\w.@-]+)",
    ),
    make_row(
        MessageKind.MASTER_DEVICE_MISSING,
        "ailed to find bridge",
        r"[Ff]ailed to find bridge (?P<device>[\w.-]+)",
    ),
    make_row(
        MessageKind.PARENT_DEVICE_BUSY,
        "using parent interface",
        r"network (?P<network>\S+) is already using parent interface (?P<device>[\w.-]+)",
    ),
    make_row(
        MessageKind.PARENT_DEVICE_BUSY,
        "device or resource busy",
        (
            r"failed to (?:create|make) (?:the )?(?P<sort>macvlan|ipvlan)[^:]*(?:port)?: device or "
            r"resource busy"
        ),
    ),
    make_row(
        MessageKind.CONTAINER_DEVICE_EXISTS,
        "already exists",
        (
            r"container veth name (?:provided )?\(?\\*\"?(?P<device>[\w.-]+)\\*\"?\)?"
            r"(?: peer provided \([^)]*\))? already exists"
        ),
    ),
    make_row(
        MessageKind.CONTAINER_DEVICE_EXISTS,
        ": file exists",
        r"failed to rename \S+ to (?P<device>[\w.-]+): file exists",
    ),
    make_row(
        MessageKind.POOLS_OVERLAP,
        "could not find an available, non-overlapping IP",
        r"non-overlapping IPv[46] address pool",
    ),
    make_row(MessageKind.POOLS_OVERLAP, "ool overlaps with other one on this address space"),
    make_row(MessageKind.POOLS_OVERLAP, "all predefined address pools have been fully subnetted"),
    make_row(
        MessageKind.POOLS_OVERLAP,
        "is already used on the host or by another config",
        r"subnet (?P<range>[\da-fA-F.:/]+) is already used on the host or by another config",
    ),
    make_row(
        MessageKind.POOLS_OVERLAP,
        "conflicts with network ",
        (
            r"conflicts with network (?P<network>\w+) \((?P<bridge>[\w.-]+)\): networks have "
            r"(?:overlapping|same)"
        ),
    ),
    make_row(
        MessageKind.POOLS_OVERLAP,
        "etwork is already in use by interface",
        r"already in use by interface (?P<device>[\w.-]+)",
    ),
    make_row(MessageKind.FORWARDING_DISABLED, "IPv4 forwarding is disabled"),
    make_row(MessageKind.FORWARDING_DISABLED, "ip_forward contents are not set to 1"),
    make_row(
        MessageKind.FORWARDING_DISABLED,
        "ip_forward",
        r"(?:ip_forward is (?:not enabled|disabled)|IP forwarding is (?:off|disabled))",
    ),
    make_row(
        MessageKind.BRIDGE_CALLS_DISABLED,
        "is disabled",
        r"(?P<key>bridge-nf-call-ip6?tables) is disabled",
    ),
    make_row(
        MessageKind.BRIDGE_CALLS_DISABLED,
        "bridge-nf-call-ip",
        r"(?P<key>bridge-nf-call-ip6?tables) (?:does not exist|contents are not set to 1)|"
        r"/proc/sys/net/bridge/(?P<other>bridge-nf-call-ip6?tables): [Nn]o such file",
    ),
    make_row(
        MessageKind.PORT_TAKEN,
        "port is already allocated",
        r"(?:Bind for (?P<address>\S+):(?P<port>\d+) failed: )?port is already allocated",
    ),
    make_row(
        MessageKind.PORT_TAKEN,
        "ddress already in use",
        r"(?:listen (?:tcp|udp)[46]? |bind(?:ing)? to |bind\(\) to |listen on |bind on |"
        r"Bind )?(?P<address>\[?[\d.:a-fA-F]*\]?|\*):(?P<port>\d{1,5})"
        r"(?::? \(?bind\)?:| failed)?.{0,24}?[Aa]ddress already in use",
    ),
    make_row(
        MessageKind.PORT_PRIVILEGED,
        "ind: permission denied",
        r"listen (?:tcp|udp)[46]? (?P<address>\S*):(?P<port>\d+): bind: permission denied",
    ),
    make_row(
        MessageKind.PORT_PRIVILEGED,
        "cannot expose privileged port",
        r"cannot expose privileged port (?P<port>\d+)",
    ),
    make_row(
        MessageKind.PORT_PRIVILEGED,
        "(13: Permission denied)",
        r"bind\(\) to (?P<address>\S+):(?P<port>\d+) failed \(13: Permission denied\)",
    ),
    make_row(
        MessageKind.BIND_ADDRESS_ABSENT,
        "annot assign requested address",
        r"(?:listen (?:tcp|udp)[46]? |bind(?:\(\))? (?:to |on )?)(?P<address>\[?[\d.:a-fA-F]+\]?):"
        r"(?P<port>\d+).{0,30}?[Cc]annot assign requested address",
    ),
    make_row(
        MessageKind.SOURCE_PORTS_EXHAUSTED,
        "annot assign requested address",
        r"(?:dial tcp4? |connect(?:ing)?(?: to)? |connect\(\) to )(?P<dst>\d+\.\d+\.\d+\.\d+):"
        r"(?P<port>\d+).{0,40}?[Cc]annot assign requested address",
    ),
    make_row(
        MessageKind.SOURCE_PORTS_EXHAUSTED,
        "EADDRINUSE",
        r"bind\(\d+, \{.*?sin6?_port=htons\(0\).*?= -1 EADDRINUSE|connect\(.*?= -1 EADDRINUSE",
    ),
    make_row(
        MessageKind.SOURCE_PORTS_EXHAUSTED,
        "EADDRNOTAVAIL",
        r"connect\(.*?AF_INET,.*?= -1 EADDRNOTAVAIL|connect EADDRNOTAVAIL (?P<dst>[\d.]+):\d+",
    ),
    make_row(
        MessageKind.SOURCE_PORTS_EXHAUSTED,
        "while connecting to upstream",
        r"connect\(\) to \S+ failed \(99: Cannot assign requested address\)",
    ),
    make_row(
        MessageKind.FILES_EXHAUSTED,
        "oo many open files",
        r"(?:accept\S*|socket|dial (?:tcp|udp)|listen)\b.*?[Tt]oo many open files",
    ),
    make_row(
        MessageKind.FILES_EXHAUSTED,
        "worker_connections are not enough",
    ),
    make_row(
        MessageKind.CHAIN_OF_DOCKER_MISSING,
        "No chain/target/match by that name",
        r"(?:-A|-I|-D|-N|-C) (?P<chain>DOCKER\S*).*?No chain/target/match by that name",
    ),
    make_row(
        MessageKind.CHAIN_OF_DOCKER_MISSING,
        "DOCKER",
        r"(?:Chain|chain) '?(?P<chain>DOCKER\S*?)'? does not exist",
    ),
    make_row(
        MessageKind.ZONE_CONFLICT,
        "ZONE_CONFLICT",
        r"ZONE_CONFLICT: '?(?P<device>[\w.-]+)'? already bound to (?P<zone>\S+)",
    ),
    make_row(
        MessageKind.TUNNEL_DEVICE_FAILED,
        "error creating vxlan interface",
        r"error creating vxlan interface: (?P<error>file exists|operation not supported|[\w ]+)",
    ),
    make_row(
        MessageKind.TUNNEL_DEVICE_FAILED,
        "vxlan",
        r"[Ff]ailed to (?:create|ensure) vxlan(?: device| interface)?[^:]*: (?P<error>operation "
        r"not supported|file exists|[\w ]+)",
    ),
    make_row(
        MessageKind.DEVICE_TYPE_UNSUPPORTED,
        "operation not supported",
        r"(?:failed to add (?:the host|interface)|failed to create (?:the |a )?(?P<sort>bridge|"
        r"veth|macvlan|ipvlan|dummy|vxlan|ipip|wireguard)|"
        r"could not (?:add|create) (?P<other>bridge|veth|dummy|vxlan|interface)).*?operation not "
        r"supported",
    ),
    make_row(
        MessageKind.NAME_TAKEN,
        "Conflict. The container name",
        r"Conflict\. The container name [\\\"]*(?P<name>/[\w./-]+)",
    ),
    make_row(
        MessageKind.KUBELET_REFUSES,
        "running with swap on is not supported",
        r"(?P<error>running with swap on is not supported)",
    ),
    make_row(
        MessageKind.KUBELET_REFUSES,
        "Running with swap on is not supported",
        r"(?P<error>[Rr]unning with swap on is not supported)",
    ),
    make_row(
        MessageKind.KUBELET_REFUSES,
        "is different from docker cgroup driver",
        r"(?P<error>kubelet cgroup driver: \S+ is different from docker cgroup driver: \S+)",
    ),
    make_row(
        MessageKind.KUBELET_REFUSES,
        "kubelet",
        r"(?P<error>failed to load [Kk]ubelet config file|unable to load bootstrap kubeconfig|"
        r"failed to run Kubelet: (?:validate service connection|unable to determine runtime API "
        r"version|misconfiguration)[^\"]{0,80}|failed to validate kubelet flags|failed to parse "
        r"kubelet flag)",
    ),
    make_row(
        MessageKind.KUBELET_REFUSES,
        "failed to run Kubelet",
        r"failed to run Kubelet: (?P<error>[^\"]{3,120})",
    ),
    make_row(MessageKind.CGROUP_DRIVERS_DIFFER, "expected cgroupsPath to be of format"),
)
