"""Lists as ovs-ofctl prints them."""

from __future__ import annotations

from podpath.net.openflow import split_outside


def test_commas_inside_parentheses_and_quotes_cut_nothing() -> None:
    """A list is cut at its own commas alone."""
    text = 'ct(commit,exec(load:0x1->NXM_NX_CT_MARK[],drop)),output:"a,b",resubmit(,5)'

    assert split_outside(text) == [
        "ct(commit,exec(load:0x1->NXM_NX_CT_MARK[],drop))",
        'output:"a,b"',
        "resubmit(,5)",
    ]
