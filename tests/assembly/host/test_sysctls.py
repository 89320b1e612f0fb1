"""Sysctls and modules, also where a command changed them on the way."""

from __future__ import annotations

from podpath.net.provenance import Known, Unknown
from tests.assembly.evidence_text import (
    Output,
    case_of,
    case_of_document,
    known,
    options_of,
)

BRIDGE_KEY = "net.bridge.bridge-nf-call-iptables"


RP_FILTER = "net.ipv4.conf.all.rp_filter"


def test_agreeing_repeats_are_one_fact() -> None:
    """The same value twice is known, by the first line that says so."""
    case = case_of(
        Output(f"sysctl {RP_FILTER}", f"{RP_FILTER} = 1"),
        Output("sysctl -a | grep rp_filter", f"{RP_FILTER} = 1"),
    )
    fact = case.node.host.sysctls[RP_FILTER]
    assert isinstance(fact, Known)
    assert (fact.value, str(fact.span)) == ("1", "ticket.md:1")
    assert case.contradictions == ()


def test_disagreeing_sysctl_forks() -> None:
    """Two values are both options, the first one first, and a contradiction names both lines."""
    case = case_of(
        Output(f"sysctl {RP_FILTER}", f"{RP_FILTER} = 0"),
        Output(f"cat /proc/sys/{RP_FILTER.replace('.', '/')}", "1"),
    )
    fact = case.node.host.sysctls[RP_FILTER]
    assert isinstance(fact, Unknown)
    assert [(option.value, option.meaning) for option in fact.options] == [
        ("0", "as at ticket.md:1"),
        ("1", "as at ticket.md:4"),
    ]
    assert fact.ask == f"sysctl {RP_FILTER}"
    assert [str(span) for span in case.contradictions[0].spans] == ["ticket.md:1", "ticket.md:4"]


def test_good_host_alone_shows_nothing_of_this_one() -> None:
    """What only another, good host has is the last option of an unknown fact, not a known one."""
    case = case_of(
        Output("ip rule", "0:\tfrom all lookup local"),
        Output(f"sysctl {RP_FILTER}", f"{RP_FILTER} = 0", label="On a good host:"),
    )
    assert options_of(case.node.host.sysctls[RP_FILTER]) == ["1", "2", "0"]


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
    """What is read after `modprobe` shows the state after it; before it bridged frames passed
    netfilter by.
    """
    case = case_of_document(MODULE_LOADED)
    fact = case.node.host.sysctls[BRIDGE_KEY]
    assert isinstance(fact, Unknown)
    assert [(option.value, option.meaning) for option in fact.options] == [
        ("0", "before `modprobe br_netfilter` at ticket.md:2"),
        ("1", "as at ticket.md:4, after `modprobe br_netfilter`"),
    ]
    assert "br_netfilter" not in case.node.modules.items
    assert [change.command for change in case.change_commands] == ["modprobe br_netfilter"]
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


def test_key_that_does_not_exist() -> None:
    """Where sysctl says that there is no such key, its module is not loaded, and bridged frames
    pass netfilter by.
    """
    case = case_of(
        Output(
            f"sysctl {BRIDGE_KEY}",
            (
                f"sysctl: cannot stat /proc/sys/{BRIDGE_KEY.replace('.', '/', 2)}: No such file or "
                "directory"
            ),
        )
    )
    assert known(case.node.host.sysctls[BRIDGE_KEY]) == "0"


def test_module_that_is_not_loaded() -> None:
    """A grep of lsmod without output says that the module is not loaded, and so what its keys
    amount to.
    """
    case = case_of(Output("lsmod | grep br_netfilter", ""))
    assert known(case.node.host.sysctls[BRIDGE_KEY]) == "0"
    assert case.node.modules.items == ()


def test_configured_value_is_not_in_force() -> None:
    """A line of sysctl.d is the likeliest value and no more."""
    case = case_of(Output("cat /etc/sysctl.d/99-net.conf", "net.ipv4.ip_forward = 1"))
    assert options_of(case.node.host.sysctls["net.ipv4.ip_forward"]) == ["1", "0"]
