"""Definitions: definitions before a program's function: custom gradients, layers, other functions."""

from __future__ import annotations

from agog_testing.random_programs.scope import Known, Scope, shape_of
from agog_testing.random_programs.statements import statement
from agog_testing.random_programs.vocabulary import RECOMPUTED

_RULES = (
    *("tf.clip_by_value(dy, -0.5, 0.5)", "dy * 3.0", "dy * tf.cos(a)", "tf.stop_gradient(dy) + dy * a"),
    *("tf.clip_by_norm(dy, 1.0)", "tf.check_numerics(dy * a, 'dy')", "tf.zeros_like(dy)"),
)
_LAYERS = (
    *("Dense({0}, activation='tanh', ", "Dense({0}, use_bias=False, ", "BatchNormalization(", "LayerNormalization("),
    *("Dropout(0.3, ", "Dense({0}, activation='relu', "),
)


def write_helpers(scope: Scope) -> None:
    """Functions with gradients of their own, and such that are recomputed."""
    draw = scope.draw
    scalar = next((v.name for v in scope.variables if v.shape == ()), None)
    if draw.chance(0.5):
        _custom(scope, "custom", draw.one(_RULES), draw.one(("tf.identity(a)", "a * 1.5", "tf.tanh(a)")))
        scope.helpers["any"] = ["custom"]
    if draw.chance(0.3):
        scope.add("@tf.custom_gradient")
        with scope.block("def two(a):"):
            scope.add("s = tf.tanh(a)")
            with scope.block("def grad(d1, d2):"):
                scope.add(f"return {draw.one(('d1 * 2.0 + d2', 'd1 * s - d2 * a', 'd2'))}")
            scope.add("return (s, a * a), grad")
        scope.helpers["two"] = ["two"]
    if scalar is not None and draw.chance(0.5):
        scope.add("@tf.custom_gradient")
        with scope.block("def weighted(a):"):
            scope.add(f"s = {scalar}.value()")
            with scope.block("def grad(dy, variables=None):"):
                scope.add("return dy * s, [tf.reduce_sum(dy * a) * 2.0]")
            scope.add("return a * s, grad")
        scope.helpers["float32"] = ["weighted"]
    if draw.chance(0.4):
        scope.add(f"again = tf.recompute_grad(lambda a: {draw.one(RECOMPUTED)})")
        scope.helpers.setdefault("any", []).append("again")
    if scalar is not None and draw.chance(0.3):
        scope.add(f"again_weighted = tf.recompute_grad(lambda a: tf.tanh(a * {scalar}))")
        scope.helpers.setdefault("float32", []).append("again_weighted")


def _custom(scope: Scope, name: str, rule: str, value: str) -> None:
    scope.add("@tf.custom_gradient")
    with scope.block(f"def {name}(a):"):
        with scope.block("def grad(dy):"):
            scope.add(f"return {rule}")
        scope.add(f"return {value}, grad")


def write_inner(scope: Scope) -> None:
    """Another traced function, which the first one and the calls may use."""
    draw = scope.draw
    scope.add("")
    scope.add("@tf.function")
    outer, changed = list(scope.pool), set(scope.changed)
    with scope.block("def g(a):"):
        scope.pool = [Known("a", shape_of("AB", scope.sizes), changed=True)]
        for _ in range(1 + draw.below(4)):
            statement(scope)
        last = scope.any_float()
        assert last is not None
        code = draw.one(("tf.reduce_mean({0})", "tf.reduce_sum(tf.tanh({0}))"))
        scope.add(f"return tf.tanh(a) * tf.cast({code.format(last.name)}, a.dtype)")
    scope.pool, scope.changed = outer, changed
    scope.helpers.setdefault("any", []).append("g")


def write_layers(scope: Scope) -> None:
    """Layers, made and built outside of the function."""
    draw = scope.draw
    for _ in range(1 + draw.below(2)):
        name, text = scope.fresh("layer"), draw.one(_LAYERS).format(scope.sizes[1])
        scope.add(f"{name} = layers.{text}name='{name}')")
        if draw.chance(0.7):
            scope.add(f"{name}(data({draw.number()}, {[2, scope.sizes[1]]}))")
        scope.helpers.setdefault("layer", []).append(name)
