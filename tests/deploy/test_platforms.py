"""What operators get beside the agent: platforms from one table, alerts and dashboards of metrics
that exist, a quota; all rendered by kubectl.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from lightkube.models import core_v1

from podpath_protect.agent.config import METRICS_PORT
from scripts import deploy_platforms
from tests.apiserver import ApiServer
from tests.deploy.test_deploy import (
    DEPLOY,
    KINDS,
    Object,
    of_kind,
    pod_spec,
    render,
    unknown_fields,
)

SOURCE = Path(__file__).resolve().parents[2] / "src" / "podpath_protect"
PLATFORMS = deploy_platforms.platforms()
METRIC = re.compile(r"\b(?:podpath_protect|process)_[a-z_]+\b")
OWN = {"Sample", "Histogram"}
ACCESS = DEPLOY / "metrics" / "access.yaml"


def test_platforms_are_as_their_table_says() -> None:
    """Nothing below deploy/platforms was written by hand, and nothing is left of what went."""
    assert 0 == deploy_platforms.main(["--check"])


def rendered(tmp_path: Path, variant: str, component: str) -> list[Object]:
    """Render a variant with a component beside it, as an operator does."""
    overlay = DEPLOY / variant
    content = {"resources": [str(overlay)], "components": [str(DEPLOY / component)]}
    folder = tmp_path / "overlay"
    folder.mkdir()
    root = Path(*[".."] * (len(folder.parts) - 1))
    for key in ("resources", "components"):
        content[key] = [str(root / Path(each).relative_to("/")) for each in content[key]]
    (folder / "kustomization.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    return render(folder)


@pytest.mark.parametrize("name", list(PLATFORMS))
def test_a_platforms_folders_are_mounted_where_the_agent_looks(tmp_path: Path, name: str) -> None:
    """The node's folders by the table, the container's as ever; each field is known to the API."""
    made = of_kind(rendered(tmp_path, "linkerd", f"platforms/{name}"), "DaemonSet")
    spec = pod_spec(made)
    volumes = [each for each in spec["volumes"] if "hostPath" in each]
    paths = {each["name"]: each["hostPath"]["path"] for each in volumes}
    mounts = {each["name"]: each["mountPath"] for each in spec["containers"][0]["volumeMounts"]}

    wanted = PLATFORMS[name]
    assert (wanted["conf_dir"], wanted["bin_dir"]) == (paths["cni-conf"], paths["cni-bin"])
    assert ("/etc/cni/net.d", "/opt/cni/bin") == (mounts["cni-conf"], mounts["cni-bin"])
    assert "/run/podpath" == paths["state"]
    assert [] == list(unknown_fields(made, KINDS["DaemonSet"], "DaemonSet"))


@pytest.mark.parametrize("name", list(PLATFORMS))
def test_a_platforms_security_fits_every_variant(tmp_path: Path, name: str) -> None:
    """Profile and type where the table has them; the capabilities stay those of the variant, and no
    folder of CNI comes to one that has none.
    """
    plain = pod_spec(of_kind(render(DEPLOY / "base"), "DaemonSet"))
    made = rendered(tmp_path, "base", f"platforms/{name}/security")
    spec = pod_spec(of_kind(made, "DaemonSet"))
    context = spec["containers"][0]["securityContext"]

    table = PLATFORMS[name]
    assert table.get("apparmor") == context.pop("appArmorProfile", {}).get("type")
    assert table.get("selinux") == context.pop("seLinuxOptions", {}).get("type")
    assert plain == spec


def names_of_metrics() -> Iterator[str]:
    """Yield the names of all that the agent's code measures, as Prometheus sees them."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            if node.func.id not in OWN or not isinstance(node.args[0], ast.Constant):
                continue
            name = str(node.args[0].value)
            full = name if name.startswith("process_") else f"podpath_protect_{name}"
            said = [str(getattr(each, "value", "")) for each in node.args]
            said += [str(getattr(each.value, "value", "")) for each in node.keywords]
            if node.func.id == "Histogram":
                yield from (f"{full}{ending}" for ending in ("_bucket", "_sum", "_count"))
            else:
                yield f"{full}_total" if "counter" in said else full


@pytest.mark.parametrize("name", ["rules.yaml", "podpath.json"])
def test_alerts_and_dashboard_ask_for_metrics_that_exist(name: str) -> None:
    """A metric that is renamed leaves no alert behind that can never ring."""
    asked = set(METRIC.findall((DEPLOY / "monitoring" / name).read_text(encoding="utf-8")))
    known = set(names_of_metrics())

    assert len(asked) >= 8
    assert set() == asked - known


