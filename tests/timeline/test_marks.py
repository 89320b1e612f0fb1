"""What events mean to the network."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.timeline.event import LogEvent
from podpath.timeline.mark_kinds import MarkKind
from podpath.timeline.marks import WEIGHTS, Mark, mark_event, weigh_mark
from tests.timeline.samples import event


@pytest.mark.parametrize(
    ("program", "message", "expected"),
    [
        ("systemd", "Stopping Dynamic System Tuning Daemon...", ("sysctl", "tuned", "stopped")),
        ("systemd", (
            "Started tuned.service - Dynamic System Tuning "
            "Daemon."
        ), ("sysctl", "tuned", "started")),
        ("systemd", (
            "Finished systemd-sysctl.service - Apply Kernel "
            "Variables."
        ), ("sysctl", "systemd-sysctl", "started")),
        ("systemd", (
            "Reloading firewalld - dynamic firewall "
            "daemon."
        ), ("firewall", "firewalld", "reloaded")),
        ("systemd", (
            "docker.service: Main process exited, code=exited, "
            "status=1"
        ), ("runtime", "docker", "failed")),
        ("systemd", "Started Network Manager.", ("network", "NetworkManager", "started")),
        ("systemd", "Started My Own Service.", ("service", "My Own Service", "started")),
        ("systemd", (
            "Started kubelet: The Kubernetes Node "
            "Agent."
        ), ("runtime", "kubelet", "started")),
        ("audit", (
            "SERVICE_STOP pid=1 uid=0 msg='unit=polkit "
            "comm=systemd'"
        ), ("service", "polkit", "stopped")),
        ("audit", 'EXECVE argc=3 a0="sysctl" a1="--system"', ("sysctl", "sysctl", "ran")),
        ("yum", "Updated: polkit-0.112-26.el7_9.1.x86_64", ("package", "polkit", "upgraded")),
        ("yum", "Erased: 1:NetworkManager-libnm-1.18.8-2.el7_9.x86_64", ("package", "NetworkManager-libnm", "removed")),  # noqa: E501
        ("dnf", "SUBDEBUG Upgrade: python3-firewall-1.2.1-1.el9.noarch", ("package", "python3-firewall", "upgraded")),  # noqa: E501
        ("dpkg", "upgrade polkitd:amd64 122-3 122-4", ("package", "polkitd", "upgraded")),
        ("apt", "install iptables 1.8.9-2", ("package", "iptables", "installed")),
        ("unattended-upgrade", (
            "Packages that will be upgraded: systemd "
            "udev"
        ), ("package", "systemd", "upgraded")),
        ("yum", "run: -y update polkit (Update)", ("package", "polkit", "upgraded")),
        ("kernel", (
            "nf_conntrack: nf_conntrack: table full, dropping "
            "packet"
        ), ("conntrack", "", "full")),
        ("kernel", (
            "neighbour: arp_cache: neighbor table "
            "overflow!"
        ), ("neighbour", "arp_cache", "full")),
        ("kernel", (
            "IPv4: martian source 10.0.0.1 from 10.244.1.3, on dev "
            "lxc12"
        ), ("martian", "lxc12", "seen")),
        ("kernel", "e1000e 0000:00:1f.6 eno1: NIC Link is Down", ("link", "eno1", "down")),
        ("kernel", (
            "bond0: making interface eth1 the new active "
            "one"
        ), ("link", "bond0", "switched")),
        ("kernel", "Bridge firewalling registered", ("module", "br_netfilter", "loaded")),
        ("kernel", (
            "bridge: filtering via arp/ip/ip6tables is no longer "
            "available"
        ), ("module", "", "without br_netfilter")),
        ("kernel", (
            "Linux version 6.1.0-13-amd64 "
            "(debian-kernel@lists.debian.org)"
        ), ("boot", "", "started")),
        ("kernel", (
            "Out of memory: Killed process 4242 (cilium-agent) "
            "total-vm:1"
        ), ("memory", "cilium-agent", "killed")),
        ("sudo", (
            "ann : TTY=pts/0 ; PWD=/ ; USER=root ; COMMAND=/usr/sbin/iptables "
            "-F"
        ), ("command", "iptables", "ran")),
        ("sudo", (
            "ann : USER=root ; COMMAND=/bin/systemctl restart "
            "firewalld"
        ), ("firewall", "firewalld", "restarted")),
        ("systemd-modules-load", "Inserted module 'br_netfilter'", ("module", "br_netfilter", "loaded")),  # noqa: E501
        ("systemd", "Time has been changed", ("clock", "", "stepped")),
        ("dhclient", "DHCPACK from 10.0.0.1", ("address", "", "leased")),
        ("NetworkManager", (
            "<info>  [1741749145.0568] dhcp4 (eth0): state changed new lease, "
            "address=10.0.0.7"
        ), ("address", "eth0", "leased")),
        ("NetworkManager", (
            "<info>  [1741749145.0568] dhcp4 (eth0): state changed bound -> "
            "expire"
        ), ("address", "eth0", "lost")),
        ("systemd-networkd", "eth0: DHCPv4 lease lost", ("address", "eth0", "lost")),
        ("NetworkManager", (
            "<info>  [1741749145.0568] device (eth0): state change: activated -> unavailable "
            "(reason 'carrier-changed', sys-iface-state: 'managed')"
        ), ("link", "eth0", "down")),
        ("NetworkManager", (
            "<info>  (veth480b47f): device state change: secondaries -> activated (reason "
            "'none') [90 100 0]"
        ), ("link", "veth480b47f", "up")),
        ("NetworkManager", (
            "<info>  [1741749145.0568] device (eth0): carrier: link "
            "connected"
        ), ("link", "eth0", "up")),
        ("NetworkManager", (
            "<info>  [1741749145.0568] NetworkManager (version 1.42.4) is starting... (after a "
            "restart)"
        ), ("network", "NetworkManager", "started")),
        ("systemd-networkd", (
            "eth0: Removing foreign address "
            "10.0.0.5/24"
        ), ("network", "eth0", "removed")),
        ("tuned", (
            "tuned.daemon.daemon: static tuning from profile 'virtual-guest' "
            "applied"
        ), ("sysctl", "tuned", "reloaded")),
        ("tuned.plugins.plugin_sysctl", (
            "INFO tuned.plugins.plugin_sysctl: "
            "reapplying"
        ), ("sysctl", "tuned", "reloaded")),
        ("systemd", "Reloading.", ("service", "systemd", "reloaded")),
        ("kubelet", (
            "Rebooted node/kn-04: Node kn-04 has been rebooted, boot id: "
            "1"
        ), ("boot", "", "started")),
        ("dockerd", "Daemon has completed initialization", ("runtime", "docker", "started")),
        ("kubelet", (
            "Killing pod/cilium-x7k2p: Stopping container "
            "cilium-agent"
        ), ("proxy", "cilium", "stopped")),
        ("kubelet", "Started pod/web-0: Started container web", ("pod", "web-0", "started")),
        ("dockerd", (
            "IPv4 forwarding is disabled. Networking will not "
            "work"
        ), ("sysctl", "", "ip_forward off")),
    ],
)  # fmt: skip
def test_what_a_line_means(program: str, message: str, expected: tuple[str, str, str]) -> None:
    """systemd, the kernel, audit, package managers, sudo and the kubelet say what happened, each in
    its words.
    """
    kind, subject, verb = expected
    assert Mark(MarkKind(kind), subject, verb) == mark_event(event(program, message))


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (
            "NetworkManager",
            "<info>  [1.5] device (veth2245b139): Activation: starting connection 'a'",
        ),
        ("NetworkManager", "<info>  (docker0): Activation: starting connection 'docker0'"),
        ("dnsmasq-dhcp", "DHCPACK(virbr0) 192.168.122.43 52:54:00:12:34:43 guest43"),
        ("dhcpd", "DHCPACK on 10.9.0.5 to 52:54:00:12:34:43 (guest5) via br9"),
        ("systemd", "Started Session 411 of user ops."),
        ("systemd", "run-docker-netns-1.mount: Succeeded."),
        ("CROND", "(root) CMD (/usr/lib64/sa/sa1 1 1)"),
        ("sshd", "Accepted publickey for ops from 10.0.0.9 port 50222"),
        ("kernel", "audit: type=1400 apparmor"),
        ("polkitd", "Registered Authentication Agent for unix-process:1:2"),
    ],
)
def test_what_means_nothing(program: str, message: str) -> None:
    """Sessions, timers, mounts and chatter are no suspects."""
    assert mark_event(event(program, message)) is None


@given(st.text(max_size=20), st.text(max_size=300))
def test_any_message_is_looked_at(program: str, message: str) -> None:
    """No message makes the reader of marks fail, and each mark has a weight."""
    mark = mark_event(event("x", "y")._replace(program=program, message=message))

    assert mark is None or 0 < weigh_mark(mark) <= 1


@given(
    st.sampled_from(["kernel", "systemd", "yum", "audit", "kubelet", "sudo"]),
    st.lists(st.sampled_from(["a", ":", " ", "link is", "-", "a0="]), max_size=400),
)
def test_long_messages_are_cheap(program: str, words: list[str]) -> None:
    """A message of one endless word is cut before any pattern sees it."""
    mark = mark_event(LogEvent(0.0, event("x", "y").span, program, "".join(words) * 50))

    assert mark is None or mark.kind in WEIGHTS


def test_weights_know_packages_and_links() -> None:
    """A package of the network weighs more than another one, a network card's link more than a
    pod's.
    """
    weights = [weigh_mark(Mark(MarkKind.PACKAGE, name, "upgraded")) for name in ("polkit", "vim")]
    links = [weigh_mark(Mark(MarkKind.LINK, name, "down")) for name in ("eth0", "veth12ab")]

    assert weights[0] > weights[1]
    assert links[0] > links[1]


def test_marks_in_words() -> None:
    """A mark reads as a short sentence."""
    assert ["package polkit upgraded", "tuned started", "conntrack full"] == [
        mark.words
        for mark in (
            Mark(MarkKind.PACKAGE, "polkit", "upgraded"),
            Mark(MarkKind.SYSCTL, "tuned", "started"),
            Mark(MarkKind.CONNTRACK, "", "full"),
        )
    ]


@pytest.mark.parametrize(
    ("reads", "writes"),
    [
        ("sysctl -a -r rp_filter", "sysctl -w net.ipv4.ip_forward=0"),
        ("sysctl net.ipv4.ip_forward", "sysctl -p"),
        ("iptables -t nat -L -n -v", "iptables -t nat -F"),
        ("iptables -w 5 -S", "iptables-restore /etc/iptables.rules"),
        ("ip6tables-nft -nvL INPUT", "ip6tables --append INPUT -j DROP"),
        ("nft -a list ruleset", "nft flush ruleset"),
        ("ip -d addr show up0", "ip link set eth0 down"),
        ("ip netns exec x ip route", "ip netns exec x iptables -F"),
        ("ip r", "ip a a 10.0.0.9/24 dev eth0"),
        ("tc qdisc show dev eth0", "tc qdisc replace dev eth0 root fq"),
        ("systemctl status docker", "systemctl restart docker"),
        ("systemctl --no-pager list-units", "systemctl daemon-reload"),
        ("ufw status verbose", "ufw reload"),
        ("firewall-cmd --list-all", "firewall-cmd --reload"),
        ("nmcli device status", "nmcli connection up eth0"),
        ("conntrack -L -p udp", "conntrack -D -p udp"),
        ("kubectl -n kube-system get pods", "kubectl -n kube-system delete pod x"),
        ("crictl ps -a", "crictl stop 4711"),
        ("apt list --upgradable", "apt-get install tuned"),
        ("update-alternatives --display iptables", "update-alternatives --set iptables /x"),
        ("sysctl net.core.somaxconn | cat", "sysctl net.core.somaxconn; sysctl --system"),
    ],
)
def test_commands_that_only_read(reads: str, writes: str) -> None:
    """What is only looked at changes nothing, by sudo, by cron and in audit's words."""
    quoted = " ".join(f'a{at}="{word}"' for at, word in enumerate(reads.split()))

    assert None is mark_event(event("sudo", f"ann : USER=root ; COMMAND=/usr/sbin/{reads}"))
    assert None is mark_event(event("CROND", f"(root) CMD ({reads})"))
    assert None is mark_event(event("audit", f"EXECVE argc=9 {quoted}"))
    assert None is not mark_event(event("sudo", f"ann : USER=root ; COMMAND=/usr/sbin/{writes}"))


