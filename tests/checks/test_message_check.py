"""Faults that a message tells by itself: each row is met by real lines, and by nothing that only
resembles them.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from podpath.checks.category import Category
from podpath.checks.finding import Severity
from podpath.checks.message_check import ASIDE, SPACED, MessageCheck, Value
from podpath.checks.registry import MESSAGES
from podpath.evidence.messages.table import find_messages
from podpath.net.failures import FailureKind
from podpath.net.messages import Message, MessageKind
from podpath.net.provenance import Source
from podpath.node.case import Case
from tests.checks.nodes import netns, node, span
from tests.checks.said import find_by_lines
from tests.evidence.messages.spellings import SPELLINGS, Spelling, sections

_PLACE = re.compile(r"\{(\w+)\}")
ALMOST = {
    heading[0]: lines
    for heading, lines in sections(Path(__file__).with_name("almost.txt"))
    if heading[0]
}
"""Lines that are nearly a message of a fault, by the fault's name."""
SILENT = {
    MessageKind.LINK_DOWN: (
        "every device says it while it comes up; whether one is down, its listing tells"
    ),
    MessageKind.BRIDGE_NETFILTER_GONE: "every kernel says it when the module bridge is loaded",
    MessageKind.PROGRAM_STARTED: "it says that an end was none",
    MessageKind.FAMILY_OFF_AT_BOOT: "it settles what a program said of the family",
    MessageKind.CALL_FAILED: "it settles what a program said of the same call",
}
"""Kinds that no check rests on, since healthy nodes say them, too."""


def tells(row: MessageCheck, one: Spelling) -> bool:
    """Say whether a line tells of a row's fault."""
    records = [
        record
        for record in find_messages(Source(name="", lines=(one.line,)))
        if record.kind in row.kinds
    ]
    return any(row.tells(Message(record.kind, record.values, record.span)) for record in records)


MET = [
    (row, one.line)
    for row in MESSAGES
    for one in SPELLINGS
    if one.kind in row.kinds and tells(row, one)
]
ROW = MessageCheck(
    name="bond-lost",
    title="a bond is lost.",
    kinds=(MessageKind.BOND_WITHOUT_LINK,),
    categories=(Category.BONDING,),
    claim="The bond{bond} is lost{why}.",
    values=(Value("bond", frame=SPACED), Value("why", names=("error", "reason"), frame=ASIDE)),
    breaks="all",
    cure="mend it",
    commands=("ip link show {bond}",),
    what="It is lost.",
    why="So it breaks.",
    confirm="ip link\nip addr",
    fix="Mend it.",
    references="none",
)


def found(row: MessageCheck, **values: str) -> tuple[str, tuple[str, ...]]:
    """Return what a row claims of a message with these values, and its commands."""
    said = Message(MessageKind.BOND_WITHOUT_LINK, values, span("x"))
    (finding,) = row.find(Case(node=node(netns()), messages=(said,)))
    assert isinstance(finding.claim, str)
    return finding.claim, finding.repairs[0].commands


@pytest.mark.parametrize(
    ("row", "line"),
    MET,
    ids=lambda value: value.name if isinstance(value, MessageCheck) else value[:40],
)
def test_a_real_line_is_found_and_quoted(row: MessageCheck, line: str) -> None:
    """The finding quotes the line, and has the weight of the row; its claim and commands have no
    place left open.
    """
    (finding,) = find_by_lines(row.name, line)
    assert (finding.severity, finding.certainty, finding.evidence[0].text) == (
        row.severity,
        row.certainty,
        line,
    )
    assert isinstance(finding.claim, str)
    assert not re.search(r"\{\w+\}|\w  \w| [,.;]|\(\)", finding.claim)
    assert not [
        command
        for repair in finding.repairs
        for command in repair.commands
        if re.search(r"\{\w+\}", command)
    ]


def test_every_row_is_met_by_a_real_line() -> None:
    """A row that no line meets finds nothing."""
    assert {row.name for row in MESSAGES} == {row.name for row, _ in MET}


