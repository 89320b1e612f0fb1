"""Settings: exact values, floors that grow with the machine, ceilings."""

from __future__ import annotations

import pytest

from podpath_protect.sysctl.keys import parse_key
from podpath_protect.sysctl.settings import Policy, SysctlSetting

KEY = parse_key("net.netfilter.nf_conntrack_max")


@pytest.mark.parametrize(
    ("policy", "value", "accepted"),
    [
        ("exact", "5", True), ("exact", "6", False), ("floor", "6", True), ("floor", "4", False), ("ceiling", "4", True),  # noqa: E501
        ("ceiling", "6", False), ("floor", "x", False),
    ],
)  # fmt: skip
def test_policies(policy: Policy, value: str, *, accepted: bool) -> None:
    """A floor is content with more, a ceiling with less."""
    assert SysctlSetting(key=KEY, value="5", policy=policy).accepts(value, 1) is accepted


def test_a_floor_grows_with_the_processors_and_is_capped() -> None:
    """kube-proxy's rule: the larger of the minimum and so much for each processor, up to the
    cap.
    """
    setting = SysctlSetting(key=KEY, value="131072", policy="floor", per_core=32768, cap=1048576)

    assert [setting.wanted(cores) for cores in (1, 8, 64)] == ["131072", "262144", "1048576"]


def test_several_numbers_are_compared_one_by_one() -> None:
    """White space between numbers means nothing."""
    assert SysctlSetting(key=parse_key("net.ipv4.ip_local_port_range"), value="1024 65535").accepts(
        "1024\t65535", 1
    )


def test_a_bound_is_a_number() -> None:
    """A floor of something that has no order is refused."""
    with pytest.raises(ValueError, match="a number with policy 'floor'"):
        SysctlSetting(key=KEY, value="cubic", policy="floor")
