"""A fault is open where its own lines, or refusals beside them, may mean another thing."""

from __future__ import annotations

import pytest

import podpath
from podpath.checks.finding import Severity
from podpath.checks.ground import Unsettling
from podpath.library.given import Pasted
from tests.diagnosis.tickets import find


@pytest.mark.parametrize(
    ("command", "certainty"),
    [
        ("ethtool enp65s0f1 | grep detected\n\tSpeed: 10000Mb/s\n\tLink detected: yes", 0.6),
        ("cat /sys/class/net/bond7/bonding/arp_validate\nnone 0", 0.6),
        ("ethtool enp9s0 | grep detected\n\tSpeed: 10000Mb/s\n\tLink detected: yes", 1.0),
        ("", 1.0),
    ],
)
def test_an_unread_output_about_a_bond_or_its_member_leaves_it_open(
    command: str, certainty: float
) -> None:
    """It may say why the bond has no link; one about another device does not."""
    found = find(
        "bond-broken",
        "[ 41.77] bond7: (slave enp65s0f1): link status definitely down, disabling slave",
        "[ 41.78] bond7: now running without any active interface!",
        command=command,
    )

    assert certainty == found.certainty


USED = "Error: subnet 10.207.5.0/24 is already used on the host or by another config"


@pytest.mark.parametrize(
    ("second", "certainty"),
    [
        ("RTNETLINK answers: File exists", 0.6),
        ("RTNETLINK answers: Operation not permitted", 1.0),
        ("", 1.0),
    ],
)
def test_a_network_that_is_there_already_need_not_overlap(second: str, certainty: float) -> None:
    """What refuses the range may be the network's own device."""
    assert certainty == find("address-pools-overlap", USED, second).certainty


def test_networks_with_one_bridge_name_do_not_overlap() -> None:
    """Docker names the old network, and no range."""
    line = (
        "cannot create network 5b1de0773c7c2a94 (brshop): conflicts with network "
        "9e77ac20b1d4403f (brshop): networks have same bridge name"
    )

    assert 1.0 == find("bridge-name-taken", line).certainty


ABSENT = "modprobe: FATAL: Module br_netfilter not found in directory /lib/modules/5.10.0-8-amd64"


HARMLESS = "Ignore this error if br_netfilter is built-in in the kernel"


LOGS = "kubectl -n kube-system logs kube-flannel-ds-x7q2p"


@pytest.mark.parametrize(
    ("command", "lines", "certain"),
    [
        ("modprobe br_netfilter", (ABSENT,), True),
        (LOGS, (ABSENT,), False),
        ("modprobe br_netfilter", (ABSENT, HARMLESS), False),
        (
            LOGS,
            ("modprobe: ERROR: could not insert 'br_netfilter': Operation not supported",),
            True,
        ),
    ],
    ids=["host", "container", "harmless", "kernel"],
)
def test_a_folder_without_a_module_is_not_the_kernel(
    command: str, lines: tuple[str, ...], *, certain: bool
) -> None:
    """An image lacks its host's modules; what the kernel itself refuses is another matter."""
    text = "\n".join(lines)
    prose = "It does not work."
    found = podpath.diagnose(Pasted(f"{prose}\n\n```\n$ {command}\n{text}\n```\n", "t")).findings
    (finding,) = (one for one in found if one.check == "kernel-support-missing")

    assert certain is (finding.certainty == 1)
    assert certain is (Unsettling.PERHAPS_BUILT_IN not in finding.reasoning)


WAITS = '[INFO] plugin/ready: Still waiting on: "kubernetes"'


UPSTREAM = "[ERROR] plugin/errors: 2 a.org. A: read udp 10.42.0.9:41020->192.0.2.53:53: i/o timeout"


API = 'plugin/kubernetes: Get "https://10.43.0.1:443/version": dial tcp 10.43.0.1:443: i/o timeout'


@pytest.mark.parametrize(
    ("lines", "doubted"), [((WAITS, UPSTREAM, API), True), ((WAITS, API), False)]
)
def test_a_name_server_that_reaches_nobody_waits_for_no_one(
    lines: tuple[str, ...], *, doubted: bool
) -> None:
    """That it waits for the API server is what its way out leads to."""
    found = find("name-server-waits", *lines, prose="Names are not resolved.")

    assert doubted is (Unsettling.CUT_OFF in found.reasoning)
    assert not doubted or found.certainty < 1


PROBED = (
    'time="2021-06-01T04:00:12Z" level=warning msg="Running modprobe ip_vs failed with message: '
    "`modprobe: ERROR: could not insert 'ip_vs': Exec format error`, error: exit status 1\""
)


