"""Which argument carries a tool's idempotency key."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from abs_gate.contracts.model import ToolContract
from abs_gate.contracts.plain import SchemaReader
from abs_gate.contracts.schemas import SchemaDocument

_KEY_NAME = re.compile(
    r"^(?:x[-_])?(?:idempotency|dedup(?:e|lication)?|idempotent)[-_ ]?(?:key|id|token)$"
    r"|^client[-_ ]?(?:request[-_ ]?)?token$",
    re.IGNORECASE,
)
_NAME_KEYS = ("name", "argument", "field", "header", "key", "in_argument")


class KeyArgument(NamedTuple):
    """The idempotency key as the contract has it."""

    name: str
    """Of the argument, or of the header."""
    is_declared: bool
    """Named by the policy; otherwise told by its name."""
    is_argument: bool
    is_required: bool


def find_key(tool: ToolContract) -> KeyArgument | None:
    """Return the idempotency key: what the policy names, else the argument that is called like one."""
    root = SchemaReader(SchemaDocument(tool.input_schema)).read()
    declared = tool.policy.idempotency_key
    if isinstance(declared, Mapping):
        declared = next((declared[key] for key in _NAME_KEYS if isinstance(declared.get(key), str)), None)
    if isinstance(declared, str) and declared:
        return KeyArgument(declared, True, declared in root.properties, declared in root.required)
    name = next((name for name in root.properties if _KEY_NAME.match(_snake(name))), None)
    return None if name is None else KeyArgument(name, False, True, name in root.required)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
