"""The files of an image: what stays of Debian packages and wheels, as one tree without owners,
times, setuid bits or what only an installation needs.
"""

from __future__ import annotations

import io
import json
import re
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from podpath.version import __version__
from scripts.container.debian import DebianPackage
from scripts.container.wheels import Wheel

PROGRAMS = (
    "base-files", "bpftool", "busybox-static", "conntrack", "dash", "ethtool", "ipset", "iproute2",
    "iptables", "kmod", "libpython3-stdlib", "nftables", "openssl", "procps", "python3-minimal",
    "tcpdump", "util-linux", "wireguard-tools",
)  # fmt: skip
"""The packages of the programs that podpath runs on a node, or tells people to run."""
_INSTALLERS = (
    r"adduser", r"coreutils", r"debconf", r"debianutils", r"dpkg", r"gcc-\d+-base",
    r"init-system-helpers", r"libaudit.*", r"libcap-ng0", r"libgdbm.*", r"libpam.*", r"libperl.*",
    r"libsemanage.*", r"libsepol\d", r".*-perl", r"login", r"mawk", r"media-types", r"passwd",
    r"perl.*", r"readline-common", r"sensible-utils", r"tar", r"usrmerge", r"util-linux-extra",
)  # fmt: skip
"""Packages that others need while they are installed, or for programs that are left out."""
_LEFT_OUT = (
    # What nobody reads there; licenses stay.
    r"usr/share/doc/.*/(?!copyright$)[^/]+",
    r"usr/share/(man|info|locale|lintian|bug|bash-completion|zsh|gdb|pixmaps)",
    r"usr/share/(base-files|dbus-1|initramfs-tools|polkit-1|python3/(debpython|runtime\.d))",
    # What an init, a login or a package manager reads.
    r"usr/lib/(init|systemd|udev|sysusers\.d|tmpfiles\.d|valgrind|dpkg|apt|modprobe\.d)",
    r"etc/(init\.d|cron\.\w+|systemd|default|apparmor\.d|pam\.d|motd|update-motd\.d|dpkg|apt)",
    r"etc/(profile\.d|perl|gshadow|shadow|issue[^/]*|skel|security|selinux|host\.conf)",
    r"usr/bin/(py3\w+|pydoc[^/]*|pygettext[^/]*|c_rehash|su|newgrp|wg-quick|deb[^/]*)",
    r"usr/sbin/(runuser|sulogin|agetty|getty|ip6?tables-apply)",
    r"usr/lib/ssl/(certs|private)",
    # Parts of libraries and of Python that podpath does not use.
    r"usr/lib/[^/]+/(gconv|perl[^/]*|audit|libmvec\.so[^/]*|krb5)",
    r"usr/lib/python3\.\d+/(ensurepip|idlelib|lib2to3|pydoc_data|test|tkinter|turtledemo)",
    r"usr/lib/python3\.\d+/(distutils|venv|unittest/test|lib-dynload/_dbm\.[^/]*)",
    r"usr/lib/python3/dist-packages",
    r"usr/sbin/arpd",
    # Folders that stay empty.
    r"usr/(src|games|include|share/perl[^/]*|local/games|local/src)",
    r"(home|media|mnt|opt|srv|boot)",
    r"dev/.+",
    r"var/(?!lib(/dpkg.*)?$).+",
)
_INSTALLER = re.compile("|".join(_INSTALLERS))
_UNUSED = re.compile(f"(?:{'|'.join(_LEFT_OUT)})(?:/.*)?")
_MERGED = re.compile(r"(?:bin|sbin|lib|lib32|lib64|libx32)(?:/|$)")
_BUSYBOX = (
    "cat", "cp", "env", "grep", "head", "id", "ls", "mkdir", "rm", "sleep", "tail", "test",
    "uname",
)  # fmt: skip
_FOLDERS = ("dev", "proc", "run", "sys", "tmp", "var", "var/lib", "root", "nonexistent")
_PASSWD = b"root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/bin/false\n"
_GROUP = b"root:x:0:\nnogroup:x:65534:\n"
_LAUNCHER = b"""\
#!/usr/bin/python3 -P
from podpath.cli.main import main

main()
"""
SBOM = "usr/share/podpath/sbom.cdx.json"
"""Where the list of what the image holds stands in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageFile:
    """A file, folder or symbolic link of the image."""

    mode: int = 0o644
    data: bytes = b""
    target: str = ""
    """What a symbolic link names; empty for others."""
    folder: bool = False


Tree = dict[str, ImageFile]
"""By where it stands, without a slash at its beginning."""


def keep_packages(packages: Iterable[DebianPackage]) -> tuple[DebianPackage, ...]:
    """Return the packages whose files the image holds."""
    return tuple(each for each in packages if _INSTALLER.fullmatch(each.name) is None)


def lay_out(packages: Iterable[DebianPackage], wheels: Iterable[Wheel], python: str) -> Tree:
    """Return the image's files, all but bytecode and list."""
    tree: Tree = {name: ImageFile(mode=0o755, folder=True) for name in _FOLDERS}
    for name in ("bin", "sbin", "lib", "lib64"):
        tree[name] = ImageFile(target=f"usr/{name}")
    for package in packages:
        tree |= _read_package(package)
    site = f"usr/local/lib/python{python}/dist-packages"
    for wheel in wheels:
        for name, data in wheel.read_files():
            tree[f"{site}/{name}"] = ImageFile(data=data)
    tree |= _list_links()
    tree["tmp"] = ImageFile(mode=0o1777, folder=True)  # packages have it, too, with less
    tree["etc/passwd"] = ImageFile(data=_PASSWD)
    tree["etc/group"] = ImageFile(data=_GROUP)
    tree["usr/bin/podpath"] = ImageFile(mode=0o755, data=_LAUNCHER)
    return _without_dangling(tree)


