"""`lsmod`, /proc/modules, `modprobe -n -v`."""

from __future__ import annotations

import pytest

from podpath.evidence import recognition
from podpath.evidence.node_records import ModuleRecord
from podpath.evidence.records import Reading
from tests.evidence.consoles import block, read

LISTING = """
Module                  Size  Used by
br_netfilter           32768  0
bridge                307200  1 br_netfilter
nf_conntrack          180224  3 xt_conntrack,nf_nat,nf_conntrack_netlink
8021q                  40960  0
"""


def modules(reading: Reading) -> list[tuple[str, tuple[str, ...], bool]]:
    """Return name, users and whether it is loaded of each module."""
    return [
        (record.name, record.used_by, record.loaded)
        for record in reading.records
        if isinstance(record, ModuleRecord)
    ]


def test_a_listing_is_read() -> None:
    """Modules with their users."""
    assert [
        ("br_netfilter", (), True),
        ("bridge", ("br_netfilter",), True),
        ("nf_conntrack", ("xt_conntrack", "nf_nat", "nf_conntrack_netlink"), True),
        ("8021q", (), True),
    ] == modules(read(block(LISTING, "lsmod")))


def test_the_kernels_own_file_is_read() -> None:
    """/proc/modules has the users before the state."""
    text = (
        "br_netfilter 32768 0 - Live 0x0000000000000000\n"
        "bridge 307200 1 br_netfilter, Live 0xffffffffc0000000"
    )

    assert [("br_netfilter", (), True), ("bridge", ("br_netfilter",), True)] == modules(
        read(block(text))
    )


@pytest.mark.parametrize(
    "command", ["lsmod | grep br_netfilter", "grep ^br_netfilter /proc/modules"]
)
def test_a_grep_that_finds_nothing_is_an_answer(command: str) -> None:
    """The module is not loaded."""
    assert [("br_netfilter", (), False)] == modules(read(block("", command)))
    assert [("br_netfilter", (), False)] == modules(read(block("\n\n", command)))


@pytest.mark.parametrize(
    "command",
    [
        "lsmod",
        "lsmod | grep -v x",
        "lsmod | grep a | grep b",
        "lsmod | head",
        "lsmod | grep 'a|b'",
        None,
    ],
)
def test_an_empty_output_of_anything_else_says_nothing(command: str | None) -> None:
    """Which module was sought must be plain."""
    found = recognition.recognise(block("", command))

    assert found is None or found.name != "lsmod"


def test_a_row_without_its_command_is_read_where_it_is_plain() -> None:
    """By a known name or a size of whole pages, as lsmod prints them."""
    assert [("br_netfilter", (), True)] == modules(read(block("br_netfilter           22256  0 ")))
    assert [("weird_driver", (), True)] == modules(read(block("weird_driver           16384  2")))
    assert None is recognition.recognise(block("orders   1500  3"))


def test_what_modprobe_would_load_is_not_loaded() -> None:
    """`modprobe -n -v` prints the file, or that the module is built in."""
    assert [("br_netfilter", (), False)] == modules(
        read(block("insmod /lib/modules/6.1.0/kernel/net/bridge/br_netfilter.ko.xz "))
    )
    assert [("bridge", (), True)] == modules(read(block("builtin bridge")))
    assert [("br_netfilter", (), False)] == modules(
        read(
            block("modprobe: FATAL: Module br_netfilter not found in directory /lib/modules/6.1.0")
        )
    )
