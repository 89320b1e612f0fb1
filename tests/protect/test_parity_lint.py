"""Parity with what containerd and CRI-O load (rows D) and with libcni's own rules (rows P): one
folder, two verdicts.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from podpath.cni.conf import ConfFile, ConfProblem, Network, parse_network
from podpath.cni.lint import Lint, Remark, lint_folder
from podpath.cni.runtimes import Programs, RuntimeSettings, judge_containerd, judge_crio
from tests.protect.folders import BRIDGE, MESH, PORTMAP, folder, listed, single

SETTINGS = RuntimeSettings()


def lint(
    _programs: Programs | None = None, _settings: RuntimeSettings = SETTINGS, /, **files: str
) -> Lint:
    """Judge a folder."""
    return lint_folder(folder(**files), _settings, _programs)


def taken(found: Lint) -> tuple[str | None, str | None]:
    """Return the files that containerd and CRI-O take."""
    containerd, crio = found.verdicts
    return containerd.file, crio.file


def rows(found: Lint, severity: str = "error") -> set[str]:
    """Return the rows of the remarks of a severity."""
    return {remark.row for remark in found.remarks if remark.severity == severity}


def remark(found: Lint, row: str) -> Remark:
    """Return the first remark of a row."""
    return next(one for one in found.remarks if one.row == row)


def trouble(text: str, name: str = "10.conflist", **more: Any) -> str:  # noqa: ANN401  # the parser's own options
    """Return why a file is refused."""
    found = parse_network(ConfFile(name=name, content=text.encode()), **more)
    assert isinstance(found, ConfProblem), found
    return f"{found.row} {found.line}: {found.why}"


def network(text: str, name: str = "10.conflist") -> Network:
    """Return the network of a file that is taken."""
    found = parse_network(ConfFile(name=name, content=text.encode()))
    assert isinstance(found, Network), found
    return found


@pytest.mark.parity("D1")
def test_d1_the_first_file_by_name_of_three_extensions() -> None:
    """Both take the first by bytes among .conf, .conflist and .json; others are not read, hidden
    ones are.
    """
    found = lint(
        a20_conflist=listed(),
        a10_json=single(),
        **{"a05.conf_bak": single(), "a05.conf_podpath-original": single()},
        a00_txt=single(),
        B_conf=single(name="b"),
    )
    hidden = lint_folder(
        [
            *folder(a10_conflist=listed()),
            ConfFile(name=".old.conf", content=single(name="o").encode()),
        ],
        SETTINGS,
    )

    assert ("10.json", "10.json") == taken(found)
    assert ["05.conf.bak"] == [
        one.file for one in found.remarks if one.claim.startswith("its extension")
    ]
    assert ["10.json", "20.conflist", "B.conf"] == [
        decision.file for decision in found.verdicts[0].decisions
    ]
    assert (".old.conf", ".old.conf") == taken(hidden)
    assert "it is hidden" in remark(hidden, "D1").claim


@pytest.mark.parity("D1")
def test_d1_further_files_are_held_by_the_settings() -> None:
    """containerd takes as many as max_conf_num; CRI-O holds all, one for each name, and may be told
    its default.
    """
    files = folder(
        a10_conflist=listed(name="a"), a20_conflist=listed(name="b"), a30_conf=single(name="a")
    )

    assert ["10.conflist", "20.conflist"] == [
        network.file for verdict in [judge_containerd(files, RuntimeSettings(max_conf_num=2))]
        for network in (verdict.network, *verdict.others) if network
    ]  # fmt: skip
    assert "20.conflist" == judge_crio(files, RuntimeSettings(default_network="b")).file
    assert (
        judge_crio(files, RuntimeSettings(default_network="x")).why_none
        == "no file has the network 'x'"
    )
    assert "has a network 'a' already" in judge_crio(files, SETTINGS).decisions[2].why


@pytest.mark.parity("D2")
@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"name": "x"} x', '{"a": NaN}', "\ufeff{}", "null", "[" * 100_000]
)
def test_d2_a_broken_first_file(text: str) -> None:
    """containerd loads nothing then and the node is not ready; CRI-O goes on to the next file,
    another network.
    """
    found = lint(a05_conflist=text, a10_conflist=listed())

    assert (None, "10.conflist") == taken(found)
    assert "D2" in rows(found)
    assert "05.conflist:1" in found.verdicts[0].why_none
    assert ["fails", "not reached"] == [decision.action for decision in found.verdicts[0].decisions]
    assert ["skipped", "loaded"] == [decision.action for decision in found.verdicts[1].decisions]


@pytest.mark.parity("D2")
def test_d2_a_broken_later_file_is_no_error() -> None:
    """Behind the first good file containerd looks no further; who loads by name still fails."""
    found = lint(a05_conflist=listed(), a10_conflist="{")

    assert ("05.conflist", "05.conflist") == taken(found)
    assert set() == rows(found)
    assert {"D2"} == rows(found, "warning")
    assert "P6" in rows(found, "note")


def test_d2_a_file_that_cannot_be_read() -> None:
    """A link to nothing, or a directory under the name, breaks containerd as a broken file does."""
    files = [
        ConfFile(name="05.conf", content=None, obstacle="No such file or directory"),
        *folder(a10_conflist=listed()),
    ]
    found = lint_folder(files, SETTINGS)

    assert (None, "10.conflist") == taken(found)


@pytest.mark.parity("D3")
def test_d3_a_missing_program() -> None:
    """containerd does not look and every pod fails; CRI-O passes the whole list over and pods
    bypass the chain.
    """
    files = {"a05_conflist": listed(BRIDGE, MESH), "a10_conflist": listed(BRIDGE, name="other")}
    found = lint({"bridge": ()}, **files)

    assert ("05.conflist", "10.conflist") == taken(found)
    assert "the program of the plugin linkerd-cni is not there" in remark(found, "D3").claim
    assert ("05.conflist", "05.conflist") == taken(lint({"bridge": (), "linkerd-cni": ()}, **files))


@pytest.mark.parity("D4")
def test_d4_a_symbolic_link_is_warned_of() -> None:
    """containerd heeds no creation, and a link that is made is nothing else."""
    found = lint_folder(
        [ConfFile(name="05.conf", content=single().encode(), is_link=True)], SETTINGS
    )

    assert {"D4"} == rows(found, "warning")


@pytest.mark.parity("D5")
def test_d5_a_list_under_a_single_name() -> None:
    """A list of plugins in a .conf is an error for containerd and passed over by CRI-O; the reason
    says what to do.
    """
    found = lint(a05_conf=listed(), a10_conflist=listed())

    assert (None, "10.conflist") == taken(found)
    assert "it must end in .conflist" in remark(found, "D5").claim


def test_d2_an_empty_folder() -> None:
    """Where there is no file neither has a network."""
    found = lint_folder([], SETTINGS)

    assert (None, None) == taken(found)
    assert "no file ends in .conf, .conflist or .json" in remark(found, "D2").claim


@pytest.mark.parity("D7")
def test_d7_status_is_told() -> None:
    """From version 1.1.0 on every plugin is asked for its STATUS; before, a node is ready although
    a plugin may not be.
    """
    assert "D7" in rows(lint(a10_conflist=listed(version="1.1.0")), "note")
    assert "P9" in rows(lint(a10_conflist=listed(version="1.0.0")), "note")


@pytest.mark.parity("P1")
def test_p1_the_name() -> None:
    """It must be there and a string; one that no pod could be added to is loaded, and told."""
    assert "P1 1: it has no name" == trouble('{"plugins": [{"type": "a"}]}')
    assert "P1 2: its name is no string but float64" == trouble(
        '{"plugins": [{"type": "a"}],\n"name": 7}'
    )
    found = lint(a10_conflist=listed(name="k8s pod"))
    assert ("10.conflist", {"P1"}) == (taken(found)[0], rows(found))
    assert {"P1"} == rows(lint(a10_conf=single(name="")))
    assert set() == rows(lint(a10_conflist=listed(name="k8s-pod.net_work")))


@pytest.mark.parity("P2")
@pytest.mark.parametrize(
    ("more", "chosen"),
    [
        ({}, "1.0.0"),
        ({"cniVersions": ["0.4.0", "1.1.0", "0.3.1"]}, "1.1.0"),
        ({"cniVersions": ["0.4.0"]}, "1.0.0"),
        ({"cniVersions": ["1.2.0", "0.4.0"]}, "1.0.0"),
        ({"cniVersions": ["1.2.0"], "cniVersion": ""}, ""),
        ({"cniVersion": "9.9.9"}, "9.9.9"),
    ],
)
def test_p2_the_highest_version_that_is_known(more: dict[str, object], chosen: str) -> None:
    """Of both keys the highest; newer ones than libcni are dropped where cniVersions is there, and
    only there.
    """
    assert chosen == network(json.dumps(json.loads(listed()) | more)).version


@pytest.mark.parity("P2")
def test_p2_wrong_versions() -> None:
    """A version that is none is refused in cniVersions, and told where it alone stands."""
    assert "'one' is no version" in trouble(listed(cniVersions=["one"]))
    assert "no list of strings" in trouble(listed(cniVersions="1.0.0"))
    assert "no string" in trouble(listed().replace('"1.0.0"', "1"))
    assert {"P2"} == rows(lint(a10_conflist=listed(version="one")))
    assert {"P2"} == rows(lint(a10_conflist=listed(version="1.2.0")), "warning")


@pytest.mark.parity("P3")
@pytest.mark.parametrize("flag", ["disableCheck", "disableGC", "loadOnlyInlinedPlugins"])
def test_p3_booleans(flag: str) -> None:
    """True and false, or those words in any case; all else is an error."""

    def flagged(value: object) -> str:
        return json.dumps(json.loads(listed()) | {flag: value})

    for value, expected in ((True, (flag,)), ("TRUE", (flag,)), (False, ()), ("False", ())):
        assert expected == network(flagged(value)).flags
    for wrong in ("yes", 1, None, ""):
        assert trouble(flagged(wrong)).startswith("P3 ")


@pytest.mark.parity("P4")
def test_p4_the_list_of_plugins() -> None:
    """Absent with loadOnlyInlinedPlugins, empty, or no list: errors; absent otherwise means the
    drop-in directory.
    """
    bare = '{"name": "k8s", "cniVersion": "1.0.0"'
    assert "P4" in trouble(bare + ', "loadOnlyInlinedPlugins": true}')
    assert "its list of plugins is empty" in trouble(bare + ', "plugins": []}')
    assert "its plugins are no list" in trouble(bare + ', "plugins": {}}')
    assert "it lists no plugin, and k8s/ has none either" in trouble(bare + "}")
    assert "it has no key plugins" in trouble(bare + "}", drop_ins=False)


@pytest.mark.parity("P4")
def test_p4_drop_ins_are_appended() -> None:
    """Plugins of the directory named after the network come behind the inline ones, by name, where
    libcni is new enough.
    """
    files = {
        "a10_conflist": listed(),
        "k8s__20_conf": single(MESH),
        "k8s__10_conf": single(PORTMAP),
        "other__5_conf": single(MESH),
    }
    new, old = lint(**files), lint(None, RuntimeSettings(drop_ins=False), **files)
    only = lint(a10_conflist=listed(loadOnlyInlinedPlugins=True), k8s__20_conf=single(MESH))

    assert [("bridge", "portmap", "linkerd-cni")] * 2 == [
        verdict.network.types for verdict in new.verdicts if verdict.network
    ]
    assert [("bridge",)] * 2 == [
        verdict.network.types for verdict in old.verdicts if verdict.network
    ]
    assert "no list here is called 'other'" in remark(new, "P4").claim
    assert "P4" in rows(old)
    assert "loadOnlyInlinedPlugins" in remark(only, "P4").claim
    assert "k8s/20.conf" in lint(a10_conflist=listed(), k8s__20_conf="{").verdicts[0].why_none


@pytest.mark.parity("P5")
def test_p5_each_plugin_has_a_type() -> None:
    """Without a type, or with one that is no string, the file is refused; its key may be in any
    case; reserved keys are told.
    """
    assert "plugin 2 has no type" in trouble(listed(BRIDGE, {"name": "x"}))
    assert "the type of plugin 1 is no string" in trouble(listed({"type": 1}))
    assert "plugin 1 is no object" in trouble('{"name": "a", "plugins": [7]}')
    assert "the capabilities of plugin 1" in trouble(
        listed({"type": "a", "capabilities": {"x": "yes"}})
    )
    assert ("bridge",) == network(listed({"Type": "bridge"})).types
    found = lint(
        a10_conflist=listed({**BRIDGE, "runtimeConfig": {}, "cni.dev/valid-attachments": []})
    )
    assert "cni.dev/valid-attachments, runtimeConfig" in remark(found, "P5").claim


@pytest.mark.parity("P6")
def test_p6_loading_by_name() -> None:
    """Who loads a network by name fails over any file that is broken, and sees the first of a name
    only.
    """
    found = lint(a10_conflist=listed(), a20_conflist=listed(), a30_conflist="{")

    assert "20.conflist" == remark(found, "P6").file
    assert {"P6", "D2"} == rows(found, "warning")


@pytest.mark.parity("P7")
def test_p7_the_order_of_the_chain() -> None:
    """A plugin that makes no interface cannot come first: adding a pod would fail."""
    assert {"P7"} == rows(lint(a10_conflist=listed(PORTMAP, BRIDGE)))
    assert set() == rows(lint(a10_conflist=listed(BRIDGE, PORTMAP)))


@pytest.mark.parity("P8")
def test_p8_check_needs_0_4_0() -> None:
    """Older lists have no CHECK, and disableCheck makes it succeed always."""
    assert "P8" in rows(lint(a10_conflist=listed(version="0.3.1")), "note")
    assert "P8" in rows(lint(a10_conflist=listed(disableCheck=True)), "note")


@pytest.mark.parity("P9")
def test_p9_status_needs_1_1_0() -> None:
    """Older lists succeed silently."""
    assert "has neither STATUS nor GC" in remark(lint(a10_conflist=listed()), "P9").claim


@pytest.mark.parity("P10")
def test_p10_garbage_collection_may_be_off() -> None:
    """With disableGC what pods left behind stays."""
    assert "P10" in rows(lint(a10_conflist=listed(disableGC=True)), "note")


@pytest.mark.parity("P11")
def test_p11_the_version_probe() -> None:
    """A plugin that does not support the list's version makes CRI-O take the next file; an empty
    version is 0.1.0.
    """
    files = {"a05_conflist": listed(version="1.1.0"), "a10_conflist": listed(name="other")}
    found = lint({"bridge": ("0.4.0", "1.0.0")}, **files)

    assert ("05.conflist", "10.conflist") == taken(found)
    assert "does not support version 1.1.0" in remark(found, "P11").claim
    assert ("05.conflist", "05.conflist") == taken(
        lint({"bridge": ("0.1.0",)}, a05_conflist=listed(version=""))
    )


def test_l3_a_plugin_twice_in_the_chain() -> None:
    """An installer that appends without removing its older entry is told."""
    assert {"L3"} == rows(lint(a10_conflist=listed(BRIDGE, MESH, MESH)))


@pytest.mark.parity("G7")
def test_g7_what_cilium_sets_aside_is_named() -> None:
    """A file renamed to .cilium_bak names the setting that did it."""
    files = [
        *folder(a05_conflist=listed()),
        ConfFile(name="10-linkerd.conflist.cilium_bak", content=b"{}"),
    ]

    assert "cni.exclusive=false" in remark(lint_folder(files, SETTINGS), "G7").mend


@pytest.mark.parity("G25")
def test_g25_init_containers_without_network_are_warned_of() -> None:
    """A mesh's plugin redirects before the proxy runs."""
    assert (
        "init containers have no network"
        in remark(lint(a10_conflist=listed(BRIDGE, MESH)), "G25").claim
    )


def test_n6_a_mesh_outside_of_the_loaded_file() -> None:
    """A file that came to stand before it takes its pods away."""
    found = lint(a05_conflist=listed(name="new"), a10_conflist=listed(BRIDGE, MESH))

    assert {"N6"} == rows(found)
    assert "containerd takes 05.conflist" in remark(found, "N6").claim
