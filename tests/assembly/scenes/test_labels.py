"""Words above an output: which state it shows."""

from __future__ import annotations

import pytest

from podpath.assembly.scenes.labels import Standing, judge_label, judge_source, spell_meaning
from podpath.net.provenance import Source, Span

LABELS = [
    ("On a good host:", Standing.ELSEWHERE),
    ("and on a healthy node we see", Standing.ELSEWHERE),
    ("The same on a machine that works:", Standing.ELSEWHERE),
    ("on the working worker", Standing.ELSEWHERE),
    ("正常的节点上:", Standing.ELSEWHERE),
    ("Auf einem gesunden Knoten:", Standing.ELSEWHERE),
    ("En un host sano:", Standing.ELSEWHERE),
    ("Node worker-3 (healthy):", Standing.ELSEWHERE),
    ("And the good one:", Standing.ELSEWHERE),
    ("On a bad host:", Standing.BAD),
    ("on an unhealthy node", Standing.BAD),
    ("on the node that does not work:", Standing.BAD),
    ("Here it no longer works:", Standing.BAD),
    ("出现故障的节点:", Standing.BAD),
    ("En el nodo roto:", Standing.BAD),
    ("After the fix:", Standing.AFTER),
    ("after we loaded the module and restarted", Standing.AFTER),
    ("Nach dem Neustart:", Standing.AFTER),
    ("修复后:", Standing.AFTER),
    ("After:", Standing.AFTER),
    ("Nachher", Standing.AFTER),
    ("**Before:**", Standing.BAD),
    ("After that I looked at the routes:", Standing.PLAIN),
    ("This looks fine:", Standing.GOOD),
    ("The routes, all in Ordnung:", Standing.GOOD),
    ("We can see what is in the chain with:", Standing.PLAIN),
    ("How to fix it:", Standing.PLAIN),
    ("", Standing.PLAIN),
]


@pytest.mark.parametrize(("label", "standing"), LABELS)
def test_judge_label(label: str, standing: Standing) -> None:
    """A label's own words put its output before or behind others."""
    assert judge_label(label) is standing


def test_last_sentence_counts_first() -> None:
    """What an earlier sentence says of something else does not count."""
    assert judge_label("Ping works. Look at the routing table:") is Standing.PLAIN
    assert judge_label("This is what a good host has. Its table:") is Standing.ELSEWHERE


def test_meaning_quotes_the_label() -> None:
    """An option's meaning says where its line stands, and quotes the label where that says
    something of the state.
    """
    plain = Source(name="t.md", lines=("1",), first_line=7, label="The value:")
    good = Source(name="t.md", lines=("0",), first_line=9, label="It is long ago. On a good host:")
    assert spell_meaning(Span(plain, 7, 7)) == "as at t.md:7"
    assert spell_meaning(Span(good, 9, 9)) == "as at t.md:9 (On a good host:)"
    assert judge_source(Source(name="t.md", lines=())) is Standing.PLAIN
