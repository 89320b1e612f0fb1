"""An image as one file that `docker load`, `podman load` and `ctr images import` take: an OCI
layout, with the `manifest.json` of docker's archives beside its index.
"""

from __future__ import annotations

import hashlib
import io
import json
import platform
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_OCI = "application/vnd.oci.image"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageSettings:
    """What an image says about itself."""

    reference: str
    """Its name, such as `docker.io/local/podpath:1`."""
    run: Mapping[str, object]
    """`Entrypoint`, `Env`, `User` and what else a runtime takes from it."""
    created: str = "1970-01-01T00:00:00Z"
    """When, in RFC 3339."""
    annotations: Mapping[str, str] = field(default_factory=dict)


def name_architecture() -> str:
    """Return this machine's architecture as images and Debian spell it."""
    return _ARCHITECTURES.get(platform.machine(), platform.machine())


def write_archive(path: Path, settings: ImageSettings, layer: bytes) -> Path:
    """Write the image of one layer, an uncompressed tar; equal input gives equal bytes."""
    digest = hashlib.sha256(layer).hexdigest()
    config = _dump(
        {
            "architecture": name_architecture(),
            "os": "linux",
            "created": settings.created,
            "config": settings.run,
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
            "history": [{"created": settings.created, "created_by": settings.reference}],
        }
    )
    manifest = _dump(
        {
            "schemaVersion": 2,
            "mediaType": f"{_OCI}.manifest.v1+json",
            "config": _describe(f"{_OCI}.config.v1+json", config),
            "layers": [_describe(f"{_OCI}.layer.v1.tar", layer)],
            "annotations": settings.annotations,
        }
    )
    index = {
        "schemaVersion": 2,
        "mediaType": f"{_OCI}.index.v1+json",
        "manifests": [
            _describe(f"{_OCI}.manifest.v1+json", manifest)
            | {"annotations": _name(settings.reference)}
        ],
    }
    docker = [
        {
            "Config": _blob(config),
            "RepoTags": [settings.reference],
            "Layers": [_blob(layer)],
        }
    ]
    members = {
        _blob(config): config,
        _blob(manifest): manifest,
        _blob(layer): layer,
        "index.json": _dump(index),
        "manifest.json": _dump(docker),
        "oci-layout": _dump({"imageLayoutVersion": "1.0.0"}),
    }
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as archive:
        for member, data in members.items():
            about = tarfile.TarInfo(member)
            about.size = len(data)
            archive.addfile(about, io.BytesIO(data))
    return path


def read_layer(path: Path) -> bytes:
    """Return the one layer of an image that `write_archive` wrote."""
    with tarfile.open(path) as archive:
        (image,) = json.loads(_read(archive, "manifest.json"))
        (layer,) = image["Layers"]
        return _read(archive, layer)


def read_settings(path: Path) -> ImageSettings:
    """Return what an image that `write_archive` wrote says about itself."""
    with tarfile.open(path) as archive:
        (image,) = json.loads(_read(archive, "manifest.json"))
        config = json.loads(_read(archive, image["Config"]))
        (described,) = json.loads(_read(archive, "index.json"))["manifests"]
        name = described["digest"].partition(":")[2]
        manifest = json.loads(_read(archive, f"blobs/sha256/{name}"))
    return ImageSettings(
        reference=image["RepoTags"][0],
        run=config["config"],
        created=config["created"],
        annotations=manifest["annotations"],
    )


def _read(archive: tarfile.TarFile, member: str) -> bytes:
    inner = archive.extractfile(member)
    if inner is None:
        raise ValueError(f"expected a file {member}, saw something else")
    return inner.read()


def _dump(content: object) -> bytes:
    return json.dumps(content, sort_keys=True).encode()


def _blob(data: bytes) -> str:
    return f"blobs/sha256/{hashlib.sha256(data).hexdigest()}"


def _describe(media: str, data: bytes) -> dict[str, object]:
    digest = hashlib.sha256(data).hexdigest()
    return {"mediaType": media, "digest": f"sha256:{digest}", "size": len(data)}


def _name(reference: str) -> dict[str, str]:
    """Return the annotations by which containerd and podman name what they load."""
    short = "/" not in reference
    full = f"docker.io/library/{reference}" if short else reference
    return {
        "io.containerd.image.name": full,
        "org.opencontainers.image.ref.name": reference.rpartition(":")[2],
    }
