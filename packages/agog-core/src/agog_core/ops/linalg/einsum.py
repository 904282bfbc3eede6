"""Einsum: contractions of any number of tensors in Einstein's notation, and dot products over several axes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from agog_core.calls.call import call
from agog_core.dispatch.op import Op
from agog_core.dtypes import NUMERIC
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array import ones, reshape
from agog_core.ops.linalg.diagonal import eye
from agog_core.shapes import Shape, normalize_axis
from agog_core.tensors.convert import convert_to_tensor, host_value
from agog_core.tensors.tensor import Tensor, TensorLike

__all__ = ["einsum", "tensordot"]

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def einsum(equation: str, *inputs: TensorLike, name: str | None = None) -> Tensor:
    """Products of elements of several tensors, summed over axes, in Einstein's notation.

    Each input has a term of letters, one for each axis; equal letters stand for one index. Letters that are not in the
    output's term are summed over. The order of the products is chosen for speed by opt_einsum (D. Smith and J. Gray,
    "opt_einsum: a Python package for optimizing contraction order", JOSS 3(26), 2018).

    Args:
        equation: terms between commas, and the output's term after ``->``, such as ``"ij,jk->ik"``. Without an arrow,
            the output has the letters that occur once, in alphabetical order. ``...`` stands for leading axes that
            broadcast; a letter twice in one term means its diagonal.
        *inputs: as many tensors of numbers as there are terms, of one dtype.

    Returns:
        The sums of products, with an axis for each letter of the output's term.

    Raises:
        ValueError: the equation is malformed, or has another number of terms than there are inputs.
        InvalidArgumentError: a term does not have a letter for each axis, or sizes or dtypes differ.

    >>> print(einsum("ij,jk->ik", [[1.0, 2.0]], [[3.0], [4.0]]))
    tf.Tensor([[11.]], shape=(1, 1), dtype=float32)
    >>> print(einsum("ii", [[1, 2], [3, 4]]))
    tf.Tensor(5, shape=(), dtype=int32)
    """
    tensors = [convert_to_tensor(x) for x in inputs]
    explicit, squeezed = _explicit(equation, tuple([x._shape for x in tensors]))
    for n, shape in squeezed:
        tensors[n] = reshape(tensors[n], shape)
    return call(_einsum, *tensors, equation=explicit)


@lru_cache(maxsize=1024)
def _explicit(equation: str, shapes: tuple[Shape, ...]) -> tuple[str, tuple[tuple[int, Shape], ...]]:
    """An equation with an output and without ellipses, and the inputs that lose broadcast axes, in their new shapes."""
    given, arrow, output = equation.replace(" ", "").partition("->")
    terms = given.split(",")
    _check_format(equation, terms, output)
    if len(terms) != len(shapes):
        raise ValueError(f"einsum: equation {equation!r} has {len(terms)} terms, but there are {len(shapes)} inputs.")
    if not arrow:
        counts = Counter(given.replace("...", "").replace(",", ""))
        output = "..." * ("..." in given) + "".join(sorted(c for c, count in counts.items() if count == 1))
    ranks = [_ellipsis_rank(equation, term, shape) for term, shape in zip(terms, shapes, strict=True)]
    free = [letter for letter in _LETTERS if letter not in equation][: max(ranks)]
    if len(free) < max(ranks):
        raise ValueError(f"einsum: equation {equation!r} needs more than {len(_LETTERS)} indices.")
    long = _broadcast_letters(terms, shapes, ranks, free)
    squeezed = []
    for n, (term, shape, rank) in enumerate(zip(terms, shapes, ranks, strict=True)):
        letters = free[len(free) - rank :]
        start = term.find("...")
        lost = [start + i for i, letter in enumerate(letters) if shape[start + i] == 1 and letter in long]
        if lost:
            squeezed.append((n, tuple(size for axis, size in enumerate(shape) if axis not in lost)))
        terms[n] = term.replace("...", "".join(c for i, c in enumerate(letters) if start + i not in lost))
    return f"{','.join(terms)}->{output.replace('...', ''.join(free))}", tuple(squeezed)


def _check_format(equation: str, terms: Sequence[str], output: str) -> None:
    for term in (*terms, output):
        letters = term.replace("...", "", 1)
        if any(letter not in _LETTERS for letter in letters):
            raise ValueError(
                f"einsum: equation {equation!r} is malformed at {term!r}; a term is made of letters and at most one "
                "'...', as in 'ij,jk->ik'."
            )
    known = "".join(terms)
    for letter, count in Counter(output.replace("...", "")).items():
        if count > 1:
            raise ValueError(f"einsum: the output of equation {equation!r} has {letter!r} more than once.")
        if letter not in known:
            raise ValueError(f"einsum: the output of equation {equation!r} has {letter!r}, which no input has.")
    if "..." in output and "..." not in known:
        raise ValueError(f"einsum: the output of equation {equation!r} has '...', which no input has.")


def _ellipsis_rank(equation: str, term: str, shape: Shape) -> int:
    """How many axes the ellipsis of a term stands for."""
    rank = len(shape) - len(term.replace("...", ""))
    if rank < 0 or (rank and "..." not in term):
        raise InvalidArgumentError(
            f"einsum: term {term!r} of equation {equation!r} does not fit an input of shape {shape}: they have "
            f"{len(term.replace('...', ''))} letters and {len(shape)} axes."
        )
    return rank


def _broadcast_letters(
    terms: Sequence[str], shapes: Sequence[Shape], ranks: Sequence[int], free: Sequence[str]
) -> set[str]:
    """The letters of ellipses whose size is not 1 in every input."""
    found = set()
    for term, shape, rank in zip(terms, shapes, ranks, strict=True):
        start = term.find("...")
        for i, letter in enumerate(free[len(free) - rank :]):
            if shape[start + i] != 1:
                found.add(letter)
    return found


@lru_cache(maxsize=1024)
def _sizes(equation: str, shapes: tuple[Shape, ...]) -> dict[str, int]:
    """Letter to size."""
    sizes: dict[str, int] = {}
    for term, shape in zip(equation.partition("->")[0].split(","), shapes, strict=True):
        for letter, size in zip(term, shape, strict=True):
            if sizes.setdefault(letter, size) != size:
                raise InvalidArgumentError(
                    f"einsum: index {letter!r} of equation {equation!r} has sizes {sizes[letter]} and {size}; the "
                    f"inputs have shapes {', '.join(map(str, shapes))}."
                )
    return sizes


def _einsum_shape(*shapes: Shape, equation: str) -> Shape:
    return _output_shape(equation, shapes)


@lru_cache(maxsize=1024)
def _output_shape(equation: str, shapes: tuple[Shape, ...]) -> Shape:
    sizes = _sizes(equation, shapes)
    return tuple([sizes[letter] for letter in equation.partition("->")[2]])


def _einsum_vjp(g: Tensor, inputs: tuple[Tensor, ...], equation: str, needed: tuple[int, ...]) -> list[Tensor | None]:
    """For each input, the other ones times the gradient, with the letters of output and input exchanged.

    A letter that occurs in the input alone was summed over: it comes back with a factor of ones. A letter that occurs
    in its term twice is its diagonal: it comes back with an identity matrix.
    """
    given, _, output = equation.partition("->")
    terms = given.split(",")
    sizes = _sizes(equation, tuple([x._shape for x in inputs]))
    gradients: list[Tensor | None] = [None] * len(inputs)
    for n in needed:
        term = terms[n]
        others = [output, *terms[:n], *terms[n + 1 :]]
        factors = [g, *inputs[:n], *inputs[n + 1 :]]
        free = iter([letter for letter in _LETTERS if letter not in equation])
        target = ""
        for letter in term:
            if letter in target:
                others.append(letter + next(free))
                factors.append(eye(sizes[letter], dtype=g.dtype))
                target += others[-1][1]
                continue
            if not any(letter in other for other in others):
                others.append(letter)
                factors.append(ones((sizes[letter],), g.dtype))
            target += letter
        gradients[n] = einsum(f"{','.join(others)}->{target}", *factors)
    return gradients


_einsum = Op("einsum", einsum, inputs=["*inputs"], shape=_einsum_shape, dtypes=NUMERIC, vjp={"inputs": _einsum_vjp})


def tensordot(a: TensorLike, b: TensorLike, axes: Any, name: str | None = None) -> Tensor:
    """Products of two tensors, summed over some axes of both.

    Args:
        a: a tensor of numbers.
        b: a tensor of the same dtype.
        axes: how many of the last axes of ``a`` and of the first of ``b`` to sum over; or a pair of axes, or of lists
            of them: those of ``a``, and the ones of ``b`` that go with them.

    Returns:
        A tensor with the other axes of ``a``, then those of ``b``.

    Raises:
        ValueError: ``axes`` is neither, or the lists differ in length.
        InvalidArgumentError: an axis is out of range, or named twice, or sizes differ.

    >>> print(tensordot([[1.0, 2.0]], [[3.0], [4.0]], 1))
    tf.Tensor([[11.]], shape=(1, 1), dtype=float32)
    """
    x, y = convert_to_tensor(a), convert_to_tensor(b)
    if type(axes) is not int:
        axes = _hashable(axes)
    return call(_einsum, x, y, equation=_dot_equation(x._shape, y._shape, axes))


def _hashable(axes: Any) -> Any:
    if hasattr(axes, "numpy") or hasattr(axes, "tolist"):
        axes = host_value(axes).tolist()
    return tuple([_hashable(each) for each in axes]) if isinstance(axes, (list, tuple)) else axes


@lru_cache(maxsize=1024)
def _dot_equation(x: Shape, y: Shape, axes: Any) -> str:
    of_x, of_y = _axes(axes, len(x), len(y))
    if len(x) + len(y) - len(of_x) > len(_LETTERS):
        raise ValueError(f"tensordot: shapes {x} and {y} have too many axes.")
    sizes_x, sizes_y = [x[axis] for axis in of_x], [y[axis] for axis in of_y]
    if sizes_x != sizes_y:
        raise InvalidArgumentError(
            f"tensordot: a has sizes {sizes_x} along axes {of_x}, and b has sizes {sizes_y} along axes {of_y} (shapes "
            f"{x} and {y}); they must be equal."
        )
    term_x = _LETTERS[: len(x)]
    rest = iter(_LETTERS[len(x) :])
    term_y = "".join(term_x[of_x[of_y.index(axis)]] if axis in of_y else next(rest) for axis, _ in enumerate(y))
    output = "".join(letter for letter in term_x + term_y if (letter in term_x) != (letter in term_y))
    return f"{term_x},{term_y}->{output}"


def _axes(axes: Any, rank_a: int, rank_b: int) -> tuple[list[int], list[int]]:
    if isinstance(axes, int):
        if not 0 <= axes <= min(rank_a, rank_b):
            raise ValueError(
                f"tensordot: axes must be from 0 to {min(rank_a, rank_b)} for tensors of rank {rank_a} and {rank_b}; "
                f"got {axes}."
            )
        return list(range(rank_a - axes, rank_a)), list(range(axes))
    if not isinstance(axes, (list, tuple)) or len(axes) != 2:
        raise ValueError(f"tensordot: axes must be an integer or a pair; got {axes!r}.")
    listed = [list(each) if isinstance(each, Iterable) else [each] for each in axes]
    if len(listed[0]) != len(listed[1]):
        raise ValueError(f"tensordot: axes must name as many axes of a as of b; got {axes!r}.")
    found = [
        [normalize_axis("tensordot", axis, rank) for axis in each]
        for each, rank in zip(listed, (rank_a, rank_b), strict=True)
    ]
    if any(len(set(each)) != len(each) for each in found):
        raise InvalidArgumentError(f"tensordot: axes {axes!r} name an axis twice; name each once.")
    return found[0], found[1]
