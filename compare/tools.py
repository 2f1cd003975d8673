"""The tools that are asked, and how each is started."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ADAPTERS = Path(__file__).parent / "adapters"
PYTHON_PEERS = ("jsonsubschema", "mcp-contract", "mcp-diff", "mcpdrift", "mcplock")
NODE_PEERS = ("json-schema-diff",)
VERSION_OF = "import sys, importlib.metadata as m; print(m.version(sys.argv[1]))"
NODE_VERSION_OF = "console.log(require(process.argv[1] + '/package.json').version)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool under comparison."""

    name: str
    version: str
    command: tuple[str, ...] = ()
    """What answers questions; empty when the tool is not there."""
    absent: str = ""
    """Why it is not there."""
    takes_tool_lists: bool = True


def all_tools(peers_python: Path, node_modules: Path) -> list[Tool]:
    """abs-gate first, then every peer, installed or not."""
    ours = Tool(
        name="abs-gate",
        version=_python_version(Path(sys.executable), "abs-gate"),
        command=_python(sys.executable, "abs-gate"),
    )
    return [
        ours,
        *(_python_peer(name, peers_python) for name in PYTHON_PEERS),
        *(_node_peer(name, node_modules) for name in NODE_PEERS),
    ]


def _python_peer(name: str, python: Path) -> Tool:
    lists = name != "jsonsubschema"
    version = _python_version(python, name)
    if not version:
        return Tool(name=name, version="", absent=f"pip did not install it beside {python}", takes_tool_lists=lists)
    return Tool(name=name, version=version, command=_python(str(python), name), takes_tool_lists=lists)


def _node_peer(name: str, node_modules: Path) -> Tool:
    node = shutil.which("node")
    package = node_modules / name
    if node is None or not package.is_dir():
        reason = "there is no Node.js" if node is None else f"npm did not install it in {node_modules}"
        return Tool(name=name, version="", absent=reason, takes_tool_lists=False)
    done = subprocess.run([node, "-e", NODE_VERSION_OF, str(package)], capture_output=True, text=True, check=True)
    script = ADAPTERS / f"ask_{name.replace('-', '_')}.cjs"
    return Tool(
        name=name,
        version=done.stdout.strip(),
        command=(node, str(script), str(node_modules)),
        takes_tool_lists=False,
    )


def _python(python: str, name: str) -> tuple[str, ...]:
    return python, "-W", "ignore", str(ADAPTERS / f"ask_{name.replace('-', '_')}.py")


def _python_version(python: Path, name: str) -> str:
    if not python.exists():
        return ""
    done = subprocess.run([str(python), "-c", VERSION_OF, name], capture_output=True, text=True, check=False)
    return done.stdout.strip()
