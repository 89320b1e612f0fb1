"""Tests of `deploy/`: everything renders, is known to the API, is taken by a real server, and
grants no more than is used.
"""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import tomllib
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from lightkube.models import (
    admissionregistration_v1,
    apps_v1,
    batch_v1,
    coordination_v1,
    core_v1,
    rbac_v1,
)

from podpath.kube import access
from podpath.kube.client import JSON, MERGE_PATCH, Client, Refused, Verb
from podpath_protect.agent.config import load_config
from podpath_protect.cluster import taints
from podpath_protect.cluster.limits import ClusterLimits
from podpath_protect.repair.keeper import RepairScope, Work
from podpath_protect.repair.policy import VALIDATORS, Policy
from podpath_protect.repair.redirect import PodRedirect, render_restore
from tests import kube_objects as kube
from tests.apiserver import AGENT, PROGRAMS, ApiServer
from tests.command import podpath
from tests.folders import let_pass
from tests.protect.pods import pod, run
from tests.protect.reflect.agents import REFLECT, reflecting_agent

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
KINDS: dict[str, type[msgspec.Struct]] = {
    "Namespace": core_v1.Namespace,
    "ServiceAccount": core_v1.ServiceAccount,
    "ConfigMap": core_v1.ConfigMap,
    "Secret": core_v1.Secret,
    "ClusterRole": rbac_v1.ClusterRole,
    "Role": rbac_v1.Role,
    "ClusterRoleBinding": rbac_v1.ClusterRoleBinding,
    "RoleBinding": rbac_v1.RoleBinding,
    "Lease": coordination_v1.Lease,
    "DaemonSet": apps_v1.DaemonSet,
    "Deployment": apps_v1.Deployment,
    "StatefulSet": apps_v1.StatefulSet,
    "Job": batch_v1.Job,
    "CronJob": batch_v1.CronJob,
    "Pod": core_v1.Pod,
    "ValidatingAdmissionPolicy": admissionregistration_v1.ValidatingAdmissionPolicy,
    "ValidatingAdmissionPolicyBinding": admissionregistration_v1.ValidatingAdmissionPolicyBinding,
}
VARIANTS = ["base", "linkerd", "istio", "snapshot", "drops"]
Object = dict[str, Any]


def render(folder: Path) -> list[Object]:
    """Render a kustomization by kubectl, which knows kustomize."""
    done = subprocess.run(
        [PROGRAMS / "kubectl", "kustomize", folder], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return list(yaml.safe_load_all(done.stdout))


def unknown_fields(value: object, kind: object, where: str) -> Iterator[str]:
    """Name the fields of an object that its type does not have, at any depth."""
    for inner in typing.get_args(kind):
        if value is not None and inner is not type(None) and not isinstance(value, str):
            items = (
                value.values()
                if isinstance(value, dict) and typing.get_origin(kind) is dict
                else value
            )
            if typing.get_origin(kind) in {list, dict}:
                if inner is not str:
                    for number, item in enumerate(typing.cast("list[object]", items)):
                        yield from unknown_fields(item, inner, f"{where}[{number}]")
            else:
                yield from unknown_fields(value, inner, where)
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and isinstance(value, dict):
        known = {field.encode_name: field.type for field in msgspec.structs.fields(kind)}
        for key, one in value.items():
            if key not in known:
                yield f"{where}.{key}"
            else:
                yield from unknown_fields(one, known[key], f"{where}.{key}")


@pytest.fixture(scope="module", params=VARIANTS)
def objects(request: pytest.FixtureRequest) -> list[Object]:
    """Provide the objects of each variant."""
    return render(DEPLOY / str(request.param))


@pytest.fixture(params=["validator", "linkerd/validator", "istio/validator"])
def workloads(request: pytest.FixtureRequest, tmp_path: Path) -> list[Object]:
    """Provide workloads of every kind with a variant of the validator put into those that ask for
    it.
    """
    pod = {
        "initContainers": [{"name": "own", "image": "i"}],
        "containers": [{"name": "app", "image": "i"}],
    }
    template = {"metadata": {"labels": {"app": "x"}}, "spec": pod}
    apps = {"selector": {"matchLabels": {"app": "x"}}, "template": template}
    once = {"metadata": {"labels": {"app": "x"}}, "spec": pod | {"restartPolicy": "Never"}}
    wants = {"podpath.dev/validate": "true"}
    made = [
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web", "labels": wants},
            "spec": apps,
        },
        {
            "apiVersion": "apps/v1",
            "kind": "StatefulSet",
            "metadata": {"name": "db", "labels": wants},
            "spec": apps | {"serviceName": "db"},
        },
        {
            "apiVersion": "apps/v1",
            "kind": "DaemonSet",
            "metadata": {"name": "log", "labels": wants},
            "spec": apps,
        },
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": "once", "labels": wants},
            "spec": {"template": once},
        },
        {
            "apiVersion": "batch/v1",
            "kind": "CronJob",
            "metadata": {"name": "nightly", "labels": wants},
            "spec": {"schedule": "0 3 * * *", "jobTemplate": {"spec": {"template": once}}},
        },
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "bare", "labels": wants},
            "spec": pod,
        },
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "plain"},
            "spec": apps,
        },
    ]
    (tmp_path / "all.yaml").write_text(yaml.safe_dump_all(made), encoding="utf-8")
    for folder in ("validator", "linkerd", "istio"):
        shutil.copytree(DEPLOY / folder, tmp_path / folder)
    content = {
        "resources": ["all.yaml"],
        "components": [str(request.param)],
        "namespace": "default",
    }
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    return render(tmp_path)


