"""Parity with linkerd's installer (rows L) and istio's (rows N): the plugin is in what the runtime
loads, whoever starts when.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from inotify_simple import INotify, flags

from podpath_protect.agent.config import load_config
from podpath_protect.chain.kubeconfig import KubeconfigError, make_server
from podpath_protect.chain.options import KubeconfigOptions
from tests.protect.folders import BRIDGE, MESH, PORTMAP, listed, single
from tests.protect.nodes import CniNode, sample

MESHED = ["bridge", "linkerd-cni"]
DEPLOY = Path(__file__).resolve().parents[2] / "deploy"


@pytest.fixture
def node(tmp_path: Path) -> CniNode:
    """Provide a node's empty folders."""
    return CniNode(tmp_path)


@pytest.mark.parity("L1", "G5")
@pytest.mark.parametrize("delay", [0.0, 0.001, 0.01, 0.1])
def test_l1_a_writer_during_the_start_is_not_missed(node: CniNode, delay: float) -> None:
    """The watch is armed before the first look: whenever the vendor writes its file, the plugin
    gets into it.
    """
    writer = threading.Timer(delay, node.write, ("10-net.conflist", listed()))
    writer.start()
    with node.kept(poll=60.0) as kept:
        kept.wait_ready()
        writer.join()

        assert MESHED == node.types("10-net.conflist")


@pytest.mark.parity("L1")
def test_l1_programs_come_before_the_chain(node: CniNode, tmp_path: Path) -> None:
    """The program is copied first; where its directory cannot be written nothing is chained, and it
    says so.
    """
    source = tmp_path / "new-cni"
    source.write_bytes(b"\x7fELF")
    node.write("10-net.conflist", listed())
    options = {"binaries": (str(source),), "entry": '{"type": "new-cni"}'}
    (node.bin / "new-cni").symlink_to("/nowhere")
    refused = node.look(**options)
    (node.bin / "new-cni").unlink()
    done = node.look(**options)

    assert ("chain-unprepared", False) == (refused.troubles[0].check, refused.holds)
    assert done.holds
    assert ["bridge", "new-cni"] == node.types("10-net.conflist")
    assert (b"\x7fELF", 0o755) == (
        (node.bin / "new-cni").read_bytes(),
        stat.S_IMODE((node.bin / "new-cni").stat().st_mode),
    )


@pytest.mark.parity("L2")
@pytest.mark.parametrize("name", ["10-net.conflist", "10-net.conf", "10-net.json"])
@pytest.mark.parametrize("how", ["rename", "in place", "link"])
def test_l2_every_way_of_writing_is_heard(node: CniNode, name: str, how: str) -> None:
    """A file renamed in, written in place or linked in is chained at once, whichever of the three
    extensions it has.
    """
    text = listed() if name.endswith("list") else single()
    other = node.root / "other"
    other.write_text(text)
    with node.kept(poll=60.0) as kept:
        kept.wait_ready(ready=False)
        if how == "rename":
            node.write(name, text)
        elif how == "in place":
            (node.conf / name).write_text(text)
        else:
            (node.conf / name).hardlink_to(other)
        kept.wait_ready()

        assert MESHED == node.types("10-net.conflist")


@pytest.mark.parity("L2")
def test_l2_a_deleted_file_is_noticed(node: CniNode) -> None:
    """Where the loaded file goes, the next one is chained."""
    node.write("10-net.conflist", listed())
    with node.kept(poll=60.0) as kept:
        kept.wait_ready()
        node.write("20-other.conflist", listed(name="other"))
        (node.conf / "10-net.conflist").unlink()
        kept.wait(lambda: "linkerd-cni" in (node.conf / "20-other.conflist").read_text())


@pytest.mark.parity("L3")
def test_l3_the_entry_stands_once_and_last(node: CniNode) -> None:
    """All older entries are removed, and the new one comes behind the others."""
    node.write(
        "10-net.conflist",
        listed(BRIDGE, {"type": "linkerd-cni", "old": 1}, PORTMAP, {"type": "linkerd-cni"}),
    )

    assert node.look().holds
    assert ["bridge", "portmap", "linkerd-cni"] == node.types("10-net.conflist")


