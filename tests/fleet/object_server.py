"""An object store as S3 is, on this machine, with a fleet in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from podpath_fleet.object_store import load_fsspec

BUCKET = "fleet"
SIGNED = {"AWS_ACCESS_KEY_ID": "someone", "AWS_SECRET_ACCESS_KEY": "something"}


class ObjectServer(NamedTuple):
    """A store that serves."""

    url: str
    files: Any
    """The file system of fsspec that speaks to it, as whoever stores bundles has it."""

    @property
    def environment(self) -> Mapping[str, str]:
        """Return the variables by which another process finds it."""
        return {**SIGNED, "FSSPEC_S3_ENDPOINT_URL": self.url}

    def put(self, objects: Mapping[str, bytes]) -> None:
        """Store objects of the bucket by their names."""
        self.files.pipe({f"{BUCKET}/{name}": data for name, data in objects.items()})
        self.files.invalidate_cache()

    def put_away(self, name: str, data: bytes) -> None:
        """Store an object where it is listed and not given before somebody asks for its return."""
        self.files.pipe_file(f"{BUCKET}/{name}", data, StorageClass="GLACIER")


@contextmanager
def serve_objects() -> Iterator[ObjectServer]:
    """Serve an empty bucket for a block."""
    from moto.server import ThreadedMotoServer  # noqa: PLC0415 - a second, for those who need it

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        url = f"http://{host}:{port}"
        files = load_fsspec().filesystem(
            "s3", endpoint_url=url, key=SIGNED["AWS_ACCESS_KEY_ID"],
            secret=SIGNED["AWS_SECRET_ACCESS_KEY"], skip_instance_cache=True,
        )  # fmt: skip
        files.mkdir(BUCKET)
        yield ObjectServer(url, files)
    finally:
        server.stop()
