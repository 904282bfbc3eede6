"""FakeArray: memory hidden from the host."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from agog_fake.memory import give_back, reserve


class FakeArray:
    """An array in the memory of a fake device.

    The memory is a NumPy array that only this plugin looks at, and that holds its values no sooner than the device's
    stream has run. NumPy's functions, ``len``, iteration, indexing, conversions, operators and comparisons raise: on a
    real device they would fail, or copy to the host unseen.

    Args:
        memory: the elements; the new array owns them, unless it is a view.
        index: the device.
        base: the array whose memory this one is a view of.
    """

    __slots__ = ("__weakref__", "base", "index", "memory")

    def __init__(self, memory: np.ndarray[Any, Any], index: int, base: FakeArray | None = None) -> None:
        self.index = index
        self.base: FakeArray | None = base if base is None or base.base is None else base.base
        if base is None:
            reserve(index, memory.nbytes)
        self.memory = memory

    def __del__(self, give_back: Any = give_back) -> None:  # the default outlives the module's names
        if self.base is None and hasattr(self, "memory"):
            give_back(self.index, self.memory.nbytes)

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes along the axes."""
        shape: tuple[int, ...] = self.memory.shape
        return shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements."""
        dtype: np.dtype[Any] = self.memory.dtype
        return dtype

    def __repr__(self) -> str:
        return f"<FakeArray of shape {self.memory.shape} and dtype {self.memory.dtype} on fake:{self.index}>"

    __hash__ = object.__hash__

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(
            f"{self!r} was used as if it were in host memory. Compute with ops, or copy it with the backend's to_host "
            "(for a tensor: tensor.numpy())."
        )

    __array__ = __array_ufunc__ = __array_function__ = __buffer__ = __dlpack__ = _refuse
    __len__ = __iter__ = __contains__ = __getitem__ = __setitem__ = _refuse
    __bool__ = __int__ = __float__ = __complex__ = __index__ = _refuse
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse
    __neg__ = __abs__ = __matmul__ = __rmatmul__ = __pow__ = __rpow__ = _refuse
