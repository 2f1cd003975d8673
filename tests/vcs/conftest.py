import pytest

from .repository import Repository


@pytest.fixture
def upstream(tmp_path):
    """The repository as the host has it, with one contract on main."""
    repository = Repository(tmp_path / "upstream")
    repository.commit({"contracts/refund.yaml": "version: 1\n", "README.md": "hello\n"})
    return repository
