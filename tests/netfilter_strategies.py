"""Rules, chains and tables of iptables, made by chance, for the properties of reading and writing
them.
"""

from __future__ import annotations

from hypothesis import strategies as st

from podpath.net.addresses import WIDTH, Address, Family, Prefix
from podpath.net.provenance import Source, Span
from podpath.node.netfilter import (
    InterfaceMatch,
    Match,
    MatchOption,
    PrefixMatch,
    ProtocolMatch,
    Rule,
    Target,
)

NOWHERE = Span(Source(name="made", lines=("",)), 1, 1)
NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9_-]{0,20}", fullmatch=True)
LINKS = st.from_regex(r"[a-z][a-z0-9.-]{0,12}", fullmatch=True)
TEXTS = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=40)
"""Comments and the like: quotes, backslashes, dashes and exclamation marks among them."""
PORTS = st.integers(0, 65535)
TABLES = {"nat": ("PREROUTING", "OUTPUT", "POSTROUTING"), "filter": ("INPUT", "FORWARD", "OUTPUT")}


@st.composite
def prefixes(draw: st.DrawFn, family: Family = 4) -> PrefixMatch:
    """Return `-s` or `-d` with a prefix, or a mask that is not contiguous."""
    width = WIDTH[family]
    value = draw(st.integers(0, (1 << width) - 1))
    if draw(st.integers(0, 9)) == 0:
        mask = 0b1011 << (width - 4) | 1
        return PrefixMatch(Prefix(family, value & mask, width), draw(st.booleans()), mask)
    return PrefixMatch(
        Prefix.of(Address(family, value), draw(st.integers(1, width))), draw(st.booleans())
    )


def port_ranges() -> st.SearchStrategy[str]:
    """Return a port or a range as iptables-save spells it."""
    return st.one_of(
        PORTS.map(str),
        st.tuples(PORTS, PORTS)
        .filter(lambda pair: pair[0] < pair[1])
        .map(lambda pair: f"{pair[0]}:{pair[1]}"),
    )


def _option(
    name: str, *values: st.SearchStrategy[str], negatable: bool = True
) -> st.SearchStrategy[MatchOption]:
    return st.builds(
        MatchOption,
        st.just(name),
        st.tuples(*values),
        st.booleans() if negatable else st.just(False),
    )


def _match(name: str, *options: st.SearchStrategy[MatchOption]) -> st.SearchStrategy[Match]:
    return st.builds(Match, st.just(name), st.tuples(*options))


HEX = st.integers(0, 0xFFFFFFFF).map(hex)
STATES = st.lists(
    st.sampled_from(("INVALID", "NEW", "RELATED", "ESTABLISHED", "UNTRACKED", "SNAT", "DNAT")),
    min_size=1,
    unique=True,
).map(",".join)
DIRECTIONS = st.sampled_from(("src", "dst", "src,dst"))
MATCHES = st.one_of(
    _match("comment", _option("comment", TEXTS, negatable=False)),
    _match("conntrack", _option("ctstate", STATES)),
    _match(
        "mark", _option("mark", st.tuples(HEX, st.integers(1, 0xFFFFFFFE).map(hex)).map("/".join))
    ),
    _match(
        "multiport",
        _option("dports", st.lists(port_ranges(), min_size=1, max_size=4).map(",".join)),
    ),
    _match("set", _option("match-set", NAMES, DIRECTIONS)),
    _match("addrtype", _option("dst-type", st.sampled_from(("LOCAL", "UNICAST,LOCAL")))),
    _match("physdev", _option("physdev-is-bridged")),
    _match(
        "statistic",
        _option("mode", st.just("random"), negatable=False),
        _option("probability", st.just("0.33333333349")),
    ),
    _match("owner", _option("uid-owner", st.integers(0, 70000).map(str))),
    _match("unheard", _option("of-it", NAMES, NAMES), _option("at-all")),
)
TARGETS = st.one_of(
    st.sampled_from(("ACCEPT", "DROP", "RETURN", "MASQUERADE", "NFLOG")).map(Target),
    st.builds(
        Target,
        st.just("MARK"),
        st.tuples(_option("set-xmark", st.tuples(HEX, HEX).map("/".join), negatable=False)),
    ),
    st.builds(
        Target,
        st.just("DNAT"),
        st.tuples(_option("to-destination", st.just("10.244.1.5:8080"), negatable=False)),
    ),
    st.builds(Target, st.just("LOG"), st.tuples(_option("log-prefix", TEXTS, negatable=False))),
    st.builds(Target, NAMES.map("USER-".__add__), st.just(()), st.booleans()),
)


@st.composite
def rules(
    draw: st.DrawFn,
    table: str = "filter",
    chain: str | None = None,
    position: int = 1,
    family: Family = 4,
) -> Rule:
    """Return a rule in the spelling of iptables-save."""
    protocol = draw(
        st.none()
        | st.sampled_from((1, 6, 17, 132, 47)).map(
            lambda number: ProtocolMatch(number, negated=False)
        )
    )
    matches = draw(st.lists(MATCHES, max_size=3))
    if protocol is not None and protocol.number in {6, 17}:
        ports = _match(
            "tcp" if protocol.number == 6 else "udp",
            _option("sport", port_ranges()),
            _option("dport", port_ranges()),
        )
        matches += draw(st.lists(ports, max_size=1))
    links = st.none() | st.builds(InterfaceMatch, LINKS, st.booleans(), st.booleans())
    return Rule(
        table=table,
        chain=draw(NAMES) if chain is None else chain,
        position=position,
        span=NOWHERE,
        target=draw(st.none() | TARGETS),
        src=draw(st.none() | prefixes(family)),
        dst=draw(st.none() | prefixes(family)),
        protocol=protocol,
        in_link=draw(links),
        out_link=draw(links),
        fragment=draw(st.sampled_from((None, None, True, False))) if family == 4 else None,
        matches=tuple(matches),
    )


def meaning(rule: Rule) -> tuple[object, ...]:
    """Return what a rule says, wherever it stands."""
    return (rule.chain, *rule[4:12], rule.unread)
