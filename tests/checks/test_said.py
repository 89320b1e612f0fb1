"""What components say convicts alone: for each check the line that does, lines that almost do, and none where nobody says it."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from podpath.assembly.case import assemble_case
from podpath.checks.finding import Finding
from podpath.checks.registry import CHECKS, run_checks
from podpath.checks.said import QUOTED, Meaning, find_said, get_value, tell
from podpath.evidence.recognition import read
from podpath.net.messages import Message, MessageKind
from podpath.net.provenance import Source
from podpath.node.case import Case
from tests.checks.nodes import netns, node, span

SURE = (
    ("bridge-address-stale", 'failed to set bridge addr: "cni0" already has an IP address different from 10.244.2.1/24'),
    ("bridge-address-stale", r'err="failed to set bridge addr: \"cni0\" already has an IP address different from 10.1.2.1/24"'),
    ("tun-device-missing", "failed to open TUN device: open /dev/net/tun: no such file or directory"),
    ("tun-device-missing", "ERROR: Cannot open TUN/TAP dev /dev/net/tun: No such file or directory (errno=2)"),
    (
        "address-pools-overlap",
        "ERROR: could not find an available, non-overlapping IPv4 address pool among the defaults to assign",
    ),
    ("address-pools-overlap", "Error response from daemon: Pool overlaps with other one on this address space"),
    ("address-pools-overlap", "Network 10.32.0.0/12 overlaps with existing route 10.0.0.0/8 on host"),
    ("device-hangs", "kernel: e1000e 0000:00:1f.6 eno1: Detected Hardware Unit Hang:"),
    ("device-hangs", "NETDEV WATCHDOG: eth0 (r8169): transmit queue 0 timed out"),
    ("conntrack-full", "[ 99.120] nf_conntrack: table full, dropping packet"),
    ("ip-forward", "WARNING: IPv4 forwarding is disabled. Networking will not work."),
    ("address-conflict", "dhclient[11]: DHCPDECLINE of 10.0.0.226 on enp0s3 to 255.255.255.255 port 67"),
    ("address-conflict", "Calico node 'w1' is already using the IPv4 address 192.168.1.5."),
    ("vrrp-conflict", "Keepalived_vrrp[9]: ip address associated with VRID 51 not present in received packet : 10.0.0.9"),
    ("cni-plugin-missing", 'failed to find plugin "flannel" in path [/opt/cni/bin]'),
    ("cni-configuration-invalid", "error parsing configuration list: invalid character '}' looking for beginning of object key"),
    ("addresses-exhausted", "failed to allocate for range 0: no IP addresses available in range set: 10.1.0.1-10.1.0.254"),
    ("addresses-exhausted", "add cmd: failed to assign an IP address to container"),
    ("addresses-exhausted", "dhcpd: DHCPDISCOVER from 02:00:00:00:00:01 via eth1: network 10.0.0.0/24: no free leases"),
    ("address-allocated-twice", "10.1.0.9 has been allocated to abc123, duplicate allocation is not allowed"),
    ("pod-range-missing", 'Error registering network: failed to acquire lease: node "w1" pod cidr not assigned'),
    ("agent-interface-missing", "Failed to find any valid interface to use: failed to get default interface"),
    ("agent-forbidden", 'nodes is forbidden: User "system:serviceaccount:kube-flannel:flannel" cannot list resource "nodes"'),
    ("agent-forbidden", "error getting ClusterInformation: connection is unauthorized: Unauthorized"),
    ("kernel-support-missing", "modprobe: FATAL: Module ip_vs not found in directory /lib/modules/5.4.0-1"),
    ("kernel-support-missing", "iptables v1.8.7 (legacy): can't initialize iptables table `nat': Table does not exist"),
    ("docker-chains-missing", "iptables --wait -t nat -A DOCKER -p tcp -d 0/0: iptables: No chain/target/match by that name."),
    ("port-taken", "Bind for 0.0.0.0:8080 failed: port is already allocated"),
    ("port-taken", "listen tcp 0.0.0.0:10256: bind: address already in use"),
    ("bind-refused", "listen tcp 10.9.9.9:80: bind: cannot assign requested address"),
    ("source-ports-exhausted", "dial tcp 10.9.9.9:443: connect: cannot assign requested address"),
    ("source-ports-exhausted", "accept4() failed (24: Too many open files)"),
    ("resolver-loop", "[FATAL] plugin/loop: Loop (127.0.0.1:5101 -> :53) detected for zone ."),
    ("resolver-loopback", "lookup example.org on [::1]:53: read udp [::1]:4->[::1]:53: read: connection refused"),
    ("secret-not-supplied", '503 UF,URX "-" "TLS error: Secret is not supplied by SDS" 0 91'),
    ("peer-without-tls", "TLS error: 268435703:SSL routines:OPENSSL_internal:WRONG_VERSION_NUMBER"),
    ("certificate-refused", "x509: certificate has expired or is not yet valid: current time is later"),
    ("upstream-protocol-error", '"GET /x HTTP/1.1" 502 UPE upstream_reset_before_response_started{protocol_error} - "-" 0'),
    ("mesh-denies", '"GET / HTTP/1.1" 403 - rbac_access_denied_matched_policy[none] - "-"'),
    ("datapath-action-refused", "openvswitch: netlink: Flow actions may not be safe on all matching packets."),
    ("cilium-denies", "xx drop (Policy denied) flow 0x1 to endpoint 9, identity 6->12: 10.0.0.9:5 -> 10.0.1.7:80 tcp SYN"),
    ("cilium-backend-missing", "10.15.1.8:443/TCP (0)         0.0.0.0:0 (14) (0) [LoadBalancer]"),
    ("kubelet-refuses", 'E1 run.go:74] "command failed" err="failed to run Kubelet: running with swap on is not supported"'),
    ("container-name-taken", 'Conflict. The container name "/k8s_kube-apiserver_0" is already in use by container'),
    ("parent-device", 'failed to lookup master "eth9": Link not found'),
    ("proxy-sysctl-denied", 'err="open /proc/sys/net/netfilter/nf_conntrack_max: permission denied"'),
    ("balancer-without-address", 'Failed to allocate IP for "default/web": no available IPs'),
    ("checksum-fails", "eth0: hw csum failure"),
    ("bond-broken", "bond0: now running without any active interface!"),
    ("device-held", "unregister_netdevice: waiting for lo to become free. Usage count = 1"),
    ("tunnel-keys", "wireguard: wg0: Packet has unallowed src IP (10.9.0.7) from peer 3 (192.0.2.7:51820)"),
    ("container-device", "error creating vxlan interface: file exists"),
    ("zone-conflict", "ZONE_CONFLICT: 'docker0' already bound to a zone"),
    ("reverse-path-loose", "Kernel's RPF check is set to 'loose'.  This would allow endpoints to spoof their IP address."),
    ("selinux-denies", 'avc:  denied  { name_connect } for  pid=9 comm="nginx" dest=8080 tclass=tcp_socket permissive=0'),
    ("cloud-call-denied", "is not authorized to perform: ec2:AssignPrivateIpAddresses on resource"),
    ("logged-drop", "[UFW BLOCK] IN=docker0 OUT= MAC=02 SRC=172.17.0.2 DST=10.0.0.5 LEN=60 PROTO=TCP SPT=4 DPT=5432"),
    ("rpfilter-rule", "rpfilter_DROP: IN=wlan0 OUT= MAC=02 SRC=10.0.0.2 DST=10.0.0.5 LEN=60 PROTO=UDP SPT=51820 DPT=4"),
)
"""Lines that name the cause themselves."""
POSSIBLE = (
    ("agent-not-running", "open /run/flannel/subnet.env: no such file or directory"),
    ("agent-not-running", "dial unix /var/run/cilium/cilium.sock: connect: no such file or directory"),
    ("cni-not-ready", "Network plugin returns error: cni plugin not initialized"),
    ("bgp-not-established", "calico/node is not ready: BIRD is not ready: BGP not established with 10.0.0.7"),
    ("ruleset-not-written", "Another app is currently holding the xtables lock; waiting (1s) for it to exit..."),
    ("upstream-silent", "[ERROR] plugin/errors: 2 a.org. A: read udp 10.1.0.5:40->10.9.0.2:53: i/o timeout"),
    ("resolv-conf-limit", "Nameserver limits were exceeded, some nameservers have been omitted"),
    ("proxy-upstream-fails", '"- - -" 0 UF,URX "-" "-" 0 0 1001 - "-" "-" "-" "-" "10.1.1.24:6379"'),
    ("handshake-unanswered", "wireguard: wg0: Handshake for peer 2 (192.0.2.1:51820) did not complete after 5 seconds"),
    ("program-killed", "Memory cgroup out of memory: Killed process 77 (coredns) total-vm:1"),
    ("listener-overrun", "TCP: request_sock_TCP: Possible SYN flooding on port 80. Sending cookies."),
    ("lease-not-offered", "No DHCPOFFERS received."),
    ("martian-source", "IPv4: martian source 10.2.0.9 from 10.1.0.7, on dev eth1"),
    ("own-address-received", "br0: received packet on eth0 with own address as source address (addr:02:aa:bb:cc:dd:ee, vlan:0)"),
    ("bridge-calls-disabled", "WARNING: bridge-nf-call-iptables is disabled"),
)
"""Lines that name a cause which may have to do with the failure or not."""
HARMLESS = (
    "dial tcp 10.96.0.1:443: i/o timeout",
    "dial tcp 10.96.0.1:443: connect: connection refused",
    "[UFW AUDIT] IN=docker0 OUT= MAC=02 SRC=172.17.0.2 DST=10.0.0.5 LEN=60 PROTO=TCP SPT=4 DPT=5432",
    "[UFW BLOCK] IN=eth0 OUT= MAC=02 SRC=8.8.4.4 DST=10.0.0.5 LEN=60 PROTO=TCP SPT=4 DPT=23",
    "[UFW BLOCK] IN=docker0 OUT= MAC=02 SRC=172.17.0.2 DST=224.0.0.1 LEN=32 PROTO=2",
    "IPv4: martian source 10.2.0.9 from 127.0.0.1, on dev eth1",
    "cni0: received packet on veth12 with own address as source address (addr:02:aa:bb:cc:dd:ee, vlan:0)",
    '"GET /healthz HTTP/1.1" 200 - via_upstream - "-" 0 15 1 0 "-" "curl" "9" "web" "10.1.1.24:80"',
    "lookup web.shop on 10.96.0.10:53: no such host",
    "Started Session 9 of user root.",
    "cni0 already has an IP address",
    "the certificate of the server was renewed",
)  # fmt: skip
"""Lines that say nothing of a cause, however much they look like those that do."""


def diagnose(lines: Iterable[str]) -> list[Finding]:
    """Run all checks on a case made of these lines alone."""
    source = Source(name="ticket.md", lines=tuple(lines))
    reading = read(source)
    return [] if reading is None else list(run_checks(assemble_case([(source, reading)])))


@pytest.mark.parametrize(("name", "line"), SURE)
def test_a_line_that_names_its_cause_convicts_alone(name: str, line: str) -> None:
    """The first finding is the check's, certain, and quotes the line."""
    found = diagnose(["some words", line])
    assert found, line
    assert (found[0].check, found[0].certainty, found[0].severity) == (name, 1.0, "fault")
    assert found[0].evidence[0].text == line


