from dataclasses import dataclass

import pytest
from msgspec.structs import replace

from abs_gate.errors import BaseUnavailable, ConfigurationError
from abs_gate.vcs.base import BaseSources, resolve_base
from abs_gate.vcs.fetch import Remote
from abs_gate.vcs.git import Git
from abs_gate.vcs.hosttree import HostTree
from abs_gate.vcs.worktree import WorkTree

from .repository import Repository, git
from .test_plan import Event


@dataclass
class Entry:
    kind: str
    name: str
    size: int
    content: bytes | None = None


class Host:
    """A code host that answers from a repository on disk."""

    def __init__(self, repository, *, refuses=""):
        self.repository = repository
        self.refuses = refuses
        self.asked = []

    def find_commit(self, name):
        self._ask(f"commit {name}")
        return Git.find(self.repository.path).find_commit(name)

    def find_merge_base(self, base, head):
        self._ask("merge base")
        return Git.find(self.repository.path).merge_base(base, head)

    def look_up(self, path, sha):
        self._ask(f"look up {path}")
        kind = self.repository.git("cat-file", "-t", f"{sha}:{path}")
        if kind == "tree":
            names = self.repository.git("ls-tree", "--name-only", f"{sha}:{path}").splitlines()
            return tuple(Entry("file", name, 0) for name in names)
        return Entry("file", path.split("/")[-1], 1)

    def read_file(self, path, sha):
        return self.repository.git("show", f"{sha}:{path}").encode() + b"\n"

    def _ask(self, what):
        self.asked.append(what)
        if self.refuses:
            raise BaseUnavailable(self.refuses)


def sources(path, **fields):
    return BaseSources(worktree=WorkTree(path), git=Git.find(path), **fields)


def contract(base):
    return base.workspace.read_bytes("contracts/refund.yaml").decode()


def pull_event(head, base, merge):
    return Event(name="pull_request", sha=merge, pr_number=2, head_sha=head, base_sha=base, ref="refs/pull/2/merge")


@pytest.fixture
def pull(upstream):
    """A pull request that left main before main's last commit, which added a tool."""
    old = upstream.git("rev-parse", "main")
    upstream.git("checkout", "--quiet", "-b", "work")
    head = upstream.commit({"contracts/refund.yaml": "version: 2\n"})
    upstream.git("checkout", "--quiet", "main")
    base = upstream.commit({"contracts/new.yaml": "new: 1\n"})
    upstream.git("checkout", "--quiet", "--detach", "main")
    upstream.git("merge", "--quiet", "--no-ff", "--no-edit", head)
    merge = upstream.git("rev-parse", "HEAD")
    upstream.git("update-ref", "refs/pull/2/merge", merge)
    upstream.git("checkout", "--quiet", "main")
    return {"old": old, "head": head, "base": base, "merge": merge, "event": pull_event(head, base, merge)}


# In a workflow ------------------------------------------------------------------------------------------


def test_depth_one_of_the_test_merge_is_fetched(upstream, pull, tmp_path):
    clone = upstream.check_out(tmp_path / "clone", pull["merge"])
    base = resolve_base("auto", sources(clone, remote=Remote(url=upstream.url)), pull["event"])
    assert base.sha == pull["base"]
    assert base.label == f"commit {pull['base'][:7]} (base of pull request #2)"
    assert contract(base) == "version: 1\n"
    assert base.workspace.list_files("contracts") == ("contracts/new.yaml", "contracts/refund.yaml")
    assert base.paths is None


def test_a_whole_clone_needs_no_network(upstream, pull, tmp_path):
    clone = upstream.check_out(tmp_path / "clone", pull["merge"], "--quiet")
    base = resolve_base("auto", sources(clone), pull["event"])
    assert base.sha == pull["base"]


def test_the_authors_commit_is_compared_with_where_it_left_main(upstream, pull, tmp_path):
    """Against the tip of main, the tool added there since would look removed."""
    git(tmp_path, "clone", "--quiet", "--branch", "work", upstream.url, "clone")
    base = resolve_base("auto", sources(tmp_path / "clone"), pull["event"])
    assert base.sha == pull["old"]


def test_the_merge_base_is_asked_of_the_host_when_the_clone_is_shallow(upstream, pull, tmp_path):
    clone = upstream.check_out(tmp_path / "clone", pull["head"])
    host = Host(upstream)
    base = resolve_base("auto", sources(clone, remote=Remote(url=upstream.url), host=host), pull["event"])
    assert base.sha == pull["old"]
    assert host.asked == ["merge base"]


