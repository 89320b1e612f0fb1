"""Matches whose answer lies in what a walk cannot see: counters, clocks, payloads, programs.

Their options are known, so that a new one does not pass for an old one; what they answer is a doubt
with a likely side.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from podpath.net import protocols
from podpath.xtables.context import MatchCompiler, RuleContext, always, unknown_option
from podpath.xtables.extension import Draw, MatchExtension, OptionMeaning, draw, make_options
from podpath.xtables.legality import ALL_TABLES
from podpath.xtables.rule import Match, MatchOption, spell_match
from podpath.xtables.seen import Check, Doubt
from podpath.xtables.wording import QUOTED, Form, Groups, ListedReader, make_form, unescape


def _opaque(  # noqa: PLR0913  # one call makes one row of the table
    name: str,
    depends: str,
    options: Mapping[str, OptionMeaning],
    *forms: Form,
    likely: bool = False,
    against: tuple[str, ...] = (),
    listed: ListedReader | None = None,
    apart: bool = False,
    tracks: bool = False,
    draws: tuple[Draw, ...] = (),
    not_drawn: str = "",
) -> MatchExtension:
    """Make a match that depends on something outside the model. It is as `likely` as that, where no
    option in `against` says otherwise.
    """
    return MatchExtension(
        name=name,
        options=options,
        forms=forms,
        listed=listed,
        apart=apart,
        tables=ALL_TABLES,
        compiler=_compiler(depends, options, frozenset(against), likely=likely),
        tracks=tracks,
        depends=depends,
        likely=likely,
        draws=draws,
        not_drawn=not_drawn,
    )


def _compiler(
    depends: str, options: Mapping[str, OptionMeaning], against: frozenset[str], *, likely: bool
) -> MatchCompiler:
    """Return what compiles a match to one doubt over all its options."""

    def compile_match(match: Match, context: RuleContext) -> tuple[Check, ...]:
        unknown = [option for option in match.options if option.name not in options]
        if unknown:
            return (unknown_option(match.name, unknown[0], context),)
        turns = sum(option.negated for option in match.options)
        turns += any(option.name in against for option in match.options)
        doubt = Doubt(
            f"{spell_match(match)} at {context.where} matches (it depends on {depends})",
            likely if turns % 2 == 0 else not likely,
            ask=context.show,
        )
        return (always(doubt),)

    return compile_match


def _list_limit(groups: Groups) -> tuple[MatchOption, ...]:
    limit = MatchOption("limit", (groups["limit"] or "",))
    burst = groups["limit_burst"] or "5"
    if burst == "5":
        return (limit,)
    return (limit, MatchOption("limit-burst", (burst,)))


def _list_connlimit(groups: Groups) -> tuple[MatchOption, ...]:
    bound = "connlimit-above" if groups["sign"] == ">" else "connlimit-upto"
    side = "connlimit-saddr" if groups["side"] == "src" else "connlimit-daddr"
    return (
        MatchOption(bound, (groups["count"] or "",)),
        MatchOption("connlimit-mask", (groups["mask"] or "",)),
        MatchOption(side),
    )


def _list_time(groups: Groups) -> tuple[MatchOption, ...]:
    names = ("timestart", "timestop", "monthdays", "weekdays", "datestart", "datestop")
    options = [
        MatchOption(name, (value,), groups.get(f"no_{name}") is not None)
        for name in names
        if (value := groups[name]) is not None
    ]
    if groups["zone"] is None:
        options.append(MatchOption("kerneltz"))
    if groups["flag_contiguous"]:
        options.append(MatchOption("contiguous"))
    return tuple(options)


def _list_string(groups: Groups) -> tuple[MatchOption, ...]:
    text = groups["string"] or ""
    name = "hex-string" if re.fullmatch(r"\|[0-9a-f]+\|", text) else "string"
    options = [MatchOption(name, (text,), groups["no_string"] is not None)]
    options += [
        MatchOption(word, (value,))
        for word in ("algo", "from", "to")
        if (value := groups[word]) is not None
    ]
    if groups["flag_icase"]:
        options.append(MatchOption("icase"))
    return tuple(options)


def _spell_modes(value: str) -> str:
    return value.replace("-", ",")


def _spell_program(value: str) -> str:
    return f"{value.count(',') + 1},{value}"


def _spell_date(value: str) -> str:
    return value.replace(" ", "T")


def _spell_days(value: str) -> str:
    return re.sub(r"(?<=\d)(?:st|nd|rd|th)", "", value)


_NOT_SET = "what it depends on is not set by the case"
_NEEDS_OBJECT = "it needs an object outside the rules"
_IPV6 = "IPv6 alone has it"
_NOT_HERE = "this kernel, or IPv4, does not have it"
_HASHLIMIT = (
    r"burst (?P<hashlimit_burst>\S+)", r"?mode (?P<hashlimit_mode>\S+)",
    r"?htable-size (?P<hashlimit_htable_size>\d+)", r"?htable-max (?P<hashlimit_htable_max>\d+)",
    r"?htable-gcinterval (?P<hashlimit_htable_gcinterval>\d+)",
    r"?htable-expire (?P<hashlimit_htable_expire>\d+)", r"?srcmask (?P<hashlimit_srcmask>\d+)",
    r"?dstmask (?P<hashlimit_dstmask>\d+)", r"?(?P<flag_hashlimit_rate_match>rate-match)",
    r"?rate-interval (?P<hashlimit_rate_interval>\d+)",
)  # fmt: skip

MATCHES: tuple[MatchExtension, ...] = (
    _opaque(
        "esp", "the security parameter index", make_options("espspi"),
        make_form("esp", r"esp", r"?spis?:(?P<no_espspi>!)?(?P<espspi>\S+)"),
        draws=(draw("espspi 1", protocol=protocols.ESP),),
    ),
    _opaque(
        "ah", "the security parameter index", make_options("ahspi", "ahlen", flags=("ahres",)),
        make_form("ah", r"ah", r"?spis?:(?P<no_ahspi>!)?(?P<ahspi>\S+)"),
        draws=(draw("ahspi 1", protocol=protocols.AH),),
    ),
    _opaque(
        "ipcomp", "the compression parameter index", make_options("ipcompspi", flags=("compres",)),
        make_form("ipcomp", r"comp", r"?spis?:(?P<no_ipcompspi>!)?(?P<ipcompspi>\S+)"),
        not_drawn=_NOT_HERE,
    ),
    _opaque(
        "limit", "packets seen so far", make_options("limit", "limit-burst"),
        make_form("limit", r"limit: avg (?P<limit>\S+)", r"burst (?P<limit_burst>\d+)"),
        likely=True, listed=_list_limit, draws=(draw("limit 1000/sec", "limit-burst 500"),),
    ),
    _opaque(
        "hashlimit", "packets seen so far",
        make_options(
            "hashlimit", "hashlimit-upto", "hashlimit-above", "hashlimit-mode", "hashlimit-srcmask",
            "hashlimit-dstmask", "hashlimit-name", "hashlimit-burst", "hashlimit-htable-size",
            "hashlimit-htable-max", "hashlimit-htable-gcinterval", "hashlimit-htable-expire",
            "hashlimit-rate-interval", flags=("hashlimit-rate-match",),
            save={"hashlimit-mode": _spell_modes},
        ),
        *(
            make_form("hashlimit", rf"limit: {word} (?P<hashlimit_{name}>\S+)", *_HASHLIMIT,
                      unread="iptables -L does not show --hashlimit-name")
            for word, name in (("up to", "upto"), ("above", "above"))
        ),
        likely=True, against=("hashlimit-above",),
        draws=(draw(
            "hashlimit-upto 5000/sec", "hashlimit-burst 500", "hashlimit-mode srcip",
            "hashlimit-name each",
        ),),
    ),
    _opaque(
        "connlimit", "connections open now",
        make_options(
            "connlimit-upto", "connlimit-above", "connlimit-mask",
            flags=("connlimit-saddr", "connlimit-daddr"),
        ),
        make_form("connlimit", r"#conn (?P<side>src|dst)/(?P<mask>\d+) (?P<sign>>|<=) "
                               r"(?P<count>\d+)"),
        likely=True, against=("connlimit-above",), listed=_list_connlimit, tracks=True,
        draws=(draw("connlimit-above 100", "connlimit-mask 32", "connlimit-saddr"),),
    ),
    _opaque(
        "connbytes", "bytes of the connection so far",
        make_options("connbytes", "connbytes-dir", "connbytes-mode"),
        make_form(
            "connbytes", r"(?:(?P<no_connbytes>!) )?connbytes (?P<connbytes>\d\S*)",
            r"connbytes mode (?P<connbytes_mode>\S+)",
            r"connbytes direction (?P<connbytes_dir>\S+)",
        ),
        tracks=True, not_drawn=_NOT_SET,
    ),
    _opaque(
        "connlabel", "labels of the connection", make_options("label", flags=("set",)),
        make_form(
            "connlabel", r"connlabel (?:(?P<no_label>!) )?(?P<label>\S+)", r"?(?P<flag_set>set)",
        ),
        tracks=True, not_drawn=_NEEDS_OBJECT,
    ),
    _opaque(
        "string", "the payload",
        make_options("string", "hex-string", "algo", "from", "to", flags=("icase",),
                     save={"string": unescape, "hex-string": unescape}),
        make_form(
            "string", r"STRING match (?:(?P<no_string>!) )?" + QUOTED.format("string"),
            r"ALGO name (?P<algo>\S+)", r"?FROM (?P<from>\d+)", r"?TO (?P<to>\d+)",
            r"?(?P<flag_icase>ICASE)",
        ),
        listed=_list_string, draws=(draw("string xyzzy", "algo bm"),),
    ),
    _opaque(
        "time", "the time",
        make_options("datestart", "datestop", "timestart", "timestop", "monthdays", "weekdays",
                     flags=("kerneltz", "utc", "localtz", "contiguous"),
                     save={
                         "datestart": _spell_date, "datestop": _spell_date,
                         "monthdays": _spell_days,
                     }),
        make_form(
            "time", r"TIME", r"?from (?P<timestart>[\d:]+) to (?P<timestop>[\d:]+)",
            r"?on (?P<no_weekdays>!)?(?P<weekdays>(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[\w,]*)",
            r"?on (?P<no_monthdays>!)?(?P<monthdays>\d+(?:st|nd|rd|th)[\w,]*)",
            r"?starting from (?P<datestart>\S+ [\d:]+)", r"?until date (?P<datestop>\S+ [\d:]+)",
            r"?(?P<zone>UTC)", r"?(?P<flag_contiguous>contiguous)",
        ),
        likely=True, listed=_list_time, draws=(draw("datestop 2038-01-19T03:14:07"),),
    ),
    _opaque(
        "u32", "bytes of the packet", make_options("u32", save={"u32": unescape}),
        make_form("u32", r"u32 (?:(?P<no_u32>!) )?" + QUOTED.format("u32")), not_drawn=_NOT_SET,
    ),
    _opaque(
        "realm", "the route's realm", make_options("realm"),
        make_form("realm", r"(?:(?P<no_realm>!) )?realm (?P<realm>\S+)"), not_drawn=_NEEDS_OBJECT,
    ),
    _opaque(
        "cpu", "the processor", make_options("cpu"),
        make_form("cpu", r"cpu (?:(?P<no_cpu>!) )?(?P<cpu>\d+)"), not_drawn=_NOT_SET,
    ),
    _opaque(
        "devgroup", "device groups", make_options("src-group", "dst-group"),
        make_form("devgroup", r"(?:(?P<no_src_group>!) )?src-group (?P<src_group>\S+)",
                  r"?(?:(?P<no_dst_group>!) )?dst-group (?P<dst_group>\S+)"),
        make_form("devgroup", r"(?:(?P<no_dst_group>!) )?dst-group (?P<dst_group>\S+)"),
        apart=True, not_drawn=_NOT_SET,
    ),
    _opaque(
        "cluster", "a hash of the source",
        make_options(
            "cluster-total-nodes", "cluster-local-node", "cluster-local-nodemask",
            "cluster-hash-seed",
        ),
        make_form("cluster", r"cluster", r"(?P<no_cluster_local_nodemask>!)?node_mask="
                                         r"(?P<cluster_local_nodemask>\S+)",
                  r"total_nodes=(?P<cluster_total_nodes>\d+)",
                  r"hash_seed=(?P<cluster_hash_seed>\S+)"),
        tracks=True, not_drawn=_NOT_SET,
    ),
    _opaque(
        "quota", "bytes seen so far", make_options("quota"),
        make_form(
            "quota", r"quota: (?P<quota>\d+) bytes",
            unread="iptables -L does not show whether the quota is negated",
        ),
        likely=True, draws=(draw("quota 1000000"),),
    ),
    _opaque(
        "cgroup", "the sender's control group", make_options("path", "cgroup"),
        make_form("cgroup", r"cgroup (?:(?P<no_cgroup>!) )?(?P<cgroup>\d+)"),
        make_form("cgroup", r"cgroup (?:(?P<no_path>!) )?(?P<path>/\S*)"), not_drawn=_NEEDS_OBJECT,
    ),
    _opaque(
        "bpf", "a program",
        make_options("bytecode", "object-pinned", save={"bytecode": _spell_program}),
        make_form("bpf", r"match bpf (?P<bytecode>\d[\d ,]*\d)\0?"),
        make_form("bpf", r"match bpf pinned (?P<object_pinned>\S+)"), not_drawn=_NEEDS_OBJECT,
    ),
    _opaque(
        "eui64", "the source's interface identifier", make_options(), make_form("eui64", r"eui64"),
        not_drawn=_IPV6,
    ),
    _opaque(
        "osf", "the sender's operating system", make_options("genre", "ttl", "log"),
        make_form(
            "osf", r"OS fingerprint match .*",
            unread="iptables -L does not show all options of osf",
        ),
        not_drawn=_NOT_SET,
    ),
    _opaque(
        "rateest", "measured rates",
        make_options(
            "rateest", "rateest1", "rateest2", "rateest-bps", "rateest-pps", "rateest-bps1",
            "rateest-pps1", "rateest-bps2", "rateest-pps2",
            flags=("rateest-delta", "rateest-lt", "rateest-gt", "rateest-eq"),
        ),
        make_form("rateest", r"rateest match .*", unread="iptables -L rounds rates"),
        not_drawn=_NEEDS_OBJECT,
    ),
    _opaque(
        "ipvs", "IPVS",
        make_options("vproto", "vaddr", "vport", "vdir", "vmethod", "vportctl", flags=("ipvs",)),
        not_drawn=_NOT_HERE,
    ),
    _opaque(
        "l2tp", "tunnel and session", make_options("tid", "sid", "pversion", "type"),
        not_drawn=_NOT_HERE,
    ),
    _opaque(
        "frag", "the fragment header",
        make_options("fragid", "fraglen", flags=("fragres", "fragfirst", "fragmore", "fraglast")),
        not_drawn=_IPV6,
    ),
    _opaque("hbh", "the hop-by-hop header", make_options("hbh-len", "hbh-opts"), not_drawn=_IPV6),
    _opaque("dst", "the destination options", make_options("dst-len", "dst-opts"), not_drawn=_IPV6),
    _opaque(
        "rt", "the routing header",
        make_options(
            "rt-type", "rt-segsleft", "rt-len", "rt-0-addrs", flags=("rt-0-res", "rt-0-not-strict"),
        ),
        not_drawn=_IPV6,
    ),
    _opaque("mh", "the mobility header", make_options("mh-type"), not_drawn=_IPV6),
    _opaque(
        "srh", "the segment routing header",
        make_options(
            "srh-next-hdr", "srh-hdr-len-eq", "srh-hdr-len-gt", "srh-hdr-len-lt",
            "srh-segs-left-eq", "srh-segs-left-gt", "srh-segs-left-lt", "srh-last-entry-eq",
            "srh-last-entry-gt", "srh-last-entry-lt", "srh-tag", "srh-psid", "srh-nsid", "srh-lsid",
        ),
        not_drawn=_IPV6,
    ),
    _opaque(
        "ipv6header", "the extension headers", make_options("header", flags=("soft",)),
        not_drawn=_IPV6,
    ),
)  # fmt: skip
"""What the answer of each depends on is its `depends`."""
