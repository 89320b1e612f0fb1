"""Trace events of freed packets."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from podpath_lab.drops import _EVENT, _parse_event, is_running

LINE = (
    "  python-1234 [001] b..1.  12.345678: kfree_skb: skbaddr=00000000f1 rx_sk=0000000000000000 "
    "protocol=2048 location=nf_hook_slow+0xa1/0x110{} reason: NETFILTER_DROP"
)


@pytest.mark.parametrize("module", ["", " [nf_tables]"])
def test_reason_and_place_are_the_kernels_own_words(module: str) -> None:
    """Nothing rests on the numbers of reasons, which differ between kernels; a function of a module
    has that behind it.
    """
    found = _EVENT.search(LINE.format(module))
    assert found is not None
    drop = _parse_event(found)
    assert (drop.reason, drop.location, drop.protocol, drop.time) == (
        "NETFILTER_DROP",
        "nf_hook_slow+0xa1/0x110",
        2048,
        12.345678,
    )


def test_a_process_that_nobody_has_waited_for_does_not_run() -> None:
    """Its directory in /proc stands until its parent waits."""
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)

        assert not is_running(ended.pid)
    assert is_running(os.getpid())
    assert not is_running(ended.pid)
