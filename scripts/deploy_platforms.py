"""Write `deploy/platforms` from the one table of what platforms differ in, `deploy/platforms.toml`.

    python -m scripts.deploy_platforms            # write
    python -m scripts.deploy_platforms --check    # say which are out of date

Each platform becomes two components of kustomize: `NAME/security`, for every variant of the agent,
and `NAME`, which adds the folders of CNI, for the variants that keep a mesh's chain.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

from scripts.written import write_folder

ROOT = Path(__file__).resolve().parents[1]
DEPLOY = ROOT / "deploy"
MADE = "# Made by scripts/deploy_platforms.py from deploy/platforms.toml: change it there.\n"
COMPONENT = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
DAEMON_SET = """\
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: podpath-agent
  namespace: podpath
spec:
  template:
    spec:
"""
KEYS = {"conf_dir", "bin_dir", "apparmor", "selinux"}


def platforms() -> dict[str, dict[str, str]]:
    """Read the table; a key that nobody knows is a mistake."""
    table: dict[str, dict[str, str]] = tomllib.loads(
        (DEPLOY / "platforms.toml").read_text(encoding="utf-8")
    )
    for name, values in table.items():
        unknown = values.keys() - KEYS
        if unknown or not {"conf_dir", "bin_dir"} <= values.keys():
            raise SystemExit(f"platforms.toml: [{name}]: expected {sorted(KEYS)}, saw {values}")
    return table


def files() -> dict[str, str]:
    """Return every file below deploy/platforms with its content."""
    made = {}
    for name, values in platforms().items():
        made[f"{name}/kustomization.yaml"] = (
            f"{MADE}{COMPONENT}components:\n  - security\npatches:\n  - path: folders.yaml\n"
        )
        made[f"{name}/folders.yaml"] = MADE + DAEMON_SET + _volumes(values)
        made[f"{name}/security/kustomization.yaml"] = (
            f"{MADE}{COMPONENT}patches:\n  - path: security.yaml\n"
        )
        made[f"{name}/security/security.yaml"] = MADE + DAEMON_SET + _security(values)
    return made


def _volumes(values: dict[str, str]) -> str:
    return "      volumes:\n" + "".join(
        f"        - name: {name}\n          hostPath: {{path: {values[key]}}}\n"
        for name, key in (("cni-conf", "conf_dir"), ("cni-bin", "bin_dir"))
    )


def _security(values: dict[str, str]) -> str:
    lines = ["      containers:", "        - name: agent", "          securityContext:"]
    if "apparmor" in values:
        lines.append(f"            appArmorProfile: {{type: {values['apparmor']}}}")
    if "selinux" in values:
        lines.append(f"            seLinuxOptions: {{type: {values['selinux']}}}")
    return "".join(f"{line}\n" for line in lines)


def main(arguments: list[str]) -> int:
    """Write the files, or say which are not as they would be written."""
    folder = DEPLOY / "platforms"
    there = {str(path.relative_to(folder)) for path in folder.rglob("*.yaml")}
    return write_folder(folder, files(), there, check="--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
