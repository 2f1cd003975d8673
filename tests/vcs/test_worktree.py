import os
import socket
from pathlib import Path

import pytest

from abs_gate.errors import ConfigurationError
from abs_gate.vcs.worktree import WorkTree


@pytest.fixture
def root(tmp_path):
    place = tmp_path / "workspace"
    (place / "contracts" / "deep").mkdir(parents=True)
    (place / "contracts" / "a.yaml").write_text("a: 1\n")
    (place / "contracts" / "deep" / "b.yaml").write_text("b: 1\n")
    (place / "contracts" / ".hidden").mkdir()
    (place / "contracts" / ".hidden" / "c.yaml").write_text("c: 1\n")
    (tmp_path / "secret.yaml").write_text("token: hunter2\n")
    return place


@pytest.fixture
def tree(root):
    return WorkTree(root)


def refused(call, *arguments, **options):
    with pytest.raises(ConfigurationError) as caught:
        result = call(*arguments, **options)
        if not isinstance(result, bytes | bool | tuple):
            list(result)
    (finding,) = caught.value.findings
    assert finding.location is not None
    return finding


def test_reads_and_lists(tree):
    assert tree.read_bytes("contracts/a.yaml") == b"a: 1\n"
    assert tree.read_bytes("./contracts/deep/../a.yaml") == b"a: 1\n"
    assert tree.list_files("contracts") == ("contracts/a.yaml", "contracts/deep/b.yaml")
    assert tree.list_files("./contracts/") == ("contracts/a.yaml", "contracts/deep/b.yaml")
    assert tree.list_files(".") == ("contracts/a.yaml", "contracts/deep/b.yaml")
    assert tree.is_file("contracts/a.yaml")
    assert not tree.is_file("contracts")
    assert tree.is_directory("contracts")
    assert tree.is_directory(".")
    assert not tree.is_directory("absent")


def test_absolute_paths_inside_are_accepted_and_made_relative(tree, root):
    path = str(root / "contracts")
    assert tree.list_files(path) == ("contracts/a.yaml", "contracts/deep/b.yaml")
    assert tree.relative(f"{path}/a.yaml") == "contracts/a.yaml"
    assert tree.read_bytes(f"{path}/a.yaml") == b"a: 1\n"


def test_a_root_given_through_a_link(root, tmp_path):
    (tmp_path / "link").symlink_to(root)
    tree = WorkTree(tmp_path / "link")
    assert tree.relative(str(tmp_path / "link" / "contracts" / "a.yaml")) == "contracts/a.yaml"
    assert tree.relative(str(root / "contracts" / "a.yaml")) == "contracts/a.yaml"


@pytest.mark.parametrize(
    "path", ["../secret.yaml", "contracts/../../secret.yaml", "/etc/passwd", "/", "..", "a\0b", "../workspace-2/x"]
)
def test_outside_is_refused(tree, root, path):
    for call in (tree.read_bytes, tree.is_file, tree.is_directory, tree.list_files, tree.relative, tree.read_chunks):
        assert refused(call, path).rule == "path-outside-workspace"


def test_a_sibling_with_the_same_beginning_is_outside(tree, root):
    (root.parent / "workspace-evil").mkdir()
    (root.parent / "workspace-evil" / "x.yaml").touch()
    assert refused(tree.read_bytes, "../workspace-evil/x.yaml").rule == "path-outside-workspace"


def test_links_out_are_refused(tree, root):
    (root / "contracts" / "out.yaml").symlink_to(root.parent / "secret.yaml")
    (root / "contracts" / "deep" / "out").symlink_to(root.parent)
    assert refused(tree.read_bytes, "contracts/out.yaml").rule == "path-outside-workspace"
    assert refused(tree.read_bytes, "contracts/deep/out/secret.yaml").rule == "path-outside-workspace"
    assert "contracts/deep/out" in str(refused(tree.list_files, "contracts"))
    (root / "contracts" / "deep" / "out").unlink()
    (root / "output").symlink_to(root.parent)
    assert "contracts/a.yaml" in tree.list_files(".")
    assert tree.list_files("contracts") == ("contracts/a.yaml", "contracts/deep/b.yaml", "contracts/out.yaml")


def test_a_file_is_listed_once_whatever_leads_to_it(tree, root):
    (root / "current").symlink_to("contracts")
    (root / "contracts" / "again.yaml").symlink_to("a.yaml")
    assert tree.read_bytes("current/a.yaml") == b"a: 1\n"
    (root / "elsewhere.yaml").write_text("c: 1\n")
    (root / "contracts" / "shared.yaml").symlink_to("../elsewhere.yaml")
    assert tree.list_files("current") == ("current/a.yaml", "current/deep/b.yaml", "current/shared.yaml")
    assert tree.read_bytes("contracts/shared.yaml") == b"c: 1\n"


