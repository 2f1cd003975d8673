import os
import stat
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from abs_gate.vcs.fetch import Remote, fetch_commit
from abs_gate.vcs.git import Git, GitFailed, is_revision, is_sha
from abs_gate.vcs.objects import ObjectReader

from .repository import Repository, git


def test_find_takes_the_repository_around_a_directory(upstream, tmp_path):
    below = upstream.path / "contracts"
    assert Git.find(below).top == upstream.path
    (tmp_path / "plain").mkdir()
    assert Git.find(tmp_path / "plain") is None


def test_a_directory_that_looks_like_a_bare_repository_is_not_one(upstream):
    trap = upstream.path / "trap"
    git(upstream.path, "init", "--quiet", "--bare", str(trap))
    assert Git.find(trap).top == upstream.path


def test_work_trees_of_one_repository(upstream, tmp_path):
    upstream.git("worktree", "add", "--quiet", str(tmp_path / "second"), "-b", "second")
    found = Git.find(tmp_path / "second")
    assert found.head() == upstream.git("rev-parse", "main")
    assert found.path_of("objects") == upstream.path / ".git" / "objects"


@pytest.mark.parametrize(
    "text",
    ["main", "origin/main", "v1.2.0", "HEAD~1", "HEAD^", "a" * 40, "feature/x@y", "refs/pull/2/merge", "Größe"],
)
def test_revisions(text):
    assert is_revision(text)


@pytest.mark.parametrize(
    "text",
    ["", "-x", "--upload-pack=touch /tmp/x", "a b", "a..b", "a\nb", "a:b", ":/x", "a*", "a\0", "x^{/slow}", "x" * 300],
)
def test_texts_that_are_no_revision(text, upstream):
    assert not is_revision(text)
    assert Git.find(upstream.path).find_commit(text) is None


@pytest.mark.parametrize("text", ["a" * 40, "0" * 40, "f" * 64])
def test_hashes(text):
    assert is_sha(text)


@pytest.mark.parametrize("text", ["a" * 39, "A" * 40, "a" * 41, "a" * 40 + "\n", "g" * 40, ""])
def test_texts_that_are_no_hash(text, upstream):
    assert not is_sha(text)
    with pytest.raises(GitFailed, match="not a commit hash"):
        Git.find(upstream.path).parents(text)


def test_commits_parents_and_merge_bases(upstream):
    base = upstream.git("rev-parse", "main")
    head, merge = upstream.pull_request({"x": "1"})
    repository = Git.find(upstream.path)
    assert repository.parents(merge) == (base, head)
    assert repository.merge_base(head, merge) == head
    assert repository.find_commit("feature-2") == head
    assert repository.find_commit("absent") is None
    assert repository.head() == base


def test_before_the_first_commit(tmp_path):
    empty = Repository(tmp_path / "empty")
    assert Git.find(empty.path).head() is None


def test_a_shallow_clone_names_parents_it_does_not_have(upstream, tmp_path):
    base = upstream.git("rev-parse", "main")
    head, merge = upstream.pull_request({"x": "1"})
    clone = Git.find(upstream.check_out(tmp_path / "clone", merge))
    assert clone.parents(merge) == (base, head)
    assert not clone.has_commit(base)


def test_a_partial_clone_is_seen_to_have_holes(upstream, tmp_path):
    first = upstream.git("rev-parse", "main")
    upstream.commit({"contracts/refund.yaml": "version: 2\n"})
    git(tmp_path, "clone", "--quiet", "--filter=blob:none", upstream.url, "partial")
    clone = Git.find(tmp_path / "partial")
    assert clone.is_partial()
    assert clone.find_commit(first) == first
    assert not clone.has_commit(first)
    assert clone.has_commit(clone.head())


@pytest.fixture
def slow_git(tmp_path, monkeypatch):
    """A git that takes its time."""
    path = tmp_path / "slow" / "git"
    path.parent.mkdir()
    path.write_text("#!/bin/sh\nexec sleep 20\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{path.parent}:{os.environ['PATH']}")


def test_no_git_binary(upstream):
    with pytest.raises(GitFailed, match="not installed"):
        Git.find(upstream.path, environ={"PATH": "/nonexistent"}).run("version")


def test_time_limit(upstream, slow_git):
    with pytest.raises(GitFailed, match=r"took longer than 0\.2 s"):
        Git.find(upstream.path).run("rev-parse", "HEAD", timeout_s=0.2)


def test_a_reader_that_hangs_is_ended(upstream, slow_git, monkeypatch):
    monkeypatch.setattr("abs_gate.vcs.objects.TIMEOUT_S", 0.2)
    reader = ObjectReader(Git.find(upstream.path))
    with pytest.raises(GitFailed, match="no answer in time"):
        reader.read("a" * 40)


def test_fetch_gets_the_files_and_leaves_the_clone_alone(upstream, tmp_path):
    base = upstream.git("rev-parse", "main")
    _, merge = upstream.pull_request({"x": "1"})
    path = upstream.check_out(tmp_path / "clone", merge)
    before = _snapshot(path / ".git")
    store, sha = fetch_commit(Git.find(path), base, Remote(url=upstream.url))
    assert sha == base
    assert store.has_commit(base)
    assert _snapshot(path / ".git") == before
    place = store.git_dir
    assert place.is_dir()
    del store
    assert not place.exists()


def test_fetch_borrows_what_is_here(upstream, tmp_path):
    big = os.urandom(2_000_000)
    base = upstream.commit({"big.bin": big})
    _, merge = upstream.pull_request({"contracts/refund.yaml": "version: 2\n"})
    path = upstream.check_out(tmp_path / "clone", merge)
    store, _ = fetch_commit(Git.find(path), base, Remote(url=upstream.url))
    fetched = sum(file.stat().st_size for file in store.git_dir.rglob("*") if file.is_file())
    assert fetched < 200_000