@pytest.mark.parity("L4", "N3")
@pytest.mark.parametrize("name", ["10-net.conf", "10-net.json"])
def test_l4_n3_a_single_configuration_becomes_a_list(node: CniNode, name: str) -> None:
    """It keeps its own name and version and loses nothing; the single file is gone, its original
    kept aside.
    """
    conf = {"cniVersion": "0.4.0", "name": "my-net", **BRIDGE}
    text = json.dumps(conf)
    node.write(name, text)
    node.look()

    assert ["10-net.conflist"] == node.names()
    assert {"cniVersion": "0.4.0", "name": "my-net", "plugins": [BRIDGE, MESH]} == json.loads(
        (node.conf / "10-net.conflist").read_text()
    )
    assert text == (node.conf / f"{name}.podpath-original").read_text()


def test_l4_another_list_of_the_name_is_let_be(node: CniNode) -> None:
    """A list that has the name already is another network: the new one gets a name that sorts
    before it.
    """
    node.write("10-net.conf", single(name="first"))
    node.write("10-net.conflist", listed(name="second"))

    assert node.look().holds
    assert ["10-net-chained.conflist", "10-net.conflist"] == node.names()
    assert ["bridge"] == node.types("10-net.conflist")


@pytest.mark.parity("L5")
def test_l5_every_file_or_the_loaded_one(node: CniNode) -> None:
    """By choice all files that a runtime could load are chained, as linkerd does, or what is
    loaded, as istio does.
    """
    node.write("10-net.conflist", listed())
    node.write("20-other.conflist", listed(name="other"))
    node.look()
    assert (MESHED, ["bridge"]) == (node.types("10-net.conflist"), node.types("20-other.conflist"))

    node.look(scope="every")
    assert MESHED == node.types("20-other.conflist")


@pytest.mark.parity("L6")
def test_l6_what_is_right_is_not_written(node: CniNode) -> None:
    """A second look writes nothing, whatever order of keys and spaces the file has: no loop with
    itself.
    """
    path = node.write("10-net.conflist", listed(BRIDGE, dict(reversed(list(MESH.items())))))
    before = path.stat()
    looks = [node.look() for _ in range(3)]

    assert [()] * 3 == [look.edited for look in looks]
    assert (before.st_ino, before.st_mtime_ns) == (path.stat().st_ino, path.stat().st_mtime_ns)


@pytest.mark.parity("L7")
def test_l7_no_network_is_made_up(node: CniNode) -> None:
    """In an empty folder it waits, says so, and writes nothing."""
    with node.kept() as kept:
        kept.wait_ready(ready=False)

        assert "has no network" in kept.last.why
        assert [] == node.names()


def account(tmp_path: Path, token: str) -> Path:
    """Make a service account as the kubelet mounts it, or exchange its token as the kubelet
    does.
    """
    base = tmp_path / "account"
    base.mkdir(exist_ok=True)
    version = base / f"..{token}"
    version.mkdir()
    (version / "token").write_text(token)
    (version / "ca.crt").write_text("authority")
    if not (base / "..data").exists():
        (base / "..data").symlink_to(version.name)
        for name in ("token", "ca.crt"):
            (base / name).symlink_to(f"..data/{name}")
    else:
        (base / "..data_tmp").symlink_to(version.name)
        (base / "..data_tmp").rename(base / "..data")
    return base


def kubeconfig(tmp_path: Path, server: str = "https://[fd00::1]:443") -> KubeconfigOptions:
    """Say where the kubeconfig is kept."""
    return KubeconfigOptions(
        path=str(tmp_path / "kubeconfig"),
        account_dir=str(account(tmp_path, "first")),
        server=server,
    )


@pytest.mark.parity("L8", "N7", "G26")
def test_l8_g26_a_new_token_is_written_at_once(node: CniNode, tmp_path: Path) -> None:
    """When the kubelet exchanges the token the kubeconfig follows, and readiness never flaps."""
    node.write("10-net.conflist", listed())
    options = kubeconfig(tmp_path)
    with node.kept(kubeconfig=options, poll=60.0) as kept:
        kept.wait_ready()
        looked = len(kept.heard)
        account(tmp_path, "second")
        kept.wait(lambda: "second" in Path(options.path).read_text())
        kept.wait(lambda: len(kept.heard) > looked)

        assert all(status.ready for status in kept.heard[looked:])


