"""A certain fault becomes a possible one by what the ticket states beside it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import podpath
from podpath.checks.finding import Finding, Severity
from podpath.checks.ground import Unsettling
from podpath.diagnosis.doubting import read_time
from podpath.library.given import Pasted

PROSE = "A host fails to fetch packages since it went to another rack."
HANG = "[   23.710467] tg3 0000:02:00.0 enp2s0f0: transmit timed out, resetting"


def find(check: str, *lines: str, command: str = "", prose: str = PROSE) -> Finding:
    """Return the finding of a check in a ticket with these lines, and an output behind them."""
    text = "\n".join(lines)
    more = f"```\n# {command}\n```\n" if command else ""
    ticket = Pasted(f"{prose}\n\n```\n# dmesg\n{text}\n```\n\n{more}", "ticket.md")
    return next(one for one in podpath.diagnose(ticket).findings if one.check == check)


@pytest.mark.parametrize(
    ("after", "certainty"),
    [
        ("[ 5190.337218] enp2s0f0: entered promiscuous mode", 0.6),
        ("[ 9001.000001] tg3 0000:02:00.0 enp2s0f0: Link is up at 1000 Mbps, full duplex", 0.6),
        ("[   27.005530] enp2s0f0: entered promiscuous mode", 1.0),
        ("[ 9001.000001] tg3 0000:03:00.0 enp3s0: Link is up at 1000 Mbps", 1.0),
        ("[ 9001.000001] tg3 0000:02:00.0 enp2s0f0: transmit timed out, resetting", 1.0),
    ],
)
def test_a_hang_that_is_long_over_is_possible(after: str, certainty: float) -> None:
    """The same device goes on for minutes; soon after, another one, or again a hang, does not
    count.
    """
    found = find("device-hangs", HANG, after)

    assert certainty == found.certainty
    assert (Unsettling.OVER in found.reasoning) is (certainty < 1)
    assert (certainty < 1) is bool(found.asks)


BACK = "[   27.005530] tg3 0000:02:00.0 enp2s0f0: Link is up at 1000 Mbps, full duplex"


@pytest.mark.parametrize(
    ("prose", "lines", "certain"),
    [
        (PROSE, (HANG, BACK), False),
        (PROSE, (HANG, BACK, HANG.replace("23.7", "99.1"), BACK.replace("27.0", "99.9")), True),
        ("The host is sometimes not reachable for seconds.", (HANG, BACK), True),
    ],
)
def test_a_hang_from_which_the_card_came_back_is_over(
    prose: str, lines: tuple[str, ...], *, certain: bool
) -> None:
    """Unless it came again, or people say that it comes and goes."""
    found = find("device-hangs", *lines, prose=prose)

    assert (found.certainty == 1.0) is certain
    assert (Unsettling.RECOVERED in found.reasoning) is not certain


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


@pytest.mark.parametrize(
    ("line", "time"),
    [
        ("[   11.402881] eth0: up", 11.402881),
        ("Mar 02 08:11:01 n1 kernel: eth0: up", 29461.0),
        ("2024-01-01T00:01:00Z eth0", 60.0),
        ("eth0: up", None),
    ],
)
def test_the_time_of_a_line(line: str, time: float | None) -> None:
    """Since the boot, or of the day; none where it has none."""
    assert time == read_time(line)


@given(st.text(max_size=60))
def test_any_line_has_a_time_or_none(line: str) -> None:
    """No line breaks it."""
    assert read_time(line) is None or read_time(line) is not None


OVERFLOW = "neighbour: arp_cache: neighbor table overflow!"


@pytest.mark.parametrize(
    ("lines", "clock", "certainty"),
    [
        ((f"[Mon Jan  8 03:12:44 2024] {OVERFLOW}",), "Thu Feb 15 09:30:01 UTC 2024", 0.6),
        ((f"2024-01-08T03:12:44Z n1 kernel: {OVERFLOW}",), "Thu 15 Feb 2024 09:30:01 AM CET", 0.6),
        ((f"Jan  8 03:12:44 n1 kernel: {OVERFLOW}",), "Thu Feb 15 09:30:01 UTC 2024", 0.6),
        ((f"[Thu Feb 15 09:12:44 2024] {OVERFLOW}",), "Thu Feb 15 09:30:01 UTC 2024", 1.0),
        (
            (
                f"[Mon Jan  8 03:12:44 2024] {OVERFLOW}",
                f"[Thu Feb 15 09:12:44 2024] {OVERFLOW}",
            ),
            "Thu Feb 15 09:30:01 UTC 2024",
            1.0,
        ),
        ((f"[  812.100000] {OVERFLOW}",), "Thu Feb 15 09:30:01 UTC 2024", 1.0),
    ],
)
def test_an_event_of_last_month_is_over(
    lines: tuple[str, ...], clock: str, certainty: float
) -> None:
    """Unless it happens again, or nothing tells when it was."""
    found = find("neighbour-table-full", *lines, "# date", clock)

    assert certainty == found.certainty
    assert (Unsettling.LONG_AGO in found.reasoning) is (certainty < 1)


def test_an_event_that_comes_each_night_is_not_over() -> None:
    """People say so."""
    old = f"[Mon Jan  8 03:12:44 2024] {OVERFLOW}"
    prose = "Every now and then the host fails to fetch packages, and then it works again."
    found = find("neighbour-table-full", old, "# date", "Thu Feb 15 09:30:01 UTC 2024", prose=prose)

    assert found.certainty == 1


REJECTED = (
    'level=error msg="Put https://s3.example.org: x509: certificate signed by unknown authority"'
)


@pytest.mark.parametrize(
    ("prose", "command", "certainty"),
    [
        ("The dashboard does not open in the browser.", "kubectl logs backup-77c", 0.6),
        ("The dashboard does not open.", "kubectl -n ops logs --tail=5 deploy/backup", 0.6),
        ("The dashboard does not open.", "docker logs -f backup", 0.6),
        ("The backup does not upload anything any more.", "kubectl logs backup-77c", 1.0),
        ("The dashboard does not open.", "kubectl logs dashboard-5d4f", 1.0),
        ("The dashboard does not open.", "kubectl -n ingress-nginx logs ingress-nginx-1", 1.0),
        ("The dashboard does not open.", "journalctl -u kubelet", 1.0),
    ],
)
def test_a_certificate_in_the_log_of_another_program_is_possible(
    prose: str, command: str, certainty: float
) -> None:
    """Where that program is what fails, or others rest on it, it convicts."""
    text = f"{prose}\n\n```\n$ {command}\n{REJECTED}\n```\n"
    found = podpath.diagnose(Pasted(text, "ticket.md")).findings[0]

    assert ("certificate-refused", certainty) == (found.check, found.certainty)


ABSENT = "modprobe: FATAL: Module br_netfilter not found in directory /lib/modules/5.10.0-8-amd64"
HARMLESS = "Ignore this error if br_netfilter is built-in in the kernel"
REFUSED = "modprobe: ERROR: could not insert 'br_netfilter': Operation not supported"
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


def test_a_possible_error_that_its_log_is_done_with_is_only_seen_as_well() -> None:
    """What is asked for is another thing."""
    denied = "07:10:12 ERROR open /proc/sys/net/ipv4/conf/vip0/rp_filter: read-only file system"
    again = find("sysctl-not-set", denied, prose="The address does not answer any more.")
    done = find("sysctl-not-set", denied, "07:10:13 INFO successful add IP", prose="It fails.")

    assert (Severity.FAULT, True) == (again.severity, bool(again.asks))
    assert (Severity.RISK, False) == (done.severity, bool(done.asks))


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


WAITING = (
    'level=warning msg="Waiting for k8s node information" '
    'error="required IPv4 PodCIDR not available"'
)
RECEIVED = 'level=info msg="Received own node information from API server" v4Prefix=10.77.3.0/24'


@pytest.mark.parametrize(
    ("lines", "severity"),
    [((WAITING,), Severity.FAULT), ((WAITING, RECEIVED), Severity.RISK)],
)
def test_a_wait_that_ended_is_only_seen_as_well(lines: tuple[str, ...], severity: Severity) -> None:
    """The last word counts."""
    found = find("pod-range-missing", *lines, prose="Pods have no network.")

    assert severity == found.severity


LOCAL = "detect-local-mode set to ClusterCIDR, but no IPv6 cluster CIDR defined"


@pytest.mark.parametrize(
    ("prose", "severity"),
    [
        ("Pods on n5 do not get ready.", Severity.RISK),
        ("Pods cannot reach services.", Severity.RISK),
        ("Services cannot be reached from outside.", Severity.FAULT),
        ("The node port times out.", Severity.FAULT),
    ],
)
def test_a_proxy_without_a_range_breaks_services_from_elsewhere(
    prose: str, severity: Severity
) -> None:
    """What pods send to services is no matter of it; sound clusters print the line, too."""
    assert severity == find("local-range-unknown", LOCAL, prose=prose).severity


GIVEN_UP = "    inet6 {}/64 scope {} tentative noprefixroute dadfailed"
LINK_LOCAL = GIVEN_UP.format("fe80::d41f:5c51:1e01:d741", "link")
GLOBAL = GIVEN_UP.format("2001:db8::5", "global")


@pytest.mark.parametrize(
    ("prose", "line", "severity"),
    [
        ("Pods cannot reach the API server's endpoint.", LINK_LOCAL, Severity.RISK),
        ("Pods cannot reach 172.19.4.7:6443.", GLOBAL, Severity.RISK),
        ("Pods cannot reach the API server's endpoint.", GLOBAL, Severity.FAULT),
        ("Nothing is reached over IPv6.", LINK_LOCAL, Severity.FAULT),
        ("The host cannot reach 2001:db8::9.", GLOBAL, Severity.FAULT),
        ("The pod gets no address.", LINK_LOCAL, Severity.FAULT),
    ],
)
def test_an_address_of_ipv6_that_is_given_up_breaks_ipv6(
    prose: str, line: str, severity: Severity
) -> None:
    """One of the link alone breaks nothing that nobody says is of IPv6."""
    assert severity == find("address-given-up", line, prose=prose).severity