FALLS_BACK = (
    "can't determine whether to use ipvs proxy, error: IPVS proxier will not be used because the "
    "following required kernel modules are not loaded: [ip_vs_sh ip_vs]"
)


ABSENT_IPVS = "modprobe: FATAL: Module ip_vs not found in directory /lib/modules/5.10.0-8-amd64"


@pytest.mark.parametrize(
    ("lines", "certain"),
    [
        ((PROBED,), False),
        ((ABSENT_IPVS, "I0601 04:00:13.1 1 server_others.go:138] Using iptables Proxier."), False),
        ((ABSENT_IPVS, "I0601 04:00:13.1 1 server_others.go:138] Using ipvs Proxier."), True),
        ((FALLS_BACK, "I0601 04:00:13.1 1 server_others.go:138] Using iptables Proxier."), True),
        ((ABSENT, "I0601 04:00:13.1 1 server_others.go:138] Using iptables Proxier."), True),
    ],
    ids=["probe", "other-mode", "its-mode", "fallback", "other-module"],
)
def test_a_module_that_is_only_looked_for_may_be_absent(
    lines: tuple[str, ...], *, certain: bool
) -> None:
    """IPVS is needed in its own mode alone."""
    found = find("kernel-support-missing", *lines, prose="It does not work.")

    assert certain is (Unsettling.ONLY_PROBED not in found.reasoning)
    assert certain is (found.certainty == 1)


NO_PLUGIN = 'network: failed to find plugin "flannel" in path [/opt/cni/bin]'


STOPS = f'Failed to stop sandbox "51ab": cni failed to teardown pod "old-0_shop" {NO_PLUGIN}'


STARTS = f'Failed to create pod sandbox: cni failed to set up pod "new-0_shop" {NO_PLUGIN}'


@pytest.mark.parametrize(
    ("lines", "certain"), [((STOPS,), False), ((STARTS,), True), ((STOPS, STARTS), True)]
)
def test_what_is_missing_at_a_removal_is_that_of_an_old_pod(
    lines: tuple[str, ...], *, certain: bool
) -> None:
    """A new pod may have another plugin."""
    found = find("cni-plugin-missing", *lines, prose="Pods do not start.")

    assert certain is (Unsettling.TEARDOWN not in found.reasoning)
    assert certain is (found.certainty == 1)


def test_what_is_missing_for_the_pod_that_fails_is_missing_at_its_removal_too() -> None:
    """The name of what does not come up stands in the line."""
    line = f"Error deleting kube-system_coredns-797d65b84c-qrntb/cbd1 from {NO_PLUGIN}"

    assert find("cni-plugin-missing", line, prose="CoreDNS does not come up.").certainty == 1
    assert find("cni-plugin-missing", line, prose="The shop does not come up.").certainty < 1


RULES = (
    "*filter\n:INPUT DROP [0:0]\n:OUTPUT ACCEPT [0:0]\n-A INPUT -p tcp --dport 22 -j ACCEPT\nCOMMIT"
)


@pytest.mark.parametrize(
    ("command", "error", "certain"),
    [
        ("iptables-restore < /etc/own.rules", "iptables-restore: line 3 failed", False),
        ("nft -f /etc/own.nft", "/etc/own.nft:3:5-9: Error: syntax error, unexpected xyz", True),
        ("uptime", "10:00:00 up 1 day", True),
    ],
)
def test_rules_of_a_file_that_is_refused_may_not_be_held(
    command: str, error: str, *, certain: bool
) -> None:
    """Nothing says whose rules these are: they stay a possible fault, with a question."""
    text = (
        "Nobody can reach the host n1 from outside on port 80.\n\n"
        f"```\n{RULES}\n```\n\n```\nroot@n1:~# {command}\n{error}\n```\n"
    )
    found = podpath.diagnose(Pasted(text, "ticket.md")).findings
    (finding,) = (one for one in found if one.check == "port-not-accepted")

    assert certain is (finding.certainty == 1)
    assert certain is (Unsettling.NOT_LOADED not in finding.reasoning)
    assert finding.severity is Severity.FAULT
    assert certain or finding.asks


@pytest.mark.parametrize(("prompt", "typed"), [("root@n1:~# ", True), ("", False)])
def test_an_answer_to_a_typed_command_is_no_component_that_fails(
    prompt: str, *, typed: bool
) -> None:
    """What a log quotes is."""
    text = (
        "A rule is refused.\n\n```\n"
        f"{prompt}iptables -t nat -A POSTROUTING -j MASQUERADE\n"
        "iptables: No chain/target/match by that name.\n```\n"
    )
    found = podpath.diagnose(Pasted(text, "ticket.md")).findings

    assert typed is any(Unsettling.TYPED in one.reasoning for one in found)
