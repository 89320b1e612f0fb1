"""Tests of `protect.drops.counting`: counters whose labels are bounded and clean."""

from __future__ import annotations

from podpath_protect.agent.metrics import render_metrics
from podpath_protect.drops.counting import MOST_CAUSES, MOST_KINDS, DropCounts
from tests.protect.drops.lines import make_flow, make_turn


def test_drops_are_counted_by_reason_function_and_kind_of_line() -> None:
    """The function without its offset, the kind without its ending."""
    counts = DropCounts()
    counts.take(make_turn(make_flow(5), make_flow(2, decided_by=None, function="tcp_v4_rcv+0x1")))
    text = render_metrics(counts.list_samples())

    begin = 'podpath_protect_drops_total{reason="NETFILTER_DROP",function='
    assert f'{begin}"nf_hook_slow"}} 5\n' in text
    assert f'{begin}"tcp_v4_rcv"}} 2\n' in text
    assert 'podpath_protect_drops_decided_total{line="iptables-save"} 5\n' in text
    assert 'podpath_protect_drops_decided_total{line="none"} 2\n' in text
    assert "podpath_protect_drops_left_out_total 2\n" in text


def test_labels_are_bounded_in_number_and_in_letters() -> None:
    """What is new beyond the bound, and whatever is no name, is counted as other."""
    counts = DropCounts()
    flows = [
        make_flow(
            1, function=f"function_{number}", decided_by=f"kind{number}.txt".replace("0", "z")
        )
        for number in range(2 * MOST_CAUSES)
    ]
    strange = make_flow(7, reason='a"b\n', function="x{y}", decided_by="../etc/passwd")
    counts.take(make_turn(strange, *flows))

    assert len(counts.causes) <= MOST_CAUSES + 1
    assert len(counts.kinds) <= MOST_KINDS + 1
    assert sum(counts.causes.values()) == sum(counts.kinds.values()) == 7 + 2 * MOST_CAUSES
    assert not {'a"b\n', "x{y}"} & {word for cause in counts.causes for word in cause}
    assert "passwd" not in "".join(counts.kinds)


def test_losses_grow_by_what_is_new() -> None:
    """A process counts from its beginning, the counters of the agent go on."""
    counts = DropCounts()
    counts.note_losses({}, {"missed": 3, "uncounted": 1})
    counts.note_losses({"missed": 3, "uncounted": 1}, {"missed": 4, "uncounted": 1})
    counts.note_losses({}, {"missed": 2})

    assert counts.losses == {"missed": 6, "uncounted": 1}


def test_lines_that_are_none_count_nothing() -> None:
    """Whatever stands where numbers and lists should."""
    counts = DropCounts()
    counts.take({"flows": "many", "left_out": -5})
    counts.take({"flows": [None, 3, {"packets": "x"}]})
    assert sum(counts.causes.values()) == counts.left_out == 0
