"""Files over the REST API: what it cannot follow is no base, never an empty one."""

import pytest

from abs_gate.errors import BaseUnavailable
from abs_gate.vcs.hosttree import HostTree

from .test_base import Entry

FILE = Entry("file", "a.yaml", 2, b"a\n")


class Files:
    """Answers as GitHub does: a link to a file is answered with the file, any other as what it is."""

    def __init__(self, target):
        self.answers = {
            "contracts": (Entry("file", "a.yaml", 2), Entry("symlink", "linked", 9)),
            "contracts/a.yaml": FILE,
            "contracts/linked": target,
        }

    def look_up(self, path, sha):
        return self.answers.get(path)

    def read_file(self, path, sha):
        return self.answers[path].content


def test_a_link_to_a_file_is_listed_and_read():
    tree = HostTree(Files(Entry("file", "linked", 2, b"b\n")), "1" * 40)
    assert tree.list_files("contracts") == ("contracts/a.yaml", "contracts/linked")
    assert tree.read_bytes("contracts/linked") == b"b\n"


@pytest.mark.parametrize("target", [Entry("symlink", "linked", 9), None])
def test_any_other_link_makes_the_base_unavailable(target):
    tree = HostTree(Files(target), "1" * 40)
    with pytest.raises(BaseUnavailable, match="contracts/linked"):
        tree.list_files("contracts")
