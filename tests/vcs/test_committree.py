import gc
import os
import subprocess

import pytest

from abs_gate.errors import BaseUnavailable, ConfigurationError
from abs_gate.vcs.committree import CommitTree
from abs_gate.vcs.git import Git

from .repository import Repository, git


@pytest.fixture
def commit(upstream):
    links = {"contracts/link.yaml": "refund.yaml", "current": "contracts", "out": "/etc", "up": "../upstream-sibling"}
    for name, target in {**links, "one": "two", "two": "one"}.items():
        (upstream.path / name).symlink_to(target)
    return upstream.commit({"contracts/deep/b.yaml": "b\n", "contracts/.hidden/c.yaml": "c\n", "pkg/x/y.yaml": "y\n"})


@pytest.fixture
def tree(upstream, commit):
    upstream.commit({"contracts/refund.yaml": "version: 2\n", "contracts/deep/b.yaml": None})
    upstream.write({"contracts/refund.yaml": "dirty\n"})
    return CommitTree(Git.find(upstream.path), commit, root=upstream.path)


def test_files_are_those_of_the_commit_and_the_work_tree_stays(upstream, tree):
    before = upstream.git("status", "--porcelain")
    assert tree.read_bytes("contracts/refund.yaml") == b"version: 1\n"
    assert tree.list_files("contracts") == ("contracts/deep/b.yaml", "contracts/refund.yaml")
    assert tree.read_bytes("contracts/deep/b.yaml") == b"b\n"
    assert b"".join(tree.read_chunks("./contracts/../contracts/refund.yaml")) == b"version: 1\n"
    assert upstream.git("status", "--porcelain") == before
    assert (upstream.path / "contracts" / "refund.yaml").read_text() == "dirty\n"


def test_kinds(tree):
    assert tree.is_file("contracts/refund.yaml")
    assert tree.is_directory("contracts")
    assert tree.is_directory(".")
    assert not tree.is_file("contracts")
    assert not tree.is_directory("contracts/refund.yaml")
    assert not tree.is_file("contracts/absent.yaml")
    assert not tree.is_file("contracts/refund.yaml/below")


def test_absolute_paths_mean_the_same_as_in_the_work_tree(upstream, tree):
    assert tree.read_bytes(str(upstream.path / "contracts" / "refund.yaml")) == b"version: 1\n"
    with pytest.raises(ConfigurationError, match="outside"):
        tree.read_bytes("/etc/passwd")


def test_links_inside_the_commit_are_followed_and_listed_once(tree):
    assert tree.read_bytes("contracts/link.yaml") == b"version: 1\n"
    assert tree.list_files("current") == ("current/deep/b.yaml", "current/refund.yaml")
    assert tree.read_bytes("current/deep/b.yaml") == b"b\n"


def test_a_link_to_a_file_elsewhere_in_the_commit_is_listed(upstream):
    (upstream.path / "contracts" / "shared.yaml").symlink_to("../elsewhere.yaml")
    tree = CommitTree(Git.find(upstream.path), upstream.commit({"elsewhere.yaml": "c\n"}))
    assert tree.list_files("contracts") == ("contracts/refund.yaml", "contracts/shared.yaml")
    assert tree.read_bytes("contracts/shared.yaml") == b"c\n"


def test_links_to_directories_are_followed_without_circles(upstream):
    for link, target in {
        "contracts/linked": "../held",
        "contracts/twice": "../held",
        "contracts/self": ".",
        "held/more/loop": "..",
        "held/more/up": "../../contracts",
    }.items():
        (upstream.path / link).parent.mkdir(parents=True, exist_ok=True)
        (upstream.path / link).symlink_to(target)
    tree = CommitTree(Git.find(upstream.path), upstream.commit({"held/c.yaml": "c\n", "held/more/d.yaml": "d\n"}))
    assert tree.list_files("contracts") == (
        "contracts/linked/c.yaml",
        "contracts/linked/more/d.yaml",
        "contracts/refund.yaml",
    )
    assert tree.read_bytes("contracts/linked/more/d.yaml") == b"d\n"


@pytest.mark.parametrize("path", ["out/passwd", "up/x.yaml", "one", "one/x", "../x", "a\0b"])
def test_links_out_and_in_circles_are_refused(tree, path):
    with pytest.raises(ConfigurationError) as caught:
        tree.read_bytes(path)
    assert caught.value.findings[0].rule == "path-outside-workspace"


def test_errors_name_the_commit(tree, commit):
    for call, path in ((tree.read_bytes, "absent.yaml"), (tree.list_files, "absent"), (tree.read_bytes, "contracts")):
        with pytest.raises(ConfigurationError, match=commit[:12]):
            call(path)


