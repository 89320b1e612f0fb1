"""Faults of routes and addresses that a message of a program or the kernel tells by itself."""

from __future__ import annotations

from podpath.checks.category import Category
from podpath.checks.finding import Ask
from podpath.checks.message_check import ASIDE, MessageCheck, Value
from podpath.net.messages import MessageKind as Kind

ROWS: tuple[MessageCheck, ...] = (
    MessageCheck(
        name="address-pools-overlap",
        title="a network is not created, since its range overlaps one that is in use.",
        kinds=(Kind.POOLS_OVERLAP, Kind.ROUTE_CONFLICT),
        categories=(Category.OVERLAPPING_RANGES,),
        claim="A network cannot be created: every range that it could have overlaps a route or another network of the host.",
        breaks="the containers of that network: they do not start",
        cure="take a range that no route and no network covers",
        commands=("docker network create --subnet 10.213.0.0/24 NAME",),
        what="Docker, Podman, libvirt, Weave or Calico refuses a range: a network, a route of the "
        "host (a VPN's above all) or another pool covers part of it.",
        why="The default pools are a few private ranges; a VPN that pushes routes for 10.0.0.0/8, "
        "172.16.0.0/12 or 192.168.0.0/16, or many networks that were never removed, use them up. "
        "Without the network its containers do not start.",
        confirm="ip route; docker network ls; docker network inspect $(docker network ls -q) | grep Subnet",
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
        claim="The BGP session{peer} is not established, so routes to pods of other nodes are missing.",
        values=(Value("peer", frame=ASIDE),),
        breaks="pods of the peers",
        cure="open TCP 179 between nodes, or set the right address of the node",
        commands=("calicoctl node status",),
        certainty=0.6,
        ask=Ask(
            fact="why the BGP session is down",
            command="calicoctl node status; nc -zv PEER 179; calicoctl get nodes -o wide",
            decides="refused or timeout: TCP 179 is blocked or BIRD does not run there; an address "
            "that is not the node's: autodetection took the wrong one",
        ),
        what="BIRD, kube-router, MetalLB or Cilium says that its session with a peer is not established.",
        why="Routes to the peer's pods are missing. TCP 179 is blocked between the nodes, the node "
        "announces a wrong address of its own (a bridge's or a VPN's, picked by autodetection), or "
        "AS number or password differ.",
        confirm="calicoctl node status; nc -zv PEER 179; kubectl get nodes -o wide; calicoctl get node -o wide",
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
        what="Felix reads net.ipv4.conf.all.rp_filter and ends where it is 2.",
        why="With loose filtering a pod could forge addresses; so Felix does not start, and the "
        "node's pods get no policy or routes. systemd sets 2 by default.",
        confirm="sysctl net.ipv4.conf.all.rp_filter; systemctl status systemd-sysctl",
        fix="sysctl -w net.ipv4.conf.all.rp_filter=1 (in /etc/sysctl.d), or FELIX_IGNORELOOSERPF=true.",
        references="Calico, Felix configuration, IgnoreLooseRPF",
    ),
)
