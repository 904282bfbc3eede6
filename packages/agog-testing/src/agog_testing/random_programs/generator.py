"""Generator: the source of a random program, drawn from its number."""

from __future__ import annotations

import importlib.util
from contextlib import nullcontext

from agog_testing.random_programs.calls import write_calls
from agog_testing.random_programs.definitions import write_helpers, write_inner, write_layers
from agog_testing.random_programs.plan import Argument, Plan
from agog_testing.random_programs.scope import Draw, Held, Known, Scope, shape_of
from agog_testing.random_programs.statements import statement

_HEAD = '''"""Program {number}{size}; run it with `python -m agog_testing.random_programs {number}{size}`."""
import numpy as np
import agog_core as tf
from agog_testing.random_programs.runtime import data, in_threads, indices, symmetric
'''
_TRAIN, _LAYERS = "import agog_optimizers as train\n", "import agog_layers as layers\n"
_OPTIMIZERS = (
    *("GradientDescentOptimizer(0.1)", "MomentumOptimizer(0.1, 0.9)", "AdamOptimizer(0.05)", "RMSPropOptimizer(0.01)"),
    *("AdagradOptimizer(0.1)", "FtrlOptimizer(0.1)", "AMSGradOptimizer(0.05)", "AdamWOptimizer(0.01, 0.05)"),
)
_SMALL = ((4, 3), (2, 5), (3, 2), (1, 4), (6, 3))
_LARGE = ((260, 257), (33, 1031), (400, 200))
_SHAPES = ("AB", "AB", "AB", "AB", "B", "B", "", "1B", "A1", "2AB", "A", "AB", "AB", "0B")


def source_of(number: int, large: bool = False) -> str:
    """The source of the program of a number.

    Args:
        number: what all is drawn from.
        large: whether arrays have as many elements as compilers and kernels for large arrays ask for.

    Returns:
        A module with a function ``program``, whose argument receives its results.
    """
    draw = Draw(number * 2 + large)
    sizes = (
        draw.one(((260, 257), (33, 1031), (400, 200))) if large else draw.one(((4, 3), (2, 5), (3, 2), (1, 4), (6, 3)))
    )
    scope = Scope(draw, sizes, indent=1)
    has_optimizers = importlib.util.find_spec("agog_optimizers") is not None
    head = _HEAD.format(number=number, size=" --large" if large else "") + (_TRAIN if has_optimizers else "")
    has_layers = importlib.util.find_spec("agog_layers") is not None
    head += _LAYERS if has_layers else ""
    scope.add("kept = []")
    scope.add("")
    with scope.block("def seen(a):"):
        scope.add("kept.append(float(np.sum(a)))")
        scope.add("return a * a.dtype.type(0.5)")
    scope.add("")
    for _ in range(draw.below(4)):
        shape = shape_of(draw.one(_SHAPES[:7]), sizes)
        name = scope.fresh("v")
        scope.add(f"{name} = tf.Variable(data({draw.number()}, {list(shape)}))")
        scope.variables.append(Held(name, shape))
    optimizer = None
    if draw.chance(0.5) and scope.variables:
        chosen = draw.one(_OPTIMIZERS)
        if has_optimizers:
            optimizer = "opt"
            scope.add(f"opt = train.{chosen}")
            scope.helpers["optimizer"] = ["opt"]
    if draw.chance(0.2) and has_layers:
        write_layers(scope)
    scope.add(f"see.keeps({', '.join([v.name for v in scope.variables] + ['host=kept'])})")
    write_helpers(scope)
    has_inner = draw.chance(0.4)
    if has_inner:
        write_inner(scope)
    arguments = _arguments(scope)
    count = _function(scope, arguments)
    text = "\n".join(scope.lines)
    writes = any(word in text for word in (".assign", "tf.scatter_", "assign_add", "py_func", "apply_gradients"))
    random = any(word in text for word in ("dropout", "random_", "truncated"))
    plan = Plan(arguments, scope.variables, count, sizes, large, has_inner, random, writes, optimizer)
    write_calls(scope, plan)
    return head + "\n\ndef program(see):\n" + "\n".join(scope.lines) + "\n"


