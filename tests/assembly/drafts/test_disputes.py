"""Claims about one fact."""

from __future__ import annotations

from podpath.net.provenance import Unknown
from tests.assembly.evidence_text import (
    Output,
    case_of,
)

RP_FILTER = "net.ipv4.conf.all.rp_filter"


def test_label_puts_the_failing_state_first() -> None:
    """A value with a label that speaks of a working state comes last, wherever it stands, and keeps
    its label.
    """
    case = case_of(
        Output(f"sysctl {RP_FILTER}", f"{RP_FILTER} = 0", label="After the fix:"),
        Output(f"sysctl {RP_FILTER}", f"{RP_FILTER} = 1"),
    )
    fact = case.node.host.sysctls[RP_FILTER]
    assert isinstance(fact, Unknown)
    assert [option.value for option in fact.options] == ["1", "0"]
    assert fact.options[1].meaning == "as at ticket.md:1 (After the fix:)"
