"""How `iptables -L` words each match and target that no module of `xtables` holds whole;
`xtables.wording` says what a form is.

What needs more than groups stands in `listing_values`, by the name of the extension.
"""

from __future__ import annotations

from podpath.xtables import registry
from podpath.xtables.wording import Form
from podpath.xtables.wording import make_form as _form


def _option(word: str, option: str) -> str:
    """Word an option that is printed as `[! ]word value`."""
    group = option.replace("-", "_")
    return rf"(?:(?P<no_{group}>!) )?{word} (?P<{group}>\S+)"


def _ports(extension: str) -> tuple[str, ...]:
    return (
        extension,
        r"?spts?:(?P<no_sport>!)?(?P<sport>\S+)",
        r"?dpts?:(?P<no_dport>!)?(?P<dport>\S+)",
    )


_QUOTED = r'"(?P<{}>(?:[^"\\]|\\.)*+)"'

MATCHES: tuple[Form, ...] = (
    _form("tcp", *_ports("tcp"), r"?option=(?P<no_tcp_option>!)?(?P<tcp_option>\d+)",
          r"?flags:(?P<no_tcp_flags>!)?(?P<tcp_flags>\S+)"),
    _form("udp", *_ports("udp")),
    _form("udplite", *_ports("udplite")),
    _form("sctp", *_ports("sctp"), r"?(?:(?P<no_chunk_types>!) )?(?P<chunk_types>(?:any|all|only) \S+)"),
    _form("dccp", *_ports("dccp"), r"?(?:(?P<no_dccp_types>!) )?(?P<dccp_types>[A-Z0-9][A-Z0-9,]*)",
          r"?option=(?P<no_dccp_option>!)?(?P<dccp_option>\d+)"),
    _form("icmp", r"icmp(?: )?(?P<no_icmp_type>!)?type (?P<icmp_type>\d+(?: codes? [\d-]+)?)"),
    _form("icmp", r"icmp (?P<no_icmp_type>!)?(?P<icmp_type>[A-Za-z][\w/-]*)"),
    _form("icmp6", r"ipv6-icmp(?: )?(?P<no_icmpv6_type>!)?type (?P<icmpv6_type>\d+(?: codes? [\d-]+)?)"),
    _form("icmp6", r"ipv6-icmp (?P<no_icmpv6_type>!)?(?P<icmpv6_type>[A-Za-z][\w/-]*)"),
    _form("esp", r"esp", r"?spis?:(?P<no_espspi>!)?(?P<espspi>\S+)"),
    _form("ah", r"ah", r"?spis?:(?P<no_ahspi>!)?(?P<ahspi>\S+)"),
    _form("ipcomp", r"comp", r"?spis?:(?P<no_ipcompspi>!)?(?P<ipcompspi>\S+)"),
    _form("conntrack", _option("ctstate", "ctstate")),
    *(_form("conntrack", _option(name, name)) for name in (
        "ctproto", "ctorigsrcport", "ctorigdstport", "ctreplsrcport", "ctrepldstport", "ctorigsrc", "ctorigdst", "ctreplsrc",
        "ctrepldst", "ctstatus", "ctexpire", "ctdir")),
    _form("state", _option("state", "state")),
    _form("connmark", r"(?:connmark|CONNMARK) match (?:(?P<no_mark>!) )?(?P<mark>\S+)"),
    *(_form("multiport", rf"multiport {kind} (?P<no_{kind}>!)?(?P<{kind}>\S+)") for kind in ("sports", "dports", "ports")),
    _form("addrtype", r"ADDRTYPE match", r"?src-type (?P<no_src_type>!)?(?P<src_type>\S+)",
          r"?dst-type (?P<no_dst_type>!)?(?P<dst_type>\S+)", r"?(?P<flag_limit_iface_in>limit-in)",
          r"?(?P<flag_limit_iface_out>limit-out)"),
    _form("statistic", r"statistic mode (?P<mode>random)", r"(?:(?P<no_probability>!) )?probability (?P<probability>\S+)"),
    _form("statistic", r"statistic mode (?P<mode>nth)", r"(?:(?P<no_every>!) )?every (?P<every>\d+)", r"?packet (?P<packet>\d+)"),
    _form("set", r"(?:(?P<no_match_set>!) )?match-set (?P<match_set>\S+ \S+)", r"?(?P<flag_return_nomatch>return-nomatch)",
          r"?(?:(?P<no_update_counters>!) )(?P<flag_update_counters>update-counters)",
          r"?(?:(?P<no_update_subcounters>!) )(?P<flag_update_subcounters>update-subcounters)",
          r"?(?:(?P<no_packets_eq>!) )?packets-eq (?P<packets_eq>\d+)", r"?packets-lt (?P<packets_lt>\d+)",
          r"?packets-gt (?P<packets_gt>\d+)", r"?(?:(?P<no_bytes_eq>!) )?bytes-eq (?P<bytes_eq>\d+)",
          r"?bytes-lt (?P<bytes_lt>\d+)", r"?bytes-gt (?P<bytes_gt>\d+)"),
    _form("physdev", r"PHYSDEV match", r"?(?:(?P<no_flag_physdev_is_in>!) )?(?P<flag_physdev_is_in>--physdev-is-in)",
          r"?" + _option("--physdev-in", "physdev-in"),
          r"?(?:(?P<no_flag_physdev_is_out>!) )?(?P<flag_physdev_is_out>--physdev-is-out)",
          r"?" + _option("--physdev-out", "physdev-out"),
          r"?(?:(?P<no_flag_physdev_is_bridged>!) )?(?P<flag_physdev_is_bridged>--physdev-is-bridged)"),
    _form("owner", r"(?:(?P<no_flag_socket_exists>!) )?owner (?P<flag_socket_exists>socket exists)"),
    _form("owner", r"(?:(?P<no_uid_owner>!) )?owner UID match (?P<uid_owner>\S+)"),
    _form("owner", r"(?:(?P<no_gid_owner>!) )?owner GID match (?P<gid_owner>\S+)",
          r"?(?P<flag_suppl_groups>incl\. suppl\. groups)"),
    _form("limit", r"limit: avg (?P<limit>\S+)", r"burst (?P<limit_burst>\d+)"),
    *(_form("hashlimit", rf"limit: {word} (?P<hashlimit_{name}>\S+)", r"burst (?P<hashlimit_burst>\S+)",
            r"?mode (?P<hashlimit_mode>\S+)", r"?htable-size (?P<hashlimit_htable_size>\d+)",
            r"?htable-max (?P<hashlimit_htable_max>\d+)", r"?htable-gcinterval (?P<hashlimit_htable_gcinterval>\d+)",
            r"?htable-expire (?P<hashlimit_htable_expire>\d+)", r"?srcmask (?P<hashlimit_srcmask>\d+)",
            r"?dstmask (?P<hashlimit_dstmask>\d+)", r"?(?P<flag_hashlimit_rate_match>rate-match)",
            r"?rate-interval (?P<hashlimit_rate_interval>\d+)", unread="iptables -L does not show --hashlimit-name")
      for word, name in (("up to", "upto"), ("above", "above"))),
    _form("connlimit", r"#conn (?P<side>src|dst)/(?P<mask>\d+) (?P<sign>>|<=) (?P<count>\d+)"),
    _form("connbytes", r"(?:(?P<no_connbytes>!) )?connbytes (?P<connbytes>\d\S*)", r"connbytes mode (?P<connbytes_mode>\S+)",
          r"connbytes direction (?P<connbytes_dir>\S+)"),
    _form("connlabel", r"connlabel (?:(?P<no_label>!) )?(?P<label>\S+)", r"?(?P<flag_set>set)"),
    _form("iprange", r"source IP range (?:(?P<no_src_range>!) )?(?P<src_range>\S+)"),
    _form("iprange", r"destination IP range (?:(?P<no_dst_range>!) )?(?P<dst_range>\S+)"),
    _form("mac", r"MAC (?:(?P<no_mac_source>!) )?(?P<mac_source>\S+)"),
    _form("policy", r"policy match dir (?P<dir>\S+) pol (?P<pol>none|ipsec)", r"?(?P<flag_strict>strict)",
          r"?(?P<elements>(?:\[\d\]|(?:! )?(?:reqid|spi|proto|mode|tunnel-dst|tunnel-src) \S+)"
          r"(?: \[\d\]| (?:! )?(?:reqid|spi|proto|mode|tunnel-dst|tunnel-src) \S+)*)"),
    _form("recent", r"(?:(?P<no_action>!) )?recent: (?P<action>SET|CHECK|UPDATE|REMOVE)",
          r"?seconds: (?P<seconds>\d+)", r"?(?P<flag_reap>reap)", r"?hit_count: (?P<hitcount>\d+)", r"?(?P<flag_rttl>TTL-Match)",
          r"?name: (?P<name>\S+)", r"?side: (?P<side>source|dest)", r"?mask: (?P<mask>\S+)"),
    _form("string", r"STRING match (?:(?P<no_string>!) )?" + _QUOTED.format("string"), r"ALGO name (?P<algo>\S+)",
          r"?FROM (?P<from>\d+)", r"?TO (?P<to>\d+)", r"?(?P<flag_icase>ICASE)"),
    _form("time", r"TIME", r"?from (?P<timestart>[\d:]+) to (?P<timestop>[\d:]+)",
          r"?on (?P<no_weekdays>!)?(?P<weekdays>(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[\w,]*)",
          r"?on (?P<no_monthdays>!)?(?P<monthdays>\d+(?:st|nd|rd|th)[\w,]*)",
          r"?starting from (?P<datestart>\S+ [\d:]+)", r"?until date (?P<datestop>\S+ [\d:]+)", r"?(?P<zone>UTC)",
          r"?(?P<flag_contiguous>contiguous)"),
    _form("ecn", r"ECN match", r"?(?P<no_flag_ecn_tcp_ece>!)?(?P<flag_ecn_tcp_ece>ECE)",
          r"?(?P<no_flag_ecn_tcp_cwr>!)?(?P<flag_ecn_tcp_cwr>CWR)", r"?(?P<no_ecn_ip_ect>!)?ECT=(?P<ecn_ip_ect>\d)"),
    _form("tcpmss", r"tcpmss match (?P<no_mss>!)?(?P<mss>\S+)"),
    _form("u32", r"u32 (?:(?P<no_u32>!) )?" + _QUOTED.format("u32")),
    _form("realm", r"(?:(?P<no_realm>!) )?realm (?P<realm>\S+)"),
    _form("helper", r"helper match (?:(?P<no_helper>!) )?" + _QUOTED.format("helper")),
    _form("cpu", r"cpu (?:(?P<no_cpu>!) )?(?P<cpu>\d+)"),
    _form("devgroup", r"(?:(?P<no_src_group>!) )?src-group (?P<src_group>\S+)",
          r"?(?:(?P<no_dst_group>!) )?dst-group (?P<dst_group>\S+)"),
    _form("devgroup", r"(?:(?P<no_dst_group>!) )?dst-group (?P<dst_group>\S+)"),
    _form("socket", r"socket", r"?(?P<flag_transparent>--transparent)", r"?(?P<flag_nowildcard>--nowildcard)",
          r"?(?P<flag_restore_skmark>--restore-skmark)"),
    _form("rpfilter", r"rpfilter", r"?(?P<flag_loose>loose)", r"?(?P<flag_validmark>validmark)",
          r"?(?P<flag_accept_local>accept-local)", r"?(?P<flag_invert>invert)"),
    _form("cluster", r"cluster", r"(?P<no_cluster_local_nodemask>!)?node_mask=(?P<cluster_local_nodemask>\S+)",
          r"total_nodes=(?P<cluster_total_nodes>\d+)",
          r"hash_seed=(?P<cluster_hash_seed>\S+)"),
    _form("quota", r"quota: (?P<quota>\d+) bytes", unread="iptables -L does not show whether the quota is negated"),
    _form("cgroup", r"cgroup (?:(?P<no_cgroup>!) )?(?P<cgroup>\d+)"),
    _form("cgroup", r"cgroup (?:(?P<no_path>!) )?(?P<path>/\S*)"),
    _form("bpf", r"match bpf (?P<bytecode>\d[\d ,]*\d)\0?"),
    _form("bpf", r"match bpf pinned (?P<object_pinned>\S+)"),
    _form("eui64", r"eui64"),
    _form("osf", r"OS fingerprint match .*", unread="iptables -L does not show all options of osf"),
    _form("rateest", r"rateest match .*", unread="iptables -L rounds rates"),
    *(form for match in registry.MATCHES for form in match.forms),
)  # fmt: skip
"""In the order they are tried at a place. A comment is no form: its text may hold anything."""

