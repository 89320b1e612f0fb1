"""Outputs that disagree, and commands that change the node between outputs."""

from __future__ import annotations

from podpath.net.provenance import Known, Unknown
from podpath.node.case import Alternative, Case
from podpath.node.node import HOST
from tests.assembly.evidence_text import Output, addresses_of, case_of, case_of_document, known, link_of, options_of, spell_route

BRIDGE_KEY = "net.bridge.bridge-nf-call-iptables"
RP_FILTER = "net.ipv4.conf.all.rp_filter"


def _alternative(case: Case, fact: str) -> Alternative:
    return next(item for item in case.alternatives if fact in item.fact)


def test_agreeing_repeats_are_one_fact() -> None:
    """The same value twice is known, by the first line that says so."""
    case = case_of(Output(f"sysctl {RP_FILTER}", f"{RP_FILTER} = 1"), Output("sysctl -a | grep rp_filter", f"{RP_FILTER} = 1"))
    fact = case.node.host.sysctls[RP_FILTER]
    assert isinstance(fact, Known)
    assert (fact.value, str(fact.span)) == ("1", "ticket.md:1")
    assert case.contradictions == ()


def test_disagreeing_sysctl_forks() -> None:
    """Two values are both options, the first one first, and a contradiction names both lines."""
    case = case_of(Output(f"sysctl {RP_FILTER}", f"{RP_FILTER} = 0"), Output(f"cat /proc/sys/{RP_FILTER.replace('.', '/')}", "1"))
    fact = case.node.host.sysctls[RP_FILTER]
    assert isinstance(fact, Unknown)
    assert [(option.value, option.meaning) for option in fact.options] == [("0", "as at ticket.md:1"), ("1", "as at ticket.md:4")]
    assert fact.ask == f"sysctl {RP_FILTER}"
    assert [str(span) for span in case.contradictions[0].spans] == ["ticket.md:1", "ticket.md:4"]


def test_label_puts_the_failing_state_first() -> None:
    """A value with a label that speaks of a working state comes last, wherever it stands, and keeps its label."""
    case = case_of(
        Output(f"sysctl {RP_FILTER}", f"{RP_FILTER} = 0", label="After the fix:"),
        Output(f"sysctl {RP_FILTER}", f"{RP_FILTER} = 1"),
    )
    fact = case.node.host.sysctls[RP_FILTER]
    assert isinstance(fact, Unknown)
    assert [option.value for option in fact.options] == ["1", "0"]
    assert fact.options[1].meaning == "as at ticket.md:1 (After the fix:)"


def test_good_host_alone_shows_nothing_of_this_one() -> None:
    """What only another, good host has is the last option of an unknown fact, not a known one."""
    case = case_of(
        Output("ip rule", "0:\tfrom all lookup local"),
        Output(f"sysctl {RP_FILTER}", f"{RP_FILTER} = 0", label="On a good host:"),
    )
    assert options_of(case.node.host.sysctls[RP_FILTER]) == ["1", "2", "0"]


def test_evidence_of_good_hosts_only_is_taken_as_it_is() -> None:
    """Where every output is labelled as of a good host, the case is about that host."""
    case = case_of(Output(f"sysctl {RP_FILTER}", f"{RP_FILTER} = 0", label="On a good host:"))
    assert known(case.node.host.sysctls[RP_FILTER]) == "0"


def test_two_macs_of_one_device() -> None:
    """The node has the first MAC, an alternative has the other, and a contradiction names both."""
    shown = "2: eth0: <BROADCAST,UP,LOWER_UP> mtu 1500\n    link/ether 02:00:00:00:00:{} brd ff:ff:ff:ff:ff:ff"
    case = case_of(Output("ip link show eth0", shown.format("0a")), Output("ip link show eth0", shown.format("0b")))
    assert link_of(case.node.host, "eth0").mac == "02:00:00:00:00:0a"
    other = _alternative(case, "mac of eth0")
    assert link_of(other.node.host, "eth0").mac == "02:00:00:00:00:0b"
    assert (other.meaning, other.instead_of, other.good) == ("as at ticket.md:5", "as at ticket.md:1", False)
    assert len(case.contradictions) == 1


