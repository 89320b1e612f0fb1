"""The container image that `scripts/build-image` writes: how its files are chosen, what its scan
refuses, and, where `PODPATH_IMAGE` names one, that the built image is what it says.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from podpath.collect.netns_files import NETNS_FILES, NODE_FILES
from scripts.container import archive, bytecode, debian, files, scan
from scripts.container.archive import ImageSettings
from scripts.container.debian import DebianPackage, FetchError
from scripts.container.files import ImageFile, Tree
from scripts.kubernetes import image

ROOT = Path(__file__).resolve().parents[2]
ABSENT = {"openvswitch-switch"}
"""Where it is in use, its switch is asked by its own programs, which must be of its version."""
BUILT = os.environ.get("PODPATH_IMAGE")
"""Set by `scripts/test`, which builds the image first."""


@pytest.fixture(scope="module")
def built() -> Path:
    """Provide the built image."""
    if BUILT is None:
        pytest.skip("needs PODPATH_IMAGE: the archive that scripts/build-image wrote")
    return Path(BUILT)


@pytest.fixture(scope="module")
def tree(built: Path) -> Tree:
    """Provide the built image's files."""
    return read_tree(archive.read_layer(built))


@pytest.fixture(scope="module")
def root(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide the built image's files in a folder."""
    folder = tmp_path_factory.mktemp("image")
    bytecode.unpack(archive.read_layer(built), folder)
    return folder


def read_tree(layer: bytes) -> Tree:
    """Return a layer's files by where they stand."""
    found: Tree = {}
    with tarfile.open(fileobj=io.BytesIO(layer)) as members:
        for member in members:
            inner = members.extractfile(member) if member.isreg() else None
            data = inner.read() if inner is not None else b""
            found[member.name] = ImageFile(
                mode=member.mode, data=data, target=member.linkname, folder=member.isdir()
            )
    return found


def make_package(folder: Path, name: str, **held: str) -> DebianPackage:
    """Build a Debian package of a few files, each with its content, `/` written as `__`."""
    if shutil.which("dpkg-deb") is None:
        pytest.skip("needs dpkg-deb")
    source = folder / name
    control = source / "DEBIAN" / "control"
    control.parent.mkdir(parents=True)
    control.write_text(
        f"Package: {name}\nVersion: 1:2+b3\nArchitecture: all\nMaintainer: Nobody <n@example.org>\n"
        "Description: made for a test\n",
        encoding="utf-8",
    )
    for place, content in held.items():
        path = source / place.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        path.chmod(0o4755)
    target = folder / f"{name}.deb"
    words = ("dpkg-deb", "--build", "--root-owner-group", str(source), str(target))
    subprocess.run(words, check=True, capture_output=True)
    return DebianPackage(target)


def run(root: Path, *command: str) -> str:
    """Return what a program says whose root is the image, as a user without rights there."""
    words = ("unshare", "--map-root-user", "chroot", str(root), "/usr/bin/env", *command)
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, env={"PATH": "/usr/sbin:/usr/bin:/sbin"}
    )
    if "unshare failed" in done.stderr:
        pytest.skip("needs user namespaces")
    return done.stdout + done.stderr


def test_packages_become_files_without_rights(tmp_path: Path) -> None:
    """Of a package stay its programs, without setuid bits and below `/usr`, its license, and what
    it says about itself; not its manual.
    """
    package = make_package(
        tmp_path,
        "thing",
        sbin__thing="program",
        usr__share__doc__thing__copyright="free",
        usr__share__man__man8__thing_8="manual",
    )

    tree = files.lay_out([package], [], "3.11")

    assert ImageFile(mode=0o755, data=b"program") == tree["usr/sbin/thing"]
    assert ImageFile(target="usr/sbin") == tree["sbin"]
    assert b"free" == tree["usr/share/doc/thing/copyright"].data
    assert b"Version: 1:2+b3" in tree["var/lib/dpkg/status.d/thing"].data
    assert not [name for name in tree if "man8" in name]
    assert not [name for name, file in tree.items() if file.mode & 0o6000]


def test_the_list_names_each_package(tmp_path: Path) -> None:
    """A package is listed with version, address and digest."""
    package = make_package(tmp_path, "thing", usr__bin__thing="program")

    (component,) = json.loads(files.write_list([package], []))["components"]

    assert "pkg:deb/debian/thing@1%3A2%2Bb3?arch=all" == component["purl"]
    assert [{"alg": "SHA-256", "content": package.digest}] == component["hashes"]


