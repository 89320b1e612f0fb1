"""The one image of the cluster's pods: a static busybox, which is the pause image too.

It is made here, so that nothing is pulled: `docker save`'s layout, as `ctr images import` reads it.
"""

from __future__ import annotations

import hashlib
import io
import json
import platform
import shutil
import tarfile
from pathlib import Path

BUSYBOX = "docker.io/local/busybox:1"
PAUSE = "docker.io/local/pause:1"
WHO = "/cgi-bin/who"
"""What a pod answers where it runs `httpd -f -h /www -p PORT`: its name, and who asks."""
_WHO = b"""\
#!/bin/sh
echo
echo "$(hostname) $REMOTE_ADDR"
"""
_COMMANDS = ("cat", "echo", "hostname", "httpd", "ip", "ls", "nc", "ping", "sh", "sleep", "wget")
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def write_images(folder: Path) -> tuple[Path, ...]:
    """Write an archive for each image, and say where they are."""
    layer = _make_layer()
    return tuple(_write(folder, reference, layer) for reference in (BUSYBOX, PAUSE))


def _make_layer() -> bytes:
    binary = Path(shutil.which("busybox") or "/bin/busybox").resolve().read_bytes()
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as layer:
        program = tarfile.TarInfo("bin/busybox")
        program.mode, program.size = 0o755, len(binary)
        layer.addfile(program, io.BytesIO(binary))
        for command in _COMMANDS:
            link = tarfile.TarInfo(f"bin/{command}")
            link.type, link.linkname = tarfile.SYMTYPE, "busybox"
            layer.addfile(link)
        answer = tarfile.TarInfo(f"www{WHO}")
        answer.mode, answer.size = 0o755, len(_WHO)
        layer.addfile(answer, io.BytesIO(_WHO))
    return out.getvalue()


def _write(folder: Path, reference: str, layer: bytes) -> Path:
    digest = hashlib.sha256(layer).hexdigest()
    config = json.dumps(
        {
            "architecture": _ARCHITECTURES.get(platform.machine(), platform.machine()),
            "os": "linux",
            "config": {"Cmd": ["sleep", "2147483647"], "Env": ["PATH=/bin"]},
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
            "history": [{"created_by": reference}],
        }
    ).encode()
    name = hashlib.sha256(config).hexdigest()
    manifest = [
        {"Config": f"{name}.json", "RepoTags": [reference], "Layers": [f"{digest}/layer.tar"]}
    ]
    members = {
        f"{name}.json": config,
        f"{digest}/layer.tar": layer,
        "manifest.json": json.dumps(manifest).encode(),
    }
    path = folder / f"{reference.rpartition('/')[2].replace(':', '-')}.tar"
    with tarfile.open(path, "w") as archive:
        for member, data in members.items():
            about = tarfile.TarInfo(member)
            about.size = len(data)
            archive.addfile(about, io.BytesIO(data))
    return path
