"""Where, and on which host, outputs were taken."""

from __future__ import annotations

from podpath.node.case import Case
from podpath.node.node import HOST
from tests.assembly.evidence_text import (
    Output,
    case_of,
    known,
)

RP_FILTER = "net.ipv4.conf.all.rp_filter"


def test_namespaces_and_name(recorded: Case) -> None:
    """Each namespace that a command was run in is one of the model, and the prompt names the node."""
    assert list(recorded.node.namespaces) == [HOST, "cni-5ad1"]
    assert recorded.node.name == "worker-3"
    assert not any(netns.inferred for netns in recorded.node.namespaces.values())


def test_namespaces_do_not_mix() -> None:
    """The same key in two namespaces is two facts."""
    case = case_of(
        Output(f"sysctl {RP_FILTER}", f"{RP_FILTER} = 0"), Output(f"sysctl {RP_FILTER}", f"{RP_FILTER} = 1", netns="cni-7")
    )
    assert known(case.node.namespaces[HOST].sysctls[RP_FILTER]) == "0"
    assert known(case.node.namespaces["cni-7"].sysctls[RP_FILTER]) == "1"


def test_evidence_of_good_hosts_only_is_taken_as_it_is() -> None:
    """Where every output is labelled as of a good host, the case is about that host."""
    case = case_of(Output(f"sysctl {RP_FILTER}", f"{RP_FILTER} = 0", label="On a good host:"))
    assert known(case.node.host.sysctls[RP_FILTER]) == "0"
