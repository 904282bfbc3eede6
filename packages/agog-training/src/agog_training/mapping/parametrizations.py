"""Parametrizations: weights that PyTorch computes from other tensors: weight norm and spectral norm."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Computed", "computed_weights", "with_computed_weights"]

_OF_PARAMETRIZATIONS = r"(?P<head>(?:.*[./])?)parametrizations\.(?P<weight>[^./]+)\."
# Keys by which each norm is known, and those of the other tensors; {} is the weight.
_KINDS = (
    (re.compile(r"(?P<head>(?:.*[./])?)(?P<weight>[^./]+)_g"), "{}_g", "{}_v"),
    (re.compile(_OF_PARAMETRIZATIONS + "original0"), "parametrizations.{}.original0", "parametrizations.{}.original1"),
    (re.compile(r"(?P<head>(?:.*[./])?)(?P<weight>[^./]+)_orig"), "{}_orig", "{}_u", "{}_v"),
    (
        re.compile(_OF_PARAMETRIZATIONS + "original"),
        *("parametrizations.{}.original", "parametrizations.{}.0._u", "parametrizations.{}.0._v"),
    ),
)


class Computed(NamedTuple):
    """A weight that is computed of several tensors.

    Args:
        name: the key that it has without the norm.
        keys: those of the tensors.
        value: the weight.
        vector: the left singular vector of a spectral norm; None for a weight norm.
        doubt: why it may be another value.
    """

    name: str
    keys: tuple[str, ...]
    value: Any
    vector: Any = None
    doubt: str = ""


def computed_weights(tensors: Mapping[str, Any]) -> Iterator[Computed]:
    """The weights of a file that PyTorch computes of a norm and a direction, or divides by their largest stretch.

    >>> tensors = {"fc.weight_g": np.array([[10.0]]), "fc.weight_v": np.array([[3.0, 4.0]])}
    >>> [(weight.name, weight.value.tolist()) for weight in computed_weights(tensors)]
    [('fc.weight', [[6.0, 8.0]])]
    """
    for key in tensors:
        for pattern, *names in _KINDS:
            found = pattern.fullmatch(key)
            keys = tuple(found["head"] + name.format(found["weight"]) for name in names) if found else ()
            if found and all(each in tensors for each in keys):
                made = _of_norms if len(keys) == 2 else _of_singular_vectors
                computed = made(f"{found['head']}{found['weight']}", keys, [tensors[each] for each in keys])
                if computed is not None and computed.name not in tensors:
                    yield computed


def with_computed_weights(tensors: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """The tensors with PyTorch's computed weights in place of their sources, in the same order; and the doubts that
    there are of some. A vector of a spectral norm is kept as ``..._u``.
    """
    of_key = {key: weight for weight in computed_weights(tensors) for key in weight.keys}
    found: dict[str, Any] = {}
    for key, tensor in tensors.items():
        weight = of_key.get(key)
        if weight is None:
            found[key] = tensor
        else:
            found[weight.name] = weight.value
            found |= {} if weight.vector is None else {f"{weight.name}_u": weight.vector}
    return found, {weight.name: weight.doubt for weight in of_key.values() if weight.doubt}


def _of_norms(name: str, keys: tuple[str, ...], arrays: Sequence[Any]) -> Computed | None:
    """The norms have the axes of the directions, of size 1 if there is one norm along all of the axis."""
    norms, directions = (np.asarray(array, np.float64) for array in arrays)
    if norms.ndim not in (0, directions.ndim) or any(
        size not in (1, whole) for size, whole in zip(norms.shape, directions.shape, strict=False)
    ):
        return None
    axes = tuple(axis for axis in range(directions.ndim) if norms.ndim == 0 or norms.shape[axis] == 1)
    lengths = np.sqrt(np.sum(directions**2, axis=axes, keepdims=True))
    return Computed(name, keys, directions * (norms / lengths))


def _of_singular_vectors(name: str, keys: tuple[str, ...], arrays: Sequence[Any]) -> Computed | None:
    """The outputs are along the first axis, or for transposed convolutions along the second one."""
    weight, left, right = (np.asarray(array, np.float64) for array in arrays)
    matrices = [np.moveaxis(weight, axis, 0).reshape(weight.shape[axis], -1) for axis in range(min(weight.ndim, 2))]
    fitting = [matrix for matrix in matrices if matrix.shape == (*left.shape, *right.shape)]
    if len(fitting) == 2 and weight.ndim == 2:
        fitting = fitting[:1]
    if not fitting:
        return None
    aligned = [matrix for matrix in fitting if _alignment(matrix, left, right) > 0.9]
    doubt = ""
    if len(fitting) == 2 and len(aligned) != 1:
        doubt = (
            "its spectral norm may be along either of two axes of one size: give propose_mapping the weight itself, "
            "as torch.nn.utils.parametrize.remove_parametrizations leaves it"
        )
    matrix = (aligned if len(aligned) == 1 else fitting)[0]
    return Computed(name, keys, weight / (left @ matrix @ right), left, doubt)


def _alignment(matrix: Any, left: Any, right: Any) -> float:
    """How far the vectors belong to the matrix: 1 where a power iteration has just made the right one of the left."""
    image = left @ matrix
    return float(image @ right / (np.linalg.norm(image) * np.linalg.norm(right) or 1))