def test_fetch_by_ref_name(upstream, tmp_path):
    head, merge = upstream.pull_request({"x": "1"})
    clone = Git.find(upstream.check_out(tmp_path / "clone", merge))
    store, sha = fetch_commit(clone, "refs/heads/feature-2", Remote(url=upstream.url))
    assert sha == head
    assert store.has_commit(head)


def test_fetch_into_a_clone_without_borrowing(upstream, tmp_path):
    first = upstream.git("rev-parse", "main")
    upstream.commit({"contracts/refund.yaml": "version: 2\n"})
    git(tmp_path, "clone", "--quiet", "--filter=blob:none", upstream.url, "partial")
    store, sha = fetch_commit(Git.find(tmp_path / "partial"), first, Remote(url=upstream.url))
    assert store.has_commit(sha)


@pytest.mark.parametrize("revision", ["main", "--upload-pack=x", "a" * 39, "HEAD"])
def test_fetch_takes_hashes_and_full_names_only(upstream, revision):
    with pytest.raises(GitFailed, match="neither a commit hash nor a full ref name"):
        fetch_commit(Git.find(upstream.path), revision, Remote(url=upstream.url))


def test_fetch_of_what_is_not_there(upstream):
    with pytest.raises(GitFailed, match="git fetch"):
        fetch_commit(Git.find(upstream.path), "d" * 40, Remote(url=upstream.url))


class _Recorder(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.seen.append((self.path, self.headers.get_all("Authorization")))
        if self.server.redirect:
            self.send_response(302)
            self.send_header("Location", f"{self.server.redirect}{self.path}")
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self.send_error(404)

    def log_message(self, *_):
        pass


@pytest.fixture
def http_host():
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Recorder)
    server.daemon_threads = True
    server.seen = []
    server.redirect = ""
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def test_token_goes_by_header_once_whatever_the_clone_has(upstream, http_host):
    url = f"http://127.0.0.1:{http_host.server_port}/octo/repo"
    upstream.git("config", f"http.http://127.0.0.1:{http_host.server_port}/.extraheader", "AUTHORIZATION: basic old")
    with pytest.raises(GitFailed):
        fetch_commit(Git.find(upstream.path), "d" * 40, Remote(url=url, token="ghs_secret"))
    ((path, authorization),) = http_host.seen
    assert path.startswith("/octo/repo/info/refs")
    assert authorization == ["basic eC1hY2Nlc3MtdG9rZW46Z2hzX3NlY3JldA=="]


def test_redirects_are_not_followed(upstream, http_host):
    here = f"http://127.0.0.1:{http_host.server_port}"
    http_host.redirect = f"{here}/elsewhere"
    with pytest.raises(GitFailed):
        fetch_commit(Git.find(upstream.path), "d" * 40, Remote(url=f"{here}/octo/repo", token="ghs_secret"))
    assert [path for path, _ in http_host.seen if "elsewhere" in path] == []


def test_token_stands_in_no_argument_file_or_message(upstream, tmp_path, monkeypatch):
    seen = tmp_path / "argv"
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    real = git(upstream.path, "--exec-path")
    fake.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> {seen}\nexec {real}/git "$@"\n')
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    remote = Remote(url="http://127.0.0.1:9/octo/repo", token="ghs_secret")
    with pytest.raises(GitFailed) as caught:
        fetch_commit(Git.find(upstream.path), "d" * 40, remote)
    arguments = seen.read_text()
    assert "fetch" in arguments
    for text in (arguments, str(caught.value), repr(remote)):
        assert "ghs_secret" not in text
        assert "eC1hY2Nlc3M" not in text


def test_environment_of_git_is_an_allow_list(upstream):
    environ = {
        "PATH": os.environ["PATH"],
        "GIT_DIR": "/elsewhere",
        "GIT_SSH_COMMAND": "touch /tmp/owned",
        "GIT_EXTERNAL_DIFF": "x",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.sshCommand",
        "GIT_CONFIG_VALUE_0": "x",
        "GIT_SSL_CAINFO": "/etc/ca.pem",
        "INPUT_AGENT-TOKEN": "secret",
        "ACTIONS_RUNTIME_TOKEN": "secret",
        "HTTPS_PROXY": "http://proxy:3128",
    }
    found = Git.find(upstream.path, environ=environ).environment()
    assert {name for name in found if name.startswith("GIT_")} == {
        "GIT_SSL_CAINFO",
        "GIT_ALLOW_PROTOCOL",
        "GIT_LITERAL_PATHSPECS",
        "GIT_NO_LAZY_FETCH",
        "GIT_TERMINAL_PROMPT",
    }
    assert found["HTTPS_PROXY"] == "http://proxy:3128"
    assert "secret" not in found.values()


def test_private_certificates_of_requests_serve_git_too(upstream):
    environ = {"PATH": "/bin", "REQUESTS_CA_BUNDLE": "/etc/corp.pem"}
    assert Git.find(upstream.path, environ=environ).environment()["GIT_SSL_CAINFO"] == "/etc/corp.pem"


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="needs root to give a repository away")
def test_a_repository_of_another_user(upstream):
    for path in (upstream.path, *upstream.path.rglob("*")):
        os.chown(path, 12345, 12345, follow_symlinks=False)
    repository = Git.find(upstream.path)
    assert repository.head()
    assert not (Path.home() / ".gitconfig.lock").exists()


def _snapshot(directory):
    return {
        str(path.relative_to(directory)): (path.stat().st_mtime_ns, path.stat().st_size)
        for path in directory.rglob("*")
        if path.is_file()
    }
