"""A repository whose settings, hooks and names try to run something. `touch` leaves a mark where they succeed."""

import pytest

from abs_gate.errors import AbsGateError
from abs_gate.vcs.base import BaseSources, resolve_base
from abs_gate.vcs.committree import CommitTree
from abs_gate.vcs.fetch import Remote, fetch_commit
from abs_gate.vcs.git import Git
from abs_gate.vcs.worktree import WorkTree


@pytest.fixture
def mark(tmp_path):
    return tmp_path / "mark"


def use_everything(upstream, base, remote):
    repository = Git.find(upstream.path)
    head = repository.head()
    repository.parents(head)
    repository.merge_base(head, base)
    tree = CommitTree(repository, base)
    tree.list_files(".")
    tree.read_bytes("contracts/refund.yaml")
    for revision in (base, "refs/heads/main"):
        store, sha = fetch_commit(repository, revision, remote)
        CommitTree(store, sha).read_bytes("contracts/refund.yaml")


@pytest.mark.parametrize(
    "name",
    [
        "core.fsmonitor",
        "core.sshCommand",
        "core.gitProxy",
        "core.askPass",
        "core.pager",
        "core.editor",
        "core.alternateRefsCommand",
        "credential.helper",
        "uploadpack.packObjectsHook",
        "remote.origin.uploadpack",
        "diff.external",
        "gpg.program",
        "filter.x.smudge",
        "alias.cat-file",
    ],
)
def test_commands_in_settings_are_not_run(upstream, mark, name):
    base = upstream.git("rev-parse", "main")
    upstream.commit({".gitattributes": "* filter=x diff=x\n", "x": "1"})
    command = f"!touch {mark}" if name.startswith(("alias", "credential")) else f"touch {mark}; true"
    upstream.git("config", name, command)
    use_everything(upstream, base, Remote(url=upstream.url))
    assert not mark.exists()


def test_hooks_are_not_run(upstream, mark):
    base = upstream.git("rev-parse", "main")
    for hook in ("post-checkout", "reference-transaction", "post-index-change", "pre-auto-gc", "fsmonitor-watchman"):
        path = upstream.path / ".git" / "hooks" / hook
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\ntouch {mark}\n")
        path.chmod(0o755)
    upstream.commit({"x": "1"})
    mark.unlink(missing_ok=True)
    use_everything(upstream, base, Remote(url=upstream.url))
    assert not mark.exists()


def test_ext_addresses_are_not_followed(upstream, mark, tmp_path):
    upstream.git("config", f"url.ext::sh -c touch% {mark} %S.insteadOf", "https://github.com/")
    upstream.git("config", "protocol.ext.allow", "always")
    for url in (f"ext::sh -c touch% {mark}", "https://github.com/octo/repo"):
        with pytest.raises(AbsGateError):
            fetch_commit(Git.find(upstream.path), "d" * 40, Remote(url=url))
    assert not mark.exists()


def test_a_promisor_remote_is_not_asked(upstream, mark, tmp_path):
    """A repository that says its missing objects come from a command."""
    upstream.git("config", "extensions.partialClone", "evil")
    upstream.git("config", "core.repositoryFormatVersion", "1")
    upstream.git("config", "remote.evil.url", f"ext::sh -c touch% {mark}")
    upstream.git("config", "remote.evil.promisor", "true")
    upstream.git("config", "protocol.ext.allow", "always")
    repository = Git.find(upstream.path)
    assert repository.find_commit("d" * 40) is None
    assert not CommitTree(repository, repository.head()).is_file("absent")
    with pytest.raises(AbsGateError):
        CommitTree(repository, repository.head())._objects.read("d" * 40)
    assert not mark.exists()


@pytest.mark.parametrize(
    "setting",
    [
        "--upload-pack=touch mark",
        "--output=mark",
        "-o",
        "--exec=x",
        "main --output=mark",
        "$(touch mark)",
        "`touch mark`",
        "main;touch mark",
        "ext::sh -c touch% mark",
        "--git-dir=/tmp:contracts",
        "main:--output=mark",
        "main:../../etc/passwd",
        "main:/etc/passwd",
        "\u202e",
        "a" * 5000,
    ],
)
def test_base_settings_are_never_options_or_commands(upstream, monkeypatch, setting):
    monkeypatch.chdir(upstream.path)
    sources = BaseSources(worktree=WorkTree(upstream.path), git=Git.find(upstream.path))
    with pytest.raises(AbsGateError) as caught:
        resolve_base(setting, sources)
    assert caught.value.exit_code in (2, 3)
    assert not (upstream.path / "mark").exists()


@pytest.mark.parametrize("branch", ["-rf", "--upload-pack=x"])
def test_branches_with_names_of_options(upstream, branch):
    """Git refuses to make such a branch, and yet will serve one that was put there by hand."""
    ref = upstream.path / ".git" / "refs" / "heads" / branch
    ref.write_text(upstream.git("rev-parse", "main") + "\n")
    sources = BaseSources(worktree=WorkTree(upstream.path), git=Git.find(upstream.path))
    with pytest.raises(AbsGateError):
        resolve_base(branch, sources)
    assert Git.find(upstream.path).find_commit(f"refs/heads/{branch}") == upstream.git("rev-parse", "main")


def test_replaced_objects_are_not_believed(upstream):
    """`refs/replace` could show another base than the one that was committed."""
    base = upstream.git("rev-parse", "main")
    forged = upstream.commit({"contracts/refund.yaml": "forged\n"})
    upstream.git("replace", base, forged)
    assert CommitTree(Git.find(upstream.path), base).read_bytes("contracts/refund.yaml") == b"version: 1\n"


def test_the_wrapper_itself_silences_monitors_and_hooks(upstream, mark):
    """Commands that would run them, which nothing here uses: the defence does not hang on the choice of commands."""
    upstream.git("config", "core.fsmonitor", f"touch {mark}; false")
    hook = upstream.path / ".git" / "hooks" / "reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {mark}\n")
    hook.chmod(0o755)
    repository = Git.find(upstream.path)
    repository.run(f"--work-tree={upstream.path}", "status", "--porcelain")
    repository.run("update-ref", "refs/x", repository.head())
    assert not mark.exists()
    upstream.git("status", "--porcelain")
    assert mark.exists()  # a plain git does run them
