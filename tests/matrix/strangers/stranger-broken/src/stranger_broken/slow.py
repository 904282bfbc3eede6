"""A module that takes long to import."""

import time
from collections.abc import Iterator

from agog_core.plugin import Kernel, hookimpl, requires

requires(2)

time.sleep(1.5)


@hookimpl
def agog_kernels() -> Iterator[Kernel]:
    """Nothing at all."""
    yield from ()
