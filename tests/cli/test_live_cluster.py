"""`podpath why` without a bundle: what it asks a cluster for, and what it says where there is none.
That it answers is tested on a real cluster (`tests/cluster/test_sources.py`).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from podpath.sources.gathering import say_how
from podpath.sources.kinds import KINDS
from tests.apiserver import free_port
from tests.clusters import OBJECTS, RECORDED
from tests.kube.scripted import Answer, Asked, Scripted, write_kubeconfig
from tests.sources.test_gathering import SHOP, answer, make_agent

PATIENCE = 60.0


def why(*words: str, home: Path) -> subprocess.CompletedProcess[str]:
    """Run the command, with no kubeconfig but one that is named."""
    environment = {**os.environ, "HOME": str(home)}
    environment.pop("KUBECONFIG", None)
    return subprocess.run(
        (sys.executable, "-m", "podpath", "why", *words),
        capture_output=True, text=True, check=False, env=environment, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def test_without_a_kubeconfig_it_says_which_were_looked_for(tmp_path: Path) -> None:
    """And by which option one is named."""
    done = why("pod/shop/web", "pod/shop/api", home=tmp_path)
    assert done.returncode == 2
    assert f"{tmp_path}/.kube/config" in done.stderr
    assert "--kubeconfig" in done.stderr


def test_a_server_that_is_away_is_one_line(tmp_path: Path) -> None:
    """Where it was tried, and why not."""
    port = free_port()
    path = write_kubeconfig(tmp_path, f"https://127.0.0.1:{port}", {"token": "secret-t"})
    done = why("pod/shop/web", "pod/shop/api", "--kubeconfig", str(path), home=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert f"127.0.0.1:{port}" in done.stderr
    assert "refused" in done.stderr
    assert "secret-t" not in done.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--collect",), "expected --image"),
        (("--account", "reader"), "expected NAMESPACE/NAME, saw 'reader'"),
        (("--save", "."), "exists already"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(
    words: tuple[str, ...], told: str, tmp_path: Path
) -> None:
    """Before or without asking anybody."""
    path = write_kubeconfig(tmp_path, "https://127.0.0.1:9", {"token": "t"})
    done = why("a", "b", "--kubeconfig", str(path), *words, home=tmp_path)
    assert done.returncode == 2
    assert told in done.stderr


def ask_scripted(tmp_path: Path, pods: list[dict[str, Any]], *words: str) -> Any:  # noqa: ANN401  # a finished process
    """Ask a scripted cluster."""
    with Scripted(lambda asked: answer(asked, pods)) as server:
        path = write_kubeconfig(tmp_path, server.url, {"token": "t"})
        return why(*words, "--kubeconfig", str(path), home=tmp_path)


def test_no_snapshot_at_all_says_what_would_give_one(tmp_path: Path) -> None:
    """Node by node; and of ends that are nowhere in the cluster, that."""
    done = ask_scripted(tmp_path, SHOP, "pod/shop/web", "pod/shop/api")
    assert done.returncode == 2
    assert say_how("a") in done.stderr
    assert say_how("b") in done.stderr
    nowhere = ask_scripted(tmp_path, SHOP, "pod/shop/nobody", "203.0.113.9:80")
    assert nowhere.returncode == 2
    assert "pod/shop/nobody or 203.0.113.9:80" in nowhere.stderr


def list_recorded(path: str, agents: tuple[str, ...] = ("node1", "node2")) -> list[dict[str, Any]]:
    """Return the recorded objects of the kind that a path lists, with agents on some nodes."""
    resource = path.partition("?")[0].rpartition("/")[2]
    kind = next(each.kind for each in KINDS if each.resource == resource)
    listed = yaml.safe_load(OBJECTS.read_text(encoding="utf-8"))["items"]
    found = [each for each in listed if each["kind"] == kind]
    return found + [make_agent(node) for node in agents] * (kind == "Pod")


def answer_half(asked: Asked) -> Answer:
    """Answer as the recorded cluster with an agent on its first node alone."""
    if "/proxy/" in asked.path or asked.path.endswith("/token"):
        return answer_recorded(asked)
    items = list_recorded(asked.path, agents=("node1",))
    return Answer(200, [json.dumps({"items": items}).encode()])


def answer_recorded(asked: Asked) -> Answer:
    """Answer as an API server whose cluster is the recorded one, with an agent on each node."""
    if "/proxy/" in asked.path:
        node = "node1" if "agent-node1:" in asked.path else "node2"
        return Answer(200, [(RECORDED / f"{node}.tar.gz").read_bytes()])
    if asked.path.endswith("/token"):
        return Answer(201, [b'{"status":{"token":"t.t.t"}}'])
    return Answer(200, [json.dumps({"items": list_recorded(asked.path)}).encode()])


def test_a_recorded_cluster_is_asked_as_a_live_one(tmp_path: Path) -> None:
    """The answer is that of the same bundles by hand; and what was kept gives it once more."""
    with Scripted(answer_recorded) as server:
        path = write_kubeconfig(tmp_path, server.url, {"token": "t"})
        live = why(
            *("shop/web-node1", "pod/shop/far", "--brief", "--kubeconfig", str(path)),
            *("--save", str(tmp_path / "kept")),
            home=tmp_path,
        )
    nodes = [f"--node={node}={tmp_path}/kept/{node}.tar.gz" for node in ("node1", "node2")]
    kept = [f"--objects={each}" for each in sorted((tmp_path / "kept" / "api").iterdir())]
    again = why("shop/web-node1", "pod/shop/far", "--brief", *nodes, *kept, home=tmp_path)
    by_hand = why(
        *("shop/web-node1", "pod/shop/far", "--brief", f"--objects={OBJECTS}"),
        *(f"--node={node}={RECORDED / f'{node}.tar.gz'}" for node in ("node1", "node2")),
        home=tmp_path,
    )
    assert live.returncode == 0, live.stderr
    assert live.stdout.splitlines()[0] == by_hand.stdout.splitlines()[0]
    assert again.stdout.splitlines()[0] == by_hand.stdout.splitlines()[0]
    assert (tmp_path / "kept").stat().st_mode & 0o077 == 0


def test_what_walks_is_imported_while_the_cluster_is_waited_for(tmp_path: Path) -> None:
    """Not before anything is asked, and beside the answer to the first question."""
    told = tmp_path / "imported"
    asked = threading.Event()

    def answer_late(request: Asked) -> Answer:
        if not asked.is_set():
            asked.set()
            until = time.monotonic() + PATIENCE
            while not told.exists() and time.monotonic() < until:
                time.sleep(0.02)
        return answer_recorded(request)

    program = (
        "import runpy, sys, threading; from importlib.abc import MetaPathFinder\n"
        "class Finder(MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'podpath.library.why':\n"
        f"            main = threading.current_thread() is threading.main_thread()\n"
        f"            open({str(told)!r}, 'w').write('main' if main else 'beside')\n"
        "sys.meta_path.insert(0, Finder())\n"
        "runpy.run_module('podpath', run_name='__main__')\n"
    )
    with Scripted(answer_late) as server:
        path = write_kubeconfig(tmp_path, server.url, {"token": "t"})
        done = subprocess.run(
            (
                *(sys.executable, "-c", program, "why", "shop/web-node1", "pod/shop/far"),
                *("--brief", "--kubeconfig", str(path)),
            ),
            capture_output=True,
            text=True,
            check=False,
        )

    assert done.returncode == 0, done.stderr
    assert told.read_text(encoding="utf-8") == "beside"
    assert asked.is_set()


def test_a_node_that_gives_nothing_is_no_all_clear(tmp_path: Path) -> None:
    """Half of the way is unknown: what is missing is said, and the answer is open."""
    with Scripted(answer_half) as server:
        path = write_kubeconfig(tmp_path, server.url, {"token": "t"})
        words = ("shop/web-node1", "pod/shop/far", "--kubeconfig", str(path))
        done = why(*words, home=tmp_path)
    assert f"not read: {say_how('node2')}" in done.stderr
    assert done.returncode == 3, done.stdout


def ask_recorded(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Ask the recorded cluster as a live one."""
    with Scripted(answer_recorded) as server:
        path = write_kubeconfig(tmp_path, server.url, {"token": "t"})
        return why(*words, "--brief", "--kubeconfig", str(path), home=tmp_path)


