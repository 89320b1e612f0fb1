"""The images of the cluster's pods: a static busybox, which is the pause image too, and podpath's.

They are made here, so that nothing is pulled. podpath's is the one that `scripts/build-image`
wrote, where `PODPATH_IMAGE` names it.
"""

from __future__ import annotations

import importlib.metadata
import io
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import podpath
import podpath_protect
from scripts.container import archive
from scripts.container.archive import ImageSettings

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
PODPATH = "docker.io/local/podpath:1"
"""The image that agents and collecting pods run from in tests."""
_PACKAGES = "/opt/podpath"
_LAUNCHER = """\
#!/bin/sh
PYTHONPATH={packages} PYTHONDONTWRITEBYTECODE=1 exec {python} -m podpath "$@"
"""
_NEEDED = ("click", "lightkube", "httpx2", "msgspec", "pyyaml", "inotify-simple")
_REQUIREMENT = re.compile(r"[\w.-]+")
_LIBRARY = re.compile(r"^\t(?:\S+ => )?(/\S+)", re.MULTILINE)
"""A line of ldd's: a library that was found, or the loader itself."""
_EXTRA = re.compile(r"extra == .(?!http2|ws)")
"""Of extras, those alone that lightkube asks for."""
_LEFT_OUT = frozenset(
    {"__pycache__", "ensurepip", "idlelib", "lib2to3", "site-packages", "test", "tests", "tkinter"}
)
_BASICS = ("cat", "ls", "sh", "sleep", "mkdir")
_SHAPES = {
    f"{family}-{shape}{action}": f"xtables-{shape}-multi"
    for family in ("iptables", "ip6tables")
    for shape in ("nft", "legacy")
    for action in ("", "-save", "-restore")
}
_TOOLS = (
    "bridge", "conntrack", "ip", "ipset", "lsmod", "nft", "nsenter", "nstat", "openssl", "ss", "tc",
    "sysctl", "xtables-legacy-multi", "xtables-nft-multi",
)  # fmt: skip


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


def write_podpath_image(folder: Path) -> Path:
    """Write the archive of the image that podpath runs from: the built one, under the name that
    tests know, where `PODPATH_IMAGE` says where it is.

    Elsewhere it is made of what this machine has: its Python, podpath with the packages that it
    needs, and the tools of a snapshot.
    """
    built = os.environ.get("PODPATH_IMAGE")
    return _make_image(folder) if built is None else _rename_image(Path(built), folder)


def _rename_image(built: Path, folder: Path) -> Path:
    settings = replace(archive.read_settings(built), reference=PODPATH)
    return archive.write_archive(folder / "podpath-1.tar", settings, archive.read_layer(built))


def _make_image(folder: Path) -> Path:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as layer:
        for link in ("bin", "sbin", "lib", "lib64"):
            _add_link(layer, link, f"usr/{link}")
        for folder_name in ("etc", "proc", "run", "sys", "tmp", "var"):
            about = tarfile.TarInfo(folder_name)
            about.type, about.mode = tarfile.DIRTYPE, 0o1777 if folder_name == "tmp" else 0o755
            layer.addfile(about)
        for place, path in sorted(_list_podpath_files().items()):
            layer.add(path, place.lstrip("/"), recursive=False, filter=_own_by_root)
        for command in _BASICS:
            _add_link(layer, f"usr/bin/{command}", "busybox")
        for name, target in _SHAPES.items():
            _add_link(layer, f"usr/sbin/{name}", target)
        launcher = _LAUNCHER.format(packages=_PACKAGES, python=_python()).encode()
        about = tarfile.TarInfo("usr/bin/podpath")
        about.mode, about.size = 0o755, len(launcher)
        layer.addfile(about, io.BytesIO(launcher))
    return _write(folder, PODPATH, out.getvalue(), entry=("podpath",))


def _python() -> Path:
    return Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"


def _list_podpath_files() -> dict[str, Path]:
    """Return the image's files by where they stand in it."""
    tools = [Path(found) for found in map(shutil.which, _TOOLS) if found is not None]
    modules = Path(sysconfig.get_path("stdlib", vars={"installed_base": sys.base_prefix}))
    found = {str(_python()): _python().resolve()}
    for path in modules.rglob("*"):
        if path.is_file() and not _LEFT_OUT & set(path.relative_to(modules).parts):
            found[str(path)] = path
    for name in list_packages():
        for file in importlib.metadata.files(name) or ():
            if file.suffix != ".pyc" and ".." not in file.parts:
                found[f"{_PACKAGES}/{file}"] = Path(str(file.locate()))
    for own in (Path(podpath.__file__).parent, Path(podpath_protect.__file__).parent):
        for path in own.rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                found[f"{_PACKAGES}/{path.relative_to(own.parent)}"] = path
    busybox = shutil.which("busybox") or "/bin/busybox"
    found |= {_place(path): path.resolve() for path in tools}
    found["/usr/bin/busybox"] = Path(busybox).resolve()
    found["/usr/lib/ssl/openssl.cnf"] = Path("/etc/ssl/openssl.cnf")
    plugins = list(Path("/usr/lib").glob("*/xtables/*.so"))
    found |= {str(path): path.resolve() for path in plugins}
    binaries = [path for path in found.values() if path.suffix == ".so" or path in tools]
    return found | _list_libraries(
        [*binaries, _python().resolve(), *(path.resolve() for path in tools)]
    )


def list_packages() -> tuple[str, ...]:
    """Return the packages that podpath needs to speak to an API server, and what those need."""
    wanted, seen = list(_NEEDED), dict[str, None]()
    while wanted:
        name = wanted.pop()
        if name in seen:
            continue
        seen[name] = None
        for requirement in importlib.metadata.requires(name) or ():
            other = _REQUIREMENT.match(requirement)
            asked = other is not None and _EXTRA.search(requirement) is None
            if other is not None and asked and _is_installed(other[0]):
                wanted.append(other[0])
    return tuple(seen)


def _is_installed(name: str) -> bool:
    try:
        importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _list_libraries(binaries: Sequence[Path]) -> dict[str, Path]:
    """Return the shared libraries that programs need, by where they look for them."""
    done = subprocess.run(("ldd", *map(str, binaries)), capture_output=True, text=True, check=False)
    found = {Path(each) for each in _LIBRARY.findall(done.stdout)}
    return {_place(path): path.resolve() for path in found}


def _place(path: Path) -> str:
    """Return where a file stands where `/lib` is a link to `/usr/lib`."""
    return re.sub(r"^/(bin|sbin|lib|lib64)/", r"/usr/\1/", str(path))


def _own_by_root(about: tarfile.TarInfo) -> tarfile.TarInfo:
    about.uid = about.gid = 0
    about.uname = about.gname = "root"
    return about


def _add_link(layer: tarfile.TarFile, name: str, target: str) -> None:
    link = tarfile.TarInfo(name)
    link.type, link.linkname = tarfile.SYMTYPE, target
    layer.addfile(link)


def _write(folder: Path, reference: str, layer: bytes, entry: Sequence[str] = ()) -> Path:
    run = {
        "Entrypoint": entry,
        "Cmd": ["--help"] if entry else ["sleep", "2147483647"],
        "Env": ["PATH=/usr/sbin:/usr/bin:/bin"],
    }
    path = folder / f"{reference.rpartition('/')[2].replace(':', '-')}.tar"
    return archive.write_archive(path, ImageSettings(reference=reference, run=run), layer)