def test_without_git_the_host_serves_the_files(upstream, pull, tmp_path):
    (tmp_path / "plain").mkdir()
    host = Host(upstream)
    base = resolve_base("auto", sources(tmp_path / "plain", host=host), pull["event"])
    assert isinstance(base.workspace, HostTree)
    assert base.sha == pull["base"]
    assert contract(base) == "version: 1\n"


def test_without_a_way_to_fetch_the_host_serves_the_files(upstream, pull, tmp_path):
    clone = upstream.check_out(tmp_path / "clone", pull["merge"])
    remote = Remote(url=(tmp_path / "gone").as_uri())
    base = resolve_base("auto", sources(clone, remote=remote, host=Host(upstream)), pull["event"])
    assert isinstance(base.workspace, HostTree)
    assert contract(base) == "version: 1\n"


def test_a_shallow_clone_without_any_way_is_said_with_the_line_to_paste(upstream, pull, tmp_path):
    clone = upstream.check_out(tmp_path / "clone", pull["merge"])
    with pytest.raises(BaseUnavailable) as caught:
        resolve_base("auto", sources(clone), pull["event"])
    assert caught.value.exit_code == 3
    assert pull["base"][:7] in str(caught.value)
    assert "`fetch-depth: 0`" in caught.value.hint


def test_every_attempt_is_named(upstream, pull, tmp_path):
    clone = upstream.check_out(tmp_path / "clone", pull["merge"])
    remote = Remote(url=(tmp_path / "gone").as_uri())
    host = Host(upstream, refuses="403, contents: read is missing")
    with pytest.raises(BaseUnavailable) as caught:
        resolve_base("auto", sources(clone, remote=remote, host=host), pull["event"])
    assert "fetching it: `git fetch` failed" in caught.value.message
    assert "the REST API: 403, contents: read is missing" in caught.value.message
    assert "\n" not in str(caught.value)


def test_a_commit_the_host_does_not_know(upstream, pull, tmp_path):
    clone = upstream.check_out(tmp_path / "clone", pull["head"])
    event = replace(pull["event"], base_sha="9" * 40)
    with pytest.raises(BaseUnavailable, match="9999999"):
        resolve_base("auto", sources(clone, remote=Remote(url=upstream.url), host=Host(upstream)), event)


def test_push_is_compared_with_where_the_branch_stood(upstream, tmp_path):
    before = upstream.git("rev-parse", "main")
    upstream.commit({"x": "1"})
    tip = upstream.commit({"contracts/refund.yaml": "version: 2\n"})
    clone = upstream.check_out(tmp_path / "clone", tip)
    event = Event(name="push", sha=tip, before=before)
    base = resolve_base("auto", sources(clone, remote=Remote(url=upstream.url)), event)
    assert (base.sha, contract(base)) == (before, "version: 1\n")


def test_a_new_branch_is_compared_with_where_it_left_the_default_one(upstream, pull, tmp_path):
    clone = upstream.check_out(tmp_path / "clone", pull["head"])
    event = Event(name="push", sha=pull["head"], before="0" * 40, ref="refs/heads/work")
    base = resolve_base("auto", sources(clone, remote=Remote(url=upstream.url), host=Host(upstream)), event)
    assert base.sha == pull["old"]
    assert "main" in base.label


def test_a_new_branch_without_the_host_is_compared_with_the_tip_of_the_default_one(upstream, pull, tmp_path):
    clone = upstream.check_out(tmp_path / "clone", pull["head"])
    event = Event(name="push", sha=pull["head"], before="0" * 40, ref="refs/heads/work")
    base = resolve_base("auto", sources(clone, remote=Remote(url=upstream.url)), event)
    assert base.sha == pull["base"]
    assert "its tip" in base.label


def test_a_tag_on_main_is_compared_with_its_parent_not_with_itself(upstream, tmp_path):
    parent = upstream.git("rev-parse", "main")
    tip = upstream.commit({"contracts/refund.yaml": "version: 2\n"})
    clone = upstream.check_out(tmp_path / "clone", tip)
    event = Event(name="push", sha=tip, before="0" * 40, ref="refs/tags/v2")
    base = resolve_base("auto", sources(clone, remote=Remote(url=upstream.url), host=Host(upstream)), event)
    assert base.sha == parent


def test_the_first_push_of_all_has_an_empty_base(tmp_path):
    first = Repository(tmp_path / "first")
    tip = first.commit({"contracts/refund.yaml": "version: 1\n"})
    base = resolve_base("auto", sources(first.path), Event(name="push", sha=tip, before="0" * 40))
    assert base.workspace.list_files(".") == ()
    assert not base.workspace.is_file("contracts/refund.yaml")
    assert "no earlier commit" in base.label


