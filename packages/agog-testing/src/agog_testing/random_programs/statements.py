"""Statements: statements beside expressions: branches, loops, variables, random numbers, errors, tapes, Python."""

from __future__ import annotations

from collections.abc import Callable

from agog_testing.random_programs.expressions import expression
from agog_testing.random_programs.scope import Held, Known, Scope
from agog_testing.random_programs.vocabulary import FAILING, LIKE, OF_SIZES, RANDOM

Writer = Callable[[Scope], None]

UPDATES = ("{0}.assign({1})", "{0}.assign_add({1})", "{0}.assign_sub({1} * 0.1)", "tf.assign_add({0}, {1})")


def _like(scope: Scope, x: Known) -> str:
    """Code of the shape and dtype of a tensor."""
    number = repr(scope.draw.factor())
    text = scope.draw.one(LIKE)
    return text.format(x.name, number)


def _condition(scope: Scope, x: Known) -> str:
    text = scope.draw.one(("reduce_sum({0}) > {1}", "reduce_mean({0}) < {1}", "reduce_max({0}) >= {1}"))
    if x.rank == 0:
        text = scope.draw.one(("less({0}, {1})", "greater_equal({0}, {1})"))
    return "tf." + text.format(x.name, repr(scope.draw.factor()))


def branch(scope: Scope) -> None:
    """An `if` on a tensor."""
    asked, x = scope.any_float(unchanged=True), scope.any_float()
    if asked is None or x is None or not asked.size:
        return
    name = scope.fresh("t")
    with scope.block(f"if {_condition(scope, asked)}:"):
        if scope.draw.chance(0.3):
            statement(scope)
        scope.add(f"{name} = {_like(scope, x)}")
    if scope.draw.chance(0.3):
        with scope.block(f"elif {_condition(scope, asked)}:"):
            scope.add(f"{name} = {x.name}")
    with scope.block("else:"):
        if scope.draw.chance(0.2):
            statement(scope)
        scope.add(f"{name} = {_like(scope, x)}")
    scope.pool.append(Known(name, x.shape, x.dtype, x.changed))


def loop(scope: Scope) -> None:
    """A `for` over a Python range."""
    x = scope.any_float()
    if x is None:
        return
    name = scope.fresh("t")
    scope.add(f"{name} = {x.name}")
    here = Known(name, x.shape, x.dtype, x.changed)
    with scope.block(f"for i in range({2 + scope.draw.below(3)}):"):
        scope.pool.append(here)
        if scope.draw.chance(0.5):
            statement(scope)
        step = scope.draw.one(("tf.tanh({0} + i)", "{0} * 0.5 + {1}", "tf.sin({0}) + {0} * i", "{0} + {1} * (i + 1)"))
        scope.add(f"{name} = {step.format(name, x.name)}")
    scope.pool.append(here)


def while_loop(scope: Scope) -> None:
    """A `while` on a tensor."""
    x = scope.any_float(unchanged=True)
    if x is None or not x.size:
        return
    name, count = scope.fresh("t"), scope.fresh("n")
    scope.add(f"{name}, {count} = tf.tanh({x.name}), 0")
    with scope.block(f"while {count} < 4 and tf.reduce_sum(tf.abs({name})) > {abs(scope.draw.factor())}:"):
        scope.add(f"{name}, {count} = {name} * {scope.draw.one((0.25, 0.5))}, {count} + 1")
    scope.pool.append(Known(name, x.shape, x.dtype, x.changed))


def control(scope: Scope) -> None:
    """`tf.cond`, `tf.while_loop`, `tf.map_fn`, `tf.scan`."""
    x = scope.any_float(unchanged=True)
    if x is None or not x.size or x.size > 1 << 14:
        return
    draw = scope.draw
    kind = draw.below(4 if x.rank else 2)
    if kind == 0:
        code = f"tf.cond({_condition(scope, x)}, lambda: {_like(scope, x)}, lambda: {_like(scope, x)})"
    elif kind == 1:
        code = (
            f"tf.while_loop(lambda i, a: i < {1 + draw.below(3)}, lambda i, a: (i + 1, tf.tanh(a) * {draw.factor()}), "
            f"[tf.constant(0), {x.name}])[1]"
        )
    elif kind == 2:
        code = f"tf.map_fn(lambda a: tf.sin(a) * {draw.factor()}, {x.name})"
    else:
        code = f"tf.scan(lambda a, b: tf.tanh(a + b), {x.name})"
    scope.name(code, x.shape, x.dtype, x.changed)


