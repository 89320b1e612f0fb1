"""A fault that messages tell stays certain where nothing beside them ends or explains it, and only
there.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import podpath
from podpath.checks.finding import Finding
from podpath.checks.ground import Unsettling
from podpath.diagnosis.beside import shape
from podpath.library.given import Pasted


class Told(NamedTuple):
    """A ticket: what people say, and outputs behind it."""

    prose: str
    outputs: tuple[str, ...]
    doubt: Unsettling | None
    """What leaves it open; None where it is certain."""


def find(check: str, told: Told) -> Finding:
    """Return the finding of a check in a ticket."""
    blocks = "\n\n".join(f"```\n{output}\n```" for output in told.outputs)
    found = podpath.diagnose(Pasted(f"{told.prose}\n\n{blocks}\n", "ticket.md")).findings
    return next(one for one in found if one.check == check)


def hold(check: str, told: Told) -> None:
    """Hold a finding's certainty, its reason and its question against what is beside it."""
    found = find(check, told)
    doubts = [link for link in found.reasoning if isinstance(link, Unsettling)]

    assert doubts == ([] if told.doubt is None else [told.doubt])
    assert (found.certainty == 1.0) is (told.doubt is None)
    assert found.asks or told.doubt is None


NO_PARTNER = (
    "root@teasel:~# dmesg | grep -w bond6 | tail -1\n"
    "[   63.402118] bond6: Warning: No 802.3ad response from the link partner for any adapters in "
    "the bond"
)
XEN = (
    "A Xen machine joins its paravirtual cards enX4 and enX5 in bond6 (mode 4). It has no traffic."
)


def card(speed: str, duplex: str) -> str:
    """Return what ethtool says of a member."""
    lines = ("Settings for enX4:", f"\tSpeed: {speed}", f"\tDuplex: {duplex}",
             "\tAuto-negotiation: off", "\tLink detected: yes")  # fmt: skip
    return "root@teasel:~# ethtool enX4\n" + "\n".join(lines)


NMCLI = (
    "root@teasel:~# nmcli -f CAPABILITIES device show enX4\n"
    "CAPABILITIES.CARRIER-DETECT:            yes\nCAPABILITIES.SPEED:                     unknown"
)


@pytest.mark.parametrize(
    ("output", "doubt"),
    [
        (card("Unknown!", "Unknown! (255)"), Unsettling.NO_SPEED),
        (NMCLI, Unsettling.NO_SPEED),
        (
            "root@teasel:~# ethtool enX4\nCannot get device settings: Operation not supported",
            Unsettling.NO_SPEED,
        ),
        (card("10000Mb/s", "Full"), None),
        (card("1000Mb/s", "Full"), None),
        ("root@teasel:~# uptime\n 10:11:12 up 3 days", None),
    ],
)
def test_a_silent_partner_is_open_where_a_member_has_no_speed(
    output: str, doubt: Unsettling | None
) -> None:
    """LACP leaves such a member out by itself."""
    hold("bond-without-partner", Told(XEN, (NO_PARTNER, output), doubt))


OFF = (
    "The machines of the lab on burdock are off since the power cut: their network does not start."
)


def refused(device: str) -> str:
    """Return libvirt's refusal to start a network."""
    return (
        "root@burdock:~# virsh net-create lab.xml\nerror: Failed to create network from lab.xml\n"
        f"error: internal error: Network is already in use by interface {device}"
    )


BRCTL = (
    "root@burdock:~# brctl addbr labbr5\n"
    "device labbr5 already exists; can't create bridge with the same name"
)
PRESS_AGAIN = (
    "root@burdock:~# podman network create --subnet 10.7.33.0/24 --interface-name pm-press p\n"
    "Error: bridge name pm-press already in use"
)
PRESS = (
    "root@burdock:~# podman network create --subnet 10.207.9.0/24 press\n"
    "Error: subnet 10.207.9.0/24 is already used on the host or by another config"
)