def _arguments(scope: Scope) -> list[Argument]:
    draw, found = scope.draw, []
    for n in range(1 + draw.below(4)):
        dtype = draw.one(("float32",) * 8 + ("float64", "float16"))
        kind = draw.one(("tensor",) * 8 + ("array",))
        found.append(Argument(f"x{n}", kind, "AB" if n == 0 else draw.one(_SHAPES), dtype))
    if draw.chance(0.25):
        found.append(Argument("i", "indices"))
    if draw.chance(0.2):
        found.append(Argument("k", "tensor", draw.one(("AB", "B", "A")), "int32"))
    if draw.chance(0.15):
        found.append(Argument("p", "pair", draw.one(_SHAPES)))
    if draw.chance(0.1) and scope.variables:
        found.append(Argument("w", "variable", draw.one(scope.variables).name))
    if draw.chance(0.3):
        found.append(Argument("n", draw.one(("int", "float"))))
    return found


def _function(scope: Scope, arguments: list[Argument]) -> int:
    """The function `f`; how many tensors it returns."""
    draw = scope.draw
    scope.add("")
    names = [argument.name for argument in arguments]
    is_method = draw.chance(0.1)
    with scope.block("class Model:", keeps=True) if is_method else nullcontext():
        scope.add(f"@tf.function{_signature(scope, arguments)}")
        with scope.block(f"def {'call' if is_method else 'f'}({', '.join(['self'] * is_method + names)}):"):
            codes = _body(scope, arguments)
            scope.add(f"return {_nested(scope, codes)}")
    if is_method:
        scope.add("f = Model().call")
    return len(codes)


def _signature(scope: Scope, arguments: list[Argument]) -> str:
    """An input signature, for some functions of tensors alone."""
    if not scope.draw.chance(0.15) or any(each.kind not in ("tensor", "array") for each in arguments):
        return ""
    specs = []
    for each in arguments:
        pairs = zip(each.shape, shape_of(each.shape, scope.sizes), strict=True)
        sizes = [None if letter == "A" else size for letter, size in pairs]
        specs.append(f"tf.TensorSpec({sizes}, tf.{each.dtype})")
    return f"(input_signature=[{', '.join(specs)}])"


def _body(scope: Scope, arguments: list[Argument]) -> list[str]:
    """The statements of the function; the codes of what it returns."""
    draw = scope.draw
    for argument in arguments:
        if argument.kind in ("int", "float"):
            scope.numbers.append(argument.name)
        elif argument.kind == "pair":
            shape = shape_of(argument.shape, scope.sizes)
            scope.add("p0, p1 = p")
            scope.pool += [Known("p0", shape), Known("p1", shape)]
        elif argument.kind == "variable":
            shape = next(v.shape for v in scope.variables if v.name == argument.shape)
            scope.name("w * 1.0", shape)
        elif argument.kind == "indices":
            scope.pool.append(Known(argument.name, (3,), "int32"))
        else:
            scope.pool.append(Known(argument.name, shape_of(argument.shape, scope.sizes), argument.dtype))
    for argument in arguments:
        if argument.name == "k":
            scope.name("tf.cast(k, tf.float32) * 0.3", shape_of(argument.shape, scope.sizes))
    for _ in range(2 + draw.below(draw.one((6, 10, 18)))):
        statement(scope)
    floats = scope.floats()
    results = [draw.one(floats) for _ in range(draw.one((1, 2, 2, 3)))]
    codes = [
        draw.one(("{0}", "{0}", "{0}", "tf.reduce_sum({0})", "tf.reduce_mean(tf.square({0}))")).format(x.name)
        for x in results
    ]
    if draw.chance(0.06):
        codes.append(draw.one(("1.5", "tf.constant(2.0)", "tf.shape(x0)", "tf.argmax(x0, 0)")))
    return codes


def _nested(scope: Scope, codes: list[str]) -> str:
    if len(codes) == 1:
        return scope.draw.one(("{0}", "{0}", "[{0}]", "{{'loss': {0}}}", "({0},)")).format(codes[0])
    kind = scope.draw.below(4)
    if kind == 0:
        return "{" + ", ".join(f"'r{n}': {code}" for n, code in enumerate(codes)) + "}"
    if kind == 1:
        return f"[{codes[0]}, ({', '.join(codes[1:])},)]"
    return ", ".join(codes)