def pod_spec(workload: Object) -> Object:
    """Return the spec of the pods that a workload makes."""
    spec: Object = workload["spec"]
    spec = spec.get("jobTemplate", {"spec": spec})["spec"]
    return typing.cast("Object", spec.get("template", {"spec": spec})["spec"])


def of_kind(objects: list[Object], kind: str) -> Object:
    """Return the one object of a kind."""
    (found,) = (each for each in objects if each["kind"] == kind)
    return found


def test_every_field_is_known_to_the_api(objects: list[Object]) -> None:
    """Offline: no field is misspelt, at any depth, against the types of a current release."""
    assert [] == [
        fault
        for each in objects
        for fault in unknown_fields(each, KINDS[each["kind"]], each["kind"])
    ]


def test_every_field_of_the_policy_is_known_to_the_api() -> None:
    """The policies, too; the tests' own server is too old for them."""
    policies = render(DEPLOY / "policy")

    assert 8 == len(policies)
    assert [] == [
        fault
        for each in policies
        for fault in unknown_fields(each, KINDS[each["kind"]], each["kind"])
    ]


def test_a_misspelt_field_would_be_found(objects: list[Object]) -> None:
    """The check itself sees a misspelt field deep within a list."""
    wrong = json.loads(json.dumps(of_kind(objects, "DaemonSet")))
    wrong["spec"]["template"]["spec"]["containers"][0]["securityContext"]["capabilites"] = {}

    found = list(unknown_fields(wrong, apps_v1.DaemonSet, "DaemonSet"))
    assert ["DaemonSet.spec.template.spec.containers[0].securityContext.capabilites"] == found


def test_the_agents_configuration_is_good(objects: list[Object], tmp_path: Path) -> None:
    """What the ConfigMap holds is a configuration that the agent takes, and it keeps what its
    variant says.
    """
    data = of_kind(objects, "ConfigMap")["data"]
    for name, text in data.items():
        (tmp_path / name).write_text(text, encoding="utf-8")

    config, _ = load_config(tmp_path / "agent.toml")

    assert {"sysctl", "order", "repair", "reflect"} <= set(config.parts())
    assert config.kubernetes is not None
    lease = of_kind(objects, "Lease")["metadata"]
    assert config.kubernetes.budget is not None
    assert f"{lease['namespace']}/{lease['name']}" == config.kubernetes.budget.lease
    if config.chain is not None:
        assert ("", True) == (config.chain.entry, config.chain.type in {"linkerd-cni", "istio-cni"})
        assert config.state, "the installer's entry outlives the pod there"
        named = [
            name
            for each in objects
            if each["kind"] == "ClusterRole"
            for rule in each["rules"]
            for name in rule.get("resourceNames", ())
        ]
        assert [config.chain.config_map.partition("/")[2]] == named