@pytest.mark.parametrize(
    "words",
    [
        ("web-node1", "pod/far:8080"),
        ("web-node1", "pod/far:8080", "-n", "shop"),
        ("shop/web-node1", "far.shop.svc.cluster.local"),
        ("shop/web-node1", "node2:30180"),
    ],
)
def test_bare_names_have_their_nodes_snapshots(words: tuple[str, ...], tmp_path: Path) -> None:
    """As those with a kind do; with a namespace that is named, the agents are found all the
    same.
    """
    done = ask_recorded(tmp_path, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""


def test_with_evidence_by_hand_a_namespace_asks_no_cluster(tmp_path: Path) -> None:
    """It only says where names are looked for."""
    nodes = [f"--node={node}={RECORDED / f'{node}.tar.gz'}" for node in ("node1", "node2")]
    words = ("web-node1", "pod/far:8080", "--namespace", "shop", f"--objects={OBJECTS}")
    done = why(*words, *nodes, "--brief", home=tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_pending_pod_needs_no_snapshot(tmp_path: Path) -> None:
    """The API's word is the answer."""
    late = {"metadata": {"name": "late", "namespace": "shop"}, "status": {"phase": "Pending"}}
    done = ask_scripted(tmp_path, [*SHOP, late], "pod/shop/late", "8.8.8.8:53")
    assert done.returncode == 1, done.stderr
    assert "pod/shop/late has no address: it is Pending" in done.stdout