@pytest.mark.parity("L8", "N10")
@pytest.mark.parametrize("mesh", ["linkerd", "istio"])
def test_l8_n10_as_deployed_the_installer_keeps_its_own_kubeconfig(
    node: CniNode, mesh: str
) -> None:
    """As each variant deploys it the keeper writes no kubeconfig: the mesh's installer makes it and
    follows its token, and what it wrote stays to the letter while the chain is kept. One is written
    for a plugin that has no installer, where `[chain.kubeconfig]` asks for it.
    """
    chain = load_config(DEPLOY / mesh / "agent.toml")[0].chain
    assert chain is not None
    assert chain.kubeconfig is None
    entry = {"type": chain.type, "name": chain.type, "kubeconfig": "ZZZ-kubeconfig"}
    theirs = node.write("ZZZ-kubeconfig", "token: first")
    node.program(chain.type)
    node.write("10-net.conflist", listed(BRIDGE, entry))
    with node.kept(entry="", type=chain.type) as kept:
        kept.wait_ready()
        theirs.write_text("token: second")
        before = theirs.stat()
        node.write("10-net.conflist", listed(BRIDGE))
        kept.wait(lambda: node.types("10-net.conflist") == ["bridge", chain.type])

    after = theirs.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    assert "token: second" == theirs.read_text()


def test_no_variant_writes_a_kubeconfig() -> None:
    """Neither a variant of kustomize nor the chart's own configuration asks for one."""
    assert [] == [
        str(path)
        for pattern in ("*/agent.toml", "chart/**/*.tpl")
        for path in DEPLOY.glob(pattern)
        if "kubeconfig" in path.read_text(encoding="utf-8")
    ]


@pytest.mark.parity("L9")
def test_l9_a_lost_watch_ends_nothing(node: CniNode) -> None:
    """The watched folder is removed and made again: the keeper goes on, and chains what comes."""
    node.write("10-net.conflist", listed())
    with node.kept(poll=60.0) as kept:
        kept.wait_ready()
        shutil.rmtree(node.conf)
        kept.wait_ready(ready=False)
        node.conf.mkdir()
        node.write("10-net.conflist", listed())
        kept.wait_ready()

        assert MESHED == node.types("10-net.conflist")


@pytest.mark.parity("L10")
def test_l10_n11_stopping_takes_it_out_when_asked_to(node: CniNode, tmp_path: Path) -> None:
    """Entry, kubeconfig and program go, and the single configuration is there again byte by
    byte.
    """
    source = tmp_path / "linkerd-cni"
    source.write_text("program")
    text = "{ " + single()[1:]
    node.write("10-net.conf", text)
    options = kubeconfig(tmp_path)
    with node.kept(remove_on_stop=True, kubeconfig=options, binaries=(str(source),)) as kept:
        kept.wait_ready()

    assert (["10-net.conf"], text) == (node.names(), (node.conf / "10-net.conf").read_text())
    assert not Path(options.path).exists()
    assert not (node.bin / "linkerd-cni").exists()
    assert [] == list(node.conf.glob("*.podpath-original"))


@pytest.mark.parity("L11", "N2")
def test_l11_n2_a_reader_never_sees_half_a_file(node: CniNode) -> None:
    """While the plugin is put in and taken out again and again, every read gives whole JSON; mode
    and owner stay.
    """
    path = node.write("10-net.conflist", listed(*[BRIDGE] * 200))
    path.chmod(0o640)
    seen: list[int] = []
    over = threading.Event()

    def read() -> None:
        while not over.is_set():
            seen.append(len(json.loads(path.read_text())["plugins"]))

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(50):
        node.look()
        node.remove()
    over.set()
    reader.join()

    assert {200, 201} >= set(seen)
    assert len(seen) > 50
    assert 0o640 == stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parity("L12")