def test_grep_for_another_mac_than_it_prints() -> None:
    """A MAC that a grep asked for and whose output does not hold it is a second MAC of the device."""
    shown = "3: eth1: <BROADCAST,UP,LOWER_UP> mtu 1500\n    link/ether 52:54:00:aa:00:01 brd ff:ff:ff:ff:ff:ff"
    case = case_of(Output("ip link | grep -B 1 52:54:00:bb:00:02", shown))
    assert link_of(case.node.host, "eth1").mac == "52:54:00:aa:00:01"
    assert link_of(_alternative(case, "mac of eth1").node.host, "eth1").mac == "52:54:00:bb:00:02"


def test_two_routing_tables() -> None:
    """Two whole tables are two states of the node: of the failing one, and of the good host."""
    bad = "default via 10.1.0.1 dev eth0\n169.254.0.0/16 dev eth1 scope link metric 1002"
    case = case_of(
        Output("ip route", bad),
        Output("ip route", "default via 10.1.0.1 dev eth0", label="The same on a node that works:"),
    )
    assert [spell_route(route) for route in case.node.host.routes.items] == [
        "default via 10.1.0.1 dev eth0", "169.254.0.0/16 dev eth1 metric 1002",
    ]  # fmt: skip
    other = _alternative(case, "routes of table main")
    assert [spell_route(route) for route in other.node.host.routes.items] == ["default via 10.1.0.1 dev eth0"]
    assert other.good
    assert case.contradictions == ()


def test_repeated_lines_of_one_table_merge() -> None:
    """The same routes as `route -n` and as `ip route` print them are the same routes, with what either shows."""
    case = case_of(
        Output("route -n", "Destination Gateway Genmask Flags Metric Ref Use Iface\n10.1.0.0 0.0.0.0 255.255.0.0 U 0 0 0 eth0"),
        Output("ip route", "10.1.0.0/16 dev eth0 proto kernel scope link src 10.1.0.9"),
    )
    assert case.alternatives == ()
    (route,) = case.node.host.routes.items
    assert (str(route.prefsrc), route.protocol) == ("10.1.0.9", "kernel")


def test_fragment_that_holds_more_than_the_whole() -> None:
    """Lines that the whole listing lacks show another state; the one that stands first is likeliest."""
    case = case_of(
        Output("ip route | grep 169", "169.254.0.0/16 dev eth1 scope link metric 1002"),
        Output("ip route", "default via 10.1.0.1 dev eth0"),
    )
    assert len(case.node.host.routes.items) == 2
    other = _alternative(case, "routes of table main")
    assert [spell_route(route) for route in other.node.host.routes.items] == ["default via 10.1.0.1 dev eth0"]


def test_other_addresses_of_one_device() -> None:
    """A device with other addresses further down is another state of the node."""
    shown = "2: eth0: <BROADCAST,UP,LOWER_UP> mtu 1500\n    inet 10.1.0.{}/24 scope global eth0"
    case = case_of(Output("ip addr", shown.format(4)), Output("ip addr", shown.format(5)))
    assert addresses_of(case.node.host, "eth0") == ["10.1.0.4/24"]
    assert addresses_of(_alternative(case, "addresses of eth0").node.host, "eth0") == ["10.1.0.5/24"]


MODULE_LOADED = """
```console
root@n1:~# modprobe br_netfilter
root@n1:~# cat /proc/sys/net/bridge/bridge-nf-call-iptables
1
root@n1:~# lsmod | grep br_net
br_netfilter           32768  0
```
"""


def test_value_after_a_module_was_loaded() -> None:
    """What is read after `modprobe` shows the state after it; before it bridged frames passed netfilter by."""
    case = case_of_document(MODULE_LOADED)
    fact = case.node.host.sysctls[BRIDGE_KEY]
    assert isinstance(fact, Unknown)
    assert [(option.value, option.meaning) for option in fact.options] == [
        ("0", "before `modprobe br_netfilter` at ticket.md:2"),
        ("1", "as at ticket.md:4, after `modprobe br_netfilter`"),
    ]
    assert "br_netfilter" not in case.node.modules.items
    assert [deed.command for deed in case.deeds] == ["modprobe br_netfilter"]
    assert case.contradictions == ()


