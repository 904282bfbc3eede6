"""pytest plugin: options and fixtures. Load it with ``pytest -p agog_testing.pytest_plugin``, or from a conftest.py::

    pytest_plugins = ["agog_testing.pytest_plugin"]

It is not loaded automatically, so that unrelated suites stay unaffected. `collect` and `prove` run the tests of a
plugin's kernels, each in a process that may crash or hang::

    @pytest.mark.parametrize("case", collect("my-kernels"), ids=str)
    def test_the_contract(case):
        prove(case)
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
import pytest

import agog_core as ag
from agog_core.dispatch.devices.lookup import get_device
from agog_testing.conformance.isolation import IsolatedCase, collect

__all__ = ["IsolatedCase", "collect", "prove"]

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


def prove(case: IsolatedCase) -> None:
    """Run a case, and end the test as it ends: passed, failed, skipped where unavailable, or failed as expected."""
    __tracebackhide__ = True
    outcome = case.run()
    required = {name.strip() for name in os.environ.get("REQUIRE_BACKEND", "").split(",")}
    if outcome.is_bad or (outcome.kind == "unavailable" and case.plugin in required):
        pytest.fail(outcome.text, pytrace=False)
    if outcome.kind == "unavailable":
        pytest.skip(outcome.text)
    if outcome.kind == "xfailed":
        pytest.xfail(outcome.text)


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