def test_l12_stopping_takes_no_time(node: CniNode) -> None:
    """It ends at once when told to: no hook that sleeps is needed."""
    node.write("10-net.conflist", listed())
    with node.kept() as kept:
        kept.wait_ready()
        started = time.monotonic()

    assert time.monotonic() - started < 30


@pytest.mark.parity("N1")
def test_n1_an_invalid_file_is_passed_over_as_the_runtime_does(node: CniNode) -> None:
    """CRI-O passes over it and its next file is chained; containerd loads nothing, and that is told
    instead of hidden.
    """
    node.write("05-bad.conflist", '{"name": "bad", "plugins": []}')
    node.write("10-net.conflist", listed())
    look = node.look()

    assert MESHED == node.types("10-net.conflist")
    assert (("cri-o",), False) == (look.chained, look.holds)
    assert node.look(runtime="cri-o").holds


@pytest.mark.parity("N1")
def test_n1_a_named_file_behind_a_meta_plugin(node: CniNode) -> None:
    """With Multus in front the plugin goes into the file that Multus delegates to; behind any other
    file it is not ready.
    """
    node.write("00-multus.conf", single({"type": "multus"}, name="multus"))
    node.write("10-net.conf", single())
    node.program("multus")
    first, second = node.look(conf_name="10-net.conf"), node.look(conf_name="10-net.conf")

    assert (True, ("10-net.conflist",), ()) == (first.holds, first.edited, second.edited)
    assert (node.conf / "00-multus.conf").exists()
    node.write("05-other.conflist", listed(name="other"))
    (node.conf / "00-multus.conf").unlink()
    assert not node.look(conf_name="10-net.conf").holds


@pytest.mark.parity("N4")
def test_n4_the_entry_has_no_version_of_its_own(node: CniNode) -> None:
    """What belongs to the list is left out of the entry."""
    node.write("10-net.conflist", listed())
    node.look(entry=json.dumps({"cniVersion": "0.3.1", "name": "x", **MESH}))

    assert MESH == json.loads((node.conf / "10-net.conflist").read_text())["plugins"][-1]


@pytest.mark.parity("N5", "G3", "G16")
def test_n5_g16_ready_means_in_effect(node: CniNode) -> None:
    """Ready is what the runtime would load: an entry in another file, in the first place or one
    that libcni refuses is not enough; what its installer wrote is.
    """
    node.write("20-other.conflist", listed(BRIDGE, MESH, name="other"))
    for plugins in ([BRIDGE], [MESH, BRIDGE], [BRIDGE, {"type": "linkerd-cni", "ipam": 1}]):
        node.write("10-net.conflist", listed(*plugins))
        guard = node.guard(dry_run=True)
        assert ("10-net.conflist",) == guard.look(1.0).edited
        assert not guard.look(1.0).holds
        assert node.look().holds
        assert [BRIDGE, MESH] == json.loads((node.conf / "10-net.conflist").read_text())["plugins"]
    node.write("10-net.conflist", listed(BRIDGE, {"type": "linkerd-cni", "new": True}))
    assert ((), True) == (node.look().edited, node.look().holds)


@pytest.mark.parity("N6")
def test_n6_a_file_that_comes_to_stand_first_is_chained_again_and_again(node: CniNode) -> None:
    """After the first installation, a second and a third file that sorts before it are chained too;
    ready says the truth.
    """
    node.write("50-net.conflist", listed())
    with node.kept(poll=60.0) as kept:
        kept.wait_ready()
        for name in ("40-net.conflist", "30-net.conf", "20-net.conflist"):
            node.write(name, listed(name=name) if name.endswith("list") else single(name=name))
            target = name.removesuffix(".conf").removesuffix(".conflist") + ".conflist"
            kept.wait(
                lambda target=target: (  # type: ignore[misc]  # bound now
                    (node.conf / target).exists() and "linkerd-cni" in node.types(target)
                )
            )
        kept.wait_ready()


