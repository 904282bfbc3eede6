"""Computed: weights from a custom getter, in place of variables."""

from __future__ import annotations

from typing import Any

from agog_core import Tensor, convert_to_tensor


class Computed:
    """A value that a custom getter has computed from a variable, for layers to read as one."""

    def __init__(self, value: Any) -> None:
        self._value = convert_to_tensor(value)
        self.shape, self.dtype = self._value.shape, self._value.dtype

    def value(self) -> Tensor:
        """The value."""
        return self._value

    read_value = __tensor__ = value