@pytest.mark.parametrize("row", MESSAGES, ids=lambda row: row.name)
def test_a_line_that_is_almost_one_is_none(row: MessageCheck) -> None:
    """Words of the same program about the same thing are no fault."""
    assert ALMOST[row.name]
    assert [] == [
        line for line in (*ALMOST[row.name], "all is well") if find_by_lines(row.name, line)
    ]


def test_a_row_knows_the_places_of_its_texts() -> None:
    """Each place has its value and each value its place; what is not certain says what would
    decide, and of what is only where something may leave it open.
    """
    used = {row: set(_PLACE.findall(" ".join((row.claim, *row.commands)))) for row in MESSAGES}
    asking = [row for row in MESSAGES if row.ask is not None]

    assert [] == [row.name for row in MESSAGES if used[row] != {one.place for one in row.values}]
    assert [] == [row.name for row in MESSAGES if row.ask is None and row.certainty != 1]
    assert [] == [row.name for row in asking if row.certainty == 1 and not row.doubted_by]


def test_every_kind_has_a_check_or_a_reason_to_have_none() -> None:
    """A message that nobody looks at is a fault that nobody names."""
    checks = Path(__file__).resolve().parents[2] / "src" / "podpath" / "checks"
    used = {
        name
        for path in checks.rglob("*.py")
        for name in re.findall(r"Kind\.([A-Z_]+)", path.read_text(encoding="utf-8"))
    }
    told = {kind for row in MESSAGES for kind in row.kinds}
    silent = {kind for kind in MessageKind if kind.name not in used} - told
    assert silent == set(SILENT)


def test_words_stand_at_their_places() -> None:
    """The first value that is known counts; one that is not known leaves nothing behind."""
    assert found(ROW, bond="bond0", reason="carrier", error="link") == (
        "The bond bond0 is lost (link).",
        ("ip link show bond0",),
    )
    assert found(ROW) == ("The bond is lost.", ("ip link show BOND",))


def test_evidence_is_never_read_as_a_template_or_as_shell() -> None:
    """Braces in a line stay braces, and what is no plain word does not come into a command."""
    hostile = "{why} $(reboot); x"
    assert found(ROW, bond=hostile, error="{bond}") == (
        f"The bond {hostile} is lost ({{bond}}).",
        ("ip link show BOND",),
    )
    assert found(ROW, bond="--help")[1] == ("ip link show BOND",)


def test_weight_and_prevention_are_the_rows() -> None:
    """A row says how bad its fault is, and how it is kept from coming back."""
    said = Message(MessageKind.BOND_WITHOUT_LINK, {}, span("x"), 5)
    row = replace(ROW, severity=Severity.RISK, prevention="Watch it.")
    (finding,) = row.find(Case(node=node(netns()), messages=(said,)))
    assert (finding.severity, finding.prevention, finding.reasoning) == (
        "risk",
        "Watch it.",
        ("It was logged 5 times.",),
    )


def test_a_row_may_need_a_value() -> None:
    """Of the messages of its kinds those count that have it, and that word where one is named."""
    said = Message(MessageKind.BOND_WITHOUT_LINK, {"bond": "bond0"}, span("x"))
    needs = (None, ("bond", ""), ("bond", "bond0"), ("bond", "bond1"), ("error", ""))
    assert [replace(ROW, needs=need).tells(said) for need in needs] == [
        True,
        True,
        True,
        False,
        False,
    ]


def test_a_page_has_its_sections() -> None:
    """Lines are broken at the page's width, and commands keep theirs."""
    page = replace(ROW, what="word " * 40).page
    assert page.startswith("bond-lost: a bond is lost.\n\nWhat it is\n    word word")
    assert (
        "\n\nHow to confirm\n    ip link\n    ip addr\n\nHow to fix\n    Mend it.\n\n"
        "References\n    none\n"
    ) in page
    assert max(map(len, page.split("\n"))) <= 118


def test_a_row_says_which_failures_prove_it() -> None:
    """What its file lists comes to its finding."""
    said = Message(MessageKind.BOND_WITHOUT_LINK, {}, span("x"))
    row = replace(ROW, proves=frozenset({FailureKind.TIMEOUT}))

    assert [frozenset({FailureKind.TIMEOUT})] == [
        one.proves for one in row.find(Case(node=node(netns()), messages=(said,)))
    ]