@pytest.mark.parity("N7")
def test_n7_a_program_that_goes_is_put_back(node: CniNode, tmp_path: Path) -> None:
    """The programs are watched as the configurations are."""
    source = tmp_path / "linkerd-cni"
    source.write_text("program")
    node.write("10-net.conflist", listed())
    with node.kept(binaries=(str(source),), poll=60.0) as kept:
        kept.wait_ready()
        (node.bin / "linkerd-cni").unlink()
        kept.wait(
            lambda: (
                (node.bin / "linkerd-cni").exists()
                and (node.bin / "linkerd-cni").read_text() == "program"
            )
        )


@pytest.mark.parity("N8")
def test_n8_readiness_and_counts_are_told(node: CniNode) -> None:
    """Each report has whether the plugin is in effect, looks and edits."""
    with node.kept(poll=60.0) as kept:
        kept.wait_ready(ready=False)
        assert (0.0, 0.0) == (
            sample(kept.last, "chain_in_effect"),
            sample(kept.last, "chain_edits"),
        )
        node.write("10-net.conflist", listed())
        kept.wait_ready()

        assert (1.0, 1.0) == (
            sample(kept.last, "chain_in_effect"),
            sample(kept.last, "chain_edits"),
        )


def rivalry(revert: Callable[[], object], seconds: float, every: float) -> None:
    """Revert again and again."""
    over = time.monotonic() + seconds
    while time.monotonic() < over:
        revert()
        time.sleep(every)


@pytest.mark.parity("N9", "G7")
def test_n9_g6_g7_a_rival_is_named_and_not_raced(
    node: CniNode, caplog: pytest.LogCaptureFixture
) -> None:
    """Who reverts more than a few times is told with the setting that makes peace; the keeper slows
    down and stays calm.
    """
    cilium = listed({"type": "cilium-cni"}, name="cilium")
    (node.conf / "10-linkerd.conflist.cilium_bak").write_text("{}")
    with node.kept(poll=60.0, longest_pause=2.0) as kept:
        began = time.process_time()
        rivalry(lambda: node.write("05-cilium.conflist", cilium), seconds=2.5, every=0.06)
        spent = time.process_time() - began
        kept.wait(lambda: any(finding.check == "chain-fight" for finding in kept.last.findings))
        fight = next(finding for finding in kept.last.findings if finding.check == "chain-fight")

        assert "Cilium keeps taking linkerd-cni out of the chain" == fight.claim
        assert 1 == sum(fight.claim in record.message for record in caplog.records)
        assert ("set cni.exclusive=false in Cilium's Helm values",) == fight.mend
        assert any("10-linkerd.conflist.cilium_bak" in sign for sign in fight.evidence)
        assert sample(kept.last, "chain_edits") < 10
        assert spent < 1.0
        kept.wait_ready()  # it wins when the rival rests

        assert ["cilium-cni", "linkerd-cni"] == node.types("05-cilium.conflist")