def test_links_to_directories_are_followed_without_circles(tree, root):
    (root / "held" / "more").mkdir(parents=True)
    (root / "held" / "c.yaml").write_text("c: 1\n")
    (root / "held" / "more" / "d.yaml").write_text("d: 1\n")
    (root / "held" / "more" / "loop").symlink_to("..")
    (root / "contracts" / "linked").symlink_to("../held")
    (root / "contracts" / "twice").symlink_to("../held")
    (root / "contracts" / "self").symlink_to(".")
    (root / "contracts" / "history").symlink_to("../.git")
    (root / ".git").mkdir(exist_ok=True)
    (root / ".git" / "x.yaml").touch()
    assert tree.list_files("contracts") == (
        "contracts/a.yaml",
        "contracts/deep/b.yaml",
        "contracts/linked/c.yaml",
        "contracts/linked/more/d.yaml",
    )
    assert tree.read_bytes("contracts/linked/more/d.yaml") == b"d: 1\n"
    assert len(tree.list_files(".")) == 4


def test_links_in_circles(tree, root):
    (root / "one").symlink_to("two")
    (root / "two").symlink_to("one")
    assert refused(tree.read_bytes, "one").rule in ("not-a-regular-file", "file-not-found")
    assert not tree.is_file("one")


def test_special_files_are_refused_without_waiting(tree, root, monkeypatch):
    os.mkfifo(root / "contracts" / "fifo.yaml")
    with socket.socket(socket.AF_UNIX) as listener:
        monkeypatch.chdir(root)  # a socket's path is limited to about 100 characters
        listener.bind("contracts/s.yaml")
        for name in ("contracts/fifo.yaml", "contracts/s.yaml"):
            assert refused(tree.read_bytes, name).rule == "not-a-regular-file"
            assert not tree.is_file(name)
        assert tree.list_files("contracts") == ("contracts/a.yaml", "contracts/deep/b.yaml")


def test_devices_reached_by_name_are_outside(tree):
    assert refused(tree.read_bytes, "/dev/zero").rule == "path-outside-workspace"


def test_absent_and_directory(tree):
    absent = refused(tree.read_bytes, "contracts/absent.yaml")
    assert absent.rule == "file-not-found"
    assert absent.location.file == "contracts/absent.yaml"
    assert refused(tree.read_bytes, "contracts/a.yaml/x").rule == "file-not-found"
    assert refused(tree.read_bytes, "contracts").rule == "not-a-regular-file"
    assert refused(tree.list_files, "absent").rule == "file-not-found"
    assert refused(tree.list_files, "contracts/a.yaml").rule == "file-not-found"
    assert refused(tree.read_bytes, "x" * 5000).rule == "file-unreadable"


def test_limit_is_exact(tree, root):
    (root / "ten").write_bytes(b"0123456789")
    assert tree.read_bytes("ten", limit=10) == b"0123456789"
    finding = refused(tree.read_bytes, "ten", limit=9)
    assert finding.rule == "file-too-large"
    assert "0123" not in str(finding)


def test_any_size_is_read_in_pieces(tree, root):
    data = os.urandom(3 * 1024 * 1024 + 5)
    (root / "rows.jsonl").write_bytes(data)
    pieces = list(tree.read_chunks("rows.jsonl"))
    assert b"".join(pieces) == data
    assert max(map(len, pieces)) <= 1024 * 1024
    assert refused(tree.read_chunks, "absent.jsonl").rule == "file-not-found"


def test_names_that_are_not_utf8_are_said_not_skipped(tree, root):
    Path(os.fsdecode(bytes(root / "contracts") + b"/caf\xe9.yaml")).touch()
    finding = refused(tree.list_files, "contracts")
    assert finding.rule == "file-name-not-utf8"
    assert "caf\\xe9.yaml" in finding.message
    str(finding).encode()


def test_a_name_of_any_characters_is_read(tree, root):
    name = "contracts/new\nline ::error:: café.yaml"
    (root / name).write_text("x")
    assert tree.read_bytes(name) == b"x"
    assert name in tree.list_files("contracts")


def test_lfs_pointers_are_recognised(tree, root):
    (root / "p.yaml").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 12345\n")
    finding = refused(tree.read_bytes, "p.yaml")
    assert finding.rule == "lfs-pointer"
    assert "lfs: true" in finding.hint


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable(tree, root):
    (root / "locked.yaml").touch(mode=0o000)
    assert refused(tree.read_bytes, "locked.yaml").rule == "file-unreadable"


def test_reports_are_written_inside_only(tree, root):
    assert tree.output_path("report/result.json") == root / "report" / "result.json"
    (root / "report").symlink_to(root.parent)
    assert refused(tree.output_path, "report/result.json").rule == "path-outside-workspace"
    (root / "result.json").symlink_to(root / "contracts" / "a.yaml")
    assert refused(tree.output_path, "result.json").rule == "not-a-regular-file"
    os.mkfifo(root / "pipe")
    assert refused(tree.output_path, "pipe").rule == "not-a-regular-file"
    assert refused(tree.output_path, "../x").rule == "path-outside-workspace"
