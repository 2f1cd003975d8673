import os

import pytest

from abs_gate.github.ownership import give_to_workspace_owner

OWNER = 12345

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")


@pytest.fixture
def workspace(tmp_path):
    place = tmp_path / "workspace"
    place.mkdir()
    os.chown(place, OWNER, OWNER)
    return place


def test_reports_and_their_new_directories_change_hands(workspace):
    report = workspace / "out" / "abs-gate-report"
    report.mkdir(parents=True)
    (report / "result.json").touch()
    (workspace / "other.txt").touch()
    give_to_workspace_owner([report], workspace)
    assert {path.lstat().st_uid for path in (report, report.parent, report / "result.json")} == {OWNER}
    assert (workspace / "other.txt").stat().st_uid == 0


def test_links_are_not_followed_and_outside_stays(workspace, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "passwd").touch()
    (workspace / "report").mkdir()
    (workspace / "report" / "link").symlink_to(outside / "passwd")
    (workspace / "dir").symlink_to(outside)
    give_to_workspace_owner([workspace / "report", workspace / "dir" / "passwd", outside], workspace)
    assert (outside / "passwd").stat().st_uid == 0
    assert outside.stat().st_uid == 0
    assert (workspace / "report" / "link").lstat().st_uid == OWNER


def test_absent_reports_and_the_workspace_itself_are_no_matter(workspace):
    give_to_workspace_owner([workspace / "absent", workspace], workspace)


def test_a_workspace_of_root_is_left_alone(tmp_path):
    (tmp_path / "report").touch()
    give_to_workspace_owner([tmp_path / "report"], tmp_path)
    assert (tmp_path / "report").stat().st_uid == 0
