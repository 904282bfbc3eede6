"""Weights of modules that are not the layers' own: four projections, windows of one, and weights with a norm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agog_layers import (
    Conv1D,
    Conv2D,
    Conv2DTranspose,
    Dense,
    Flatten,
    Input,
    MultiHeadAttention,
    SpectralNormalization,
)
from agog_training import Model, Sequential, propose_mapping

Tree = dict[str, np.ndarray]
NAMES = {
    "Hugging Face": ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.out_proj"),
    "BERT": ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"),
    "DistilBERT": ("attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin"),
    "diffusers": ("to_q", "to_k", "to_v", "to_out.0"),
    "by hand": ("query", "key", "value", "dense"),
}


def random(seed: int, **shapes: tuple[int, ...]) -> Tree:
    """Tensors by keys, in which two underscores stand for a dot."""
    state = np.random.RandomState(seed)
    return {name.replace("__", "."): state.uniform(-1, 1, shape) for name, shape in shapes.items()}


def assigned(model: Any, given: Tree) -> None:
    mapping = propose_mapping(model, given)
    assert mapping.unused == []
    mapping.assign()


def close(actual: Any, expected: np.ndarray) -> None:
    np.testing.assert_allclose(actual.numpy(), expected, rtol=2e-5, atol=2e-6)


def attended(x: np.ndarray, given: Tree, names: tuple[str, ...], heads: int) -> np.ndarray:
    """Attention of PyTorch's matrices (out, in), heads side by side."""
    q, k, v = (
        (x @ given[f"{name}.weight"].T + given[f"{name}.bias"]).reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)
        for name in names[:3]
    )
    scores = np.exp(q @ k.swapaxes(2, 3) / np.sqrt(q.shape[-1]))
    means = (scores / scores.sum(-1, keepdims=True) @ v).transpose(0, 2, 1, 3).reshape(*x.shape[:2], -1)
    return means @ given[f"{names[3]}.weight"].T + given[f"{names[3]}.bias"]


def projections(seed: int, names: tuple[str, ...], size: int, width: int) -> Tree:
    given = random(seed, **{f"{name}.weight": (width, size) for name in names[:3]})
    given |= random(seed + 1, **{f"{name}.bias": (width,) for name in names[:3]})
    return given | random(seed + 2, **{f"{names[3]}.weight": (size, width), f"{names[3]}.bias": (size,)})


@pytest.mark.parametrize("arrange", [list, sorted])
@pytest.mark.parametrize("whose", NAMES)
def test_attention_of_four_projections(whose: str, arrange: Any) -> None:
    given = projections(0, NAMES[whose], 6, 6)
    x = np.random.RandomState(3).rand(2, 5, 6)
    layer = MultiHeadAttention(3, 2)
    layer(np.float32(x))
    assigned(layer, {key: given[key] for key in arrange(given)})
    close(layer(np.float32(x)), attended(x, given, NAMES[whose], 3))


def test_attentions_of_both_kinds_in_their_order_and_of_another_width() -> None:
    names = tuple(f"0.{name}_proj" for name in ("q", "k", "v", "out"))
    given = projections(0, names, 4, 6)
    packed = random(5, in_proj_weight=(18, 4), in_proj_bias=(18,), out_proj__weight=(4, 6), out_proj__bias=(4,))
    given |= {f"1.{key}": value for key, value in packed.items()}
    x = Input((5, 4))
    first, second = MultiHeadAttention(3, 2), MultiHeadAttention(3, 2)
    y = first(x, x)
    model = Model(x, second(y, y))
    assigned(model, given)
    x = np.random.RandomState(3).rand(2, 5, 4)
    parts = np.split(packed["in_proj_weight"], 3), np.split(packed["in_proj_bias"], 3)
    alike = {
        f"{n}.{leaf}": p for leaf, three in zip(("weight", "bias"), parts, strict=True) for n, p in enumerate(three)
    }
    alike |= {"3.weight": packed["out_proj.weight"], "3.bias": packed["out_proj.bias"]}
    close(model(np.float32(x)), attended(attended(x, given, names, 3), alike, ("0", "1", "2", "3"), 3))


def test_layers_of_a_program_s_own_attention_have_the_projections_one_by_one() -> None:
    class Own(Model):
        def __init__(self) -> None:
            super().__init__(name="own")
            self.query, self.key, self.value, self.dense = (Dense(4) for _ in range(4))

        def call(self, x: Any) -> Any:
            return self.dense(self.query(x) + self.key(x) * self.value(x))

    model = Own()
    model(np.zeros((1, 4), np.float32))
    given = projections(0, NAMES["by hand"], 4, 4)
    assigned(model, given)
    for name in NAMES["by hand"]:
        np.testing.assert_array_equal(getattr(model, name).kernel.numpy(), np.float32(given[f"{name}.weight"].T))


@pytest.mark.parametrize("window", [(), (1,), (1, 1), (1, 1, 1)])
@pytest.mark.parametrize(
    ("make", "axes"), [(lambda: Dense(3), 0), (lambda: Conv1D(3, 1), 1), (lambda: Conv2D(3, 1), 2)]
)
def test_matrices_and_windows_of_one(window: tuple[int, ...], make: Any, axes: int) -> None:
    given = random(0, a__weight=(3, 3, *window), a__bias=(3,), b__weight=(3, 3, *window), b__bias=(3,))
    x = np.random.RandomState(1).rand(2, *[4] * axes, 3)
    model = Sequential([make(), make()])
    model(np.float32(x))
    assigned(model, given)
    one, two = (given[f"{name}.weight"].reshape(3, 3).T for name in "ab")
    close(model(np.float32(x)), (x @ one + given["a.bias"]) @ two + given["b.bias"])


