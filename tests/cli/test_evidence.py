"""Evidence of several nodes on the command line."""

from __future__ import annotations

import pytest

from podpath.cli.evidence import read_one
from podpath.library.progress import silent
from tests.library.samples import NO_FORWARDING, SECOND_NODE


def test_other_nodes_are_mentioned(capsys: pytest.CaptureFixture[str]) -> None:
    """Who gives evidence of two nodes is told which one this is about; of one, nothing is said."""
    read_one([NO_FORWARDING], progress=silent)
    assert capsys.readouterr().err == ""
    read_one([NO_FORWARDING, SECOND_NODE], progress=silent)
    assert (
        "covers 2 nodes (node1, node2); this answer is about node1; choose another with --node"
        in capsys.readouterr().err
    )
