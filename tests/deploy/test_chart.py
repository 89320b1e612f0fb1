"""The Helm chart, rendered by a real helm: it gives what the folders of kustomize give, which are
its source, and a real API server takes it.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from podpath_protect.agent.config import load_config
from scripts import deploy_platforms, helm_chart
from tests.apiserver import CACHE, ApiServer
from tests.deploy.test_deploy import (
    DEPLOY,
    KINDS,
    Object,
    of_kind,
    pod_spec,
    render,
    unknown_fields,
)
from tests.deploy.test_platforms import rendered

HELM = CACHE / "helm-3.8.1" / "helm"
NEW, OLD = "1.31", "1.20"
needs_helm = pytest.mark.skipif(
    not HELM.is_file(), reason="needs helm: scripts/install-helm puts it there"
)


def helm(*arguments: str, home: Path, kubeconfig: Path | None = None) -> str:
    """Run helm, and return what it prints; `AssertionError` with its complaint."""
    environment = {"HOME": str(home), "PATH": os.environ["PATH"]}
    if kubeconfig is not None:
        environment["KUBECONFIG"] = str(kubeconfig)
    done = subprocess.run(
        [HELM, *arguments, "--namespace", "podpath"],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def template(home: Path, *values: str, version: str = NEW) -> list[Object]:
    """Render the chart with some values."""
    given = ("--set", ",".join(values)) if values else ()
    printed = helm(
        *("template", "podpath", str(helm_chart.CHART), "--kube-version", version, *given),
        home=home,
    )
    return [each for each in yaml.safe_load_all(printed) if each is not None]


def by_name(objects: Sequence[Object], *, leave_out: tuple[str, ...] = ()) -> dict[str, Object]:
    """Key objects by kind and name, with what differs on purpose made alike: a hash in the name of
    a ConfigMap or in an annotation, comments and blank lines in TOML.
    """
    found = {}
    for each in objects:
        if each["kind"] in leave_out:
            continue
        name = each["metadata"]["name"]
        if each["kind"] == "ConfigMap" and "agent.toml" in each["data"]:
            name = "podpath-agent"
            each["metadata"]["name"] = name
            each["data"] = tomllib.loads(each["data"]["agent.toml"])
        if each["kind"] == "DaemonSet":
            each["spec"]["template"]["metadata"].pop("annotations", None)
            _order(pod_spec(each))
        found[f"{each['kind']}/{name}"] = each
    return found


def _order(spec: Object) -> None:
    """Sort what has no order of its own, which kustomize puts in front and the chart behind."""
    for volume in spec["volumes"]:
        if "configMap" in volume:
            volume["configMap"]["name"] = "podpath-agent"
    spec["volumes"].sort(key=lambda each: each["name"])
    for container in spec["containers"]:
        container["volumeMounts"].sort(key=lambda each: each["name"])
        container["securityContext"]["capabilities"]["add"].sort()


def test_the_chart_is_as_its_source_says() -> None:
    """Nothing of it was written by hand but its name, and nothing is left of what went."""
    assert 0 == helm_chart.main(["--check"])


@needs_helm
@pytest.mark.parametrize(
    ("values", "folder"),
    [
        ((), "base"),
        (("mesh=linkerd",), "linkerd"),
        (("mesh=istio",), "istio"),
        (("snapshot=true",), "snapshot"),
        (("drops=true",), "drops"),
        (("drops=true", "snapshot=true"), "drops"),
    ],
)
def test_a_variant_is_that_of_its_folder(
    tmp_path: Path, values: tuple[str, ...], folder: str
) -> None:
    """Object for object, by meaning; the namespace is made before helm comes."""
    wanted = by_name(render(DEPLOY / folder), leave_out=("Namespace",))

    assert wanted == by_name(template(tmp_path, *values))


@needs_helm
@pytest.mark.parametrize("platform", list(deploy_platforms.platforms()))
def test_a_platform_is_that_of_its_component(tmp_path: Path, platform: str) -> None:
    """Folders and security as the component sets them; before 1.30 AppArmor's is an annotation."""
    made = by_name(template(tmp_path, "mesh=linkerd", f"platform={platform}"))
    old = of_kind(template(tmp_path, f"platform={platform}", version=OLD), "DaemonSet")
    profile = deploy_platforms.platforms()[platform].get("apparmor")

    wanted = by_name(rendered(tmp_path, "linkerd", f"platforms/{platform}"))
    assert wanted["DaemonSet/podpath-agent"] == made["DaemonSet/podpath-agent"]
    annotations = old["spec"]["template"]["metadata"]["annotations"]
    key = "container.apparmor.security.beta.kubernetes.io/agent"
    assert (profile.lower() if profile else None) == annotations.get(key)
    assert "appArmorProfile" not in pod_spec(old)["containers"][0]["securityContext"]


