"""pytest plugin: options and fixtures. Load it with ``pytest -p agog_testing.pytest_plugin``, or from a conftest.py::

    pytest_plugins = ["agog_testing.pytest_plugin"]

It is not loaded automatically, so that unrelated suites stay unaffected.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
import pytest

import agog_core as ag
from agog_core.dispatch.devices.lookup import get_device

_SEED = pytest.StashKey[int]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("agog")
    group.addoption(
        "--agog-device",
        metavar="TYPE[:N]",
        help="run every test inside of agog_core.device(...), such as gpu or fake:1",
    )
    group.addoption(
        "--agog-seed",
        type=int,
        help="the seed of the fixture rng and of agog's random ops (default: a new one each time)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Choose the seed, and find the device; raises pytest.UsageError if there is none."""
    seed = config.getoption("--agog-seed")
    config.stash[_SEED] = int.from_bytes(os.urandom(4), "little") if seed is None else seed
    name = config.getoption("--agog-device")
    if name is not None:
        try:
            get_device(name)
        except (ag.errors.InvalidArgumentError, ValueError) as error:
            raise pytest.UsageError(f"--agog-device={name}: {error}") from error


def pytest_report_header(config: pytest.Config) -> str:
    """A line with the device and the seed of the tests."""
    device = config.getoption("--agog-device") or "each test's own choice"
    return f"agog: device {device}, seed {config.stash[_SEED]}"


@pytest.fixture(autouse=True)
def _agog_device(request: pytest.FixtureRequest) -> Iterator[None]:
    name = request.config.getoption("--agog-device")
    if name is None:
        yield
    else:
        with ag.device(name):
            yield


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """A NumPy generator; a failing test prints its seed, which is also that of agog's random ops."""
    seed = request.config.stash[_SEED]
    ag.set_random_seed(seed)
    print(f"seeded with {seed}; --agog-seed={seed} repeats it")  # pytest shows what a failed test printed
    return np.random.default_rng(seed)
