"""Durations become buckets that Prometheus can read."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from podpath_protect.agent.histograms import SECONDS, Histogram
from podpath_protect.agent.metrics import render_metrics


def test_durations_are_counted_in_buckets() -> None:
    """Each bucket holds what is at most its bound, the last one everything; it is one family."""
    took = Histogram("look_seconds", "How long.", (0.1, 1.0))
    for seconds in (0.05, 0.1, 0.5, 7.0):
        took.observe(seconds, (("part", "chain"),))

    assert render_metrics(took.samples()).splitlines() == [
        "# HELP podpath_protect_look_seconds How long.",
        "# TYPE podpath_protect_look_seconds histogram",
        'podpath_protect_look_seconds_bucket{part="chain",le="0.1"} 2',
        'podpath_protect_look_seconds_bucket{part="chain",le="1"} 3',
        'podpath_protect_look_seconds_bucket{part="chain",le="+Inf"} 4',
        'podpath_protect_look_seconds_sum{part="chain"} 7.6500000000000004',
        'podpath_protect_look_seconds_count{part="chain"} 4',
    ]


@given(st.lists(st.floats(0, 100), max_size=50))
def test_buckets_grow_up_to_the_count(durations: list[float]) -> None:
    """No bucket holds less than the one before it, and the last is the count."""
    took = Histogram("x_seconds", "x")
    for seconds in durations:
        took.observe(seconds)
    samples = took.samples()
    buckets = [each.value for each in samples if each.ending == "_bucket"]

    assert buckets == sorted(buckets)
    assert [len(durations)] * bool(durations) == [
        each.value for each in samples if each.ending == "_count"
    ]
    assert (len(SECONDS) + 1 if durations else 0) == len(buckets)
