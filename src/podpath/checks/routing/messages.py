"""Faults of routes and addresses that a message of a program or the kernel tells by itself."""

from __future__ import annotations

from podpath.checks.category import Category
from podpath.checks.finding import FollowUp
from podpath.checks.message_check import ASIDE, MessageCheck, Value
from podpath.net.messages import MessageKind as Kind

ROWS: tuple[MessageCheck, ...] = (
    MessageCheck(
        name="address-pools-overlap",
        title="a network is not created, since its range overlaps one that is in use.",
        kinds=(Kind.POOLS_OVERLAP, Kind.ROUTE_CONFLICT),
        categories=(Category.OVERLAPPING_RANGES,),
        claim=(
            "A network cannot be created: every range that it could have overlaps a route or "
            "another network of the host."
        ),
        breaks="the containers of that network: they do not start",
        cure="take a range that no route and no network covers",
        commands=("docker network create --subnet 10.213.0.0/24 NAME",),
        what="Docker, Podman, libvirt, Weave or Calico refuses a range: a network, a route of the "
        "host (a VPN's especially) or another pool covers part of it.",
        why="The default pools are a few private ranges; a VPN that pushes routes for 10.0.0.0/8, "
        "172.16.0.0/12 or 192.168.0.0/16, or many networks that were never removed, use them up. "
        "Without the network its containers do not start.",
        confirm=(
            "ip route; docker network ls; docker network inspect $(docker network ls -q) | grep "
            "Subnet"
        ),
        fix="Remove networks that nobody uses (docker network prune), give the network a range "
        "that is free (--subnet), or set default-address-pools in /etc/docker/daemon.json. With a "
        "VPN: keep its routes out of one private range.",
        references="libnetwork, ipamutils and netutils.CheckRouteOverlaps; Weave Net, Allocating "
        "IP Addresses; podman-network- create(1)",
    ),
    MessageCheck(
        name="bgp-not-established",
        title="a BGP session between nodes is down.",
        kinds=(Kind.BGP_NOT_ESTABLISHED,),
        categories=(Category.ROUTE_DISTRIBUTION, Category.TUNNEL_ENDPOINT),
        claim=(
            "The BGP session{peer} is not established, so routes to pods of other nodes are "
            "missing."
        ),
        values=(Value("peer", frame=ASIDE),),
        breaks="pods of the peers",
        cure="open TCP 179 between nodes, or set the right address of the node",
        commands=("calicoctl node status",),
        certainty=0.6,
        ask=FollowUp(
            fact="why the BGP session is down",
            command="calicoctl node status; nc -zv PEER 179; calicoctl get nodes -o wide",
            decides="refused or timeout: TCP 179 is blocked or BIRD does not run there; an address "
            "that is not the node's: autodetection took the wrong one",
        ),
        what=(
            "BIRD, kube-router, MetalLB or Cilium says that its session with a peer is not "
            "established."
        ),
        why="Routes to the peer's pods are missing. TCP 179 is blocked between the nodes, the node "
        "announces a wrong address of its own (a bridge's or a VPN's, picked by autodetection), or "
        "AS number or password differ.",
        confirm=(
            "calicoctl node status; nc -zv PEER 179; kubectl get nodes -o wide; "
            "calicoctl get node -o wide"
        ),
        fix="Open TCP 179 between nodes; set IP_AUTODETECTION_METHOD (interface=, can-reach=, "
        "kubernetes-internal-ip) where an address is wrong.",
        references="Calico, Troubleshooting: BGP; RFC 4271 section 8",
    ),
    MessageCheck(
        name="reverse-path-loose",
        title="Calico's agent refuses to run with loose reverse path filtering.",
        kinds=(Kind.REVERSE_PATH_LOOSE,),
        categories=(Category.REVERSE_PATH_FILTER, Category.SYSCTL, Category.CNI_AGENT),
        claim="Felix refuses to run, since net.ipv4.conf.all.rp_filter is 2 (loose).",
        breaks="policy and routes of the node's pods",
        cure="set rp_filter to 1, or let Felix ignore it",
        commands=("sysctl -w net.ipv4.conf.all.rp_filter=1",),
        what="Felix reads net.ipv4.conf.all.rp_filter and exits where it is 2.",
        why="With loose filtering a pod could forge addresses; so Felix does not start, and the "
        "node's pods get no policy or routes. systemd sets 2 by default.",
        confirm="sysctl net.ipv4.conf.all.rp_filter; systemctl status systemd-sysctl",
        fix=(
            "sysctl -w net.ipv4.conf.all.rp_filter=1 (in /etc/sysctl.d), or "
            "FELIX_IGNORELOOSERPF=true."
        ),
        references="Calico, Felix configuration, IgnoreLooseRPF",
    ),
    MessageCheck(
        name="route-not-set",
        title="the host cannot set a route or address that it is configured to have.",
        kinds=(Kind.ROUTE_NOT_INSTALLED,),
        categories=(Category.NO_ROUTE, Category.NETWORK_MANAGER),
        claim="systemd-networkd cannot set the {what} of {device}: {error}.",
        values=(
            Value("what", default="route"),
            Value("device", default="a device"),
            Value("error", default="it was refused"),
        ),
        needs=("what", ""),
        breaks="what should go by it",
        cure=(
            "correct the gateway or address: GatewayOnLink=yes where the gateway is in no network "
            "of the device"
        ),
        what="`Could not set route: Nexthop has invalid gateway`.",
        why=(
            "The kernel refuses a route whose gateway no network of the device covers, or which is "
            "there already."
        ),
        confirm="networkctl status DEV; ip addr; ip route",
        fix="Correct Gateway= or Address=, or set GatewayOnLink=yes (netplan: on-link: true).",
        references="systemd.network(5), [Route]",
    ),
    MessageCheck(
        name="route-not-installed",
        title="a routing daemon cannot install its routes.",
        kinds=(Kind.ROUTE_NOT_INSTALLED,),
        categories=(Category.ROUTE_DISTRIBUTION, Category.NO_ROUTE),
        claim="A routing daemon cannot install a route{route}.",
        values=(Value("route", names=("route", "error"), frame=ASIDE),),
        breaks="what should go by it",
        cure="make the next hop reachable, or remove what stands in its place",
        certainty=0.6,
        ask=FollowUp(
            fact="which route is missing in the kernel",
            command='ip route show; birdc show route; vtysh -c "show ip route"',
            decides="one that should be there: it is the cause",
        ),
        what="FRR or BIRD reports that the kernel refused a route.",
        why="The next hop is on no link, or a route of another program stands there.",
        confirm='ip route; ip route get NEXTHOP; vtysh -c "show ip route"; birdc show route',
        fix="Give the next hop a link (onlink), or remove the other route.",
        references="zebra(8); bird.network.cz",
    ),
    MessageCheck(
        name="transmit-loop",
        title="a tunnel sends its own packets into itself.",
        kinds=(Kind.TRANSMIT_LOOP,),
        categories=(Category.ROUTING_LOOP, Category.TUNNEL_CONFIGURATION, Category.WRONG_ROUTE),
        claim=(
            "Packets of {device} go into the same device again: the route to its far end leads "
            "through itself."
        ),
        values=(Value("device", default="a tunnel"),),
        breaks="everything through that device",
        cure="route the far end of the tunnel by the uplink",
        what=(
            "`Dead loop on virtual device`, `routing loop detected`, `recursion limit reached on "
            "datapath`."
        ),
        why=(
            "The packets of a tunnel are routed like any other; where the route to the far end is "
            "the tunnel, each is wrapped again until the kernel drops it."
        ),
        confirm="ip route get FAR_END; ip -d link show DEV",
        fix=(
            "ip route add FAR_END via GATEWAY dev UPLINK; no default route through the tunnel "
            "without it."
        ),
        references="net/core/dev.c, __dev_queue_xmit; net/ipv4/ip_tunnel.c",
    ),
    MessageCheck(
        name="ospf-mtu",
        title="two routers of OSPF have different MTUs, and exchange no routes.",
        kinds=(Kind.ROUTING_MTU_MISMATCH,),
        categories=(Category.ROUTE_DISTRIBUTION, Category.MTU),
        claim="The OSPF neighbor {peer} has another MTU, so the two exchange no routes.",
        values=(Value("peer", default="in question"),),
        breaks="all routes of that neighbor",
        cure="give both ends the same MTU",
        what="`MTU ... is larger than`, `MTU mismatch`.",
        why=(
            "A router drops the description of the database of a neighbor with a larger MTU: they "
            "stay in ExStart."
        ),
        confirm='ip link; vtysh -c "show ip ospf neighbor"',
        fix="Set the same MTU on both, or ip ospf mtu-ignore.",
        references="RFC 2328, 10.6",
    ),
    MessageCheck(
        name="prefix-limit",
        title="a peer announced more routes than it may.",
        kinds=(Kind.PREFIX_LIMIT,),
        categories=(Category.ROUTE_DISTRIBUTION,),
        claim="The peer {peer} announced more routes than it may, so its session is closed.",
        values=(Value("peer", default="in question"),),
        breaks="all routes of that peer",
        cure="raise the limit, or announce fewer routes",
        what="`%MAXPFX`, `Route limit exceeded`.",
        why="A limit of prefixes protects the router; what exceeds it ends the session.",
        confirm='vtysh -c "show bgp summary"; birdc show protocols all',
        fix="neighbor PEER maximum-prefix N; import limit N; aggregate the routes.",
        references="RFC 4486; docs.frrouting.org, BGP",
    ),
    MessageCheck(
        name="router-in-fault",
        title="keepalived is in the state FAULT.",
        kinds=(Kind.ROUTER_IN_FAULT,),
        categories=(Category.LINK_DOWN, Category.LOAD_BALANCER),
        claim="The VRRP instance {instance} is in the state FAULT{error}.",
        values=(Value("instance", default="in question"), Value("error", frame=ASIDE)),
        breaks="the virtual address, where no other router holds it",
        cure="fix what the state names",
        certainty=0.7,
        ask=FollowUp(
            fact="who holds the virtual address now",
            command="ip addr; journalctl -u keepalived",
            decides="nobody: it is the cause",
        ),
        what="`entering FAULT state`.",
        why=(
            "The device, the script or the address that the instance tracks failed; "
            "it gives its addresses up."
        ),
        confirm="journalctl -u keepalived; ip addr",
        fix="Fix what the line names.",
        references="keepalived.conf(5)",
    ),
    MessageCheck(
        name="bgp-switched-off",
        title="BGP is switched off in the agents that are to announce by it.",
        kinds=(Kind.BGP_SWITCHED_OFF,),
        categories=(Category.ROUTE_DISTRIBUTION, Category.LOAD_BALANCER),
        claim="Cilium's agents run without their BGP control plane, so they announce nothing.",
        breaks="addresses of load balancers and pods that routers are to learn",
        cure="enable it, and restart operator and agents so that they take the configuration",
        commands=("kubectl -n kube-system get cm cilium-config -o yaml | grep bgp",),
        what="`cilium bgp peers` answers `BGP Control Plane is disabled`.",
        why="Policies of BGP are only objects until an agent with bgpControlPlane.enabled reads "
        "them. Operator and agents read their configuration when they start: those from before "
        "a change still run with the old one.",
        confirm=(
            "cilium bgp peers; cilium config view | grep bgp; kubectl -n kube-system get pods -l "
            "k8s-app=cilium"
        ),
        fix="helm upgrade ... --set bgpControlPlane.enabled=true; kubectl -n kube-system rollout "
        "restart ds/cilium deploy/cilium-operator",
        references="Cilium, BGP Control Plane",
    ),
)
