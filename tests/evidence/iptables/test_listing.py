"""`iptables -nvL` says the same as `iptables-save`, or says that it does not."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.assembly.netfilter.rules import assemble_rule
from podpath.evidence.formats import CERTAIN, LIKELY, NO
from podpath.evidence.iptables.listing import read_listing, recognise_listing
from podpath.evidence.iptables.rules import read_rules
from podpath.evidence.iptables.ruleset import NetfilterNoteRecord, RulesetRecord, RuleText
from podpath.evidence.records import HeadingRecord, StatementRecord
from podpath.net.provenance import Source
from podpath.net.statements import NothingFound
from podpath.node.netfilter import Rule
from tests.evidence.consoles import block, load_console, uncovered
from tests.evidence.netfilter_recording import CONSOLES, RECORDED, STYLES, TABLES, style_tables

FORWARD = """\
Chain FORWARD (policy DROP 5 packets, 148K bytes)
 pkts bytes target     prot opt in     out     source               destination
  169  148K KUBE-FORWARD  all  --  *      *       0.0.0.0/0            0.0.0.0/0            /* forwarding rules */
   11   660            tcp  --  lxc+   !docker0 !10.0.0.0/8           10.96.0.1            tcp dpt:!443 ctstate NEW
    0     0 NEXT       0    --  *      *       0.0.0.0/0            1.2.0.3/255.255.0.255 [goto]  mark match 0x1/0xf
