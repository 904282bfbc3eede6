"""Fixtures: the kernels' sources, compiled for the host, in each order of threads.

With AGOG_HOST_CASES=card they are compiled for a card and run there, so that the same cases prove them on both.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # so that the tests can import `host_module`

from card_module import CardModule, address_on_card, forget_addresses
from host_module import COMPILER, UNWRITTEN, HostKernel, HostModule, HostWords

from agog_core.plugin import InvalidArgumentError
from agog_cuda_cupy.cuda.modules import Modules

ON_CARD = os.environ.get("AGOG_HOST_CASES") == "card"
# They test the host's own machinery.
OF_THE_HOST = ("test_cuda_cupy_host_broken", "test_cuda_cupy_host_cudnn", "test_cuda_cupy_host_faults")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Without a compiler there is nothing to run; on a card nothing that is of the host alone."""
    for item in items:
        if Path(__file__).parent not in item.path.parents:
            continue
        if ON_CARD and item.path.stem in OF_THE_HOST:
            item.add_marker(pytest.mark.skip(reason="it tests the host's compiler and memory, and runs on no card"))
        elif not ON_CARD and COMPILER is None:
            item.add_marker(pytest.mark.skip(reason="no C++ compiler is installed: neither $CXX nor g++ is there"))


class HostModules(Modules):
    """Modules on the host; what is to be looked at later waits for `errors`."""

    def __init__(self, is_fused: bool = False) -> None:
        self._taken = HostWords()
        compile = CardModule if ON_CARD else partial(HostModule, is_fused=is_fused)
        address = address_on_card if ON_CARD else lambda array: int(array.ctypes.data)
        super().__init__(UNWRITTEN, compile, address, self._taken)

    def errors(self) -> list[str]:
        """The words of the errors so far, which are forgotten then."""
        waiting, self._taken.waiting = self._taken.waiting, []
        return [words for word, look in waiting if (words := _words(look, word)) is not None]


def _words(look: Callable[..., None], word: Any) -> str | None:
    try:
        look(word[()])
    except InvalidArgumentError as error:
        return str(error)
    return None


_MODULES = {is_fused: HostModules(is_fused) for is_fused in (False, True)}


@pytest.fixture(autouse=True)
def _own_addresses() -> Iterator[None]:
    """The arrays of a test whose addresses kernels know."""
    yield
    forget_addresses()


@pytest.fixture(params=["forward"] if ON_CARD else ["forward", "backward", "random", "random_again"])
def order(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The order in which a block's threads run; each test of a kernel runs in all of them."""
    orders = ["forward", "backward", "random", "random_again"]
    monkeypatch.setattr(HostKernel, "order", orders.index(request.param))
    return str(request.param)


@pytest.fixture
def modules() -> HostModules:
    """The kernels without fused arithmetic."""
    return _MODULES[False]


@pytest.fixture(params=[False] if ON_CARD else [False, True], ids=lambda is_fused: "fused" if is_fused else "unfused")
def either_modules(request: pytest.FixtureRequest) -> HostModules:
    """The kernels with and without fused arithmetic, for those whose bits are promised."""
    return _MODULES[request.param]
