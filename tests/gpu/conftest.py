"""What runs where there is a device "gpu": a card, or the stand-in for CuPy, which the header tells apart."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import agog.eager as tfe

sys.path.insert(0, str(Path(__file__).parent))  # so that the tests can import `training_steps`


def pytest_report_header() -> str:
    """Where this runs."""
    if tfe.num_gpus() == 0:
        return "gpu: there is no such device"
    import cupy

    if cupy.__version__.endswith("+numpy"):
        return f"gpu: cupy-on-numpy, the surface of CuPy {cupy.__version__}; nothing here runs on a GPU"
    name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    return f"gpu: {name}, CuPy {cupy.__version__}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Without the device there is nothing to run."""
    if tfe.num_gpus() == 0:
        for item in items:
            if Path(__file__).parent in item.path.parents:
                item.add_marker(pytest.mark.skip(reason='there is no device "gpu"; `agog doctor` says why'))


@pytest.fixture
def on_numpy() -> bool:
    """Whether CuPy is the stand-in."""
    import cupy

    return str(cupy.__version__).endswith("+numpy")
