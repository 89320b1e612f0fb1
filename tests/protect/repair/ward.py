"""A controller on the real API server, with pods whose kubelet is the test: what the tests of
repair act on.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from podpath.kube import access
from podpath.kube.client import Client
from podpath_protect.apply import Applier
from podpath_protect.cluster.events import Recorder
from podpath_protect.cluster.objects import KubePod
from podpath_protect.cluster.pods import Evictor
from podpath_protect.repair.actions import ClusterBudget, PodActions, Unbounded
from podpath_protect.repair.budget import RepairBudget
from podpath_protect.repair.controller import Controller
from podpath_protect.repair.namespaces import Namespaces, read_namespaces
from podpath_protect.repair.policy import Policy
from tests import kube_objects as kube
from tests.apiserver import ADMIN, ApiServer
from tests.protect.repair.pods import LINKERD

SPACE = "ward"
WIDE = Policy(
    actions=("evict",),
    node_burst=50,
    node_per_hour=3600,
    owner_burst=50,
    owner_per_hour=3600,
    owner_pause=0.0,
    share=1.0,
    label="podpath.dev/unredirected",
)
_NUMBERS = itertools.count(1)


class Ward:
    """One node's controller, and its pods."""

    def __init__(self, server: ApiServer, token: str = ADMIN) -> None:
        """Connect; `controller` makes one with a policy."""
        self.server = server
        self.node = f"ward-{next(_NUMBERS)}"
        self.client = Client(access.find(server.kubeconfig(token)))
        self.chain = ""
        """Why the node's chain is unhealthy."""
        self.wall = 1_795_312_800.0
        self.actions: PodActions
        self.recorder = Recorder(
            self.client,
            "podpath-agent-x",
            clock=lambda: 0.0,
            wall=lambda: self.wall,
            draw=lambda: next(_NUMBERS) % 65535 / 65536,
        )

    def controller(
        self,
        policy: Policy = WIDE,
        namespaces: Callable[[], Namespaces] = read_namespaces,
        cluster: ClusterBudget | None = None,
        **changes: Any,  # noqa: ANN401  # fields of the policy
    ) -> Controller:
        """Make a controller with a policy, changed here and there."""
        policy = replace(policy, **changes)
        self.actions = PodActions(
            policy=policy,
            client=self.client,
            recorder=self.recorder,
            evictor=Evictor(self.client),
            applier=Applier(dry_run=policy.dry_run),
            namespaces=namespaces,
            cluster=cluster or Unbounded(),
        )
        return Controller(
            policy,
            self.actions,
            RepairBudget(policy, 0.0),
            own_pod=f"{SPACE}/own",
            chain=lambda: self.chain,
        )

    def pod(
        self,
        name: str,
        state: kube.Object | None = None,
        last: kube.Object | None = None,
        **more: Any,  # noqa: ANN401
    ) -> KubePod:
        """Create a pod as `create` does, and read it."""
        self.create(name, state, last, **more)
        return self.read(name)

    def create(
        self,
        name: str,
        state: kube.Object | None = None,
        last: kube.Object | None = None,
        **more: Any,  # noqa: ANN401
    ) -> None:
        """Create a pod on the node and write its status as a kubelet would; broken unless told
        otherwise. Where a keeper runs it may be gone before it could be read.
        """
        phase, ips, status = (
            more.pop("phase", "Pending"),
            more.pop("ips", ()),
            more.pop("status", None),
        )
        more.setdefault("owners", [kube.owner()])
        init = more.pop("init", (LINKERD,))
        self.server.apply(kube.pod(name, namespace=SPACE, node=self.node, init=init, **more))
        state, last = (
            (kube.CRASH_LOOP, kube.ended(95, "no rules")) if state is None else (state, last)
        )
        self.server.set_status(
            "pod",
            SPACE,
            name,
            status or kube.status(init[0] if init else "none", state, last, phase=phase, ips=ips),
        )

    def read(self, name: str) -> KubePod:
        """Read a pod."""
        return self.client.read(KubePod, f"/api/v1/namespaces/{SPACE}/pods/{name}")

    def there(self, name: str) -> bool:
        """Tell whether a pod is there."""
        found = self.server.read("pods", "-n", SPACE, "--field-selector", f"metadata.name={name}")
        return bool(found["items"])

    def events(self, name: str) -> list[dict[str, Any]]:
        """Read the events about a pod, the oldest first."""
        found = self.server.read("events.events.k8s.io", "-n", SPACE)["items"]
        mine: list[dict[str, Any]] = [
            event for event in found if event["regarding"]["name"] == name
        ]
        return sorted(mine, key=lambda event: str(event["eventTime"]))

    def close(self) -> None:
        """Close the connections."""
        self.client.close()
