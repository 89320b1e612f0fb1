"""The judgement of folders of CNI configurations: whatever stands in the files, it ends, and says
the same as the runtimes.
"""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from podpath.cni.conf import ConfFile
from podpath.cni.lint import lint_folder
from podpath.cni.runtimes import RuntimeSettings

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from([
        "bridge", "true", "1.0.0", "k8s",
    ]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["name", "type", "plugins", "cniVersion", "cniVersions", "disableGC", "capabilities", "ipam"]), inner,  # noqa: E501
        max_size=6,
    ),
    max_leaves=20,
)  # fmt: skip
NAMES = st.sampled_from(
    ["10.conf", "20.conflist", "30.json", ".x.conf", "k8s/1.conf", "a.conf.bak", "b.cilium_bak"]
)
FILES = st.lists(
    st.builds(
        ConfFile,
        name=NAMES,
        content=st.none()
        | st.binary(max_size=30)
        | VALUES.map(lambda value: json.dumps(value).encode()),
    ),
    max_size=5,
)


@given(FILES, st.booleans(), st.none() | st.just({"bridge": ("1.0.0",)}))
def test_judging_never_raises(
    files: list[ConfFile],
    drop_ins: bool,  # noqa: FBT001
    programs: dict[str, tuple[str, ...]] | None,
) -> None:  # drawn
    """Any content gives two verdicts, and every remark names a file that is there."""
    found = lint_folder(files, RuntimeSettings(drop_ins=drop_ins), programs)

    assert len(found.verdicts) == 2
    assert {remark.file for remark in found.remarks} <= {file.name for file in files} | {""}


@given(FILES)
def test_the_order_of_listing_does_not_matter(files: list[ConfFile]) -> None:
    """A folder has no order: the runtimes sort by name."""
    unique = list({file.name: file for file in files}.values())

    assert (
        lint_folder(unique, RuntimeSettings()).verdicts
        == lint_folder(unique[::-1], RuntimeSettings()).verdicts
    )
