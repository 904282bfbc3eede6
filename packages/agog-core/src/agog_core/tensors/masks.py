"""Masks: the valid steps of sequences, attached to the results of layers."""

from __future__ import annotations

import weakref

from agog_core.tensors.tensor import Tensor

# The ids of tensors that layers have returned, to the tensors and their masks; an entry goes with its tensor.
known: dict[int, tuple[weakref.ref[Tensor], Tensor]] = {}


def with_mask(x: Tensor, mask: Tensor | None) -> Tensor:
    """Let a mask, booleans of shape (batch, time), or None go along with a tensor, and return the tensor.

    >>> import agog_core as ag
    >>> x, mask = ag.zeros([1, 2, 3]), ag.constant([[True, False]])
    >>> own_mask(with_mask(x, mask)) is mask
    True
    """
    if mask is not None:
        key = id(x)
        known[key] = weakref.ref(x, lambda _: known.pop(key, None)), mask
    return x


def has_mask(x: Tensor) -> bool:
    """Whether a mask goes along with a tensor."""
    return own_mask(x) is not None


def own_mask(x: Tensor) -> Tensor | None:
    """The mask that goes along with a tensor, or None."""
    found = known.get(id(x))
    return found[1] if found is not None and found[0]() is x else None
