"""Every lesson's world on the real kernel: it works, is broken, and is mended."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from podpath_lab.learn.lessons import LESSONS

LIVE_THROUGH = """
import json, sys
from pathlib import Path
from podpath.library.reading import read
from podpath_lab.apply import enter_private_world
from podpath_lab.learn.lessons import LESSONS
from podpath_lab.learn.world import build_world

enter_private_world()
seen = {}
for name, lesson in LESSONS.items():
    world = build_world(lesson, Path(sys.argv[1]) / name)
    seen[name] = (world.try_connection(), world.mend(), (Path(sys.argv[1]) / name).is_dir())
    world.stage.close()
print(json.dumps(seen))
"""


@pytest.mark.kernel("iptables-nft-restore", "iptables-legacy-restore", "nft")
def test_every_lesson_is_broken_and_can_be_mended(tmp_path: Path) -> None:
    """The connection works before (or the world refuses to stand), fails while it is broken, and
    works once the cure ran; the broken node's bundle is kept.
    """
    done = subprocess.run(
        [sys.executable, "-c", LIVE_THROUGH, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert list(seen) == list(LESSONS)
    assert [name for name, (broken, _, _) in seen.items() if broken == "ok"] == []
    assert {name: after for name, (_, *after) in seen.items() if after != ["ok", True]} == {}
