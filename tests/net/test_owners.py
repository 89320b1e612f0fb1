"""The table of owners: every pattern is one, and no sign is two programs'."""

from __future__ import annotations

import fnmatch

import pytest

from podpath.net.owners import OwnerSign, find_row, load_owners, name_owner

SAMPLES = {"*": "x", "?": "x", "[0-9a-f]": "a", "[0-9]": "0"}


def example(pattern: str) -> str:
    """Return a name that fits a pattern."""
    for sign, text in SAMPLES.items():
        pattern = pattern.replace(sign, text)
    return pattern


def test_every_sign_leads_to_its_own_row() -> None:
    """A name that fits a row's pattern is that row's, whatever stands above it."""
    wrong = []
    for row in load_owners():
        columns = {
            OwnerSign.CHAIN: row.chains,
            OwnerSign.TABLE: row.tables,
            OwnerSign.COMMENT: row.comments,
            OwnerSign.DEVICE: row.devices,
            OwnerSign.PROTOCOL: row.protocols,
        }
        for sign, patterns in columns.items():
            wrong += [one for one in patterns if find_row(sign, example(one)) is not row]
            assert all(fnmatch.fnmatchcase(example(one), one) for one in patterns)

    assert [] == wrong


@pytest.mark.parametrize(
    ("sign", "name"),
    [
        (OwnerSign.CHAIN, "IN_web"),
        (OwnerSign.CHAIN, "FORWARD"),
        (OwnerSign.CHAIN, "KUBE-MINE"),
        (OwnerSign.DEVICE, "br-lan"),
        (OwnerSign.DEVICE, "eth0"),
        (OwnerSign.DEVICE, "lxcbr0"),
        (OwnerSign.DEVICE, "veth1234"),
        (OwnerSign.PROTOCOL, "static"),
        (OwnerSign.PROTOCOL, "boot"),
        (OwnerSign.CHAIN, ""),
    ],
)
def test_what_bears_no_sign_is_nobodys(sign: OwnerSign, name: str) -> None:
    """Unknown is better than wrong."""
    assert name_owner(sign, name) is None