@pytest.mark.parity("N10")
def test_n10_the_kubeconfig_is_private_and_knows_ipv6(node: CniNode, tmp_path: Path) -> None:
    """Mode 0600 also where it was wider before; an IPv6 service gets its brackets; nothing secret
    is in a message.
    """
    options = kubeconfig(tmp_path, server="")
    Path(options.path).write_text("old")
    Path(options.path).chmod(0o644)
    node.write("10-net.conflist", listed())
    os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT"] = (
        "fd00:10::1",
        "6443",
    )
    try:
        look = node.look(kubeconfig=options)
    finally:
        del os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT"]
    written = json.loads(Path(options.path).read_text())

    assert look.holds
    assert 0o600 == stat.S_IMODE(Path(options.path).stat().st_mode)
    assert "https://[fd00:10::1]:6443" == written["clusters"][0]["cluster"]["server"]
    assert ["https://10.0.0.1:443", "https://api.test:1", "https://[::1]:443"] == [
        make_server({"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port})
        for host, port in (("10.0.0.1", "443"), ("api.test", "1"), ("[::1]", "443"))
    ]
    with pytest.raises(KubeconfigError, match="expected KUBERNETES_SERVICE_HOST"):
        make_server({})


@pytest.mark.parity("N10")
def test_n10_a_broken_account_is_told_without_its_secret(node: CniNode, tmp_path: Path) -> None:
    """Without a token nothing is chained, and the message names the folder, not what is in it."""
    options = kubeconfig(tmp_path)
    (tmp_path / "account" / "..data" / "token").write_text("")
    node.write("10-net.conflist", listed())
    look = node.look(kubeconfig=options)

    assert (False, ["bridge"]) == (look.holds, node.types("10-net.conflist"))
    assert "saw an empty file" in look.troubles[0].claim


@pytest.mark.parity("N11", "G11")
def test_n11_g11_what_cannot_be_taken_out_keeps_its_program(node: CniNode, tmp_path: Path) -> None:
    """Where a file cannot be mended the program stays: a chain that calls a missing program would
    stop the node.
    """
    source = tmp_path / "linkerd-cni"
    source.write_text("program")
    node.write("10-net.conflist", listed())
    node.write("20-other.conflist", listed(name="other"))
    node.look(scope="every", binaries=(str(source),))
    other = node.root / "elsewhere"
    (node.conf / "20-other.conflist").rename(other)
    (node.conf / "20-other.conflist").symlink_to(other)
    removal = node.remove(binaries=(str(source),))

    assert (["bridge"], MESHED) == (node.types("10-net.conflist"), node.types("20-other.conflist"))
    assert (node.bin / "linkerd-cni").exists()
    assert "symbolic link" in removal.left[0]

    (node.conf / "20-other.conflist").unlink()
    assert () == node.remove(binaries=(str(source),)).left
    assert not (node.bin / "linkerd-cni").exists()


@pytest.mark.parity("N12", "G12")
def test_n12_the_chain_outlives_the_keeper(node: CniNode) -> None:
    """Stopped without being asked to remove, it leaves the plugin in place: pods wait for it and
    none bypasses it.
    """
    node.write("10-net.conflist", listed())
    with node.kept() as kept:
        kept.wait_ready()

    assert MESHED == node.types("10-net.conflist")


@pytest.mark.parity("D4")
def test_d4_our_writes_are_heard_by_both_runtimes(node: CniNode) -> None:
    """A file is renamed within its folder (containerd heeds Rename, CRI-O Create), and a wrapped
    one is removed at the end.
    """
    node.write("10-net.conf", single())
    with INotify() as heard:
        heard.add_watch(node.conf, flags.MOVED_FROM | flags.MOVED_TO | flags.DELETE)
        node.look()
        events = [
            (flags.from_mask(event.mask)[0].name, event.name)
            for event in heard.read(timeout=30_000)
        ]
    temporary = next(
        name
        for kind, name in events
        if kind == "MOVED_FROM" and name.startswith(".10-net.conflist.")
    )

    assert not temporary.endswith((".conf", ".conflist", ".json"))
    assert ("MOVED_TO", "10-net.conflist") in events
    assert events.index(("MOVED_TO", "10-net.conflist")) < events.index(
        ("MOVED_FROM", "10-net.conf")
    )
    assert ("DELETE", ".10-net.conf") == (events[-1][0], events[-1][1][: len(".10-net.conf")])


@pytest.mark.parity("D6")
def test_d6_a_folder_that_went_and_came_is_kept(node: CniNode) -> None:
    """containerd polls for a removed folder and loads what is in the new one: the plugin is in that
    before or soon after.
    """
    node.write("10-net.conflist", listed())
    with node.kept(poll=60.0) as kept:
        kept.wait_ready()
        node.conf.rename(node.root / "gone")
        kept.wait_ready(ready=False)
        assert "cannot be listed" in kept.last.why
        fresh = node.root / "fresh"
        fresh.mkdir()
        (fresh / "10-net.conflist").write_text(listed())
        fresh.rename(node.conf)
        kept.wait_ready()


@pytest.mark.parity("G4")
def test_g4_g5_an_upgrade_of_the_vendor_is_chained_again(node: CniNode) -> None:
    """Each new version of the vendor's file gets the plugin, and its original is the new one."""
    with node.kept(poll=60.0) as kept:
        for version in ("0.3.1", "0.4.0", "1.0.0"):
            text = listed(version=version)
            node.write("10-net.conflist", text)
            kept.wait(lambda: node.types("10-net.conflist") == MESHED)
            kept.wait(
                lambda text=text: (  # type: ignore[misc]  # bound now
                    (node.conf / "10-net.conflist.podpath-original").read_text() == text
                )
            )
    node.remove()

    assert listed(version="1.0.0") == (node.conf / "10-net.conflist").read_text()


@pytest.mark.parity("G4")
def test_g4_an_upgrade_of_a_single_configuration_replaces_its_list(node: CniNode) -> None:
    """A vendor that writes its single configuration anew gets one list of the new content, under
    the name that it had.
    """
    for name in ("first", "second", "third"):
        node.write("10-net.conf", single(name=name))
        node.look()
        assert (["10-net.conflist"], name) == (
            node.names(),
            json.loads((node.conf / "10-net.conflist").read_text())["name"],
        )
    node.write("10-net.conflist", listed(name="of-its-own"))
    for name in ("fourth", "fifth"):
        node.write("10-net.conf", single(name=name))
        node.look()
        chained = json.loads((node.conf / "10-net-chained.conflist").read_text())
        assert (["10-net-chained.conflist", "10-net.conflist"], name) == (
            node.names(),
            chained["name"],
        )
    node.remove()

    assert (["10-net.conf", "10-net.conflist"], single(name="fifth")) == (
        node.names(),
        (node.conf / "10-net.conf").read_text(),
    )


@pytest.mark.parity("G8")
def test_g8_removal_keeps_what_others_changed_since(node: CniNode) -> None:
    """Where somebody else has edited the chained file, only the entry is taken out of it."""
    path = node.write("10-net.conflist", listed())
    node.look()
    value = json.loads(path.read_text())
    value["plugins"].insert(1, dict(PORTMAP))
    path.write_text(json.dumps(value))
    node.remove()

    assert ["bridge", "portmap"] == node.types("10-net.conflist")


@pytest.mark.parity("G9")
def test_g9_half_a_file_is_never_touched(node: CniNode) -> None:
    """A vendor that writes in place is waited for: half its file is neither edited nor an end of
    the keeper.
    """
    with node.kept(poll=60.0) as kept:
        path = node.conf / "10-net.conflist"
        with path.open("w") as file:
            text = listed()
            for start in range(0, len(text), 40):
                file.write(text[start : start + 40])
                file.flush()
                time.sleep(0.05)
        kept.wait_ready()

        assert MESHED == node.types("10-net.conflist")


@pytest.mark.parity("G11")
def test_g11_nothing_is_chained_without_its_program(node: CniNode) -> None:
    """A plugin whose program is not there is not chained: it would stop every pod, its own
    installer's too.
    """
    (node.bin / "linkerd-cni").unlink()
    node.write("10-net.conflist", listed())
    look = node.look()

    assert (False, ["bridge"]) == (look.holds, node.types("10-net.conflist"))
    assert "would stop every pod" in look.troubles[0].claim


@pytest.mark.parity("P4")
def test_p4_a_drop_in_leaves_the_vendors_file_alone(node: CniNode) -> None:
    """By choice the entry stands in the network's own directory; the vendor's file is not touched,
    and removal takes it away.
    """
    path = node.write("10-net.conflist", listed())
    before = path.stat()
    look = node.look(drop_in=True)

    assert look.holds
    assert MESH == json.loads((node.conf / "k8s" / "linkerd-cni.conf").read_text())
    assert before.st_ino == path.stat().st_ino
    assert node.look(drop_in=True).edited == ()
    node.remove(drop_in=True)
    assert not (node.conf / "k8s" / "linkerd-cni.conf").exists()


def test_p4_where_no_drop_in_is_read_the_file_is_edited(node: CniNode) -> None:
    """A single configuration has no drop-ins, nor has a list that says so."""
    node.write("10-net.conf", single())
    node.look(drop_in=True)
    node.write("05-net.conflist", listed(loadOnlyInlinedPlugins=True, name="closed"))
    node.look(drop_in=True)

    assert (MESHED, MESHED) == (node.types("10-net.conflist"), node.types("05-net.conflist"))