def test_value_read_before_and_after_it_was_set() -> None:
    """`sysctl -w` between two readings makes both values options, the earlier one first."""
    case = case_of_document(f"""
    ```
    root@n1:~# sysctl {RP_FILTER}
    {RP_FILTER} = 2
    root@n1:~# sysctl -w {RP_FILTER}=0
    {RP_FILTER} = 0
    ```
    """)
    assert options_of(case.node.host.sysctls[RP_FILTER]) == ["2", "0"]


def test_value_that_is_only_set() -> None:
    """A command that sets a value says that it had another one before."""
    case = case_of_document("```\nroot@n1:~# echo 1 > /proc/sys/net/ipv4/ip_forward\n```")
    assert options_of(case.node.host.sysctls["net.ipv4.ip_forward"]) == ["0", "1"]


def test_route_deleted_after_it_was_listed() -> None:
    """The node has the route, as things failed with it; the alternative is the node after the deletion."""
    case = case_of_document("""
    ```
    root@n1:~# ip route
    default via 10.1.0.1 dev eth0
    169.254.0.0/16 dev eth1 scope link metric 1002
    root@n1:~# ip route del 169.254.0.0/16 dev eth1
    ```
    """)
    assert len(case.node.host.routes.items) == 2
    other = _alternative(case, "routes")
    assert [spell_route(route) for route in other.node.host.routes.items] == ["default via 10.1.0.1 dev eth0"]
    assert other.good
    assert other.meaning == "after `ip route del 169.254.0.0/16 dev eth1` at ticket.md:5"


def test_route_deleted_before_it_was_listed() -> None:
    """A listing below the deletion lacks the route; before it the route was there."""
    case = case_of_document("""
    ```
    root@n1:~# route del -net 169.254.0.0 netmask 255.255.0.0 dev eth1
    root@n1:~# ip route
    default via 10.1.0.1 dev eth0
    ```
    """)
    assert [spell_route(route) for route in case.node.host.routes.items] == [
        "default via 10.1.0.1 dev eth0", "169.254.0.0/16 dev eth1",
    ]  # fmt: skip
    assert "names it" in case.node.host.routes.items[1].inferred


def test_key_that_does_not_exist() -> None:
    """Where sysctl says that there is no such key, its module is not loaded, and bridged frames pass netfilter by."""
    case = case_of(
        Output(
            f"sysctl {BRIDGE_KEY}", f"sysctl: cannot stat /proc/sys/{BRIDGE_KEY.replace('.', '/', 2)}: No such file or directory"
        )
    )
    assert known(case.node.host.sysctls[BRIDGE_KEY]) == "0"


def test_module_that_is_not_loaded() -> None:
    """A grep of lsmod without output says that the module is not loaded, and so what its keys amount to."""
    case = case_of(Output("lsmod | grep br_netfilter", ""))
    assert known(case.node.host.sysctls[BRIDGE_KEY]) == "0"
    assert case.node.modules.items == ()


def test_configured_value_is_not_in_force() -> None:
    """A line of sysctl.d is the likeliest value and no more."""
    case = case_of(Output("cat /etc/sysctl.d/99-net.conf", "net.ipv4.ip_forward = 1"))
    assert options_of(case.node.host.sysctls["net.ipv4.ip_forward"]) == ["1", "0"]


def test_namespaces_do_not_mix() -> None:
    """The same key in two namespaces is two facts."""
    case = case_of(
        Output(f"sysctl {RP_FILTER}", f"{RP_FILTER} = 0"), Output(f"sysctl {RP_FILTER}", f"{RP_FILTER} = 1", netns="cni-7")
    )
    assert known(case.node.namespaces[HOST].sysctls[RP_FILTER]) == "0"
    assert known(case.node.namespaces["cni-7"].sysctls[RP_FILTER]) == "1"
