"""`scripts/build-image`: build podpath's container image, without a registry, a daemon or root."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from podpath.version import __version__
from scripts.container import archive, bytecode, debian, files, scan, wheels
from scripts.container.files import ImageFile

_EXAMPLES = """\
examples:
  scripts/build-image                               build/podpath-image.tar, named podpath:0.1
  scripts/build-image --tag registry.example/podpath:1 -o podpath.tar
  ctr -n k8s.io images import podpath.tar           onto a node with containerd

Debian's packages come from --mirror by apt, Python's as pip is set; both stay in
~/.cache/podpath/image, and from then on no network is needed (--update fetches anew). One commit
and one cache give one image, byte by byte; SOURCE_DATE_EPOCH is its time, by default that of the
last commit. Beside the image stands the list of what it holds (CycloneDX), which is in it, too.
"""
_MANIFEST_TAG = "podpath:" + ".".join(__version__.split(".")[:2])
_RUN = {
    "Entrypoint": ["podpath"],
    "Cmd": ["--help"],
    "User": "65534:65534",
    "WorkingDir": "/",
    "Env": [
        "PATH=/usr/sbin:/usr/bin",
        "LANG=C.UTF-8",
        "PYTHONDONTWRITEBYTECODE=1",
        "PYTHONUNBUFFERED=1",
    ],
}


def build(target: Path, tag: str, fetched: Path, *, mirror: str, update: bool) -> int:
    """Write the image and its list, and return how many bytes its files have.

    Raises `FetchError` where packages cannot be had, and `ValueError` with the findings of a scan.
    """
    epoch = _read_epoch()
    held = debian.fetch_packages(files.PROGRAMS, fetched, mirror=mirror, update=update)
    python = _find_python(held)
    kept = files.keep_packages(held)
    with tempfile.TemporaryDirectory() as temporary:
        own = wheels.build_wheels(Path(temporary) / "wheels", epoch)
        all_wheels = (*own, *wheels.fetch_wheels(fetched, python))
        tree = files.lay_out(kept, all_wheels, python)
        root = Path(temporary) / "root"
        bytecode.unpack(files.write_layer(tree, epoch), root)
        findings = [*bytecode.find_missing_libraries(root)]
        tree |= bytecode.compile_modules(root, python)
        contents = files.write_list(kept, all_wheels)
    tree[files.SBOM] = ImageFile(data=contents)
    findings += scan.scan_tree(tree)
    if findings:
        raise ValueError("\n".join(findings))
    target.parent.mkdir(parents=True, exist_ok=True)
    archive.write_archive(target, _settings(tag, epoch), files.write_layer(tree, epoch))
    target.with_suffix(".cdx.json").write_bytes(contents)
    return sum(len(file.data) for file in tree.values())


def _read_epoch() -> int:
    """Return the image's time in seconds: as told, or that of the last commit."""
    told = os.environ.get("SOURCE_DATE_EPOCH")
    if told is not None:
        return int(told)
    done = subprocess.run(
        ("git", "log", "-1", "--format=%ct"), cwd=wheels.ROOT, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    return int(done.stdout) if done.returncode == 0 and done.stdout.strip() else 0


def _find_python(held: tuple[debian.DebianPackage, ...]) -> str:
    """Return the version of Debian's Python, such as `3.11`."""
    (version,) = (each.version for each in held if each.name == "python3-minimal")
    return ".".join(version.split(".")[:2])


def _settings(tag: str, epoch: int) -> archive.ImageSettings:
    created = datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    labels = {
        "org.opencontainers.image.title": "podpath",
        "org.opencontainers.image.description": "Explains, down to the line, why a pod on a "
        "Kubernetes node cannot reach something.",
        "org.opencontainers.image.version": __version__,
        "org.opencontainers.image.created": created,
        "org.opencontainers.image.licenses": "Apache-2.0",
        "org.opencontainers.image.base.name": f"debian:{debian.SUITE}",
    }
    return archive.ImageSettings(
        reference=tag, run=_RUN | {"Labels": labels}, created=created, annotations=labels
    )


def main() -> None:
    """Build it as the user says."""
    parser = argparse.ArgumentParser(
        prog="scripts/build-image",
        description="Build podpath's container image from Debian packages and podpath's wheels, "
        "without a registry, a daemon or root.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    default = wheels.ROOT / "build" / "podpath-image.tar"
    parser.add_argument("-o", "--output", type=Path, default=default, help="the archive to write")
    parser.add_argument("--tag", default=_MANIFEST_TAG, help="its name (%(default)s)")
    parser.add_argument("--mirror", default=debian.MIRROR, help="Debian's (%(default)s)")
    parser.add_argument("--update", action="store_true", help="fetch Debian's packages anew")
    arguments = parser.parse_args()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    try:
        size = build(
            arguments.output.absolute(),
            arguments.tag,
            cache / "podpath" / "image",
            mirror=arguments.mirror.rstrip("/"),
            update=arguments.update,
        )
    except (debian.FetchError, ValueError) as error:
        sys.exit(f"build-image: {error}")
    sys.stdout.write(f"{arguments.output}: {arguments.tag}, {size / 1e6:.1f} MB\n")


if __name__ == "__main__":
    main()
