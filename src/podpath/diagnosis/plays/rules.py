"""Questions about what drops or rewrites packets: rules, forwarding, reverse paths, connection
tracking.
"""

from __future__ import annotations

from podpath.diagnosis.clues import Clue, Contrast, ShownPart, TrafficKind
from podpath.diagnosis.holdings import AnsweringOutput
from podpath.diagnosis.plays.play import Play
from podpath.net.failures import FailureKind as Kind
from podpath.net.technologies import Technology as Tech

FILTERS: frozenset[Clue] = frozenset({
    Kind.REFUSED, Kind.NO_ROUTE_TO_HOST, Kind.NOT_PERMITTED, TrafficKind.POD_TO_HOST,
    ShownPart.RULES, Tech.FIREWALLD, Tech.UFW, Tech.NFTABLES, Tech.LXC, Tech.PODMAN, Tech.FILTERED,
})  # fmt: skip
"""Clues that point to filtering."""

PLAYS: tuple[Play, ...] = (
    Play(
        fact=(
            "the rules that the packet passes: policy and order of FORWARD and INPUT, REJECT "
            "rules, what wrote them"
        ),
        ask="iptables-save -c; nft list ruleset",
        decides=(
            "policy DROP of FORWARD and no ACCEPT before it: that drops it",
            "a REJECT with icmp-host-prohibited: `no route to host` is that rule",
            "counters that do not grow: the packet does not get that far",
        ),
        signs={
            Kind.NO_ROUTE_TO_HOST: 4,
            Kind.REFUSED: 2,
            Kind.TIMEOUT: 2,
            Kind.NOT_PERMITTED: 3,
            Kind.UNREACHABLE: 1,
            TrafficKind.TO_SERVICE: 2,
            TrafficKind.FROM_WORLD: 2,
            TrafficKind.POD_TO_HOST: 3,
            TrafficKind.TO_WORLD: 2,
            TrafficKind.POD_TO_POD: 1,
            Tech.DOCKER: 1,
            Tech.LXC: 3,
            Tech.PODMAN: 2,
            Tech.FIREWALLD: 3,
            Tech.UFW: 3,
            Tech.IPTABLES: 1,
            Tech.NFTABLES: 2,
            Tech.KUBE_PROXY: 2,
            Tech.OPENSTACK: 1,
            Tech.FILTERED: 1,
            ShownPart.RULES: 1,
        },
        needs=FILTERS,
        held=frozenset({AnsweringOutput.RULESET}),
        otherwise=1,
    ),
    Play(
        fact=(
            "what INPUT lets containers reach on the host itself (ports, port 53 of the resolver "
            "too), and the zone of their bridge"
        ),
        ask=(
            "iptables -S INPUT -v; firewall-cmd --list-all-zones; ufw status verbose; "
            "nft list ruleset"
        ),
        decides=(
            (
                "the bridge is in a zone that rejects, or no rule accepts its range: the host's "
                "firewall refuses it"
            ),
            "all accepted: look at who listens next (ss -tlnp)",
        ),
        signs={
            TrafficKind.POD_TO_HOST: 4,
            Kind.REFUSED: 1,
            Kind.NO_ROUTE_TO_HOST: 2,
            Kind.NAME_NOT_RESOLVED: 1,
            Tech.FIREWALLD: 4,
            Tech.UFW: 5,
            Tech.PODMAN: 4,
            Tech.NFTABLES: 1,
        },
        needs=frozenset({Tech.FIREWALLD, Tech.UFW, Tech.PODMAN, TrafficKind.POD_TO_HOST}),
    ),
    Play(
        fact=(
            "what the host does with connections to itself: OUTPUT, DNAT and masquerade of "
            "127.0.0.1 or its own address, route_localnet, the proxy that serves them"
        ),
        ask=(
            "iptables -S OUTPUT -v; iptables -t nat -S OUTPUT; iptables -t nat -S | grep -e "
            "127.0.0 -e addrtype; sysctl -a 2>/dev/null | grep route_localnet; "
            "kubectl -n kube-system get cm kube-proxy -o yaml | grep -e mode -e nodePortAddr"
        ),
        decides=(
            "an OUTPUT rule or policy that drops: only the host itself is cut off",
            "route_localnet=0: what 127.0.0.1 sends to a translated port is dropped as martian",
            "kube-proxy in mode ipvs or nftables: node ports are not served on 127.0.0.1",
            "none of these: look at the userland proxy and DNAT",
        ),
        signs={
            Tech.LOCALHOST: 3,
            Tech.NODE_PORT: 3,
            TrafficKind.SAME_NODE: 1,
            Kind.NOT_PERMITTED: 3,
            Tech.OWN_SERVICE: 2,
        },
        needs=frozenset({Tech.LOCALHOST, Kind.NOT_PERMITTED, Tech.OWN_SERVICE}),
        held=frozenset({AnsweringOutput.RULESET}),
    ),
    Play(
        fact=(
            "whether a service's or published port's DNAT exists, and to which address: chain "
            "DOCKER, KUBE-SERVICES, CNI-HOSTPORT"
        ),
        ask=(
            "iptables -t nat -S | grep -e '{address}' -e 'dport {port}'; docker ps --all; "
            "docker inspect NAME"
        ),
        decides=(
            "no DNAT: it was never written or was flushed (by a firewalld restart, say)",
            "DNAT to an address that no living container has: a stale rule",
            "DNAT is right: look beyond it",
        ),
        signs={
            Tech.NODE_PORT: 4,
            TrafficKind.FROM_WORLD: 2,
            Tech.DOCKER: 2,
            Tech.PODMAN: 1,
            Kind.NO_ROUTE_TO_HOST: 2,
            Kind.REFUSED: 2,
            Tech.RESTART: 1,
            TrafficKind.TO_SERVICE: 2,
            ShownPart.NAT: 3,
        },
        needs=frozenset(
            {Tech.NODE_PORT, TrafficKind.FROM_WORLD, Tech.DOCKER, Tech.PODMAN, ShownPart.NAT}
        ),
    ),
    Play(
        fact="which iptables writes the rules, and whether both backends hold some",
        ask="iptables --version; iptables-legacy-save; iptables-nft-save; nft list ruleset",
        decides=(
            (
                "rules in both, or kube-proxy and Docker on different ones: the other's rules "
                "decide unseen"
            ),
            "one alone: fine",
        ),
        signs={
            Tech.NODE_PORT: 2,
            Tech.KUBE_PROXY: 1,
            Tech.UPGRADE: 2,
            Tech.NFTABLES: 3,
            Tech.DOCKER: 1,
        },
        needs=frozenset({Tech.NODE_PORT, Tech.NFTABLES, Tech.KUBE_PROXY}),
    ),
    Play(
        fact="how many rules there are, and which are repeated many times",
        ask="iptables-save | sort | uniq -c | sort -rn | head; iptables -S | wc -l",
        decides=(
            "thousands of the same rule: each packet is compared with all of them",
            "few: look at the CPU's softirqs next",
        ),
        signs={Kind.SLOW: 5, Tech.THROUGHPUT: 1, Tech.IPTABLES: 2},
        needs=frozenset({Kind.SLOW}),
        held=frozenset({AnsweringOutput.RULESET}),
    ),
    Play(
        fact="whether the kernel forwards at all, for all devices and for the one in question",
        ask=(
            "sysctl net.ipv4.ip_forward net.ipv4.conf.all.forwarding net.ipv6.conf.all.forwarding; "
            "grep -r forward /etc/sysctl.conf /etc/sysctl.d /usr/lib/sysctl.d"
        ),
        decides=(
            "0: nothing is forwarded; a file of sysctl.d sets it back at boot",
            "1: look at FORWARD",
        ),
        signs={
            TrafficKind.TO_WORLD: 4,
            Tech.RESTART: 2,
            Kind.TIMEOUT: 1,
            TrafficKind.OTHER_NODE: 1,
            Tech.DOCKER: 1,
            TrafficKind.POD_TO_POD: 1,
            Tech.SWARM: 1,
            Tech.SECOND_INTERFACE: 1,
        },
        held=frozenset({AnsweringOutput.IP_FORWARD}),
        base=1,
    ),
    Play(
        fact=(
            "rp_filter of all and of the device that the packet comes in by, and whether the "
            "kernel calls its source martian"
        ),
        ask=(
            "sysctl -a 2>/dev/null | grep '\\.rp_filter\\|src_valid_mark\\|log_martians\\|"
            "accept_local'; nstat -az TcpExtIPReversePathFilter; nft list ruleset | grep -e "
            "rpfilter -e fib"
        ),
        decides=(
            "1 (strict) and the route back uses another device: that drops it",
            "the counter grows: the same",
            "0 or 2: it is something else",
        ),
        signs={
            Tech.SECOND_INTERFACE: 4,
            Tech.WIREGUARD: 3,
            Tech.OPENVPN: 2,
            Kind.TIMEOUT: 1,
            Tech.GRE: 3,
            Tech.VRF: 2,
            Tech.AWS_CNI: 3,
            Tech.CALICO: 1,
            Tech.IPV6: 1,
            Tech.IPVS: 2,
            Tech.TRAFFIC_POLICY_LOCAL: 2,
        },
        held=frozenset({AnsweringOutput.RP_FILTER}),
        base=1,
    ),
    Play(
        fact=(
            "an rpfilter or fib rule of the firewall for IPv6, and the policy rules that a mark "
            "chooses"
        ),
        ask=(
            "nft list ruleset | grep -B3 -A3 -e fib -e rpfilter; ip6tables-save -c -t raw; "
            "ip -6 rule; ip -6 route show table all; grep IPv6_rpfilter "
            "/etc/firewalld/firewalld.conf"
        ),
        decides=(
            "a `fib saddr . iif` or rpfilter rule whose counter grows: it drops the replies",
            "none: run tcpdump on the device next",
        ),
        signs={Tech.IPV6: 4, Tech.WIREGUARD: 4, Tech.FIREWALLD: 2, Tech.OPENVPN: 1},
        needs=frozenset({Tech.IPV6}),
    ),
    Play(
        fact=(
            "whether bridged packets pass iptables: br_netfilter and "
            "net.bridge.bridge-nf-call-iptables"
        ),
        ask="lsmod | grep br_netfilter; sysctl net.bridge.bridge-nf-call-iptables",
        decides=(
            "not loaded or 0: the reply of a pod on the same bridge is not translated back",
            "1: look at the rules themselves",
        ),
        signs={
            TrafficKind.SAME_NODE: 4,
            TrafficKind.TO_SERVICE: 2,
            TrafficKind.TO_NAME_SERVER: 2,
            Tech.OWN_SERVICE: 3,
            Tech.BRIDGE: 1,
            Tech.FLANNEL: 1,
            Tech.UPGRADE: 1,
            Contrast.SOME_WORK: 1,
            Kind.SOMETIMES: 1,
        },
        needs=frozenset(
            {
                TrafficKind.SAME_NODE,
                TrafficKind.TO_SERVICE,
                TrafficKind.TO_NAME_SERVER,
                Tech.OWN_SERVICE,
            }
        ),
        held=frozenset({AnsweringOutput.BRIDGE_NETFILTER}),
    ),
    Play(
        fact=(
            "hairpin: whether a bridge port sends a frame back where it came from, and the "
            "MASQUERADE for it"
        ),
        ask=(
            "bridge -d link | grep -B1 hairpin; cat /sys/class/net/*/brport/hairpin_mode; "
            "iptables -t nat -S POSTROUTING; tcpdump -nei any host {address}"
        ),
        decides=(
            "hairpin off: the packet to itself is never sent back",
            "on, and no MASQUERADE: the answer goes past the translation",
        ),
        signs={Tech.OWN_SERVICE: 6, Tech.BRIDGE: 1, TrafficKind.TO_SERVICE: 1},
        needs=frozenset({Tech.OWN_SERVICE}),
    ),
    Play(
        fact=(
            "how the source is translated: every MASQUERADE and SNAT rule of POSTROUTING, and what "
            "should be exempt"
        ),
        ask=(
            "iptables-save -t nat | grep -e POSTROUTING -e MASQUERADE -e SNAT; ip -4 addr; "
            "kubectl -n kube-system get cm ip-masq-agent -o yaml"
        ),
        decides=(
            "a MASQUERADE that covers the pods' own ranges: servers see the node's address",
            "none for what leaves the cluster: nobody outside can answer",
        ),
        signs={
            Kind.WRONG_PEER: 4,
            TrafficKind.TO_WORLD: 2,
            Tech.NETWORK_POLICY: 2,
            Tech.FLANNEL: 1,
            Tech.CILIUM: 1,
            Tech.SOURCE_LOST: 4,
            ShownPart.NAT: 2,
            Tech.OPENVPN: 1,
            Tech.SECOND_INTERFACE: 1,
        },
        needs=frozenset(
            {
                Kind.WRONG_PEER,
                TrafficKind.TO_WORLD,
                Tech.NETWORK_POLICY,
                Tech.SOURCE_LOST,
                ShownPart.NAT,
            }
        ),
        held=frozenset({AnsweringOutput.RULESET}),
    ),
    Play(
        fact="the conntrack entries of the connection: UNREPLIED, untranslated or stale ones",
        ask="conntrack -L -d {address}; conntrack -L | grep -c UNREPLIED",
        decides=(
            (
                "UNREPLIED and not translated to an endpoint: an entry older than the rule stays "
                "as it is (conntrack -D fixes it)"
            ),
            "translated to an address that no pod has: a stale entry",
            "none: the packet does not get here",
        ),
        signs={
            Tech.UDP: 3,
            Tech.RESTART: 2,
            Kind.SOMETIMES: 1,
            Tech.CONNTRACK: 2,
            TrafficKind.TO_SERVICE: 1,
            TrafficKind.TO_NAME_SERVER: 1,
            Kind.TIMEOUT: 1,
            Tech.KUBE_PROXY: 1,
            ShownPart.NAT: 2,
            ShownPart.CONNTRACK: 1,
        },
        held=frozenset({AnsweringOutput.CONNTRACK}),
        base=1,
    ),
    Play(
        fact=(
            "whether conntrack's table is full, races or drops: count, maximum, insert_failed, "
            "drop, invalid"
        ),
        ask=(
            "conntrack -C; sysctl net.netfilter.nf_conntrack_count net.netfilter.nf_conntrack_max; "
            "conntrack -S; dmesg | grep -i conntrack"
        ),
        decides=(
            "count near the maximum, or `table full` in dmesg: new connections are dropped",
            "insert_failed grows: parallel requests race (DNS above all)",
            "invalid grows: packets count as INVALID and are dropped or slip past NAT",
        ),
        signs={
            Kind.SOMETIMES: 4,
            Tech.LOAD: 3,
            Kind.RESET: 2,
            TrafficKind.TO_NAME_SERVER: 1,
            Tech.CONNTRACK: 3,
            Kind.NOT_PERMITTED: 2,
        },
        needs=frozenset(
            {Kind.SOMETIMES, Tech.LOAD, Kind.RESET, Tech.CONNTRACK, Kind.NOT_PERMITTED}
        ),
    ),
    Play(
        fact=(
            "whether resets follow packets that conntrack marks INVALID: "
            "nf_conntrack_tcp_be_liberal, and a capture of the RST on both sides"
        ),
        ask=(
            "sysctl net.netfilter.nf_conntrack_tcp_be_liberal; conntrack -S | grep invalid; "
            "tcpdump -ni any 'tcp[tcpflags] & tcp-rst != 0'"
        ),
        decides=(
            (
                "the host sends the RST to an untranslated packet: it was INVALID; "
                "a DROP of INVALID or be_liberal=1 fixes it"
            ),
            "the peer sends it: look there",
        ),
        signs={Kind.RESET: 4, Tech.LARGE: 2, TrafficKind.TO_WORLD: 1},
        needs=frozenset({Kind.RESET}),
    ),
    Play(
        fact="the NetworkPolicies that select either end, and how the plugin implemented them",
        ask=(
            "kubectl get networkpolicy -A -o yaml; ipset list | head -50; kubectl get pods -A -o "
            "wide --show-labels"
        ),
        decides=(
            (
                "one selects the server and does not admit the client (or its node, or the "
                "translated source): that drops it"
            ),
            (
                "it admits the client, whose address is in no ipset or identity: the plugin's "
                "agent lags or does not run"
            ),
        ),
        signs={Tech.NETWORK_POLICY: 6, Kind.TIMEOUT: 1, TrafficKind.POD_TO_POD: 1},
        needs=frozenset({Tech.NETWORK_POLICY, TrafficKind.POD_TO_POD, TrafficKind.TO_SERVICE}),
    ),
    Play(
        fact=(
            "errors of iptables, ipset or kube-proxy while they write rules, and what holds "
            "/run/xtables.lock"
        ),
        ask=(
            "kubectl -n kube-system logs -l k8s-app=kube-proxy --tail=100; iptables-save | wc -l; "
            "ls -l /run/xtables.lock; lsmod | grep -e ip_tables -e nf_tables"
        ),
        decides=(
            "a restore fails: the old rules are still in force",
            "the lock is a folder or is held: nothing is written",
        ),
        signs={
            Tech.KUBE_PROXY: 3,
            TrafficKind.TO_SERVICE: 2,
            TrafficKind.TO_NAME_SERVER: 1,
            Tech.IPTABLES: 1,
        },
        needs=frozenset({Tech.KUBE_PROXY, TrafficKind.TO_SERVICE}),
    ),
)
