"""The README's tables of inputs and outputs, made from action.yml: `python -m tests.meta.readme_tables` writes them."""

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"


def tables() -> dict[str, str]:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    inputs = ["| input | default | |", "|---|---|---|"]
    for name, entry in action["inputs"].items():
        default = f"`{entry['default']}`" if entry.get("default") else ""
        inputs.append(f"| `{name}` | {default} | {_cell(entry['description'])} |")
    outputs = ["| output | |", "|---|---|"]
    outputs += [f"| `{name}` | {_cell(entry['description'])} |" for name, entry in action["outputs"].items()]
    return {"inputs": "\n".join(inputs), "outputs": "\n".join(outputs)}


def with_tables(readme: str) -> str:
    for name, table in tables().items():
        pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
        readme, found = pattern.subn(lambda match, table=table: f"{match[1]}{table}\n{match[2]}", readme)
        assert found == 1, name
    return readme


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    README.write_text(with_tables(README.read_text(encoding="utf-8")), encoding="utf-8")