@needs_helm
@pytest.mark.parametrize(
    ("value", "folder"),
    [
        ("policy=true", "policy"),
        ("quota=true", "quota"),
        ("monitoring=true", "monitoring"),
        ("monitoring=true,metrics=tls", "metrics/monitoring"),
    ],
)
def test_what_stands_beside_is_that_of_its_folder(tmp_path: Path, value: str, folder: str) -> None:
    """Policies, quota, monitoring: all that the folder has, and of it nothing else."""
    wanted, made = by_name(render(DEPLOY / folder)), by_name(template(tmp_path, value))
    plain = by_name(template(tmp_path, *[each for each in value.split(",") if "metrics" in each]))
    if "ConfigMap/podpath-dashboard" in wanted:
        boards = [
            held["ConfigMap/podpath-dashboard"]["data"]["podpath.json"].strip()
            for held in (wanted, made)
        ]
        assert boards[0] == boards[1]
        for held in (wanted, made):
            held["ConfigMap/podpath-dashboard"]["data"] = {}

    assert wanted == {name: each for name, each in made.items() if name not in plain}


@needs_helm
def test_metrics_by_tls_are_those_of_their_component(tmp_path: Path) -> None:
    """The component's objects and patches, and the section in the configuration."""
    wanted = by_name(rendered(tmp_path, "base", "metrics"), leave_out=("Namespace",))
    made = by_name(template(tmp_path, "metrics=tls"))

    assert {} == made["ConfigMap/podpath-agent"]["data"].pop("metrics")
    assert wanted == made


MESH, SERVED = ("", "mesh=linkerd", "mesh=istio"), ("", "snapshot=true", "drops=true")
METRICS = ("", "metrics=pod", "metrics=tls")
CHOICES = [
    (MESH[first], SERVED[second], METRICS[(first + second) % 3])
    for first, second in itertools.product(range(3), repeat=2)
]
"""Each choice beside each other one, two at a time."""


@needs_helm
@pytest.mark.parametrize("choice", CHOICES, ids=lambda each: " ".join(each).strip() or "nothing")
def test_every_choice_fits_every_other(tmp_path: Path, choice: tuple[str, ...]) -> None:
    """The configuration is good, no folder is mounted twice, every mount has its volume, and every
    field is known to the API.
    """
    made = template(
        tmp_path, *filter(None, choice), "platform=k3s", "policy=true", "condition=true"
    )
    spec = pod_spec(of_kind(made, "DaemonSet"))
    mounts = spec["containers"][0]["volumeMounts"]
    (tmp_path / "agent.toml").write_text(of_kind(made, "ConfigMap")["data"]["agent.toml"])
    config, _ = load_config(tmp_path / "agent.toml")

    faults = [
        fault for each in made for fault in unknown_fields(each, KINDS[each["kind"]], each["kind"])
    ]
    assert [] == faults
    assert len(mounts) == len({each["mountPath"] for each in mounts})
    assert {each["name"] for each in mounts} == {each["name"] for each in spec["volumes"]}
    assert (config.metrics is not None) == ("metrics=tls" in choice)
    assert config.kubernetes is not None
    assert config.kubernetes.condition
    open_to_all = "metrics=pod" in choice
    assert ("pod" if open_to_all else "127.0.0.1") == config.health.listen.host
    hosts = {
        spec["containers"][0][f"{kind}Probe"]["httpGet"].get("host")
        for kind in ("startup", "liveness", "readiness")
    }
    assert {None if open_to_all else "127.0.0.1"} == hosts


