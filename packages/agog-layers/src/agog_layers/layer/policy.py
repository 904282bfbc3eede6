"""Policy: the dtypes of a layer's computation and of its variables."""

from __future__ import annotations

from typing import Any

from agog_core import as_dtype
from agog_core.settings import Setting
from agog_layers.serialization.description import Configured

__all__ = ["Policy", "global_policy", "set_global_policy"]

_MIXED = {"mixed_float16": "float16", "mixed_bfloat16": "bfloat16"}


class Policy(Configured):
    """The compute dtype of a layer, and the dtype of its variables.

    A layer with a policy casts its inputs, as far as they are floats, to the dtype it computes in, and reads its
    variables in it. With the mixed policies these are of float32, so that small steps are not lost.

    Args:
        name: ``"mixed_float16"``, ``"mixed_bfloat16"``, or the name of a dtype of floats, for both.

    Raises:
        ValueError: the name is none of these.

    >>> policy = Policy("mixed_float16")
    >>> policy.compute_dtype, policy.variable_dtype
    ('float16', 'float32')
    """

    def __init__(self, name: str) -> None:
        kind = getattr(name, "name", name)
        self.name = str(kind)
        if self.name in _MIXED:
            self.compute_dtype, self.variable_dtype = _MIXED[self.name], "float32"
            return
        try:
            dtype = as_dtype(kind)
        except (TypeError, ValueError):
            dtype = None
        if dtype is None or not dtype.is_floating:
            raise ValueError(f"Policy: name must be one of {', '.join(_MIXED)}, or a dtype of floats; got {name!r}.")
        self.name = self.compute_dtype = self.variable_dtype = dtype.name

    def __repr__(self) -> str:
        return f"<Policy {self.name!r}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Policy) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)


# What `set_global_policy` was told in this thread or task.
_policy: Setting[Policy | None] = Setting("agog_policy", None)


def set_global_policy(policy: Any) -> None:
    """Choose the policy of the layers that are made from now on, in this thread or task.

    Args:
        policy: a `Policy` or its name; None for layers that compute in the dtype of their first input.

    Raises:
        ValueError: there is no such policy.

    >>> from agog_layers import Dense
    >>> set_global_policy("mixed_bfloat16")
    >>> layer = Dense(3)
    >>> layer.compute_dtype, layer.variable_dtype
    (tf.bfloat16, tf.float32)
    >>> set_global_policy(None)
    """
    _policy.set(policy if policy is None or isinstance(policy, Policy) else Policy(policy))


def global_policy() -> Policy:
    """The policy of the layers that are made now.

    Returns:
        What `set_global_policy` was told; before that ``"float32"``, though layers without a policy compute in the
        dtype of their first input.

    >>> global_policy()
    <Policy 'float32'>
    """
    return _policy.get() or Policy("float32")


def policy_of(dtype: Any) -> Policy | None:
    """The policy of a layer that was given a dtype, a policy, the name of one, or None; None if it has none."""
    if isinstance(dtype, Policy):
        return dtype
    if isinstance(dtype, str) and dtype in _MIXED:
        return Policy(dtype)
    chosen = _policy.get()
    if chosen is None or dtype is None:
        return chosen
    return Policy(as_dtype(dtype).name) if as_dtype(dtype).is_floating else None
