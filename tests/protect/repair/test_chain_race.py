"""The incident cni-chain-race from end to end on real parts: a pod starts before the mesh's plugin
is chained in.

Debian's CNI plugins make the pods' namespaces, the kernel holds their rules, a real API server
their state; the validator, the keeper of the chain and the repair controller are the product's own.
The tests play the kubelet (they write statuses) and the primary CNI.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from podpath_protect.agent.keeper import ThreadKeeper
from podpath_protect.apply import Applier
from podpath_protect.chain.keeper import keep_chain
from podpath_protect.chain.options import ChainOptions
from podpath_protect.repair.policy import Policy
from tests import kube_objects as kube
from tests.kube.following import until
from tests.protect.repair.netns import inside
from tests.protect.repair.runtime import Runtime, Sandbox
from tests.protect.repair.test_keeper import Running, assign
from tests.protect.repair.ward import SPACE, Ward

VALIDATOR = "linkerd-network-validator"
pytestmark = pytest.mark.kernel(
    "iptables-nft-save", "ip6tables-nft-save", "nft", "nsenter", "setpriv"
)


def born(ward: Ward, name: str, sandbox: Sandbox, tmp_path: Path, **more: object) -> int:
    """Play the kubelet: run the validator in a new pod's namespace, and write what became of it
    into the pod's status.
    """
    code, message = sandbox.validate(tmp_path / "termination-log")
    ended = kube.ended(code, message)
    never = more.get("restartPolicy") == "Never"
    state, last = (ended, None) if never or code == 0 else (kube.CRASH_LOOP, ended)
    phase = "Running" if code == 0 else "Failed" if never else "Pending"
    ward.pod(
        name,
        state,
        last,
        containers=("app", "linkerd-proxy"),
        ips=sandbox.addresses,
        phase=phase,
        **more,
    )
    return code


def chain_keeper(runtime: Runtime) -> ThreadKeeper:
    """Make the keeper of the node's chain."""
    options = ChainOptions(
        entry=json.dumps({"type": "mesh-cni"}),
        conf_dir=str(runtime.conf),
        bin_dirs=(str(runtime.programs), "/usr/lib/cni"),
        poll=1.0,
    )
    return ThreadKeeper("chain", lambda context: keep_chain(context, options, Applier()))


@pytest.mark.parity("G3")
def test_a_pod_that_starts_before_the_plugin_is_chained(ward: Ward, tmp_path: Path) -> None:
    """The whole incident: found with its reason, left alone while the chain is wrong, mended within
    the budget, and not again.
    """
    policy = Policy(actions=("label", "mend", "evict"), scan=0.0, node_burst=1, owner_burst=1)
    with Runtime(tmp_path) as runtime:
        chain = chain_keeper(runtime)

        def health() -> str:
            status = chain.status()
            return "" if status.ready else status.why

        runtime.install_mesh()
        first = runtime.run_pod()
        assert 95 == born(ward, "race-1", first, tmp_path)
        said = ward.read("race-1").status.init_container_statuses[0].last_state.terminated
        assert said is not None
        assert "no-rules" in said.message, "the termination message names the cause"

        with Running(assign(ward, policy, chain=health)) as running:
            until(lambda: running.sample("repair_pods_broken") == 1, "the pod is found")
            held = running.heard.findings[0]
            assert "the node's own CNI chain is not healthy" in held.evidence[0]
            assert "--to-ports" not in inside(first.name, "iptables-nft-save")
            assert {} == ward.read("race-1").metadata.labels

            chain.start()
            try:
                until(lambda: not health(), "the chain is mended")
                until(
                    lambda: "--to-ports 4140" in inside(first.name, "ip6tables-nft-save"),
                    "the pod is mended in place",
                )
                until(
                    lambda: running.sample("repair_deeds", action="mend", result="success") == 1,
                    "and proven",
                )
                assert (0, "") == first.validate(tmp_path / "termination-log")
                status = kube.status(
                    VALIDATOR, kube.ended(0), kube.ended(95), phase="Running", ips=first.addresses
                )
                ward.server.set_status("pod", SPACE, "race-1", status)
                until(lambda: running.sample("repair_pods_broken") == 0, "the pod is well")

                second = runtime.run_pod()
                assert 0 == born(ward, "race-2", second, tmp_path), (
                    "a pod of the mended chain is born right"
                )

                runtime.write_primary()
                until(
                    lambda: (
                        "mesh-cni"
                        in (runtime.conf / "10-pods.conflist").read_text(encoding="utf-8")
                    ),
                    "the chain is kept",
                )
                assert 0 == born(ward, "race-3", runtime.run_pod(), tmp_path), (
                    "and so is one after the primary CNI wrote anew"
                )
            finally:
                chain.stop()

    assert {"race-1", "race-2", "race-3"} <= {
        pod["metadata"]["name"] for pod in ward.server.read("pods", "-n", SPACE)["items"]
    }
    assert {"podpath.dev/unredirected"} & set(ward.read("race-1").metadata.labels) == set()
    assert ["LabelBrokenPod", "MendBrokenPod"] == [
        event["reason"] for event in ward.events("race-1")
    ]


def test_jobs_that_started_too_early_are_made_again_within_the_budget(
    ward: Ward, tmp_path: Path
) -> None:
    """Pods that failed for good cannot be mended: one is evicted, the second waits for the owner's
    budget.
    """
    policy = Policy(actions=("mend", "evict"), scan=0.0, owner_burst=1)
    with Runtime(tmp_path) as runtime:
        runtime.install_mesh()
        job = [kube.owner("nightly", "Job")]
        for name in ("nightly-1", "nightly-2"):
            assert 95 == born(
                ward, name, runtime.run_pod(), tmp_path, restartPolicy="Never", owners=job
            )
        with Running(assign(ward, policy)) as running:
            until(
                lambda: running.sample("repair_deeds", action="evict", result="success") == 1,
                "one is evicted",
            )
            until(
                lambda: bool(running.heard.findings and running.heard.findings[0].evidence),
                "the other is held back",
            )
            held = running.heard.findings[0].evidence[0]

    assert 1 == sum(ward.there(name) for name in ("nightly-1", "nightly-2"))
    assert f"the budget of the node or of {SPACE}/Job/nightly" in held