def test_a_link_to_what_is_left_out_goes_with_it() -> None:
    """Links stay where they lead to a file or a folder, also over others and by `..`."""
    tree = {
        "usr/bin/here": ImageFile(data=b"x"),
        "usr/bin/near": ImageFile(target="here"),
        "usr/lib/far": ImageFile(target="../bin/near"),
        "usr/lib/whole": ImageFile(target="/usr/lib"),
        "usr/lib/merged": ImageFile(target="/bin/here"),
        "usr/lib/lost": ImageFile(target="/usr/bin/gone"),
        "usr/lib/round": ImageFile(target="round"),
    }

    leading = {name for name in tree if files.leads(tree, name)}

    assert set(tree) - {"usr/lib/lost", "usr/lib/round"} == leading


def test_equal_files_give_equal_bytes(tmp_path: Path) -> None:
    """Neither the order of files nor the clock is seen in an image, and no owner but root."""
    some: Tree = {"usr/a": ImageFile(data=b"a", mode=0o755), "usr/b/c": ImageFile(target="../a")}
    other = dict(reversed(some.items()))
    settings = ImageSettings(reference="local/thing:2", run={"User": "1"})

    one = archive.write_archive(tmp_path / "1.tar", settings, files.write_layer(some, 7))
    two = archive.write_archive(tmp_path / "2.tar", settings, files.write_layer(other, 7))

    assert one.read_bytes() == two.read_bytes()
    assert settings == archive.read_settings(one)
    with tarfile.open(fileobj=io.BytesIO(archive.read_layer(one))) as layer:
        about = [(each.name, each.mtime, each.uid, each.uname) for each in layer]
    assert [(name, 7, 0, "root") for name in ("usr", "usr/a", "usr/b", "usr/b/c")] == about


def test_an_archive_has_a_name_for_each_that_loads_it(tmp_path: Path) -> None:
    """Docker's manifest and the OCI index name one image, whose blobs are named by their
    digests.
    """
    settings = ImageSettings(reference="podpath:0.1", run={})
    path = archive.write_archive(tmp_path / "image.tar", settings, files.write_layer({}, 0))

    with tarfile.open(path) as opened:
        members = {each: opened.extractfile(each) for each in opened.getnames()}
        contents = {name: inner.read() for name, inner in members.items() if inner is not None}
    (described,) = json.loads(contents["index.json"])["manifests"]
    manifest = json.loads(contents["blobs/sha256/" + described["digest"][7:]])
    (docker,) = json.loads(contents["manifest.json"])

    assert "docker.io/library/podpath:0.1" == described["annotations"]["io.containerd.image.name"]
    assert ["podpath:0.1"] == docker["RepoTags"]
    assert docker["Config"].endswith(manifest["config"]["digest"][7:])
    assert len(contents[docker["Layers"][0]]) == manifest["layers"][0]["size"]


@pytest.mark.parametrize(
    ("name", "file", "said"),
    [
        ("usr/bin/su", ImageFile(mode=0o4755), "/usr/bin/su: setuid or setgid (4755)"),
        ("etc/open", ImageFile(mode=0o666), "/etc/open: anybody may write it (666)"),
        ("open", ImageFile(mode=0o777, folder=True), "/open: anybody may write it (777)"),
        ("usr/bin/gcc-12", ImageFile(), "/usr/bin/gcc-12: a compiler or an installer"),
        ("var/cache/apt/x.bin", ImageFile(), "/var/cache/apt/x.bin: a cache"),
        ("root/.bash_history", ImageFile(), "/root/.bash_history: a history"),
        ("etc/pip.conf", ImageFile(), "/etc/pip.conf: a secret"),
        ("usr/bin/loose", ImageFile(target="gone"), "/usr/bin/loose: a link to nothing: gone"),
        (
            "etc/key.pem",
            ImageFile(data=b"-----BEGIN EC PRIVATE KEY-----\n" + b"A" * 64),
            "/etc/key.pem: a private key",
        ),
        (
            "etc/index",
            ImageFile(data=b"url = https://me:correct-horse@index.example.org/"),
            "/etc/index: an address with a password",
        ),
        ("large", ImageFile(data=bytes(scan.MOST + 1)), "expected at most 120 MB, saw 120.0 MB"),
    ],
)
def test_the_scan_says_what_is_wrong(name: str, file: ImageFile, said: str) -> None:
    """Each thing that an image must not hold is named with its place."""
    sound = {"tmp": ImageFile(mode=0o1777, folder=True), "usr/bin/ip": ImageFile(mode=0o755)}

    assert [] == list(scan.scan_tree(sound))
    assert [said] == list(scan.scan_tree({**sound, name: file}))


