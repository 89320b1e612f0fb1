"""The keeper of the chain beside linkerd's and Istio's own installers, interleaved by lot: it ends
with what they wrote, and never fights.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from podpath.cni.conf import Network
from podpath.cni.runtimes import RuntimeSettings, judge_containerd
from podpath_protect.apply import Applier, Effect
from podpath_protect.chain.folder import read_folder
from podpath_protect.chain.guard import ChainGuard
from podpath_protect.chain.options import ChainOptions
from podpath_protect.chain.removal import remove
from tests.protect.folders import BRIDGE, PORTMAP, listed, single
from tests.protect.installers import Installer, IstioInstaller, LinkerdInstaller, Steps
from tests.protect.nodes import CniNode

MEMORY = Path("/dev/shm")  # noqa: S108  # a tmpfs: nothing here is about the disk
END = object()
ROUNDS = 25
SEEDS = int(os.environ.get("PODPATH_INTERLEAVINGS", "12"))
"""Interleavings of each of the nineteen scenarios; 53 make a thousand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interrupted(Applier):
    """An applier beside which others run between the look and the action."""

    others: list[Steps] = field(default_factory=list)
    draw: random.Random = field(default_factory=random.Random)

    def write_file(
        self,
        path: Path,
        content: bytes,
        *,
        mode: int | None = None,
        new_mode: int = 0o600,
        expect: bytes | None = None,
    ) -> Effect:
        """Let others run, then write."""
        for _ in range(self.draw.randrange(3)):
            step(self.others, self.draw)
        return Applier.write_file(self, path, content, mode=mode, new_mode=new_mode, expect=expect)


def step(tasks: list[Steps], draw: random.Random) -> None:
    """Run one step of one task."""
    if tasks:
        task = draw.choice(tasks)
        if next(task, END) is END:
            tasks.remove(task)


@dataclass
class Play:
    """A node with installers, a vendor and a guard for each mesh, whose steps are drawn by lot."""

    root: Path
    draw: random.Random
    installers: Sequence[Installer] = ()
    clock: float = 0.0
    edits: int = 0
    tasks: list[Steps] = field(default_factory=list)
    watching: dict[int, Steps] = field(default_factory=dict)
    """The one loop in which each installer hears of changes."""

    def __post_init__(self) -> None:
        """Make the node, with a vendor's network."""
        self.node = CniNode(self.root)
        (self.node.bin / "linkerd-cni").unlink()
        self.vendor = 0
        self.guards: list[ChainGuard] = []

    def guard(self, kind: str) -> None:
        """Let a mesh's plugin be kept."""
        options = ChainOptions(
            type=kind,
            conf_dir=str(self.node.conf),
            bin_dirs=(str(self.node.bin),),
            remember=str(self.root / f"{kind}.json"),
            longest_pause=1.0,
        )
        self.guards.append(ChainGuard(options, Interrupted(others=self.tasks, draw=self.draw)))

    def write_network(self, name: str = "10-net.conflist") -> Steps:
        """Let the vendor write its network anew, by renaming or in place, without any mesh."""
        self.vendor += 1
        plugins = [{**BRIDGE, "mtu": 1400 + self.vendor}, PORTMAP]
        text = listed(*plugins) if name.endswith("list") else single(plugins[0])
        if self.draw.random() < 0.5:
            self.node.write(name, text)
        else:
            (self.node.conf / name).write_text("")
            yield
            (self.node.conf / name).write_text(text)
        yield

    def look(self) -> Steps:
        """Let each guard look once."""
        for guard in self.guards:
            self.clock += 0.02
            self.edits += len(guard.look(self.clock).edited)
            yield

    def glance(self) -> None:
        """Let every guard look."""
        for _ in self.look():
            pass

    def run(self, *tasks: Steps) -> None:
        """Run tasks to their end, in an order drawn by lot, guards and watches among them."""
        self.tasks += tasks
        while self.tasks:
            if self.draw.random() < 0.3:
                self.glance()
            for number, each in enumerate(self.installers):
                if self.watching.get(number) not in self.tasks and self.draw.random() < 0.3:
                    self.watching[number] = each.watch()
                    self.tasks.append(self.watching[number])
            step(self.tasks, self.draw)

    def settle(self) -> int:
        """Let all react to each other until nobody does anything twice; return the rounds in which
        somebody did.
        """
        quiet = 0
        for rounds in range(ROUNDS):
            before = {path: path.read_bytes() for path in self.node.conf.glob("*.conf*")}
            for each in self.installers:
                for _ in each.watch():
                    pass
            self.clock += 3.0
            self.glance()
            same = before == {path: path.read_bytes() for path in self.node.conf.glob("*.conf*")}
            quiet = quiet + 1 if same else 0
            if quiet == 2:
                return rounds - 1
        return ROUNDS

    @property
    def network(self) -> Network:
        """What containerd would load."""
        found = judge_containerd(read_folder(self.node.conf), RuntimeSettings()).network
        assert found is not None
        return found

    def entries(self, kind: str) -> list[object]:
        """Return the entries of a plugin in what would be loaded."""
        return [plugin.conf for plugin in self.network.plugins if plugin.type == kind]