def test_the_agent_has_the_capabilities_that_it_names_and_no_more(objects: list[Object]) -> None:
    """Not privileged; everything dropped but four, and a fifth to hear drops; read-only root;
    health on loopback alone.
    """
    spec = pod_spec(of_kind(objects, "DaemonSet"))
    (agent,) = spec["containers"]
    context = agent["securityContext"]

    assert ["ALL"] == context["capabilities"]["drop"]
    configured = next(each for each in objects if each["kind"] == "ConfigMap")["data"]
    hears = {"SYSLOG"} if "[drops]" in configured["agent.toml"] else set()
    assert {"NET_ADMIN", "NET_RAW", "SYS_ADMIN", "SYS_PTRACE"} | hears == set(
        context["capabilities"]["add"]
    )
    assert context["readOnlyRootFilesystem"]
    assert "privileged" not in context
    assert "RuntimeDefault" == context["seccompProfile"]["type"]
    assert {"127.0.0.1"} == {
        agent[f"{kind}Probe"]["httpGet"]["host"] for kind in ("startup", "liveness", "readiness")
    }


def test_what_is_mounted_of_the_node_is_written_only_where_it_must_be(
    objects: list[Object],
) -> None:
    """Of the node's files the agent may write its state, the iptables lock, the network's sysctls,
    and the chain it keeps.
    """
    spec = pod_spec(of_kind(objects, "DaemonSet"))
    paths = {
        volume["name"]: volume["hostPath"]["path"]
        for volume in spec["volumes"]
        if "hostPath" in volume
    }
    mounts = spec["containers"][0]["volumeMounts"]
    writable = {
        paths[mount["name"]]
        for mount in mounts
        if not mount.get("readOnly") and mount["name"] in paths
    }

    assert {"/run/podpath", "/run/xtables.lock", "/proc/sys/net"} == writable - {"/etc/cni/net.d"}
    assert ("/etc/cni/net.d" in writable) == any(
        "cni-conf" == volume["name"] for volume in spec["volumes"]
    )
    assert {mount["name"] for mount in mounts} == {volume["name"] for volume in spec["volumes"]}


def test_a_real_server_takes_everything(objects: list[Object], api_server: ApiServer) -> None:
    """Server-side apply as a dry run, on a real API server with validation and admission."""
    if "podpath" not in api_server.kubectl("get", "namespaces", "-o", "name"):
        api_server.kubectl("create", "namespace", "podpath")

    told = api_server.kubectl(
        "apply", "--server-side", "--dry-run=server", "-f", "-", given=yaml.safe_dump_all(objects)
    )

    assert len(objects) == told.count("serverside-applied (server dry run)")


def test_the_validator_is_put_first_where_it_is_asked_for(workloads: list[Object]) -> None:
    """Every kind of workload with the label gets it before its own init containers; the one without
    stays as it is.
    """
    inits = {
        each["metadata"]["name"]: [one["name"] for one in pod_spec(each)["initContainers"]]
        for each in workloads
    }

    assert ["own"] == inits.pop("plain")
    assert 6 == len(inits)
    assert {("podpath-validate", "own")} == {tuple(names) for names in inits.values()}
    assert "podpath-validate" in {validator.container for validator in VALIDATORS}


def test_the_validator_needs_no_right(workloads: list[Object]) -> None:
    """Nobody's user, no capability, no escalation, read-only root: it fits the level
    `restricted`.
    """
    (context,) = {
        json.dumps(pod_spec(each)["initContainers"][0]["securityContext"], sort_keys=True)
        for each in workloads
        if each["metadata"]["name"] != "plain"
    }

    assert {
        "runAsNonRoot": True, "runAsUser": 65534, "runAsGroup": 65534,
        "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]}, "seccompProfile": {"type": "RuntimeDefault"},
    } == json.loads(context)  # fmt: skip


def test_a_real_server_takes_the_workloads(workloads: list[Object], api_server: ApiServer) -> None:
    """Each workload with its validator is valid to a real API server; CronJob's v1 is newer than
    it, and is checked offline.
    """
    taken = [each for each in workloads if each["kind"] != "CronJob"]
    faults = [
        fault
        for each in workloads
        for fault in unknown_fields(each, KINDS[each["kind"]], each["kind"])
    ]

    told = api_server.kubectl(
        "apply", "--server-side", "--dry-run=server", "-f", "-", given=yaml.safe_dump_all(taken)
    )

    assert [] == faults
    assert len(taken) == told.count("serverside-applied (server dry run)")