_MARK_WORDS = r"(?P<action>set|and|or|xor|xset) (?P<value>\S+)"
_FLAGS = (
    r"?(?P<flag_random>random)",
    r"?(?P<flag_random_fully>random-fully)",
    r"?(?P<flag_persistent>persistent)",
)

TARGETS: tuple[Form, ...] = (
    _form("REJECT", r"reject-with (?P<reject_with>\S+)"),
    _form("DNAT", r"to:(?P<to_destination>\S+)", *_FLAGS),
    _form("SNAT", r"to:(?P<to_source>\S+)", *_FLAGS),
    _form("MASQUERADE", r"masq ports: (?P<to_ports>\S+)", *_FLAGS[:2]),
    _form("MASQUERADE", r"(?P<flag_random_fully>random-fully)"),
    _form("MASQUERADE", r"(?P<flag_random>random)", _FLAGS[1]),
    _form("REDIRECT", r"redir ports (?P<to_ports>\S+)", _FLAGS[0]),
    _form("NETMAP", r"to:(?P<to>\S+)"),
    _form("NETMAP", r"(?P<to>[\d.:a-f]+/\S+)"),
    _form("MARK", r"MARK " + _MARK_WORDS),
    _form("CONNMARK", r"CONNMARK " + _MARK_WORDS),
    _form("CONNMARK", r"CONNMARK (?P<action>save|restore)", r"?mask (?P<mask>0x\S+)",
          r"?nfmask (?P<save_nfmask>0x\S+) ctmask ~(?P<save_ctmask>0x\S+)",
          r"?ctmask (?P<restore_ctmask>0x\S+) nfmask ~(?P<restore_nfmask>0x\S+)"),
    _form("TPROXY", r"TPROXY redirect (?P<address>\S+):(?P<port>\d+) mark (?P<tproxy_mark>\S+)"),
    _form("LOG", r"LOG flags (?P<flags>\d+) level (?P<log_level>\S+)", r'?prefix "(?P<log_prefix>.*)"'),
    _form("LOG", r"LOG level (?P<log_level>\S+)", r"?(?P<flag_log_tcp_sequence>tcp-sequence)",
          r"?(?P<flag_log_tcp_options>tcp-options)", r"?(?P<flag_log_ip_options>ip-options)", r"?(?P<flag_log_uid>uid)",
          r"?(?P<flag_log_macdecode>macdecode)", r'?prefix "(?P<log_prefix>.*)"'),
    _form("NFLOG", r'nflog-prefix "?(?P<nflog_prefix>.*?)"?', r"?nflog-group (?P<nflog_group>\d+)",
          r"?nflog-(?:size|range) (?P<nflog_size>\d+)", r"?nflog-threshold (?P<nflog_threshold>\d+)"),
    _form("NFLOG", r"nflog-group (?P<nflog_group>\d+)", r"?nflog-(?:size|range) (?P<nflog_size>\d+)",
          r"?nflog-threshold (?P<nflog_threshold>\d+)"),
    _form("NFLOG", r"nflog-(?:size|range) (?P<nflog_size>\d+)", r"?nflog-threshold (?P<nflog_threshold>\d+)"),
    _form("NFLOG", r"nflog-threshold (?P<nflog_threshold>\d+)"),
    _form("NFQUEUE", r"NFQUEUE (?:num (?P<queue_num>\d+)|balance (?P<queue_balance>\S+))", r"?(?P<flag_queue_bypass>bypass)",
          r"?(?P<flag_queue_cpu_fanout>cpu-fanout)"),
    _form("CT", r"CT", r"?(?P<flag_notrack>notrack)", r"?helper (?P<helper>\S+)", r"?timeout (?P<timeout>\S+)",
          r"?ctevents (?P<ctevents>\S+)", r"?expevents (?P<expevents>\S+)", r"?zone-orig (?P<zone_orig>\S+)",
          r"?zone-reply (?P<zone_reply>\S+)", r"?zone (?P<zone>\S+)"),
    _form("NOTRACK", r"NOTRACK"),
    _form("TCPMSS", r"TCPMSS (?P<flag_clamp_mss_to_pmtu>clamp to PMTU)"),
    _form("TCPMSS", r"TCPMSS set (?P<set_mss>\d+)"),
    _form("DSCP", r"DSCP set (?P<set_dscp>\S+)"),
    _form("TOS", r"TOS (?P<action>set)\s*(?P<value>[0A-Z]\S*)"),
    _form("TOS", r"TOS (?P<action>and|or|xor) (?P<value>0x\S+)"),
    _form("TTL", r"TTL (?P<action>set to|increment by|decrement by) (?P<count>\d+)"),
    _form("HL", r"HL (?P<action>set to|increment by|decrement by) (?P<count>\d+)"),
    _form("ECN", r"ECN (?P<flag_ecn_tcp_remove>TCP remove)"),
    _form("CHECKSUM", r"CHECKSUM (?P<flag_checksum_fill>fill)"),
    _form("CLASSIFY", r"CLASSIFY set (?P<set_class>\S+)"),
    _form("TCPOPTSTRIP", r"TCPOPTSTRIP options (?P<strip_options>\S+)"),
    _form("SET", r"(?P<action>add-set|del-set|map-set) (?P<name>\S+ \S+)", r"?(?P<flag_exist>exist)",
          r"?timeout (?P<timeout>\d+)", r"?(?P<flag_map_mark>map-mark)", r"?(?P<flag_map_prio>map-prio)",
          r"?(?P<flag_map_queue>map-queue)"),
    _form("AUDIT", r"AUDIT (?P<type>\S+)"),
    _form("TEE", r"TEE gw:(?P<gateway>\S+)", r"?oif=(?P<oif>\S+)"),
    _form("SYNPROXY", r"SYNPROXY", r"?(?P<flag_sack_perm>sack-perm)", r"?(?P<flag_timestamp>timestamp)",
          r"?wscale (?P<wscale>\d+)", r"?mss (?P<mss>\d+)", r"?(?P<flag_ecn>ecn)"),
    _form("IDLETIMER", r"timeout:(?P<timeout>\d+) label:(?P<label>\S+)", r"?(?P<flag_alarm>alarm)"),
    _form("RATEEST", r"name (?P<rateest_name>\S+) interval (?P<rateest_interval>\S+) ewmalog (?P<rateest_ewmalog>\S+)"),
    _form("CONNSECMARK", r"CONNSECMARK (?P<action>save|restore)"),
    *(_form(name, rf"{name} src-pfx (?P<src_pfx>\S+) dst-pfx (?P<dst_pfx>\S+)") for name in ("SNPT", "DNPT")),
    _form("HMARK", r"HMARK .*", unread="iptables -L's wording of this target is not read"),
)  # fmt: skip
"""Every wording of a target; it always ends the line."""