@needs_helm
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--set", "mesh=cilium"), "mesh must be one of"),
        (("--set", "dryrun=true"), "property dryrun is not allowed"),
        (("--set", "platform=aks"), "expected a platform of eks"),
        (("--set", "condition=true"), "condition needs policy"),
        (("--set", "policy=true", "--kube-version", "1.29"), "policy needs Kubernetes 1.30"),
        (("--namespace", "other"), "--namespace podpath"),
    ],
)
def test_what_would_not_work_is_refused(
    tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    """A choice that nobody knows, and one that lacks what it needs."""
    command = [
        str(HELM),
        "template",
        "podpath",
        str(helm_chart.CHART),
        "--namespace",
        "podpath",
        *arguments,
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={"HOME": str(tmp_path)}
    )

    assert done.returncode != 0
    assert words in done.stderr


@needs_helm
def test_a_configuration_of_ones_own_is_taken_whole(tmp_path: Path) -> None:
    """Instead of the one that is made, to the letter; another configuration rolls the agents."""
    own = tmp_path / "own.toml"
    own.write_text('# mine\n[order]\nmode = "fix"\n')
    printed = helm(
        *("template", "podpath", str(helm_chart.CHART), "--set-file", f"config={own}"),
        home=tmp_path,
    )
    made = [each for each in yaml.safe_load_all(printed) if each is not None]
    dry = template(tmp_path, "dryRun=true")
    sums = [
        of_kind(each, "DaemonSet")["spec"]["template"]["metadata"]["annotations"]
        for each in (made, dry, template(tmp_path))
    ]

    assert own.read_text().strip() == of_kind(made, "ConfigMap")["data"]["agent.toml"].strip()
    assert tomllib.loads(of_kind(dry, "ConfigMap")["data"]["agent.toml"])["dry_run"] is True
    assert 3 == len({each["checksum/config"] for each in sums})


SPACE_KINDS = "daemonset,configmap,serviceaccount,role,rolebinding,lease,resourcequota"
CLUSTER_KINDS = "clusterrole,clusterrolebinding"


@pytest.fixture
def namespace(api_server: ApiServer) -> ApiServer:
    """Provide a server with the namespace and nothing of ours in it. No controller runs that would
    end a namespace, so what other tests left in it goes one by one.
    """
    if "namespace/podpath" not in api_server.kubectl("get", "namespaces", "-o", "name").split():
        api_server.kubectl("create", "namespace", "podpath")
    for where in (("-n", "podpath", SPACE_KINDS), (CLUSTER_KINDS,)):
        *space, kinds = where
        listed = api_server.kubectl(*space, "get", kinds, "-o", "name").split()
        ours = [each for each in listed if "podpath" in each]
        if ours:
            api_server.kubectl(*space, "delete", "--wait=false", *ours)
    return api_server


@needs_helm
def test_it_is_installed_upgraded_and_taken_off(namespace: ApiServer, tmp_path: Path) -> None:
    """By helm on a real API server: everything is taken, an upgrade adds and removes what the
    choices say, the budget that is spent survives it, and nothing stays.
    """
    config = namespace.kubeconfig()
    chart = str(helm_chart.CHART)

    def names() -> set[str]:
        listed = namespace.kubectl("-n", "podpath", "get", SPACE_KINDS, "-o", "name").split()
        roles = namespace.kubectl("get", "clusterrole", "-o", "name").split()
        return {each for each in (*listed, *roles) if "podpath" in each}

    helm(
        *("install", "podpath", chart, "--set", "mesh=linkerd,platform=eks"),
        home=tmp_path,
        kubeconfig=config,
    )
    first = names()
    note = "podpath.dev/budget=spent"
    namespace.kubectl("-n", "podpath", "annotate", "lease", "podpath-budget", note)
    helm(
        *("upgrade", "podpath", chart, "--set", "drops=true,metrics=tls,quota=true"),
        home=tmp_path,
        kubeconfig=config,
    )
    second = names()
    kept = namespace.read("lease", "podpath-budget", "-n", "podpath")["metadata"]["annotations"]
    helm(*("uninstall", "podpath"), home=tmp_path, kubeconfig=config)

    prefix = "clusterrole.rbac.authorization.k8s.io/podpath-"
    assert {f"{prefix}agent", f"{prefix}agent-mesh"} == {each for each in first if prefix in each}
    assert f"{prefix}agent-mesh" not in second
    assert {f"{prefix}drops", f"{prefix}metrics", f"{prefix}agent-snapshot"} <= second
    assert "resourcequota/podpath-critical-pods" in second - first
    assert "spent" == kept["podpath.dev/budget"]
    assert set() == names()
