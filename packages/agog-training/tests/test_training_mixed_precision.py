"""Training in half precision: the scale of the loss, in `fit` and in loops of their own, and in files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog_core as ag
import agog_optimizers
from agog_layers import Activation, Dense, set_global_policy
from agog_testing import says
from agog_training import Model, Sequential, load_model
from agog_training.optimizers import SGD, Adam
from agog_training.optimizers.loss_scale import LossScaleOptimizer

SEED = 41


@pytest.fixture(autouse=True)
def own_policy() -> Iterator[None]:
    yield
    set_global_policy(None)


def examples() -> tuple[Any, Any]:
    x = np.random.default_rng(SEED).normal(size=(32, 4)).astype(np.float32)
    return x, (x.sum(1) > 0).astype(np.int64)


def classifier(policy: str | None, **compile_arguments: Any) -> Any:
    ag.set_random_seed(SEED)
    set_global_policy(policy)
    model = Sequential([Dense(8, "relu", input_shape=(4,)), Dense(2), Activation("softmax", dtype="float32")])
    model.compile(SGD(0.5), "sparse_categorical_crossentropy", metrics=["accuracy"], **compile_arguments)
    return model


def fit(model: Any, **arguments: Any) -> Any:
    return model.fit(*examples(), batch_size=8, epochs=3, shuffle=False, verbose=0, **arguments).history


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_fit_learns_what_it_learns_in_float32(policy: str) -> None:
    exact, mixed = classifier(None), classifier(policy)
    np.testing.assert_allclose(fit(mixed)["loss"], fit(exact)["loss"], rtol=0.02)
    assert {variable.dtype.name for variable in mixed.variables} == {"float32"}
    assert isinstance(mixed.optimizer, LossScaleOptimizer) == (policy == "mixed_float16")


def test_traced_steps_give_the_same_bits() -> None:
    assert fit(classifier("mixed_float16", jit_compile=True)) == fit(classifier("mixed_float16"))


def test_scaling_can_be_left_out() -> None:
    assert isinstance(classifier("mixed_float16", auto_scale_loss=False).optimizer, SGD)


def test_fit_scales_what_would_vanish() -> None:
    """A gradient of 1e-8 is 0 in float16, but not 2**15 times it."""

    def tiny(y: Any, prediction: Any) -> Any:
        return prediction * 1e-8

    steps = []
    for scales in (False, True):
        model = Sequential([Dense(1, use_bias=False, input_shape=(1,), dtype="mixed_float16")])
        model.set_weights([np.ones((1, 1))])
        model.compile(SGD(1e7), tiny, auto_scale_loss=scales)
        model.fit(np.ones((1, 1)), np.ones((1, 1)), verbose=0)
        steps.append(1.0 - float(model.get_weights()[0][0, 0]))
    assert steps[0] == 0.0
    assert steps[1] == pytest.approx(0.1, rel=1e-2)


def scaled_and_unscaled(optimizer: Any, model: Any, loss: Callable[[], Any]) -> None:
    with ag.GradientTape() as tape:
        scaled = optimizer.get_scaled_loss(loss())
    gradients = optimizer.get_unscaled_gradients(tape.gradient(scaled, model.trainable_variables))
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))


def scaled_alone(optimizer: Any, model: Any, loss: Callable[[], Any]) -> None:
    with ag.GradientTape() as tape:
        scaled = optimizer.scale_loss(loss())
    optimizer.apply_gradients(
        zip(tape.gradient(scaled, model.trainable_variables), model.trainable_variables, strict=True)
    )


def minimized(optimizer: Any, model: Any, loss: Callable[[], Any]) -> None:
    optimizer.minimize(loss, model.trainable_variables)


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("step", [scaled_and_unscaled, scaled_alone, minimized])
def test_loops_of_their_own(step: Any, traced: bool) -> None:
    layer = Dense(1, use_bias=False, kernel_initializer="ones", dtype="mixed_float16")
    layer.build((None, 2))
    optimizer = LossScaleOptimizer(SGD(0.5), initial_scale=1024.0)

    def run(x: Any) -> None:
        step(optimizer, layer, lambda: ag.reduce_sum(ag.cast(layer(x), "float32")))

    run = ag.function(run) if traced else run
    for _ in range(3):
        run(ag.constant([[0.5, 0.25]]))
    assert layer.get_weights()[0].ravel().tolist() == [1 - 3 * 0.25, 1 - 3 * 0.125]
    assert int(optimizer.iterations) == 3


def test_the_scale_follows_overflows_and_long_runs_without() -> None:
    v = ag.Variable(1.0)
    optimizer = LossScaleOptimizer(SGD(1.0), initial_scale=8.0, dynamic_growth_steps=2)
    seen = []
    for gradient in (np.inf, 1.0, 1.0, 1.0, np.nan):
        optimizer.apply_gradients([(ag.constant(gradient, "float32"), v)])
        seen.append((float(optimizer.loss_scale), float(v)))
    assert seen == [(4.0, 1.0), (4.0, 0.0), (8.0, -1.0), (8.0, -2.0), (4.0, -2.0)]
    fixed = LossScaleOptimizer(SGD(1.0), dynamic=False, initial_scale=8.0)
    fixed.apply_gradients([(ag.constant(np.inf), v)])
    assert float(fixed.loss_scale) == 8.0


def test_the_learning_rate_is_the_inner_optimizers() -> None:
    optimizer = LossScaleOptimizer(Adam(0.5))
    optimizer.learning_rate = 0.25
    assert optimizer.inner_optimizer.lr == optimizer.lr == 0.25
    optimizer.lr = 0.125
    assert optimizer.inner_optimizer.learning_rate == optimizer.learning_rate == 0.125


@pytest.mark.parametrize(
    "make", [lambda: Adam(0.25), lambda: agog_optimizers.MomentumOptimizer(0.25, 0.5)], ids=["keras", "train"]
)
def test_a_saved_model_goes_on_to_the_same_bits(make: Any, tmp_path: Path) -> None:
    model = classifier("mixed_float16")
    model.compile(
        LossScaleOptimizer(make(), initial_scale=2.0**25, dynamic_growth_steps=3), "sparse_categorical_crossentropy"
    )
    fit(model)
    model.save(tmp_path / "mixed.agog")
    set_global_policy(None)
    again = load_model(tmp_path / "mixed.agog")
    assert [layer.dtype_policy.name for layer in again.layers] == ["mixed_float16", "mixed_float16", "float32"]
    assert again.optimizer.get_config() == model.optimizer.get_config()
    assert float(again.optimizer.loss_scale) == float(model.optimizer.loss_scale) != 2.0**25
    assert fit(again) == fit(model)
    for one, other in zip(again.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_losses_of_half_precision_are_summed_in_float32() -> None:
    model = Sequential([Dense(1, kernel_initializer="ones", input_shape=(1,), dtype="mixed_float16")])
    model.compile("sgd", "mse")
    x = np.full((1, 1), 1000.0)
    assert model.evaluate(x, np.zeros((1, 1)), verbose=0) == 1e6  # more than float16 holds


def test_models_of_derived_classes_are_scaled_too() -> None:
    set_global_policy("mixed_float16")

    class Line(Model):
        def __init__(self) -> None:
            super().__init__()
            self.dense = Dense(1)

        def call(self, inputs: Any) -> Any:
            assert inputs.dtype == "float32"  # models leave it to their layers
            return self.dense(inputs)

    model = Line()
    model.compile("sgd", "mse")
    model.fit(np.ones((4, 2)), np.ones(4), verbose=0)
    assert isinstance(model.optimizer, LossScaleOptimizer)
    assert model.predict(np.ones((1, 2))).dtype == np.float16


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (
            (SGD(0.1), 3.0),
            TypeError,
            "LossScaleOptimizer: dynamic must be True or False; got 3.0 of type float. "
            "tf.contrib.mixed_precision.LossScaleOptimizer takes a loss_scale_manager.",
        ),
        (("sgd",), ValueError, "LossScaleOptimizer: opt must be an Optimizer; got 'sgd' of type str."),
        ((SGD(0.1), False, 0.5), ValueError, "FixedLossScaleManager: loss_scale must be at least 1; got 0.5."),
    ],
)
def test_wrong_arguments(arguments: Any, error: type[Exception], text: str) -> None:
    with says(error, text):
        LossScaleOptimizer(*arguments)