def test_merge_queue(upstream, pull, tmp_path):
    clone = upstream.check_out(tmp_path / "clone", pull["merge"])
    event = Event(name="merge_group", sha=pull["merge"], head_sha=pull["merge"], base_sha=pull["base"])
    base = resolve_base("auto", sources(clone, remote=Remote(url=upstream.url)), event)
    assert base.sha == pull["base"]


def test_a_nightly_run_on_the_default_branch_says_that_it_compares_with_itself(upstream, tmp_path):
    tip = upstream.git("rev-parse", "main")
    base = resolve_base("auto", sources(upstream.path, host=Host(upstream)), Event(name="schedule", sha=tip))
    assert base.sha == tip
    assert "the commit under test itself" in base.label


def test_the_hosts_word_on_a_branch_goes_before_a_stale_clone(upstream, tmp_path):
    git(tmp_path, "clone", "--quiet", upstream.url, "clone")
    tip = upstream.commit({"contracts/refund.yaml": "version: 2\n"})
    event = Event(name="workflow_dispatch", sha=tip, ref="refs/heads/other")
    clone = sources(tmp_path / "clone", remote=Remote(url=upstream.url), host=Host(upstream))
    assert resolve_base("main", clone, event).sha != tip  # a local branch of that name is what was asked for
    assert resolve_base("origin/main", sources(tmp_path / "clone"), event).sha != tip
    git(tmp_path / "clone", "checkout", "--quiet", "--detach")
    git(tmp_path / "clone", "branch", "--quiet", "-D", "main")
    assert resolve_base("main", clone, event).sha == tip


# On a developer's machine -------------------------------------------------------------------------------


def test_a_branch_is_compared_with_where_it_left_main(upstream, pull):
    upstream.git("checkout", "--quiet", "work")
    base = resolve_base("auto", sources(upstream.path))
    assert base.sha == pull["old"]
    assert base.label.endswith("(where HEAD left main)")


def test_the_remote_main_goes_before_the_local_one(upstream, tmp_path):
    git(tmp_path, "clone", "--quiet", upstream.url, "clone")
    clone = Repository(tmp_path / "clone")
    pushed = clone.git("rev-parse", "main")
    clone.commit({"contracts/refund.yaml": "version: 2\n"})
    base = resolve_base("auto", sources(clone.path))
    assert base.sha == pushed
    assert "origin/HEAD" in base.label


def test_uncommitted_work_on_main_is_compared_with_head(upstream):
    upstream.write({"contracts/refund.yaml": "dirty\n"})
    base = resolve_base("auto", sources(upstream.path))
    assert contract(base) == "version: 1\n"
    assert "HEAD, which is on main" in base.label


def test_a_repository_without_a_main_branch(upstream):
    upstream.git("branch", "--move", "main", "trunk")
    base = resolve_base("auto", sources(upstream.path))
    assert "no main branch was found" in base.label
    assert contract(base) == "version: 1\n"


def test_before_the_first_commit_there_is_nothing(tmp_path):
    empty = Repository(tmp_path / "empty")
    base = resolve_base("auto", sources(empty.path))
    assert base.workspace.list_files(".") == ()
    assert "no commit yet" in base.label


def test_no_repository_is_not_no_changes(tmp_path):
    with pytest.raises(BaseUnavailable, match="not in a git repository"):
        resolve_base("auto", BaseSources(worktree=WorkTree(tmp_path)))


def test_nothing_is_fetched_without_a_remote(upstream, pull, tmp_path):
    clone = upstream.check_out(tmp_path / "clone", pull["merge"])
    with pytest.raises(BaseUnavailable, match="git fetch"):
        resolve_base(pull["base"], sources(clone))


# Named --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("setting", ["main~1", "HEAD^", "HEAD~1", "v1", "refs/tags/v1"])
def test_revisions(upstream, setting):
    first = upstream.git("rev-parse", "main")
    upstream.git("tag", "-a", "v1", "-m", "annotated")
    upstream.commit({"contracts/refund.yaml": "version: 2\n"})
    base = resolve_base(setting, sources(upstream.path))
    assert (base.sha, contract(base)) == (first, "version: 1\n")
    assert setting in base.label


@pytest.mark.parametrize("setting", ["HEAD^", "HEAD~", "HEAD~1", "HEAD^1"])
def test_the_parent_of_a_shallow_head(upstream, tmp_path, setting):
    first = upstream.git("rev-parse", "main")
    tip = upstream.commit({"contracts/refund.yaml": "version: 2\n"})
    clone = upstream.check_out(tmp_path / "clone", tip)
    base = resolve_base(setting, sources(clone, remote=Remote(url=upstream.url)), Event(sha=tip))
    assert base.sha == first


