"""Fixtures: the kernels' sources, compiled for the host, in each order of threads."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # so that the tests can import `host_module`

from host_module import COMPILER, UNWRITTEN, HostKernel, HostModule

from agog_core.plugin import InvalidArgumentError
from agog_cuda_cupy.cuda.modules import Modules


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Without a compiler there is nothing to run."""
    if COMPILER is None:
        for item in items:
            if Path(__file__).parent in item.path.parents:
                item.add_marker(pytest.mark.skip(reason="no C++ compiler is installed: neither $CXX nor g++ is there"))


class HostModules(Modules):
    """Modules on the host; what is to be looked at later waits for `errors`."""

    def __init__(self, is_fused: bool = False) -> None:
        self._waiting: list[tuple[tuple[Any, ...], Callable[..., None]]] = []
        compile = partial(HostModule, is_fused=is_fused)
        super().__init__(
            UNWRITTEN, compile, lambda array: int(array.ctypes.data), lambda *one: self._waiting.append(one)
        )

    def errors(self) -> list[str]:
        """The words of the errors so far, which are forgotten then."""
        waiting, self._waiting = self._waiting, []
        return [words for numbers, look in waiting if (words := _words(look, numbers)) is not None]


def _words(look: Callable[..., None], numbers: tuple[Any, ...]) -> str | None:
    try:
        look(*[number[()] for number in numbers])
    except InvalidArgumentError as error:
        return str(error)
    return None


_MODULES = {is_fused: HostModules(is_fused) for is_fused in (False, True)}


@pytest.fixture(params=["forward", "backward", "random", "random_again"])
def order(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The order in which a block's threads run; each test of a kernel runs in all of them."""
    orders = ["forward", "backward", "random", "random_again"]
    monkeypatch.setattr(HostKernel, "order", orders.index(request.param))
    return str(request.param)


@pytest.fixture
def modules() -> HostModules:
    """The kernels without fused arithmetic."""
    return _MODULES[False]


@pytest.fixture(params=[False, True], ids=["unfused", "fused"])
def either_modules(request: pytest.FixtureRequest) -> HostModules:
    """The kernels with and without fused arithmetic, for those whose bits are promised."""
    return _MODULES[request.param]