def test_each_kind_has_its_own_modules_first() -> None:
    given = random(0, c__weight=(3, 3, 1, 1), c__bias=(3,), d__weight=(3, 3), d__bias=(3,))
    model = Sequential([Dense(3, input_shape=(2, 2, 3), name="matrix"), Conv2D(3, 1, name="window")], name="net")
    mapping = propose_mapping(model, given)
    assert [mapping[name] for name in mapping] == ["d.weight", "d.bias", "c.weight", "c.bias"]


def test_groups_are_no_matrix() -> None:
    model = Sequential([Conv2D(4, 1, groups=2, input_shape=(2, 2, 4), name="c")], name="net")
    mapping = propose_mapping(model, random(0, a__weight=(4, 2), a__bias=(4,)))
    assert mapping.unmatched == ["net/c/kernel", "net/c/bias"]


NORMS = {
    "one for each output": ((3, 1), 1),
    "one for each input": ((1, 2), 0),
    "one for all": ((), (0, 1)),
}


@pytest.mark.parametrize(
    "keys", [("weight_g", "weight_v"), tuple(f"parametrizations.weight.original{n}" for n in (0, 1))]
)
@pytest.mark.parametrize("kind", NORMS)
def test_norms_and_directions(kind: str, keys: tuple[str, str]) -> None:
    shape, axes = NORMS[kind]
    norm, direction, bias = random(0, g=shape, v=(3, 2), b=(3,)).values()
    model = Sequential([Dense(3, input_shape=(2,), name="fc")], name="net")
    mapping = propose_mapping(model, {"fc.bias": bias, f"fc.{keys[0]}": norm, f"fc.{keys[1]}": direction})
    assert (mapping["net/fc/kernel"], mapping.unused) == ("fc.weight", [])
    mapping.assign()
    expected = norm * direction / np.sqrt((direction**2).sum(axes, keepdims=True))
    close(model.layers[0].kernel, expected.T)


def spectral(seed: int, shape: tuple[int, ...], axis: int) -> tuple[Tree, np.ndarray]:
    """What PyTorch keeps of a weight, after iterations, and the weight that it computes."""
    weight = np.random.RandomState(seed).uniform(-1, 1, shape)
    matrix = np.moveaxis(weight, axis, 0).reshape(shape[axis], -1)
    left, values, right = np.linalg.svd(matrix)
    return {"weight_orig": weight, "weight_u": left[:, 0], "weight_v": right[0]}, weight / values[0]


def test_weights_that_are_divided_by_their_largest_stretch() -> None:
    tensors, weight = spectral(0, (3, 2), 0)
    model = Sequential([Dense(3, use_bias=False, input_shape=(2,))])
    mapping = propose_mapping(model, {f"fc.{key}": value for key, value in tensors.items()})
    assert mapping.unused == ["fc.weight_u"]
    mapping.assign()
    close(model.layers[0].kernel, weight.T)
    tensors, weight = spectral(1, (2, 2, 3, 3), 1)
    model = Sequential([Conv2DTranspose(2, 3, use_bias=False, input_shape=(4, 4, 2))])
    names = {"weight_orig": "original", "weight_u": "0._u", "weight_v": "0._v"}
    mapping = propose_mapping(model, {f"up.parametrizations.weight.{names[key]}": v for key, v in tensors.items()})
    mapping.assign()
    close(model.layers[0].kernel, weight.transpose(2, 3, 1, 0))


def test_a_layer_that_divides_its_kernel_goes_on_with_pytorch_s_vector() -> None:
    tensors, weight = spectral(0, (3, 2), 0)
    layer = SpectralNormalization(Dense(3, use_bias=False))
    layer(np.zeros((1, 2), np.float32))
    assigned(layer, {f"fc.{key}": value for key, value in tensors.items()})
    close(layer.layer.kernel, weight.T)
    close(layer.vector_u, tensors["weight_u"][None])


def test_features_behind_a_window_of_one_lie_as_pytorch_has_them() -> None:
    """Windows of PyTorch have the channels in front, its matrices behind, whichever layer has their weights here."""
    x = np.random.RandomState(1).rand(2, 3, 4)
    for window in ((1,), ()):
        given = random(0, a__weight=(3, 4, *window), a__bias=(3,), b__weight=(9, 9), b__bias=(9,))
        for make in (lambda: Dense(3), lambda: Conv1D(3, 1)):
            model = Sequential([make(), Flatten(), Dense(9)])
            model(np.float32(x))
            assigned(model, given)
            y = x @ given["a.weight"].reshape(3, 4).T + given["a.bias"]
            y = (np.swapaxes(y, 1, 2) if window else y).reshape(2, 9)
            close(model(np.float32(x)), y @ given["b.weight"].T + given["b.bias"])


def test_a_window_of_one_that_the_program_names_moves_the_features_behind_it() -> None:
    given = random(0, a__weight=(3, 3), b__weight=(3, 3, 1), c__weight=(9, 9))
    model = Sequential(
        [Dense(3, use_bias=False, name="first", input_shape=(3, 3)), Flatten(), Dense(9, use_bias=False)]
    )
    mapping = propose_mapping(model, given)
    assert mapping[model.layers[0].kernel.name.removesuffix(":0")] == "a.weight"
    x = np.random.RandomState(1).rand(2, 3, 3)
    for name, turn in (("b", True), ("a", False)):
        mapping[model.layers[0].kernel.name.removesuffix("/kernel:0")] = name
        mapping.assign()
        y = x @ given[f"{name}.weight"].reshape(3, 3).T
        y = (np.swapaxes(y, 1, 2) if turn else y).reshape(2, 9)
        close(model(np.float32(x)), y @ given["c.weight"].T)