def test_a_mirror_that_does_not_answer_is_said(tmp_path: Path) -> None:
    """The mirror is named, and what to do; nothing half-fetched is taken for whole."""
    if shutil.which("apt-get") is None or not Path(debian.KEYRING).exists():
        pytest.skip("needs apt and Debian's keys")

    for _again in range(2):
        with pytest.raises(FetchError, match=r"(?s)http://127\.0\.0\.1:9: .*--mirror"):
            debian.fetch_packages(["dash"], tmp_path, mirror="http://127.0.0.1:9")


def test_the_images_programs_are_those_of_a_snapshot() -> None:
    """Each package whose programs a snapshot runs is in the image."""
    wanted = {each.package for each in (*NETNS_FILES, *NODE_FILES)} - ABSENT

    assert set() == wanted - set(files.PROGRAMS)


def test_its_python_packages_are_those_of_the_project() -> None:
    """Every distribution that podpath and its extra k8s name has a version for the image."""
    text = (ROOT / "deploy" / "image-requirements.txt").read_text(encoding="utf-8")
    pinned = {line.partition("==")[0] for line in text.splitlines() if not line.startswith("#")}

    assert {each.lower().replace("_", "-") for each in image.list_packages()} <= pinned


def test_the_built_image_is_sound(built: Path, tree: Tree) -> None:
    """It passes the scan, is under 120 MB, runs as nobody, and lists what it holds."""
    settings = archive.read_settings(built)

    assert [] == list(scan.scan_tree(tree))
    assert sum(len(file.data) for file in tree.values()) <= 120_000_000
    assert "65534:65534" == settings.run["User"]
    assert ["podpath"] == settings.run["Entrypoint"]
    assert "podpath" == settings.annotations["org.opencontainers.image.title"]
    components = json.loads(tree[files.SBOM].data)["components"]
    debian_names = {each["name"] for each in components if each["purl"].startswith("pkg:deb/")}
    kept = {name.rpartition("/")[2] for name in tree if name.startswith("var/lib/dpkg/status.d/")}
    assert kept == debian_names
    assert {"podpath", "podpath-protect", "lightkube", "iproute2"} <= {
        each["name"] for each in components
    }


def test_its_files_are_roots(built: Path) -> None:
    """Whoever runs in it, as nobody, can change none of them."""
    with tarfile.open(fileobj=io.BytesIO(archive.read_layer(built))) as layer:
        members = layer.getmembers()

    assert {(0, 0)} == {(each.uid, each.gid) for each in members}
    assert {"tmp"} == {each.name for each in members if not each.issym() and each.mode & 0o022}


@pytest.mark.parametrize(
    "command",
    sorted(
        {each.arguments[0] for each in (*NETNS_FILES, *NODE_FILES) if each.package not in ABSENT}
    ),
)
def test_each_program_of_a_snapshot_starts_in_it(command: str, root: Path) -> None:
    """No program lacks a library."""
    told = run(root, command, "--help")

    assert "error while loading shared libraries" not in told
    assert "No such file or directory" not in told.partition("\n")[0]
    assert told


def test_podpath_answers_in_it(root: Path) -> None:
    """A ticket's cause is named by the podpath that is in the image, and the agent's and the
    collector's modules load.
    """
    ticket = ROOT / "examples" / "incidents" / "rp-filter-reset" / "ticket.md"
    shutil.copyfile(ticket, root / "root" / "ticket.md")

    assert "CAUSE: The reverse-path filter drops packets" in run(
        root, "podpath", "diagnose", "/root/ticket.md"
    )
    assert "Usage: podpath protect agent" in run(root, "podpath", "protect", "agent", "--help")
    assert "" == run(root, "python3", "-c", "import lightkube, inotify_simple, podpath_protect")


def test_its_modules_are_compiled(tree: Tree) -> None:
    """Each module of podpath has its bytecode, which does not depend on a time."""
    modules = {name for name in tree if name.endswith(".py") and "/dist-packages/podpath" in name}
    compiled = {
        name.replace("__pycache__/", "").replace(".cpython-311.pyc", ".py") for name in tree
    }
    assert modules
    assert set() == modules - compiled
    flags = {file.data[4:8] for name, file in tree.items() if name.endswith(".pyc")}
    assert {b"\x01\0\0\0"} == flags