@pytest.mark.parametrize(
    ("outputs", "doubt"),
    [
        ((refused("labbr5"), BRCTL), Unsettling.EXISTS),
        ((refused("labbr5"), "root@burdock:~# grep bridge lab.xml\n  <bridge name='labbr5'/>"),
         Unsettling.ITS_OWN),
        ((refused("virbr3"), "root@burdock:~# ip -4 -br addr show virbr3\nvirbr3 UP 10.6.4.1/24"),
         Unsettling.ITS_OWN),
        ((refused("ens5"), "root@burdock:~# ip -4 -br addr show ens5\nens5 UP 10.6.4.3/24"), None),
        ((refused("tun7"), "root@burdock:~# ip -4 -br addr show tun7\ntun7 UNKNOWN 10.6.4.30/24"),
         None),
        ((f"{PRESS}\n{PRESS_AGAIN}",), Unsettling.EXISTS),
        ((PRESS,), None),
    ],
)  # fmt: skip
def test_a_range_that_is_taken_is_open_where_its_own_bridge_may_be_in_the_way(
    outputs: tuple[str, ...], doubt: Unsettling | None
) -> None:
    """A bridge that is left over refuses every range; a stranger with an address does not."""
    hold("address-pools-overlap", Told(OFF, outputs, doubt))


STUCK = "New pods stay in ContainerCreating on the node heron since its reboot."
NODENAME = (
    "$ kubectl describe pod web-1\n"
    "  Warning  FailedCreatePodSandBox  3s (x9 over 2m)  kubelet  Failed to create pod sandbox: "
    "rpc error: code = Unknown desc = failed to set up sandbox container network for pod web-1: "
    'plugin type="calico" failed (add): stat /var/lib/calico/nodename: no such file or directory: '
    "check that the calico/node container is running and has mounted /var/lib/calico/"
)
SUBNET = (
    "Oct 10 09:00:11 heron kubelet[811]: E1010 09:00:11.1 811 pod_workers.go:191] error killing "
    'pod: networkPlugin cni failed to set up pod "web-1_default" network: open '
    "/run/flannel/subnet.env: no such file or directory"
)
CILIUM = (
    "Warning  FailedCreatePodSandBox  1s  kubelet  Failed to create pod sandbox: plugin "
    'type="cilium-cni" failed (add): unable to connect to Cilium daemon: failed to create cilium '
    "agent client after 30.000000 seconds timeout: Get http:///var/run/cilium/cilium.sock/v1/"
    "config: dial unix /var/run/cilium/cilium.sock: connect: no such file or directory"
)
PODS = (
    "$ kubectl get pods -n kube-system -o wide\n"
    "NAME                READY   STATUS             RESTARTS   AGE   IP         NODE\n"
)
EVENTS = (
    "$ kubectl get events -n kube-flannel\n"
    "LAST SEEN   TYPE      REASON    OBJECT                    MESSAGE\n"
)
AGENTS = (
    Told(STUCK, (NODENAME,), None),
    Told(STUCK, (SUBNET,), None),
    Told(STUCK, (CILIUM,), None),
    Told(STUCK, (SUBNET, "$ uptime\n 09:01:00 up 3 min, 1 user, load average: 0.1"), None),
    Told(STUCK, (f"{SUBNET}\n{SUBNET}",), None),
    Told(
        STUCK,
        (
            NODENAME,
            f"{PODS}coredns-5d78-abcde  0/1     ContainerCreating  0          9m    <none>     -",
        ),
        None,
    ),
    Told(
        STUCK,
        (
            NODENAME,
            f"{PODS}calico-node-x7k2p   0/1     CrashLoopBackOff   9          20m   10.9.0.4   -",
        ),
        Unsettling.OWN_WORDS,
    ),
    Told(
        STUCK,
        (
            NODENAME,
            f"{PODS}calico-node-x7k2p   1/1     Running            0          20m   10.9.0.4   -",
        ),
        Unsettling.OWN_WORDS,
    ),
    Told(
        STUCK,
        (
            SUBNET,
            "$ journalctl -u flanneld\nflanneld[99]: E1010 main.go:231] cannot read the lease",
        ),
        Unsettling.OWN_WORDS,
    ),
    Told(
        STUCK,
        (
            CILIUM,
            '$ kubectl -n kube-system logs cilium-x2\nlevel=error msg="mount of bpffs failed"',
        ),
        Unsettling.OWN_WORDS,
    ),
    Told(
        STUCK,
        (
            SUBNET,
            f"{EVENTS}5m          Warning   Evicted   pod/kube-flannel-ds-2x    No disk space",
        ),
        Unsettling.OWN_WORDS,
    ),
    Told(
        STUCK,
        (NODENAME, "$ kubectl describe pod calico-node-x\n  Warning  Failed  9s  kubelet  no pull"),
        Unsettling.OWN_WORDS,
    ),
    Told(
        "calico-node-x7k2p does not start on heron, and new pods stay in ContainerCreating.",
        (NODENAME,),
        Unsettling.OWN_WORDS,
    ),
)


