"""What a generated client's socket has set."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

from podpath.net import protocols
from podpath.net.probe import USUALLY, Probe
from podpath_lab.cases.clients import draw_client, name_options
from podpath_lab.cases.generate import generate_case
from podpath_lab.script import emit_twin

PROBE = Probe.parse("udp 10.1.0.2 > 10.1.0.3:80 from pod1")


def test_every_option_is_drawn() -> None:
    """Of each kind many, and never none at all; only datagrams have a say about DF, and no ping has
    an owner.
    """
    drawn = [draw_client(Random(seed), PROBE).sending for seed in range(200)]
    counted = Counter(name for sending in drawn for name in name_options(sending))
    assert USUALLY not in drawn
    assert set(counted) == {f"client's {name}" for name in ("mark", "owner", "TTL", "DSCP", "DF")}
    assert min(counted.values()) > 20
    ping = PROBE._replace(protocol=protocols.ICMP, dport=0)
    drawn = [draw_client(Random(seed), ping).sending for seed in range(200)]
    assert not any(sending.uid or sending.dont_fragment is not None for sending in drawn)


def test_a_client_changes_nothing_else_of_a_case() -> None:
    """The node is the same as it would be without; about one case in seven has such a client."""
    cases = [generate_case(seed) for seed in range(300)]
    special = [case for case in cases if case.probe.sending != USUALLY]
    assert 20 < len(special) < 70
    for case in special[:5]:
        assert case.families >= name_options(case.probe.sending)
        plain = replace(case, probe=case.probe._replace(sending=USUALLY))
        assert emit_twin(case.node).commands == emit_twin(plain.node).commands
