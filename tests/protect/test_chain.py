"""`podpath protect chain`: its commands, its edits, and how it finds who fights it."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.cni.conf import ConfFile, Network, parse_network
from podpath.cni.runtimes import RuntimeSettings, judge_containerd
from podpath_protect.chain.editing import (
    ChainedPlugin,
    EditingError,
    chain,
    has_entry,
    is_chained,
    parse_entry,
    same_network,
    strip,
)
from podpath_protect.chain.folder import read_folder
from podpath_protect.chain.rivals import name_rival
from podpath_protect.chain.writers import WriterWatch, list_watchers
from podpath_protect.watch import DirectoryWatch
from tests.command import podpath
from tests.kube.following import until
from tests.protect.folders import BRIDGE, MESH, PORTMAP, listed, single
from tests.protect.nodes import ENTRY, CniNode

MESH_ENTRY = ChainedPlugin("linkerd-cni", MESH)
PLUGINS = st.lists(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["bridge", "portmap", "linkerd-cni"])},
        optional={"x": st.none() | st.integers() | st.text(max_size=5) | st.lists(
            st.booleans(), max_size=2,
        )},
    ),
    min_size=1, max_size=4,
)  # fmt: skip


@pytest.fixture
def node(tmp_path: Path) -> CniNode:
    """Provide a node's empty folders."""
    return CniNode(tmp_path)


def conflist(text: str) -> ConfFile:
    """Make a list of its text."""
    return ConfFile(name="10-net.conflist", content=text.encode())


@given(
    PLUGINS,
    st.sampled_from([None, 2, "\t"]),
    st.dictionaries(st.sampled_from(["name", "cniVersion", "disableGC"]), st.text(max_size=4)),
)
def test_stripping_undoes_chaining(
    plugins: list[dict[str, object]], indent: int | str | None, more: dict[str, str]
) -> None:
    """What was chained strips to the same network; chaining twice is chaining once; nothing else is
    touched.
    """
    file = conflist(json.dumps({**more, "plugins": plugins}, indent=indent))
    once = conflist(chain(file, MESH_ENTRY).content.decode())
    others = [plugin for plugin in plugins if plugin["type"] != "linkerd-cni"]
    stripped = strip(once, "linkerd-cni")
    kept = [plugin for plugin in plugins if plugin["type"] == "linkerd-cni"][-1:] or [dict(MESH)]

    assert once.content == chain(once, MESH_ENTRY).content
    assert {**more, "plugins": [*others, *kept]} == json.loads(once.text)
    assert same_network(file, once, "linkerd-cni")
    assert (None if not others else {**more, "plugins": others}) == (
        None if stripped is None else json.loads(stripped)
    )
    assert is_chained(once, "linkerd-cni") is bool(others)


def test_letters_and_indentation_stay() -> None:
    """Text that is not ASCII stays as it is written, tabs stay tabs."""
    text = '{\n\t"name": "größe",\n\t"plugins": [\n\t\t{\n\t\t\t"type": "bridge"\n\t\t}\n\t]\n}\n'

    assert (
        text
        == (
            strip(conflist(chain(conflist(text), MESH_ENTRY).content.decode()), "linkerd-cni")
            or b""
        ).decode()
    )


@pytest.mark.parametrize(
    "content", [b'{"name": "\xff", "plugins": [{"type": "bridge"}]}', b"{", b"[]"]
)
def test_what_would_not_survive_is_not_edited(content: bytes) -> None:
    """Bytes that are no UTF-8, and what is no object of JSON, are refused."""
    with pytest.raises(EditingError):
        chain(ConfFile(name="10-net.conflist", content=content), MESH_ENTRY)