@pytest.mark.parametrize("told", AGENTS)
def test_an_agent_that_does_not_run_is_the_cause_only_where_nothing_is_about_it(told: Told) -> None:
    """Its pod's row, its own log or an event of it may say why it does not run, or that it runs."""
    hold("agent-not-running", told)


BOND = (
    "# dmesg\n"
    "[   41.771902] bond7: (slave enp65s0f1): link status definitely down, disabling slave\n"
    "[   41.771958] bond7: now running without any active interface!"
)
CUT = "The backup host cannot be reached by any of its addresses since last night."
UP = (
    "# ip link show bond7\n9: bond7: <BROADCAST,MULTICAST,MASTER,UP,LOWER_UP> mtu 1500 "
    "qdisc noqueue state UP mode DEFAULT group default\n"
    "    link/ether 0c:42:a1:00:00:01 brd ff:ff:ff:ff:ff:ff"
)
ANSWERED = (
    "root@host:~# ping -c 2 10.40.0.1\nPING 10.40.0.1 (10.40.0.1) 56(84) bytes of data.\n"
    "64 bytes from 10.40.0.1: icmp_seq=1 ttl=64 time=0.3 ms\n"
    "64 bytes from 10.40.0.1: icmp_seq=2 ttl=64 time=0.3 ms\n\n"
    "--- 10.40.0.1 ping statistics ---\n"
    "2 packets transmitted, 2 received, 0% packet loss, time 1001ms"
)
BONDS = (
    Told(CUT, (BOND,), None),
    Told(
        CUT, (BOND, "# ip -br link show bond7\nbond7 DOWN 0c:42:a1:00:00:01 <NO-CARRIER,UP>"), None
    ),
    Told("Nothing goes over bond7 any more.", (BOND,), None),
    Told(
        CUT,
        (f"{BOND}\n[   42.100000] bond3: (slave enp3s0f0): link status definitely up, 1000 Mbps",),
        None,
    ),
    Told(
        CUT, (BOND.replace("bond7: now", "bond7: active interface up!\n[ 40.0] bond7: now"),), None
    ),
    Told(
        CUT,
        (f"{BOND}\n[   43.900000] bond7: (slave enp65s0f1): link status definitely up",),
        Unsettling.RECOVERED,
    ),
    Told(CUT, (f"{BOND}\n[   43.900000] bond7: active interface up!",), Unsettling.RECOVERED),
    Told(
        CUT,
        (
            BOND,
            UP,
        ),
        Unsettling.STANDS,
    ),
    Told(
        "Pods on the same node cannot reach each other.",
        (BOND,),
        Unsettling.OTHER_DEVICE,
    ),
    Told(
        CUT,
        (
            BOND,
            ANSWERED,
        ),
        Unsettling.WORKS,
    ),
)


@pytest.mark.parametrize("told", BONDS)
def test_a_bond_without_link_is_the_cause_only_where_nothing_shows_it_up(told: Told) -> None:
    """It came up again, another output shows it, somebody is answered, or else fails another."""
    hold("bond-broken", told)