def test_both_meshes_mount_the_same_folders() -> None:
    """So that what fits one fits the other."""
    texts = {(DEPLOY / mesh / "chain-volumes.yaml").read_text() for mesh in ("linkerd", "istio")}

    assert 1 == len(texts)


def test_every_alert_says_where_and_for_whom() -> None:
    """Each rule has an expression, a severity and a sentence; the dashboard has no panel without
    one.
    """
    (rules,) = yaml.safe_load_all((DEPLOY / "monitoring" / "rules.yaml").read_text())
    listed = rules["spec"]["groups"][0]["rules"]
    board = json.loads((DEPLOY / "monitoring" / "podpath.json").read_text())

    assert len(listed) == len({each["alert"] for each in listed})
    assert all("{{ $labels.node }}" in each["annotations"]["summary"] for each in listed)
    assert {"info", "warning"} == {each["labels"]["severity"] for each in listed}
    assert all(each["targets"] for each in board["panels"])
    assert len(board["panels"]) == len({each["title"] for each in board["panels"]})


def test_what_is_scraped_is_the_agent() -> None:
    """The PodMonitor selects the labels of the agents' pods, and the port that [health] has; the
    dashboard is where Grafana's sidecar looks.
    """
    made = render(DEPLOY / "monitoring")
    monitor = of_kind(made, "PodMonitor")["spec"]
    labels = of_kind(render(DEPLOY / "base"), "DaemonSet")["spec"]["template"]["metadata"]["labels"]

    assert monitor["selector"]["matchLabels"].items() <= labels.items()
    assert "$1:9809" in str(monitor["podMetricsEndpoints"])
    assert {"grafana_dashboard": "1"} == of_kind(made, "ConfigMap")["metadata"]["labels"]


@pytest.mark.parametrize("variant", ["base", "snapshot"])
def test_metrics_over_tls_are_a_component(
    tmp_path: Path, variant: str, api_server: ApiServer
) -> None:
    """Beside any variant: one certificate, the rights that the gate asks with, one account that may
    scrape and nothing else; all of it taken by a real server.
    """
    made = rendered(tmp_path, variant, "metrics")
    spec = pod_spec(of_kind(made, "DaemonSet"))
    if "podpath" not in api_server.kubectl("get", "namespaces", "-o", "name"):
        api_server.kubectl("create", "namespace", "podpath")
    told = api_server.kubectl(
        "apply", "--server-side", "--dry-run=server", "-f", "-", given=yaml.safe_dump_all(made)
    )
    roles = {each["metadata"]["name"]: each["rules"] for each in made if "rules" in each}

    assert len(made) == told.count("serverside-applied (server dry run)")
    assert ["certificate"] == [each["name"] for each in spec["initContainers"]]
    assert "/run/podpath-tls" in {
        each["mountPath"] for each in spec["containers"][0]["volumeMounts"]
    }
    assert [
        {"apiGroups": ["podpath.dev"], "resources": ["nodes/metrics"], "verbs": ["get"]}
    ] == roles["podpath-metrics"]
    verbs = {verb for rule in roles["podpath-agent-metrics"] for verb in rule["verbs"]}
    assert {"create"} == verbs


def test_metrics_over_tls_are_scraped_with_their_token() -> None:
    """The port of [metrics], https, and the token of the account that may scrape."""
    (scraped,) = of_kind(render(DEPLOY / "metrics" / "monitoring"), "PodMonitor")["spec"][
        "podMetricsEndpoints"
    ]
    secret = of_kind(list(yaml.safe_load_all(ACCESS.read_text())), "Secret")

    assert ("https", "podpath-scraper") == (
        scraped["scheme"],
        scraped["authorization"]["credentials"]["name"],
    )
    assert scraped["authorization"]["credentials"]["name"] == secret["metadata"]["name"]
    assert f"$1:{METRICS_PORT}" == scraped["relabelings"][0]["replacement"]


def test_the_quota_has_room_for_critical_pods(api_server: ApiServer) -> None:
    """Known to the API, taken by a real server, and for the class that the agent has."""
    quota = of_kind(render(DEPLOY / "quota"), "ResourceQuota")
    if "podpath" not in api_server.kubectl("get", "namespaces", "-o", "name"):
        api_server.kubectl("create", "namespace", "podpath")
    told = api_server.kubectl(
        "apply", "--server-side", "--dry-run=server", "-f", "-", given=yaml.safe_dump(quota)
    )

    assert [] == list(unknown_fields(quota, core_v1.ResourceQuota, "ResourceQuota"))
    assert "serverside-applied" in told
    spec = pod_spec(of_kind(render(DEPLOY / "base"), "DaemonSet"))
    assert spec["priorityClassName"] in str(quota["spec"]["scopeSelector"])
