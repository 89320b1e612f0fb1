"""What a NAT target allows a connection to become (`struct nf_nat_range2`), and the ways iptables
spells it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from podpath.net.addresses import Address, Family

_RANGE: dict[Family, re.Pattern[str]] = {
    4: re.compile(r"(?:(?P<low>[0-9.]+)(?:-(?P<high>[0-9.]+))?)?(?::(?P<ports>[0-9/-]+))?"),
    6: re.compile(
        r"(?:\[(?P<low>[0-9A-Fa-f:.]+)\](?:-\[(?P<high>[0-9A-Fa-f:.]+)\])?)?"
        r"(?::(?P<ports>\d[0-9/-]*))?"
    ),
}
_BARE = re.compile(r"(?P<low>[0-9A-Fa-f:.]+)(?:-(?P<high>[0-9A-Fa-f:.]+))?(?P<ports>)")
"""An IPv6 address without ports needs no brackets."""
_PORTS = re.compile(r"(?P<low>\d+)(?:-(?P<high>\d+))?(?:/(?P<base>\d+))?")


class NatRange(NamedTuple):
    """Addresses and ports that a tuple may be mapped to."""

    low: int | None = None
    """The first address; None: the address stays (no NF_NAT_RANGE_MAP_IPS)."""
    high: int | None = None
    low_port: int | None = None
    """The first port; None: any port will do (no NF_NAT_RANGE_PROTO_SPECIFIED)."""
    high_port: int | None = None
    base_port: int | None = None
    """`--to-destination :1000-2000/5000`: 5000 becomes 1000, 5001 becomes 1001
    (NF_NAT_RANGE_PROTO_OFFSET).
    """
    random: bool = False
    """`--random` or `--random-fully`: the kernel draws the port."""
    persistent: bool = False


NULL = NatRange()


def parse_nat_range(text: str, family: Family) -> NatRange:
    """Read `10.0.0.1`, `10.0.0.1-10.0.0.9:80-90`, `:80`, `[fd00::1]:80` or `fd00::1`; `ValueError`
    where it is none.
    """
    found = _RANGE[family].fullmatch(text) or (_BARE.fullmatch(text) if family == 6 else None)
    if found is None or not text:
        raise ValueError(f"expected an address with ports, saw {text!r}")
    low, high, ports = found.groups()
    _, _, first_port, last_port, base_port, _, _ = span = parse_port_range(ports) if ports else NULL
    if not low:
        return span
    first = _address(low, family)
    return NatRange(
        first, _address(high, family) if high else first, first_port, last_port, base_port
    )


@lru_cache(maxsize=512)
def parse_port_range(text: str) -> NatRange:
    """Read `80`, `80-90` or `80-90/5000`."""
    found = _PORTS.fullmatch(text)
    if found is None:
        raise ValueError(f"expected ports, saw {text!r}")
    first, last, base = found.groups()
    low = int(first)
    high = int(last) if last else low
    if low > 0xFFFF or high > 0xFFFF:
        raise ValueError(f"expected ports up to 65535, saw {text!r}")
    return NatRange(None, None, low, high, int(base) if base else None)


def _address(text: str, family: Family) -> int:
    address = Address.parse(text)
    if address.family != family:
        raise ValueError(f"expected an IPv{family} address, saw {text!r}")
    return address.value