def test_a_workspace_below_the_top(upstream, commit):
    tree = CommitTree(Git.find(upstream.path / "pkg"), commit, prefix="pkg")
    assert tree.list_files(".") == ("x/y.yaml",)
    assert tree.read_bytes("x/y.yaml") == b"y\n"
    assert not tree.is_directory("contracts")


def test_limit_is_exact(tree):
    assert tree.read_bytes("contracts/refund.yaml", limit=11)
    with pytest.raises(ConfigurationError, match="larger than 10 bytes"):
        tree.read_bytes("contracts/refund.yaml", limit=10)


def test_submodules_are_never_taken_for_absent(tmp_path, upstream):
    other = Repository(tmp_path / "other")
    other.commit({"x.yaml": "x\n"})
    upstream.git("submodule", "--quiet", "add", other.url, "contracts/vendored")
    commit = upstream.commit({})
    tree = CommitTree(Git.find(upstream.path), commit)
    for call, path in (
        (tree.is_file, "contracts/vendored/x.yaml"),
        (tree.is_directory, "contracts/vendored"),
        (tree.read_bytes, "contracts/vendored/deep/er.yaml"),
        (tree.list_files, "contracts"),
    ):
        with pytest.raises(BaseUnavailable, match="`contracts/vendored` is a git submodule"):
            call(path)


def test_lfs_pointers_are_never_taken_for_the_file(upstream):
    commit = upstream.commit({"p.yaml": "version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 1\n"})
    with pytest.raises(BaseUnavailable, match="Git LFS pointer"):
        CommitTree(Git.find(upstream.path), commit).read_bytes("p.yaml")


@pytest.mark.parametrize(
    "name",
    [
        "contracts/-rf.yaml",
        "contracts/--output=x.yaml",
        "contracts/:(glob)x.yaml",
        "contracts/*.yaml",
        "contracts/café \u202e.yaml",
        "contracts/a:b.yaml",
        "contracts/\ttab.yaml",
    ],
)
def test_names_of_any_characters(upstream, name):
    commit = upstream.commit({name: "here\n"})
    for tree in (CommitTree(Git.find(upstream.path), commit), CommitTree(Git.find(upstream.path), commit)):
        assert tree.read_bytes(name) == b"here\n"
        assert name in tree.list_files("contracts")


def test_names_with_line_ends_are_read_from_a_listing(upstream):
    name = "contracts/new\nline.yaml"
    tree = CommitTree(Git.find(upstream.path), upstream.commit({name: "here\n"}))
    assert name in tree.list_files("contracts")
    assert tree.read_bytes(name) == b"here\n"


def test_names_that_are_not_utf8_are_shown_and_read(upstream):
    with open(os.fsencode(upstream.path) + b"/contracts/caf\xe9.yaml", "wb") as file:  # noqa: PTH123
        file.write(b"here\n")
    tree = CommitTree(Git.find(upstream.path), upstream.commit({}))
    (name,) = (name for name in tree.list_files("contracts") if "caf" in name)
    assert name == "contracts/caf\\xe9.yaml"
    assert tree.read_bytes(name) == b"here\n"


def test_thousands_of_files_share_two_processes(upstream, monkeypatch):
    commit = upstream.commit({f"many/{number}.yaml": f"n: {number}\n" for number in range(3000)})
    tree = CommitTree(Git.find(upstream.path), commit)
    started = []
    real = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda *a, **k: started.append(a) or real(*a, **k))
    names = tree.list_files("many")
    assert [tree.read_bytes(name) for name in names] == [f"n: {name[5:-5]}\n".encode() for name in names]
    assert len(started) <= 3


def test_processes_end_with_the_tree(upstream, commit):
    tree = CommitTree(Git.find(upstream.path), commit)
    tree.read_bytes("contracts/refund.yaml")
    processes = list(tree._objects._processes.values())
    assert len(processes) == 2
    del tree
    gc.collect()
    assert all(process.poll() is not None for process in processes)


def test_a_killed_reader_is_started_again(upstream, commit):
    tree = CommitTree(Git.find(upstream.path), commit)
    tree.read_bytes("contracts/refund.yaml")
    for process in tree._objects._processes.values():
        process.kill()
        process.wait()
    assert tree.read_bytes("contracts/deep/b.yaml") == b"b\n"


@pytest.mark.parametrize("ask", ["read_bytes", "is_file", "list_files"])
def test_a_missing_object_is_never_taken_for_an_absent_file(upstream, commit, ask):
    oid = git(upstream.path, "rev-parse", f"{commit}:contracts/deep/b.yaml")
    (upstream.path / ".git" / "objects" / oid[:2] / oid[2:]).unlink()
    tree = CommitTree(Git.find(upstream.path), commit)
    path = "contracts" if ask == "list_files" else "contracts/deep/b.yaml"
    with pytest.raises(BaseUnavailable, match=r"contracts/deep/b\.yaml"):
        getattr(tree, ask)(path)
