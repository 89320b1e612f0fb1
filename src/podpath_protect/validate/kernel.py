"""What a process without rights can know of iptables on its node: which code the kernel has, by the
names of its functions.

Rules, tables and even the list of tables (/proc/net/ip_tables_names) are for root. The kernel's
functions are not: /proc/kallsyms names those that are built in and those of loaded modules. Modules
come when they are first used, so code that is not there has written no rule in any namespace since
the node booted. What is there may have been used for another pod: it proves nothing.
"""

from __future__ import annotations

import errno
import re
import socket
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from podpath_protect.validate.addresses import Family

KALLSYMS = Path("/proc/kallsyms")
IPT_SO_GET_INFO = 64
"""IPT_SO_GET_INFO and IP6T_SO_GET_INFO: EPERM to us where iptables of the old kind is there at all,
ENOPROTOOPT where it is not (net/netfilter/nf_sockopt.c:nf_sockopt_find v6.12).
"""
_ANCHOR = "nf_hook_slow"
"""A function of every kernel that filters: a list without it is not whole, and says nothing."""
_NFT = ("nf_tables_newrule", "nft_nat_do_chain")
_LEGACY: dict[Family, str] = {4: "iptable_nat_table_init", 6: "ip6table_nat_table_init"}
_REDIRECTS: dict[Family, tuple[str, ...]] = {
    4: (
        "redirect_tg4",
        "tproxy_tg4_v1",
        "nft_redir_eval",
        "nft_redir_ipv4_eval",
        "nft_redir_inet_eval",
        "nft_tproxy_eval",
    ),
    6: (
        "redirect_tg6",
        "tproxy_tg6_v1",
        "nft_redir_eval",
        "nft_redir_ipv6_eval",
        "nft_redir_inet_eval",
        "nft_tproxy_eval",
    ),
}
_WANTED = frozenset(
    (_ANCHOR, *_NFT, *_LEGACY.values(), *(name for names in _REDIRECTS.values() for name in names))
)  # fmt: skip
_NAME = re.compile(rb"^\w+ \w (\w+)", re.MULTILINE)
_CHUNK = 1 << 18


class Kernel(NamedTuple):
    """What the kernel has for one family; None where that is hidden."""

    family: Family
    legacy: bool | None
    """The nat table of iptables-legacy."""
    nft: bool | None
    """nftables with chains of NAT, by which iptables-nft writes."""
    redirects: bool | None
    """The code of REDIRECT or TPROXY, of either kind."""

    def explain(self) -> str:
        """Say what follows for rules that are missing; empty where nothing does."""
        if self.legacy is False and self.nft is False:
            what = f"a NAT table for IPv{self.family}, of iptables-legacy or iptables-nft"
        elif self.redirects is False:
            what = f"REDIRECT or TPROXY for IPv{self.family}"
        else:
            return ""
        return (
            f"No pod of this node has such rules: its kernel has not loaded {what}, so whoever "
            "writes them failed (a missing or wrong iptables, a kernel without the module) or "
            "never ran since it booted."
        )

    def describe(self) -> str:
        """Say by which kinds of iptables rules of this family can have been written, and who can
        tell more.
        """
        kinds = {"iptables-legacy": self.legacy, "iptables-nft": self.nft}
        if None in kinds.values():
            return (
                f"IPv{self.family}: which kinds of iptables the kernel has is hidden from this "
                "process."
            )
        there = [name for name, known in kinds.items() if known]
        if len(there) == 2:
            return (
                f"IPv{self.family}: the kernel takes rules of either kind of iptables; "
                "which it holds here only root can see."
            )
        return (
            f"IPv{self.family}: the kernel has loaded "
            f"{' and '.join(there) or 'no kind of iptables'}{' alone' * bool(there)}."
        )


def read_kernel(families: Sequence[Family], path: Path = KALLSYMS) -> tuple[Kernel, ...]:
    """Look at what the kernel has."""
    try:
        with path.open("rb") as file:
            found = gather_symbols(iter(lambda: file.read(_CHUNK), b""))
    except OSError:
        found = frozenset()
    return tuple(
        judge_symbols(family, found, absent=is_legacy_absent(family)) for family in families
    )


def gather_symbols(chunks: Iterable[bytes]) -> frozenset[str]:
    """Return those of the names that matter here which stand in a list of symbols."""
    found: set[str] = set()
    rest = b""
    for chunk in chunks:
        text, _, rest = (rest + chunk).rpartition(b"\n")
        found |= {name.decode() for name in _NAME.findall(text)} & _WANTED
    return frozenset(found | ({name.decode() for name in _NAME.findall(rest)} & _WANTED))


def judge_symbols(family: Family, found: frozenset[str], *, absent: bool) -> Kernel:
    """Judge by the names found; `absent` says that the kernel itself knows nothing of the old
    kind's calls.
    """
    if _ANCHOR not in found:
        return Kernel(family, legacy=False if absent else None, nft=None, redirects=None)
    return Kernel(
        family,
        legacy=_LEGACY[family] in found and not absent,
        nft=all(name in found for name in _NFT),
        redirects=any(name in found for name in _REDIRECTS[family]),
    )


def is_legacy_absent(family: Family) -> bool:
    """Ask the kernel for tables of the old kind, which is refused where it has them and unheard of
    where it has not.
    """
    domain, level = (
        (socket.AF_INET6, socket.IPPROTO_IPV6)
        if family == 6
        else (socket.AF_INET, socket.IPPROTO_IP)
    )
    try:
        with socket.socket(domain, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as asker:
            asker.getsockopt(level, IPT_SO_GET_INFO, 84)
    except OSError as error:
        return error.errno == errno.ENOPROTOOPT
    return False
