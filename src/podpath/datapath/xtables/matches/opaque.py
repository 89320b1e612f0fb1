"""Matches whose answer lies in what a walk cannot see: counters, clocks, payloads, programs.

Their options are known, so that a new one does not pass for an old one; what they answer is a doubt
with a likely side.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from podpath.datapath.netfilter.state import Check, Doubt
from podpath.datapath.xtables.context import RuleContext, always, spell_match, unknown_option
from podpath.node.netfilter import Match, MatchOption


class Opaque(NamedTuple):
    """A match that depends on something outside the model."""

    depends: str
    """On what."""
    options: frozenset[str]
    likely: bool
    """Whether it likely matches, where no option in `against` says otherwise."""
    against: frozenset[str] = frozenset()
    """Options with which it likely does not."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


EXTENSIONS: Mapping[str, Opaque] = {
    "limit": Opaque("packets seen so far", _words("limit limit-burst"), likely=True),
    "hashlimit": Opaque(
        "packets seen so far",
        _words(
            "hashlimit hashlimit-upto hashlimit-above hashlimit-burst hashlimit-mode hashlimit-srcmask hashlimit-dstmask"
            " hashlimit-name hashlimit-htable-size hashlimit-htable-max hashlimit-htable-expire hashlimit-htable-gcinterval"
            " hashlimit-rate-match hashlimit-rate-interval"
        ),
        likely=True,
        against=_words("hashlimit-above"),
    ),
    "connlimit": Opaque(
        "connections open now",
        _words("connlimit-upto connlimit-above connlimit-mask connlimit-saddr connlimit-daddr"),
        likely=True,
        against=_words("connlimit-above"),
    ),
    "quota": Opaque("bytes seen so far", _words("quota"), likely=True),
    "connbytes": Opaque("bytes of the connection so far", _words("connbytes connbytes-dir connbytes-mode"), likely=False),
    "rateest": Opaque(
        "measured rates",
        _words(
            "rateest rateest1 rateest2 rateest-delta rateest-bps rateest-bps1 rateest-bps2 rateest-pps rateest-pps1"
            " rateest-pps2 rateest-lt rateest-gt rateest-eq"
        ),
        likely=False,
    ),
    "time": Opaque(
        "the time",
        _words("datestart datestop timestart timestop monthdays weekdays kerneltz contiguous utc localtz"),
        likely=True,
    ),
    "string": Opaque("the payload", _words("algo from to string hex-string icase"), likely=False),
    "u32": Opaque("bytes of the packet", _words("u32"), likely=False),
    "bpf": Opaque("a program", _words("bytecode object-pinned"), likely=False),
    "cgroup": Opaque("the sender's control group", _words("cgroup path"), likely=False),
    "cluster": Opaque(
        "a hash of the source", _words("cluster-total-nodes cluster-local-node cluster-local-nodemask cluster-hash-seed"),
        likely=False,
    ),
    "connlabel": Opaque("labels of the connection", _words("label set"), likely=False),
    "realm": Opaque("the route's realm", _words("realm"), likely=False),
    "devgroup": Opaque("device groups", _words("src-group dst-group"), likely=False),
    "cpu": Opaque("the processor", _words("cpu"), likely=False),
    "osf": Opaque("the sender's operating system", _words("genre ttl log"), likely=False),
    "ipvs": Opaque(
        "IPVS", _words("ipvs vproto vaddr vport vdir vmethod vportctl"), likely=False
    ),
    "esp": Opaque("the security parameter index", _words("espspi"), likely=False),
    "ah": Opaque("the security parameter index", _words("ahspi ahlen ahres"), likely=False),
    "ipcomp": Opaque("the compression parameter index", _words("ipcompspi compres"), likely=False),
    "l2tp": Opaque("tunnel and session", _words("tid sid pversion type"), likely=False),
    "frag": Opaque("the fragment header", _words("fragid fraglen fragres fragfirst fragmore fraglast"), likely=False),
    "hbh": Opaque("the hop-by-hop header", _words("hbh-len hbh-opts"), likely=False),
    "dst": Opaque("the destination options", _words("dst-len dst-opts"), likely=False),
    "rt": Opaque(
        "the routing header",
        _words("rt-type rt-segsleft rt-len rt-0-res rt-0-addrs rt-0-not-strict"),
        likely=False,
    ),
    "mh": Opaque("the mobility header", _words("mh-type"), likely=False),
    "srh": Opaque(
        "the segment routing header",
        _words(
            "srh-next-hdr srh-hdr-len-eq srh-hdr-len-gt srh-hdr-len-lt srh-segs-left-eq srh-segs-left-gt srh-segs-left-lt"
            " srh-last-entry-eq srh-last-entry-gt srh-last-entry-lt srh-tag srh-psid srh-nsid srh-lsid"
        ),
        likely=False,
    ),
    "ipv6header": Opaque("the extension headers", _words("header soft"), likely=False),
    "eui64": Opaque("the source's interface identifier", frozenset(), likely=False),
}  # fmt: skip
"""By the name of the match."""


def compile_match(match: Match, context: RuleContext) -> tuple[Check, ...]:
    """Compile to one doubt over all options."""
    extension = EXTENSIONS[match.name]
    unknown = [option for option in match.options if option.name not in extension.options]
    if unknown:
        return (unknown_option(match.name, unknown[0], context),)
    likely = extension.likely
    if any(option.name in extension.against for option in match.options):
        likely = not likely
    if _is_negated(match.options):
        likely = not likely
    doubt = Doubt(
        f"{spell_match(match)} at {context.where} matches (it depends on {extension.depends})",
        likely,
        ask=context.show,
    )
    return (always(doubt),)


def _is_negated(options: tuple[MatchOption, ...]) -> bool:
    return sum(option.negated for option in options) % 2 == 1
