"""Hypothesis strategies for diagnoses: every field filled with whatever its type allows, hostile
text included.
"""

from __future__ import annotations

from hypothesis import strategies as st

from podpath.checks.finding import Finding, Repair, Severity
from podpath.datapath.reasons import Reason
from podpath.datapath.reasons.devices import HandedToMaster
from podpath.datapath.reasons.failures import PacketDropped
from podpath.datapath.reasons.near import MissedByOne
from podpath.datapath.reasons.rules import ChainTaken
from podpath.datapath.tracing.trace import (
    Assumption,
    Branch,
    Conversation,
    Delivered,
    Dropped,
    NearMiss,
    Outcome,
    Rejected,
    Step,
    Trace,
    Transmitted,
    Undecided,
)
from podpath.diagnosis.diagnosis import Diagnosis, Question
from podpath.diagnosis.verdict import Verdict
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet
from podpath.net.probe import Probe
from podpath.net.provenance import Gap, Source, Span
from podpath.node.case import Contradiction
from podpath.node.netfilter import Rule

HOSTILE = "a0 \t\n\r\x00\x1b[31m\x9b\x7f\u202e\u2066\u200b\u2028\ud800\U000e0001{}%|é漢"

texts = st.one_of(st.text(max_size=12), st.text(alphabet=HOSTILE, max_size=12))
words = st.lists(texts, max_size=3).map(tuple)


@st.composite
def spans(draw: st.DrawFn) -> Span:
    """Draw a span within a source of a few lines."""
    lines = tuple(line.replace("\n", " ") for line in draw(st.lists(texts, min_size=1, max_size=9)))
    source = Source(name=draw(texts), lines=lines, first_line=draw(st.integers(1, 99)))
    first = draw(st.integers(0, len(lines) - 1))
    last = draw(st.integers(first, len(lines) - 1))
    return Span(source, source.first_line + first, source.first_line + last)


span_tuples = st.lists(spans(), max_size=2).map(tuple)
addresses = st.one_of(
    st.integers(0, 2**32 - 1).map(lambda value: Address(4, value)),
    st.integers(0, 2**128 - 1).map(lambda value: Address(6, value)),
)
packets = st.builds(
    Packet,
    src=addresses,
    dst=addresses,
    protocol=st.integers(0, 255),
    sport=st.integers(0, 65535),
    dport=st.integers(0, 65535),
    flags=st.integers(0, 255),
)
probes = st.builds(
    Probe,
    protocol=st.sampled_from((protocols.TCP, protocols.UDP, protocols.ICMP)),
    src=addresses,
    dst=addresses,
    netns=st.none() | texts,
)
RULE = Rule("filter", "FORWARD", 1, Span(Source(name="rules", lines=("-A FORWARD",)), 1, 1), None)
reasons: st.SearchStrategy[Reason] = st.one_of(
    st.builds(HandedToMaster, link=texts, master=texts),
    st.builds(ChainTaken, chain=texts, verdict=texts),
)
outcomes: st.SearchStrategy[Outcome] = st.one_of(
    st.builds(Delivered, netns=texts, packet=packets),
    st.builds(Transmitted, netns=texts, link=texts, packet=packets),
    st.builds(Dropped, netns=texts, reason=texts),
    st.builds(Rejected, netns=texts, reason=texts, answer=texts),
    st.builds(Undecided, netns=texts, reason=reasons, ask=texts),
)
near_misses = st.builds(
    NearMiss, span=spans(), reason=st.builds(MissedByOne, rule=st.just(RULE), condition=texts)
)
steps = st.builds(
    Step,
    stage=texts,
    netns=texts,
    function=texts,
    before=packets,
    after=packets,
    decision=texts,
    reason=reasons,
    spans=span_tuples,
    near=st.lists(
        st.builds(
            NearMiss,
            span=spans(),
            reason=st.builds(MissedByOne, rule=st.just(RULE), condition=texts),
        ),
        max_size=1,
    ).map(tuple),
    link=st.none() | texts,
)
traces = st.builds(
    Trace,
    name=texts,
    direction=st.sampled_from(("original", "reply")),
    start=texts,
    packet=packets,
    steps=st.lists(steps, max_size=3).map(tuple),
    outcome=outcomes,
)
assumptions = st.builds(
    Assumption,
    fact=texts,
    value=texts,
    meaning=texts,
    ask=texts,
    rank=st.integers(0, 3),
    random=st.booleans(),
    span=st.none() | spans(),
)
branches = st.builds(
    Branch,
    assumptions=st.lists(assumptions, max_size=2).map(tuple),
    traces=st.lists(traces, max_size=3).map(tuple),
    works=st.sampled_from((True, False, None)),
    failure=st.none()
    | st.builds(PacketDropped, name=texts, netns=texts, stage=texts, reason=reasons),
)
conversations = st.builds(
    Conversation,
    probe=probes,
    branches=st.lists(branches, max_size=3).map(tuple),
    verdict=st.sampled_from(("ALWAYS", "SOMETIMES", "NEVER", "UNDECIDED")),
    truncated=st.booleans(),
)
repairs = st.builds(
    Repair,
    title=texts,
    commands=words,
    proven=st.sampled_from(("", "simulated", "lab")),
    side_effects=words,
    changes=st.just(()),
)
findings = st.builds(
    Finding,
    check=texts,
    severity=st.sampled_from(Severity),
    claim=texts,
    evidence=span_tuples,
    reasoning=words,
    breaks=words,
    repairs=st.lists(repairs, max_size=2).map(tuple),
    prevention=texts,
    certainty=st.floats(0, 1),
    marks=words,
    shown_by=st.none() | branches,
)
gaps = st.lists(st.builds(Gap, span=spans(), why=texts), max_size=5).map(tuple)
diagnoses = st.builds(
    Diagnosis,
    verdict=st.sampled_from(Verdict),
    findings=st.lists(findings, max_size=3).map(tuple),
    conversations=st.lists(conversations, max_size=2).map(tuple),
    questions=st.lists(st.builds(Question, fact=texts, ask=texts, decides=words), max_size=5).map(
        tuple
    ),
    contradictions=st.lists(
        st.builds(Contradiction, fact=texts, spans=span_tuples, meaning=texts), max_size=1
    ).map(tuple),
    gaps=gaps,
    notes=words,
)
