"""Small real repositories, checked out as the runner has them at the test merge of a pull request."""

from pathlib import Path

from tests.acceptance.runner import Checkout, git

CONFIG = """\
version: 1
sessions: {paths: [sessions/]}
contracts: {paths: [contracts/]}
"""

SESSION = """\
abs_version: "0.2"
session: Where is my order
behaviors:
  - {actor: user, action: says, content: "Where is order 7?"}
  - actor: assistant
    action: informs
    evaluations:
      - {type: contains, value: on the way}
"""

CONTRACT = """\
tool_id: orders.get_order
tool_version: 1
provider: {service: order-api, operation: GET /orders, minimum_version: "1"}
model_surface:
  name: get_order
  description: Look one order up by its number. Use it before answering any question about an order.
  examples: [{order_id: "7"}]
  input_schema:
    type: object
    properties: {order_id: {type: string, description: The order number.}}
    required: [order_id]
    additionalProperties: false
  output_schema:
    type: object
    properties: {status: {type: string}}
    required: [status]
errors: [{code: ORDER_NOT_FOUND, retryable: false, user_action: verify_order}]
policy: {required_scope: orders.read, effect: read_only, approval: never}
"""

BROKEN_CONTRACT = CONTRACT.replace("{order_id: {type", "{shop: {type: string}, order_id: {type").replace(
    "required: [order_id]", "required: [order_id, shop]"
)
"""A required argument appears: what the model was told to send is refused."""

FILES = {"abs-gate.yaml": CONFIG, "sessions/order.abs.yaml": SESSION, "contracts/orders.yaml": CONTRACT}


def write(root: Path, files: dict[str, str | bytes]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def checkout_of(
    tmp_path: Path, base: dict[str, str | bytes], change: dict[str, str | bytes], *, at: str = "merge"
) -> Checkout:
    """A shallow workspace: `main` holds `base`, the pull request's branch `change` besides.

    Args:
        tmp_path: Where both repositories are made.
        base: Files of the base branch.
        change: Files that the pull request writes.
        at: What is checked out: `merge` as for a pull request, `base`, or `head` as after a push.
    """
    origin = tmp_path / "octocat" / "hello"
    origin.mkdir(parents=True)
    write(origin, base)
    git(tmp_path, "init", "-q", "-b", "main", str(origin))
    git(origin, "config", "uploadpack.allowAnySHA1InWant", "true")
    git(origin, "add", "-A")
    git(origin, "commit", "-qm", "base")
    git(origin, "switch", "-qc", "pr")
    write(origin, change)
    git(origin, "add", "-A")
    git(origin, "commit", "-qm", "change", "--allow-empty")
    head_sha = git(origin, "rev-parse", "HEAD")
    git(origin, "switch", "-q", "main")
    base_sha = git(origin, "rev-parse", "HEAD")
    git(origin, "merge", "-q", "--no-ff", "-m", "test merge", "pr")
    merge_sha = git(origin, "rev-parse", "HEAD")
    git(origin, "update-ref", "refs/pull/2/merge", merge_sha)
    git(origin, "reset", "-q", "--hard", base_sha)
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    git(workspace, "init", "-q")
    git(workspace, "remote", "add", "origin", f"file://{origin}")
    commit = {"merge": merge_sha, "base": base_sha, "head": head_sha}[at]
    git(workspace, "fetch", "-q", "--depth=1", "--no-tags", "origin", commit)
    git(workspace, "checkout", "-q", "--detach", commit)
    return Checkout(workspace, origin, base_sha, head_sha, merge_sha, 0)
