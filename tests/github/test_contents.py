import pytest

from abs_gate.errors import BaseUnavailable, ConfigurationError
from abs_gate.github.client import GitHubClient
from abs_gate.github.contents import HostedRepository
from abs_gate.vcs.hosttree import HostTree

SHA = "a" * 40


@pytest.fixture
def repository(client):
    return HostedRepository(client, "octo/repo")


@pytest.fixture
def tree(github, repository):
    github.files[SHA] = {
        "pkg/contracts/refund.yaml": b"tool_id: refund\n",
        "pkg/contracts/deep/er/x y#?.yaml": b"odd: name\n",
        "pkg/contracts/.hidden/z.yaml": b"hidden: true\n",
        "pkg/big.json": b"[" + b"1," * 600_000 + b"1]",
        "pkg/pointer.json": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n",
        "other/secret.yaml": b"outside: the workspace\n",
    }
    return HostTree(repository, SHA, prefix="pkg")


def test_files_are_read_and_listed(tree):
    assert tree.list_files("contracts") == ("contracts/deep/er/x y#?.yaml", "contracts/refund.yaml")
    assert tree.read_bytes("contracts/refund.yaml") == b"tool_id: refund\n"
    assert tree.read_bytes("contracts/deep/er/x y#?.yaml") == b"odd: name\n"
    assert b"".join(tree.read_chunks("./contracts/refund.yaml")) == b"tool_id: refund\n"
    assert "contracts/refund.yaml" in tree.list_files(".")


def test_one_file_costs_one_request(github, tree):
    tree.read_bytes("contracts/refund.yaml")
    tree.is_file("contracts/refund.yaml")
    assert github.calls("GET") == 1


def test_files_over_a_megabyte_are_read_raw(tree):
    assert len(tree.read_bytes("big.json")) == 1_200_003


def test_what_is_absent_is_absent(tree):
    assert not tree.is_file("contracts/new.yaml")
    assert not tree.is_directory("contracts/refund.yaml")
    assert tree.is_directory("contracts")
    with pytest.raises(ConfigurationError, match="is not a file at commit aaaaaaaaaaaa"):
        tree.read_bytes("contracts/new.yaml")


@pytest.mark.parametrize("path", ["../other/secret.yaml", "/etc/passwd", "contracts/../../other/secret.yaml", "a\0b"])
def test_outside_is_refused(tree, path):
    with pytest.raises(ConfigurationError):
        tree.read_bytes(path)


def test_limits(tree):
    with pytest.raises(ConfigurationError, match="larger than 5 bytes"):
        tree.read_bytes("contracts/refund.yaml", limit=5)


def test_lfs_pointer_is_not_taken_for_the_file(tree):
    with pytest.raises(BaseUnavailable, match="Git LFS pointer"):
        tree.read_bytes("pointer.json")


@pytest.mark.parametrize("ask", ["is_file", "is_directory", "list_files", "read_bytes"])
@pytest.mark.parametrize("path", ["vendored", "vendored/contracts/x.yaml"])
def test_submodules_are_never_taken_for_absent(github, tree, ask, path):
    github.submodules.add("pkg/vendored")
    with pytest.raises(BaseUnavailable, match="submodule"):
        getattr(tree, ask)(path)


def test_submodule_met_in_a_listing(github, tree):
    github.submodules.add("pkg/contracts/vendored")
    with pytest.raises(BaseUnavailable, match="submodule"):
        tree.list_files("contracts")


def test_directory_that_the_api_would_cut_is_refused(github, repository):
    github.files[SHA] = {f"contracts/{number}.yaml": b"a: 1\n" for number in range(1200)}
    with pytest.raises(BaseUnavailable, match="more files than"):
        HostTree(repository, SHA).list_files("contracts")


def test_token_without_access_names_the_permission(github, tree):
    github.controls.no_repository = True
    with pytest.raises(BaseUnavailable) as caught:
        tree.is_file("contracts/refund.yaml")
    assert "contents: read" in str(caught.value)


def test_unreachable_is_unavailable(transport, waits):
    client = GitHubClient(transport, token="t", api_url="http://127.0.0.1:9", sleep=waits.append)
    with pytest.raises(BaseUnavailable, match="could not be reached"):
        HostedRepository(client, "octo/repo").look_up("x", SHA)


def test_commits_and_merge_bases(github, repository):
    github.commits = {"main": SHA, "feature/x": "b" * 40, SHA: SHA}
    github.merge_bases = {("a" * 40, "b" * 40): "c" * 40}
    assert repository.find_commit("main") == SHA
    assert repository.find_commit("feature/x") == "b" * 40
    assert repository.find_commit("nowhere") is None
    assert repository.find_merge_base("a" * 40, "b" * 40) == "c" * 40
    assert repository.find_merge_base("a" * 40, "d" * 40) is None
