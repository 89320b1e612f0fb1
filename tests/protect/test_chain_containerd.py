"""What we say that containerd would load, held against a real containerd; and the keeper at work
beside one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from podpath.cni.lint import lint_folder
from podpath.cni.runtimes import RuntimeSettings, judge_containerd
from podpath_protect.chain.crictl import compare_loaded
from podpath_protect.chain.folder import read_folder
from tests.protect.containerd import Containerd, containerd
from tests.protect.folders import BRIDGE, MESH, PORTMAP, listed, single
from tests.protect.nodes import ENTRY, CniNode

pytestmark = pytest.mark.kernel("containerd", "curl")
SETTINGS = RuntimeSettings(drop_ins=False)
"""Debian 12's containerd is built with libcni 1.1."""
FOLDERS: Mapping[str, Mapping[str, str]] = {
    "nothing": {},
    "a list": {"10-a.conflist": listed()},
    "the first of three": {
        "20-a.conflist": listed(name="a"),
        "10-b.json": single(name="b"),
        "05.bak": single(name="c"),
    },
    "bytes decide": {
        "a.conf": single(name="small"),
        "B.conf": single(name="large"),
        "~.conf": single(name="tilde"),
    },
    "a hidden file": {".x.conf": single(name="hidden"), "10-a.conf": single(name="shown")},
    "the first is empty": {"05-a.conf": "", "10-b.conf": single()},
    "the first is cut off": {"05-a.conflist": listed()[:-9], "10-b.conf": single()},
    "a later one is broken": {"05-a.conflist": listed(), "10-b.conf": "{"},
    "a list in a .conf": {"05-a.conf": listed(), "10-b.conf": single()},
    "one plugin in a .conflist": {"05-a.conflist": single()},
    "no name in a list": {"05-a.conflist": '{"plugins": [{"type": "bridge"}]}'},
    "no name in one": {"05-a.conf": '{"type": "bridge"}'},
    "an empty name": {"05-a.conflist": listed(name="")},
    "a name of no use": {"05-a.conflist": listed(name="a b/c")},
    "a number for a name": {"05-a.conflist": '{"name": 1, "plugins": [{"type": "bridge"}]}'},
    "a number for a version": {
        "05-a.conflist": '{"name": "a", "cniVersion": 1, "plugins": [{"type": "bridge"}]}'
    },
    "no version": {"05-a.conflist": '{"name": "a", "plugins": [{"type": "bridge"}]}'},
    "a version of nobody": {"05-a.conflist": listed(version="nine")},
    "no plugins": {"05-a.conflist": '{"name": "a"}'},
    "an empty list": {"05-a.conflist": '{"name": "a", "plugins": []}'},
    "plugins that are no list": {"05-a.conflist": '{"name": "a", "plugins": {"type": "bridge"}}'},
    "a plugin without a type": {"05-a.conflist": listed(BRIDGE, {"name": "x"})},
    "a type that is a number": {"05-a.conflist": '{"name": "a", "plugins": [{"type": 1}]}'},
    "a type of null": {"05-a.conf": '{"name": "a", "type": null}'},
    "a plugin that is a number": {"05-a.conflist": '{"name": "a", "plugins": [7]}'},
    "a Type": {"05-a.conflist": '{"name": "a", "plugins": [{"Type": "bridge"}]}'},
    "capabilities that are words": {
        "05-a.conf": '{"name": "a", "type": "bridge", "capabilities": {"x": "y"}}'
    },
    "an ipam that is a word": {
        "05-a.conf": '{"name": "a", "type": "bridge", "ipam": "host-local"}'
    },
    "a dns that is a list": {"05-a.conf": '{"name": "a", "type": "bridge", "dns": []}'},
    "something behind": {"05-a.conf": single() + "x"},
    "a byte order mark": {"05-a.conf": "\ufeff" + single()},
    "not a number": {"05-a.conf": '{"name": "a", "type": "bridge", "mtu": NaN}'},
    "a number that is too large": {"05-a.conf": '{"name": "a", "type": "bridge", "mtu": 1e999}'},
    "a number of 400 digits": {"05-a.conflist": listed({"type": "bridge", "mtu": 10**400})},
    "a result that is a number": {"05-a.conflist": listed({"type": "bridge", "prevResult": 3})},
    "a flag that is a number": {"05-a.conflist": listed(disableCheck=1)},
    "no object": {"05-a.conf": "[]"},
    "null": {"05-a.conf": "null"},
    "a program that is not there": {"05-a.conflist": listed({"type": "nowhere"})},
    "a chained plugin first": {"05-a.conflist": listed(PORTMAP, BRIDGE)},
}


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Containerd]:
    """Provide a containerd."""
    with containerd(tmp_path_factory.mktemp("containerd") / "c") as made:
        yield made


