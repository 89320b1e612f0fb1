"""The control plane: etcd, kube-apiserver, kube-controller-manager and kube-scheduler, and the ways
in for an admin.
"""

from __future__ import annotations

import base64
import http.client
import json
import os
import ssl
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

from scripts.kubernetes.member import Member, MemberError
from scripts.kubernetes.plan import POD_CIDR, SERVICE_CIDR, Plan
from scripts.kubernetes.programs import BUILT, ETCD, KUBECTL

PORT = 6443
_STORE = "http://127.0.0.1:2379"
_TOKENS = "tokens.csv"
_ADMIN = "admin-token-0123456789"
_USER = "user-token-0123456789"
USER = "asker"
"""Somebody who may nothing before a role is bound."""
_PATIENCE = 60.0
"""Seconds for which a busy machine is waited for; ten are usual."""


def start_control(control: Member) -> None:
    """Start the control plane, and wait until the API server says that it is ready."""
    plan, folder = control.plan, control.inside
    peer = "http://127.0.0.1:2380"
    control.start(
        *("etcd", ETCD, "--data-dir", folder / "etcd", "--unsafe-no-fsync", "--log-level=error"),
        *("--listen-client-urls", _STORE, "--advertise-client-urls", _STORE),
        *("--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer),
        *("--initial-cluster", f"default={peer}"),
    )
    control.run("openssl", "genrsa", "-out", folder / "sa.key", "2048")
    users = f'{_ADMIN},admin,1,"system:masters"\n{_USER},{USER},2\n'
    (control.folder / _TOKENS).write_text(users, encoding="utf-8")
    start_api_server(control)
    write_kubeconfig(control)
    known = f"--kubeconfig=/run/cluster/{plan.kubeconfig.name}"
    alone = (known, "--leader-elect=false")
    control.start(
        *("kube-controller-manager", BUILT / "kube-controller-manager", *alone),
        f"--service-account-private-key-file={folder / 'sa.key'}",
        *("--allocate-node-cidrs=true", f"--cluster-cidr={POD_CIDR}"),
        *("--node-monitor-period=1s", "--node-monitor-grace-period=20s"),
    )
    control.start("kube-scheduler", BUILT / "kube-scheduler", *alone)


def start_api_server(control: Member) -> None:
    """Start the API server, and wait until it says that it is ready; its store runs already."""
    plan, folder = control.plan, control.inside
    control.start(
        *("kube-apiserver", BUILT / "kube-apiserver", f"--etcd-servers={_STORE}"),
        *(f"--bind-address={plan.control_address}", f"--advertise-address={plan.control_address}"),
        *(f"--secure-port={PORT}", f"--cert-dir={folder / 'certs'}"),
        *(f"--token-auth-file={folder / _TOKENS}", "--authorization-mode=Node,RBAC"),
        *("--allow-privileged=true", f"--service-cluster-ip-range={SERVICE_CIDR}"),
        "--service-account-issuer=https://kubernetes.default",
        f"--service-account-key-file={folder / 'sa.key'}",
        f"--service-account-signing-key-file={folder / 'sa.key'}",
        "--kubelet-preferred-address-types=InternalIP",
        "--disable-admission-plugins=ServiceAccount",
    )
    wait(lambda: _is_ready(plan), "kube-apiserver to be ready", control, "kube-apiserver")


def write_kubeconfig(control: Member) -> None:
    """Write the kubeconfigs of the admin and of the user who may nothing, which work on the machine
    and in every member.
    """
    plan = control.plan
    authority = (control.folder / "certs" / "apiserver.crt").read_bytes()
    cluster = {
        "server": f"https://{plan.control_address}:{PORT}",
        "certificate-authority-data": _base64(authority),
    }
    for user, token in (("admin", _ADMIN), (USER, _USER)):
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": plan.name,
            "clusters": [{"name": plan.name, "cluster": cluster}],
            "users": [{"name": user, "user": {"token": token}}],
            "contexts": [{"name": plan.name, "context": {"cluster": plan.name, "user": user}}],
        }
        path = plan.kubeconfig if user == "admin" else plan.home / user
        path.write_text(json.dumps(content, indent=1), encoding="utf-8")
        path.chmod(0o600)


def kubectl(plan: Plan, *arguments: str, given: str | None = None) -> str:
    """Run kubectl as the admin, and return what it prints."""
    done = subprocess.run(
        [KUBECTL, f"--kubeconfig={plan.kubeconfig}", *arguments],
        input=given,
        capture_output=True,
        text=True,
        check=False,
        env={"HOME": str(plan.home), "PATH": os.environ["PATH"]},
    )
    if done.returncode != 0:
        raise MemberError(f"kubectl {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def read(plan: Plan, *arguments: str) -> Any:  # noqa: ANN401  # whatever kubectl reads
    """Read objects through kubectl, as JSON."""
    return json.loads(kubectl(plan, "get", *arguments, "-o", "json"))


def wait(
    ready: Callable[[], bool],
    what: str,
    member: Member | None = None,
    program: str = "",
    seconds: float = _PATIENCE,
) -> None:
    """Wait until something is so; `MemberError` with the log of a program where it does not
    come.
    """
    until = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > until:
            said = "" if member is None else f"\n{member.log(program)}"
            raise MemberError(f"waited {seconds:.0f} s for {what}{said}")
        time.sleep(0.2)


def _is_ready(plan: Plan) -> bool:
    certificate = plan.folder("control") / "certs" / "apiserver.crt"
    if not certificate.exists():
        return False
    context = ssl.create_default_context(cafile=certificate)
    asked = http.client.HTTPSConnection(plan.control_address, PORT, timeout=2, context=context)
    with closing(asked):
        try:
            asked.request("GET", "/readyz", headers={"Authorization": f"Bearer {_ADMIN}"})
            with asked.getresponse() as answer:
                return answer.status == http.HTTPStatus.OK
        except (OSError, http.client.HTTPException):
            return False


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
