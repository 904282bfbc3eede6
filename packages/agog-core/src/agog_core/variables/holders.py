"""Holders: other holders of a variable's memory, by reference counts."""

from __future__ import annotations

from sys import getrefcount

from agog_core.tensors.tensor import Tensor


def is_seen(tensor: Tensor) -> bool:
    """Whether other arrays see a variable's memory, where the references to its own array do not tell."""
    array = tensor._array
    owner = tensor._table.device.owner(array)
    return owner is not array and getrefcount(owner) > OWN_OWNER_HOLDERS


def _count_own_holders() -> tuple[int, int, int]:
    """The reference counts of a tensor, an array, and the owner of its memory, that only a variable holds, as this
    interpreter counts them."""

    class Array:
        def __init__(self) -> None:
            self.memory = object()

    class Holder:
        taken: Tensor

        def __init__(self) -> None:
            self.tensor = object.__new__(Tensor)
            self.tensor._array = Array()

    holder = Holder()
    tensor = holder.taken = holder.tensor
    del holder.tensor
    array = tensor._array
    holders = getrefcount(tensor), getrefcount(array)
    owner = array.memory
    return *holders, getrefcount(owner)


OWN_HOLDERS, OWN_ARRAY_HOLDERS, OWN_OWNER_HOLDERS = _count_own_holders()
