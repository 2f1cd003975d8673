import pytest

from .engine import Step, build


@pytest.fixture(scope="session")
def image():
    return build()


@pytest.fixture
def step(image, tmp_path):
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    return Step(image=image, place=tmp_path, workspace=workspace)