@pytest.mark.parametrize(("name", "line"), POSSIBLE)
def test_a_line_that_leaves_it_open_asks(name: str, line: str) -> None:
    """The finding is not certain, and asks for what would make it so."""
    named = [finding for finding in diagnose([line]) if finding.check == name]
    assert [finding.certainty < 1 for finding in named] == [True]
    assert named[0].asks or name == "listener-overrun"
    assert all(finding.certainty < 1 for finding in diagnose([line]))


@pytest.mark.parametrize("line", HARMLESS)
def test_a_line_that_only_looks_like_it_is_no_cause(line: str) -> None:
    """What repeats the symptom, or is somebody else's, makes no finding."""
    assert diagnose([line]) == []


def test_every_check_on_messages_has_a_line_here() -> None:
    """No check of what is said stands untested."""
    tested = {name for name, _ in (*SURE, *POSSIBLE)}
    modules = {
        check.name for check in CHECKS if check.run is not None and "checks.said" in str(check.run.__globals__.get("tell"))
    }
    assert modules - tested <= {"cni-leftover"}


def test_a_leftover_configuration_is_told_by_the_agents_that_run() -> None:
    """The runtime calls Cilium's plugin, and the pods that run are Weave's."""
    line = 'plugin type="cilium-cni" name="cilium" failed (add): unable to connect to Cilium daemon'
    pods = Source(
        name="ticket.md",
        command="kubectl get pods -A",
        lines=(
            "NAMESPACE     NAME              READY   STATUS    RESTARTS   AGE",
            "kube-system   weave-net-hhl6k   2/2     Running   0          5m",
        ),
    )
    said = Source(name="ticket.md", lines=(line,), first_line=10)
    readings = [(source, reading) for source in (pods, said) if (reading := read(source)) is not None]
    found = list(run_checks(assemble_case(readings)))
    assert [(one.check, one.certainty) for one in found][:1] == [("cni-leftover", 1.0)]


def test_what_is_said_often_is_quoted_a_few_times() -> None:
    """The finding counts all and quotes the first ones."""
    said = tuple(Message(MessageKind.DEVICE_HELD, {"device": f"lo{n}"}, span("lo", n), 3) for n in range(1, 9))
    case = Case(node=node(netns()), messages=said)
    found = tell("x", find_said(case, MessageKind.DEVICE_HELD), Meaning("c", "b", "d"))
    assert (len(found.evidence), found.reasoning) == (QUOTED, ("It was said 24 times.",))
    assert get_value(said, "name", "device", default="?") == "lo1"
    assert get_value(said, "name", default="?") == "?"