def _read_package(package: DebianPackage) -> Iterator[tuple[str, ImageFile]]:
    # What scanners of images read where no dpkg is: one file a package, as distroless has them.
    about = package.control.encode()
    yield f"var/lib/dpkg/status.d/{package.name}", ImageFile(data=about)
    for member, data in package.read_files():
        name = _place(member.name)
        mode = member.mode & 0o1755
        if not name or _UNUSED.fullmatch(name) or _MERGED.fullmatch(name):
            continue
        if member.issym():
            yield name, ImageFile(target=member.linkname)
        elif member.isdir():
            yield name, ImageFile(mode=mode, folder=True)
        elif member.isreg() or member.islnk():
            yield name, ImageFile(mode=mode, data=data)


def _place(name: str) -> str:
    """Return where a package's file stands where `/lib` is a link to `/usr/lib`."""
    plain = name.removeprefix(".").strip("/")
    return f"usr/{plain}" if _MERGED.match(plain) else plain


def _list_links() -> Iterator[tuple[str, ImageFile]]:
    """Yield the links that packages make while they are installed: iptables by nftables, as
    Debian chooses it, and the few commands that come from busybox.
    """
    for family in ("iptables", "ip6tables"):
        for verb in ("", "-save", "-restore"):
            yield f"usr/sbin/{family}{verb}", ImageFile(target=f"{family}-nft{verb}")
    for command in _BUSYBOX:
        yield f"usr/bin/{command}", ImageFile(target="busybox")


def _without_dangling(tree: Tree) -> Tree:
    """Return the files without links to what is left out, and without folders that are empty."""
    found = {name: file for name, file in tree.items() if not file.target or leads(tree, name)}
    holding = {parent for name, file in found.items() if not file.folder for parent in above(name)}
    return {
        name: file
        for name, file in found.items()
        if not file.folder or name in holding or name in _FOLDERS
    }


def above(name: str) -> tuple[str, ...]:
    """Return the folders that a name stands in, the outermost first."""
    parts = name.split("/")[:-1]
    return tuple("/".join(parts[: count + 1]) for count in range(len(parts)))


def leads(tree: Mapping[str, ImageFile], name: str) -> bool:
    """Tell whether a link ends, over other links, at something in the image."""
    for _hop in range(10):
        if name not in tree:
            return name in {parent for each in tree for parent in above(each)}
        file = tree[name]
        if not file.target:
            return True
        name = resolve(name, file.target)
    return False


def resolve(name: str, target: str) -> str:
    """Return the place that a link's target means."""
    parts = [] if target.startswith("/") else name.split("/")[:-1]
    for part in target.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in {"", "."}:
            parts = [*parts, part]
    return _place("/".join(parts))


def write_layer(tree: Mapping[str, ImageFile], epoch: int) -> bytes:
    """Return the files as a tar: sorted, all owned by root and of one time."""
    out = io.BytesIO()
    folders = {
        parent: ImageFile(mode=0o755, folder=True) for name in tree for parent in above(name)
    }
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as layer:
        for name, file in sorted((folders | dict(tree)).items()):
            about = tarfile.TarInfo(name)
            about.mode, about.mtime, about.size = file.mode, epoch, len(file.data)
            about.uname = about.gname = "root"
            if file.folder:
                about.type = tarfile.DIRTYPE
            elif file.target:
                about.type, about.linkname, about.mode = tarfile.SYMTYPE, file.target, 0o777
            layer.addfile(about, io.BytesIO(file.data))
    return out.getvalue()


def write_list(packages: Iterable[DebianPackage], wheels: Iterable[Wheel]) -> bytes:
    """Return what the image holds, as CycloneDX 1.6: every package with version and digest."""
    debian = [
        _component(
            each.name,
            each.version,
            f"deb/debian/{each.name}@{_escape(each.version)}?arch={each.architecture}",
            each.digest,
        )
        for each in packages
    ]
    python = [
        _component(each.name, each.version, f"pypi/{each.name}@{each.version}", each.digest)
        for each in wheels
    ]
    content = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {"type": "container", "name": "podpath", "version": __version__}},
        "components": [*debian, *python],
    }
    return (json.dumps(content, indent=1) + "\n").encode()


def _component(name: str, version: str, address: str, digest: str) -> dict[str, object]:
    return {
        "type": "library",
        "bom-ref": f"pkg:{address}",
        "name": name,
        "version": version,
        "purl": f"pkg:{address}",
        "hashes": [{"alg": "SHA-256", "content": digest}],
    }


def _escape(version: str) -> str:
    return version.replace(":", "%3A").replace("+", "%2B")
