"""The agent with its reflector, run on a node's namespace as nobody."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from podpath.collect.netns import inside as within
from tests.kube.following import until
from tests.protect.pods import run
from tests.protect.unprivileged import as_nobody

REFLECT = '[health]\nlisten = "127.0.0.1:9809"\n[reflect]\n'


@contextmanager
def reflecting_agent(node: str, config: str, **environment: str) -> Iterator[None]:
    """Run the agent on the node as nobody, with the environment of the downward API."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        path = Path(folder) / "agent.toml"
        path.write_text(config)
        told = [f"{name}={value}" for name, value in environment.items()]
        command = [sys.executable, "-m", "podpath", "protect", "agent", "--config", str(path)]
        words = ["ip", "netns", "exec", node, "env", *told, *as_nobody(), *command]
        listening = ("ip", "netns", "exec", node, "ss", "-Hltn", "sport = :9809")
        with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, cwd="/") as process:
            try:
                until(lambda: process.poll() is not None or bool(run(*listening)), "it serves")
                assert process.poll() is None, process.communicate()[1]
                yield
            finally:
                process.terminate()
                process.communicate(timeout=60)


def fetch(node: str, path: str) -> str:
    """Ask the agent's endpoints."""
    with (
        within(f"/run/netns/{node}"),
        urllib.request.urlopen(f"http://127.0.0.1:9809{path}", timeout=30) as answer,
    ):
        return str(answer.read().decode())
