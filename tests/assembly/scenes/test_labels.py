"""Words above an output: which state it shows."""

from __future__ import annotations

import pytest

from podpath.assembly.scenes.labels import StateLikelihood, judge_label, judge_source, spell_meaning
from podpath.net.provenance import Source, Span

LABELS = [
    ("On a good host:", StateLikelihood.ELSEWHERE),
    ("and on a healthy node we see", StateLikelihood.ELSEWHERE),
    ("The same on a machine that works:", StateLikelihood.ELSEWHERE),
    ("on the working worker", StateLikelihood.ELSEWHERE),
    ("正常的节点上:", StateLikelihood.ELSEWHERE),
    ("Auf einem gesunden Knoten:", StateLikelihood.ELSEWHERE),
    ("En un host sano:", StateLikelihood.ELSEWHERE),
    ("Node worker-3 (healthy):", StateLikelihood.ELSEWHERE),
    ("And the good one:", StateLikelihood.ELSEWHERE),
    ("On a bad host:", StateLikelihood.BAD),
    ("on an unhealthy node", StateLikelihood.BAD),
    ("on the node that does not work:", StateLikelihood.BAD),
    ("Here it no longer works:", StateLikelihood.BAD),
    ("出现故障的节点:", StateLikelihood.BAD),
    ("En el nodo roto:", StateLikelihood.BAD),
    ("After the fix:", StateLikelihood.AFTER),
    ("after we loaded the module and restarted", StateLikelihood.AFTER),
    ("Nach dem Neustart:", StateLikelihood.AFTER),
    ("修复后:", StateLikelihood.AFTER),
    ("After:", StateLikelihood.AFTER),
    ("Nachher", StateLikelihood.AFTER),
    ("Node n3 is NotReady since the reboot.", StateLikelihood.PLAIN),
    ("Pods cannot reach the Internet after we upgraded docker:", StateLikelihood.PLAIN),
    ("After removing kube-proxy no ClusterIP works. Pod IPs work.", StateLikelihood.PLAIN),
    ("After the upgrade nothing resolves.", StateLikelihood.PLAIN),
    ("After enabling forwarding there are no timeouts any more.", StateLikelihood.AFTER),
    ("With the fix it does not lose packets:", StateLikelihood.AFTER),
    ("**Before:**", StateLikelihood.BAD),
    ("After that I looked at the routes:", StateLikelihood.PLAIN),
    ("This looks fine:", StateLikelihood.GOOD),
    ("The routes, all in Ordnung:", StateLikelihood.GOOD),
    ("We can see what is in the chain with:", StateLikelihood.PLAIN),
    ("How to fix it:", StateLikelihood.PLAIN),
    ("I propose to refuse it. It would then print:", StateLikelihood.ELSEWHERE),
    ("The output should look like this:", StateLikelihood.ELSEWHERE),
    ("I would like to know what it prints:", StateLikelihood.PLAIN),
    ("", StateLikelihood.PLAIN),
]


@pytest.mark.parametrize(("label", "standing"), LABELS)
def test_judge_label(label: str, standing: StateLikelihood) -> None:
    """A label's own words put its output before or behind others."""
    assert judge_label(label) is standing


def test_last_sentence_counts_first() -> None:
    """What an earlier sentence says of something else does not count."""
    assert judge_label("Ping works. Look at the routing table:") is StateLikelihood.PLAIN
    assert judge_label("This is what a good host has. Its table:") is StateLikelihood.ELSEWHERE


def test_meaning_quotes_the_label() -> None:
    """An option's meaning says where its line stands, and quotes the label where that says
    something of the state.
    """
    plain = Source(name="t.md", lines=("1",), first_line=7, label="The value:")
    good = Source(name="t.md", lines=("0",), first_line=9, label="It is long ago. On a good host:")
    assert spell_meaning(Span(plain, 7, 7)) == "as at t.md:7"
    assert spell_meaning(Span(good, 9, 9)) == "as at t.md:9 (On a good host:)"
    assert judge_source(Source(name="t.md", lines=())) is StateLikelihood.PLAIN


@pytest.mark.parametrize(
    ("label", "standing"),
    [
        ("It is Rocky Linux. When I stop firewalld everything works.", StateLikelihood.PLAIN),
        ("If the pod is restarted it is fine.", StateLikelihood.PLAIN),
        ("When I stop firewalld everything works:", StateLikelihood.GOOD),
        ("On the other machine everything works.", StateLikelihood.GOOD),
        ("The old ones, for the record:", StateLikelihood.ELSEWHERE),
        ("My previous configuration:", StateLikelihood.ELSEWHERE),
        ("The old rules are still there:", StateLikelihood.PLAIN),
    ],
)
def test_a_condition_is_no_state(label: str, standing: StateLikelihood) -> None:
    """What would be so says nothing of the output below, unless a colon leads over to it."""
    assert standing is judge_label(label)


@pytest.mark.parametrize(
    ("label", "standing"),
    [
        ("It works from the node itself but not from outside the cluster.", StateLikelihood.PLAIN),
        ("It works on nodes of one rack, but not on this one.", StateLikelihood.PLAIN),
        ("Everything works on the node, pods are unreachable.", StateLikelihood.PLAIN),
        ("On a working node, but not on the other:", StateLikelihood.ELSEWHERE),
        ("On the other machine everything works:", StateLikelihood.GOOD),
        ("This one is fine, and not yet updated:", StateLikelihood.GOOD),
    ],
)
def test_what_works_in_part_is_no_good_state(label: str, standing: StateLikelihood) -> None:
    """Who complains says what works, too; the output below may show either."""
    assert standing is judge_label(label)
