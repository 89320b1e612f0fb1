"""A case as it prints and shows."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from podpath.library.given import Pasted
from podpath.library.reading import read
from tests.library.samples import NO_FORWARDING


def test_case_prints_in_a_few_lines() -> None:
    """Its text names the node and what it holds, its repr fits one line, and neither shows facts by
    the page.
    """
    case = read(NO_FORWARDING)

    assert "netns host  3 devices, 3 addresses, 3 routes" in str(case)
    assert "<Case of 'node1': 3 sources, 0 gaps>" == repr(case)
    assert "<NodeCase of 'node1'>" == repr(case.nodes[0])
    assert str(case).splitlines()[0] in case._repr_html_().replace("</span>", "").replace(
        '<span style="font-weight:bold">', ""
    )


def test_case_is_frozen_and_forwards_to_its_first_node() -> None:
    """Nothing of it can be set; the node, its facts and gaps are at hand."""
    case = read(NO_FORWARDING)
    assert (case.nodes[0].facts, case.facts.node, case.facts.gaps) == (
        case.facts,
        case.node,
        case.gaps,
    )
    with pytest.raises(FrozenInstanceError):
        case.nodes = ()  # type: ignore[misc]  # what the test is about


def test_names_from_evidence_are_escaped() -> None:
    """A node's name in a prompt is no markup and moves no cursor."""
    text = NO_FORWARDING.text.replace("eth0", "<b>\x1b[2J")
    shown = read(Pasted(text))
    assert "<b>" not in shown._repr_html_()
    assert "\x1b" not in shown._repr_html_() + str(shown)
