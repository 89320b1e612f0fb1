"""What runtimes load from a folder of CNI configurations."""

from __future__ import annotations

import json

from podpath.cni.conf import ConfFile
from podpath.cni.runtimes import SIZE_LIMIT, RuntimeSettings, judge_containerd


def test_a_file_that_is_too_large_fails_containerd() -> None:
    """Beyond its limit containerd does not read a file, and loads nothing."""
    text = json.dumps({"name": "k8s", "type": "bridge", "pad": "x" * SIZE_LIMIT}).encode()

    assert (
        judge_containerd([ConfFile(name="10.conf", content=text)], RuntimeSettings()).network
        is None
    )
