"""Tests of `protect.processes`: a name counts where its process is the node's, and nowhere else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from podpath.cni.runtimes import CRIO
from podpath_protect.chain.running import find_runtimes
from podpath_protect.processes import list_programs
from podpath_protect.sysctl.profiles import detect_profiles
from podpath_protect.sysctl.scene import look_around
from podpath_protect.sysctl.tree import SysctlTree
from tests.kube.following import until
from tests.protect.repair.netns import pod_namespace

CALLED = "open('/proc/self/comm','w').write('{}'); input()"


def plant(proc: Path, **names: str) -> Path:
    """Make a /proc with these names by process, `p17="crio"`."""
    for process, name in names.items():
        folder = proc / process.removeprefix("p")
        folder.mkdir(parents=True)
        (folder / "comm").write_text(f"{name}\n")
    return proc


def test_where_namespaces_do_not_show_all_count(tmp_path: Path) -> None:
    """A part of /proc, as a container or a copy has it; what is no process is none."""
    proc = plant(tmp_path, p17="kube-proxy", p18="größe", self="x")

    assert {"kube-proxy": 17, "größe": 18} == list_programs(proc)
    assert {} == list_programs(tmp_path / "nowhere")


@pytest.mark.kernel("nsenter")
@pytest.mark.parametrize("name", ["kube-proxy", "crio", "install-cni"])
def test_a_tenants_process_is_no_program_of_the_node(tmp_path: Path, name: str) -> None:
    """A pod's process that calls itself so chooses neither a sysctl profile nor the runtime whose
    files are kept; the same process in the node's own namespace does.
    """
    program = [sys.executable, "-c", CALLED.format(name)]
    proc, tree = Path("/proc"), SysctlTree(root=tmp_path)
    with pod_namespace() as tenant:
        for command, is_nodes in (
            (["ip", "netns", "exec", tenant, *program], False),
            (program, True),
        ):
            with subprocess.Popen(command, stdin=subprocess.PIPE) as running:
                comm = proc / str(running.pid) / "comm"
                until(lambda comm=comm: comm.read_text() == f"{name}\n", "it has its name")  # type: ignore[misc]
                programs = list_programs(proc)
                profiles = detect_profiles(look_around(tmp_path, proc, tree)).values()
                runtimes = find_runtimes(proc)
                running.kill()
            assert (programs.get(name) == running.pid) is is_nodes
            assert (f"program {name}" in profiles) is (is_nodes and name != "crio")
            assert (CRIO in runtimes) is (is_nodes and name == "crio")