KINDS: dict[str, type[LinkerdInstaller | IstioInstaller]] = {
    "linkerd": LinkerdInstaller,
    "istio": IstioInstaller,
}
FORMS = ("10-net.conflist", "10-net.conf")


def played(root: Path, seed: int, *meshes: str, form: str = FORMS[0]) -> Play:
    """Make a play with the installers of meshes."""
    play = Play(root, random.Random(seed))
    play.installers = [KINDS[mesh](play.node.conf, play.node.bin) for mesh in meshes]
    for each in play.installers:
        play.guard(each.kind)
    for _ in play.write_network(form):
        pass
    return play


def check_end(play: Play, installed: Sequence[Installer], *, form: str = FORMS[0]) -> None:
    """Hold the end against what each installer chained, and against the vendor's last word."""
    kinds = [plugin.type for plugin in play.network.plugins]
    expected = ["bridge", "portmap"] if form.endswith("list") else ["bridge"]
    assert expected == kinds[: len(expected)]
    assert sorted(each.kind for each in installed) == sorted(kinds[len(expected) :])
    for each in installed:
        assert [each.entry] == play.entries(each.kind), "the installer's own entry, name and all"
    assert play.network.plugins[0].conf["mtu" if form.endswith("list") else "bridge"]
    assert not form.endswith("list") or play.network.plugins[0].conf["mtu"] == 1400 + play.vendor


MESHES = (("linkerd",), ("istio",), ("linkerd", "istio"))


@pytest.mark.parity("G6", "N5", "N9")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("meshes", MESHES, ids="+".join)
def test_an_installer_is_not_fought(meshes: tuple[str, ...], form: str) -> None:
    """Installed beside the keeper, in whatever order: the installer's entry stands once, as it
    wrote it, and when it is done nobody writes any more.
    """
    for seed in range(SEEDS):
        with TemporaryDirectory(dir=MEMORY) as root:
            play = played(Path(root), seed, *meshes, form=form)
            play.run(*(each.install() for each in play.installers))
            assert play.settle() < ROUNDS, seed
            edits = play.edits
            assert play.settle() == 0
            assert edits == play.edits
            check_end(play, play.installers, form=form)


@pytest.mark.parity("G4")
@pytest.mark.parametrize("meshes", MESHES, ids="+".join)
def test_an_upgrade_and_a_vendor_win(meshes: tuple[str, ...]) -> None:
    """The vendor's new network, then a newer release of the mesh with another schema: both are what
    stands at the end. The vendor and an installer at once may lose each other's writes, and so may
    two installers, without anybody else: linkerd's script puts a copy over what Istio's wrote
    meanwhile (26 of 200 without a keeper), so they are upgraded one after the other.
    """
    for seed in range(SEEDS):
        with TemporaryDirectory(dir=MEMORY) as root:
            play = played(Path(root), seed, *meshes)
            play.run(*(each.install() for each in play.installers))
            play.settle()
            for each in play.installers:
                each.version = 2
            for _ in play.write_network():
                play.glance()
            play.settle()
            for each in play.draw.sample(play.installers, len(play.installers)):
                play.run(each.install())
            assert play.settle() < ROUNDS, seed
            check_end(play, play.installers)


@pytest.mark.parity("G11")
@pytest.mark.parametrize("meshes", MESHES, ids="+".join)
def test_an_uninstalled_plugin_stops_no_pod(meshes: tuple[str, ...]) -> None:
    """Uninstalled while the keeper keeps it: no entry without its program stays, and the node's
    network is the vendor's.
    """
    for seed in range(SEEDS):
        with TemporaryDirectory(dir=MEMORY) as root:
            play = played(Path(root), seed, *meshes)
            play.run(*(each.install() for each in play.installers))
            play.settle()
            play.run(play.installers[0].uninstall())
            assert play.settle() < ROUNDS, seed
            check_end(play, play.installers[1:])
            assert not play.guards[0].look(play.clock).holds


@pytest.mark.parity("G4")
@pytest.mark.parametrize("meshes", MESHES, ids="+".join)
def test_a_replaced_installer_keeps_its_own_entry(meshes: tuple[str, ...]) -> None:
    """A rolling upgrade: the old pod cleans up, the new one installs; the keeper's memory of the
    old entry does not outlive it.
    """
    for seed in range(SEEDS):
        with TemporaryDirectory(dir=MEMORY) as root:
            play = played(Path(root), seed, *meshes)
            play.run(*(each.install() for each in play.installers))
            play.settle()
            play.run(play.installers[0].uninstall())
            fresh = KINDS[meshes[0]](play.node.conf, play.node.bin, version=2)
            play.installers = [fresh, *play.installers[1:]]
            play.run(fresh.install())
            assert play.settle() < ROUNDS, seed
            check_end(play, play.installers)