USED = "Error: subnet 10.207.5.0/24 is already used on the host or by another config"
OVERLAP = (
    "failed to create network shop_front: Error response from daemon: cannot create network "
    "5b1d (brshop): conflicts with network 9e77 (brold): networks have overlapping IPv4"
)
POOLS = "Error response from daemon: could not find an available, non-overlapping IPv4 address pool"
MAKE = "# podman network create --subnet 10.207.5.0/24 --interface-name pm-print prints\n"
NOT_UP = "The printing containers do not start."
CREATED = (
    Told(NOT_UP, (f"{MAKE}{USED}",), None),
    Told(NOT_UP, (f"# docker compose up -d\n{OVERLAP}",), None),
    Told(NOT_UP, (f"# docker network create b\n{POOLS} among the defaults to assign",), None),
    Told("A new network is refused.", (f"{MAKE}{USED}",), None),
    Told(NOT_UP, (f"{MAKE}{USED}", "# ip -br addr show br-lan\nbr-lan UP 10.207.5.1/24"), None),
    Told(
        NOT_UP,
        (f"{MAKE}{USED}", "# ip -br addr show pm-print\npm-print DOWN 10.207.5.1/24"),
        Unsettling.EXISTS,
    ),
    Told(
        NOT_UP,
        (f"{MAKE}{USED}", "# ip link add pm-print type bridge\nRTNETLINK answers: File exists"),
        Unsettling.EXISTS,
    ),
    Told(
        "From the container web the host 10.1.2.3 times out.",
        (f"# docker compose up -d\n{OVERLAP}",),
        Unsettling.OTHER_FAILURE,
    ),
    Told(
        "curl http://10.1.2.3 from a container hangs until it times out.",
        (f"{MAKE}{USED}",),
        Unsettling.OTHER_FAILURE,
    ),
)


@pytest.mark.parametrize("told", CREATED)
def test_a_refused_range_is_the_cause_only_of_what_is_not_made(told: Told) -> None:
    """The network's own device may be left over, and a connection that fails is another matter."""
    hold("address-pools-overlap", told)


ADDRESSES = (
    "# ip -4 addr\n"
    "2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 state UP\n"
    "    inet 172.18.0.9/16 brd 172.18.255.255 scope global eth0\n"
    "5: br-1234567890ab: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 state UP\n"
    "    inet 172.18.0.1/16 brd 172.18.255.255 scope global br-1234567890ab"
)
RANGES = (
    Told("From this host 172.18.4.4 times out.", (ADDRESSES,), None),
    Told("Containers cannot reach the printer 172.18.0.77.", (ADDRESSES,), None),
    Told("Containers cannot reach the LAN.", (ADDRESSES,), None),
    Told("From 172.18.0.5 a connection to 10.9.9.9 times out.", (ADDRESSES,), None),
    Told("From this host 10.9.9.9 times out.", (ADDRESSES,), Unsettling.OUTSIDE_RANGE),
    Told("A curl to 203.0.113.7 times out.", (ADDRESSES,), Unsettling.OUTSIDE_RANGE),
)


@pytest.mark.parametrize("told", RANGES)
def test_networks_that_overlap_break_addresses_in_both(told: Told) -> None:
    """Where what fails has addresses, one of them lies in both networks."""
    found = find("networks-overlap", told)

    assert (found.certainty == 1.0) is (told.doubt is None)


@given(st.text(max_size=40))
def test_a_shape_has_no_number_and_is_its_own(text: str) -> None:
    """Numbers and blanks are gone, and a shape has itself for its shape."""
    assert shape(shape(text)) == shape(text)
    assert not any(letter.isdecimal() or letter.isspace() for letter in shape(text))


HANG = "ixgbe 0000:05:00.0 ens5f0: tx hang 3 detected on queue 9, resetting adapter"


@pytest.mark.parametrize(
    ("line", "doubt"),
    [
        ("ixgbe 0000:05:00.0 ens5f0: Detected Tx Unit Hang (XDP)", Unsettling.XDP_QUEUE),
        ("ixgbe 0000:05:00.0 ens5f0: Detected Tx Unit Hang", None),
    ],
)
def test_a_hang_is_open_where_a_queue_of_xdp_hangs(line: str, doubt: Unsettling | None) -> None:
    """Offloads, which the usual cure turns off, have no part in such a queue."""
    prose = "The router burdock resets its card ens5f0 every few minutes."
    hold("device-hangs", Told(prose, (f"{line}\n{HANG}",), doubt))