REDIRECTS = {
    "4140": PodRedirect(
        style="linkerd", outbound=4140, inbound=4143, proxy_uid=2102, skip_inbound=("4190", "4191")
    ),
    "15001": PodRedirect(
        style="istio",
        outbound=15001,
        inbound=15006,
        proxy_uid=1337,
        skip_inbound=("15008", "15020", "15021", "15090"),
    ),
}


@pytest.mark.kernel("iptables-nft-restore", "setpriv", "ss")
def test_agent_and_validator_find_each_other(workloads: list[Object], tmp_path: Path) -> None:
    """The manifests' own command line and the shipped [reflect]: a pod without rules ends with the
    validator's code, one with rules is proven in both directions.
    """
    arguments, variables = arguments_of(
        pod_spec(of_kind(workloads, "StatefulSet"))["initContainers"][0]
    )
    base = render(DEPLOY / "base")
    told = {
        each["name"]: each["valueFrom"]
        for each in pod_spec(of_kind(base, "DaemonSet"))["containers"][0]["env"]
    }
    shipped = tomllib.loads(of_kind(base, "ConfigMap")["data"]["agent.toml"])["reflect"]
    redirect = REDIRECTS[next((word for word in arguments if word in REDIRECTS), "4140")]
    message = tmp_path / "log"
    message.touch()
    message.chmod(0o666)
    let_pass(tmp_path)
    with pod() as made, reflecting_agent(made.node, REFLECT, POD_IPS="10.9.0.1"):
        given = [
            {"/dev/termination-log": str(message), "10s": "2s"}.get(word, word)
            for word in arguments
        ]
        without = made.validate(*given[2:])
        cause = message.read_text(encoding="utf-8")
        for family, program in ((4, "iptables-nft-restore"), (6, "ip6tables-nft-restore")):
            run("ip", "netns", "exec", made.name, program, stdin=render_restore(redirect, family))
        proven = made.validate(*given[2:])

    assert ({}, {"HOST_IP": "status.hostIP"}) == (shipped, variables)
    assert "status.podIPs" == told["POD_IPS"]["fieldRef"]["fieldPath"]
    assert without.code in VALIDATORS[0].codes, (without.document, without.log)
    assert cause
    assert (0, "passed") == (proven.code, proven.states("inbound")[4]), (
        proven.document,
        proven.log,
    )


def arguments_of(container: Object) -> tuple[list[str], dict[str, str]]:
    """Return a container's arguments as the kubelet would, on the node 10.9.0.1, and its variables'
    fields.
    """
    variables = {
        each["name"]: each["valueFrom"]["fieldRef"]["fieldPath"] for each in container["env"]
    }
    return [word.replace("$(HOST_IP)", "10.9.0.1") for word in container["args"]], variables


GRANTED = ("access.yaml", "budget.yaml")
BOUND_ELSEWHERE = "podpath-agent-snapshot"


@pytest.fixture(scope="module")
def bound(api_server: ApiServer) -> Iterator[ApiServer]:
    """Provide a server on which the agent's roles are bound and none that other tests bind, and
    take them off it again.
    """
    api_server.kubectl("delete", "clusterrolebinding", BOUND_ELSEWHERE, "--ignore-not-found")
    if "podpath" not in api_server.kubectl("get", "namespaces", "-o", "name"):
        api_server.kubectl("create", "namespace", "podpath")
    for name in GRANTED:
        api_server.kubectl("apply", "-f", DEPLOY / "base" / name)
    api_server.await_right(AGENT, "patch", "nodes")
    api_server.await_right(AGENT, "patch", "leases/podpath-budget", "-n", "podpath")
    api_server.await_right(AGENT, "create", "tokenreviews", there=False)
    yield api_server
    for name in GRANTED:
        api_server.kubectl("delete", "-f", DEPLOY / "base" / name)


REACH = {
    "get pods", "list pods", "watch pods", "patch pods/status", "create pods/eviction",
    "create events.k8s.io/events", "get nodes", "patch nodes",
}  # fmt: skip
EVERYBODYS = {
    "create authorization.k8s.io/selfsubjectaccessreviews",
    "create authorization.k8s.io/selfsubjectrulesreviews",
}
"""What every account may (the role `system:basic-user`)."""