@pytest.mark.parity("G4")
@pytest.mark.parametrize("mesh", KINDS)
def test_a_vendor_without_the_mesh_is_mended_with_the_installers_entry(mesh: str) -> None:
    """The installer is gone for a while and the vendor writes its network anew: the keeper chains
    what the installer chained last, also when it was started again.
    """
    for seed in range(SEEDS):
        with TemporaryDirectory(dir=MEMORY) as root:
            play = played(Path(root), seed, mesh)
            play.run(play.installers[0].install())
            play.settle()
            play.installers[0].running = False
            play.run(play.write_network())
            play.guards.clear()
            play.guard(play.installers[0].kind)
            play.settle()
            check_end(play, play.installers)


@pytest.mark.parametrize("mesh", KINDS)
def test_removal_leaves_the_vendors_last_word(mesh: str) -> None:
    """Taken out while the vendor writes: what he wrote last is there, without the plugin, byte by
    byte where he wrote it himself.
    """
    for seed in range(SEEDS):
        with TemporaryDirectory(dir=MEMORY) as root:
            play = played(Path(root), seed, mesh)
            play.run(play.installers[0].install())
            play.settle()
            play.run(play.write_network())
            play.settle()
            play.installers[0].running = False
            (play.node.bin / play.installers[0].kind).unlink()
            guard = play.guards.pop()
            last = play.write_network()
            applier = Interrupted(others=[last], draw=play.draw)
            removal = remove(guard.options, applier)
            for _ in last:
                pass
            removal = remove(guard.options, Applier())
            assert () == removal.left
            check_end(play, ())


@pytest.mark.parity("N5")
def test_what_was_chained_by_hand_is_left(tmp_path: Path) -> None:
    """An entry with a name, with keys that nobody knows, behind others or before them, is none of
    ours to judge; one that libcni refuses is put right.
    """
    node = CniNode(tmp_path)
    for entry in ({"type": "linkerd-cni", "name": "x", "new": {"y": 1}}, {"type": "linkerd-cni"}):
        text = listed(BRIDGE, entry, PORTMAP)
        node.write("10-net.conflist", text)
        assert (True, ()) == (node.look().holds, node.look().edited)
        assert text == (node.conf / "10-net.conflist").read_text()
    node.write("10-net.conflist", listed(BRIDGE, {"type": "linkerd-cni", "capabilities": 1}))
    assert (("10-net.conflist",), True) == ((look := node.look()).edited, look.holds)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"name": "n", "plugins": [{"type": "bridge", "mtu": 1e999}]}', "the number 1e999"),
        ('{"name": "n", "plugins": [{"type": "bridge", "x": 0.12345678901234567890}]}', "0.1234"),
        ('{"name": "n\\ud800", "plugins": [{"type": "bridge"}]}', "half a character"),
        ('{"name": "n", "plugins": [{"type": "bridge", "type": "bridge"}]}', "stands twice"),
    ],
)
def test_what_would_become_another_thing_is_left_alone(tmp_path: Path, text: str, why: str) -> None:
    """A number that no float holds, half a character, a key that stands twice: the file stays to
    the letter, the keeper says why and is not ready, and `remove` changes nothing either.
    """
    node = CniNode(tmp_path)
    node.write("10-net.conflist", text)
    look = node.look()

    assert (False, ()) == (look.holds, look.edited)
    told = [each.claim for each in look.troubles] or [each.why_none for each in look.verdicts]
    assert any(why in each for each in told)
    assert text == (node.conf / "10-net.conflist").read_text()


def test_numbers_and_letters_survive(tmp_path: Path) -> None:
    """What a float holds exactly, large numbers and any letters are the same afterwards."""
    node = CniNode(tmp_path)
    odd = {"type": "bridge", "a": 1.5, "b": 10**40, "c": "größe \U0001f600 \x7f", "d": -0.0}
    node.write("10-net.conflist", json.dumps({"name": "n", "plugins": [odd]}))
    assert node.look().holds

    assert odd == json.loads((node.conf / "10-net.conflist").read_text())["plugins"][0]


@pytest.mark.parity("G11")
def test_an_entry_is_not_taken_out_where_another_folder_is_shown(tmp_path: Path) -> None:
    """Where none of the network's programs is in the folder that we see, it is not the runtime's:
    nothing is taken out of the chain.
    """
    node = CniNode(tmp_path)
    node.write("10-net.conflist", listed(BRIDGE, {"type": "linkerd-cni"}))
    for path in node.bin.iterdir():
        path.unlink()
    guard = node.guard()

    assert ((), ()) == (guard.look(1.0).edited, guard.look(100.0).edited)
    node.program("bridge")
    assert () == guard.look(101.0).edited
    assert ("10-net.conflist",) == guard.look(104.0).edited
    assert ["bridge"] == node.types("10-net.conflist")
