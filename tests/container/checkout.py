"""Checkouts as actions/checkout leaves them, owned by the runner's user."""

import json
import os
import subprocess

OWNER = 12345
CONTRACT = """\
tool_id: billing.issue_refund
tool_version: 1
provider: {service: billing-api, operation: POST /v1/refunds}
model_surface:
  name: issue_refund
  description: Issue one refund for a delivered order after the customer has asked for it.
  examples: [{order_id: A-1001, action_id: act-1}]
  input_schema:
    type: object
    properties:
      order_id: {type: string, minLength: 1, description: The order to refund.}
      reason: {type: string, enum: [damaged, late], description: Why the customer wants the money back.}
      action_id: {type: string, minLength: 1, description: One key for each refund asked for.}
    required: [order_id, action_id]
    additionalProperties: false
  output_schema:
    type: object
    properties: {receipt_id: {type: string}}
    required: [receipt_id]
policy:
  {required_scope: refunds.write, effect: irreversible_external_write, approval: always, idempotency_key: action_id}
"""
SESSION = """\
session: s
abs_version: "0.2"
behaviors:
  - {actor: user, action: says, content: hi}
  - {actor: assistant, action: informs}
"""
BROKEN = CONTRACT.replace("[order_id, action_id]", "[order_id, action_id, reason]")


def git(directory, *arguments):
    environ = {"PATH": os.environ["PATH"], "HOME": str(directory), "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", f"safe.directory={directory}"]
    done = subprocess.run(
        [*command, *arguments], cwd=directory, env=environ, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def give_away(directory):
    for path in (directory, *directory.rglob("*")):
        os.chown(path, OWNER, OWNER, follow_symlinks=False)


def pull_request(step, contract, *, depth=0):
    """A checkout of a pull request's test merge, whole or of some depth, owned by the runner's user."""
    upstream = step.place / "upstream"
    (upstream / "contracts").mkdir(parents=True)
    git(upstream, "init", "--quiet", "--initial-branch=main")
    git(upstream, "config", "uploadpack.allowAnySHA1InWant", "true")
    (upstream / "contracts" / "refund.yaml").write_text(CONTRACT)
    (upstream / "abs-gate.yaml").write_text("version: 1\ncontracts:\n  paths: [contracts/]\n")
    git(upstream, "add", "--all")
    git(upstream, "commit", "--quiet", "--message", "base")
    base = git(upstream, "rev-parse", "HEAD")
    git(upstream, "checkout", "--quiet", "-b", "work")
    (upstream / "contracts" / "refund.yaml").write_text(contract)
    git(upstream, "commit", "--quiet", "--all", "--allow-empty", "--message", "change")
    head = git(upstream, "rev-parse", "HEAD")
    git(upstream, "checkout", "--quiet", "--detach", base)
    git(upstream, "merge", "--quiet", "--no-ff", "--no-edit", head)
    merge = git(upstream, "rev-parse", "HEAD")

    git(step.workspace, "init", "--quiet", "--initial-branch=main")
    shallow = [f"--depth={depth}"] if depth else []
    git(step.workspace, "fetch", "--quiet", *shallow, upstream.as_uri(), merge)
    git(step.workspace, "checkout", "--quiet", "--detach", merge)
    give_away(step.workspace)
    repository = {"full_name": "octo/repo", "default_branch": "main"}
    pull = {"number": 2, "head": {"sha": head, "repo": repository}, "base": {"sha": base, "repo": repository}}
    step.event = json.dumps({"action": "opened", "number": 2, "pull_request": pull, "repository": repository})
    step.environ |= {"GITHUB_EVENT_NAME": "pull_request", "GITHUB_SHA": merge, "GITHUB_REF": "refs/pull/2/merge"}
    return base


def add(step, name, text):
    """Put a file into the workspace that the runner's user owns."""
    path = step.workspace / name
    path.write_text(text)
    os.chown(path, OWNER, OWNER)


def owned_by_others(directory):
    """What the runner's user could not remove at its next checkout."""
    found = [path for path in directory.rglob("*") if path.lstat().st_uid != OWNER]
    return [path.relative_to(directory).as_posix() for path in found]
