"""Commands that change the node: what each changes."""

from __future__ import annotations

import pytest

from podpath.assembly.scenes.change_commands import (
    Effect,
    ModuleChange,
    RouteChange,
    SysctlChange,
    list_change_commands,
    read_effects,
)
from podpath.assembly.scenes.scene import ReadSources
from podpath.evidence.records import ChangeCommandRecord
from tests.assembly.evidence_text import by_hand


def _effects(command: str) -> list[str]:
    evidence = ReadSources.gather(
        [by_hand(lambda span: (ChangeCommandRecord(span=span, command=command),), command=command)]
    )
    assert [change.command for change in list_change_commands(evidence)] == [command]
    return [_spell(effect) for effect in read_effects(evidence)]


def _spell(effect: Effect) -> str:
    match effect:
        case SysctlChange():
            return f"{effect.netns}: {effect.key}={effect.value}"
        case ModuleChange():
            return f"{'load' if effect.loaded else 'remove'} {effect.name}"
        case RouteChange():
            way = f"{effect.link} {effect.gateway} {effect.metric} {effect.table}"
            return f"{effect.netns}: {'add' if effect.added else 'delete'} {effect.prefix} {way}"


@pytest.mark.parametrize(
    ("command", "effects"),
    [
        ("sysctl -w net.ipv4.ip_forward=1", ["host: net.ipv4.ip_forward=1"]),
        (
            "sudo sysctl net.ipv4.conf.eth0/7.rp_filter=0",
            ["host: net.ipv4.conf.eth0.7.rp_filter=0"],
        ),
        ("sysctl -w net/ipv4/conf/eth0.7/rp_filter=2", ["host: net.ipv4.conf.eth0.7.rp_filter=2"]),
        ("sysctl -w a.b=1 c.d=2", ["host: a.b=1", "host: c.d=2"]),
        ("echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter", ["host: net.ipv4.conf.all.rp_filter=0"]),
        ("echo 1 | sudo tee /proc/sys/net/ipv4/ip_forward", ["host: net.ipv4.ip_forward=1"]),
        ("ip netns exec web sysctl -w net.ipv4.ip_forward=1", ["web: net.ipv4.ip_forward=1"]),
        ("sysctl -p", []),
        ("modprobe br_netfilter", ["load br_netfilter"]),
        ("modprobe -r br-netfilter", ["remove br_netfilter"]),
        ("modprobe nf_conntrack hashsize=100", ["load nf_conntrack"]),
        ("rmmod vxlan br_netfilter", ["remove vxlan", "remove br_netfilter"]),
        ("insmod ./net/bridge/br_netfilter.ko.xz", ["load br_netfilter"]),
        ("modprobe br_netfilter && sysctl -w a.b=1", ["load br_netfilter", "host: a.b=1"]),
        ("ip route del 10.9.0.0/16 dev eth1", ["host: delete 10.9.0.0/16 eth1 None None main"]),
        (
            "ip -4 r a default via 10.1.0.1 dev eth0 metric 7 table 9",
            ["host: add default eth0 10.1.0.1 7 9"],
        ),
        ("ip route replace unreachable 10.9.0.0/16", ["host: add 10.9.0.0/16 None None None main"]),
        ("ip route add nonsense dev eth0", []),
        ("ip route get 1.1.1.1", []),
        ("ip link set eth0 up", []),
        (
            "route del -net 169.254.0.0 gw 0.0.0.0 netmask 255.255.0.0 dev eth0",
            ["host: delete 169.254.0.0/16 eth0 None None main"],
        ),
        ("route add default gw 10.1.0.1 eth0", ["host: add default eth0 10.1.0.1 None main"]),
        ("route add -host 10.9.0.7 dev eth0 metric 3", ["host: add 10.9.0.7 eth0 None 3 main"]),
        ("systemctl restart tuned", []),
    ],
)
def test_effects(command: str, effects: list[str]) -> None:
    """What a command sets, loads, adds or deletes is read from its words; what is not known changes
    nothing.
    """
    assert _effects(command) == effects


def test_commands_on_a_healthy_host_change_nothing_here() -> None:
    """A command on another host is kept, and has no effect on this one."""

    def make_case(label: str | None) -> ReadSources:
        change = by_hand(
            lambda span: (ChangeCommandRecord(span=span, command="modprobe br_netfilter"),),
            label=label,
        )
        other = by_hand(
            lambda span: (ChangeCommandRecord(span=span, command="reboot"),), first_line=7
        )
        return ReadSources.gather([change, other])

    assert len(read_effects(make_case(None))) == 1
    assert read_effects(make_case("On a good host:")) == ()
