"""Targets whose effect on the path is known in words and not modeled: a walk ends at them."""

from __future__ import annotations

from podpath.xtables.extension import TargetExtension, make_options
from podpath.xtables.wording import make_form

_MANGLE = frozenset({"mangle"})
_MODEL_ENDS = "the model ends there, or leaves the copy out, and says so"
_NOT_HERE = "this kernel, or IPv4, does not have it"


def _prefix_translation(name: str) -> TargetExtension:
    return TargetExtension(
        name=name,
        stops=f"{name} rewrites an IPv6 prefix without a connection",
        options=make_options("src-pfx", "dst-pfx"),
        forms=(make_form(name, rf"{name} src-pfx (?P<src_pfx>\S+) dst-pfx (?P<dst_pfx>\S+)"),),
        tables=_MANGLE,
        not_drawn=_NOT_HERE,
    )


TARGETS: tuple[TargetExtension, ...] = (
    TargetExtension(
        name="SYNPROXY",
        stops="SYNPROXY answers the handshake itself and opens a second one",
        options=make_options("wscale", "mss", flags=("sack-perm", "timestamp", "ecn")),
        forms=(
            make_form(
                "SYNPROXY",
                r"SYNPROXY",
                r"?(?P<flag_sack_perm>sack-perm)",
                r"?(?P<flag_timestamp>timestamp)",
                r"?wscale (?P<wscale>\d+)",
                r"?mss (?P<mss>\d+)",
                r"?(?P<flag_ecn>ecn)",
            ),
        ),
        tracks=True,
        not_drawn=_MODEL_ENDS,
    ),
    TargetExtension(
        name="CLUSTERIP",
        stops="CLUSTERIP lets one of several hosts answer, by a hash",
        options=make_options(
            "hashmode", "clustermac", "total-nodes", "local-node", "hash-init", flags=("new",)
        ),
        not_drawn=_NOT_HERE,
    ),
    TargetExtension(
        name="HMARK",
        stops="HMARK sets the mark to a hash of the packet",
        options=make_options(
            *("hmark-tuple", "hmark-mod", "hmark-offset", "hmark-rnd"),
            *("hmark-src-prefix", "hmark-dst-prefix", "hmark-sport-mask", "hmark-dport-mask"),
            *("hmark-spi-mask", "hmark-sport", "hmark-dport", "hmark-spi", "hmark-proto-mask"),
        ),
        forms=(
            make_form(
                "HMARK", r"HMARK .*", unread="iptables -L's wording of this target is not read"
            ),
        ),
        not_drawn=_MODEL_ENDS,
    ),
    _prefix_translation("SNPT"),
    _prefix_translation("DNPT"),
)
"""Why a walk ends at each is its `stops`."""