def reach(server: ApiServer, space: str) -> set[str]:
    """Return what a token of the agent may do in a namespace, in the server's own full words."""
    body = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectRulesReview",
        "spec": {"namespace": space},
    }
    with Client(access.find(server.kubeconfig(AGENT))) as client:
        where = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
        status = json.loads(client.request("POST", where, body=body))["status"]
    assert status["incomplete"] is False
    found = set()
    for rule in status["resourceRules"]:
        kinds = itertools.product(rule["verbs"], rule["apiGroups"], rule["resources"])
        named = f" of {', '.join(rule['resourceNames'])}" if rule.get("resourceNames") else ""
        found |= {
            f"{verb} {group}/{what}".replace(" /", " ") + named for verb, group, what in kinds
        }
    return found - EVERYBODYS


@pytest.mark.parity("R11")
@pytest.mark.parametrize("space", ["podpath", "default", "kube-system"])
def test_the_role_allows_what_is_used_and_nothing_else(bound: ApiServer, space: str) -> None:
    """A real server's own list of all that a stolen token may do, verb by verb and namespace by
    namespace, is the table and nothing beside it.
    """
    own = {f"{verb} coordination.k8s.io/leases of podpath-budget" for verb in ("get", "patch")}
    assert (REACH | own if space == "podpath" else REACH) == reach(bound, space)