@pytest.mark.parametrize("text", ["", "{}", '{"type": ""}', '{"type": 1}', "[]", "/nowhere"])
def test_a_wrong_entry_is_a_usage_error(node: CniNode, text: str) -> None:
    """An entry without a type, or a file that is not there, ends with 2 and what was expected."""
    done = podpath(
        "protect",
        "chain",
        "keep",
        "--once",
        "--entry",
        text,
        "--conf-dir",
        node.conf,
        "--bin-dir",
        node.bin,
    )

    assert (2, True) == (done.returncode, "expected a plugin's entry" in done.stderr)


def test_an_entry_is_read() -> None:
    """Its type is known, and keys of the list are not in it."""
    assert ChainedPlugin("a", {"type": "a", "x": 1}) == parse_entry(
        '{"type": "a", "x": 1, "name": "n", "cniVersion": "1.0.0"}'
    )
    assert not has_entry(conflist("{"), "a")


def test_keep_and_remove_by_command(node: CniNode) -> None:
    """`keep --once` puts the plugin in and says by its code whether it is in effect; `remove` gives
    the file back.
    """
    text = listed()
    node.write("10-net.conflist", text)
    options = ("--entry", ENTRY, "--conf-dir", node.conf, "--bin-dir", node.bin)
    dry = podpath("protect", "chain", "keep", "--once", "--dry-run", *options)
    assert (1, text) == (dry.returncode, (node.conf / "10-net.conflist").read_text())
    assert "would write" in dry.stdout

    assert podpath("protect", "chain", "keep", "--once", *options).returncode == 0
    assert ["bridge", "linkerd-cni"] == node.types("10-net.conflist")
    assert podpath("protect", "chain", "remove", "--dry-run", *options).returncode == 0
    assert ["bridge", "linkerd-cni"] == node.types("10-net.conflist")
    assert (
        "10-net.conflist is again what it was"
        in podpath("protect", "chain", "remove", *options).stdout
    )
    assert (text, ["10-net.conflist"]) == (
        (node.conf / "10-net.conflist").read_text(),
        [path.name for path in node.conf.iterdir()],
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_the_keeper_ends_by_signal(node: CniNode, number: signal.Signals) -> None:
    """Told to stop, it ends with 0, and takes the plugin out where it was asked to."""
    text = listed()
    node.write("10-net.conflist", text)
    words = (
        sys.executable,
        "-m",
        "podpath",
        "protect",
        "chain",
        "keep",
        "--entry",
        ENTRY,
        "--conf-dir",
        str(node.conf),
        "--bin-dir",
        str(node.bin),
    )
    process = subprocess.Popen([*words, "--remove-on-stop"], stderr=subprocess.PIPE, text=True)
    until(lambda: "linkerd-cni" in (node.conf / "10-net.conflist").read_text(), "it is chained")
    process.send_signal(number)
    _, log = process.communicate(timeout=60)

    assert (0, text) == (process.returncode, (node.conf / "10-net.conflist").read_text())
    assert "INFO keeping the chain" in log


def test_lint_by_command(node: CniNode, repository: Path) -> None:
    """Both verdicts are printed with their reasons, as text and as JSON, and an error makes the
    code 1.
    """
    node.write("05-bad.conflist", "{")
    node.write("10-net.conflist", listed(BRIDGE, PORTMAP))
    text, document = (
        podpath("protect", "chain", "lint", node.conf),
        podpath("protect", "chain", "lint", node.conf, "--json", "--bin-dir", node.bin),
    )
    told = json.loads(document.stdout)

    assert (1, 1) == (text.returncode, document.returncode)
    assert "containerd: no network: 05-bad.conflist:1: it is not JSON" in text.stdout
    assert "cri-o: 10-net.conflist: network 'k8s' 1.0.0: bridge > portmap" in text.stdout
    assert [("containerd", None), ("cri-o", "10-net.conflist")] == [
        (one["runtime"], one["file"]) for one in told["runtimes"]
    ]
    schema = json.loads((repository / "src/podpath/report/schema/cni-lint-v1.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(told)
    (node.conf / "05-bad.conflist").unlink()
    assert (
        podpath("protect", "chain", "lint", node.conf, "--bin-dir", node.bin, "--probe").returncode
        == 0
    )
    assert podpath("protect", "chain", "lint", node.root / "nowhere").returncode == 2


def test_lint_escapes_what_files_say(node: CniNode) -> None:
    """A name with a terminal's control letters does not reach the terminal."""
    node.write("10-net.conflist", listed(name="\x1b[31mred"))

    assert "\x1b" not in podpath("protect", "chain", "lint", node.conf).stdout


def info(*networks: dict[str, object]) -> str:
    """Write what `crictl info` prints of these networks."""
    loopback = {
        "Config": {"Name": "cni-loopback", "Plugins": [{"Network": {"type": "loopback"}}]},
        "IFName": "lo",
    }
    return json.dumps({"cniconfig": {"Networks": [loopback, *networks]}})


def loaded(text: str) -> dict[str, object]:
    """Write one network as the runtime holds it."""
    network = parse_network(conflist(text))
    value = json.loads(text)
    plugins = [{"Network": {"type": plugin["type"]}} for plugin in value["plugins"]]
    assert network
    return {
        "Config": {
            "Name": value["name"],
            "CNIVersion": value["cniVersion"],
            "Plugins": plugins,
            "Source": text,
        },
        "IFName": "eth0",
    }


@pytest.mark.parity("G10")
@pytest.mark.parametrize(
    ("told", "claim"),
    [
        (info(), "the runtime has loaded no network"),
        (info(loaded(listed(BRIDGE, name="old"))), "the runtime has 'old' with bridge"),
        (info(loaded(listed(BRIDGE))), "on the disk it is bridge > linkerd-cni"),
        (
            info(loaded(listed(BRIDGE, {"type": "linkerd-cni", "old": 1}))),
            "an older content of this file",
        ),
        (info(loaded(listed(BRIDGE, MESH))), ""),
    ],
    ids=["nothing", "another", "without the plugin", "older", "the same"],
)
def test_g10_a_runtime_behind_the_disk_is_told(node: CniNode, told: str, claim: str) -> None:
    """What the runtime has loaded is held against the disk."""
    node.write("10-net.conflist", listed(BRIDGE, MESH))
    (node.root / "info.json").write_text(told)
    done = podpath("protect", "chain", "lint", node.conf, "--crictl-info", node.root / "info.json")

    assert claim in done.stdout
    assert ("[G10]" in done.stdout) is bool(claim)


def test_g10_what_is_no_crictl_info_is_refused(node: CniNode) -> None:
    """Text that is no JSON is unreadable input."""
    (node.root / "info.json").write_text("cniconfig")

    assert (
        podpath(
            "protect", "chain", "lint", node.conf, "--crictl-info", node.root / "info.json"
        ).returncode
        == 2
    )


def test_a_folder_is_read_without_waiting(node: CniNode) -> None:
    """A pipe is not opened; a link to nothing and a directory under a file's name are told;
    drop-ins are read.
    """
    os.mkfifo(node.conf / "05-pipe.conf")
    (node.conf / "06-link.conf").symlink_to("/nowhere")
    (node.conf / "07-folder.conf").symlink_to(node.bin)
    (node.conf / "k8s").mkdir()
    (node.conf / "k8s" / "a.conf").write_text(single(MESH))
    found = {file.name: file for file in read_folder(node.conf)}

    assert {"05-pipe.conf", "06-link.conf", "07-folder.conf", "k8s/a.conf"} == set(found)
    assert "it is not a regular file" == found["05-pipe.conf"].obstacle
    assert (True, "it leads to a directory") == (
        found["06-link.conf"].is_link,
        found["07-folder.conf"].obstacle,
    )


RIVAL = (
    "import sys, time\nfor _ in range(100):\n    open(sys.argv[1], 'w').write('{}')\n"
    "    time.sleep(0.05)\n"
)


@pytest.mark.parity("N9")
@pytest.mark.kernel
def test_fanotify_names_the_writer(node: CniNode) -> None:
    """Who writes into the folder is told by program and number; our own writes are not."""
    watch = WriterWatch(node.conf)
    rival = subprocess.Popen([sys.executable, "-c", RIVAL, str(node.conf / "10-net.conflist")])
    try:
        node.write("20-own.conf", "{}")
        over = time.monotonic() + 60
        seen: tuple[str, ...] = ()
        while time.monotonic() < over and not seen:
            seen = watch.writers()
            time.sleep(0.02)
    finally:
        rival.kill()
        rival.wait()
        watch.close()

    assert "" == watch.why_not
    assert (True, f"(process {rival.pid})") == (
        seen[0].startswith("python"),
        f"({seen[0].partition('(')[2]}",
    )
    assert () == watch.writers()


@pytest.mark.kernel("setpriv")
def test_without_rights_fanotify_says_so(node: CniNode) -> None:
    """Without CAP_SYS_ADMIN it says what it needs."""
    code = (
        "import sys; from pathlib import Path; from podpath_protect.chain.writers import "
        "WriterWatch; print(WriterWatch(Path(sys.argv[1])).why_not)"
    )
    done = subprocess.run(
        [
            "setpriv",
            "--bounding-set=-all",
            "--inh-caps=-all",
            sys.executable,
            "-c",
            code,
            str(node.conf),
        ],
        capture_output=True,
        text=True,
        check=True,
    )

    assert "it needs CAP_SYS_ADMIN" in done.stdout


def test_those_who_watch_the_folder_are_listed(node: CniNode) -> None:
    """A process with an inotify watch on the folder is told by its number; one that watches another
    folder is not.
    """
    code = (
        "import sys; from pathlib import Path; from podpath_protect.watch import DirectoryWatch; "
        "w = DirectoryWatch([Path(sys.argv[1])]); print(1, flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(node.conf)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with DirectoryWatch([node.conf]):
            seen, elsewhere = list_watchers(node.conf), list_watchers(node.bin)
        other.communicate()

    assert ([f"(process {other.pid})"], ()) == (
        [f"({one.partition('(')[2]}" for one in seen],
        elsewhere,
    )


def test_a_process_with_too_many_watches_is_read_so_far(node: CniNode, tmp_path: Path) -> None:
    """Whoever runs a pod has as many inotify watches as its user may, and a line of /proc for each:
    a list of 30 MB costs a fight no memory, and who has a few is named all the same.
    """
    there = node.conf.stat()
    line = f"inotify wd:1 ino:{there.st_ino:x} sdev:0 mask:fc6\n"
    device = os.major(there.st_dev) << 20 | os.minor(there.st_dev)
    other = line.replace("ino:", "ino:f")
    for number, text in ((17, line.replace("sdev:0", f"sdev:{device:x}")), (18, other * 600_000)):
        for folder in ("fd", "fdinfo"):
            (tmp_path / "proc" / str(number) / folder).mkdir(parents=True)
        (tmp_path / "proc" / str(number) / "fd" / "5").symlink_to("anon_inode:inotify")
        (tmp_path / "proc" / str(number) / "fdinfo" / "5").write_text(text)
        (tmp_path / "proc" / str(number) / "comm").write_text("installer\n")
    tracemalloc.start()
    watchers = list_watchers(node.conf, tmp_path / "proc")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert ("installer (process 17)",) == watchers
    assert most < 5 << 20


def test_an_empty_program_is_none(node: CniNode) -> None:
    """What a copy that broke off leaves cannot be run, so with its entry no pod starts: it is not
    ready, the entry is taken out, and chained again once there is a program.
    """
    node.write("10-net.conflist", listed(BRIDGE, MESH))
    node.program("linkerd-cni", "")
    with pytest.raises(OSError, match="Exec format error"):
        subprocess.run([node.bin / "linkerd-cni"], check=False)
    guard = node.guard()
    first, later = guard.look(1.0), guard.look(4.0)

    assert ((False, ()), ("10-net.conflist",)) == ((first.holds, first.edited), later.edited)
    assert ["bridge"] == node.types("10-net.conflist")
    node.program("linkerd-cni")
    assert guard.look(5.0).holds


def test_a_rival_is_named_by_every_sign() -> None:
    """By its program, by its network, by what it set aside; containerd only reads; nobody known is
    said to be unknown.
    """
    network = parse_network(conflist(listed({"type": "calico"})))
    assert isinstance(network, Network)

    assert "Multus" == name_rival((), None, "x", ["multus-daemon (process 7)"], ()).name
    assert "Calico" == name_rival((), network, "x", (), ["containerd (process 3)"]).name
    assert "somebody unknown" == name_rival((), None, "x", (), ["containerd (process 3)"]).name
    assert "vim (process 9)" == name_rival((), None, "x", ["vim (process 9)"], ()).name
    assert (
        "Cilium"
        == name_rival([ConfFile(name="a.conf.cilium_bak", content=b"")], None, "x", (), ()).name
    )


def loaded_by_containerd(node: CniNode) -> tuple[str, tuple[str, ...]] | None:
    """Return the name and the plugins of what containerd would load."""
    network = judge_containerd(read_folder(node.conf), RuntimeSettings()).network
    return None if network is None else (network.name, network.types)


@pytest.mark.parametrize("seed", range(4))
def test_a_storm_of_vendors_ends_in_the_chain(node: CniNode, seed: int) -> None:
    """Whatever vendors write, rename, cut off and remove, in whatever order: when they rest, the
    plugin is in what is loaded.
    """
    draw = random.Random(seed)
    names = ["10-a.conf", "10-a.conflist", "20-b.conflist", "30-c.json"]
    with node.kept(poll=0.5, fight_rounds=1000, runtime="containerd") as kept:
        over = time.monotonic() + 2
        while time.monotonic() < over:
            path = node.conf / draw.choice(names)
            text = (
                single(name=draw.choice("xyz"))
                if path.suffix != ".conflist"
                else listed(BRIDGE, name=draw.choice("xyz"))
            )
            match draw.randrange(5):
                case 0:
                    path.unlink(missing_ok=True)
                case 1:
                    path.write_text(text[: draw.randrange(len(text))])
                case 2:
                    path.write_text(text)
                case _:
                    node.write(path.name, text)
            time.sleep(draw.random() * 0.02)
        for name in names:
            (node.conf / name).unlink(missing_ok=True)
        node.write("10-a.conf", single(name="last"))
        kept.wait(lambda: loaded_by_containerd(node) == ("last", ("bridge", "linkerd-cni")))
        kept.wait_ready()


@pytest.mark.parity("G6")
@pytest.mark.kernel
def test_a_thousand_rewrites_a_minute_are_no_busy_loop(node: CniNode) -> None:
    """A rival that writes 17 times a second for 6 seconds costs less than a tenth of a processor;
    the rival's writer is named.
    """
    code = (
        f"import sys, time\nfor _ in range(100):\n    open(sys.argv[1], 'w').write({listed()!r})\n"
        "    time.sleep(0.058)\n"
    )
    rival = subprocess.Popen([sys.executable, "-c", code, str(node.conf / "10-net.conflist")])
    before = resource.getrusage(resource.RUSAGE_SELF)
    with node.kept(poll=60.0) as kept:
        rival.wait()
        after = resource.getrusage(resource.RUSAGE_SELF)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        fights = [
            finding
            for status in kept.heard
            for finding in status.findings
            if finding.check == "chain-fight"
        ]

    assert spent < 0.6
    assert len(kept.heard) < 40
    assert any(f"(process {rival.pid})" in sign for finding in fights for sign in finding.evidence)
