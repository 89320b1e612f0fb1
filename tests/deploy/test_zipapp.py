"""One file for a node with nothing but Python: it does the main job, and finds nothing else."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from podpath.version import __version__
from tests.library.samples import RP_FILTER

BUILD = Path(__file__).resolve().parents[2] / "scripts" / "build-zipapp"


def test_it_does_the_main_job_alone(tmp_path: Path) -> None:
    """In a folder of its own, without site-packages and environment: with its data files, a page
    and a manual page; what is not in it says what to install.
    """
    target = tmp_path / "podpath.pyz"
    subprocess.run([sys.executable, str(BUILD), "-o", str(target)], check=True, capture_output=True)
    shutil.copyfile(RP_FILTER / "ticket.md", tmp_path / "ticket.md")

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-I", "-S", str(target), *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
        )

    assert f"podpath {__version__}\n" == run("--version").stdout
    done = run("diagnose", "ticket.md", "--brief", "--html", "page.html")
    assert (1, "") == (done.returncode, done.stderr)
    assert done.stdout.endswith("fix: sysctl -w net.ipv4.conf.all.rp_filter=0\n")
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert run("explain", "rp-filter").stdout.startswith("rp-filter: ")
    missing = run("lab", "agree")
    assert (2, True) == (missing.returncode, "pip install podpath-lab" in missing.stderr)
    assert target.stat().st_size < 12_000_000
