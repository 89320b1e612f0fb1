"""What the agent tells by its endpoints, its metrics and its taint is one and the same."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.net.tables import TableError
from podpath_protect.agent.config import load_config
from podpath_protect.agent.keeper import AgentFinding, KeeperStatus, all_hold
from podpath_protect.agent.logs import configure_logs
from podpath_protect.agent.loop import Agent
from podpath_protect.agent.node import TaintPolicy
from podpath_protect.chain.keeper import ChainKeeperState, _log_news
from podpath_protect.order.guard import OrderOutcome
from podpath_protect.order.keeper import _make_status

STATES = st.sampled_from(["ready", "degraded", "unready", "dead"])


class Fixed:
    """A part that stands as it is told."""

    def __init__(self, name: str, state: str) -> None:
        """Keep the state."""
        self.name, self.state = name, state

    def status(self) -> KeeperStatus:
        """Say what it said last; one that died said that all was well."""
        ready = self.state != "unready"
        return KeeperStatus(ready=ready, why="why", degraded=self.state == "degraded")

    def alive(self) -> bool:
        """Tell whether it lives."""
        return self.state != "dead"

    def start(self) -> None:
        """Begin nothing."""

    def stop(self) -> None:
        """End nothing."""


@pytest.mark.parity("G14", "G16")
@given(st.dictionaries(st.sampled_from(["sysctl", "order", "chain", "repair"]), STATES))
def test_readiness_liveness_taint_metrics_and_log_agree(states: dict[str, str]) -> None:
    """In whatever state the parts are: ready means that every one lives and holds, and what the
    taint, the metrics, the endpoints and the log say is the same.
    """
    with TemporaryDirectory() as folder:
        path = Path(folder, "agent.toml")
        path.write_text('[health]\nlisten = "off"\n[sysctl]\n')
        agent, log = Agent(path, {}, io.StringIO()), io.StringIO()
        configure_logs(log, "info", "json")
        agent._parts = {name: ((), Fixed(name, state)) for name, state in states.items()}
        statuses = agent.statuses()
        ready = bool(states) and set(states.values()) <= {"ready", "degraded"}
        tainted = TaintPolicy(grace=0.0)
        tainted.hear(all_hold(statuses), 1.0)
        wanted = tainted.hear(all_hold(statuses), 2.0)
        told = agent.metrics()
        agent._tell_readiness()
        agent._tell_readiness()
        os.close(agent._wake)

        assert ready == agent.ready().good
        assert agent.live().good == ("dead" not in states.values())
        assert ready == (not wanted)
        (line,) = map(json.loads, log.getvalue().splitlines())
        assert ("info" if ready else "warning") == line["level"]
        unready = {name for name, state in states.items() if state in {"unready", "dead"}}
        assert unready == set(line.get("why", ()))
        for name, state in states.items():
            holds = state in {"ready", "degraded"}
            assert f'part_ready{{part="{name}"}} {int(holds)}\n' in told
            assert holds == json.loads(agent.ready().body)["parts"][name]["ready"]


@pytest.mark.parity("G14")
@pytest.mark.parametrize("mends", [True, False])
def test_what_is_only_reported_keeps_no_pod_away(mends: bool) -> None:  # noqa: FBT001  # parametrized
    """In report mode a part with findings is ready and degraded, and says what it found."""
    wrong = AgentFinding(check="jump-order", subject="x", severity="error", claim="it is wrong")

    status = _make_status(OrderOutcome(findings=(wrong,)), 1, 0, mends=mends)

    assert (not mends, True, "it is wrong") == (status.ready, status.degraded, status.why)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('[sysctl]\nprofiles = ["ciliun"]\n', "ciliun"),
        ('[sysctl]\n[kubernetes]\ntaint_key = ""\n', "taint_key"),
        ('[sysctl]\n[kubernetes]\ntaint_key = "a b"\n', "taint_key"),
        ("[kubernetes]\n[repair]\nnode_per_hour = nan\n", "finite"),
        ("[kubernetes]\n[repair]\nmend_per_hour = inf\n", "finite"),
        ("[kubernetes]\n[repair]\nshare = 0\n", "share"),
        ("[sysctl]\npoll = inf\n", "duration"),
        ('[sysctl]\n[health]\nlisten = "[::ffff:0.0.0.0]:9809"\n', "ADDRESS:PORT"),
        ('[reflect]\nlisten = "[::ffff:0.0.0.0]:15105"\n', "ADDRESS:PORT"),
        ("[chain]\n", "an entry, or a type"),
        ('[chain]\ntype = "../x"\n', "name of a program"),
        ("[chain]\nentry = '{'\n", "an entry that can be chained"),
        ('[chain]\nentry = \'{"type": "x/y"}\'\n', "a program by its name"),
        ("[chain]\ntype = 'x'\nentry = '{\"type\": \"y\"}'\n", "an entry of x, saw one of 'y'"),
        ('[chain]\ntype = "x"\npoll = "0s"\n', "a poll of"),
        ('[order]\npoll = "0s"\n', "a poll of"),
        ("[reflect]\nper_second = nan\n", "per_second"),
        ("[reflect]\nper_second = inf\n", "per_second"),
        ('[chain]\ntype = "x"\nconfig_map = "x"\n', "NAMESPACE/NAME"),
        ('[chain]\ntype = "x"\nconfig_map = "a/b"\n', "beside \\[chain\\]"),
    ],
)
def test_what_would_fail_later_is_refused_at_once(tmp_path: Path, text: str, word: str) -> None:
    """A profile that nobody knows, a taint that no server takes, a budget that is no number, an
    address that stands for all in disguise, an entry that no runtime would load, a poll without
    rest.
    """
    path = tmp_path / "agent.toml"
    path.write_text(text)

    with pytest.raises(TableError, match=word):
        load_config(path)


@pytest.mark.parity("N9")
def test_a_rival_is_told_as_soon_as_it_is_known(caplog: pytest.LogCaptureFixture) -> None:
    """First somebody unknown, then its name: both are logged, each once."""
    memory = ChainKeeperState()
    names = ("somebody unknown", "somebody unknown", "Cilium", "Cilium")
    with caplog.at_level("WARNING", logger="podpath.protect.chain"):
        for name in names:
            claim = f"{name} keeps taking linkerd-cni out of the chain"
            fight = AgentFinding(
                check="chain-fight", subject="linkerd-cni", severity="error", claim=claim
            )
            _log_news(memory, [fight], "linkerd-cni")

    assert ["somebody", "Cilium"] == [record.message.split()[0] for record in caplog.records]
