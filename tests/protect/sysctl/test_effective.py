"""How the kernel combines a device's value with that of `all`; rp_filter is asked of the real
kernel.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator

import pytest

from podpath_protect.sysctl.effective import RULES, Rule, combine, rule_of, yielding
from podpath_protect.sysctl.keys import parse_key

NAME = f"psy-effective-{os.getpid()}"


@pytest.mark.parametrize(
    ("rule", "everywhere", "own", "in_force"),
    [
        ("max", 1, 0, 1),
        ("max", 0, 2, 2),
        ("or", 0, 1, 1),
        ("or", 0, 0, 0),
        ("and", 1, 0, 0),
        ("and", 1, 1, 1),
        (None, 1, 0, 0),
    ],
)
def test_values_are_combined(rule: Rule | None, everywhere: int, own: int, in_force: int) -> None:
    """Each rule gives what is in force."""
    assert combine(rule, everywhere, own) == in_force


@pytest.mark.parametrize("rule", sorted(set(RULES.values())))
def test_all_can_give_way(rule: Rule) -> None:
    """With the yielding value of `all`, a device's own value decides."""
    assert [combine(rule, yielding(rule, want), want) for want in (0, 1)] == [0, 1]


def test_only_devices_of_ipv4_are_combined() -> None:
    """`all` itself, IPv6 and other keys count as they are."""
    assert rule_of(parse_key("net.ipv4.conf.eth0.rp_filter")) == "max"
    assert rule_of(parse_key("net.ipv4.conf.all.rp_filter")) is None
    assert rule_of(parse_key("net.ipv6.conf.eth0.accept_ra")) is None
    assert rule_of(parse_key("net.ipv4.conf.eth0.forwarding")) is None


def command(line: str) -> subprocess.CompletedProcess[str]:
    """Run a command in the test's namespace."""
    return subprocess.run(
        ["ip", "netns", "exec", NAME, *line.split()], capture_output=True, text=True, check=False
    )


@pytest.fixture
def namespace() -> Iterator[None]:
    """Make a namespace with two links, and a source that lies behind the other link."""
    subprocess.run(["ip", "netns", "add", NAME], check=True)
    for line in (
        "ip link add one type veth peer name two", "ip link set one up", "ip link set two up",
        "ip addr add 10.1.0.1/24 dev one", "ip addr add 10.2.0.1/24 dev two",
        "sysctl -w net.ipv4.ip_forward=1",
    ):  # fmt: skip
        assert command(line).returncode == 0, line
    yield
    subprocess.run(["ip", "netns", "delete", NAME], check=True)


@pytest.mark.parity("Y9")
@pytest.mark.kernel("sysctl")
@pytest.mark.usefixtures("namespace")
@pytest.mark.parametrize("everywhere", [0, 1, 2])
@pytest.mark.parametrize("own", [0, 1, 2])
def test_the_kernel_takes_the_larger_rp_filter(everywhere: int, own: int) -> None:
    """A packet whose source is routed elsewhere is refused just where the larger of both values is
    strict.
    """
    command(f"sysctl -w net.ipv4.conf.all.rp_filter={everywhere}")
    command(f"sysctl -w net.ipv4.conf.two.rp_filter={own}")
    command(f"sysctl -w net.ipv4.conf.all.log_martians=0 net.ipv4.route.flush={everywhere}")

    asked = command("ip route get 10.2.0.9 from 10.1.0.9 iif two")

    assert (asked.returncode == 0) == (combine("max", everywhere, own) != 1), asked.stderr