"""  # noqa: E501
NOT_TOLD = {
    "hashlimit", "quota", "osf", "rateest", "HMARK", "frag", "rt", "ipv6header", "dst", "mh", "srh",
}  # fmt: skip
"""Extensions that `-L` shows in part, or in words that nobody reads: a rule with one is unread."""


def given_text(text: str, command: str | None = None) -> Source:
    """Return a block with that text."""
    return block(dedent(text), command)


def listed(text: str, command: str | None = None) -> RulesetRecord:
    """Read the one table of a listing."""
    (record,) = (
        each
        for each in read_listing(given_text(text, command)).records
        if isinstance(each, RulesetRecord)
    )
    return record


def first_rule(row: str) -> Rule:
    """Read one row of a chain of the filter table."""
    header = " pkts bytes target     prot opt in     out     source               destination\n"
    record = listed(f"Chain X (1 references)\n{header}    0     0 {row}")
    return assemble_rule(record.chains["X"].rules[0], "filter", 1)


def said(text: str) -> Rule:
    """Read one rule in the spelling of iptables-save."""
    (record,) = (
        each
        for each in read_rules(given_text(f"-A X {text}")).records
        if isinstance(each, RulesetRecord)
    )
    return assemble_rule(record.chains["X"].rules[0], "filter", 1)


def pairs(
    saved: Source, listings: Iterator[tuple[str, Source]]
) -> Iterator[tuple[RuleText, RuleText]]:
    """Yield each rule as iptables-save and as `-L` show it."""
    tables = {
        record.table: record
        for record in read_rules(saved).records
        if isinstance(record, RulesetRecord)
    }
    for table, listing in listings:
        reading = read_listing(listing)
        (record,) = (each for each in reading.records if isinstance(each, RulesetRecord))
        assert reading.gaps == ()
        assert record.whole
        assert list(record.chains) == list(tables[table].chains)
        for name, chain in record.chains.items():
            assert chain.whole
            assert chain.policy == tables[table].chains[name].policy
            yield from zip(tables[table].chains[name].rules, chain.rules, strict=True)


def extensions(text: RuleText) -> set[str]:
    """Name the matches and the target of a rule."""
    return {match.name for match in text.matches} | ({text.target.name} if text.target else set())


@pytest.mark.parametrize("kind", ["legacy-4", "legacy-6", "nft-4", "nft-6"])
def test_every_extension_is_read_to_what_iptables_save_prints(kind: str) -> None:
    """Hundreds of rules with every extension: both outputs of the same kernel state give the same
    rules.
    """
    folder = RECORDED / kind
    listings = ((table, load_console(folder / f"list-{table}.txt")) for table in TABLES)
    compared = 0
    for saved, shown in pairs(load_console(folder / "save.txt"), listings):
        compared += 1
        if extensions(saved) & NOT_TOLD:
            assert shown.unread
            continue
        assert not shown.unread, saved.span.text
        assert assemble_rule(saved, "filter", 1)[4:14] == assemble_rule(shown, "filter", 1)[4:14], (
            saved.span.text
        )
    assert compared > 250


@pytest.mark.parametrize("style", STYLES)
def test_rulesets_of_known_writers_are_read_alike(style: str) -> None:
    """kube-proxy, Cilium, Calico and the others: a listing tells as much as iptables-save."""
    saved = load_console(CONSOLES / f"{style}-save.txt")
    listings = (
        (table, load_console(CONSOLES / f"{style}-list-{table}.txt"))
        for table in style_tables(style)
    )

    for one, other in pairs(saved, listings):
        assert not other.unread
        assert assemble_rule(one, "filter", 1)[4:14] == assemble_rule(other, "filter", 1)[4:14]


def test_columns_are_read_by_their_order() -> None:
    """A blank target, a long name and a wide mask shift the columns, and change nothing."""
    record = listed(FORWARD, "iptables -t filter -nvL FORWARD")
    chain = record.chains["FORWARD"]
    rules = [assemble_rule(text, "filter", place) for place, text in enumerate(chain.rules, 1)]

    assert (record.table, chain.policy, chain.packets, chain.whole) == ("filter", "DROP", 5, True)
    assert [(rule.packets, rule.bytes) for rule in rules] == [(169, 148_000), (11, 660), (0, 0)]
    assert [rule[4:12] for rule in rules] == [
        said('-m comment --comment "forwarding rules" -j KUBE-FORWARD')[4:12],
        said(
            "! -s 10.0.0.0/8 -d 10.96.0.1/32 -i lxc+ ! -o docker0 -p tcp -m tcp ! --dport 443 -m "
            "conntrack --ctstate NEW"
        )[4:12],
        said("-d 1.2.0.3/255.255.0.255 -m mark --mark 0x1/0xf -g NEXT")[4:12],
    ]
    assert not any(rule.unread for rule in rules)


def test_line_numbers_and_exact_counters_are_read() -> None:
    """`--line-numbers -x` adds a column and drops the units."""
    text = """\
        Chain FORWARD (policy ACCEPT 0 packets, 0 bytes)
        num      pkts      bytes target     prot opt in     out     source               destination
        7        1419   148123 ACCEPT     6    --  eth0   *       0.0.0.0/0            0.0.0.0/0            tcp dpt:22
        """  # noqa: E501
    (rule,) = listed(text, "iptables -nvxL FORWARD --line-numbers").chains["FORWARD"].rules

    assert (rule.number, rule.packets, rule.bytes) == (7, 1419, 148_123)


def test_a_listing_without_devices_is_unread() -> None:
    """`iptables -L` without `-v` does not say which devices a rule is for: nothing is guessed."""
    text = """\
        Chain INPUT (policy ACCEPT)
        target     prot opt source               destination
        ACCEPT     tcp  --  anywhere             10.0.0.1             tcp dpt:ssh
        """
    (rule,) = listed(text, "iptables -L INPUT").chains["INPUT"].rules

    assert rule.unread == "iptables -L without -v does not show devices"
    assert rule.matches == listed(text).chains["INPUT"].rules[0].matches
    assert (
        assemble_rule(rule, "filter", 1)[4:7]
        == said("-d 10.0.0.1/32 -p tcp -m tcp --dport 22 -j ACCEPT")[4:7]
    )


def test_names_for_numbers_are_known_or_unread() -> None:
    """Without `-n` ports and addresses have names; only well-known ones are numbers for sure."""
    text = """\
        Chain INPUT (policy ACCEPT 0 packets, 0 bytes)
         pkts bytes target     prot opt in     out     source               destination
            0     0 ACCEPT     tcp  --  any    eth0    localhost            anywhere             multiport dports http,https
            0     0 ACCEPT     all  --  any    any     node1.example.org    anywhere
            0     0 ACCEPT     tcp  --  any    any     anywhere             anywhere             tcp dpt:ourservice
        """  # noqa: E501
    known, host, port = listed(text, "iptables -vL INPUT").chains["INPUT"].rules

    assert not known.unread
    assert (
        assemble_rule(known, "filter", 1)[4:12]
        == said("-s 127.0.0.1/32 -o eth0 -p tcp -m multiport --dports 80,443 -j ACCEPT")[4:12]
    )
    assert host.unread == "expected the source by number, saw the name 'node1.example.org'"
    assert port.unread == "expected a port by number, saw the name 'ourservice'"


def test_the_blank_option_column_of_older_ip6tables_is_read() -> None:
    """Before 1.8.9 ip6tables printed nothing where iptables prints `--`."""
    text = """\
        Chain INPUT (policy ACCEPT 0 packets, 0 bytes)
         pkts bytes target     prot opt in     out     source               destination
            0     0 ACCEPT     all      lo     *       ::/0                 ::/0
            0     0            icmpv6    *      *       fe80::/10            ::/0                 ipv6-icmptype 128
        """  # noqa: E501
    record = listed(text, "ip6tables -nvL INPUT")
    rules = [assemble_rule(rule, "filter", 1) for rule in record.chains["INPUT"].rules]

    assert record.family == 6
    assert [rule[4:12] for rule in rules] == [
        said("-i lo -j ACCEPT")[4:12],
        said("-s fe80::/10 -p ipv6-icmp -m icmp6 --icmpv6-type 128")[4:12],
    ]


@pytest.mark.parametrize(
    ("row", "rule"),
    [
        ("X  tcp  --  *  *  0.0.0.0/0  0.0.0.0/0  /* a */ /* b */ ctstate NEW",
         "-p tcp -m comment --comment a -m comment --comment b -m conntrack --ctstate NEW -j X"),
        ("X  all  --  *  *  0.0.0.0/0  0.0.0.0/0  /* ends */ early */ ctstate NEW",
         '-m comment --comment "ends */ early" -m conntrack --ctstate NEW -j X'),
        ("X  all  --  *  *  0.0.0.0/0  0.0.0.0/0  /* tcp dpt:80 */", (
            '-m comment --comment "tcp dpt:80" -j '
            'X'
        )),
        ("MARK  all  --  *  *  0.0.0.0/0  0.0.0.0/0  MARK and 0xffff3fff", (
            "-j MARK --set-xmark 0x0/"
            "0xc000"
        )),
        ("CT  all  --  *  *  0.0.0.0/0  0.0.0.0/0  NOTRACK", "-j NOTRACK"),
        ("MASQUERADE  all  --  *  *  0.0.0.0/0  0.0.0.0/0", "-j MASQUERADE"),
        ("MASQUERADE  tcp  --  *  *  0.0.0.0/0  0.0.0.0/0  masq ports: 1024-65535 random-fully",
         "-p tcp -j MASQUERADE --to-ports 1024-65535 --random-fully"),
        ("REJECT  tcp  --  *  *  0.0.0.0/0  0.0.0.0/0  reject-with tcp-reset", (
            "-p tcp -j REJECT --reject-with "
            "tcp-reset"
        )),
        ("DROP  all  -f  *  *  0.0.0.0/0  0.0.0.0/0", "-f -j DROP"),
        ("DROP  all  !f  *  *  0.0.0.0/0  0.0.0.0/0", "! -f -j DROP"),
    ],
)  # fmt: skip
def test_words_become_options(row: str, rule: str) -> None:
    """Comments that hold the words of matches or their own end, marks in all spellings, targets
    without a word.
    """
    assert (first_rule(row).unread, first_rule(row)[4:12]) == ("", said(rule)[4:12])


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("X  all  --  *  *  0.0.0.0/0  0.0.0.0/0  of nobody", (
            "expected the words of a match or target, saw 'of "
            "nobody'"
        )),
        ("X  all  --  *  *  0.0.0.0/0  0.0.0.0/0  ctstate NEW words", (
            "expected the words of a match or target, saw "
            "'words'"
        )),
        ("REJECT  all  --  *  *  0.0.0.0/0  0.0.0.0/0", "iptables -L shows no options of REJECT"),
        ("X  martian  --  *  *  0.0.0.0/0  0.0.0.0/0", (
            "expected a protocol that is known, saw "
            "'martian'"
        )),
        ("MARK  all  --  *  *  0.0.0.0/0  0.0.0.0/0  MARK or 0xzz", (
            "expected a hexadecimal number, saw "
            "'0xzz'"
        )),
    ],
)  # fmt: skip
def test_what_is_not_understood_makes_the_rule_unread(row: str, why: str) -> None:
    """The rule keeps its place and what was understood of it."""
    assert first_rule(row).unread == why


def test_several_tables_in_one_output_are_kept_apart() -> None:
    """A loop over tables prints INPUT twice; which tables they are is for others to find out."""
    text = FORWARD + "\n" + FORWARD.replace("DROP", "ACCEPT")
    records = [
        each for each in read_listing(given_text(text)).records if isinstance(each, RulesetRecord)
    ]

    assert [record.chains["FORWARD"].policy for record in records] == ["DROP", "ACCEPT"]
    assert [record.table for record in records] == [None, None]


def test_a_grep_leaves_rules_without_a_chain() -> None:
    """Only the command may say which chain a row is of."""
    row = (
        "    5   512 DROP       all  --  *      *       0.0.0.0/0            0.0.0.0/0            "
        "ctstate INVALID"
    )
    found = listed(row, "iptables -nvL KUBE-FORWARD | grep DROP")

    assert (found.table, found.chains["KUBE-FORWARD"].whole, found.whole) == (
        "filter",
        False,
        False,
    )
    assert [gap.why for gap in read_listing(given_text(row, "iptables -nvL | grep DROP")).gaps] == [
        "expected the heading of the chain that the rule is in, saw none"
    ]


def test_wrapped_rows_are_put_together() -> None:
    """A terminal breaks a long row in its text or in its columns."""
    text = """\
        Chain FORWARD (policy ACCEPT 0 packets, 0 bytes)
         pkts bytes target     prot opt in     out     source               destination
           11   660 KUBE-FIREWALL  all  --  *      *       0.0.0.0/0            0.0.0.0/0            ctstate NEW /* load
        balancer firewall */
          169 14804 KUBE-FORWARD  all  --  *      *       0.0.0.0/0
            10.0.0.1             /* forwarding rules */
        """  # noqa: E501
    reading = read_listing(given_text(text))
    (record,) = (each for each in reading.records if isinstance(each, RulesetRecord))

    assert reading.gaps == ()
    assert [
        (rule.span.line, rule.span.last_line, rule.unread)
        for rule in record.chains["FORWARD"].rules
    ] == [
        (3, 4, ""),
        (5, 6, ""),
    ]


def test_an_ellipsis_or_junk_cuts_the_chain() -> None:
    """Rules may be missing where lines were left out or cannot be read."""
    for line in (" ...", "some junk here"):
        reading = read_listing(given_text(f"{FORWARD}{line}"))
        (record,) = (each for each in reading.records if isinstance(each, RulesetRecord))
        partial = [
            each for each in reading.records if isinstance(each, HeadingRecord) and each.partial
        ]

        assert not record.chains["FORWARD"].whole
        assert bool(partial) is not bool(reading.gaps)


def test_a_whole_table_shows_every_chain_that_is_jumped_to() -> None:
    """All base chains are there, and yet a user chain may have been left out."""
    chains = "\n".join(
        f"Chain {name} (policy ACCEPT 0 packets, 0 bytes)\n{FORWARD.splitlines()[1]}"
        for name in ("INPUT", "OUTPUT")
    )
    ends = "".join(
        f"\nChain {name} (1 references)\n{FORWARD.splitlines()[1]}"
        for name in ("KUBE-FORWARD", "NEXT")
    )

    assert not listed(f"{chains}\n{FORWARD}").whole
    assert listed(f"{chains}\n{FORWARD}{ends}").whole


def test_an_error_is_a_note() -> None:
    """A chain that does not exist is worth knowing."""
    source = given_text(
        "iptables: No chain/target/match by that name.", "iptables -nvL CILIUM_FORWARD"
    )
    note, stated = read_listing(source).records

    assert recognise_listing(source) == CERTAIN
    assert isinstance(note, NetfilterNoteRecord)
    assert isinstance(stated, StatementRecord)
    assert stated.statement == NothingFound("iptables", ("filter",), "CILIUM_FORWARD")


@pytest.mark.parametrize(
    ("text", "degree"),
    [
        (FORWARD, CERTAIN),
        (FORWARD.splitlines()[3], LIKELY),
        ("Chain of events (long)", NO),
        ("tcp 6 118 SYN_SENT src=10.0.0.1 dst=10.0.0.2", NO),
        ("", NO),
    ],
)
def test_listings_are_recognised_by_their_headings(text: str, degree: int) -> None:
    """A chain's heading or the columns' titles are unique; rows alone have a shape of their own."""
    assert recognise_listing(given_text(text)) == degree


@given(
    st.lists(
        st.one_of(
            st.sampled_from(FORWARD.splitlines()),
            st.text(max_size=60).map(lambda text: text.replace("\n", "")),
        ),
        max_size=10,
    )
)
def test_every_line_is_in_a_record_or_a_gap(lines: list[str]) -> None:
    """Whatever stands between rows, no line is lost."""
    source = Source(name="ticket.md", lines=tuple(lines))

    assert [] == uncovered(source, read_listing(source))


@given(st.text(st.sampled_from("/* ctstate NEW*/tcp dpt:80!"), max_size=200))
def test_any_text_column_is_read_in_time(text: str) -> None:
    """Trying the ways to read a text ends, also where every word may start several."""
    first_rule(f"X  tcp  --  *  *  0.0.0.0/0  0.0.0.0/0  {text or 'tcp'}".replace("\n", " "))
