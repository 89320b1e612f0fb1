"""runtime-configuration: the container runtime is not configured for a kubelet.

What it is
    containerd's config.toml disables its Kubernetes plugin (`disabled_plugins = ["cri"]`, as in
    Docker's packages), or the runtime and the kubelet use different cgroup drivers (systemd,
    cgroupfs).

Why it breaks
    Without the plugin, the kubelet reaches no runtime (`unknown service
    runtime.v1.RuntimeService`). With different drivers, no sandbox is created (`expected
    cgroupsPath to be of format`), or the node kills pods under load. Nothing runs: no API server,
    no network plugin, no pod.

How to confirm
    containerd config dump | grep -e SystemdCgroup -e disabled_plugins
    grep cgroupDriver /var/lib/kubelet/config.yaml

How to fix
    containerd config default > /etc/containerd/config.toml; set SystemdCgroup = true if the kubelet
    uses systemd; systemctl restart containerd kubelet

References
    Kubernetes, Container Runtimes; containerd, CRI plugin configuration
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.files import files_of
from podpath.checks.finding import Finding, Severity
from podpath.checks.objects import see
from podpath.net.provenance import Span
from podpath.node.case import Case

CATEGORIES = (Category.OTHER, Category.CNI_AGENT)
NAME = "runtime-configuration"


def check(case: Case) -> Iterator[Finding]:
    """Report a runtime without its plugin for Kubernetes, and cgroup drivers that differ."""
    for file in files_of(case, "containerd"):
        for setting in file.all("disabled_plugins"):
            if any(word in {"cri", "io.containerd.grpc.v1.cri"} for word in setting.words):
                yield _report(
                    "containerd's Kubernetes plugin (cri) is disabled.", (setting.span,), "cri"
                )
    runtimes, kubelets = list(_runtimes(case)), list(_kubelets(case))
    for runtime, span in runtimes[-1:]:
        other = next(((driver, where) for driver, where in kubelets if driver != runtime), None)
        if other is not None:
            claim = (
                f"The container runtime uses the cgroup driver {runtime}, and the kubelet "
                f"{other[0]}."
            )
            yield _report(claim, (span, other[1]), runtime)


def _runtimes(case: Case) -> Iterator[tuple[str, Span]]:
    """Yield the cgroup driver that the runtime is configured for."""
    for file in files_of(case, "containerd"):
        for setting in file.all("SystemdCgroup"):
            yield ("systemd" if setting.value.lower() == "true" else "cgroupfs"), setting.span
    for file in files_of(case, "docker"):
        for setting in file.all("exec-opts"):
            driver = setting.value.partition("native.cgroupdriver=")[2]
            if driver:
                yield driver, setting.span


def _kubelets(case: Case) -> Iterator[tuple[str, Span]]:
    for seen in see(case, "KubeletConfiguration"):
        driver = seen.at("cgroupDriver")
        if driver is not None and driver.text:
            yield driver.text, driver.line
    for file in case.files:
        if file.kind == "kubelet":
            for setting in file.all("cgroupDriver"):
                yield setting.value, setting.span
        for setting in file.settings:
            flag = setting.value.partition("--cgroup-driver=")[2].split(" ")[0].strip("\"'")
            if flag:
                yield flag, setting.span


def _report(claim: str, evidence: tuple[Span, ...], mark: str) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=claim,
        evidence=evidence,
        reasoning=(
            (
                "The kubelet cannot create sandboxes with such a runtime, so no pod runs on the "
                "node."
            ),
        ),
        breaks=("every pod on the node",),
        prevention="Generate the runtime's and the kubelet's configuration from one source.",
        certainty=1.0,
        marks=(mark,),
    )