@pytest.mark.parity("R11")
@pytest.mark.parametrize(
    ("verb", "path"),
    [
        ("GET", "/api/v1/secrets"),
        ("GET", "/api/v1/configmaps"),
        ("GET", "/api/v1/nodes"),
        ("GET", "/api/v1/namespaces/reached/pods/victim/log"),
        ("POST", "/api/v1/namespaces/reached/pods"),
        ("POST", "/api/v1/namespaces/reached/pods/victim/exec"),
        ("POST", "/api/v1/namespaces/podpath/serviceaccounts/podpath-agent/token"),
        ("PATCH", "/api/v1/namespaces/reached/pods/victim"),
        ("PATCH", "/api/v1/namespaces/reached/pods/victim/ephemeralcontainers"),
        ("PATCH", "/api/v1/nodes/reached/status"),
        ("PATCH", "/apis/apps/v1/namespaces/podpath/daemonsets/podpath-agent"),
        ("PATCH", "/apis/rbac.authorization.k8s.io/v1/clusterroles/podpath-agent"),
        ("DELETE", "/api/v1/namespaces/reached/pods/victim"),
        ("DELETE", "/api/v1/nodes/reached"),
        ("DELETE", "/api/v1/namespaces/reached/events"),
        ("GET", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/reached"),
        ("PATCH", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler"),
        ("DELETE", "/apis/coordination.k8s.io/v1/namespaces/podpath/leases/podpath-budget"),
    ],
)
def test_a_stolen_token_is_refused(reached: ApiServer, verb: Verb, path: str) -> None:
    """Each is tried as a thief would, and the server refuses it by name of the right."""
    body: Object | None = {} if verb in {"PATCH", "POST"} else None
    kind = MERGE_PATCH if verb == "PATCH" else JSON
    with (
        Client(access.find(reached.kubeconfig(AGENT))) as client,
        pytest.raises(Refused) as refused,
    ):
        client.request(verb, path, body=body, content_type=kind)

    assert (403, "Forbidden") == (refused.value.code, refused.value.reason)


def test_a_stolen_token_reaches_other_nodes_without_the_policy(reached: ApiServer) -> None:
    """What RBAC cannot tell apart, and `deploy/policy` is for: another node's taints and owners (an
    owner that is not there ends a node), status and labels of any pod, evictions.
    """
    gone = {"apiVersion": "v1", "kind": "Node", "name": "gone", "uid": "gone"}
    owned = {"metadata": {"ownerReferences": [gone]}}
    pod = "/api/v1/namespaces/reached/pods/victim"
    label = {"metadata": {"labels": {"app": "taken-out"}}, "status": {"phase": "Failed"}}
    evict = {
        "apiVersion": "policy/v1beta1",
        "kind": "Eviction",
        "metadata": {"name": "victim", "namespace": "reached"},
    }
    with Client(access.find(reached.kubeconfig(AGENT))) as client:
        taints.add(client, "reached", key="evil/taint", effect="NoExecute")
        client.request("PATCH", "/api/v1/nodes/reached", body=owned, content_type=MERGE_PATCH)
        client.request("PATCH", f"{pod}/status", body=label, content_type=MERGE_PATCH)
        after = reached.read("pod", "victim", "-n", "reached")
        client.request("POST", f"{pod}/eviction", body=evict)

    assert ("taken-out", "Failed") == (after["metadata"]["labels"]["app"], after["status"]["phase"])
    node = reached.read("node", "reached")
    assert "evil/taint" in str(node["spec"]["taints"])
    assert [gone] == node["metadata"]["ownerReferences"]
    assert [] == reached.read("pods", "-n", "reached")["items"]


@pytest.fixture(scope="module")
def reached(bound: ApiServer) -> ApiServer:
    """Provide a server with a pod and a node that are not the agent's."""
    bound.apply(kube.namespace("reached"), kube.node("reached"))
    bound.apply(kube.pod("victim", namespace="reached", node="reached", labels={"app": "web"}))
    return bound


@pytest.mark.parity("R11")
def test_a_stolen_token_changes_no_pods_program(bound: ApiServer) -> None:
    """As the service account: no image by the pod itself, and none by its status, where the server
    leaves the spec as it is.
    """
    bound.apply(kube.namespace("stolen"), kube.node("stolen"))
    bound.apply(kube.pod("victim", namespace="stolen", node="elsewhere"))
    image = {"spec": {"containers": [{"name": "app", "image": "registry.test/evil"}]}}
    where = "/api/v1/namespaces/stolen/pods/victim"
    with Client(access.find(bound.kubeconfig(AGENT))) as client:
        for kind in (MERGE_PATCH, "application/strategic-merge-patch+json"):
            with pytest.raises(Refused):
                client.request("PATCH", where, body=image, content_type=kind)
            client.request("PATCH", f"{where}/status", body=image, content_type=kind)

    spec = bound.read("pod", "victim", "-n", "stolen")["spec"]
    assert ["registry.test/image"] == [each["image"] for each in spec["containers"]]


def test_the_agents_role_is_enough(bound: ApiServer) -> None:
    """As the service account: a broken pod is labeled, told of and evicted, and the node's taint
    comes and goes.
    """
    bound.apply(kube.namespace("deployed"), kube.node("deployed"))
    bound.apply(
        kube.pod(
            "broken",
            namespace="deployed",
            node="deployed",
            init=("podpath-validate",),
            owners=[kube.owner()],
        )
    )
    bound.set_status(
        "pod",
        "deployed",
        "broken",
        kube.status("podpath-validate", kube.CRASH_LOOP, kube.ended(60, "no-rules")),
    )
    way = access.find(bound.kubeconfig(AGENT))
    with Client(way) as client:
        assert "written" == taints.add(client, "deployed")
        assert "written" == taints.remove(client, "deployed")
        scope = RepairScope(
            node="deployed",
            policy=Policy(actions=("label", "evict")),
            access=way,
            cluster=ClusterLimits(),
        )
        work = Work(scope, client)
        work.once()
        work.close()
        with pytest.raises(Refused, match="403"):
            client.request("GET", "/api/v1/secrets")

    assert {("label", "success"): 1, ("evict", "success"): 1} == dict(work.controller.counts)
    assert [] == bound.read("pods", "-n", "deployed")["items"]


def test_the_images_programs_are_those_that_are_run() -> None:
    """The container file installs the packages that have the programs which the product starts, and
    ends as nobody.
    """
    text = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if "apt-get install" in line)
    packages = line.partition("--no-install-recommends")[2].replace("\\", "").split()
    listed = subprocess.run(
        ["dpkg", "-L", *packages], capture_output=True, text=True, check=False
    ).stdout
    if not listed:
        pytest.skip("needs Debian's package database")
    programs = {Path(path).name for path in listed.splitlines()}

    wanted = {
        f"{ip}tables-{kind}-{verb}"
        for ip in ("ip", "ip6")
        for kind in ("nft", "legacy")
        for verb in ("save", "restore")
    }
    assert wanted | {"nft", "nsenter", "modprobe"} <= programs
    assert "USER 65534:65534" in text
    assert 'ENTRYPOINT ["podpath"]' in text
    assert podpath("--help").returncode == 0


def test_both_parts_run_one_image(objects: list[Object], workloads: list[Object]) -> None:
    """Agent and validator are of one image at one version, so that neither is ahead of the
    other.
    """
    images = {
        pod_spec(of_kind(objects, "DaemonSet"))["containers"][0]["image"],
        pod_spec(of_kind(workloads, "Job"))["initContainers"][0]["image"],
    }

    assert {"podpath:0.1"} == images
