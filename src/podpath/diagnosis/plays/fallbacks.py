"""Questions for what no room of the playbook covers: by the circumstances that people describe, and
by what they show.
"""

from __future__ import annotations

from podpath.diagnosis.clues import Contrast, ShownPart, TrafficKind
from podpath.diagnosis.plays.play import Play
from podpath.net.failures import FailureKind as Kind
from podpath.net.technologies import Technology as Tech

PLAYS: tuple[Play, ...] = (
    Play(
        fact=(
            "what adds and deletes policy rules and routes, and when: a daemon of the host, a "
            "plugin, a VPN's script"
        ),
        ask=(
            "ip monitor rule route address; ip -s rule; ip route show table all; "
            "journalctl --since '10 min ago' | grep -i -e route -e rule"
        ),
        decides=(
            (
                "it is deleted when a daemon reconfigures: keep that daemon off it "
                "(ManageForeignRoutingPolicyRules=no)"
            ),
            "nothing changes: the rule or table was never written",
        ),
        signs={
            Tech.VANISHES: 3,
            ShownPart.POLICY_RULES: 3,
            ShownPart.DISAGREEMENT: 1,
            Tech.NETWORK_MANAGER: 1,
            Tech.RESTART: 1,
        },
        needs=frozenset({ShownPart.POLICY_RULES, Tech.VANISHES}),
    ),
    Play(
        fact=(
            "IPv6 of the router and of the nodes: what sends router advertisements, what forwards, "
            "which neighbor answers"
        ),
        ask=(
            "ip -6 route show table all; rdisc6 {device}; tcpdump -nni {device} icmp6; "
            "sysctl net.ipv6.conf.{device}.accept_ra net.ipv6.conf.all.forwarding "
            "net.ipv6.conf.all.proxy_ndp; ip -6 neigh"
        ),
        decides=(
            "forwarding=1 and accept_ra below 2: the default route is lost when its lifetime ends",
            "nothing answers the neighbor solicitation: the prefix is not routed here (proxy_ndp)",
        ),
        signs={Tech.IPV6: 2, ShownPart.IPV6: 2, Kind.NETWORK_UNREACHABLE: 1, Tech.RESTART: 1},
        needs=frozenset({Tech.IPV6}),
    ),
    Play(
        fact=(
            "the link itself: carrier, speed, duplex, cable, switch port, and whether another "
            "cable or card changes it"
        ),
        ask=(
            "ethtool {device}; ip -s link show {device}; cat /sys/class/net/{device}/carrier; "
            "dmesg | grep -i -e 'link is' -e {device}; the switch port's counters, another cable, "
            "another port"
        ),
        decides=(
            "no carrier, or flaps: cable, port or card",
            "another speed or duplex than the link partner: autonegotiation on both sides",
            "errors grow: cable or switch in between; clean: look above the link layer",
        ),
        signs={
            Tech.CABLE: 6,
            Tech.HARDWARE: 2,
            Tech.THROUGHPUT: 1,
            Kind.SLOW: 1,
            Kind.UNREACHABLE: 1,
            Contrast.PING_FAILS: 2,
        },
        needs=frozenset({Tech.CABLE, Contrast.PING_FAILS}),
    ),
    Play(
        fact=(
            "the neighbors on the wire: what asks for the address, what answers, what switch, "
            "router or Wi-Fi isolation lets pass"
        ),
        ask=(
            "ip neigh (arp -n) on both sides; tcpdump -e -nni {device} arp on both sides; "
            "ping from a third machine"
        ),
        decides=(
            "the request leaves and does not arrive: the switch or router between isolates them",
            "it arrives, and no answer comes: address, mask or arp_ignore there",
            "answered: look above the link layer",
        ),
        signs={
            Contrast.PING_FAILS: 2,
            TrafficKind.HOST_TO_HOST: 3,
            Tech.ARP: 1,
            Tech.CABLE: 1,
            Kind.UNREACHABLE: 1,
        },
        needs=frozenset({TrafficKind.HOST_TO_HOST, Tech.CABLE}),
    ),
    Play(
        fact=(
            "what the program says last before it ends: its own log, its arguments and "
            "configuration, exit code"
        ),
        ask=(
            "kubectl logs {pod} --previous; kubectl describe pod {pod}; kubectl get pod {pod} -o "
            "yaml (args, env, annotations); journalctl -u UNIT -n 100"
        ),
        decides=(
            "it names an option, a file or an address: that is at fault, not the network",
            "it cannot reach something: that connection is in question",
            "OOMKilled, signal or illegal instruction: the machine or its limits",
        ),
        signs={
            Tech.CRASH_LOOP: 4,
            Kind.NOT_STARTED: 1,
            Tech.AFTER_DEPLOY: 2,
            Tech.LIMIT: 1,
            Tech.KUBERNETES: 0,
            Tech.WEBHOOK: 1,
        },
        needs=frozenset({Tech.CRASH_LOOP}),
    ),
    Play(
        fact=(
            "the kubelet and its runtime: version and cgroup driver of both, what they made, and "
            "what they log"
        ),
        ask=(
            "journalctl -u kubelet -u containerd -n 200; crictl ps -a; crictl pods; "
            "containerd config dump | grep -i SystemdCgroup; grep cgroupDriver "
            "/var/lib/kubelet/config.yaml; ls -l /var/lib/cni/results /var/lib/cni/networks"
        ),
        decides=(
            (
                "containers start and are stopped at once: the cgroup driver of kubelet and "
                "runtime differ"
            ),
            "an error of the plugin's DEL or of a cached result: what is left in /var/lib/cni",
            "no container at all: the runtime or its image",
        ),
        signs={Tech.NODE_RUNTIME: 3, Tech.KUBELET: 2, Kind.NOT_STARTED: 1, Tech.CRASH_LOOP: 1},
        needs=frozenset({Tech.NODE_RUNTIME}),
    ),
    Play(
        fact=(
            "which names fail and which do not, on each server by itself; its zones, forwarders "
            "and cache"
        ),
        ask=(
            "dig NAME @EACHSERVER; dig +tcp NAME @EACHSERVER; dig SOA ZONE; cat /etc/resolv.conf; "
            "cat /etc/nsswitch.conf; the server's zones and log (Corefile, named-checkzone, "
            "journalctl -u named -u dnsmasq -u systemd-resolved)"
        ),
        decides=(
            "one server answers, another does not: the forward to that one",
            "SERVFAIL of its own zone: the zone was not loaded, its log says why",
            "all answer: the program's own resolver or its cache",
        ),
        signs={
            Kind.NAME_NOT_RESOLVED: 3,
            Tech.EXTERNAL_NAME: 2,
            Tech.DNS: 0,
            Tech.UPGRADE: 1,
            Contrast.SOME_WORK: 1,
        },
        needs=frozenset({Kind.NAME_NOT_RESOLVED}),
    ),
    Play(
        fact=(
            "parallel lookups from one socket, whose answers race: five seconds is the resolver's "
            "own timeout"
        ),
        ask=(
            "conntrack -S | grep insert_failed; tcpdump -nni any port 53; cat /etc/resolv.conf "
            "(single-request-reopen, ndots); kubectl -n kube-system get ds nodelocaldns"
        ),
        decides=(
            (
                "insert_failed grows with the delays: the race; a node-local cache or "
                "single-request-reopen avoids it"
            ),
            "an answer that never comes: the server, or the path to it",
        ),
        signs={
            Tech.DNS: 2,
            Kind.SOMETIMES: 2,
            Kind.NAME_NOT_RESOLVED: 2,
            TrafficKind.TO_NAME_SERVER: 1,
            Kind.SLOW: 2,
        },
        needs=frozenset({Kind.NAME_NOT_RESOLVED, TrafficKind.TO_NAME_SERVER, Kind.SLOW}),
    ),
    Play(
        fact=(
            "what a script really runs: each command with its arguments, and invisible characters "
            "in its lines"
        ),
        ask=(
            "sh -x SCRIPT; cat -A SCRIPT | head (carriage returns end in ^M$: dos2unix); "
            "file SCRIPT; env in cron or boot"
        ),
        decides=(
            "a name with ^M, or an empty variable: the command is not the one that works by hand",
            "the same: when it runs (too early), and as which user",
        ),
        signs={Tech.SCRIPT: 3, Contrast.SOME_WORK: 1, Tech.RESTART: 1},
        needs=frozenset({Tech.SCRIPT}),
    ),
    Play(
        fact="the same outputs from a node where it works: look at what differs",
        ask=(
            "ip addr; ip rule; ip route show table all; sysctl -a; iptables-save (of both nodes: "
            "podpath diff BAD GOOD)"
        ),
        decides=(
            "an address, route, rule or sysctl that only one of them has: that is it",
            "nothing: look at the network between the nodes",
        ),
        signs={ShownPart.DISAGREEMENT: 2, Contrast.SOME_WORK: 1},
        needs=frozenset({ShownPart.DISAGREEMENT, Contrast.SOME_WORK}),
    ),
)
