"""Vocabulary: expressions of one tensor or two, as text with ``{0}`` for a tensor."""

from __future__ import annotations

UNARY = (
    *("tf.tanh({0})", "tf.sin({0})", "tf.sigmoid({0})", "tf.square(tf.tanh({0}))", "tf.abs({0})", "-{0}"),
    *("tf.nn.softplus({0})", "tf.sign({0})", "tf.nn.elu({0})", "tf.exp(tf.minimum({0}, 2.0))", "tf.sqrt(tf.abs({0}))"),
    *("tf.log(tf.abs({0}) + 0.5)", "tf.sinh(tf.tanh({0}))", "tf.cosh(tf.clip_by_value({0}, -2.0, 2.0))"),
    *("tf.rsqrt(tf.square({0}) + 1.0)", "tf.reciprocal(tf.abs({0}) + 1.0)", "{0} * 1.0", "{0} + 0.0"),
    *("tf.floor({0}) * 0.5", "tf.round({0})", "tf.log1p(tf.abs({0}))", "tf.expm1(tf.minimum({0}, 1.0))"),
    *("tf.nn.selu({0})", "tf.nn.swish({0})", "tf.nn.leaky_relu({0}, 0.1)", "tf.nn.softsign({0})"),
    *("tf.clip_by_value({0}, -1.0, 1.0)", "1.0 - {0}", "2.0 / ({0} * {0} + 1.0)", "tf.zeros_like({0})"),
    *("tf.pow(tf.abs({0}) + 0.1, 1.5)", "tf.where(tf.is_finite({0}), {0}, tf.zeros_like({0}))", "tf.cos({0})"),
    *("tf.where(tf.greater({0}, 0.0), {0}, {0} * 0.1)", "tf.maximum({0}, 0.0)", "tf.nn.relu6({0} + 3.0)"),
    *("tf.cast(tf.cast({0}, tf.float64), {0}.dtype)", "tf.cast(tf.greater({0}, 0.1), {0}.dtype)", "tf.mod({0}, 1.5)"),
    *("tf.cast(tf.cast({0}, tf.float16), {0}.dtype)", "tf.clip_by_norm({0}, 2.0)", "tf.nn.l2_normalize({0})"),
    *("tf.cast(tf.cast({0}, tf.int32), {0}.dtype)", "tf.stop_gradient({0})", "tf.stop_gradient({0}) * 3.0 + {0}"),
    *("{0} * tf.stop_gradient(tf.sigmoid({0}))", "tf.check_numerics(tf.tanh({0}), 'tanh')", "tf.atan({0})"),
    *("tf.ones_like({0})", "tf.identity({0})", "tf.nn.relu({0})", "tf.asinh({0})"),
    *("tf.cast(tf.equal(tf.round({0}), 0.0), {0}.dtype) * {0}", "tf.identity_n([{0}, {0}])[1]", "+{0} ** 2"),
    *("tf.nn.log_sigmoid({0})", "tf.ensure_shape({0}, {0}.shape)", "tf.cast({0} > 0.0, {0}.dtype) - {0} * 0.5"),
)
"""Of the tensor's shape and dtype."""

NOT_OF_SCALARS = ("clip_by_norm", "l2_normalize")

BINARY = (
    *("{0} + {1}", "{0} - {1}", "{0} * {1}", "tf.maximum({0}, {1})", "tf.minimum({0}, {1})"),
    *("tf.squared_difference({0}, {1})", "{0} / (tf.abs({1}) + 1.0)", "tf.tanh({0}) * tf.sin({1})"),
    *("tf.add_n([tf.tanh({0} + {1}), {0} * 0.5 + {1}, {1} + 0.0 * {0}])", "tf.div_no_nan({0}, {1})"),
    *("tf.where(tf.greater({0} + {1}, {1}), {0} + {1}, {0} - {1})", "tf.floormod({0}, tf.abs({1}) + 1.0)"),
    *("tf.where(tf.less({0} + 0.0 * {1}, 0.2), tf.exp(-tf.abs({0} + {1})), {1} + {0})", "{0} * {0} + {1} * 0.3"),
    *("{0} + tf.stop_gradient({1})", "tf.atan2({0}, {1})", "tf.stop_gradient({0}) * {1}", "{0} * {1} + {0}"),
)
"""Of the shape that both broadcast to."""

PRODUCTS = ("tf.matmul({0}, {1})", "{0} @ {1}", "tf.einsum('ij,jk->ik', {0}, {1})", "tf.tensordot({0}, {1}, 1)")

REDUCTIONS = ("sum", "mean", "max", "min", "sum", "mean", "prod", "logsumexp")

LIKE = ("tf.tanh({0})", "{0} * {1}", "tf.sin({0}) + {1}", "tf.stop_gradient({0})", "{0} * {0} * 0.1", "{0}")
"""Of the tensor's shape and dtype, with a Python number."""

RANDOM = (
    *("tf.nn.dropout({0}, 0.7{2})", "tf.nn.dropout({0}, keep_prob=0.5{2})"),
    *("{0} + tf.random_normal({1}, dtype={0}.dtype{2})", "{0} * tf.random_uniform({1}, dtype={0}.dtype{2})"),
    "{0} - tf.truncated_normal({1}, dtype={0}.dtype{2})",
)
"""With a shape and a seed."""

RECOMPUTED = (
    *("tf.tanh(a) * tf.sin(a)", "tf.nn.dropout(tf.tanh(a), 0.8)", "tf.exp(-a * a)", "tf.reduce_sum(a) * a"),
    "tf.stop_gradient(a) * a",
)

FAILING = (
    "tf.check_numerics({0} / tf.reduce_sum({0}), 'quotient')",
    "tf.cholesky(symmetric(tf.cast({0}, tf.float32)))",
    "tf.matrix_inverse(symmetric(tf.cast({0}, tf.float32)))",
    "tf.assert_less({0}, {1})",
    "tf.Assert(tf.reduce_all({0} > -{1}), [tf.reduce_min({0})])",
    "tf.assert_equal(tf.reduce_any({0} > {1}), False, message='large')",
    "tf.check_numerics({0}, 'x')",
    "tf.verify_tensor_all_finite({0}, 'x')",
    "tf.reshape(tf.boolean_mask({0}, {0} > -{1}), {0}.shape)",
)
"""Fails on some values; with a positive number."""

OF_SIZES = (
    *("tf.reduce_sum(tf.boolean_mask({0}, {0} > {1}))", "tf.reduce_sum(tf.gather_nd({0}, tf.where({0} > {1})))"),
    *(
        "tf.reduce_sum(tf.unique(tf.reshape(tf.round({0}), [-1]))[0])",
        "tf.cast(tf.size(tf.where({0} > {1})), {0}.dtype)",
    ),
)
"""Goes over tensors whose sizes depend on values."""