def cond(scope: Scope) -> None:
    """`tf.cond` of functions with statements of their own."""
    draw, asked, x = scope.draw, scope.any_float(unchanged=True), scope.any_float()
    if asked is None or x is None or not asked.size:
        return
    count = 1 + draw.below(2)
    names = [scope.fresh("f"), scope.fresh("f")]
    for name in names:
        with scope.block(f"def {name}():"):
            if draw.chance(0.3):
                statement(scope)
            if draw.chance(0.15):
                write(scope)
            found = [x.name if draw.chance(0.2) else _like(scope, x) for _ in range(count)]
            scope.add(f"return [{', '.join(found)}]")
    results = [scope.fresh("t") for _ in range(count)]
    scope.add(f"{', '.join(results)}, = tf.cond({_condition(scope, asked)}, {', '.join(names)}, strict=True)")
    scope.pool += [Known(each, x.shape, x.dtype, x.changed) for each in results]


def iterated(scope: Scope) -> None:
    """`tf.while_loop` of a length that depends on values, with branches, variables and random numbers in its body."""
    draw, asked, x = scope.draw, scope.any_float(unchanged=True), scope.any_float()
    if asked is None or x is None or not asked.size or x.size > 1 << 12:
        return
    function, count = scope.fresh("f"), scope.fresh("n")
    scope.add(f"{count} = tf.cast(tf.minimum(tf.abs(tf.reduce_mean({asked.name})) * {draw.below(9)}.0, 9.0), tf.int32)")
    with scope.block(f"def {function}(i, a):"):
        here = Known("a", x.shape, x.dtype, x.changed)
        if draw.chance(0.3) and scope.variables and scope.can_write:
            v = draw.one(scope.variables)
            scope.add(f"{v.name}.assign({v.name} * 0.9 + tf.cast(i, tf.float32) * 0.01)")
            scope.changed.add(v.name)
        if draw.chance(0.3) and scope.can_draw:
            scope.add("a = a + tf.random_uniform([], dtype=a.dtype)")
        for _ in range(draw.below(3)):
            condition = draw.one((_condition(scope, asked), f"i > {draw.below(5)}", "tf.reduce_sum(a) > 0.0"))
            condition = condition if x.size else "i > 1"
            scope.add(
                f"a = tf.cond({condition}, lambda: {_like(scope, here)}, lambda: {_like(scope, here)} + {x.name})"
            )
        scope.add(f"return i + 1, tf.tanh(a) * {draw.factor()}")
    start = f"[tf.constant(0), {x.name}]"
    name = scope.name(f"tf.while_loop(lambda i, a: i < {count}, {function}, {start})[1]", x.shape, x.dtype)
    scope.pool[-1] = name._replace(changed=x.changed or asked.changed or bool(scope.changed))


