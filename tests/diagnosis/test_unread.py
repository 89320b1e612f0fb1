"""What was not read, was cut, or is not modeled, as reasons against the all-clear."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from podpath.diagnosis.unread import InputCut, LinesUnread, NotModelled, forbid_by_gaps
from podpath.net.provenance import Cut, Gap, GapKind
from tests.checks.nodes import span


def gap(kind: GapKind, why: str = "expected a rule") -> Gap:
    """Return a gap of a kind."""
    return Gap(span(why), why, kind=kind)


def test_unread_lines_are_one_reason_that_quotes_them_all() -> None:
    """A page of garbage is said once."""
    gaps = (gap(GapKind.UNREAD, "one"), gap(GapKind.UNREAD, "two"))
    (reason,) = forbid_by_gaps(gaps)
    assert (LinesUnread(gaps=gaps), tuple(item.span for item in gaps)) == (reason, reason.spans)


def test_what_a_limit_cut_is_told_apart_from_what_could_not_be_read() -> None:
    """The option that lifts the limit is another advice than a look at the line."""
    cut = gap(GapKind.UNREAD)._replace(cut=Cut("rules.txt", 10, 20, "--max-size"))
    assert [InputCut(gaps=(cut,))] == list(forbid_by_gaps((cut,)))


def test_packets_that_a_capture_lacks_are_cut_off_too() -> None:
    """Whoever left them out, they may be what shows the fault."""
    gaps = tuple(gap(kind) for kind in (GapKind.DROPPED, GapKind.SELECTED))
    assert [InputCut(gaps=gaps)] == list(forbid_by_gaps(gaps))


def test_each_thing_that_is_not_modelled_is_a_reason_of_its_own() -> None:
    """They have nothing in common that one sentence could say."""
    gaps = (gap(GapKind.NOT_MODELLED, "encap"), gap(GapKind.NOT_MODELLED, "xdp"))
    assert [("encap", NotModelled), ("xdp", NotModelled)] == [
        (one.what, type(one)) for one in forbid_by_gaps(gaps) if isinstance(one, NotModelled)
    ]


@given(st.integers(0, 5))
def test_lines_of_logs_forbid_nothing(count: int) -> None:
    """No line of a log decides what becomes of a packet."""
    assert [] == list(forbid_by_gaps([gap(GapKind.ASIDE)] * count))