def fill(runtime: Containerd, files: Mapping[str, str]) -> None:
    """Put these files, and no others, into the folder: each by rename, so that containerd
    notices.
    """
    for path in runtime.conf.iterdir():
        path.unlink()
    for name, text in files.items():
        temporary = runtime.conf / "new.tmp"
        temporary.write_text(text)
        temporary.rename(runtime.conf / name)


@pytest.mark.parametrize("name", FOLDERS)
def test_containerd_agrees(runtime: Containerd, name: str) -> None:
    """Name and plugins of the network, or that there is none, are what containerd says."""
    fill(runtime, {"00-other.conf": single(name="other")})
    assert runtime.wait(lambda: runtime.loaded() == ("other", ("bridge",)))
    fill(runtime, FOLDERS[name])
    network = judge_containerd(read_folder(runtime.conf), SETTINGS).network
    expected = None if network is None else (network.name, network.types)

    assert runtime.wait(lambda: runtime.loaded() == expected), (
        expected,
        runtime.loaded(),
        runtime.status()["lastCNILoadStatus"],
    )


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(0, 9)
    | st.sampled_from(["bridge", "portmap", "1.0.0", "k8s", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "type", "plugins", "cniVersion", "capabilities", "ipam", "x"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=15,
)
NETWORKS = st.fixed_dictionaries(
    {"name": st.just("k8s")},
    optional={"type": VALUES, "plugins": st.lists(VALUES, max_size=3) | VALUES, "ipam": VALUES},
)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(
        st.sampled_from(["10-a.conf", "20-b.conflist", "30-c.json"]), NETWORKS | VALUES, max_size=3
    )
)
def test_containerd_agrees_on_whatever_stands_there(
    runtime: Containerd, files: Mapping[str, object]
) -> None:
    """Drawn contents give the network that containerd says, or none where it says none."""
    fill(runtime, {"00-other.conf": single(name="other")})
    assert runtime.wait(lambda: runtime.loaded() == ("other", ("bridge",)))
    fill(runtime, {name: json.dumps(value) for name, value in files.items()})
    network = judge_containerd(read_folder(runtime.conf), SETTINGS).network
    expected = None if network is None else (network.name, network.types)

    assert runtime.wait(lambda: runtime.loaded() == expected), (
        expected,
        runtime.loaded(),
        runtime.status()["lastCNILoadStatus"],
    )


@pytest.mark.parity("G10")
def test_d4_a_link_is_not_noticed(runtime: Containerd, tmp_path: Path) -> None:
    """A symbolic link that is made escapes containerd until something else happens; that is what
    the lint warns of.
    """
    fill(runtime, {"50-a.conf": single(name="a")})
    assert runtime.wait(lambda: runtime.loaded() == ("a", ("bridge",)))
    (tmp_path / "linked").write_text(single(name="linked"))
    (runtime.conf / "05-link.conf").symlink_to(tmp_path / "linked")
    assert not runtime.wait(lambda: runtime.loaded() == ("linked", ("bridge",)), 0.5)
    found = lint_folder(read_folder(runtime.conf), SETTINGS)
    told = compare_loaded(found, runtime.info(), read_folder(runtime.conf))

    assert {"D4", "G10"} <= {remark.row for remark in told.remarks}


def test_the_keeper_reaches_containerd(runtime: Containerd, tmp_path: Path) -> None:
    """Whatever the vendor writes, single or list, containerd loads it with the plugin; and without
    it after the removal.
    """
    fill(runtime, {})
    node = CniNode(tmp_path)
    (node.root / "net.d").rmdir()
    (node.root / "net.d").symlink_to(runtime.conf)
    with node.kept(poll=60.0, runtime="containerd", entry=ENTRY) as kept:
        for number, text in enumerate(
            (listed(name="one"), listed(BRIDGE, PORTMAP, name="two"), single(name="three"))
        ):
            base = f"{50 - number}-net"
            node.write(f"{base}.conflist" if "plugins" in text else f"{base}.conf", text)
            types = tuple(
                plugin["type"] for plugin in json.loads(text).get("plugins", [json.loads(text)])
            )
            expected = (json.loads(text)["name"], (*types, "linkerd-cni"))
            assert runtime.wait(lambda expected=expected: runtime.loaded() == expected), (  # type: ignore[misc]  # bound now
                runtime.loaded()
            )
            kept.wait_ready()
    found = lint_folder(read_folder(runtime.conf), SETTINGS)
    assert "G10" not in {
        remark.row
        for remark in compare_loaded(found, runtime.info(), read_folder(runtime.conf)).remarks
    }
    node.remove()

    assert runtime.wait(lambda: runtime.loaded() == ("three", ("bridge",)))
    assert MESH not in [json.loads(path.read_text()) for path in runtime.conf.glob("*.conf")]