@pytest.mark.parametrize("setting", ["HEAD~7", "HEAD^2", "HEAD", "HEAD^^^"])
def test_the_hosts_head_is_never_taken_for_ours(upstream, tmp_path, setting):
    (tmp_path / "plain").mkdir()
    host = Host(upstream)
    with pytest.raises(BaseUnavailable):
        resolve_base(setting, sources(tmp_path / "plain", host=host), Event())
    assert host.asked == []


@pytest.mark.parametrize("setting", ["main", "origin/main", "feature/x"])
def test_branches_that_the_clone_lacks_are_fetched(upstream, tmp_path, setting):
    first = upstream.git("rev-parse", "main")
    upstream.git("branch", "feature/x")
    upstream.git("checkout", "--quiet", "-b", "work")
    clone = upstream.check_out(tmp_path / "clone", upstream.commit({"contracts/refund.yaml": "version: 2\n"}))
    base = resolve_base(setting, sources(clone, remote=Remote(url=upstream.url)), Event())
    assert (base.sha, contract(base)) == (first, "version: 1\n")


def test_revision_and_path(upstream):
    first = upstream.git("rev-parse", "main")
    upstream.commit({"contracts/refund.yaml": None, "tools/refund.yaml": "version: 2\n"})
    base = resolve_base("HEAD~1:contracts/refund.yaml", sources(upstream.path))
    assert base.paths == ("contracts/refund.yaml",)
    assert base.workspace.read_bytes(base.paths[0]) == b"version: 1\n"
    assert (base.sha, base.label) == (first, f"contracts/refund.yaml in commit {first[:7]} (HEAD~1)")


@pytest.mark.parametrize("setting", ["main:absent.yaml", "main:contracts/absent"])
def test_a_named_place_that_is_not_there_is_not_no_tools(upstream, setting):
    with pytest.raises(BaseUnavailable, match="does not exist"):
        resolve_base(setting, sources(upstream.path))


@pytest.mark.parametrize("setting", ["main:", ":contracts", ":", "a b:c"])
def test_halves_of_a_revision_and_path(upstream, setting):
    with pytest.raises(ConfigurationError, match="REVISION:PATH"):
        resolve_base(setting, sources(upstream.path))


def test_paths(upstream):
    upstream.write({"baseline/refund.yaml": "version: 0\n"})
    for setting in ("baseline", "baseline/", "./baseline", str(upstream.path / "baseline"), "baseline/refund.yaml"):
        base = resolve_base(setting, sources(upstream.path))
        assert base.sha is None
        assert base.workspace.is_file(base.paths[0]) or base.workspace.is_directory(base.paths[0])
        assert base.label == f"files in {base.paths[0]}"


def test_paths_need_no_repository(tmp_path):
    (tmp_path / "baseline").mkdir()
    base = resolve_base("baseline", BaseSources(worktree=WorkTree(tmp_path)))
    assert base.paths == ("baseline",)


def test_a_name_that_is_both_is_asked_about(upstream):
    upstream.write({"release/refund.yaml": "version: 0\n"})
    upstream.git("branch", "release")
    with pytest.raises(ConfigurationError, match="both a path and a git revision") as caught:
        resolve_base("release", sources(upstream.path))
    assert "`./release`" in caught.value.hint
    assert resolve_base("./release", sources(upstream.path)).paths == ("release",)
    assert resolve_base("refs/heads/release", sources(upstream.path)).sha


def test_a_path_outside_is_refused(upstream):
    with pytest.raises(ConfigurationError, match="outside"):
        resolve_base("../elsewhere", sources(upstream.path))


def test_nothing_of_that_name(upstream):
    with pytest.raises(BaseUnavailable, match="`nowhere` names no commit in this clone"):
        resolve_base("nowhere", sources(upstream.path))


def test_a_workspace_below_the_top_of_the_repository(upstream, tmp_path):
    first = upstream.commit({"agent/contracts/refund.yaml": "version: 5\n"})
    tip = upstream.commit({"agent/contracts/refund.yaml": "version: 6\n"})
    clone = upstream.check_out(tmp_path / "clone", tip)
    below = sources(clone / "agent", remote=Remote(url=upstream.url))
    for found in (below, replace(below, remote=None, host=Host(upstream))):
        base = resolve_base("HEAD^", found, Event(sha=tip))
        assert base.sha == first
        assert contract(base) == "version: 5\n"


def test_a_workspace_below_the_top_without_git(upstream, tmp_path):
    tip = upstream.commit({"agent/contracts/refund.yaml": "version: 5\n"})
    (tmp_path / "plain" / "agent").mkdir(parents=True)
    event = Event(name="merge_group", base_sha=tip, workspace=str(tmp_path / "plain"))
    base = resolve_base("auto", sources(tmp_path / "plain" / "agent", host=Host(upstream)), event)
    assert contract(base) == "version: 5\n"