@pytest.mark.parametrize(
    ("program", "message", "verb"),
    [
        ("kubelet", "operationExecutor.MountVolume started for volume x", None),
        ("containerd", "Stop container x with signal terminated", None),
        ("kube-proxy", '"Reloading service iptables data" numServices=9', None),
        ("calico-node", "[INFO][62] felix/endpoint_mgr.go 1215: Applying /proc/sys config", None),
        ("kubelet", '"Started kubelet"', "started"),
        ("containerd", "starting containerd revision=x version=1.7.2", "started"),
        ("kube-proxy", '"Starting service config controller"', "started"),
        ("kube-proxy", '"Starting endpoint slice config controller"', "started"),
        (
            "calico-node",
            "[INFO][62] felix/daemon.go 373: Felix starting up GOMAXPROCS=8",
            "started",
        ),
        ("dockerd", "Processing signal 'terminated'", "stopped"),
        ("cilium-agent", "Received SIGTERM, exiting", "stopped"),
    ],
)
def test_what_talkative_programs_say_of_themselves(
    program: str, message: str, verb: str | None
) -> None:
    """A program that starts and stops containers all day has not started itself."""
    mark = mark_event(event(program, message))

    assert verb == (mark.verb if mark is not None else None)


def test_a_pods_device_is_no_network_card() -> None:
    """What a CNI plugin renames to eth0 in a pod weighs as a pod's device, a network card that udev
    renames as one.
    """
    pods, cards = (
        mark_event(event("kernel", f"{text}"))
        for text in ("eth0: renamed from veth1f2e", "ens5: renamed from eth0")
    )
    assert pods is not None
    assert cards is not None

    assert (0.15, 0.8) == (weigh_mark(pods), weigh_mark(cards))
