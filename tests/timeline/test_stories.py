"""Chains of causes found in logs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.timeline.build import ToldFailure
from podpath.timeline.chain import CauseChain
from podpath.timeline.chain_files import load_chains
from podpath.timeline.stories import find_stories
from podpath.timeline.suspects import mark_events
from podpath.timeline.window import FailureWindow
from tests.timeline.samples import CLIENT, MESSAGES, at, chronicle, logs

WINDOW = FailureWindow(failed_at=at("03:13:59"), timeout=10, last_ok=at("03:13:39"))


def names(text: str, window: FailureWindow | None = WINDOW) -> list[str]:
    """Name the chains that a log shows in a window."""
    marked = mark_events(logs(text).readings, 0, at("23:59:59", "2030-01-01"))
    return [story.chain.name for story in find_stories(load_chains(), marked, window)]


def test_the_chain_of_polkit() -> None:
    """polkit upgraded, polkit restarted, tuned restarted: each link with its line, the last one
    before the first failing request.
    """
    found = chronicle(MESSAGES, CLIENT).stories[0]

    assert "polkit-tuned-sysctl" == found.chain.name
    assert [3, 6, 8] == [one.marked.event.span.line for one in found.told]
    assert (2.8, "rp-filter") == (round(found.before or 0, 1), found.chain.leads[0].check)


def test_optional_links_may_be_missing() -> None:
    """tuned alone makes the chain, with less weight than all of it."""
    alone = "Mar 12 03:13:47 kn-04 systemd[1]: Started Dynamic System Tuning Daemon."
    marked = [mark_events(logs(text).readings, 0, at("23:59:59")) for text in (MESSAGES, alone)]
    scores = [find_stories(load_chains(), one, WINDOW)[0].score for one in marked]

    assert scores[0] > scores[1] > 0


def test_the_last_link_has_to_be_in_the_window() -> None:
    """A restart of tuned after the first failing request began, or long before it last worked, is
    not what broke it.
    """
    for clock in ("03:13:55", "03:13:20"):
        text = f"Mar 12 {clock} kn-04 systemd[1]: Started Dynamic System Tuning Daemon."
        assert [] == names(text)


def test_links_stand_in_their_order() -> None:
    """polkit upgraded after tuned restarted is no link of its chain."""
    text = (
        "Mar 12 03:13:45 kn-04 systemd[1]: Started Dynamic System Tuning Daemon.\n"
        "Mar 12 03:13:46 kn-04 yum[1]: Updated: polkit-0.112-26.el7.x86_64"
    )
    marked = mark_events(logs(text).readings, 0, at("23:59:59"))
    story = find_stories(load_chains(), marked, WINDOW)[0]

    assert ("polkit-tuned-sysctl", 1) == (story.chain.name, len(story.told))


def test_what_the_kernel_says_while_it_fails() -> None:
    """A full table is said while connections fail: after the first failing request began, too."""
    text = "Mar 12 03:14:01 kn-04 kernel: nf_conntrack: table full, dropping packet"

    assert ["conntrack-full"] == names(text)


CASES = {
    "systemd-upgrade-rp-filter": ["yum[1]: Updated: systemd-219-78.el7_9.7.x86_64",
        "systemd[1]: Started Apply Kernel Variables."],
    "systemd-sysctl-restart": ["systemd[1]: Started Apply Kernel Variables."],
    "tuned-profile-switch": ["sudo: ann : USER=root ; COMMAND=/sbin/tuned-adm profile balanced",
        "tuned[9]: static tuning applied"],
    "sysctl-by-hand": ["sudo: ann : USER=root ; COMMAND=/sbin/sysctl --system"],
    "network-restart-ip-forward": [
        "systemd[1]: Started Network Manager.", "dockerd[7]: WARNING: IPv4 forwarding is disabled",
    ],
    "firewalld-flushes-rules": ["systemd[1]: Reloaded firewalld - dynamic firewall daemon."],
    "iptables-service-restart": ["systemd[1]: Started IPv4 firewall with iptables."],
    "ufw-forward-drop": ["sudo: ann : USER=root ; COMMAND=/usr/sbin/ufw enable"],
    "docker-forward-drop": ["systemd[1]: Started Docker Application Container Engine."],
    "networkd-foreign-rules": ["systemd[1]: Started Network Configuration."],
    "networkmanager-takes-devices": ["systemd[1]: Started Network Manager."],
    "udev-vxlan-mac": ["systemd[1]: Started Network Configuration.",
        "NetworkManager[706]: device (flannel.1): hw-addr: hardware address now 8E:8F"],
    "br-netfilter-not-loaded": ["kernel: Linux version 6.1.0",
        "kernel: bridge: filtering via arp/ip/ip6tables is no longer available by default."],
    "conntrack-full": ["kernel: nf_conntrack: nf_conntrack: table full, dropping packet"],
    "neighbour-table-full": ["kernel: neighbour: arp_cache: neighbor table overflow!"],
    "martians-logged": ["kernel: IPv4: martian source 10.0.0.1 from 10.244.1.3, on dev lxc12"],
    "duplicate-address": [("kernel: IPv6: eth0: IPv6 duplicate address fe80::1 used by "
                          "02:00:00:00:00:01 detected!")],
    "proxy-restart-rule-order": [("kubelet[1]: Killing pod/kube-proxy-abcde: Stopping container "
                                 "kube-proxy")],
    "stale-udp-entries": [("kubelet[1]: Killing pod/coredns-5dd5756b68-abcde: Stopping container "
                          "coredns")],
    "iptables-two-backends": ["dpkg: upgrade iptables:amd64 1.8.2 1.8.9"],
    "cni-chain-race": [
        "kernel: Linux version 6.1.0", "kubelet[1]: Started pod/web-0: Started container web",
        "kubelet[1]: Started pod/linkerd-cni-abcde: Started container install-cni",
    ],
    "bond-failover": [
        "kernel: e1000e eth0: NIC Link is Down",
        "kernel: bond0: making interface eth1 the new active one",
    ],
    "polkit-tuned-sysctl": ["systemd[1]: Started Dynamic System Tuning Daemon."],
}  # fmt: skip


def test_every_chain_has_a_case() -> None:
    """No chain is installed that no log was seen to match."""
    assert {chain.name for chain in load_chains()} == set(CASES)


@pytest.mark.parametrize("name", sorted(CASES))
def test_each_chain_is_found(name: str) -> None:
    """Lines such as the reports quote make their chain, whose last link is in the window."""
    text = "\n".join(
        f"Mar 12 03:13:{40 + number} kn-04 {line}" for number, line in enumerate(CASES[name])
    )
    found = chronicle(
        text, told=ToldFailure(failed_at=at("03:13:59"), timeout=10, last_ok=at("03:13:39"))
    )

    assert name in [story.chain.name for story in found.stories]
    assert len(CASES[name]) == len(
        next(story for story in found.stories if story.chain.name == name).told
    )


@given(
    st.lists(
        st.tuples(
            st.integers(0, 59),
            st.sampled_from([line for lines in CASES.values() for line in lines]),
        ),
        max_size=12,
    )
)
def test_stories_are_in_order_and_in_the_window(lines: list[tuple[int, str]]) -> None:
    """Whatever happens in whatever order, the links of a story follow each other, and its last one
    is where it may be.
    """
    text = "\n".join(f"Mar 12 03:13:{second:02d} kn-04 {line}" for second, line in lines)
    marked = mark_events(logs(text).readings, 0, at("23:59:59")) if lines else ()
    for story in find_stories(load_chains(), marked, WINDOW):
        times = [one.marked.event.time for one in story.told]

        assert times == sorted(times)
        assert story.chain.observes or WINDOW.holds(times[-1])
        assert 0 <= story.score <= 1


def test_without_a_window_chains_are_found_anywhere() -> None:
    """Where nobody says when it failed, a chain anywhere in the log is told, with half its
    weight.
    """
    whole, part = (names(MESSAGES, window)[:1] for window in (None, WINDOW))

    assert whole == part == ["polkit-tuned-sysctl"]


def test_a_cause_comes_before_what_shows_it() -> None:
    """Martians that the kernel logs show the fault and confirm what caused it: the cause is told
    first, before likelier ones.
    """
    text = (
        "Mar 12 03:13:40 n sudo: ann : USER=root ; COMMAND=/sbin/sysctl --system\n"
        "Mar 12 03:13:45 n systemd[1]: Reloaded firewalld - dynamic firewall daemon.\n"
        "Mar 12 03:13:46 n kernel: IPv4: martian source 10.0.0.1 from 10.244.1.3, on dev lxc12"
    )

    assert ["sysctl-by-hand", "firewalld-flushes-rules", "martians-logged"] == names(text)


@pytest.mark.parametrize(
    ("service", "chain"),
    [
        ("Apply Kernel Variables", "systemd-sysctl-restart"),
        ("Network Configuration", "networkd-foreign-rules"),
        ("Network Manager", "networkmanager-takes-devices"),
    ],
)
def test_what_a_boot_starts_is_no_restart(service: str, chain: str) -> None:
    """Nothing stood before it that it could take away; the same minutes later is one."""
    boot = "Mar 12 03:13:43 kn-04 kernel: Linux version 6.1.0\n"
    later = boot.replace("03:13:43", "03:10:43")
    flushed = boot.replace("03:13:43", "03:13:45")
    started = f"Mar 12 03:13:45 kn-04 systemd[1]: Finished {service}."

    assert chain not in names(boot + started)
    assert chain not in names(f"{started}\n{flushed}")
    assert chain in names(later + started)
    assert chain in names(started)


def test_no_chain_no_story() -> None:
    """Without chains there is no story."""
    chains: tuple[CauseChain, ...] = ()

    assert () == find_stories(
        chains, mark_events(logs(MESSAGES).readings, 0, at("23:59:59")), WINDOW
    )