def rows(scope: Scope) -> None:
    """`tf.map_fn`, `tf.scan`, `tf.foldl` and `tf.foldr` over a few rows, or many."""
    draw, found = scope.draw, [x for x in scope.floats(least=1) if x.shape[0] and x.size < 1 << 12]
    if not found:
        return
    x, shape = draw.one(found), None
    name, value = x.name, "a"
    shape = x.shape[1:]
    if draw.chance(0.3):
        many = min(40 + draw.below(60), (1 << 12) // x.shape[0])  # each row is a Python call
        name = scope.fresh("t")
        scope.add(f"{name} = tf.tile({x.name}, {[many, *[1] * (x.rank - 1)]})")
        x = Known(name, (x.shape[0] * many, *shape), x.dtype, x.changed)
    with scope.block(f"def {(function := scope.fresh('f'))}(a, b=None):"):
        if draw.chance(0.3) and scope.variables:
            v = draw.one(scope.variables)
            if x.dtype == "float32":
                value = f"a + tf.reduce_mean({v.name})"
            if draw.chance(0.3) and scope.can_write:
                scope.add(f"{v.name}.assign_add({v.name} * 0.001)")
                scope.changed.add(v.name)
        if draw.chance(0.2) and scope.can_draw and x.dtype == "float32":
            value += " + tf.random_uniform([])"
        scope.add(f"return tf.tanh({value}) * {draw.factor()} + (0.0 if b is None else b * 0.5)")
    changed = x.changed or bool(scope.changed)
    kind = draw.one(("map_fn", "scan", "foldl", "foldr"))
    if kind == "map_fn":
        scope.name(f"tf.map_fn({function}, {name})", x.shape, x.dtype, changed)
    elif kind == "scan":
        rest = draw.one(("", ", reverse=True", f", initializer=tf.zeros({list(shape)}, {name}.dtype)"))
        scope.name(f"tf.scan({function}, {name}{rest})", x.shape, x.dtype, changed)
    else:
        scope.name(f"tf.{kind}({function}, {name})", shape, x.dtype, changed)


def read(scope: Scope) -> None:
    """A variable is read."""
    if scope.variables:
        v = scope.draw.one(scope.variables)
        code = scope.draw.one(("{0}.value()", "{0} * 1.5", "tf.tanh({0})", "tf.identity({0})", "{0}.read_value()"))
        shape = v.shape
        if shape and shape[0] and scope.draw.chance(0.3):
            places = [scope.draw.below(shape[0]) for _ in range(1 + scope.draw.below(4))]
            code, shape = f"tf.gather({{0}}, {places})", (len(places), *shape[1:])
        scope.name(code.format(v.name), shape, "float32", v.name in scope.changed)


def write(scope: Scope) -> None:
    """A variable is changed, and perhaps read again."""
    if not (scope.variables and scope.can_write):
        return
    draw, v = scope.draw, scope.draw.one(scope.variables)
    same = [x for x in scope.floats() if x.shape == v.shape and x.dtype == "float32"]
    scope.changed.add(v.name)
    if same and draw.chance(0.75):
        x = draw.one(same)
        value = f"tf.clip_by_value({x.name}, -3.0, 3.0)" if draw.chance(0.7) else f"tf.tanh({x.name})"
        text = draw.one(UPDATES)
        line = text.format(v.name, value)
    elif v.shape and v.shape[0] and draw.chance(0.7):
        places = [draw.below(v.shape[0]) for _ in range(1 + draw.below(2))]
        updates = f"tf.fill({[len(places), *v.shape[1:]]}, {draw.factor()})"
        name = draw.one(("update", "add", "sub"))
        line = f"tf.scatter_{name}({v.name}, {places}, {updates})"
    else:
        line = f"{v.name}.assign({v.name} * {draw.one((0.5, -0.9))})"
    if draw.chance(0.3) and "scatter" not in line:
        scope.name(f"{line} * 1.0", v.shape, "float32", True)
    else:
        scope.add(line)
    if draw.chance(0.6):
        scope.name(f"{v.name}.value()" if draw.chance(0.5) else f"{v.name} + 0.5", v.shape, "float32", True)


def chance(scope: Scope) -> None:
    """Random numbers."""
    x, draw = scope.any_float(), scope.draw
    if x is None or not scope.can_draw or x.size > 1 << 17:
        return
    seed = draw.one(("", "", f", seed={draw.below(3) + 1}"))
    shape = draw.one((repr(list(x.shape)), f"tf.shape({x.name})", f"{x.name}.shape"))
    text = draw.one(RANDOM)
    scope.name(text.format(x.name, shape, seed), x.shape, x.dtype, x.changed)


def sized(scope: Scope) -> None:
    """Tensors whose sizes depend on values."""
    x = scope.any_float(unchanged=True, least=1)
    if x is not None and x.size < 1 << 12:
        code = scope.draw.one(OF_SIZES).format(x.name, abs(scope.draw.factor()))
        scope.name(code, (), x.dtype, x.changed)


def raised(scope: Scope) -> None:
    """An error of Python's own, where a tensor says so."""
    x = scope.any_float(unchanged=True)
    if x is not None and x.size:
        with scope.block(f"if tf.reduce_max({x.name}) > {abs(scope.draw.factor()) + 1.5}:"):
            if scope.draw.chance(0.3):
                write(scope)
            scope.add(f"raise ValueError('{x.name} is large')")


def layer(scope: Scope) -> None:
    """A layer of a network."""
    found = [x for x in scope.floats(rank=2) if x.shape[1] == scope.sizes[1] and x.dtype == "float32" and x.shape[0]]
    if found and scope.helpers.get("layer"):
        x = scope.draw.one(found)
        scope.name(f"{scope.draw.one(scope.helpers['layer'])}({x.name})", x.shape, x.dtype, x.changed)


def host(scope: Scope) -> None:
    """A function of Python on arrays."""
    x, draw = scope.any_float(), scope.draw
    if x is None:
        return
    if draw.chance(0.4):
        scope.name(f"tf.py_func(seen, [{x.name}], {x.name}.dtype)", x.shape, x.dtype, x.changed)
    else:
        scope.name(
            f"tf.py_func(lambda a: a * a.dtype.type(2), [{x.name}], {x.name}.dtype)", x.shape, x.dtype, x.changed
        )


def own_gradient(scope: Scope) -> None:
    """A function with a gradient of its own, or one that is recomputed, or another traced function."""
    x, draw = scope.any_float(), scope.draw
    kinds = [kind for kind in sorted(scope.helpers) if kind not in ("optimizer", "layer")]
    if x is None or not kinds:
        return
    kind = draw.one(kinds)
    name = draw.one(scope.helpers[kind])
    if kind == "two":
        names = scope.fresh("t"), scope.fresh("t")
        scope.add(f"{names[0]}, {names[1]} = {name}({x.name})")
        scope.pool += [Known(each, x.shape, x.dtype, x.changed) for each in names]
    elif kind != "float32" or x.dtype == "float32":
        scope.name(f"{name}({x.name})", x.shape, x.dtype, x.changed)


def failing(scope: Scope) -> None:
    """An op that fails on some values, caught or not, used or not."""
    x, draw = scope.any_float(unchanged=True), scope.draw
    if x is None or x.size < 1:
        return
    given = [y for y in scope.pool if y.dtype == "int32" and y.rank == 1]
    rows = [y for y in scope.floats(least=1) if y.shape[0]]
    code = draw.one(FAILING).format(x.name, abs(draw.factor()) + 2.0)
    if given and rows and draw.chance(0.4):
        code = f"tf.gather({draw.one(rows).name}, {draw.one(given).name})"
    is_value = not any(word in code for word in ("assert", "Assert"))
    if draw.chance(0.45):
        name = scope.fresh("t")
        with scope.block("try:"):
            if draw.chance(0.25):
                write(scope)
            scope.add(code if not is_value or draw.chance(0.3) else f"{name} = tf.reduce_sum({code})")
            if draw.chance(0.25):
                write(scope)
            scope.add(f"{name} = tf.reduce_mean({x.name})")
        with scope.block(draw.one(("except tf.errors.InvalidArgumentError:", "except Exception:"))):
            scope.add(f"{name} = {x.name}[()] * 0.0" if not x.rank else f"{name} = tf.reduce_max({x.name}) - 1.0")
        scope.pool.append(Known(name, (), x.dtype, x.changed))
    elif is_value and draw.chance(0.6) and "gather" not in code:
        scope.name(f"tf.cast(tf.reduce_sum({code}), {x.name}.dtype) * 0.1", (), x.dtype, x.changed)
    else:
        scope.add(code)


def tape(scope: Scope) -> None:
    """A tape inside the function."""
    sources = scope.floats()
    if not sources:
        return
    draw = scope.draw
    x, name = draw.one(sources), scope.fresh("tape")
    persistent = draw.chance(0.25)
    asked: list[Known | Held] = [x]
    with scope.block(f"with tf.GradientTape({'persistent=True' if persistent else ''}) as {name}:", keeps=True):
        scope.add(f"{name}.watch({x.name})")
        scope.pool.append(x)
        for _ in range(1 + draw.below(3)):
            scope.pool += [x, x]
            if draw.chance(0.15):
                with scope.block(f"with {name}.stop_recording():"):
                    expression(scope)
            draw.weighted(((6, statement), (3, cond), (1, rows)))(scope)
        target = scope.any_float() or x
        scope.add(f"{name}_target = {target.name}")
        if draw.chance(0.3):
            scope.add(f"{name}_target = tf.reduce_sum(tf.square({target.name}))")
    if scope.variables and draw.chance(0.4):
        asked.append(draw.one(scope.variables))
    for _ in range(1 + persistent):
        names = [scope.fresh("d") for _ in asked]
        zero = draw.chance(0.5)
        rest = ", unconnected_gradients='zero'" if zero else ""
        sources_code = ", ".join(each.name for each in asked)
        scope.add(f"{', '.join(names)}, = {name}.gradient({name}_target, [{sources_code}]{rest})")
        for one, each in zip(names, asked, strict=True):
            dtype = each.dtype if isinstance(each, Known) else "float32"
            code = one if zero else f"tf.zeros_like({each.name}) if {one} is None else tf.convert_to_tensor({one})"
            changed = target.changed or (each.changed if isinstance(each, Known) else each.name in scope.changed)
            scope.name(code, each.shape, dtype, changed)


def optimize(scope: Scope) -> None:
    """A step of an optimizer."""
    if not (scope.variables and scope.can_write and scope.helpers.get("optimizer")):
        return
    draw = scope.draw
    name, v = scope.fresh("tape"), draw.one(scope.variables)
    with scope.block(f"with tf.GradientTape() as {name}:"):
        x = scope.any_float()
        code = "" if x is None else f" * tf.reduce_mean({x.name})" if x.dtype == "float32" and x.size else ""
        scope.add(f"loss = tf.reduce_sum(tf.square({v.name}){code})")
    scope.add(f"{draw.one(scope.helpers['optimizer'])}.apply_gradients([({name}.gradient(loss, {v.name}), {v.name})])")
    scope.changed.add(v.name)


STATEMENTS: tuple[tuple[int, Writer], ...] = (
    *(
        (6, branch),
        (3, loop),
        (2, while_loop),
        (2, control),
        (6, cond),
        (3, rows),
        (4, iterated),
        (5, read),
        (6, write),
        (5, chance),
        (2, host),
    ),
    *((7, own_gradient), (4, failing), (5, tape), (2, optimize), (2, sized), (1, raised), (3, layer)),
)


def statement(scope: Scope) -> None:
    """One statement of a function."""
    if scope.draw.chance(0.68) or scope.depth > 4:
        expression(scope)
    else:
        scope.draw.weighted(STATEMENTS)(scope)
