"""What all optimizers share: arguments, errors, slots, names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.checkpointable import listeners
from agog_core.ops.updates.adam import apply_adam
from agog_core.variables import global_step
from agog_optimizers import (
    AdagradDAOptimizer,
    AdagradOptimizer,
    AdaMaxOptimizer,
    AdamOptimizer,
    AdamWOptimizer,
    FtrlOptimizer,
    GradientDescentOptimizer,
    MomentumOptimizer,
    MomentumWOptimizer,
    Optimizer,
    ProximalAdagradOptimizer,
    extend_with_decoupled_weight_decay,
    get_global_step,
    get_or_create_global_step,
)
from agog_testing import says

MAKERS = [lambda: GradientDescentOptimizer(0.5), lambda: MomentumOptimizer(0.5, 0.5), lambda: AdamOptimizer(0.5)]
each_optimizer = pytest.mark.parametrize("make", MAKERS, ids=["gradient_descent", "momentum", "adam"])


def test_minimize_changes_what_the_loss_reads() -> None:
    used, unused, frozen = ag.Variable(4.0), ag.Variable(4.0), ag.Variable(4.0, trainable=False)
    GradientDescentOptimizer(0.25).minimize(lambda: used * used + frozen)
    assert [float(v) for v in (used, unused, frozen)] == [2.0, 4.0, 4.0]


def test_var_list() -> None:
    first, second = ag.Variable(4.0), ag.Variable(4.0)
    optimizer = GradientDescentOptimizer(0.25)
    optimizer.minimize(lambda: first * second, var_list=[second])
    assert [float(first), float(second)] == [4.0, 3.0]
    frozen = ag.Variable(4.0, trainable=False)
    optimizer.minimize(lambda: frozen * frozen, var_list=iter([frozen]))
    assert float(frozen) == 2.0


def test_compute_gradients() -> None:
    first, second = ag.Variable(3.0), ag.Variable(5.0)
    optimizer = GradientDescentOptimizer(0.1)
    pairs = optimizer.compute_gradients(lambda: second * second * first)
    assert [float(gradient) for gradient, _ in pairs] == [25.0, 30.0]  # type: ignore[arg-type]
    assert [variable for _, variable in pairs] == [first, second]
    pairs = optimizer.compute_gradients(lambda: second * 2.0, [first, second], grad_loss=10.0)
    assert pairs[0] == (None, first)
    assert float(pairs[1][0]) == 20.0  # type: ignore[arg-type]


def test_loss_must_be_a_function() -> None:
    v = ag.Variable(1.0)
    for call in (GradientDescentOptimizer(0.1).minimize, GradientDescentOptimizer(0.1).compute_gradients):
        with says(
            RuntimeError,
            "`loss` passed to Optimizer.compute_gradients should be a function when eager execution is enabled; got a "
            "value of type Tensor. Pass a function without arguments that computes it.",
        ):
            call(v * v)  # type: ignore[operator]


@each_optimizer
def test_no_variables(make: Any) -> None:
    with says(ValueError, "No variables provided."):
        make().apply_gradients([])
    with says(ValueError, "No variables provided."):
        make().minimize(lambda: ag.constant(1.0))


@each_optimizer
def test_no_gradients(make: Any) -> None:
    a, b = ag.Variable(1.0, name="a"), ag.Variable(1.0, name="b")
    step = ag.Variable(0)
    with says(ValueError, "No gradients provided for any variable: ['a:0', 'b:0']. The loss does not depend on them."):
        make().apply_gradients([(None, a), (None, b)], step)
    assert step.numpy() == 0


@each_optimizer
def test_none_is_left_out(make: Any) -> None:
    a, b = ag.Variable(1.0), ag.Variable(1.0)
    optimizer = make()
    optimizer.apply_gradients(zip([None, ag.constant(1.0)], [a, b], strict=True))
    assert float(a) == 1.0
    assert float(b) < 1.0
    assert all(variable is b for _, variable, _ in optimizer.checkpoint_slots())


WRONG = [
    (lambda: ag.zeros([2]), "shape (2,) and dtype float32"),
    (lambda: ag.zeros([3], "float64"), "shape (3,) and dtype float64"),
    (lambda: ag.zeros([]), "shape () and dtype float32"),
]


@each_optimizer
@pytest.mark.parametrize(("gradient", "got"), WRONG)
def test_wrong_gradient_changes_nothing(make: Any, gradient: Any, got: str) -> None:
    first, second, step = ag.Variable([1.0]), ag.Variable([1.0, 2.0, 3.0], name="w"), ag.Variable(0)
    optimizer = make()
    with says(
        ag.errors.InvalidArgumentError,
        f"{optimizer.get_name()}: variable 'w:0' has shape (3,) and dtype float32; its gradient has {got}, and both "
        "must agree.",
    ):
        optimizer.apply_gradients([(ag.ones([1]), first), (gradient(), second)], step)
    assert first.numpy().tolist() == [1.0]
    assert step.numpy() == 0
    assert optimizer.variables() == []


def test_wrong_variable() -> None:
    with says(
        TypeError,
        "GradientDescent: apply_gradients takes (gradient, variable) pairs; got 3.0 of type float as a variable. "
        "Write apply_gradients(zip(gradients, variables)).",
    ) as caught:
        GradientDescentOptimizer(0.1).apply_gradients([(ag.ones([]), 3.0)])  # type: ignore[list-item]
    with pytest.raises(NotImplementedError) as tensor:
        GradientDescentOptimizer(0.1).apply_gradients([(ag.ones([]), one := ag.ones([]))])  # type: ignore[list-item]
    assert str(tensor.value) == str(caught.value).replace("3.0 of type float", f"{one!r} of type Tensor")


def test_gradients_are_converted() -> None:
    v = ag.Variable(np.zeros(2))
    GradientDescentOptimizer(1.0).apply_gradients([(np.ones(2), v), ([2.0, 3.0], v), (ag.Variable(np.ones(2)), v)])
    assert v.numpy().tolist() == [-4.0, -5.0]


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: GradientDescentOptimizer("0.1"), "GradientDescent: learning_rate {}; got '0.1' of type str."),
        (lambda: MomentumOptimizer(0.1, None), "Momentum: momentum {}; got None of type NoneType."),
        (lambda: AdamOptimizer(beta1=[0.9]), "Adam: beta1 {}; got [0.9] of type list."),
        (lambda: AdamOptimizer(beta2="x", name="mine"), "mine: beta2 {}; got 'x' of type str."),
        (lambda: AdamOptimizer(epsilon="x"), "Adam: epsilon {}; got 'x' of type str."),
    ],
)
def test_wrong_hyperparameters(make: Any, text: str) -> None:
    with says(TypeError, text.format("must be a number, a tensor, a variable, or a function that returns one")):
        make()


def test_slots() -> None:
    kernel, bias = ag.Variable(np.ones((2, 3)), name="d/kernel"), ag.Variable([1.0], name="d/bias")
    optimizer = AdamOptimizer()
    assert optimizer.get_slot(kernel, "m") is None
    assert optimizer.get_slot_names() == []
    optimizer.apply_gradients([(ag.ones([2, 3], "float64"), kernel), (ag.ones([1]), bias)])
    assert [v.name for v in optimizer.variables()] == [
        "beta1_power:0",
        "beta2_power:0",
        "d/bias/Adam:0",
        "d/bias/Adam_1:0",
        "d/kernel/Adam:0",
        "d/kernel/Adam_1:0",
    ]
    m, v = optimizer.get_slot(kernel, "m"), optimizer.get_slot(kernel, "v")
    assert m is not None
    assert v is not None
    assert (m.name, v.name) == ("d/kernel/Adam:0", "d/kernel/Adam_1:0")
    assert (m.dtype, m.shape, m.device, m.trainable) == (kernel.dtype, kernel.shape, kernel.device, False)
    assert optimizer.get_slot(kernel, "momentum") is None
    assert {(name, variable.name, slot.name) for name, variable, slot in optimizer.checkpoint_slots()} == {
        ("m", "d/kernel:0", "d/kernel/Adam:0"),
        ("v", "d/kernel:0", "d/kernel/Adam_1:0"),
        ("m", "d/bias:0", "d/bias/Adam:0"),
        ("v", "d/bias:0", "d/bias/Adam_1:0"),
    }


def test_slots_are_named_after_the_optimizer() -> None:
    v = ag.Variable(1.0, name="v")
    optimizer = MomentumOptimizer(0.1, 0.9, name="Mine")
    optimizer.minimize(lambda: v * v)
    assert [slot.name for slot in optimizer.variables()] == ["v/Mine:0"]
    assert optimizer.get_name() == "Mine"


def test_slots_live_where_their_variable_does() -> None:
    for name in ag.list_devices():
        with ag.device(name):
            v = ag.Variable([1.0, 2.0])
            gradient = ag.ones([2])
        for other in ag.list_devices():
            optimizer = AdamOptimizer()
            with ag.device(other):
                optimizer.apply_gradients([(gradient, v)])
            assert {slot.device for _, _, slot in optimizer.checkpoint_slots()} == {name}
            assert v.device == name


def test_checkpoint_dependencies() -> None:
    optimizer = AdamOptimizer()
    assert optimizer.checkpoint_dependencies() == {}
    v = ag.Variable(1.0)
    optimizer.minimize(lambda: v * v)
    assert optimizer.checkpoint_dependencies() == {
        "beta1_power": optimizer.beta1_power,
        "beta2_power": optimizer.beta2_power,
    }
    rate = ag.Variable(0.1)
    assert GradientDescentOptimizer(rate).checkpoint_dependencies() == {"learning_rate": rate}


def test_pending_restores_fill_slots_before_their_first_use() -> None:
    v = ag.Variable(1.0)
    optimizer = MomentumOptimizer(1.0, 0.5)

    def restore(*news: object) -> None:
        for _, _, slot in optimizer.checkpoint_slots():
            slot.assign(4.0)

    listeners.append(restore)
    try:
        optimizer.apply_gradients([(ag.constant(1.0), v)])
    finally:
        listeners.remove(restore)
    assert float(v) == 1.0 - (0.5 * 4 + 1)


def test_pending_restores_fill_the_powers_before_their_first_use() -> None:
    v = ag.Variable(1.0)
    optimizer = AdamOptimizer(1.0, beta1=0.5, beta2=0.75)
    powers = {"beta1_power": 0.0, "beta2_power": 0.0}

    def restore(*news: object) -> None:
        for name, part in optimizer.checkpoint_dependencies().items():
            part.assign(powers[name])

    listeners.append(restore)
    try:
        optimizer.apply_gradients([(ag.constant(1.0), v)])
    finally:
        listeners.remove(restore)
    assert float(v) == pytest.approx(1 - 0.5 / np.sqrt(0.25))


def test_constraints() -> None:
    seen: list[Any] = []

    def at_least_one(value: Any) -> Any:
        seen.append(float(value))
        return ag.maximum(value, 1.0)

    v = ag.Variable(2.0, constraint=at_least_one)
    GradientDescentOptimizer(1.0).apply_gradients([(ag.constant(5.0), v)])
    assert seen == [-3.0]
    assert float(v) == 1.0


def test_global_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(global_step, "_global_step", None)
    assert get_global_step() is None
    step = get_or_create_global_step()
    assert step is get_or_create_global_step()
    assert step is get_global_step()
    assert (step.name, step.dtype, step.trainable, step.numpy()) == ("global_step:0", ag.int64, False, 0)
    v = ag.Variable(1.0)
    optimizer = GradientDescentOptimizer(0.1)
    optimizer.minimize(lambda: v * v, global_step=step)
    optimizer.apply_gradients([(ag.constant(1.0), v)], step)
    assert step.numpy() == 2


class Signs(Optimizer):
    """An optimizer as a user writes it: steps of one size, and a count of them."""

    def make_slots(self, variable: ag.Variable) -> Mapping[str, Any]:
        return {"count": ag.zeros_like(variable), "last": 7.0 * ag.ones_like(variable)}

    def update(
        self, variable: ag.Variable, gradient: ag.Tensor, hyperparameters: dict[str, Any], slots: Sequence[ag.Variable]
    ) -> None:
        count, last = slots
        count.assign_add(ag.ones_like(count))
        last.assign(gradient)
        variable.assign_sub(hyperparameters["learning_rate"] * ag.sign(gradient))


def test_own_optimizer() -> None:
    v = ag.Variable([1.0, -1.0], name="v")
    optimizer = Signs(0.25, "Signs")
    optimizer.minimize(lambda: v * v)
    assert v.numpy().tolist() == [0.75, -0.75]
    assert [(slot.name, slot.numpy().tolist()) for slot in optimizer.variables()] == [
        ("v/Signs:0", [1.0, 1.0]),
        ("v/Signs_1:0", [2.0, -2.0]),
    ]
    with says(
        NotImplementedError,
        "Optimizer: `update` must be overridden, or `step_op` be the op that changes a variable; neither is so.",
    ):
        Optimizer(0.1, "O").minimize(lambda: v * v)


def test_own_optimizer_keeps_numbers() -> None:
    rate = ag.Variable(0.5)
    optimizer = Optimizer(rate, "Own")
    optimizer.keep(rho=1, l2_regularization_strength=lambda: 0.25)
    rate.assign(2.0)
    assert optimizer.hyperparameters() == {"learning_rate": 2.0, "rho": 1.0, "l2": 0.25}
    assert list(optimizer.checkpoint_dependencies()) == ["learning_rate"]
    with says(
        TypeError,
        "Own: rho must be a number, a tensor, a variable, or a function that returns one; got 'high' of type str.",
    ):
        optimizer.keep(rho="high")


def test_own_optimizer_on_rows() -> None:
    v = ag.Variable([[1.0], [1.0], [1.0]])
    optimizer = Signs(0.25, "Signs")
    optimizer.minimize(lambda: ag.reduce_sum(ag.gather(v, [2, 2])))
    assert v.numpy().tolist() == [[1.0], [1.0], [0.75]]


def test_gates() -> None:
    v = ag.Variable(4.0)
    optimizer = GradientDescentOptimizer(0.25)
    optimizer.minimize(lambda: v * v, None, [v], Optimizer.GATE_NONE, None, True, "name", ag.constant(1.0))
    assert float(v) == 2.0
    with says(
        ValueError,
        "gate_gradients must be one of Optimizer.GATE_NONE, Optimizer.GATE_OP, Optimizer.GATE_GRAPH; got 3. It changes "
        "nothing in eager execution, so leave it out.",
    ):
        optimizer.minimize(lambda: v * v, gate_gradients=3)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: AdagradOptimizer(0.1, 0.0), "Adagrad: initial_accumulator_value must be positive; got 0.0."),
        (
            lambda: AdagradDAOptimizer(0.1, ag.Variable(0), -1.0),
            "AdagradDA: initial_gradient_squared_accumulator_value must be positive; got -1.0.",
        ),
        (
            lambda: ProximalAdagradOptimizer(0.1, float("nan")),
            "ProximalAdagrad: initial_accumulator_value must be positive; got nan.",
        ),
        (lambda: FtrlOptimizer(0.1, 0.5), "Ftrl: learning_rate_power must be negative or zero; got 0.5."),
        (
            lambda: FtrlOptimizer(0.1, initial_accumulator_value=-0.5),
            "Ftrl: initial_accumulator_value must be positive or zero; got -0.5.",
        ),
        (
            lambda: FtrlOptimizer(0.1, l2_shrinkage_regularization_strength=-1.0),
            "Ftrl: l2_shrinkage_regularization_strength must be positive or zero; got -1.0.",
        ),
        (
            lambda: FtrlOptimizer(0.1, l1_regularization_strength=-0.5, name="mine"),
            "mine: l1_regularization_strength must be positive or zero; got -0.5.",
        ),
    ],
)
def test_wrong_signs(make: Any, text: str) -> None:
    with says(ValueError, text):
        make()


def test_slots_of_ftrl_have_names_of_their_own() -> None:
    v = ag.Variable(1.0, name="v")
    optimizer = FtrlOptimizer(0.1, accum_name="sum", linear_name="line")
    optimizer.minimize(lambda: v * v)
    assert [slot.name for slot in optimizer.variables()] == ["v/line:0", "v/sum:0"]
    optimizer = FtrlOptimizer(0.1)
    optimizer.minimize(lambda: v * v)
    assert [slot.name for slot in optimizer.variables()] == ["v/Ftrl:0", "v/Ftrl_1:0"]


def test_decay_of_some_variables() -> None:
    first, second = ag.Variable(4.0), ag.Variable(4.0)
    optimizer = AdamWOptimizer(0.25, learning_rate=0.0)
    optimizer.minimize(lambda: first * second, decay_var_list=[first])
    assert [float(first), float(second)] == [3.0, 4.0]
    optimizer.minimize(lambda: first * second)
    assert [float(first), float(second)] == [2.25, 3.0]


@pytest.mark.parametrize("rows", [False, True])
def test_decay_beside_the_steps_of_any_optimizer(rows: bool) -> None:
    """Against the formula in float64: what decays is taken off before the step, and after a lookup of rows alone."""
    extended = extend_with_decoupled_weight_decay(MomentumOptimizer)
    for optimizer in (MomentumWOptimizer(0.25, 0.5, 0.9), extended(0.25, 0.5, 0.9)):
        v, kept = ag.Variable(np.float64([4.0, 8.0])), ag.Variable(np.float64(4.0))
        expected, slot, where = np.array([4.0, 8.0]), np.zeros(2), np.array([not rows, True])
        for step in (1.0, 2.0):
            row: Any = ag.IndexedSlices(ag.constant(np.float64([step])), ag.constant([1]), (2,))
            gradient = row if rows else np.float64([0.0, step])
            optimizer.apply_gradients([(gradient, v), (np.float64(step), kept)], decay_var_list=[v])
            slot = np.where(where, 0.9 * slot + [0.0, step], slot)
            expected = np.where(where, expected - 0.25 * expected - 0.5 * slot, expected)
        np.testing.assert_allclose(v.numpy(), expected, rtol=1e-12)
        np.testing.assert_allclose(kept.numpy(), 4.0 - 0.5 * 1.0 - 0.5 * (0.9 + 2.0), rtol=1e-12)


def test_adamax_keeps_one_power() -> None:
    v = ag.Variable(1.0)
    optimizer = AdaMaxOptimizer(0.5)
    optimizer.minimize(lambda: v * v)
    assert [each.name for each in optimizer.variables()] == [
        "Variable/AdaMax:0",
        "Variable/AdaMax_1:0",
        "beta1_power:0",
    ]


def test_tensors_are_no_variables() -> None:
    with pytest.raises(NotImplementedError) as caught:
        GradientDescentOptimizer(0.1).apply_gradients([(ag.ones([]), ag.ones([]))])  # type: ignore[list-item]
    assert str(caught.value).startswith("GradientDescent: apply_gradients takes (gradient, variable) pairs; got ")
    assert str(caught.value).endswith(
        " of type Tensor as a variable. Write apply_gradients(zip(gradients, variables))."
    )


def test_the_powers_of_betas_have_a_name_for_derived_optimizers() -> None:
    adam, adamax, v = AdamOptimizer(), AdaMaxOptimizer(), ag.Variable(1.0)
    assert [float(power) for power in adam._get_beta_accumulators()] == [0.9, 0.999]
    for optimizer in (adam, adamax):
        optimizer.apply_gradients([(ag.ones([]), v)])
    assert float(adam._get_beta_accumulators()[1]) == 0.999**2
    assert float(adamax._get_beta_accumulators()) == 0.9**2


def test_gradients_alone_are_to_be_paired() -> None:
    gradient, two = ag.constant(1.0), ag.constant([1.0, 2.0])
    for given, got in (([gradient], gradient), (gradient, gradient), (two, two), ([two], two), ([two, two], two)):
        with says(
            TypeError,
            f"Adam: apply_gradients takes (gradient, variable) pairs; got {got!r} of type Tensor. Write "
            "apply_gradients(zip(gradients, variables)).",
        ):
            AdamOptimizer().apply_gradients(given)  # type: ignore[arg-type]
    v = ag.Variable(1.0)
    for given in (([two, two], [v, v]), ([gradient], [v])):
        with pytest.raises((TypeError, NotImplementedError)) as caught:
            AdamOptimizer().apply_gradients(given)
        assert str(caught.value).endswith("Write apply_gradients(zip(gradients, variables)).")
    with says(
        NotImplementedError,
        f"Adam: apply_gradients takes (gradient, variable) pairs; got {gradient!r} of type Tensor as a variable, and a "
        "variable as its gradient. Write apply_gradients(zip(gradients, variables)).",
    ):
        AdamOptimizer().apply_gradients([(v, gradient)])  # type: ignore[list-item]
    with pytest.raises(TypeError) as caught:
        AdamOptimizer().apply_gradients([(gradient, v, 3)])  # type: ignore[list-item]
    assert str(caught.value).startswith(f"Adam: apply_gradients takes (gradient, variable) pairs; got ({gradient!r}, ")


class OfItsOwnStep(MomentumOptimizer, step_op=apply_adam):
    """Brings a step, and says nothing of it."""


class OfItsOwnUpdate(MomentumOptimizer):
    """Brings an update, and says nothing of it."""

    def update(self, variable: Any, slots: Any, gradient: Any, hyperparameters: Any) -> None:
        raise AssertionError("nobody takes a step here")


class OfClippedGradients(MomentumOptimizer):
    """Changes the gradients before they are applied."""

    def apply_gradients(self, *args: Any, **kwargs: Any) -> None:
        raise AssertionError("nobody takes a step here")


class ByElements(MomentumOptimizer, step_op=apply_adam, step_unit="element"):
    """Says that its step looks at each element by itself."""


@pytest.mark.parametrize(
    ("kind", "unit"),
    [
        (MomentumOptimizer, "element"),
        (ByElements, "element"),
        (OfItsOwnStep, "variable"),
        (OfItsOwnUpdate, "variable"),
        (OfClippedGradients, "all"),
    ],
)
def test_what_a_class_does_not_say_of_its_step_is_taken_for_more(kind: type[MomentumOptimizer], unit: str) -> None:
    assert kind(0.1, 0.9).step_unit == unit
