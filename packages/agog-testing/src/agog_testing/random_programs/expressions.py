"""Expressions: statements of one op or a few: arithmetic, views, reductions, products."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from agog_testing.random_programs.scope import Known, Scope
from agog_testing.random_programs.vocabulary import BINARY, NOT_OF_SCALARS, REDUCTIONS, UNARY

Maker = Callable[[Scope], Known | None]


def unary(scope: Scope) -> Known | None:
    """A function of one tensor; several, one after the other, as in a layer."""
    x = scope.any_float()
    if x is None:
        return None
    code, texts = x.name, UNARY
    for _ in range(scope.draw.one((1, 1, 2))):
        text = scope.draw.one(texts)
        code = text.format(code if text.count("{0}") == 1 or code == x.name else x.name)
    if any(word in code for word in NOT_OF_SCALARS) and x.rank == 0:
        code = f"tf.tanh({x.name})"
    return scope.name(code, x.shape, x.dtype, x.changed)


def scaled(scope: Scope) -> Known | None:
    """Arithmetic with a Python number."""
    x = scope.any_float()
    if x is None:
        return None
    number = scope.draw.one(scope.numbers) if scope.numbers and scope.draw.chance(0.5) else repr(scope.draw.factor())
    text = scope.draw.one(("{0} * {1}", "{1} - {0}", "{0} + {1}", "{1} * tf.tanh({0})", "{0} / (abs({1}) + 0.5)"))
    return scope.name(text.format(x.name, number), x.shape, x.dtype, x.changed)


def binary(scope: Scope) -> Known | None:
    """A function of two tensors that broadcast."""
    x = scope.any_float()
    others = [] if x is None else [y for y in scope.floats() if y.dtype == x.dtype and _both(x, y) is not None]
    if x is None or not others:
        return None
    y = scope.draw.one(others)
    shape = _both(x, y)
    assert shape is not None
    text = scope.draw.one(BINARY)
    if "where" in text and not x.shape == y.shape == shape:
        text = "{0} - {1}"
    return scope.name(text.format(x.name, y.name), shape, x.dtype, x.changed or y.changed)


def _both(x: Known, y: Known) -> tuple[int, ...] | None:
    try:
        shape = np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        return None
    return shape if int(np.prod(shape)) <= 1 << 19 else None


def view(scope: Scope) -> Known | None:
    """A transpose, a slice, a reversal, a broadcast: what is another look at the same numbers."""
    x, draw = scope.any_float(), scope.draw
    if x is None:
        return None
    rank, shape = x.rank, x.shape
    kind = draw.below(12)
    if kind == 0 and rank > 1:
        order = draw.order(rank)
        return scope.name(f"tf.transpose({x.name}, {order})", [shape[a] for a in order], x.dtype, x.changed)
    if kind in (1, 2) and rank:
        axes = draw.some(range(rank), 2)
        return scope.name(f"tf.reverse({x.name}, {axes})", shape, x.dtype, x.changed)
    if kind in (3, 4) and rank:
        return _sliced(scope, x)
    if kind == 5:
        return scope.name(f"tf.reshape({x.name}, [-1])", [x.size], x.dtype, x.changed)
    if kind == 6 and rank > 1:
        flat = [shape[0], x.size // shape[0]] if shape[0] else shape
        return scope.name(f"tf.reshape({x.name}, [tf.shape({x.name})[0], -1])", flat, x.dtype, x.changed)
    if kind == 7 and rank < 3:
        axis = draw.below(rank + 1)
        return scope.name(f"tf.expand_dims({x.name}, {axis})", (*shape[:axis], 1, *shape[axis:]), x.dtype, x.changed)
    if kind == 8 and 1 in shape:
        return scope.name(f"tf.squeeze({x.name})", [n for n in shape if n != 1], x.dtype, x.changed)
    if kind == 9 and rank < 3 and x.size < 1 << 17:
        return scope.name(f"tf.broadcast_to({x.name}, {[2, *shape]})", (2, *shape), x.dtype, x.changed)
    if kind == 10 and rank:
        return scope.name(f"tf.roll({x.name}, 1, 0)", shape, x.dtype, x.changed)
    if rank > 1:
        return scope.name(f"tf.transpose({x.name})", shape[::-1], x.dtype, x.changed)
    return None


def _sliced(scope: Scope, x: Known) -> Known | None:
    draw, parts, shape = scope.draw, [], []
    for size in x.shape:
        text, length = draw.one(
            (
                (":", size),
                ("::-1", size),
                ("::2", (size + 1) // 2),
                ("1:", max(size - 1, 0)),
                (":-1", max(size - 1, 0)),
                ("::-2", (size + 1) // 2),
                *([("0", None)] if size else []),
            )
        )
        parts.append(text)
        shape += [] if length is None else [length]
    return scope.name(f"{x.name}[{', '.join(parts)}]", shape, x.dtype, x.changed)


def reduced(scope: Scope) -> Known | None:
    """A reduction over one axis, some, or all."""
    x, draw = scope.any_float(), scope.draw
    if x is None or x.size == 0:
        return None
    name, keeps = draw.one(REDUCTIONS), draw.chance(0.5)
    arg = f"tf.tanh({x.name}) * 1.1" if name == "prod" else x.name
    if x.rank == 0 or draw.chance(0.25):
        return scope.name(f"tf.reduce_{name}({arg})", (), x.dtype, x.changed)
    axes = draw.some(range(x.rank), 2)
    shape = [1 if a in axes else n for a, n in enumerate(x.shape) if keeps or a not in axes]
    where = repr(axes[0] - draw.one((0, x.rank))) if len(axes) == 1 else repr(axes)
    return scope.name(f"tf.reduce_{name}({arg}, {where}, keepdims={keeps})", shape, x.dtype, x.changed)


def along(scope: Scope) -> Known | None:
    """A function along an axis that keeps the shape."""
    x, draw = scope.any_float(least=1), scope.draw
    if x is None or x.size == 0 or x.shape[-1] == 0:
        return None
    axis = draw.below(x.rank)
    if x.shape[axis] == 0:
        return None
    texts = [
        *(
            "tf.nn.softmax({0})",
            "tf.nn.log_softmax({0})",
            f"tf.cumsum({{0}}, {axis})",
            f"tf.nn.l2_normalize({{0}}, {axis})",
        ),
        f"{{0}} - tf.reduce_mean({{0}}, {axis}, keepdims=True)",
        f"{{0}} / (tf.reduce_max(tf.abs({{0}}), {axis}, keepdims=True) + 0.1)",
    ]
    if x.size < 1 << 14:
        texts += ["tf.sort({0})", f"tf.cumprod(tf.tanh({{0}}), {axis})"]
    return scope.name(draw.one(texts).format(x.name), x.shape, x.dtype, x.changed)


def product(scope: Scope) -> Known | None:
    """A product of matrices."""
    x, draw = scope.any_float(rank=2), scope.draw
    if x is None or x.size == 0:
        return None
    found = []
    for y in scope.floats(rank=2):
        if y.dtype == x.dtype and y.size:
            for ta in (0, 1):
                for tb in (0, 1):
                    if x.shape[1 - ta] == y.shape[tb] and x.size * y.shape[1 - tb] < 1 << 21:
                        found.append((y, ta, tb))
    if not found:
        return None
    y, ta, tb = draw.one(found)
    shape = x.shape[ta], y.shape[1 - tb]
    if not ta and not tb:
        text = draw.one(
            ("tf.matmul({0}, {1})", "{0} @ {1}", "tf.einsum('ij,jk->ik', {0}, {1})", "tf.tensordot({0}, {1}, 1)")
        )
        code = text.format(x.name, y.name)
    else:
        code = f"tf.matmul({x.name}, {y.name}, transpose_a={bool(ta)}, transpose_b={bool(tb)})"
    return scope.name(f"{code} * {0.5 if x.size < 100 else 0.05}", shape, x.dtype, x.changed or y.changed)


def joined(scope: Scope) -> Known | None:
    """Tensors of one shape put together."""
    x, draw = scope.any_float(least=1), scope.draw
    if x is None or x.size > 1 << 17:
        return None
    same = [y for y in scope.floats(least=1) if (y.shape, y.dtype) == (x.shape, x.dtype)]
    parts = [draw.one(same) for _ in range(1 + draw.below(3))] + [x]
    names, changed, axis = ", ".join(y.name for y in parts), any(y.changed for y in parts), draw.below(x.rank)
    if draw.chance(0.3):
        return scope.name(f"tf.add_n([{names}])", x.shape, x.dtype, changed)
    if draw.chance(0.5):
        shape = list(x.shape)
        shape[axis] *= len(parts)
        return scope.name(f"tf.concat([{names}], {axis})", shape, x.dtype, changed)
    shape = [*x.shape[:axis], len(parts), *x.shape[axis:]]
    return scope.name(f"tf.stack([{names}], {axis})", shape, x.dtype, changed)


def parted(scope: Scope) -> Known | None:
    """An op of several results, some of which are used, or none."""
    x, draw = scope.any_float(least=1), scope.draw
    if x is None or 0 in x.shape:
        return None
    axis = draw.below(x.rank)
    size = x.shape[axis]
    kind = draw.below(4)
    names = [scope.fresh("t") for _ in range(3)]
    rest = list(x.shape)
    if kind == 0 and 1 < size <= 5:
        scope.add(f"{names[0]}, *{names[1]} = tf.unstack({x.name}, axis={axis})")
        known = Known(names[0], (*rest[:axis], *rest[axis + 1 :]), x.dtype, x.changed)
        scope.pool.append(known)
        return known
    if kind == 1 and size % 2 == 0:
        scope.add(f"{names[0]}, {names[1]} = tf.split({x.name}, 2, {axis})")
        rest[axis] = size // 2
        made = [Known(name, tuple(rest), x.dtype, x.changed) for name in names[:2]]
    elif kind == 2 and size > 2:
        scope.add(f"{names[0]}, {names[1]}, {names[2]} = tf.split({x.name}, [1, {size - 2}, 1], {axis})")
        made = []
        for name, n in zip(names, (1, size - 2, 1), strict=True):
            rest[axis] = n
            made.append(Known(name, tuple(rest), x.dtype, x.changed))
    else:
        same = [y for y in scope.floats() if y.dtype == x.dtype]
        parts = [x, draw.one(same), draw.one(same)]
        given = ", ".join(y.name for y in parts)
        changed = any(y.changed for y in parts)
        limit, norm = abs(draw.factor()), scope.fresh("norm")
        scope.add(f"[{', '.join(names)}], {norm} = tf.clip_by_global_norm([{given}], {limit})")
        made = [Known(name, y.shape, y.dtype, changed) for name, y in zip(names, parts, strict=True)]
    made = made if draw.chance(0.7) else made[:1]
    scope.pool += made
    return made[-1]


def taken(scope: Scope) -> Known | None:
    """Rows by their places."""
    x, draw = scope.any_float(least=1), scope.draw
    if x is None or x.shape[0] == 0:
        return None
    count = 1 + draw.below(4)
    places = [draw.below(x.shape[0]) for _ in range(count)]
    given = [y for y in scope.pool if y.dtype == "int32" and y.rank == 1]
    if given and draw.chance(0.5):
        y = draw.one(given)
        return scope.name(f"tf.gather({x.name}, {y.name})", (y.shape[0], *x.shape[1:]), x.dtype, x.changed or y.changed)
    if draw.chance(0.2) and x.rank == 2 and not x.changed:
        best = f"tf.argmax({x.name}, 1)"
        return scope.name(f"tf.one_hot({best}, {x.shape[1]}) * 1.0", x.shape, "float32", x.changed)
    if draw.chance(0.2):
        ones = f"tf.ones([{count}, *{x.name}.shape.as_list()[1:]], {x.name}.dtype)"
        updated = f"tf.tensor_scatter_add({x.name}, {[[n] for n in places]}, {ones})"
        return scope.name(updated, x.shape, x.dtype, x.changed)
    if draw.chance(0.3):
        ids = f"tf.constant({sorted(n % 3 for n in range(x.shape[0]))})" if x.shape[0] < 10 else None
        if ids is not None:
            return scope.name(f"tf.unsorted_segment_sum({x.name}, {ids}, 3)", (3, *x.shape[1:]), x.dtype, x.changed)
    return scope.name(f"tf.gather({x.name}, {places})", (count, *x.shape[1:]), x.dtype, x.changed)


def converted(scope: Scope) -> Known | None:
    """A tensor of another dtype."""
    x, draw = scope.any_float(), scope.draw
    if x is None:
        return None
    others = [dtype for dtype in ("float32", "float64", "float16") if dtype != x.dtype]
    dtype = draw.one(others + ["float32"] * (x.dtype != "float32") * 3)
    return scope.name(f"tf.cast({x.name}, tf.{dtype})", x.shape, dtype, x.changed)


EXPRESSIONS: tuple[tuple[int, Maker], ...] = (
    *((18, unary), (8, scaled), (18, binary), (14, view), (10, reduced), (6, along), (6, product), (6, joined)),
    *((7, parted), (5, taken), (1, converted)),
)


def expression(scope: Scope) -> Known:
    """A statement from existing tensors to a new one."""
    for _ in range(20):
        found = scope.draw.weighted(EXPRESSIONS)(scope)
        if found is not None:
            return found
    return scope.name("tf.constant(0.5)", ())
