"""Real git repositories, made as a test reads: `repo.commit(**files)`."""

import os
import subprocess
from pathlib import Path


def git(directory: Path, *arguments: str, env: dict | None = None) -> str:
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(directory),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@example.com",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@example.com",
        **(env or {}),
    }
    done = subprocess.run(
        ["git", "-c", "protocol.file.allow=always", *arguments],
        cwd=directory,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


class Repository:
    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        git(path, "init", "--quiet", "--initial-branch=main")
        git(path, "config", "uploadpack.allowAnySHA1InWant", "true")
        git(path, "config", "uploadpack.allowFilter", "true")

    @property
    def url(self) -> str:
        return self.path.as_uri()

    def git(self, *arguments: str) -> str:
        return git(self.path, *arguments)

    def write(self, files: dict[str, str | bytes | None]) -> None:
        for name, content in files.items():
            target = self.path / name
            if content is None:
                target.unlink()
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.encode() if isinstance(content, str) else content)

    def commit(self, files: dict[str, str | bytes | None], message: str = "change") -> str:
        self.write(files)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")

    def pull_request(self, files: dict, *, number: int = 2) -> tuple[str, str]:
        """A branch off main and GitHub's test merge of it; gives the branch's tip and the merge."""
        base = self.git("rev-parse", "main")
        self.git("checkout", "--quiet", "-b", f"feature-{number}", base)
        head = self.commit(files)
        self.git("checkout", "--quiet", "--detach", "main")
        self.git("merge", "--quiet", "--no-ff", "--no-edit", head)
        merge = self.git("rev-parse", "HEAD")
        self.git("update-ref", f"refs/pull/{number}/merge", merge)
        self.git("checkout", "--quiet", "main")
        return head, merge

    def check_out(self, path: Path, revision: str, *options: str) -> Path:
        """What actions/checkout leaves: a fetch of one commit at depth 1, detached."""
        path.mkdir()
        git(path, "init", "--quiet", "--initial-branch=main")
        git(path, "remote", "add", "origin", self.url)
        depth = options or ("--depth=1",)
        git(path, "fetch", "--quiet", "--no-tags", *depth, "origin", f"+{revision}:refs/remotes/pull/2/merge")
        git(path, "checkout", "--quiet", "--detach", revision)
        return path
